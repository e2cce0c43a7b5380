"""Mutants: every law with one small fault, generated from its tree, to see whether the invariants notice.

A fault changes the formula (a factor, term, power, number, rounding, branch, sign or symbol), the relation of a bound,
or how an answer is made from it: rounded to the wrong side, not rounded, or given where none exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from spec import domains as d
from spec.compiling import Algorithm, algorithms
from spec.laws import Law
from spec.printing import flat, text
from spec.quantities import Quantity
from spec.senses import interval
from spec.solving import Exact, Infeasible

Variant = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One law with one fault.

    Attributes:
        law: the law as it should be.
        change: what was changed, in words.
        faulty: what stands in for it; it has the `symbols` and `solve` of a law.
        same: why it cannot be told from the law, or "".
    """

    law: Law
    change: str
    faulty: Any
    same: str = ""

    @property
    def formula(self) -> str:
        """The changed formula as text."""
        return self.faulty.text() if isinstance(self.faulty, Law) else self.law.text()


@dataclass(frozen=True, slots=True)
class Misread:
    """A law whose answers are made wrongly; `how` is `wrong side`, `unrounded` or `no none`."""

    law: Law
    name: str
    how: str

    @property
    def symbols(self) -> dict[str, Quantity]:
        """The quantities of the law."""
        return self.law.symbols

    def __call__(self, **known: Any) -> Any:
        """Say what the law says."""
        return self.law(**known)

    def solve(self, name: str, /, **known: Any) -> Exact | Infeasible:
        """Solve the law, and spoil the answer for one quantity."""
        answer = self.law.solve(name, **known)
        if name != self.name:
            return answer
        if self.how == "no none":
            return self._forced(answer)
        if isinstance(answer, Infeasible):
            return answer
        beyond = -1 if (self.law.senses[name] or 0) > 0 else 1
        here, there = (self._room(known, value) for value in (answer, answer + beyond))
        if self.how == "wrong side":
            return answer if here == 0 else answer + beyond
        return answer if here == there else answer + beyond * Fraction(here) / (here - there)

    def _room(self, known: dict[str, Any], value: Exact) -> Exact:
        left, right = self.law.bodies
        room: Exact = right(**known, **{self.name: value}) - left(**known, **{self.name: value})
        return room

    def _forced(self, answer: Exact | Infeasible) -> Exact | Infeasible:
        low = self.law.symbols[self.name].domain.low or 0
        if isinstance(answer, Infeasible) and answer.why == "below" and answer.deficit is not None:
            return low - answer.deficit
        return low - 1 if isinstance(answer, Infeasible) and answer.why == "broken" else answer


def mutants(law: Law) -> list[Mutant]:
    """Return every fault of a law once, those of the formula first."""
    found: dict[Any, Mutant] = {}
    original = _canonical(law.left, law.right, law.relation)
    for change, left, right, relation in _changed_sides(law):
        key = _canonical(left, right, relation)
        if key == original:
            same = "it is the same formula, written differently"
        elif _flags_at_rest(key) == _flags_at_rest(original):
            same = "0 and 1 are their own powers"
        else:
            same = ""
        found.setdefault(key, Mutant(law, change, faulty(law, left, right, relation), same))
    return [*found.values(), *_misread(law)]


def faulty(law: Law, left: Any, right: Any, relation: str) -> Law:
    """Build the changed law; a joint condition on a symbol that it lost can no longer be checked."""
    left_over = left.free_symbols | right.free_symbols
    where = tuple(condition for condition in law.where if condition.free_symbols <= left_over)
    return law.changed(left=left, right=right, relation=relation, where=where)


def _canonical(left: Any, right: Any, relation: str) -> tuple[Any, ...]:
    return (*(sympy.expand(side.doit()) for side in (left, right)), relation)


