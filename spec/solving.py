"""Solving a law for any of its symbols, exactly.

Rational laws are solved once by SymPy and compiled. Monotone laws without a closed form are inverted by bisection
over the integers and checked; a Max is solved branch by branch and checked. Bounds round towards the feasible side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy

from spec.compiling import Body, compiled, exact_kind
from spec.domains import Domain
from spec.rearranging import roots

if TYPE_CHECKING:
    from spec.laws import Law
    from spec.quantities import Quantity

Exact = int | Fraction
SEARCH_LIMIT = 2**256  # beyond this an integer answer counts as unbounded
LARGEST_EXPONENT = 1000  # of a number given as text: more digits than any quantity has, and quick to work out


@dataclass(frozen=True, slots=True)
class Infeasible:
    """No valid value exists.

    Attributes:
        law: the law that has no solution.
        gives: the quantity asked for.
        why: `below`, `above` (the value would lie outside its domain), `broken` (the law fails at every valid value),
            `not-whole` (no whole number gives it) or `unbounded`.
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
        TypeError: the value is a float, no number at all, or one of more than a thousand digits.
    """
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Fraction):
        return whole(value)
    if isinstance(value, Decimal | str):
        try:
            over, _, under = str(value).partition("/")
            return whole(_decimal(over) / _decimal(under or "1"))
        except (InvalidOperation, ZeroDivisionError, ValueError):
            raise TypeError(f"{name}={str(value)[:40]!r} is not a number such as '80', '0.1' or '1/3'") from None
    raise TypeError(f"{name}={value!r} is not exact; give an int, a Fraction or a string such as '0.1'")


def _decimal(text: str) -> Fraction:
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > LARGEST_EXPONENT or len(text) > LARGEST_EXPONENT:
        raise ValueError(text)
    return Fraction(number)


def checked(law: Law, wanted: str, known: dict[str, Any]) -> dict[str, Exact]:
    """Return the givens as exact numbers inside their domains, all present and none too many."""
    if wanted:
        symbol_of(law, wanted)
    if len(known) != len(law.symbols) - bool(wanted) or wanted in known or not known.keys() <= law.symbols.keys():
        missing = law.symbols.keys() - known.keys() - {wanted}
        extra = known.keys() - law.symbols.keys() | (known.keys() & {wanted})
        words = [f"needs {', '.join(sorted(missing))}"] * bool(missing) + [
            f"does not take {', '.join(sorted(extra))}"
        ] * bool(extra)
        raise TypeError(f"{law.name} {' and '.join(words)}")
    values = {name: exact_number(name, value) for name, value in known.items()}
    check_domains(law, values)
    return values


def symbol_of(law: Law, name: str) -> Quantity:
    """Return the symbol of that name.

    Raises:
        TypeError: the law does not contain it.
    """
    if name not in law.symbols:
        raise TypeError(f"{law.name} does not contain {name!r}; it has {', '.join(law.symbols)}")
    return law.symbols[name]


def check_domains(law: Law, values: dict[str, Exact]) -> None:
    """Refuse givens outside their domains or joint conditions.

    Raises:
        OutsideDomain: names the first offending quantity.
    """
    for name, value in values.items():
        if value not in law.symbols[name].domain:
            raise OutsideDomain(name, value, str(law.symbols[name].domain))
    for condition in law.conditions:
        if condition.missed_by(values) is not None:
            given = " and ".join(str(values[n]) for n in condition.names)
            raise OutsideDomain(" and ".join(condition.names), given, f"such that {condition.says}")


@dataclass(frozen=True, slots=True)
class Condition:
    """A joint condition of a law, such as `a + s < 1`: its `room` is not negative, and not zero where it is strict.

    Attributes:
        says: the condition as text.
        names: its quantities.
        room: how much is left of it, from those quantities.
        strict: equality breaks it.
        unit: the unit of the room.
    """

    says: str
    names: tuple[str, ...]
    room: Body
    strict: bool
    unit: str

    def missed_by(self, values: Mapping[str, Exact]) -> Exact | None:
        """Say by how much values miss it: None where they keep it or do not name all of its quantities."""
        if not all(name in values for name in self.names):
            return None
        room = self.room(**values)
        return whole(-room) if room < 0 or (self.strict and room == 0) else None


def whole(value: Exact) -> Exact:
    """Return an integer where the value is one."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def room(law: Law, values: dict[str, Exact]) -> Exact:
    """Return right minus left."""
    left, right = law.bodies
    return whole(right(**values) - left(**values))


