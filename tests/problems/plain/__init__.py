"""The keys of all families once more, in plain arithmetic from the printed givens, without the specification.

Each module here has `KEYS`: for a family and a quantity, the function that computes it. Every function takes the givens
by name, in bytes, seconds, bits of width and counts, and works on exact numbers and on floats alike.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any

from grader.exercise import Exercise, Part
from spec.units import unit

Keys = Mapping[str, Mapping[str, Callable[[Mapping[str, Any]], Any]]]

AS_BITS = {"bit": Fraction(1)}  # widths of weights stay in bits


@cache
def keys() -> Keys:
    """Merge what the modules here say; no family is spoken of twice."""
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules(__path__):
        own = import_module(f"{__name__}.{module.name}").KEYS
        assert not own.keys() & found.keys(), module.name
        found |= own
    return found


@cache
def factor(name: str) -> Fraction:
    """Return how many of the plain units one of `name` is."""
    return AS_BITS.get(name) or Fraction(unit(name).factor if name else 1)


def key(exercise: Exercise, part: Part, number: Callable[[Any], Any] = Fraction) -> Any:
    """Compute the key of a part in its unit, or its label; None where there is none. `number` is exact or float."""
    values = {g.name: number(Fraction(g.value) * factor(g.unit)) for g in (*exercise.givens, *part.givens)}
    found = keys()[exercise.family][part.asks](values)
    return found if found is None or isinstance(found, str) else found / number(factor(part.unit))
