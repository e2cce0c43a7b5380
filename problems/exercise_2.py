"""Exercise 2 of the chapter: the time to first token of two prompts, and whether the rate it rests on is possible."""

from dataclasses import replace

from grader.family import Ask, Menu
from grader.preset import Preset
from problems.prefill_possible import QUOTED, possible, share
from spec import quantities as q
from spec.phases import ttft

family = Preset(
    asks=tuple(
        Ask(q.ttft, "What is the time to first token, in ms, of a prompt of {{ prompt }}?", "ms", at={q.prompt: length})
        for length in (2000, 10_000)
    ),
    more=(
        replace(
            share,
            question=lambda c: (
                f"The model is a 7B: {c.amounts['parameters']}, which take {c.amounts['weights']}. An A100 peaks at "
                f"{c.amounts['compute']} for dense matrices and reads {c.amounts['bandwidth']}. With two operations "
                "per parameter and token, and attention neglected, what share of the peak, as a number that may exceed "
                "1, would that rate need?"
            ),
            givens=lambda c: QUOTED.givens(c, q.parameters, q.weights, q.compute, q.bandwidth),
        ),
        replace(
            possible,
            hints=lambda c: (*possible.hints(c)[:2], "Compare your answer to part c with 0.6 and with 1."),
        ),
    ),
    by=(ttft,),
    given=Menu(gpu=("a100-80gb",), parameters=(7 * 10**9,), weights=("14 GB",), prefill_rate=(50_000,), wait=("0 ms",)),
    wording="""An A100 is said to prefill at {{ prefill_rate }}. Requests do not wait.""",
    objective="ttft",
    section="exercises",
    revision=2,
)
