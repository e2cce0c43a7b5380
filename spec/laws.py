"""What a law is: an equation or an inequality between quantities, written once in SymPy.

From the one expression come the exact function, the solution for every symbol with its rounding, the sense of each
symbol, the unit check, the printed formula, the slips and the mutants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import sympy

from spec import solving
from spec.compiling import Body, compiled, exact_kind, unit_kind
from spec.quantities import Quantity
from spec.rearranging import rearranged
from spec.senses import sense
from spec.solving import Condition, Exact, Infeasible, NotInvertible, OutsideDomain
from spec.units import ONE, Unit, unit

__all__ = ["Bound", "Exact", "Identity", "Infeasible", "Law", "NotInvertible", "OutsideDomain", "Slip", "author_order"]


@contextmanager
def author_order() -> Iterator[None]:
    """Build expressions as they are written, so that they print in the author's order."""
    with sympy.evaluate(x=False):
        yield


@dataclass(frozen=True)
class Slip:
    """A known wrong way: `instead` stands for the right side of an Identity, or for the whole relation of a Bound.

    Attributes:
        sentence: what went wrong, as shown to a learner; its short form is the slug.
        slug: the stable name.
        instead: the wrong expression or relation.
        unless: an equation under which this is no slip, since both say the same there; None if there is none.
    """

    slug: str
    sentence: str
    instead: Any
    unless: Any = None

    def applies(self, values: Mapping[str, Exact]) -> bool:
        """Say whether this is a slip for these values."""
        return self.unless is None or self._sides[0](**values) != self._sides[1](**values)

    @cached_property
    def _sides(self) -> tuple[Body, Body]:
        left, right = (compiled(side, exact_kind()) for side in self.unless.args)
        return left, right


