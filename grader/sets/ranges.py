"""What a number earns, as ranges: for platforms that compare numbers and know nothing else of an exercise.

They take no words, so the answer that no such value exists is typed as `NONE`, which no quantity can be. A right range
comes before any other, and of two that share a limit the first is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from grader.amounts import significant
from grader.exercise import NUMERIC, Part, SlipValue, Tolerance, exact
from grader.reading.nearness import Nearness, both_rounded, leading, multiples
from spec.units import unit

NONE = Fraction(-1)
FIGURES = 20  # of a number without a finite decimal; a platform computes with 16
VALUE_EXISTS = "There is such a value."

Limits = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `low` to `high`, in the unit of the part, both included.

    `sentences` are what to tell whoever answers one of them; several where the slips cannot be told apart.
    """

    low: Fraction
    high: Fraction
    right: bool
    sentences: tuple[str, ...] = ()

    @property
    def middle(self) -> Fraction:
        """The number that all others are within `tolerance` of."""
        return (self.low + self.high) / 2

    @property
    def tolerance(self) -> Fraction:
        """How far they may lie from it."""
        return (self.high - self.low) / 2


def ranges(part: Part) -> tuple[Range, ...]:
    """Return the right numbers of a part, then those that its slips lead to.

    Raises:
        ValueError: its answer is no number.
    """
    if part.kind not in NUMERIC:
        raise ValueError(f"the answer to {part.asks} is no number")
    zero = part.zero_is_none and part.key in {None, "0"}
    keys = [(NONE, NONE)] if part.key is None or zero else []
    if zero:
        keys.append((Fraction(0), Fraction(0)))
    elif part.key is not None:
        keys.append(_around(part, Fraction(part.key)))
    right = tuple(Range(low, high, right=True) for low, high in keys)
    wrong = (found for found in _told(part) if not any(r.low <= found.low and found.high <= r.high for r in right))
    return (*right, *wrong)


def plain(number: Fraction, figures: int = FIGURES) -> str:
    """Write a number as a decimal: exactly where it is a finite one, else to so many significant figures."""
    written = exact(number)
    return exact(significant(number, figures)) if "/" in written else written


def _around(part: Part, value: Fraction) -> Limits:
    """Return the limits within which a number counts as the value."""
    tolerance = part.tolerance
    if part.kind == "count" or tolerance.kind == "exact":
        return value, value
    if tolerance.kind in {"figures", "decimals"}:
        places = int(tolerance.value)
        last = -places if tolerance.kind == "decimals" else leading(value) - places + 1
        rounded, half = both_rounded(value, tolerance.kind, places), Fraction(10) ** last / 2
        return Fraction(min(rounded)) - half, Fraction(max(rounded)) + half
    width = Fraction(tolerance.value)
    if tolerance.kind == "relative":
        width *= abs(value)
    elif tolerance.unit:
        width *= unit(tolerance.unit).factor / unit(part.unit).factor
    return value - width, value + width


def _told(part: Part) -> Iterator[Range]:
    """Give the ranges of the slips, cut so that each number lies in one, with the sentences of all that lead to it."""
    spans = [(limits, s.sentence) for s in part.slips for limits in _of_slip(part, s)]
    if part.key is not None:
        spans.append(((NONE, NONE), VALUE_EXISTS))
    points = sorted({low for (low, high), _ in spans if low == high})
    edges = sorted({edge for limits, _ in spans if limits[0] < limits[1] for edge in limits})
    for low, high in [*((point, point) for point in points), *pairwise(edges)]:
        told = dict.fromkeys(said for limits, said in spans if limits[0] <= low and high <= limits[1])
        if told:
            yield Range(low, high, right=False, sentences=tuple(told))


def _of_slip(part: Part, slip: SlipValue) -> list[Limits]:
    """Return where the answers of a slip lie; a count that is none is also rounded, to a whole or to any decimal."""
    if slip.value is None:
        return [(NONE, NONE)]
    number, near = Fraction(slip.value), Nearness.of_part(part.tolerance, part.unit).closer()
    if part.kind != "count":
        return [_around(replace(part, tolerance=Tolerance(near.kind, near.value)), number)]
    after_rounding = [(Fraction(count), Fraction(count)) for count in multiples(Fraction(part.key or 0), number)]
    if number.denominator == 1:
        return [(number, number), *after_rounding]
    down, below = Fraction(number // 1), Fraction(number * 10 // 1, 10)
    above = below if below == number else below + Fraction(1, 10)
    if slip.unrounded:  # which no whole number is
        low, high = (number + down) / 2, (number + down + 1) / 2
        return [(low if below == down else below, high if above == down + 1 else above), *after_rounding]
    return [(down, down), (down + 1, down + 1), (below, above), *after_rounding]
