"""Counts that a bound limits: what it would allow in fractions, and the whole number on the wrong side of that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from spec import solving
from spec.chain import Link, Values, without
from spec.solving import Exact, Infeasible, whole


def unrounded(step: Link, values: Values) -> Exact | None:
    """Return where a bound meets equality, if that lies between two whole numbers and the count has to be one.

    A server's log prints it: `Maximum concurrency: 1.56x`.
    """
    symbol = step.law.symbols[step.gives]
    if step.law.is_identity or not symbol.domain.integer or not step.needs <= values.keys():
        return None
    way = solving.route(step.law, symbol)
    if way.method in {"bisection", "not invertible"} or len(way.edges) != 1:
        return None
    try:
        edge = whole(way.edges[0](**{name: values[name] for name in step.needs}))
    except ZeroDivisionError:
        return None
    return edge if Fraction(edge).denominator != 1 and edge > 0 else None


@dataclass(frozen=True, slots=True)
class WrongSide(Link):
    """A step whose count is rounded to the side that is not feasible."""

    def follow(self, values: Values) -> Exact | Infeasible:
        """Return the whole number on the other side."""
        right = Link.follow(self, values)
        edge = None if isinstance(right, Infeasible) else unrounded(self, without(values, self.gives))
        if isinstance(right, Infeasible) or edge is None:
            return right
        return math.ceil(edge) if right < edge else math.floor(edge)