@dataclass(frozen=True, eq=False)
class Law:
    """The common face of Identity and Bound. `name` is how it is called; see the two subclasses.

    Attributes:
        left, right: the two sides.
        relation: `==`, `<=` or `<`.
        says: one sentence in words.
        section: the chapter section it belongs to.
        slips: known wrong ways.
        where: conditions that hold together, such as `a + s < 1`.
        constant: the unit that the literals of the left side carry, such as `B/bit` for an 8.
        not_invertible: symbols it is not solved for, each with the reason.
        both_ways: symbols that move the law either way, depending on the others, each with the reason.
        superseded_by: quantities that, where they are given, mean that another law applies.
        source: a publication, where the chapter has no such formula.
    """

    name: str
    left: Any
    relation: str
    right: Any
    says: str
    section: str
    slips: tuple[Slip, ...] = ()
    where: tuple[Any, ...] = ()
    constant: str = "1"
    not_invertible: dict[Quantity, str] = field(default_factory=dict)
    both_ways: dict[Quantity, str] = field(default_factory=dict)
    superseded_by: tuple[Quantity, ...] = ()
    source: str = ""

    @property
    def is_identity(self) -> bool:
        """Say whether the law is an equation that gives its left side."""
        return self.relation == "=="

    @cached_property
    def symbols(self) -> dict[str, Quantity]:
        """Every quantity of the law by name, in the order of their names."""
        found = self.left.free_symbols | self.right.free_symbols
        return {s.name: s for s in sorted(found, key=lambda s: str(s.name))}

    @cached_property
    def facts(self) -> tuple[Any, ...]:
        """The joint conditions as expressions that are at least zero."""
        return tuple(c.rhs - c.lhs if c.rel_op in {"<", "<="} else c.lhs - c.rhs for c in self.where)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The joint conditions as they are checked."""
        return tuple(
            Condition(
                str(condition),
                tuple(sorted(s.name for s in condition.free_symbols)),
                compiled(fact, exact_kind()),
                condition.rel_op in {"<", ">"},
                self._unit_of(fact).base_name(),
            )
            for condition, fact in zip(self.where, self.facts, strict=True)
        )

    @cached_property
    def senses(self) -> dict[str, int | None]:
        """How the room `right - left` (of an Identity: the value) moves with each symbol."""
        if self.is_identity:
            return {n: sense(self.right, s, self.facts) for n, s in self.symbols.items() if s != self.left}
        return {n: self._sense_of_room(s) for n, s in self.symbols.items()}

    def _sense_of_room(self, symbol: Quantity) -> int | None:
        """Decide side by side where that is enough, else on the difference, which the joint conditions may decide."""
        apart = _difference(sense(self.right, symbol, self.facts), sense(self.left, symbol, self.facts))
        return sense(self.right - self.left, symbol, self.facts) if apart is None else apart

    @cached_property
    def bodies(self) -> tuple[Body, Body]:
        """Both sides as exact functions of keywords."""
        return compiled(self.left, exact_kind()), compiled(self.right, exact_kind())

    def __call__(self, **known: Any) -> Any:
        """Evaluate from keywords, exactly.

        An Identity returns an integer or a Fraction, or Infeasible where its value lies outside its domain.
        A Bound returns whether the values satisfy it.
        """
        if self.is_identity:
            return self.solve(self.left.name, **known)
        room = self.room(**known)
        return room >= 0 if self.relation == "<=" else room > 0

    def room(self, **known: Any) -> Exact:
        """Return right minus left: what is left over, negative where a bound is broken."""
        return solving.room(self, solving.checked(self, "", known))

    def solve(self, name: str, /, **known: Any) -> Exact | Infeasible:
        """Find one symbol from all others, exactly.

        For a Bound the answer is the largest or smallest valid value: a capacity floors, a need ceils.

        Raises:
            NotInvertible: the law does not give this symbol; the reason is inside.
            OutsideDomain: a given lies outside the domain of its quantity.
            TypeError: a given is missing, unknown or not exact.
        """
        return solving.solve(self, name, solving.checked(self, name, known))

    def method(self, name: str) -> str:
        """Say how the law is solved for a symbol.

        One of `direct`, `closed form`, `branches` (each branch of a Max or Min is solved and tried), `bisection`
        (over the whole numbers), or `not invertible: ` with the reason.
        """
        way = solving.route(self, solving.symbol_of(self, name))
        return f"{way.method}: {way.reason}" if way.reason else way.method

    def solution(self, name: str) -> Any:
        """Return the law solved for a symbol as a formula to print, or None where it is solved by search.

        The formula gives what `solve` gives wherever that is a value; of a Max it is the branch that binds.
        """
        return rearranged(self, solving.symbol_of(self, name))

    def check_units(self) -> None:
        """Compare the units of both sides, literals included.

        Raises:
            UnitMismatch: a sum adds unlike things.
            ValueError: the two sides do not measure the same thing on the same scale.
        """
        left, right = self._unit_of(self.left), self._unit_of(self.right)
        scaled, other = (right, left) if self.is_identity else (left, right)
        got = scaled * unit(self.constant)
        if (got.dimension, got.factor) != (other.dimension, other.factor):
            raise ValueError(
                f"{self.name}: {got.base_name()} x {got.factor} against {other.base_name()} x {other.factor}"
            )

    @cached_property
    def right_unit(self) -> str:
        """The unit of the right side, in which a deficit is counted."""
        return self._unit_of(self.right).base_name()

    @staticmethod
    def _unit_of(side: Any) -> Unit:
        found = compiled(side, unit_kind())(**{symbol.name: symbol.unit for symbol in side.free_symbols})
        return found if isinstance(found, Unit) else ONE

    def with_slip(self, slip: Slip) -> Law:
        """Return the law as someone who makes this slip would use it; made once, for compiling it takes long."""
        if slip not in self._slipped:
            wrong: dict[str, Any] = {"right": slip.instead}
            if not self.is_identity:
                wrong = {"left": slip.instead.lhs, "right": slip.instead.rhs, "relation": slip.instead.rel_op}
            self._slipped[slip] = self.changed(**wrong)
        return self._slipped[slip]

    @cached_property
    def _slipped(self) -> dict[Slip, Law]:
        return {}

    def composed(self, *parts: Law) -> Law:
        """Return the law with the right sides of other Identities in place of what they give.

        Its slips and joint conditions are those of all of them, put together in the same way.
        """
        meant = {part.left: part.right for part in parts}

        def together(node: Any, other: dict[Any, Any] | None = None) -> Any:
            with author_order():
                return node.xreplace(meant | (other or {}))

        stated = self.right if self.is_identity else sympy.Rel(self.left, self.right, self.relation, evaluate=False)
        slips = [
            Slip(s.slug, s.sentence, together(s.instead), None if s.unless is None else together(s.unless))
            for s in self.slips
        ]
        for part in parts:
            slips += [Slip(s.slug, s.sentence, together(stated, {part.left: s.instead}), s.unless) for s in part.slips]
        where = tuple(together(condition) for law in (self, *parts) for condition in law.where)
        return self.changed(left=together(self.left), right=together(self.right), where=where, slips=tuple(slips))

    def changed(self, **changes: Any) -> Law:
        """Return a law of the same name with other sides, for slips and mutants; it has no slips of its own."""
        same = {f.name: getattr(self, f.name) for f in fields(Law)}
        return Law(**{**same, "slips": (), **changes})

    def latex(self, values: dict[str, str] | None = None) -> str:
        """Print the law in LaTeX; with `values`, the line with those numbers in place of the symbols."""
        from spec.printing import law_latex

        return law_latex(self, values)

    def text(self, values: dict[str, str] | None = None) -> str:
        """Print the law in plain text; with `values`, the line with those numbers."""
        from spec.printing import law_text

        return law_text(self, values)


def _difference(right: int | None, left: int | None) -> int | None:
    moving = {s for s in (right, None if left is None else -left) if s != 0}
    return 0 if not moving else moving.pop() if len(moving) == 1 else None


class Identity(Law):
    """An equation that gives a quantity: `Identity(q.weights, q.parameters * q.weight_bits / 8, ...)`."""

    def __init__(self, gives: Quantity, right: Any, *, says: str, section: str, name: str = "", **more: Any) -> None:
        """Name the law after the quantity it gives, or `name` where several laws give it."""
        super().__init__(name or gives.name, gives, "==", sympy.sympify(right), says, section, **_tuples(more))


class Bound(Law):
    """An inequality: `Bound("fits", q.concurrency * q.kv_bytes_per_sequence <= q.kv_budget, ...)`.

    Solving it gives the extreme value that still satisfies it.
    """

    def __init__(self, name: str, relation: Any, *, says: str, section: str, **more: Any) -> None:
        """Take the relation `<=` or `<` as written."""
        super().__init__(name, relation.lhs, relation.rel_op, relation.rhs, says, section, **_tuples(more))


def _tuples(more: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in more.items()}
