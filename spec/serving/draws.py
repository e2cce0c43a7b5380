"""Random lengths and gaps that are the same for ever, on every machine and Python version.

Each starts from whole numbers of a `Stream` and goes on in decimal arithmetic, whose logarithm, exponential and root
are correctly rounded by its definition; binary floats of different machines are not. What comes out is whole again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Protocol

from spec.stream import Stream

PARTS = 2**53
_CONTEXT = Context(prec=18, rounding=ROUND_HALF_EVEN)


class Lengths(Protocol):
    """A distribution of whole numbers."""

    def draw(self, stream: Stream) -> Iterator[int]:
        """Give one number after another."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """Always the same number."""

    value: int

    def draw(self, _stream: Stream) -> Iterator[int]:
        """Give one number after another."""
        while True:
            yield self.value


@dataclass(frozen=True, slots=True)
class Uniform:
    """Every whole number from `low` to `high` alike."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"lengths from {self.low} to {self.high} are none")

    def draw(self, stream: Stream) -> Iterator[int]:
        """Give one number after another."""
        while True:
            yield self.low + stream.below(self.high - self.low + 1)


@dataclass(frozen=True, slots=True)
class Lognormal:
    """A number whose logarithm is normal, rounded, and moved to the nearest end where it lies outside.

    Attributes:
        median: half of them are larger.
        sigma: the standard deviation of the logarithm.
        low, high: the ends.
    """

    median: int
    sigma: Fraction
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high or self.median < 1 or self.sigma < 0:
            raise ValueError("lognormal lengths have a median of at least 1, a sigma of at least 0 and ends in order")

    def draw(self, stream: Stream) -> Iterator[int]:
        """Give one number after another."""
        sigma = _decimal(Fraction(self.sigma))
        for normal in normals(stream):
            factor = _CONTEXT.exp(_CONTEXT.multiply(sigma, normal))
            length = int(_CONTEXT.to_integral_value(_CONTEXT.multiply(Decimal(self.median), factor)))
            yield min(max(length, self.low), self.high)


def normals(stream: Stream) -> Iterator[Decimal]:
    """Give standard normal numbers, two at a time, from a point in the unit disc (Marsaglia's polar method)."""
    while True:
        x, y = 2 * stream.below(PARTS) + 1 - PARTS, 2 * stream.below(PARTS) + 1 - PARTS
        if x * x + y * y >= PARTS * PARTS:
            continue
        square = _CONTEXT.divide(Decimal(x * x + y * y), Decimal(PARTS * PARTS))
        scale = _CONTEXT.sqrt(_CONTEXT.divide(_CONTEXT.multiply(Decimal(-2), _CONTEXT.ln(square)), square))
        for side in (x, y):
            yield _CONTEXT.multiply(_CONTEXT.divide(Decimal(side), Decimal(PARTS)), scale)


def exponential(stream: Stream, mean: Fraction) -> int:
    """Draw a number with an exponential distribution of this mean, rounded down: the gap before a Poisson arrival."""
    share = _CONTEXT.divide(Decimal(2 * stream.below(PARTS) + 1), Decimal(2 * PARTS))
    return int(_CONTEXT.multiply(_CONTEXT.minus(_CONTEXT.ln(share)), _decimal(mean)))


def _decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
