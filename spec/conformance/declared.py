"""What a candidate declares about itself: units, fixed quantities, tolerance, and whether it takes exact numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

from spec.catalog.names import alike
from spec.quantities import Quantity, quantities
from spec.solving import Exact, exact_number
from spec.units import Unit, UnknownUnit, dimension_words, unit

ROUNDING = Fraction(1, 10**9)  # how close a float has to come where nothing is declared
WIDTH = "_width"  # the width of an element is no amount of memory that anybody states in GB
WORDS = {"memory": "B", "bandwidth": "B/s", "compute": "FLOP/s", "time": "s"}
WIDEST = Fraction(1, 10)


class Unusable(Exception):
    """The candidate, or what it declares, cannot be used; the message is one sentence."""


@cache
def known() -> Mapping[str, Quantity]:
    """Return every quantity by its name, looked up once."""
    return quantities()


@dataclass(frozen=True)
class Declared:
    """The declarations of a candidate.

    Attributes:
        units: the unit in which it takes and returns a quantity, by the quantity's name, where that is not its own.
        assumes: values of the quantities that it fixes and does not take.
        tolerances: relative closeness by the name of a function; `""` stands for all others.
        exact: it calculates with Fractions and never rounds.
        fractions: it is given Fractions, whatever it does with them.
    """

    units: Mapping[str, Unit] = field(default_factory=dict)
    assumes: Mapping[str, Exact] = field(default_factory=dict)
    tolerances: Mapping[str, Fraction] = field(default_factory=dict)
    exact: bool = False
    fractions: bool = False

    def unit_name(self, name: str) -> str:
        """Return the unit in which the candidate states a quantity."""
        return self.units[name].name if name in self.units else known()[name].unit.name

    def scale(self, name: str) -> Fraction:
        """Return how many of the quantity's own units are one of the candidate's."""
        return self.units[name].factor / known()[name].unit.factor if name in self.units else Fraction(1)

    def tolerance(self, name: str) -> Fraction:
        """Return how close, relative to the right value, a rounded number of a function has to come."""
        return self.tolerances.get(name, self.tolerances.get("", ROUNDING))

    def slack(self, name: str, right: Exact) -> Fraction:
        """Return how far a rounded number of a function may be off.

        A function that is declared to round and to speak in a unit is taken to round to a part of that unit.
        """
        unit_of_rounding = self.scale(name) if self.rounds(name) and name in self.units else 0
        return self.tolerance(name) * max(abs(Fraction(right)), Fraction(unit_of_rounding))

    def rounds(self, name: str) -> bool:
        """Say whether it is declared that a function rounds."""
        return name in self.tolerances or "" in self.tolerances

    def stated(self, name: str, value: Exact) -> Exact:
        """Return a value in the candidate's unit."""
        return value / self.scale(name) if name in self.units else value

    def passed(self, name: str, value: Exact) -> Exact | float:
        """Return the number to give the candidate: an int where it is whole in its unit, else a float."""
        found = Fraction(self.stated(name, value))
        return found.numerator if found.denominator == 1 else found if self.exact or self.fractions else float(found)

    def blurred(self, name: str, value: Exact) -> bool:
        """Say whether the candidate cannot but calculate with a rounded number for this value."""
        if self.exact:
            return False
        stated = Fraction(self.stated(name, value))
        return name in self.units or Fraction(float(stated)) != stated


def declared(get: Any) -> Declared:
    """Read the declarations, each by its name from a function `get(name, default)`.

    Raises:
        Unusable: one of them cannot be understood.
    """
    units = _units(_mapping("UNITS", get("UNITS", {})))
    assumes = {
        _known("ASSUMES", name).name: _value(_known("ASSUMES", name), value)
        for name, value in _mapping("ASSUMES", get("ASSUMES", {})).items()
    }
    tolerance = get("TOLERANCE", {})
    every = tolerance if isinstance(tolerance, Mapping) else {"": tolerance}
    return Declared(units, assumes, {n: _share(n, v) for n, v in every.items()}, exact=get("EXACT", False) is True)


def _mapping(word: str, found: Any) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise Unusable(f"{word} should be a mapping from names to values; it is {found!r}.")
    return found


def _known(word: str, name: Any) -> Quantity:
    if name not in quantities():
        raise Unusable(f"{word} names {name!r}, which is no quantity{suggestion(str(name), quantities())}.")
    return known()[name]


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests similar names, or nothing."""
    near = alike(name, known)[:2]
    return f"; did you mean {' or '.join(near)}" if near else ""


def _value(quantity: Quantity, value: Any) -> Exact:
    try:
        exact = Fraction(repr(value)) if isinstance(value, float) else exact_number(quantity.name, value)
    except (TypeError, ValueError):
        raise Unusable(f"ASSUMES gives {quantity.name} the value {value!r}, which is no number.") from None
    found = exact.numerator if exact.denominator == 1 else exact
    if found not in quantity.domain:
        raise Unusable(f"ASSUMES gives {quantity.name} the value {value}; it must be {quantity.domain}.")
    return found


def _share(name: str, value: Any) -> Fraction:
    try:
        found = Fraction(exact_number("TOLERANCE", str(value)))
    except TypeError:
        found = Fraction(-1)
    if not 0 <= found <= WIDEST:
        where = f" of {name}" if name else ""
        raise Unusable(f"TOLERANCE{where} is {value!r}; it must be a number from 0 to {WIDEST}.")
    return found


def _units(stated: Mapping[str, Any]) -> dict[str, Unit]:
    """Spread the words over the quantities they stand for; a quantity's own name goes before a word."""
    found: dict[str, Unit] = {}
    for name, text in sorted(stated.items(), key=lambda item: item[0] not in WORDS):
        try:
            meant = unit(text)
        except (UnknownUnit, AttributeError, TypeError):
            raise Unusable(f"UNITS gives {name} in {text!r}, which is no unit.") from None
        if name in WORDS:
            _same(name, meant, [unit(WORDS[name])])
            found |= {
                q.name: meant for q in known().values() if q.unit.name == WORDS[name] and not q.name.endswith(WIDTH)
            }
        else:
            quantity = _known("UNITS", name)
            _same(name, meant, [quantity.unit, *map(unit, quantity.also)])
            found[name] = meant
    return found


def _same(name: str, meant: Unit, wanted: list[Unit]) -> None:
    if not any(meant.same_dimension(one) for one in wanted):
        raise Unusable(
            f"UNITS gives {name} in {meant.name}, which is {dimension_words(meant.dimension)}; "
            f"it is {dimension_words(wanted[0].dimension)}."
        )
