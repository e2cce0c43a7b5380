"""The share of a padded batch that is padding (F25), or the sequence that makes it so large."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import median

from grader.amounts import digits, rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained
from grader.exercise import EXACT
from spec.serving.padding import padded_tokens, padding_waste
from spec.solving import Exact, whole
from spec.stream import Stream

LENGTHS = (
    *(16, 24, 32, 48, 50, 64, 80, 96, 100, 120, 128, 150, 160, 192, 200, 240, 256, 300, 320, 384, 400, 450, 480),
    *(512, 600, 640, 700, 768, 800, 900, 1000, 1024, 1200, 1280, 1500, 1536, 1800, 2000, 2048, 2400, 2500, 3000),
    *(3072, 3600, 4000, 4096, 5000, 6000, 6144, 7000, 8000, 8192),
)
ALIKE = (1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12)  # sequences of one length
MOST = 64  # sequences of a batch


PARTS = (*range(2, 17), 20, 24, 25, 30, 32, 40, 50)  # into which a share is divided


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch, how many sequences of which length, and the shares of padding after another one has joined.

    That one is shorter than the longest, or longer than all.
    """

    groups: tuple[tuple[int, int], ...]
    with_shorter: Fraction
    with_longer: Fraction

    @property
    def lengths(self) -> list[int]:
        """Every sequence, without the one that joins."""
        return [length for count, length in self.groups for _ in range(count)]

    @property
    def longest(self) -> int:
        """The longest of these."""
        return max(length for _, length in self.groups)

    @property
    def total(self) -> int:
        """The tokens of all of these."""
        return sum(count * length for count, length in self.groups)

    @property
    def size(self) -> int:
        """How many there are when one has joined."""
        return sum(count for count, _ in self.groups) + 1

    @property
    def shorter(self) -> Fraction:
        """The tokens that are left for one that does not change the longest."""
        return self.size * self.longest * (1 - self.with_shorter) - self.total

    @property
    def over(self) -> Fraction:
        """How many times a new longest one the others are together."""
        return self.size * (1 - self.with_longer) - 1

    @property
    def longer(self) -> Fraction | None:
        """The tokens of a new longest one; None where none is long enough."""
        return self.total / self.over if self.over > 0 else None


@cache
def _shares() -> tuple[Fraction, ...]:
    return tuple(dict.fromkeys(Fraction(part, parts) for parts in PARTS for part in range(1, parts)))


def _draw(stream: Stream) -> Batch:
    start = stream.below(len(LENGTHS) - 8)
    kinds = 2 + stream.below(4)
    lengths = sorted({LENGTHS[start + stream.below(len(LENGTHS) - start)] for _ in range(kinds)})
    groups = tuple((stream.choice(ALIKE), length) for length in lengths)
    bare = Batch(groups, Fraction(0), Fraction(0))
    if len(groups) == 1 or bare.size > MOST:
        return bare
    without_shorter, without_longer = stream.below(4) == 0, stream.below(4) == 0
    shares = _shares()
    start = stream.below(len(shares))
    some = [Batch(groups, shares[start - place], shares[start - place]) for place in range(len(shares))]
    shorter = (c for c in some if (c.shorter <= 0 or c.shorter >= c.longest if without_shorter else _shorter(c)))
    longer = (c for c in some if (c.over <= 0 or _too_short(c) if without_longer else _longer(c)))
    return Batch(groups, next(shorter, bare).with_shorter, next(longer, bare).with_longer)


def _too_short(case: Batch) -> bool:
    return case.longer is not None and case.longer <= case.longest


def _keep(case: Batch) -> bool:
    listed = {length for _, length in case.groups}
    return min(case.with_shorter, case.with_longer) > 0 and not listed & {case.shorter, case.longer}


def _statement(case: Batch) -> str:
    counted = [
        f"{count} sequence{'s' * (count > 1)} of {digits(length)} tokens{' each' * (count > 1)}"
        for count, length in case.groups
    ]
    return (
        f"A static batch holds {', '.join(counted[:-1])} and {counted[-1]}. Every sequence of the batch is padded to "
        "the longest one."
    )


def _waste(case: Batch) -> Exact:
    return padding_waste(case.lengths)


def _spread(case: Batch) -> tuple[int, int, int]:
    """Return how many sequences there are, the longest, and the sum of all."""
    return case.size - 1, case.longest, case.total