def _flags_at_rest(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace powers of symbols that are 0 or 1 by the symbols."""
    left, right, relation = key
    rest = [
        side.replace(
            lambda node: node.is_Pow and node.base.is_Symbol and node.base.domain == d.FLAG and node.exp.is_positive,
            lambda node: node.base,
        )
        for side in (left, right)
    ]
    return (*map(sympy.expand, rest), relation)


def _changed_sides(law: Law) -> Iterator[tuple[str, Any, Any, str]]:
    names = {n: s for n, s in law.symbols.items() if not law.is_identity or s != law.left}
    left, right = _merged(flat(law.left)), _merged(flat(law.right))
    for change, side in variants(right, names):
        yield change, law.left, side, law.relation
    if not law.is_identity:
        for change, side in variants(left, names):
            yield change, side, law.right, law.relation
        other = "<" if law.relation == "<=" else "<="
        yield f"{other} instead of {law.relation}", law.left, law.right, other


def _merged(node: Any) -> Any:
    """Write the power of a power as one power, such as the 1 / x^2 that an author writes as 1 / (x^2)."""
    if not node.args:
        return node
    args = [_merged(part) for part in node.args]
    if node.is_Pow and args[0].is_Pow:
        args = [args[0].base, args[0].exp * args[1]]
    return node.func(*args, evaluate=False)


def _misread(law: Law) -> Iterator[Mutant]:
    if law.is_identity:
        if law.left.domain.low is not None and interval(law.right, law.facts).low < 0:
            change = f"gives {law.left.name} below its domain where none exists"
            yield Mutant(law, change, Misread(law, law.left.name, "no none"))
        return
    single = all(side.is_Symbol and side.domain.integer for side in (law.left, law.right))
    for name, symbol in law.symbols.items():
        if not symbol.domain.integer or symbol in law.not_invertible:
            continue
        whole = _stays_whole(law.left if law.right == symbol else law.right if law.left == symbol else None)
        same = "both sides are single whole numbers" if single else "its limit is a whole number" if whole else ""
        side, plain, none = (Misread(law, name, how) for how in ("wrong side", "unrounded", "no none"))
        yield Mutant(law, f"rounds {name} to the side that breaks the bound", side, same)
        if not any(side.has(sympy.floor, sympy.ceiling, Algorithm) for side in (law.left, law.right)):
            yield Mutant(law, f"does not round {name}", plain, same)
        if (law.senses[name] or 0) < 0 and symbol.domain.low == 1:
            yield Mutant(law, f"gives 0 for {name} where none exists", none, same)


def _stays_whole(node: Any) -> bool:
    """Say whether a side is a product of whole numbers."""
    if node is None or node.atoms(sympy.Pow, sympy.floor, sympy.ceiling, Algorithm):
        return False
    return all(a.is_Integer or (a.is_Symbol and a.domain.integer) for a in node.atoms())


def variants(node: Any, names: dict[str, Quantity]) -> Iterator[Variant]:
    """Give every tree with one change at this node or below it."""
    yield from _own(node, names)
    for i, part in enumerate(node.args):
        for change, other in variants(part, names):
            if node.is_Pow and (i == 1 or (part.is_Symbol and other.is_Pow)):
                continue  # its power is changed as a whole
            if isinstance(node, Algorithm) and _whole(part) and not _whole(other):
                continue  # a program counts with it; a fraction stops it
            yield change, _with(node, i, other)


def _whole(node: Any) -> bool:
    """Say whether a symbol or a power of one is a whole number."""
    symbol = node.base if node.is_Pow and node.exp > 0 else node
    return bool(symbol.is_Symbol and symbol.domain.integer)


def _with(node: Any, index: int, other: Any) -> Any:
    args = [other if i == index else part for i, part in enumerate(node.args)]
    return node.func(*args, evaluate=False)


def _without(node: Any, index: int) -> Any:
    rest = [part for i, part in enumerate(node.args) if i != index]
    return rest[0] if len(rest) == 1 else node.func(*rest, evaluate=False)


def _own(node: Any, names: dict[str, Quantity]) -> Iterator[Variant]:
    if node.is_Symbol:
        yield from _of_symbol(node, names)
    elif node.is_Integer and node > 0:
        yield from ((f"{n} instead of {node}", sympy.Integer(n)) for n in (node + 1, node - 1) if n > 0)
    elif node.is_Pow:
        yield from _of_power(node)
    elif node.is_Add:
        for i, part in enumerate(node.args):
            yield f"drop the term {text(part)}", _without(node, i)
            yield f"flip the sign of the term {text(part)}", _with(node, i, _negative(part))
    elif node.is_Mul:
        yield from _of_product(node)
    else:
        yield from _of_function(node)


def _of_function(node: Any) -> Iterator[Variant]:
    if isinstance(node, sympy.floor | sympy.ceiling):
        other = sympy.floor if isinstance(node, sympy.ceiling) else sympy.ceiling
        yield f"drop {_name(node.func)}", node.args[0]
        yield f"{_name(other)} instead of {_name(node.func)}", other(*node.args, evaluate=False)
    elif isinstance(node, sympy.Max | sympy.Min):
        other = sympy.Min if isinstance(node, sympy.Max) else sympy.Max
        yield f"{_name(other)} instead of {_name(node.func)}", other(*node.args, evaluate=False)
        yield from ((f"drop the branch {text(part)}", _without(node, i)) for i, part in enumerate(node.args))
    elif isinstance(node, Algorithm):
        for other in algorithms().values():
            if other is not node.func and other.__module__ == node.func.__module__:
                yield f"{other.__name__} instead of {node.func.__name__}", other(*node.args)


def _of_symbol(node: Any, names: dict[str, Quantity]) -> Iterator[Variant]:
    yield f"raise {node.name} by one power", sympy.Pow(node, 2, evaluate=False)
    yield f"invert {node.name}", sympy.Pow(node, -1, evaluate=False)
    for other in names.values():
        if other != node and (other.unit.dimension, other.unit.factor) == (node.unit.dimension, node.unit.factor):
            yield f"{other.name} instead of {node.name}", other


def _of_power(node: Any) -> Iterator[Variant]:
    base, exponent = node.args
    printed = text(base)
    if abs(exponent) > 1:
        yield f"drop the power of {printed}", base if exponent > 0 else sympy.Pow(base, -1, evaluate=False)
    yield f"invert the power of {printed}", base if exponent == -1 else sympy.Pow(base, -exponent, evaluate=False)
    if not base.is_Integer:
        more = exponent + (1 if exponent > 0 else -1)
        yield f"raise {printed} by one power", sympy.Pow(base, more, evaluate=False)


def _of_product(node: Any) -> Iterator[Variant]:
    for i, part in enumerate(node.args):
        if part == -1:
            continue
        yield f"drop the factor {text(part)}", _without(node, i)
        if part.is_Add:
            yield f"raise ({text(part)}) by one power", _with(node, i, sympy.Pow(part, 2, evaluate=False))
            yield f"invert ({text(part)})", _with(node, i, sympy.Pow(part, -1, evaluate=False))


def _negative(term: Any) -> Any:
    if term.is_Mul and term.args[0] == -1:
        return _without(term, 0)
    return sympy.Mul(-1, term, evaluate=False)


def _name(function: Any) -> str:
    return "ceil" if function is sympy.ceiling else str(function.__name__)
