"""Families that ask for a property: what every right way to write some functions has, and wrong ways lack.

The wrong ways are the slips of the laws and the mutants of their formulas, each kept once and only where it is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from grader.exercise import Exercise, Explained, Function, Mutant, Part
from grader.judging import judge
from grader.reading import compare
from spec.laws import Law
from spec.mutants import variants
from spec.printing import flat, formula
from spec.quantities import Quantity
from spec.stream import Stream

__all__ = ["Clause", "Named", "PropertyFamily", "Setting"]

FREE = "x"
SHARES = ("3/5", "7/10", "4/5", "9/10")
NOTATION = (
    "Compare with ==, !=, <, <=, > or >=, and join comparisons with and. "
    f"Beside the letters of the arguments, {FREE} stands for any positive whole number. "
    "Outside of the functions stand numbers and at most one letter. "
    "A property is tried wherever its arguments make sense: counts are whole numbers, and no amount is negative."
)
_VERBS = ("drop", "raise", "invert", "flip")


@dataclass(frozen=True, eq=False)
class Named:
    """A function that a property may name.

    Attributes:
        name: how it is called.
        gives: what it gives, in words.
        law: the law that it computes.
        asks: the quantity that it gives: of an Identity its left side.
        arguments: its arguments in order, the one that matters most first; two at least, else one letter is a formula.
        also: other right ways to write it, in the letters of the arguments.
    """

    name: str
    gives: str
    law: Law
    asks: Quantity
    arguments: tuple[Quantity, ...]
    also: tuple[str, ...] = ()

    @property
    def letters(self) -> tuple[str, ...]:
        """The arguments as they are typed."""
        return tuple(quantity.symbol for quantity in self.arguments)

    def recorded(self) -> Function:
        """The function as the record keeps it."""
        arguments = {quantity.symbol: _domain(quantity) for quantity in self.arguments}
        right = formula(_solved(self.law, self.asks))
        return Function(self.name, arguments, (right, *self.also), tuple(_different(self._wrong(), right, arguments)))

    def _wrong(self) -> Iterator[Mutant]:
        known = set(self.arguments)
        for slip in self.law.slips:
            tree = _solved(self.law.with_slip(slip), self.asks)
            if tree is not None and tree.free_symbols <= known:
                yield Mutant(formula(tree), slip.sentence)
        names = {quantity.name: quantity for quantity in self.arguments}
        for change, tree in variants(flat(_solved(self.law, self.asks)), names):
            yield Mutant(formula(tree), _sentence(change, names))


@dataclass(frozen=True, slots=True)
class Clause:
    """One comparison of the solution, and why it holds."""

    text: str
    says: str


@dataclass(frozen=True, eq=False)
class Setting:
    """One choice of functions.

    Attributes:
        story: what they are about.
        functions: the functions.
        weak: a property that holds but is not enough, for the last hint.
        solution: properties that together tell all wrong ways apart.
    """

    story: str
    functions: tuple[Named, ...]
    weak: str
    solution: tuple[Clause, ...]


@dataclass(frozen=True, eq=False)
class PropertyFamily:
    """A property of some functions is asked for.

    Attributes:
        settings: the functions; each draw takes one of them, and a share of the wrong ways that must be told apart.
        objective, section, revision: as in `grader.family.Family`.
    """

    settings: tuple[Setting, ...]
    objective: str
    section: str
    revision: int = 1
    preset: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of answer it asks for."""
        return ("invariant",)

    @property
    def grid(self) -> int:
        """The number of settings times that of shares."""
        return len(self.settings) * len(SHARES)

    def pose(self, slug: str, seed: int) -> Exercise:
        """Draw a setting and a share."""
        return self._exercise(slug, seed, Stream(slug, self.revision, seed).below(self.grid))

    def search(self, slug: str, seed: int) -> tuple[Exercise, int]:
        """Draw a setting and a share: the first is taken."""
        return self.pose(slug, seed), 1

    def outcome(self, slug: str, point: int) -> tuple[Exercise, list[str]]:
        """Return the exercise of one setting and share; a property has no slips."""
        return self._exercise(slug, point, point), []

    def _exercise(self, slug: str, seed: int, point: int) -> Exercise:
        setting, share = self.settings[point // len(SHARES)], SHARES[point % len(SHARES)]
        statement, part = _posed(setting)
        names = " and ".join(function.name for function in setting.functions)
        question = (
            f"Which property do all right ways to write {names} have, and at least "
            f"{Fraction(share) * 100} % of the wrong ways lack?"
        )
        return Exercise(
            slug, self.revision, seed, statement, (), (replace(part, question=question, needs=share),), NOTATION
        )


@cache
def _posed(setting: Setting) -> tuple[str, Part]:
    """The statement and the part, but for the share."""
    key = " and ".join(clause.text for clause in setting.solution)
    part = Part(
        part="a",
        asks=setting.functions[0].asks.name,
        question="",
        kind="invariant",
        key=key,
        symbols={FREE: "positive integers"},
        hints=_hints(setting),
        functions=tuple(function.recorded() for function in setting.functions),
        needs="1",
    )
    first = setting.functions[0]
    one, other = first.letters[:2]
    calls = (
        "Arguments go by place or by name, and one that is left out keeps its letter: "
        f"{first.name}(3*{one}, {other}=1) is {first.name} with 3*{one} for {one} and 1 for {other}."
    )
    statement = " ".join([setting.story, *map(_introduced, setting.functions), calls])
    return statement, replace(part, explained=tuple(_explained(setting, part)))


def _introduced(function: Named) -> str:
    meanings = ", ".join(f"{quantity.symbol} ({quantity.says})" for quantity in function.arguments)
    return f"The function {function.name}({', '.join(function.letters)}) gives {function.gives} from {meanings}."


def _hints(setting: Setting) -> tuple[str, ...]:
    first = setting.functions[0]
    return (
        f"Change one argument of {first.name} and keep the others. What does that do to every right value of it?",
        " ".join(clause.says for clause in setting.solution),
        f"This one is right, but not enough: {setting.weak}",
    )


def _explained(setting: Setting, part: Part) -> Iterator[Explained]:
    law = setting.functions[0].law.name
    for clause in setting.solution:
        kills = judge(part, clause.text).findings[0].about
        told = f"{clause.text}: {kills['killed']} of {kills['of']} wrong ways break it"
        yield Explained(law, clause.says, told, _latex(clause.text))
    yield Explained(law, "Every wrong way breaks one of them.", part.key or "", _latex(part.key or ""))


def _latex(text: str) -> str:
    """The text of a property in LaTeX."""
    text = re.sub(r"\b(lambda)\b", r"\\lambda ", text)
    text = re.sub(r"\b([A-Za-z]{2,})(?=\()", r"\\operatorname{\1}", text)
    text = re.sub(r"\b([A-Z]{2,})\b", r"\\mathrm{\1}", text)
    text = re.sub(r"\b([A-Za-z]+)_(\w+)", r"\1_{\2}", text)
    for plain, tex in (("==", "="), ("<=", r"\le"), (">=", r"\ge"), ("*", r" \cdot "), (" and ", r" \text{ and } ")):
        text = text.replace(plain, tex)
    return text


def _solved(law: Law, asks: Quantity) -> Any:
    """What a law gives for a quantity as an expression; None where it does not hold it."""
    if law.is_identity:
        return law.right
    return law.solution(asks.name) if asks.name in law.symbols else None


def _domain(quantity: Quantity) -> str:
    """The domain as the record names it."""
    low = quantity.domain.low
    sign = "positive" if quantity.domain.open_low or (low or 0) > 0 else "non-negative"
    return f"{sign} integers" if quantity.domain.integer else sign


def _different(wrong: Iterator[Mutant], right: str, arguments: dict[str, str]) -> Iterator[Mutant]:
    """Those that are neither right nor the same as one before."""
    letters, domains = tuple(arguments), tuple(arguments.values())
    kept = [compare.reference(right, letters, domains)]
    for mutant in wrong:
        values = compare.reference(mutant.expression, letters, domains)
        if not any(compare.same(other, values) for other in kept):
            kept.append(values)
            yield mutant


def _sentence(change: str, names: dict[str, Quantity]) -> str:
    """What a mutant does, in the letters of the question."""
    change = re.sub(r"[a-z]\w+", lambda match: str(getattr(names.get(match[0]), "symbol", match[0])), change)
    verb, _, what = change.partition(" ")
    return f"It {verb}s {what}." if verb in _VERBS else f"It has {change}."
