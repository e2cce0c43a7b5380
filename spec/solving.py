"""Solving a law for any of its symbols, exactly.

Rational laws are solved once by SymPy and compiled. Monotone laws without a closed form are inverted by bisection
over the integers and checked; a Max is solved branch by branch and checked. Bounds round towards the feasible side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy

from spec.compiling import Algorithm, Body, compiled, exact_kind
from spec.senses import sense

if TYPE_CHECKING:
    from spec.laws import Law
    from spec.quantities import Quantity

Exact = int | Fraction
SEARCH_LIMIT = 2**256  # beyond this an integer answer counts as unbounded


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No valid value exists.

    Attributes:
        law: the law that has no solution.
        gives: the quantity asked for.
        why: `below`, `above` (the value would lie outside its domain), `broken` (the bound fails at every valid value),
            `not-whole` (the value is no whole number) or `unbounded`.
        deficit: by how much, in `unit`; for `not-whole` the value itself.
    """

    law: str
    gives: str
    why: str
    deficit: Exact | None = None
    unit: str = ""

    def __str__(self) -> str:
        return f"no {self.gives} satisfies {self.law}"


class NotInvertible(ValueError):
    """A law is not solved for this symbol; `reason` says why."""

    def __init__(self, law: str, symbol: str, reason: str) -> None:
        super().__init__(law, symbol, reason)
        self.law, self.symbol, self.reason = law, symbol, reason

    def __str__(self) -> str:
        return f"{self.law} is not solved for {self.symbol}: {self.reason}"


class OutsideDomain(ValueError):
    """A given value lies outside the domain of its quantity, or breaks a joint condition of the law."""

    def __init__(self, name: str, value: object, wanted: str) -> None:
        super().__init__(name, value, wanted)
        self.name, self.value, self.wanted = name, value, wanted

    def __str__(self) -> str:
        return f"{self.name} = {self.value} is not possible: it must be {self.wanted}"


def exact_number(name: str, value: Any) -> Exact:
    """Take an int, Fraction, Decimal or numeric string; a float is refused, since it has already lost the number.

    Raises:
        TypeError: the value is a float or no number at all.
    """
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | Fraction):
        return value
    if isinstance(value, Decimal | str):
        return _whole(Fraction(value))
    raise TypeError(f"{name}={value!r} is not exact; give an int, a Fraction or a string such as '0.1'")


def checked(law: Law, wanted: str, known: dict[str, Any]) -> dict[str, Exact]:
    """Return the givens as exact numbers inside their domains, all present and none too many."""
    if wanted and wanted not in law.symbols:
        raise TypeError(f"{law.name} does not contain {wanted!r}; it has {', '.join(law.symbols)}")
    missing = law.symbols.keys() - known.keys() - {wanted}
    extra = known.keys() - law.symbols.keys() | (known.keys() & {wanted})
    if missing or extra:
        words = [f"needs {', '.join(sorted(missing))}"] * bool(missing) + [
            f"does not take {', '.join(sorted(extra))}"
        ] * bool(extra)
        raise TypeError(f"{law.name} {' and '.join(words)}")
    values = {name: exact_number(name, value) for name, value in known.items()}
    check_domains(law, values)
    return values


def check_domains(law: Law, values: dict[str, Exact]) -> None:
    """Refuse givens outside their domains or joint conditions.

    Raises:
        OutsideDomain: names the first offending quantity.
    """
    for name, value in values.items():
        if value not in law.symbols[name].domain:
            raise OutsideDomain(name, value, str(law.symbols[name].domain))
    for condition in law.where:
        names = {s.name for s in condition.free_symbols}
        if names <= values.keys():
            left, right = (compiled(side, exact_kind())(**values) for side in condition.args)
            if not _holds(left, condition.rel_op, right):
                raise OutsideDomain(
                    " and ".join(sorted(names)),
                    " and ".join(str(values[n]) for n in sorted(names)),
                    f"such that {condition}",
                )


