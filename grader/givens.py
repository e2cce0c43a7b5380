"""How a given of an exercise is printed."""

from __future__ import annotations

from fractions import Fraction

from grader.amounts import spoken
from grader.exercise import Given
from spec.domains import FLAG
from spec.quantities import quantities


def shown(given: Given) -> str:
    """Return the value with its unit, `80 GB`; yes or no where the quantity says whether something is so."""
    quantity = quantities().get(given.name)
    if quantity is not None and quantity.domain == FLAG:
        return "no" if given.value == "0" else "yes"
    return spoken(Fraction(given.value), given.unit)
