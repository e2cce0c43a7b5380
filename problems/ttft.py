"""The time to first token from a prefill rate (F11), and what it leaves for the prompt, the rate or the wait."""

from grader.family import Ask, Draw, Family, Menu, OwnSlip
from spec import quantities as q
from spec.phases import ttft

OF_ANOTHER_EXAMPLE = 2000  # tokens


def of_one_size(draw: Draw) -> bool:
    """Keep the target within a factor of four of what the wait and the prefill take."""
    v = draw.values
    taken, target = (v["wait"] * v["prefill_rate"] + v["prompt"], v["ttft"] * v["prefill_rate"])
    return v["wait"] != v["ttft"] and target <= 4 * taken <= 16 * target


family = Family(
    asks=Ask(q.ttft, "What is the time to first token, in ms?", "ms"),
    inverse=(
        Ask(q.prompt, "How long must the prompt be, in tokens, for a time to first token of {{ ttft }}?"),
        Ask(q.prefill_rate, "At what rate, in tokens/s, must prefill run for a time to first token of {{ ttft }}?"),
        Ask(q.wait, "How long must the wait be, in ms, for a time to first token of {{ ttft }}?", "ms"),
    ),
    by=(ttft,),
    given=Menu(
        wait=("40 ms", "60 ms", "80 ms", "120 ms", "150 ms", "250 ms", "400 ms", "600 ms", "900 ms", "1500 ms"),
        prompt=(500, 800, 1200, 1500, 2000, 3000, 4000, 6000, 7500, 9000, 12_000, 16_000, 24_000, 32_000),
        prefill_rate=(2000, 3000, 4000, 6000, 8000, 10_000, 12_000, 15_000, 20_000, 25_000, 40_000, 50_000),
        ttft=("200 ms", "300 ms", "500 ms", "700 ms", "800 ms", "1000 ms", "1200 ms", "2000 ms", "3000 ms", "5000 ms"),
        decode_rate=(20, 25, 40, 50, 80),
    ),
    wording="""A request waits {% if wait is defined %}{{ wait }} {% endif %}in the queue; then its prompt
        {%- if prompt is defined %} of {{ prompt }}{% endif %} is prefilled
        {%- if prefill_rate is defined %} at {{ prefill_rate }}{% endif %}, which yields the first token.
        After that it decodes at {{ decode_rate }}.""",
    also=(q.decode_rate,),
    slips=(
        OwnSlip(
            "decode-step-added",
            "One decode step was added; the end of prefill already yields the first token.",
            lambda v: v["ttft"] + 1 / v["decode_rate"],
            q.ttft,
        ),
        OwnSlip(
            "prompt-of-another-example",
            "A prompt of 2,000 tokens was used, as in another example of the chapter.",
            lambda v: None if v["prompt"] == OF_ANOTHER_EXAMPLE else v["wait"] + OF_ANOTHER_EXAMPLE / v["prefill_rate"],
            q.ttft,
        ),
        OwnSlip(
            "prefill-only",
            "That is the time of prefill; the wait is what the target leaves beside it.",
            lambda v: v["prompt"] / v["prefill_rate"],
            q.wait,
        ),
        OwnSlip(
            "prefill-added",
            "The time of prefill was added to the target; it must come off.",
            lambda v: v["ttft"] + v["prompt"] / v["prefill_rate"],
            q.wait,
        ),
    ),
    objective="ttft",
    section="ttft",
    infeasible=True,
    keep=of_one_size,
    revision=2,
)