@dataclass(frozen=True, slots=True)
class Route:
    """How a law is solved for one of its symbols.

    Attributes:
        method: `direct`, `closed form`, `branches` (of a Max or Min, each tried), `bisection` or `not invertible`.
        reason: why it is not invertible.
        edges: the rational solutions of left = right, one for each branch.
        rising: how the room (of an Identity: the right side) moves with the symbol.
    """

    method: str
    reason: str = ""
    edges: tuple[Body, ...] = ()
    rising: int = 0


def route(law: Law, symbol: Quantity) -> Route:
    """Find how a law is solved for a symbol; found once."""
    cache: dict[Quantity, Route] = law.__dict__.setdefault("_routes", {})
    if symbol not in cache:
        cache[symbol] = _route(law, symbol)
    return cache[symbol]


def _route(law: Law, symbol: Quantity) -> Route:
    if law.is_identity and symbol == law.left:
        return Route("direct")
    if symbol in law.not_invertible:
        return Route("not invertible", law.not_invertible[symbol])
    rising, edges, whole = law.senses[symbol.name], tuple(closed_form(law, symbol)), symbol.domain.integer
    if not rising and not (law.is_identity and edges):
        reason = "its sense is not decided" if rising is None else "the law does not move with it"
        return Route("not invertible", reason)
    if not whole and law.relation == "<":
        return Route("not invertible", "the bound is strict, so no extreme value exists")
    if not whole and not edges:
        return Route("not invertible", "it has no rational solution")
    picked = any(pick.has(symbol) for side in (law.left, law.right) for pick in side.atoms(sympy.Max, sympy.Min))
    if not edges or (not law.is_identity and whole and (picked or len(edges) > 1)):
        return Route("bisection", "", edges, rising or 0)
    return Route("branches" if picked else "closed form", "", edges, rising or 0)


def solve(law: Law, name: str, known: dict[str, Exact]) -> Exact | Infeasible:
    """Solve for one symbol; the givens are already checked.

    Where several values satisfy an Identity (a step of a ceiling, the branch of a Max that does not bind), the one
    returned is an end of that set.

    Raises:
        NotInvertible: the law does not give this symbol, or every value satisfies it.
    """
    symbol = law.symbols[name]
    way = route(law, symbol)
    if way.method == "direct":
        return _in_domain(law, symbol, whole(law.bodies[1](**known)))
    if way.method == "not invertible":
        raise NotInvertible(law.name, name, way.reason)
    problem = _Problem(law, symbol, known, way)
    return problem.equal() if law.is_identity else problem.extreme()


def _in_domain(law: Law, symbol: Quantity, value: Exact) -> Exact | Infeasible:
    domain, unit = symbol.domain, symbol.unit.name
    if domain.below(value):
        return Infeasible(law.name, symbol.name, "below", domain.low - value, unit)  # type: ignore[operator]  # below means that low exists
    if domain.above(value):
        return Infeasible(law.name, symbol.name, "above", value - domain.high, unit)  # type: ignore[operator]  # above means that high exists
    if domain.integer and value.denominator != 1:
        return Infeasible(law.name, symbol.name, "not-whole", value, unit)
    return value


def closed_form(law: Law, symbol: Quantity) -> list[Body]:
    """Return the rational solutions of left = right, one for each branch of a Max or Min; empty where there is none."""
    cache = law.__dict__.setdefault("_closed_forms", {})
    if symbol not in cache:
        cache[symbol] = [compiled(s, exact_kind()) for s in roots(law.left.doit() - law.right.doit(), symbol)]
    bodies: list[Body] = cache[symbol]
    return bodies


def last(domain: Domain, satisfied: Callable[[int], bool]) -> int | None:
    """Return the last integer of the domain for which a predicate, true and then false for ever, is true.

    None where it fails from the start; the end of the domain, or SEARCH_LIMIT without one, where it never fails.
    """
    low, top = domain.first, domain.last if domain.last is not None else SEARCH_LIMIT
    if not satisfied(low):
        return None
    step, probe = 1, low
    while probe < top:
        probe = min(low + step, top)
        if not satisfied(probe):
            break
        low, step = probe, step * 2
    while probe - low > 1:
        middle = (low + probe) // 2
        low, probe = (middle, probe) if satisfied(middle) else (low, middle)
    return low