def _holds(left: Exact, relation: str, right: Exact) -> bool:
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[relation]


def _whole(value: Exact) -> Exact:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def room(law: Law, values: dict[str, Exact]) -> Exact:
    """Return right minus left."""
    left, right = law.bodies
    return _whole(right(**values) - left(**values))


def solve(law: Law, name: str, known: dict[str, Exact]) -> Exact | Infeasible:
    """Solve for one symbol; the givens are already checked.

    Where several values satisfy an Identity (a step of a ceiling, the branch of a Max that does not bind), the one
    returned is an end of that set.
    """
    symbol = law.symbols[name]
    if law.is_identity:
        if symbol == law.left:
            return _in_domain(law, symbol, _whole(law.bodies[1](**known)))
        return _solve_identity(law, symbol, known)
    return _solve_bound(law, symbol, known)


def _in_domain(law: Law, symbol: Quantity, value: Exact) -> Exact | Infeasible:
    domain, unit = symbol.domain, symbol.unit.name
    if domain.below(value):
        return Infeasible(law.name, symbol.name, "below", domain.low - value, unit)  # type: ignore[operator]  # below means that low exists
    if domain.above(value):
        return Infeasible(law.name, symbol.name, "above", value - domain.high, unit)  # type: ignore[operator]  # above means that high exists
    if domain.integer and Fraction(value).denominator != 1:
        return Infeasible(law.name, symbol.name, "not-whole", value, unit)
    return value


def closed_form(law: Law, symbol: Quantity) -> list[Body]:
    """Return the rational solutions of left = right, one for each branch of a Max or Min; empty where there is none."""
    cache = law.__dict__.setdefault("_closed_forms", {})
    if symbol not in cache:
        cache[symbol] = [compiled(s, exact_kind()) for s in _solutions(law.left.doit() - law.right.doit(), symbol)]
    bodies: list[Body] = cache[symbol]
    return bodies


def _solutions(difference: Any, symbol: Quantity) -> list[Any]:
    found = []
    for branch in _branches(difference):
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


def _branches(node: Any) -> list[Any]:
    pick = next(iter(node.atoms(sympy.Max, sympy.Min)), None)
    if pick is None:
        return [node]
    return [b for arg in pick.args for b in _branches(node.xreplace({pick: arg}))]


def _refuse_declared(law: Law, symbol: Quantity) -> None:
    if symbol in law.not_invertible:
        raise NotInvertible(law.name, symbol.name, law.not_invertible[symbol])


def _solve_identity(law: Law, symbol: Quantity, known: dict[str, Exact]) -> Exact | Infeasible:
    _refuse_declared(law, symbol)
    target, body = known[law.left.name], law.bodies[1]
    candidates = _candidates(law, symbol, known)
    for value in candidates:
        if body(**known, **{symbol.name: value}) == target:
            return _in_domain(law, symbol, value)
    if candidates and not law.right.atoms(sympy.Max, sympy.Min):
        return _in_domain(law, symbol, candidates[0])
    direction = _direction(law, symbol, law.right)
    if not symbol.domain.integer:
        if closed_form(law, symbol):
            return Infeasible(law.name, symbol.name, "broken")
        raise NotInvertible(law.name, symbol.name, "it has no rational solution")
    if direction > 0:
        found = _last(symbol, lambda v: body(**known, **{symbol.name: v}) <= target)
    else:
        above = _last(symbol, lambda v: body(**known, **{symbol.name: v}) > target)
        found = math.ceil(symbol.domain.low or 0) if above is None else above + 1
    if found is not None and found in symbol.domain and body(**known, **{symbol.name: found}) == target:
        return found
    return Infeasible(law.name, symbol.name, "broken")


def _candidates(law: Law, symbol: Quantity, known: dict[str, Exact]) -> list[Exact]:
    values = []
    for body in closed_form(law, symbol):
        try:
            values.append(_whole(body(**known)))
        except ZeroDivisionError:
            continue
    return values