def _waste_explained(case: Batch) -> tuple[Explained, ...]:
    count, longest, total = _spread(case)
    padded, waste = padded_tokens(case.lengths), _waste(case)
    return (
        Explained("useful tokens", "Add up the lengths.", f"sum of the lengths = {digits(total)} tokens"),
        Explained(
            "padded batch",
            "Every sequence takes the length of the longest.",
            f"{count} x {digits(longest)} tokens = {digits(padded)} tokens",
        ),
        Explained(
            "padding_waste",
            "What is not useful is padding.",
            f"waste = 1 - {digits(total)}/{digits(padded)} = {digits(waste)}"
            + f" = {rounded(waste)}" * ("/" in digits(waste)),
            rf"1 - \frac{{{total}}}{{{padded}}}",
        ),
    )


WASTE: CaseAsk[Batch] = CaseAsk(
    asks="padding_waste",
    question=lambda _: "What share of all tokens of the batch, padding included, is padding?",
    kind="number",
    key=_waste,
    percent=True,
    slips=(
        CaseSlip(
            "padding-to-useful",
            "The padding was compared with the useful tokens instead of with the whole batch.",
            lambda c: Fraction(padded_tokens(c.lengths), c.total) - 1,
        ),
        CaseSlip(
            "useful-for-waste",
            "That is the share that is no padding.",
            lambda c: Fraction(c.total, padded_tokens(c.lengths)),
        ),
        CaseSlip(
            "shortest-for-mean",
            "The longest was compared with the shortest alone; every sequence counts.",
            lambda c: 1 - Fraction(min(c.lengths), c.longest),
        ),
        CaseSlip(
            "median-for-mean",
            "The median was taken for the mean; what counts is the sum of all lengths.",
            lambda c: 1 - Fraction(median(c.lengths)) / c.longest,
        ),
        CaseSlip(
            "one-sequence-less",
            "The longest sequence was left out of the padded batch; it takes its place there as well.",
            lambda c: 1 - Fraction(c.total, ((c.size - 1) - 1) * c.longest),
        ),
        CaseSlip(
            "lengths-once",
            "Each length was counted once, however many sequences have it.",
            lambda c: padding_waste([length for _, length in c.groups]),
            lambda c: any(count > 1 for count, _ in c.groups),
        ),
    ),
    hints=lambda c: (
        "Compare the tokens that are useful with all that the batch is laid out for.",
        "waste = 1 - (sum of the lengths) / (number of sequences x longest length).",
        f"The batch has {c.size - 1} sequences and is laid out for {c.size - 1} x {digits(c.longest)} tokens.",
    ),
    explained=_waste_explained,
)


def _shorter(case: Batch) -> int | None:
    length = whole(case.shorter)
    return length if isinstance(length, int) and LENGTHS[0] <= length < case.longest else None


def _longer(case: Batch) -> int | None:
    length = whole(case.longer or Fraction(0))
    return length if isinstance(length, int) and case.longest < length <= LENGTHS[-1] else None


def _positive(value: Fraction) -> Exact | None:
    return whole(value) if value > 0 else None


def _over(above: Exact, below: Exact) -> Exact | None:
    return whole(Fraction(above) / below) if below > 0 else None


def _share(share: Fraction) -> str:
    percent = digits(whole(100 * share))
    return f"{percent} %" if len(percent) <= len("12.5") else digits(share)


def _shorter_explained(case: Batch) -> tuple[Explained, ...]:
    padded, found = case.size * case.longest, _shorter(case)
    useful = rounded(padded * (1 - case.with_shorter), 7)
    end = f"{rounded(case.shorter, 7)}{'' if found else f': {_shorter_reason(case)}'}"
    return (
        Explained(
            "padded batch",
            "The new sequence is padded, too.",
            f"{case.size} x {digits(case.longest)} tokens = {digits(padded)} tokens",
        ),
        Explained(
            "useful tokens",
            "What is not padding is useful.",
            f"{digits(padded)} x (1 - {_share(case.with_shorter)}) = {useful} tokens",
        ),
        Explained(
            "one length",
            "The other sequences have their part of them.",
            f"{useful} - {digits(case.total)} = {end}",
        ),
    )


def _shorter_reason(case: Batch) -> str:
    if case.shorter <= 0:
        return "The other sequences alone have more useful tokens than such a share leaves."
    return "It would have to be at least as long as the longest."


