"""Amounts as an exercise prints them: a number with the unit it is given in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from grader.exercise import exact
from spec.quantities import Quantity
from spec.solving import Exact, whole
from spec.units import Unit, unit

PLURALS = frozenset(
    {
        "bit",
        "token",
        "ktoken",
        "Mtoken",
        "sequence",
        "request",
        "GPU",
        "layer",
        "head",
        "parameter",
        "score",
        "element",
        "block",
    }
)
SILENT = frozenset({"1", "element"})
LEGIBLE = 6  # figures
MANY = 10**LEGIBLE
PREFIXES = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6))


@dataclass(frozen=True, slots=True)
class Amount:
    """`number` of `unit`, exact."""

    number: Exact
    unit: Unit

    def __str__(self) -> str:
        return spoken(self.number, self.unit.name)

    def in_unit_of(self, quantity: Quantity) -> Exact:
        """Return the number in the unit of a quantity, as its laws take it."""
        return whole(Fraction(self.number) * self.unit.factor / quantity.unit.factor)


class Fractions(Mapping[str, Fraction]):
    """Values as fractions, so that a division in a family stays exact where two of them are integers."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Exact]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Fraction:
        return Fraction(self._values[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


@lru_cache(maxsize=4096)
def amount(text: str | int, quantity: Quantity) -> Amount:
    """Read a menu entry: a typed amount such as `80 GB` or `100 request/min`, or a plain number in the quantity's unit.

    Raises:
        UnknownUnit: the unit is not in the table.
        ValueError: the unit does not measure the quantity.
    """
    number, _, name = str(text).partition(" ")
    of = unit(name) if name else quantity.unit
    if not of.same_dimension(quantity.unit):
        raise ValueError(f"{quantity.name} is measured in {quantity.unit.name}, not in {of.name}: {text}")
    return Amount(whole(Fraction(number)), of)


def of_quantity(value: Exact, quantity: Quantity, name: str) -> Amount:
    """Return a quantity's value as an amount in another unit of the same dimension."""
    to = unit(name)
    return Amount(whole(Fraction(value) * quantity.unit.factor / to.factor), to)


@lru_cache(maxsize=4096)
def spoken(number: Exact, name: str) -> str:
    """Print a number with its unit: `4,096 tokens`, `80 GB`, `100 requests/min`, `12 %`."""
    text = digits(number)
    if name in SILENT:
        return text
    first, slash, rest = name.partition("/")
    plural = "s" if first in PLURALS and number != 1 else ""
    return f"{text} {first}{plural}{slash}{rest}"


def digits(number: Exact) -> str:
    """Print a number exactly, thousands grouped: `6,738,415,616`, `0.05`, `5/3`."""
    written = exact(number)
    if "/" in written:
        return written
    integer, point, decimals = written.partition(".")
    sign = "-" if integer.startswith("-") else ""
    return f"{sign}{int(integer.lstrip('-')):,}{point}{decimals}"


def rounded(number: Exact, figures: int = 4) -> str:
    """Print a number for reading: exact where that takes few digits, else to so many significant figures."""
    return digits(_shortened(number, figures))


def _shortened(number: Exact, figures: int) -> Exact:
    written = exact(number)
    if "/" not in written and len(written.lstrip("-0.").replace(".", "")) <= figures + 3:
        return number
    return number if Fraction(number).denominator == 1 else significant(number, figures)


def significant(number: Exact, figures: int) -> Fraction:
    """Round to significant figures, half away from zero."""
    value = abs(Fraction(number))
    if value == 0:
        return Fraction(0)
    magnitude = 0
    while value >= Fraction(10) ** (magnitude + 1):
        magnitude += 1
    while value < Fraction(10) ** magnitude:
        magnitude -= 1
    step = Fraction(10) ** (magnitude - figures + 1)
    result = int(value / step + Fraction(1, 2)) * step
    return result if number > 0 else -result


def natural(number: Exact, name: str) -> str:
    """Print a value with its unit, bytes in the largest decimal unit that keeps it over one."""
    return spoken(*legible(number, name))


def legible(number: Exact, name: str) -> tuple[Exact, str]:
    """Return the number and the unit that `natural` prints: to six figures, and to the integer below 10^9."""
    value = Fraction(number)
    if name == "B":
        for larger, factor in PREFIXES:
            if abs(value) >= factor:
                return _shortened(value / factor, LEGIBLE), larger
    if name == "s" and 0 < value < 1:
        value, name = value * 1000, "ms"
    if MANY <= abs(value) < 1000 * MANY:
        return significant(value, len(str(int(abs(value))))), name
    return _shortened(value, LEGIBLE), name
