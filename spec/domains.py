"""Domains: which values a quantity may take, as an exact interval of numbers or of integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

Exact = int | Fraction


@dataclass(frozen=True, slots=True)
class Domain:
    """An interval of valid values; None is unbounded. `integer` keeps whole numbers only.

    `open_low` and `open_high` exclude the end itself.
    """

    low: Exact | None = 0
    high: Exact | None = None
    integer: bool = False
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, value: Exact) -> bool:
        if self.integer and value.denominator != 1:
            return False
        return not (self.below(value) or self.above(value))

    @property
    def first(self) -> int:
        """The smallest whole number of the domain; 0 where it has none."""
        return 0 if self.low is None else math.floor(self.low) + 1 if self.open_low else math.ceil(self.low)

    @property
    def last(self) -> int | None:
        """The largest whole number of the domain; None where it has none."""
        return None if self.high is None else math.ceil(self.high) - 1 if self.open_high else math.floor(self.high)

    @property
    def inside(self) -> Exact:
        """A value that is no end of the domain where the domain has other values than its ends."""
        if self.integer or self.high is None:
            return self.first + 1 if self.last is None else (self.first + self.last) // 2
        return Fraction(1, 2) * ((self.low or 0) + self.high)

    # Cross-multiplied: comparing a Fraction itself takes several times as long, and every given is compared.
    def below(self, value: Exact) -> bool:
        """Say whether a value lies under the domain."""
        if self.low is None:
            return False
        room = value.numerator * self.low.denominator - self.low.numerator * value.denominator
        return room < 0 or (self.open_low and room == 0)

    def above(self, value: Exact) -> bool:
        """Say whether a value lies over the domain."""
        if self.high is None:
            return False
        room = self.high.numerator * value.denominator - value.numerator * self.high.denominator
        return room < 0 or (self.open_high and room == 0)

    def __str__(self) -> str:
        kind = "whole number" if self.integer else "number"
        low = "" if self.low is None else f" {'over' if self.open_low else 'of at least'} {self.low}"
        high = "" if self.high is None else f" {'under' if self.open_high else 'of at most'} {self.high}"
        return f"a {kind}{low}{' and' if low and high else ''}{high}"


COUNT = Domain(1, integer=True)
COUNT_OR_ZERO = Domain(0, integer=True)
POSITIVE = Domain(0, open_low=True)
AMOUNT = Domain(0)
SHARE = Domain(0, 1, open_high=True)
EFFICIENCY = Domain(0, 1, open_low=True)
FLAG = Domain(0, 1, integer=True)
