"""Exercise 3 of the chapter: a batch for a latency target that no batch meets."""

from grader.family import Ask, Family, Menu, OwnSlip
from problems.latency_target import NUMBERS_OF_A_BATCH
from spec import quantities as q
from spec.phases import meets_latency_target

family = Family(
    asks=Ask(q.batch, "What is the largest batch with which every request meets its target?"),
    by=(),
    requires=(meets_latency_target,),
    given=Menu(output=(100,), decode_rate=(50,), latency_target=("500 ms",)),
    wording="""Each request generates {{ output }} and must be answered within {{ latency_target }}, in 99 of 100 cases.
        The server decodes at {{ decode_rate }} for each sequence, however many there are.""",
    slips=tuple(OwnSlip(*row, q.batch) for row in NUMBERS_OF_A_BATCH),
    objective="latency-target",
    section="exercises",
    preset=True,
)