def _direction(law: Law, symbol: Quantity, side: Any) -> int:
    found = sense(side, symbol, law.facts)
    if not found:
        raise NotInvertible(
            law.name, symbol.name, "its sense is not decided" if found is None else "the law does not move with it"
        )
    return found


def _last(symbol: Quantity, satisfied: Callable[[int], bool]) -> int | None:
    """Return the last integer of the domain for which a predicate, true and then false for ever, is true.

    None where it fails from the start; SEARCH_LIMIT where it never fails.
    """
    low = math.ceil(symbol.domain.low or 0)
    if not satisfied(low):
        return None
    step = 1
    top = symbol.domain.high
    while satisfied(low + step):
        low, step = low + step, step * 2
        if low > SEARCH_LIMIT or (top is not None and low >= top):
            return SEARCH_LIMIT if top is None else math.floor(top)
    while step > 1:
        step //= 2
        if satisfied(low + step):
            low += step
    return low


def _solve_bound(law: Law, symbol: Quantity, known: dict[str, Exact]) -> Exact | Infeasible:
    _refuse_declared(law, symbol)
    rising = law.senses[symbol.name]  # of the room right - left
    if not rising:
        raise NotInvertible(
            law.name, symbol.name, "its sense is not decided" if rising is None else "the law does not move with it"
        )

    def satisfied(value: Exact) -> bool:
        left = room(law, {**known, symbol.name: value})
        return left >= 0 if law.relation == "<=" else left > 0

    if not symbol.domain.integer:
        return _solve_continuous(law, symbol, known, satisfied)
    candidates = _candidates(law, symbol, known)
    if len(candidates) == 1:
        extreme = _rounded(candidates[0], maximum=rising < 0, strict=law.relation == "<")
    elif rising < 0:
        found = _last(symbol, satisfied)
        extreme = SEARCH_LIMIT if found == SEARCH_LIMIT else -1 if found is None else found
    else:
        found = _last(symbol, lambda v: not satisfied(v))
        extreme = math.ceil(symbol.domain.low or 0) if found is None else found if found == SEARCH_LIMIT else found + 1
    return _extreme(law, symbol, known, extreme, maximum=rising < 0)


def _rounded(value: Exact, *, maximum: bool, strict: bool) -> int:
    """Round to the feasible side; at equality a strict bound moves one further."""
    if maximum:
        return math.ceil(value) - 1 if strict else math.floor(value)
    return math.floor(value) + 1 if strict else math.ceil(value)


def _extreme(law: Law, symbol: Quantity, known: dict[str, Exact], value: int, *, maximum: bool) -> Exact | Infeasible:
    domain = symbol.domain
    if value >= SEARCH_LIMIT:
        return Infeasible(law.name, symbol.name, "unbounded" if maximum else "broken")
    beyond = domain.below(value) if maximum else domain.above(value)
    if beyond:
        end = domain.low if maximum else domain.high
        short = -room(law, {**known, symbol.name: end})  # type: ignore[dict-item]  # beyond means that the end exists
        return Infeasible(law.name, symbol.name, "broken", short, law.right_unit)
    if maximum and domain.above(value):
        return math.floor(domain.high)  # type: ignore[arg-type]  # above means that high exists
    if not maximum and domain.below(value):
        return math.ceil(domain.low)  # type: ignore[arg-type]  # below means that low exists
    return value


def _solve_continuous(
    law: Law, symbol: Quantity, known: dict[str, Exact], satisfied: Callable[[Exact], bool]
) -> Exact | Infeasible:
    if law.relation == "<":
        raise NotInvertible(law.name, symbol.name, "the bound is strict, so no extreme value exists")
    for value in _candidates(law, symbol, known):
        if satisfied(value) and room(law, {**known, symbol.name: value}) == 0:
            return _in_domain(law, symbol, value)
    if closed_form(law, symbol):
        return Infeasible(law.name, symbol.name, "broken")
    raise NotInvertible(law.name, symbol.name, "it has no rational solution")
