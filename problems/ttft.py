"""The time to first token from a prefill rate (F11), and what it leaves for the prompt, the rate or the wait."""

from collections.abc import Mapping
from fractions import Fraction

from grader.family import Ask, Draw, Family, Menu, OwnSlip
from spec import quantities as q
from spec.phases import ttft

OF_ANOTHER_EXAMPLE, SHORTEST = 2000, 100  # tokens
ANOTHER, OF_ANOTHER = "prompt-of-another-example", "A prompt of 2,000 tokens was used, as in another example."
DECODED = "The rate of decode was used; a prompt is prefilled at a rate of its own."


def of_one_size(draw: Draw) -> bool:
    """Keep targets worth a hundred tokens, within a factor of four of what the wait and the prefill take."""
    v = draw.values
    taken, target = (v["wait"] * v["prefill_rate"] + v["prompt"], v["ttft"] * v["prefill_rate"])
    return v["wait"] != v["ttft"] and SHORTEST <= target <= 4 * taken <= 16 * target


def without_step(v: Mapping[str, Fraction]) -> Fraction:
    """Take a decode step off the time for prefill."""
    return v["ttft"] - v["wait"] - 1 / v["decode_rate"]


family = Family(
    asks=Ask(q.ttft, "What is the time to first token, in ms?", "ms"),
    inverse=(
        Ask(q.prompt, "How long must the prompt be, in tokens, for a time to first token of {{ ttft }}?"),
        Ask(q.prefill_rate, "At what rate, in tokens/s, must prefill run for a time to first token of {{ ttft }}?"),
        Ask(q.wait, "How long must the wait be, in ms, for a time to first token of {{ ttft }}?", "ms"),
    ),
    by=(ttft,),
    given=Menu(
        wait=(
            *("0 ms", "40 ms", "60 ms", "80 ms", "120 ms", "150 ms", "250 ms", "400 ms", "600 ms", "900 ms", "1500 ms"),
            *("3000 ms", "5000 ms"),
        ),
        prompt=(
            *(50, 100, 200, 500, 800, 1200, 1500, 2000, 3000, 4000, 6000, 7500, 9000, 12_000, 16_000, 24_000, 32_000),
            *(50_000, 100_000),
        ),
        prefill_rate=(
            *(1000, 2000, 3000, 4000, 6000, 8000, 10_000, 12_000, 15_000, 20_000, 25_000, 40_000, 50_000, 100_000),
        ),
        ttft=(
            *("10 ms", "25 ms", "50 ms", "100 ms", "200 ms", "300 ms", "500 ms", "700 ms", "800 ms", "1000 ms"),
            *("1200 ms", "2000 ms", "3000 ms", "5000 ms", "8000 ms", "15000 ms", "30000 ms", "60000 ms"),
        ),
        decode_rate=(20, 25, 40, 50, 80),
    ),
    wording="""A request {% if wait is defined and not wait.number %}does not wait in the queue;
        {%- else %}waits {% if wait is defined %}{{ wait }} {% endif %}in the queue; then{% endif %} its prompt
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
        OwnSlip("decode-rate-used", DECODED, lambda v: v["wait"] + v["prompt"] / v["decode_rate"], q.ttft),
        OwnSlip("decode-rate-used", DECODED, lambda v: (v["ttft"] - v["wait"]) * v["decode_rate"], q.prompt),
        OwnSlip(
            "decode-step-taken-off",
            "One decode step was taken off; the end of prefill already yields the first token.",
            lambda v: without_step(v) * v["prefill_rate"] if without_step(v) > 0 else None,
            q.prompt,
        ),
        OwnSlip("decode-rate-used", DECODED, lambda v: v["decode_rate"], q.prefill_rate),
        OwnSlip(
            ANOTHER,
            OF_ANOTHER,
            lambda v: None if v["prompt"] == OF_ANOTHER_EXAMPLE else OF_ANOTHER_EXAMPLE / (v["ttft"] - v["wait"]),
            q.prefill_rate,
        ),
        OwnSlip(
            ANOTHER,
            OF_ANOTHER,
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
    masked=frozenset({"wait-in-s", "wait-forgotten"}),  # without a wait these change nothing
    objective="ttft",
    section="ttft",
    infeasible=True,
    keep=of_one_size,
    revision=3,
)
