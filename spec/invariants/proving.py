"""Proving an invariant: its own check is run once on symbols instead of numbers, so nothing is stated twice.

A draw from `low` up becomes `low + x` with a symbol x of at least zero, whatever its upper end; a share from `low` to 1
becomes `(low + x) / (1 + x)`. A choice that is not settled as a symbol is tried value by value. An equation is proved
when the difference cancels, an inequality when no coefficient of the difference has the wrong sign.
What stays undecided (a Max, a floor, an extreme found by search) is left to sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from sympy import QQ
from sympy.polys.fields import FracField
from sympy.polys.orderings import lex

from spec.compiling import algorithms, compiled
from spec.index import laws
from spec.invariants import Invariant
from spec.invariants.draws import Among, Draw
from spec.invariants.reference import questions
from spec.laws import Law


class Undecided(ArithmeticError):
    """The symbols do not settle a comparison, or a function has no formula."""


def _undecided(*_: Any) -> Any:
    raise Undecided


class Term:
    """A rational function of symbols that are at least zero, with arithmetic and with comparisons that prove."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def _other(self, other: Any) -> Any:
        if isinstance(other, Term):
            return other.value
        exact = Fraction(other)
        return self.value.field(QQ(exact.numerator, exact.denominator))

    def __add__(self, other: Any) -> Term:
        return Term(self.value + self._other(other))

    def __sub__(self, other: Any) -> Term:
        return Term(self.value - self._other(other))

    def __rsub__(self, other: Any) -> Term:
        return Term(self._other(other) - self.value)

    def __mul__(self, other: Any) -> Term:
        return Term(self.value * self._other(other))

    def __truediv__(self, other: Any) -> Term:
        return Term(self.value / self._other(other))

    def __rtruediv__(self, other: Any) -> Term:
        return Term(self._other(other) / self.value)

    def __pow__(self, exponent: int) -> Term:
        return Term(self.value**exponent)

    def __neg__(self) -> Term:
        return Term(-self.value)

    __radd__, __rmul__ = __add__, __mul__

    def _difference(self, other: Any) -> tuple[int, bool]:
        """Give the sign of the difference, 0 where it vanishes, and whether it is never zero otherwise.

        Raises:
            Undecided: its coefficients have both signs.
        """
        difference = self.value - self._other(other)
        over, under = difference.numer.terms(), difference.denom.terms()
        if not difference:
            return 0, False
        signs = {c > 0 for _, c in over}, {c > 0 for _, c in under}
        if len(signs[0]) > 1 or len(signs[1]) > 1:
            raise Undecided
        return 1 if signs[0] == signs[1] else -1, any(not any(powers) for powers, _ in over)

    def __eq__(self, other: object) -> bool:
        sign, apart = self._difference(other)
        return sign == 0 or (False if apart else _undecided())

    def __ge__(self, other: Any) -> bool:
        sign, apart = self._difference(other)
        return sign >= 0 or (False if apart else _undecided())

    def __gt__(self, other: Any) -> bool:
        sign, apart = self._difference(other)
        return sign > 0 and (apart or _undecided())

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __lt__(self, other: Any) -> bool:
        return not self >= other

    __hash__ = None  # type: ignore[assignment]  # equality proves; it is not for looking things up

    numerator = denominator = property(_undecided)
    __index__ = __abs__ = _undecided


def _kind() -> dict[str, Any]:
    names = dict.fromkeys(("Max", "Min", "floor", "ceil", *algorithms()), _undecided)
    return {**names, "div": lambda over, under: over * Fraction(1) / under}


class Formulas:
    """An implementation that answers with formulas; it knows only what a law gives directly."""

    def __init__(self, table: Mapping[str, Law]) -> None:
        self._table, self._known = table, dict[tuple[str, frozenset[str]], Callable[..., Any]]()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def function(**known: Any) -> Any:
            question = name, frozenset(known)
            body = self._known.get(question) or self._known.setdefault(question, self._body(*question))
            return body(**known)

        return function

    def _body(self, name: str, given: frozenset[str]) -> Callable[..., Any]:
        law = questions()[name, given]
        if not law.is_identity or law.left.name != name:
            raise Undecided
        return compiled(self._table[law.name].right, _kind())


def proved(invariant: Invariant, table: Mapping[str, Law] | None = None) -> bool:
    """Say whether the check holds on symbols, for the laws or for a table in which some are changed."""
    impl = Formulas(laws() if table is None else table)
    chosen = [name for name, draw in invariant.draws.items() if isinstance(draw, Among)]
    tries = [list(names) for size in range(3) for names in combinations(chosen, size)]
    return any(_holds(invariant, impl, names) for names in [*tries, *[chosen] * (len(chosen) > len(tries[-1]))])


def _holds(invariant: Invariant, impl: Formulas, chosen: list[str]) -> bool:
    """Try the check with every value of some choices, and symbols for all the rest."""
    draws = invariant.draws
    names = [name for name in draws if name not in chosen]
    field = FracField(names or ["x"], QQ, lex)
    symbols: dict[str, Any] = {name: _term(draws[name], x) for name, x in zip(names, field.gens, strict=False)}
    cases = product(*([draws[name].value(i) for i in range(draws[name].count)] for name in chosen))
    try:
        return all(invariant.holds(impl, {**symbols, **dict(zip(chosen, case, strict=True))}) for case in cases)
    except (Undecided, ZeroDivisionError):
        return False


def _term(draw: Draw, symbol: Any) -> Term:
    shifted = Term(symbol) + min(draw.value(0), draw.value(draw.count - 1))
    share = not isinstance(draw, Among) and draw.value(draw.count - 1) <= 1
    return shifted / (Term(symbol) + 1) if share else shifted
