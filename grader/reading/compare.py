"""Whether two formulas are the same, and the smallest assignment that tells them apart.

Quotients of polynomials are compared exactly at a few points in general position; formulas with floors, minima and
integer powers exactly at many points of mixed size; those with roots and logarithms to 60 digits at two independent
sets of points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from grader.reading import points
from grader.reading.evaluate import Irrational, approximate, decimals_differ, exact
from grader.reading.formula import IRRATIONAL, Formula, numbers
from grader.reading.grammar import read_formula
from grader.reading.number import Number
from grader.reading.text import Unreadable

Value = Number | tuple[Decimal, Decimal] | str | None
"""Exact, or to 60 digits with the largest magnitude met, or `no-value`; None where a formula is undefined."""

MOST_STEPS = 6000
FEWEST_POINTS = 6
MOST_ROOTS = 40
MOST_KNOWN = 2000
SMALL = 24
LARGEST_EDGE = 10**12
RATIONAL, STEPPED, DECIMAL = "rational", "stepped", "decimal"


class Values:
    """The values of one formula at the points of comparison, computed once and when needed."""

    def __init__(self, formula: Formula, domains: tuple[str, ...]) -> None:
        self.formula, self.domains = formula, domains
        self.known: dict[tuple[bool, points.Point], Value] = {}
        self.mode = DECIMAL if formula.irrational else RATIONAL if formula.rational else STEPPED

    def at(self, point: points.Point, *, decimal: bool) -> Value:
        """The value at a point."""
        place = (decimal, point)
        if place not in self.known:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            self.known[place] = approximate(self.formula, point) if decimal else exact(self.formula, point)
        return self.known[place]

    def edges(self, other: Values) -> tuple[points.Point, ...]:
        """Points that the constants of two formulas suggest."""
        parts = {part for f in (self, other) for n in numbers(f.formula) for part in (n.numerator, n.denominator)}
        return points.edges(self.domains, tuple(sorted(part for part in parts if 1 < part <= LARGEST_EDGE)))

    def points(self, mode: str, other: Values) -> tuple[points.Point, ...]:
        """The points of a mode; fewer for long formulas."""
        if mode == RATIONAL:
            return points.generic(self.domains)
        if mode == DECIMAL:
            return points.small(self.domains)[:2] + points.moderate(self.domains, 3) + points.moderate(self.domains, 4)
        most = max(FEWEST_POINTS, MOST_STEPS // len(self.formula.program))
        every = points.small(self.domains)[:SMALL] + points.varied(self.domains) + points.generic(self.domains)
        return (self.edges(other) + every)[:most]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest assignment found on which two formulas differ, with the value of each there."""

    assignment: tuple[tuple[str, Number], ...]
    yours: Value
    right: Value


@lru_cache(maxsize=2048)
def reference(text: str, symbols: tuple[str, ...], domains: tuple[str, ...]) -> Values:
    """The values of a formula of the record.

    Raises:
        ValueError: it is no formula in these symbols.
    """
    try:
        return Values(read_formula(text, symbols), domains)
    except Unreadable as complaint:
        raise ValueError(f"the record holds no formula in {', '.join(symbols)}: {text!r} ({complaint.why})") from None


def domains(symbols: tuple[str, ...], declared: Mapping[str, str]) -> tuple[str, ...]:
    """The domain of each symbol; positive where none is declared."""
    return tuple(declared.get(symbol, "positive") for symbol in symbols)


def same(one: Values, other: Values) -> bool:
    """Whether two formulas agree wherever both were evaluated.

    Raises:
        Unreadable: `too-complex`, the second formula cannot be evaluated within bounds.
    """
    return differing_point(one, other) is None


def differing_point(one: Values, other: Values) -> points.Point | None:
    """A point at which two formulas differ, None where they are the same."""
    order = (RATIONAL, STEPPED, DECIMAL)
    mode = max(one.mode, other.mode, key=order.index)
    if mode != DECIMAL:
        try:
            return _first_difference(one, other, mode)
        except Irrational:
            pass
    _within_reach(other.formula)
    return _first_difference(one, other, DECIMAL)


def _within_reach(formula: Formula) -> None:
    if sum(kind == "^" or kind in IRRATIONAL for kind, _ in formula.program) > MOST_ROOTS:
        raise Unreadable("too-complex")


def _first_difference(one: Values, other: Values, mode: str) -> points.Point | None:
    compared = 0
    defined = None
    for point in other.points(mode, one):
        left = one.at(point, decimal=mode == DECIMAL)
        if left is None:
            continue
        defined = point
        right = other.at(point, decimal=mode == DECIMAL)
        if right is None:
            continue
        compared += 1
        if differ(left, right):
            return point
    if compared == 0 and mode == RATIONAL:
        return _first_difference(one, other, STEPPED)
    if compared == 0 and defined is not None:
        raise Unreadable("too-complex")
    return None


def differ(left: Value, right: Value) -> bool:
    """Whether two values, both defined, are unlike."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return decimals_differ(left, right)
    return left != right


def counterexample(key: Values, yours: Values, point: points.Point) -> Counterexample:
    """The smallest assignment on which two formulas differ; failing that, `point` made smaller."""
    budget: int = max(FEWEST_POINTS, MOST_STEPS // (len(yours.formula.program) + len(key.formula.program)))
    decimal = key.formula.irrational or yours.formula.irrational
    budget = budget if not decimal else min(budget, points.SMALL // 4)
    for candidate in (points.small(key.domains) + key.edges(yours))[:budget]:
        if _tells_apart(key, yours, candidate):
            return _example(key, yours, candidate)
    return _example(key, yours, _shrunk(key, yours, point, budget))


def _shrunk(key: Values, yours: Values, point: points.Point, budget: int) -> points.Point:
    """Make one coordinate after the other small while the formulas still differ."""
    for place in range(len(point)):
        for small in (1, 2, 3, 4, 8, 16, 32, 64):
            if budget <= 0 or -point[place] <= small >= point[place]:
                break
            budget -= 1
            candidate = (*point[:place], small, *point[place + 1 :])
            if _tells_apart(key, yours, candidate):
                point = candidate
                break
    return point


def _tells_apart(key: Values, yours: Values, point: points.Point) -> bool:
    left, right = pair(key, yours, point)
    return left is not None and right is not None and differ(left, right)


def pair(key: Values, yours: Values, point: points.Point) -> tuple[Value, Value]:
    """The values of two formulas at a point, both exact where both can be."""
    try:
        return key.at(point, decimal=False), yours.at(point, decimal=False)
    except Irrational:
        return key.at(point, decimal=True), yours.at(point, decimal=True)


def _example(key: Values, yours: Values, point: points.Point) -> Counterexample:
    right, mine = pair(key, yours, point)
    return Counterexample(tuple(zip(key.formula.symbols, point, strict=True)), mine, right)


def growth(key: Values, yours: Values) -> str:
    """How two orders of growth compare: `constant-factor`, `lower-order-terms`, or empty where they grow unlike."""
    ratios = []
    for exponent in (30, 60, 90):
        point = tuple(1 << (exponent + 7 * place) for place in range(len(key.domains)))
        left, right = key.at(point, decimal=True), yours.at(point, decimal=True)
        if not (isinstance(left, tuple) and isinstance(right, tuple)) or left[0] == 0 or right[0] == 0:
            return ""
        ratios.append(right[0] / left[0])
    first, second, third = ratios
    if abs(second - third) > abs(third) * Decimal("1e-6"):
        return ""
    return "constant-factor" if abs(first - third) <= abs(third) * Decimal("1e-20") else "lower-order-terms"
