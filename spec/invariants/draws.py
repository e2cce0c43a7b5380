"""What an invariant is tried on: plain finite domains, which a runner turns into its own strategies or samples."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from spec.quantities import Quantity
from spec.solving import Exact

TWELFTH = Fraction(1, 12)  # a grid of twelfths holds halves, thirds and quarters
HALF = Fraction(1, 2)
WHOLES = 40  # a whole number without an upper end is drawn from this many values
AMOUNTS = 30  # an amount without an upper end goes up to this, in steps of a half


class Draw(Protocol):
    """A finite list of values, the plainest first."""

    @property
    def count(self) -> int:
        """How many values there are."""

    def value(self, index: int) -> Exact:
        """Return the value at a position."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The values from `low` to `high`, both included, `step` apart."""

    low: Exact
    high: Exact
    step: Exact = 1

    @property
    def count(self) -> int:
        """How many values there are."""
        return int((self.high - self.low) // self.step) + 1

    def value(self, index: int) -> Exact:
        """Return the value at a position, an int where it is whole."""
        found = Fraction(self.low + index * self.step)
        return found.numerator if found.denominator == 1 else found


@dataclass(frozen=True, slots=True)
class Among:
    """One of a few values."""

    values: tuple[Exact, ...]

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.values)

    def value(self, index: int) -> Exact:
        """Return the value at a position."""
        return self.values[index]


BUDGET = Grid(0, 2400, HALF)  # holds many tokens of the usual size
SPECIAL: dict[str, Draw] = {
    "kv_budget": BUDGET,
    "ttft_target": Grid(HALF, 2400, HALF),  # enough for prompts of the usual size
    "gpu_memory_reported": Grid(HALF, 1200, HALF),  # a small share of it still holds what a server needs
    "blocking": Grid(TWELFTH, 1 - TWELFTH, TWELFTH),  # no number of servers turns nobody away
    "waiting": Grid(TWELFTH, 1 - TWELFTH, TWELFTH),  # and none lets nobody wait
    "servers": Grid(1, 12),  # Erlang's recursion is exact, and its fractions grow with every server
    "offered_load": Grid(HALF, 6, HALF),
}

Draws = Mapping[str, Draw]
Values = dict[str, Exact]


def draw_of(quantity: Quantity) -> Draw:
    """Return valid values of a quantity, small ones: laws are exact, so small numbers show what large ones do."""
    domain = quantity.domain
    low, high = domain.low or 0, domain.high
    if quantity.name in SPECIAL:
        return SPECIAL[quantity.name]
    if domain.integer:
        few = high is not None and high - low < WHOLES
        return Among(tuple(range(int(low), int(high or 0) + 1))) if few else Grid(low, low + WHOLES - 1)
    if high is None or high > AMOUNTS:
        return Grid(HALF if domain.open_low else 0, AMOUNTS, HALF)
    return Grid(low + TWELFTH * domain.open_low, high - TWELFTH * domain.open_high, TWELFTH)


def of(*quantities: Quantity) -> dict[str, Draw]:
    """Return the usual draws of some quantities by name."""
    return {quantity.name: draw_of(quantity) for quantity in quantities}


def sample(draws: Draws, count: int, salt: str) -> Iterator[Values]:
    """Give a fixed sample of values: first the plainest of each draw, then small and large ones mixed.

    The same on every machine and in every version of Python, since it is read from a hash.
    """
    yield {name: draw.value(0) for name, draw in draws.items()}
    for i in range(1, count):
        yield {name: draw.value(_index(draw.count, f"{salt}/{i}/{name}")) for name, draw in draws.items()}


def _index(count: int, text: str) -> int:
    number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    near, number = number % 3 == 0, number // 3
    return number % (min(count, 4) if near else count)
