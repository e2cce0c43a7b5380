"""Whether a property holds for one way to write its functions, at one point, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from grader.reading import points
from grader.reading.evaluate import EXACT, Irrational, exact
from grader.reading.formula import Formula
from grader.reading.number import Number
from grader.reading.relation import RELATIONS, Comparison
from grader.reading.text import Unreadable

Domains = Mapping[str, tuple[str, ...]]
"""The domains of the arguments of each function."""


class _Undefined(Exception):
    """An argument lies outside of its domain, or a value does not exist."""


class Implementation:
    """One way to write every function that a property may name; values are computed once."""

    def __init__(self, bodies: Mapping[str, Formula], domains: Domains) -> None:
        self.bodies, self.domains = bodies, domains
        self.known: dict[tuple[str, tuple[Number, ...]], Number | None] = {}

    def values(self, comparison: Comparison, point: Sequence[Number]) -> list[Number] | None:
        """The values of all sides; None where one of them has none.

        Raises:
            Unreadable: `root-in-property`, a value is no fraction.
        """
        try:
            return [self._value(side, point) for side in comparison.sides]
        except (_Undefined, Unreadable):
            return None
        except Irrational:
            raise Unreadable("root-in-property", comparison.at, {"text": "^"}) from None

    def _value(self, side: Formula, point: Sequence[Number]) -> Number:
        stack: list[Any] = []
        for kind, value in side.program:
            if kind == "number":
                stack.append(value)
            elif kind == "symbol":
                stack.append(point[value.numerator])
            else:
                arity = 1 if kind in {"neg", "factorial"} else value.numerator
                arguments = stack[-arity:]
                del stack[-arity:]
                stack.append(self._called(kind, arguments) if kind in self.bodies else EXACT[kind](*arguments))
        result: Number = stack[-1]
        return result

    def _called(self, name: str, arguments: Sequence[Number]) -> Number:
        place = name, tuple(arguments)
        if place not in self.known:
            valid = all(map(points.inside, self.domains[name], arguments))
            self.known[place] = exact(self.bodies[name], arguments) if valid else None
        found = self.known[place]
        if found is None:
            raise _Undefined
        return found


def broken(comparison: Comparison, values: Sequence[Number]) -> tuple[Number, str, Number] | None:
    """The first two neighbours in a chain that do not stand as it says, with the relation; None where all do."""
    for (left, right), relation in zip(pairwise(values), comparison.relations, strict=True):
        if not RELATIONS[relation](left, right):
            return left, relation, right
    return None


def outside(side: Formula, names: Mapping[str, object]) -> frozenset[str]:
    """The letters of a side that stand outside of the functions named."""
    stack: list[frozenset[str]] = []
    for kind, value in side.program:
        if kind in {"number", "symbol"}:
            stack.append(frozenset() if kind == "number" else frozenset({side.symbols[value.numerator]}))
            continue
        arity = 1 if kind in {"neg", "factorial"} else value.numerator
        arguments = stack[-arity:]
        del stack[-arity:]
        stack.append(frozenset() if kind in names else frozenset().union(*arguments))
    return stack[-1]


def calls(comparison: Comparison, names: Mapping[str, object]) -> Iterator[str]:
    """The functions that a comparison calls, as often as it does."""
    yield from (kind for side in comparison.sides for kind, _ in side.program if kind in names)


def letters(comparison: Comparison) -> set[int]:
    """The places of the letters that occur, in calls and outside of them."""
    return {value.numerator for side in comparison.sides for kind, value in side.program if kind == "symbol"}
