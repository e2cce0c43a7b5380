"""Exercise 3 of the chapter: a batch for a latency target that no batch meets."""

from grader.family import Ask, Family, Menu, OwnSlip
from spec import quantities as q
from spec.phases import meets_latency_target

family = Family(
    asks=Ask(q.batch, "What is the largest batch with which every request meets its target?"),
    by=(),
    requires=(meets_latency_target,),
    given=Menu(output=(100,), decode_rate=(50,), latency_target=("500 ms",)),
    wording="""Each request generates {{ output }} and must be answered within {{ latency_target }}, in 99 of 100 cases.
        The server decodes at {{ decode_rate }} for each sequence, however many there are.""",
    slips=tuple(
        OwnSlip(slug, sentence, value, q.batch)
        for slug, sentence, value in (
            (
                "tokens-in-time",
                "That is how many tokens one sequence gets in the time allowed; it says nothing of a batch.",
                lambda v: v["latency_target"] * v["decode_rate"],
            ),
            (
                "seconds-per-request",
                "That is how many seconds one request takes; it says nothing of a batch.",
                lambda v: v["output"] / v["decode_rate"],
            ),
            (
                "product-over-target",
                "The rate times the tokens was divided by the milliseconds of the target.",
                lambda v: v["output"] * v["decode_rate"] / (1000 * v["latency_target"]),
            ),
            (
                "times-the-target",
                "The time of one request was multiplied by the target; the two must be compared.",
                lambda v: v["latency_target"] * v["output"] / v["decode_rate"],
            ),
            (
                "tokens-over-milliseconds",
                "The tokens were divided by the milliseconds of the target.",
                lambda v: v["output"] / (1000 * v["latency_target"]),
            ),
            (
                "rate-times-tokens",
                "The rate was multiplied by the tokens of a request.",
                lambda v: v["decode_rate"] * v["output"],
            ),
        )
    ),
    objective="latency-target",
    section="exercises",
    preset=True,
)
