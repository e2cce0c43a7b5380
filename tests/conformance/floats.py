"""A calculator in floats: every law with its arithmetic done as an ordinary program does it, in any units."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from spec.compiling import Body, Kind, algorithms, compiled
from spec.conformance.declared import declared
from spec.invariants.reference import answerable, questions
from spec.laws import Law
from spec.quantities import quantities
from spec.rearranging import roots
from spec.solving import route

JUST = 1e-6  # how far a float may be from a whole number that it stands for


def float_kind() -> Kind:
    """Bind the names of a compiled law for floats; a program such as Erlang's recursion stays as it is."""

    def program(exact: Callable[..., Any]) -> Callable[..., float]:
        return lambda *args: float(exact(*map(_plain, args)))

    names = {name: program(cls.exact) for name, cls in algorithms().items()}
    return {
        "div": lambda over, under: over / under,
        "Max": max,
        "Min": min,
        "floor": math.floor,
        "ceil": math.ceil,
    } | names


def _plain(value: float) -> Fraction | int:
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact


class Floats:
    """A candidate that calculates with floats from beginning to end.

    Attributes:
        UNITS: the units in which it takes and returns quantities.
        kind: what its answers are made into.
    """

    def __init__(self, units: Mapping[str, str] | None = None, kind: Callable[[Any], Any] = lambda x: x) -> None:
        self.UNITS, self.kind = dict(units or {}), kind
        self.scales = _scales(self.UNITS)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the function of that name."""
        if name not in answerable():
            raise AttributeError(name)

        def function(**known: float) -> Any:
            way = formula(name, frozenset(known))
            if way is None:
                raise NotImplementedError(name)
            found = way({n: float(value) * self.scales.get(n, 1.0) for n, value in known.items()})
            if found is None or isinstance(found, bool):
                return found
            return self.kind(found / self.scales[name] if name in self.scales else found)

        return function


def _scales(units: Mapping[str, str]) -> dict[str, float]:

    says = declared(lambda word, default: units if word == "UNITS" else default)
    return {name: float(says.scale(name)) for name in says.units}


Formula = Callable[[dict[str, float]], Any]


@cache
def formula(name: str, given: frozenset[str]) -> Formula | None:
    """Return how a question is answered in floats, or None where the law has no formula for it."""
    law = questions().get((name, given))
    if law is None:
        return None
    if name == law.name and not law.is_identity:
        left, right = (compiled(side, float_kind()) for side in (law.left, law.right))
        strict = law.relation == "<"
        return lambda known: left(**known) < right(**known) if strict else left(**known) <= right(**known)
    method = route(law, quantities()[name]).method
    if method == "direct":
        return _in_domain(name, compiled(law.right, float_kind()))
    found = roots(law.left.doit() - law.right.doit(), quantities()[name]) if method == "closed form" else []
    return _solved(law, name, compiled(found[0], float_kind())) if len(found) == 1 else None


def _in_domain(name: str, body: Body) -> Formula:
    domain = quantities()[name].domain

    def answer(known: dict[str, float]) -> Any:
        value = body(**known)
        if domain.integer:
            nearest = round(value)
            if abs(value - nearest) > JUST * max(1.0, abs(value)):
                return None
            value = nearest
        return None if domain.below(_plain(value)) or domain.above(_plain(value)) else value

    return answer


def _checked(law: Law, name: str, body: Body) -> Formula:
    """Solve an equation and put the value in: not every root is a solution."""
    answer, right = _in_domain(name, body), compiled(law.right, float_kind())

    def checked(known: dict[str, float]) -> Any:
        value = answer(known)
        if value is None:
            return None
        values = known | {name: value}
        exact = {n: _plain(v) for n, v in values.items()}
        for condition in law.conditions:
            if (condition.missed_by(exact) or 0) > JUST * max(exact[n] for n in condition.names):
                return None
        try:
            right(**values)
        except ZeroDivisionError:  # a pole
            return None
        return value

    return checked


def _solved(law: Law, name: str, body: Body) -> Formula:
    if law.is_identity:
        return _checked(law, name, body)
    domain, maximum = quantities()[name].domain, (law.senses[name] or 0) < 0
    strict = law.relation == "<"

    def answer(known: dict[str, float]) -> Any:
        value = body(**known)
        if domain.integer:
            if maximum:
                value = math.ceil(value) - 1 if strict else math.floor(value)
            else:
                value = math.floor(value) + 1 if strict else math.ceil(value)
        end, worst = (domain.high, domain.below) if maximum else (domain.low, domain.above)
        if worst(_plain(value)):
            return None
        beyond = domain.above if maximum else domain.below
        return end if beyond(_plain(value)) and end is not None else value

    return answer
