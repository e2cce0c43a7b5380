"""The widest weights that leave enough of a GPU free (F02): of the widths on offer, perhaps none."""

from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from spec import catalog
from spec.memory import weights
from spec.stream import Stream
from spec.units import unit

GB, GIB = 10**9, int(unit("GiB").factor)
HUNDRED_MILLION = 10**8
GPUS = ("t4", "l4", "rtx-4090", "rtx-5090", "v100-32gb", "a100-40gb", "l40s", "a100-80gb", "h200", "b200-sxm", "mi300x")
SIZES = (*range(15, 100, 3), *range(100, 700, 15), *range(700, 4100, 100))  # in hundreds of millions
OFFERS = ((32, 16, 8, 4), (16, 8, 4), (16, 8, 4, 2), (16, 8, 6, 4), (16, 8, 5, 4), (16, 8, 6, 5, 4, 3), (16, 8))


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of `parameters` for a GPU with `memory` GB, of which `reserve` GB stay free of weights."""

    gpu: str
    memory: int
    parameters: int
    reserve: int
    widths: tuple[int, ...]

    def takes(self, bits: int) -> Fraction:
        """Return the GB of the weights at a width."""
        return _found(weights(parameters=self.parameters, weight_bits=bits)) / GB

    def widest(self, room: Fraction | int) -> int | None:
        """Return the widest of the offer that takes no more GB than there are."""
        return max((bits for bits in self.widths if self.takes(bits) <= room), default=None)

    @property
    def room(self) -> int:
        """The GB left for weights."""
        return self.memory - self.reserve


def _found(value: object) -> Fraction:
    if not isinstance(value, int | Fraction):
        raise TypeError(value)
    return Fraction(value)


def draw(stream: Stream) -> Offer:
    """Draw a model, a GPU and an offer."""
    gpu = catalog.gpu(stream.choice(GPUS))
    return Offer(
        gpu=gpu.name,
        memory=int(gpu.marketed.number),
        parameters=stream.choice(SIZES) * HUNDRED_MILLION,
        reserve=stream.choice((2, 3, 4, 5, 6, 8, 10, 12, 16, 20)),
        widths=stream.choice(OFFERS),
    )


def close(case: Offer) -> bool:
    """Keep models of which some width is near what fits, and a reserve that is a part of the GPU."""
    return 4 * case.reserve <= 3 * case.memory and case.takes(case.widths[-1]) <= 2 * case.room <= 4 * case.takes(
        case.widths[0]
    )


def statement(case: Offer) -> str:
    """Say what is to fit."""
    *most, last = case.widths
    return (
        f"A model with {case.parameters:,} parameters is to be served on one {case.gpu}. "
        f"Of its {case.memory:,} GB of memory, {case.reserve:,} GB must stay free for the cache and all else. "
        f"The weights are on offer at {', '.join(map(str, most))} or {last} bits per parameter, with nothing beside."
    )


def givens(case: Offer) -> tuple[Given, ...]:
    """List the sizes."""
    return (
        Given("parameters", "P", str(case.parameters), "parameter", "parameters"),
        Given("gpu_memory", "M", str(case.memory), "GB", "memory of one GPU"),
        Given("reserve", "R", str(case.reserve), "GB", "memory that stays free of weights"),
    )


def reason(case: Offer) -> str:
    """Say by how much the narrowest is too large."""
    least = case.widths[-1]
    return (
        f"Even at {least} bits the weights take {rounded(case.takes(least), 6)} GB, and only {case.room:,} GB are left."
        if case.room > 0
        else f"The reserve alone takes {case.reserve:,} of the {case.memory:,} GB."
    )


def explained(case: Offer) -> tuple[Explained, ...]:
    """Write down what each width takes."""
    lines = [
        Explained(
            "weights", "What is left for the weights.", f"{case.memory:,} GB - {case.reserve:,} GB = {case.room:,} GB"
        ),
        *(
            Explained(
                "weights",
                weights.says,
                f"{case.parameters:,} x {bits} bits / 8 = {rounded(case.takes(bits), 6)} GB: "
                f"{'fits' if case.takes(bits) <= case.room else 'too much'}",
            )
            for bits in case.widths
        ),
    ]
    return (*lines, Explained("weights", "The widest that fits.", f"widest = {key(case) or 'none'}"))


def label(bits: int | None) -> str | None:
    """Return a width as the answer names it."""
    return None if bits is None else str(bits)


def next_wider(case: Offer) -> int | None:
    """Return the narrowest that does not fit."""
    return min((bits for bits in case.widths if case.takes(bits) > case.room), default=None)


def key(case: Offer) -> str | None:
    """Return the widest that fits."""
    return label(case.widest(case.room))


width: CaseAsk[Offer] = CaseAsk(
    asks="weight_bits",
    question=lambda _: "Which of these widths, in bits, is the widest at which the weights fit?",
    kind="choice",
    key=key,
    options=lambda c: tuple(map(str, c.widths)),
    reason=reason,
    slips=(
        CaseSlip(
            "next-wider",
            "That width takes too much; what would fit is rounded down to a width on offer.",
            lambda c: label(next_wider(c)),
            lambda c: next_wider(c) is not None,
        ),
        CaseSlip(
            "narrowest",
            "That one fits, but a wider one does too.",
            lambda c: label(c.widths[-1]),
            lambda c: key(c) not in {None, label(c.widths[-1])},
        ),
        told_apart("reserve-forgotten", "The reserve was not taken off.", lambda c: label(c.widest(c.memory)), key),
        told_apart(
            "all-in-GiB",
            "All sizes: read in GiB, given in GB.",
            lambda c: label(c.widest(Fraction(c.room * GIB, GB))),
            key,
        ),
        told_apart(
            "billion-as-2-30",
            "A billion parameters were counted as 2^30; a billion is 10^9.",
            lambda c: label(c.widest(Fraction(c.room * GB, GIB))),
            key,
        ),
        told_apart(
            "eight-forgotten",
            "The bytes left were divided by the parameters; a byte has eight bits.",
            lambda c: label(c.widest(Fraction(c.room, 8))),
            key,
        ),
    ),
    hints=lambda c: (
        "Take the reserve off the memory, and see which weights fit into the rest.",
        "W = P b_w / 8 must be at most M - R.",
        f"{c.parameters:,} x b_w / 8 must be at most {c.memory:,} GB - {c.reserve:,} GB.",
    ),
    explained=explained,
)

family: CaseFamily[Offer] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((width,),),
    givens=givens,
    keep=close,
    infeasible=True,
    objective="weight-memory",
    section="model-weights",
)
