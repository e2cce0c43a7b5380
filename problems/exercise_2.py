"""Exercise 2 of the chapter: the time to first token of two prompts."""

from grader.family import Ask, Family, Menu
from spec import quantities as q
from spec.phases import ttft

family = Family(
    asks=tuple(
        Ask(q.ttft, "What is the time to first token, in ms, of a prompt of {{ prompt }}?", "ms", at={q.prompt: length})
        for length in (2000, 10_000)
    ),
    by=(ttft,),
    given=Menu(prefill_rate=(50_000,), wait=("0 ms",)),
    wording="""An A100 prefills at {{ prefill_rate }}. Requests do not wait.""",
    objective="ttft",
    section="exercises",
    preset=True,
)