class _Problem:
    """One symbol of a law to be found from the others."""

    def __init__(self, law: Law, symbol: Quantity, known: dict[str, Exact], way: Route) -> None:
        self.law, self.symbol, self.known, self.way = law, symbol, known, way
        self.domain, self.maximum = symbol.domain, way.rising < 0

    def room(self, value: Exact) -> Exact:
        return room(self.law, {**self.known, self.symbol.name: value})

    def satisfied(self, value: Exact) -> bool:
        left = self.room(value)
        return left >= 0 if self.law.relation == "<=" else left > 0

    def meets(self, value: Exact) -> bool:
        try:
            return self.room(value) == 0
        except ZeroDivisionError:  # a pole, which lies outside the domain
            return False

    def candidates(self) -> Iterator[Exact]:
        for edge in self.way.edges:
            try:
                yield whole(edge(**self.known))
            except ZeroDivisionError:
                continue

    def none(self, why: str, deficit: Exact | None = None) -> Infeasible:
        if deficit is not None and deficit.denominator > SEARCH_LIMIT:
            deficit = None  # Erlang's formula at the end of its domain: a fraction of thousands of digits
        return Infeasible(self.law.name, self.symbol.name, why, deficit, "" if deficit is None else self.law.right_unit)

    def undetermined(self) -> NotInvertible:
        return NotInvertible(self.law.name, self.symbol.name, "every value satisfies it here")

    def equal(self) -> Exact | Infeasible:
        """Solve an Identity."""
        if not self.way.edges:
            return self._step()
        found = list(self.candidates())
        for value in found:
            if self.meets(value):
                return self._allowed(_in_domain(self.law, self.symbol, value))
        if (self.way.method == "closed form" or not found) and self.room(self.domain.inside) == 0:
            raise self.undetermined()
        return self.none("broken")

    def _allowed(self, found: Exact | Infeasible) -> Exact | Infeasible:
        """Refuse a value that breaks a joint condition of the law."""
        if isinstance(found, Infeasible):
            return found
        values = {**self.known, self.symbol.name: found}
        return found if all(c.missed_by(values) is None for c in self.law.conditions) else self.none("broken")

    def _step(self) -> Exact | Infeasible:
        """Solve by bisection for the last integer up to the target, or the first one down to it."""
        rising, target = self.way.rising > 0, self.known[self.law.left.name]
        body = self.law.bodies[1]

        def before(value: int) -> bool:
            reached = body(**self.known, **{self.symbol.name: value})
            return bool(reached <= target if rising else reached > target)

        end = last(self.domain, before)
        found = end if rising else self.domain.first if end is None else end + 1
        if found is not None and found in self.domain and self.room(found) == 0:
            return found if found != SEARCH_LIMIT else self._first_of_many(lambda value: self.room(value) != 0)
        return self.none(
            "below" if end is None else "above" if end in {SEARCH_LIMIT, self.domain.last} else "not-whole"
        )

    def _first_of_many(self, misses: Callable[[int], bool]) -> int:
        """Return the first value of a law that no longer moves: every larger one satisfies it too.

        Raises:
            NotInvertible: every value does.
        """
        end = last(self.domain, misses)
        if end is None:
            raise self.undetermined()
        return end + 1

    def extreme(self) -> Exact | Infeasible:
        """Solve a Bound for its largest or smallest valid value."""
        value = self._whole_edge() if self.domain.integer else self._edge()
        if isinstance(value, Infeasible):
            return value
        worst, best = (self.domain.below, self.domain.low) if self.maximum else (self.domain.above, self.domain.high)
        if worst(value) or (self.way.method == "branches" and not self.satisfied(value)):
            return self.none("broken", None if best is None else whole(-self.room(best)))
        return self._within(value)

    def _within(self, value: Exact) -> Exact:
        end = self.domain.high if self.maximum else self.domain.low
        beyond = self.domain.above(value) if self.maximum else self.domain.below(value)
        if not beyond or end is None:
            return value
        if end not in self.domain:
            raise self.undetermined()
        return end

    def _whole_edge(self) -> Exact | Infeasible:
        edges = list(self.candidates())
        if len(edges) == 1 and self.way.method != "bisection":
            return _rounded(edges[0], maximum=self.maximum, strict=self.law.relation == "<")
        if self.maximum:
            end = last(self.domain, self.satisfied)
            return self.none("unbounded") if end == SEARCH_LIMIT else self.domain.first - 1 if end is None else end
        end = last(self.domain, lambda value: not self.satisfied(value))
        return self.none("broken") if end == SEARCH_LIMIT else self.domain.first if end is None else end + 1

    def _edge(self) -> Exact | Infeasible:
        for value in self.candidates():
            if self.room(value) == 0:
                return value
        if not self.satisfied(self.domain.inside):
            return self.none("broken")
        if self.maximum:
            return self.none("unbounded") if self.domain.high is None else self.domain.high
        raise self.undetermined()


def _rounded(value: Exact, *, maximum: bool, strict: bool) -> int:
    """Round to the feasible side; at equality a strict bound moves one further."""
    if maximum:
        return math.ceil(value) - 1 if strict else math.floor(value)
    return math.floor(value) + 1 if strict else math.ceil(value)