SHORTER: CaseAsk[Batch] = CaseAsk(
    asks="length",
    question=lambda c: (
        f"One more sequence joins, and {_share(c.with_shorter)} of all tokens are padding then. If it is shorter "
        "than the longest, how many tokens does it have?"
    ),
    kind="count",
    unit="token",
    tolerance=EXACT,
    key=_shorter,
    reason=_shorter_reason,
    slips=(
        CaseSlip(
            "useful-for-waste",
            "The share was taken as that of the useful tokens.",
            lambda c: _positive(c.size * c.longest * c.with_shorter - c.total),
        ),
        CaseSlip(
            "padding-to-useful",
            "The share was taken of the useful tokens instead of the whole batch.",
            lambda c: _positive(c.size * c.longest / (1 + c.with_shorter) - c.total),
        ),
        CaseSlip(
            "others-alone",
            "The batch was laid out for the sequences that were there before; the new one is padded, too.",
            lambda c: _positive((c.size - 1) * c.longest * (1 - c.with_shorter) - c.total),
        ),
        CaseSlip(
            "share-of-the-longest",
            "The share was taken of the longest sequence alone; it is that of the whole batch.",
            lambda c: _positive(c.longest * (1 - c.with_shorter)),
        ),
        CaseSlip(
            "padding-of-it",
            "That is how much it is padded.",
            lambda c: None if (found := _shorter(c)) is None else c.longest - found,
            lambda c: _shorter(c) is not None,
        ),
        CaseSlip(
            "all-useful",
            "Those are the useful tokens of all sequences; the others have their part of them.",
            lambda c: _positive(c.size * c.longest * (1 - c.with_shorter)),
        ),
    ),
    hints=lambda c: (
        "The share says how many tokens of the batch are useful; the sequences that are known have their part of them.",
        "length = (number of sequences x longest length) x (1 - waste) - (sum of the other lengths).",
        f"There is room for {c.size} x {digits(c.longest)} tokens now, and the others have {digits(c.total)}.",
    ),
    explained=_shorter_explained,
)


def _longer_explained(case: Batch) -> tuple[Explained, ...]:
    share, total, size = _share(case.with_longer), digits(case.total), case.size
    start = Explained(
        "padding_waste",
        "With x for the length of the new sequence, which is the longest.",
        f"{share} = 1 - ({total} + x)/({size} x), so that {size} x (1 - {share}) - x = {total}",
    )
    if case.longer is None:
        return (start, Explained("supremum", "The left side is not above 0.", _longer_reason(case)))
    end = f"{rounded(case.longer, 7)}{'' if _longer(case) else f': {_longer_reason(case)}'}"
    solved = f"x = {total}/({size} (1 - {share}) - 1) = {end}"
    return (start, Explained("longest length", "Solved for x.", solved))


def _longer_reason(case: Batch) -> str:
    if case.over <= 0:
        return (
            f"Of {case.size} sequences the longest has no padding, so that the share stays under 1 - 1/{case.size}, "
            "however long it is."
        )
    return "It would not be longer than the others."


LONGER: CaseAsk[Batch] = CaseAsk(
    asks="longest_length",
    question=lambda c: (
        f"One more sequence joins, and {_share(c.with_longer)} of all tokens are padding then. If it is longer "
        "than all others, how many tokens does it have?"
    ),
    kind="count",
    unit="token",
    tolerance=EXACT,
    key=_longer,
    reason=_longer_reason,
    slips=(
        CaseSlip(
            "own-tokens-forgotten",
            "The new sequence has useful tokens of its own.",
            lambda c: _over(c.total, c.size * (1 - c.with_longer)),
        ),
        CaseSlip(
            "others-alone",
            "The new sequence was left out of the batch; it has its place there as well.",
            lambda c: _over(c.total, (c.size - 1) * (1 - c.with_longer)),
        ),
        CaseSlip(
            "useful-for-waste",
            "The share was taken as that of the useful tokens.",
            lambda c: _over(c.total, c.size * c.with_longer - 1),
        ),
        CaseSlip(
            "padding-to-useful",
            "The share was taken of the useful tokens instead of the whole batch.",
            lambda c: _over(c.total * (1 + c.with_longer), c.size - 1 - c.with_longer),
        ),
        CaseSlip(
            "longest-unchanged",
            "The batch was still padded to the sequence that was the longest before.",
            lambda c: _positive(c.size * c.longest * (1 - c.with_longer) - c.total),
        ),
        CaseSlip("others-together", "Those are the tokens of all others together.", lambda c: c.total),
    ),
    hints=lambda c: (
        "The new sequence sets the length to which all are padded, and its own tokens are useful.",
        "waste = 1 - (sum of the others + x) / (number of sequences x x); solve for x.",
        f"There are {c.size} sequences then, and the others have {digits(c.total)} tokens together.",
    ),
    explained=_longer_explained,
)

family = CaseFamily(
    draw=_draw,
    statement=_statement,
    ways=((WASTE,), (SHORTER,), (LONGER,)),
    keep=_keep,
    objective="batching",
    section="batching",
    infeasible=True,
    revision=2,
)
