"""In which sense a law moves with each of its symbols, decided from the tree.

`sense` propagates through sums, products, powers, Max, Min, floor, ceiling and algorithms on the declared domains.
Where a symbol pulls both ways (a partition, an `(m - 1)` factor) the sign of the derivative decides, read with the
joint conditions of the law, such as a + s < 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy

from spec.compiling import Algorithm

Facts = tuple[Any, ...]  # expressions known to be at least zero
INF = sympy.oo


@dataclass(frozen=True, slots=True)
class Interval:
    """All values between two ends, each a Fraction or an infinity."""

    low: Any
    high: Any

    def __add__(self, other: Interval) -> Interval:
        return Interval(_plus(self.low, other.low, -INF), _plus(self.high, other.high, INF))

    def __mul__(self, other: Interval) -> Interval:
        ends = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    @property
    def sign(self) -> int | None:
        """+1 for nothing below zero, -1 for nothing above, 0 for zero alone, None for both sides."""
        if self.low == self.high == 0:
            return 0
        return 1 if self.low >= 0 else -1 if self.high <= 0 else None


def _plus(a: Any, b: Any, infinite: Any) -> Any:
    return infinite if INF in (abs(a), abs(b)) else a + b


def _times(a: Any, b: Any) -> Any:
    return 0 if a == 0 or b == 0 else a * b


def _sympy(value: Any) -> Any:
    return sympy.Rational(Fraction(value).numerator, Fraction(value).denominator)


def interval(node: Any, facts: Facts) -> Interval:
    """Bound a tree on the domains of its symbols, using facts about its sums."""
    if node.is_Symbol:
        low, high = node.domain.low, node.domain.high
        return Interval(-INF if low is None else _sympy(low), INF if high is None else _sympy(high))
    if node.is_Rational:
        return Interval(node, node)
    if isinstance(node, Algorithm):
        return Interval(*map(sympy.Integer, node.bounds))
    if node.is_Pow and node.exp.is_Integer:
        return _power(interval(node.base, facts), int(node.exp))
    return _compound(node, [interval(arg, facts) for arg in node.args], facts)


def _compound(node: Any, ends: list[Interval], facts: Facts) -> Interval:
    if node.is_Add:
        total = reduce(Interval.__add__, ends)
        return total if total.sign is not None else _from_facts(node, facts, total)
    if node.is_Mul:
        return reduce(Interval.__mul__, ends)
    if isinstance(node, sympy.Max | sympy.Min):
        pick = max if isinstance(node, sympy.Max) else min
        return Interval(pick(e.low for e in ends), pick(e.high for e in ends))
    if isinstance(node, sympy.floor | sympy.ceiling):
        return Interval(node.func(ends[0].low), node.func(ends[0].high))
    return Interval(-INF, INF)


def _power(base: Interval, exponent: int) -> Interval:
    if exponent < 0:
        if base.sign is None:
            return Interval(-INF, INF)
        ends = [
            INF * (base.sign or 1) if end == 0 else 0 if abs(end) == INF else 1 / end for end in (base.low, base.high)
        ]
        return _power(Interval(min(ends), max(ends)), -exponent)
    if exponent % 2 == 0 and base.sign is None:
        return Interval(sympy.S.Zero, max(base.low**exponent, base.high**exponent))
    ends = [base.low**exponent, base.high**exponent]
    return Interval(min(ends), max(ends))


def _from_facts(node: Any, facts: Facts, fallback: Interval) -> Interval:
    """Read the sign of a sum off a fact: the sum is a multiple of it, or a fact and something of the same sign."""
    for fact in facts:
        ratio = sympy.cancel(node.doit() / fact.doit())
        sign = None if ratio.is_Add else interval(ratio, ()).sign
        if sign is None:
            sign = next((way for way in (1, -1) if interval(sympy.expand(way * node - fact), ()).sign == 1), None)
        if sign:
            return Interval(sympy.S.Zero, INF) if sign > 0 else Interval(-INF, sympy.S.Zero)
    return fallback


def _merge(senses: list[int | None]) -> int | None:
    moving = {s for s in senses if s != 0}
    return 0 if not moving else moving.pop() if len(moving) == 1 else None


def sense(node: Any, symbol: Any, facts: Facts = ()) -> int | None:
    """Say how a tree moves with a symbol: +1 never falls, -1 never rises, 0 does not depend, None undecided."""
    structural = _structural(node, symbol, facts)
    if structural is not None or node.atoms(sympy.Max, sympy.Min, sympy.floor, sympy.ceiling, Algorithm):
        return structural
    slope = sympy.factor(sympy.diff(node.doit(), symbol))
    return interval(slope, facts).sign


def _structural(node: Any, symbol: Any, facts: Facts) -> int | None:
    if symbol not in node.free_symbols:
        return 0
    if node == symbol:
        return 1
    if node.is_Mul:
        return _product(node, symbol, facts)
    if node.is_Pow and node.exp.is_Integer:
        base = sense(node.base, symbol, facts)
        sign = interval(node.base, facts).sign
        if base is None or sign is None:
            return base if node.exp > 0 and node.exp % 2 == 1 else None
        return base * (1 if node.exp > 0 else -1) * (1 if sign >= 0 or node.exp % 2 == 1 else -1)
    if isinstance(node, Algorithm):
        inner = [sense(arg, symbol, facts) for arg in node.args]
        return _merge([None if s is None else s * own for s, own in zip(inner, node.senses, strict=True)])
    return _merge([sense(arg, symbol, facts) for arg in node.args])


def _product(node: Any, symbol: Any, facts: Facts) -> int | None:
    parts: list[int | None] = []
    for i, factor in enumerate(node.args):
        own = sense(factor, symbol, facts)
        for j, other in enumerate(node.args):
            if j != i and own:
                sign = interval(other, facts).sign
                own = None if sign is None else own * sign
        parts.append(own)
    return _merge(parts)
