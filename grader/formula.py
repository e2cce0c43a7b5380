"""Families that ask for a formula: a law in words, specialised by the traits of one drawn architecture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy

from grader.exercise import Exercise, Explained, Part, SlipValue
from spec.laws import Law
from spec.printing import formula, latex, text
from spec.quantities import Quantity
from spec.stream import Stream

__all__ = ["FormulaFamily", "Trait"]


@dataclass(frozen=True, eq=False)
class Trait:
    """One way a model may be built: a sentence of the statement, and what it means for the symbols of the law."""

    sentence: str
    means: Mapping[Quantity, Any]


@dataclass(frozen=True, eq=False)
class FormulaFamily:
    """A law whose right side is asked for as an expression.

    Attributes:
        law: the law; its slips, specialised in the same way, are the wrong formulas.
        always: what holds in every draw.
        traits: groups of traits, of which each draw takes one; later ones may use symbols of earlier ones.
        opening: first sentence of the statement.
        closing: last sentence: what is counted and what is not.
        objective, section, revision: as in `grader.family.Family`.
    """

    law: Law
    always: Mapping[Quantity, Any]
    traits: tuple[tuple[Trait, ...], ...]
    opening: str
    closing: str
    objective: str
    section: str
    revision: int = 1
    preset: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of answer it asks for."""
        return ("expression",)

    @property
    def grid(self) -> int:
        """The number of architectures."""
        total = 1
        for group in self.traits:
            total *= len(group)
        return total

    def at(self, point: int) -> tuple[str, Part]:
        """Return the statement and the question of one architecture, counted in mixed radix."""
        return _at(self, point)

    def pose(self, slug: str, seed: int) -> Exercise:
        """Draw one architecture and ask for its formula."""
        return self._exercise(slug, seed, Stream(slug, self.revision, seed).below(self.grid))

    def search(self, slug: str, seed: int) -> tuple[Exercise, int]:
        """Draw one architecture: the first is taken."""
        return self.pose(slug, seed), 1

    def outcome(self, slug: str, point: int) -> tuple[Exercise, list[str]]:
        """Return the exercise of one architecture, and the names of the slips of its law."""
        return self._exercise(slug, point, point), [slip.slug for slip in self.law.slips]

    def _exercise(self, slug: str, seed: int, point: int) -> Exercise:
        statement, part = self.at(point)
        notation = "Products may be written with or without *; powers with ^ or **."
        return Exercise(slug, self.revision, seed, statement, (), (part,), notation)


@cache
def _at(family: FormulaFamily, point: int) -> tuple[str, Part]:
    chosen = []
    for group in family.traits:
        point, i = divmod(point, len(group))
        chosen.append(group[i])
    key = _specialised(family, chosen, family.law.right)
    symbols = sorted(key.free_symbols, key=lambda s: str(s.symbol))
    letters = ", ".join(f"{s.symbol} ({s.says})" for s in symbols)
    slips = {}
    for slip in family.law.slips:
        wrong = _specialised(family, chosen, slip.instead)
        if sympy.expand(wrong - key) != 0 and wrong.free_symbols <= set(symbols):
            slips[slip.slug] = SlipValue(slip.slug, slip.sentence, formula(wrong))
    for symbol in (s for s in symbols if key.has(s**2)):
        name = f"{symbol.name}-not-squared"
        slips[name] = SlipValue(
            name, f"The square of {symbol.symbol} was left out.", formula(key.xreplace({symbol**2: symbol}))
        )
    target = family.law.left
    statement = " ".join([family.opening, *(t.sentence for t in chosen), family.closing])
    return statement, Part(
        part="a",
        asks=target.name,
        question=f"How many {target.says} does it have, as a formula in {letters}?",
        kind="expression",
        key=formula(key),
        symbols={s.symbol: "positive integers" for s in symbols},
        names=(target.symbol, target.name),
        slips=tuple(slips.values()),
        hints=_hints(family, chosen),
        explained=(
            Explained(
                family.law.name,
                family.law.says,
                f"{target.name} = {text(_counted(family))}",
                f"{target.tex} = {latex(_counted(family))}",
            ),
            Explained(
                family.law.name,
                f"With {_meaning(chosen)}.",
                f"{target.symbol} = {formula(key)}",
                f"{target.tex} = {latex(key)}",
            ),
        ),
    )


def _hints(family: FormulaFamily, chosen: list[Trait]) -> tuple[str, ...]:
    """Tell which law, then the law, then what the drawn architecture puts into it."""
    return (
        f"What is needed: {family.law.says}",
        f"The law: {family.law.left.name} = {text(_counted(family))}.",
        f"With what is said here: {_meaning(chosen)}.",
    )


@cache
def _counted(family: FormulaFamily) -> Any:
    """Return the right side of the law with what holds in every draw put in."""
    return family.law.right.doit().subs(dict(family.always))


def _meaning(chosen: list[Trait]) -> str:
    return ", ".join(
        f"{symbol.name} = {text(sympy.sympify(meaning))}" for t in chosen for symbol, meaning in t.means.items()
    )


def _specialised(family: FormulaFamily, chosen: list[Trait], node: Any) -> Any:
    expression = node.doit().subs(dict(family.always))
    for trait in reversed(chosen):
        for symbol, meaning in trait.means.items():  # one after the other: a later one may stand in an earlier meaning
            expression = expression.subs(symbol, meaning)
    return _ordered(sympy.expand(expression))


def _ordered(expression: Any) -> Any:
    """Collect the layers, so that the printed formula reads as people write it."""
    collected = sympy.collect(expression, [s for s in expression.free_symbols if s.name == "layers"])
    return collected if isinstance(collected, sympy.Expr) else expression
