"""Rearranging a law by algebra: its rational solutions for a symbol, and the one formula to print for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sympy

from spec.compiling import Algorithm
from spec.printing import flat

if TYPE_CHECKING:
    from spec.laws import Law
    from spec.quantities import Quantity

Parts = tuple[list[Any], list[Any]]  # factors over and under a fraction line, or terms with x and without


def roots(difference: Any, symbol: Quantity) -> list[Any]:
    """Return the rational roots of a difference in a symbol, one for each branch of a Max or Min that contains it.

    Empty where a branch is not linear in the symbol.
    """
    found = []
    for branch in _branches(difference, symbol):
        if any(step.has(symbol) for step in branch.atoms(sympy.floor, sympy.ceiling, Algorithm)):
            return []
        numerator = sympy.fraction(sympy.together(branch))[0]
        polynomial = sympy.Poly(numerator, symbol) if numerator.has(symbol) else None
        if polynomial is None:
            continue
        if polynomial.degree() != 1:
            return []
        slope, constant = polynomial.all_coeffs()
        found.append(sympy.factor(-constant / slope))
    return found


def _branches(node: Any, symbol: Quantity) -> list[Any]:
    pick = next((atom for atom in node.atoms(sympy.Max, sympy.Min) if atom.has(symbol)), None)
    if pick is None:
        return [node]
    return [b for arg in pick.args for b in _branches(node.xreplace({pick: arg}), symbol)]


@lru_cache(maxsize=1024)
def rearranged(law: Law, symbol: Quantity) -> Any:
    """Return what a symbol equals by a law, in the author's order, rounded as a Bound rounds; None without a formula.

    A symbol that occurs once is freed step by step from what stands around it; one that occurs several times is
    collected: `x = (target - rest) / coefficient`.
    """
    from spec.solving import route

    way = route(law, symbol)
    if way.method == "direct":
        return law.right
    if way.method not in {"closed form", "branches"} or (way.method == "branches" and len(way.edges) != 1):
        return None
    with sympy.evaluate(x=False):
        here, there = map(flat, (law.left, law.right) if law.left.has(symbol) else (law.right, law.left))
        edge = _freed(here, symbol, there)
        if edge is None or law.is_identity or not symbol.domain.integer:
            return edge
        return _rounded(edge, maximum=way.rising < 0, strict=law.relation == "<")


def _rounded(edge: Any, *, maximum: bool, strict: bool) -> Any:
    whole = all(s.domain.integer for s in edge.free_symbols) and not edge.atoms(sympy.Pow)
    if strict:
        return sympy.ceiling(edge) - 1 if maximum else sympy.floor(edge) + 1
    return edge if whole else sympy.floor(edge) if maximum else sympy.ceiling(edge)


def _freed(node: Any, symbol: Any, target: Any) -> Any:
    """Free the symbol in node = target."""
    if node == symbol:
        return target
    holding = [arg for arg in node.args if arg.has(symbol)]
    rest = [arg for arg in node.args if not arg.has(symbol)]
    if node.is_Add or node.is_Mul or node.is_Pow:
        if len(holding) > 1:
            return _multiplied_out(node, symbol, target) if node.is_Mul else _collected(node, symbol, target)
        (inner,) = holding
        if node.is_Add:
            sign, body = _signed(inner)
            return _freed(body, symbol, _sum([target], rest) if sign > 0 else _sum(rest, [target]))
        if node.is_Mul:
            sign, body = _signed(node)
            if sign < 0:
                return _freed(body, symbol, _sum([], [target]))
            return _freed(inner, symbol, _divided(target, rest))
        return _freed(inner, symbol, _fraction(*reversed(_fraction_parts(target)))) if node.exp == -1 else None
    return _freed(holding[0], symbol, target) if isinstance(node, sympy.Max | sympy.Min) and len(holding) == 1 else None


def _collected(node: Any, symbol: Any, target: Any) -> Any:
    parts = _linear(node, symbol)
    if parts is None:
        return None
    coefficients, rest = parts
    if _signed(coefficients[0])[0] < 0:
        over, under = _sum(rest, [target]), _sum([], coefficients)
    else:
        over, under = _sum([target], rest), _sum(coefficients, [])
    return _fraction([over], [under])


def _multiplied_out(node: Any, symbol: Any, target: Any) -> Any:
    """Free the symbol in (a x + b) / (c x + d) = target; None for a product of another form."""
    over, under = _fraction_parts(node)
    above, below = (_linear(sympy.Mul(*side) if len(side) > 1 else side[0], symbol) for side in (over, under or [1]))
    if not (above and below and above[0] and below[0]):
        return None
    scaled = [[_divided(sympy.Mul(target, _sum(part, [])), []) for part in [terms] if part] for terms in below]
    return _fraction([_sum(scaled[1], above[1])], [_sum(above[0], scaled[0])])


def _linear(node: Any, symbol: Any) -> Parts | None:
    """Write a node as a sum of coefficients times the symbol and a sum without it; None where it is not linear."""
    if node == symbol:
        return [sympy.S.One], []
    if not node.has(symbol):
        return [], [node]
    if node.is_Add:
        parts = [_linear(term, symbol) for term in node.args]
        if None in parts:
            return None
        return [c for p in parts if p for c in p[0]], [r for p in parts if p for r in p[1]]
    holding = [arg for arg in node.args if arg.has(symbol)]
    if not node.is_Mul or len(holding) != 1:
        return None
    inner = _linear(holding[0], symbol)
    if inner is None:
        return None
    return tuple(_times(node, holding[0], part) for part in inner)  # type: ignore[return-value]  # two parts, as inner


def _times(product: Any, place: Any, terms: Sequence[Any]) -> list[Any]:
    """Put the sum of terms in one place of a product."""
    if not terms:
        return []
    total = _sum(terms, [])
    sign, body = _signed(total)
    args = [body if arg == place else arg for arg in product.args]
    args = [arg for arg in args if arg != 1] or [sympy.S.One]
    result = args[0] if len(args) == 1 else sympy.Mul(*args)
    return [_negative(result) if sign < 0 else result]


def _signed(term: Any) -> tuple[int, Any]:
    """Split the sign off a term."""
    if term.is_Number and term < 0:
        return -1, -term
    if term.is_Mul and term.args[0].is_Number and term.args[0] < 0:
        first, rest = -term.args[0], term.args[1:]
        args = rest if first == 1 else (first, *rest)
        return -1, args[0] if len(args) == 1 else sympy.Mul(*args)
    return 1, term


def _negative(term: Any) -> Any:
    sign, body = _signed(term)
    return body if sign < 0 else sympy.Mul(-1, body)


def _sum(plus: Sequence[Any], minus: Sequence[Any]) -> Any:
    terms = [*_terms(plus), *map(_negative, _terms(minus))]
    return sympy.S.Zero if not terms else terms[0] if len(terms) == 1 else sympy.Add(*terms)


def _terms(nodes: Sequence[Any]) -> list[Any]:
    return [term for node in nodes for term in (node.args if node.is_Add else (node,)) if term != 0]


def _divided(target: Any, factors: Sequence[Any]) -> Any:
    """Divide by factors: those over the line go under it, and the other way round."""
    over, under = _fraction_parts(target)
    for factor in factors:
        up, down = _fraction_parts(factor)
        over, under = [*down, *over], [*under, *up]
    return _fraction(over, under)


def _fraction_parts(node: Any) -> Parts:
    if node.is_Mul:
        parts = [_fraction_parts(arg) for arg in node.args]
        return [o for p in parts for o in p[0]], [u for p in parts for u in p[1]]
    if node.is_Pow and node.exp.is_Integer and node.exp < 0:
        return [], [node.base if node.exp == -1 else sympy.Pow(node.base, -node.exp)]
    if node.is_Rational and not node.is_Integer:
        return [sympy.Integer(node.p)] if node.p != 1 else [], [sympy.Integer(node.q)]
    return [node], []


def _fraction(over: Sequence[Any], under: Sequence[Any]) -> Any:
    factors = [f for f in over if f != 1]
    below = [f for f in under if f != 1]
    if below:
        factors.append(sympy.Pow(below[0] if len(below) == 1 else sympy.Mul(*below), -1))
    return sympy.S.One if not factors else factors[0] if len(factors) == 1 else sympy.Mul(*factors)
