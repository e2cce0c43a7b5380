"""A latency target and the rate of one sequence: does any batch meet it, and what would (F18)?"""

from grader.family import Ask, Draw, Family, Menu, OwnSlip
from spec import quantities as q
from spec.phases import meets_latency_target, within_slots


def clearly_met_or_missed(draw: Draw) -> bool:
    """Keep the target off equality, where a rounded quotient may say either, and within a factor of eight."""
    v = draw.values
    wanted, allowed = v["output"], v["latency_target"] * v["decode_rate"]
    return wanted != allowed and allowed <= 8 * wanted <= 64 * allowed


family = Family(
    asks=Ask(q.batch, "What is the largest batch with which every request meets its target?"),
    inverse=(
        Ask(q.batch, "How many sequences may the batch hold at most so that no request misses its target?"),
        Ask(q.decode_rate, "At what rate, in tokens/s, must each sequence decode at least to meet the target?"),
        Ask(q.output, "How many output tokens may a request ask for at most to meet the target?"),
    ),
    by=(within_slots, meets_latency_target),
    requires=(meets_latency_target,),
    given=Menu(
        output=(25, 40, 60, 80, 100, 120, 150, 180, 200, 250, 300, 400, 500, 600, 800),
        decode_rate=(18, 22, 26, 30, 34, 38, 42, 45, 50, 55, 60, 66, 75, 85, 90, 110),
        latency_target=(
            *("450 ms", "500 ms", "650 ms", "750 ms", "850 ms", "1250 ms", "1500 ms", "1750 ms", "2250 ms"),
            *("2500 ms", "3500 ms", "4250 ms", "5500 ms", "7500 ms", "9500 ms"),
        ),
        slots=(4, 6, 8, 12, 16, 24, 32, 48, 64),
    ),
    wording="""A server decodes up to {{ slots }} at once
        {%- if decode_rate is defined %}, each at {{ decode_rate }} however many there are{% endif %}.
        Every request {% if output is defined %}asks for {{ output }} of output and {% endif %}must be answered within
        {{ latency_target }}; neglect prefill and waiting.""",
    also=(q.slots,),
    slips=(
        OwnSlip(
            "tokens-in-time",
            "That is how many tokens one sequence gets in the time allowed; it says nothing of a batch.",
            lambda v: v["latency_target"] * v["decode_rate"],
            q.batch,
        ),
        OwnSlip(
            "seconds-per-request",
            "That is how many seconds one request takes; it says nothing of a batch.",
            lambda v: v["output"] / v["decode_rate"],
            q.batch,
        ),
        OwnSlip(
            "product-over-target",
            "The rate times the tokens was divided by the milliseconds of the target.",
            lambda v: v["output"] * v["decode_rate"] / (1000 * v["latency_target"]),
            q.batch,
        ),
        OwnSlip(
            "times-the-target",
            "The time of one request was multiplied by the target; the two must be compared.",
            lambda v: v["latency_target"] * v["output"] / v["decode_rate"],
            q.batch,
        ),
        OwnSlip(
            "tokens-over-milliseconds",
            "The tokens were divided by the milliseconds of the target.",
            lambda v: v["output"] / (1000 * v["latency_target"]),
            q.batch,
        ),
        OwnSlip(
            "rate-times-tokens",
            "The rate was multiplied by the tokens of a request.",
            lambda v: v["decode_rate"] * v["output"],
            q.batch,
        ),
        OwnSlip(
            "slots-anyway",
            "A free slot does not help: a sequence on its own is too slow for the target.",
            lambda v: None if v["output"] <= v["latency_target"] * v["decode_rate"] else v["slots"],
            q.batch,
        ),
        OwnSlip(
            "rate-of-all",
            "That is the rate of all slots together; the target binds each sequence on its own.",
            lambda v: v["slots"] * v["output"] / v["latency_target"],
            q.decode_rate,
        ),
        OwnSlip(
            "tokens-of-all",
            "These are the tokens of all slots together; the target binds each request on its own.",
            lambda v: v["slots"] * v["latency_target"] * v["decode_rate"] // 1,
            q.output,
        ),
        OwnSlip(
            "rate-shared-by-slots",
            "The rate was divided among the slots; it is already that of one sequence.",
            lambda v: v["latency_target"] * v["decode_rate"] // v["slots"],
            q.output,
        ),
    ),
    objective="latency-target",
    section="exercises",
    infeasible=True,
    keep=clearly_met_or_missed,
    revision=2,
)
