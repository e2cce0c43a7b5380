"""When two numbers count as the same, and by which familiar factor they differ when they do not.

Everything is exact: a tolerance is a closed interval of fractions, and rounding is done on fractions.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from grader.exercise import Tolerance
from grader.reading.number import Number, simplest
from spec.units import IEC, SI, TABLE, Dimension, unit

CLOSE = "0.005"

Band = tuple[Number, Number]
"""Lowest and highest value that counts as the same; for rounding tolerances the two ways to round a tie."""


@lru_cache(maxsize=8192)
def exact_value(text: str) -> Number:
    """The value of a number in a record: an integer, a decimal or `p/q`."""
    return simplest(Fraction(text))


@dataclass(frozen=True, slots=True)
class Nearness:
    """A tolerance on values in one unit."""

    kind: str
    value: str
    unit: str
    of: str

    @classmethod
    def of_part(cls, tolerance: Tolerance, of: str) -> Nearness:
        """The tolerance of a part whose values are in unit `of`."""
        return cls(tolerance.kind, tolerance.value, tolerance.unit, of)

    def closer(self) -> Nearness:
        """A tolerance narrow enough that what it explains is no coincidence."""
        if self.kind in {"relative", "absolute"}:
            return Nearness(
                "relative", min(CLOSE, self.value, key=Fraction) if self.kind == "relative" else CLOSE, "", self.of
            )
        return self

    def near(self, number: Number, text: str) -> bool:
        """Whether a number counts as the value `text` of a record."""
        return self.within(number, _band(text, self.kind, self.value, self.unit, self.of))

    def near_value(self, number: Number, target: Number) -> bool:
        """Whether a number counts as `target`."""
        return self.within(number, _band_around(target, self.kind, self.value, self.unit, self.of))

    def within(self, number: Number, band: Band) -> bool:
        """Whether a number lies in a band, its limits included."""
        if self.kind in {"figures", "decimals"}:
            up, even = both_rounded(number, self.kind, int(self.value))
            return up == band[0] or even == band[1]
        return band[0] <= number <= band[1]


@lru_cache(maxsize=8192)
def _band(text: str, kind: str, value: str, of_value: str, of: str) -> Band:
    return _band_around(exact_value(text), kind, value, of_value, of)


def _band_around(target: Number, kind: str, value: str, of_value: str, of: str) -> Band:
    if kind in {"figures", "decimals"}:
        return both_rounded(target, kind, int(value))
    if kind == "exact":
        return target, target
    width: Fraction = Fraction(exact_value(value))
    if kind == "relative":
        width *= -target if target < 0 else target
    elif of_value:
        width *= unit(of_value).factor / unit(of).factor
    return simplest(target - width), simplest(target + width)


def both_rounded(number: Number, kind: str, places: int) -> Band:
    """Round to significant figures or decimals, ties away from zero and ties to even."""
    quantum = _quantum(number, kind, places)
    steps = Fraction(number) / quantum
    away = (2 * abs(steps.numerator) + steps.denominator) // (2 * steps.denominator)
    return simplest(quantum * (away if number >= 0 else -away)), simplest(quantum * round(steps))


def truncated(number: Number, kind: str, places: int) -> Number:
    """Cut off what rounding would round."""
    quantum = _quantum(number, kind, places)
    return simplest(quantum * int(Fraction(number) / quantum))


def multiples(key: Number, slip: Number) -> Iterator[Number]:
    """Give what a slip comes to if its factor was forgotten after the right count had been rounded: times that count.

    The factor is smaller than the count, since every number is a multiple of 1.
    """
    if key > 1:
        for times in range(max(2, ceil(slip / Fraction(key + 1))), min(ceil(key), floor(slip / Fraction(key - 1)) + 1)):
            if -times < slip - times * key < times:
                yield times * key


def _quantum(number: Number, kind: str, places: int) -> Fraction:
    """One unit of the last place that is kept."""
    exponent = -places if kind == "decimals" else leading(number) - places + 1
    return Fraction(10) ** exponent


def leading(number: Number) -> int:
    """The power of ten of the first significant digit: 2 for 342, -2 for 0.05."""
    over, under = abs(number.numerator), number.denominator
    if over == 0:
        return 0
    guess = len(str(over)) - len(str(under))
    smaller = over < under * 10**guess if guess >= 0 else over * 10**-guess < under
    return guess - 1 if smaller else guess


@dataclass(frozen=True, slots=True)
class Factor:
    """A familiar factor between a wrong value and the right one; `code` names the mistake, between which two things.

    Nobody makes it of a value under `least`, in base units.
    """

    code: str
    ratio: Fraction
    first: str = ""
    second: str = ""
    least: Fraction = Fraction(0)


_SCALE = 10**24


@lru_cache(maxsize=64)
def _familiar(dimension: Dimension) -> tuple[list[int], list[Factor]]:
    """The familiar factors between values of a dimension, sorted by size."""
    factors = [
        Factor("prefix", Fraction(10) ** (3 * n), second=f"10^{3 * n}") for n in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)
    ]
    if data := dimension[TABLE["B"].dimension.index(1)]:
        for (decimal, thousand), (binary, kibi) in zip(SI.items(), IEC.items(), strict=True):
            ratio, least = Fraction(kibi, thousand), Fraction(thousand, 10) if data > 0 else Fraction(0)
            factors += (
                Factor("binary-decimal", ratio, f"{binary}B", f"{decimal}B", least),
                Factor("binary-decimal", 1 / ratio, f"{decimal}B", f"{binary}B", least),
            )
        factors += (Factor("bit-byte", Fraction(8), "bit", "B"), Factor("bit-byte", Fraction(1, 8), "B", "bit"))
    if dimension[TABLE["s"].dimension.index(1)]:
        for name, of in (("minute", 60), ("hour", 3600)):
            factors += (
                Factor("time-unit", Fraction(of), name, "second"),
                Factor("time-unit", Fraction(1, of), name, "second"),
            )
    if not any(dimension):
        factors += (Factor("percent", Fraction(100)), Factor("percent", Fraction(1, 100)))
    factors.sort(key=lambda factor: factor.ratio)
    return [int(factor.ratio * _SCALE) for factor in factors], factors


def familiar_factor(
    number: Number, right: Number, dimension: Dimension, nearness: Nearness, unit: Fraction = Fraction(1)
) -> Factor | None:
    """The familiar factor by which a wrong number is off, if there is one; both numbers are in a `unit`."""
    if number == 0 or right == 0 or (number < 0) != (right < 0):
        return None
    ratio = Fraction(number) / right
    sizes, factors = _familiar(dimension)
    place = bisect(sizes, ratio.numerator * _SCALE // ratio.denominator)
    for factor in factors[max(0, place - 1) : place + 1]:
        if nearness.near_value(simplest(number / factor.ratio), right) and abs(Fraction(right)) * unit >= factor.least:
            return factor
    return None
