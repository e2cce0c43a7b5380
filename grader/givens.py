"""The givens of an exercise: how one is printed, and what they are in the units of their quantities."""

from __future__ import annotations

from fractions import Fraction

from grader.amounts import spoken
from grader.exercise import Exercise, Given, Part
from grader.menu import quantities_by_name
from spec.domains import FLAG
from spec.quantities import quantities
from spec.solving import Exact, whole
from spec.units import unit


def shown(given: Given) -> str:
    """Return the value with its unit, `80 GB`; yes or no where the quantity says whether something is so."""
    quantity = quantities().get(given.name)
    if quantity is not None and quantity.domain == FLAG:
        return "no" if given.value == "0" else "yes"
    return spoken(Fraction(given.value), given.unit)


def values(exercise: Exercise, part: Part) -> dict[str, Exact]:
    """Return what is given for a part, by name, as laws take it."""
    known = quantities_by_name()
    return {
        given.name: whole(Fraction(given.value) * unit(given.unit).factor / known[given.name].unit.factor)
        for given in (*exercise.givens, *part.givens)
    }
