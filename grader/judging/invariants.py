"""Judging properties: refused where something right breaks them, else marked by how much of what is wrong does.

A property earns the share of the wrong ways that break it. It must speak of the functions, for more than one point,
and must not be the formula itself: outside of the functions stands at most one letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

from grader.exercise import Function, Mutant, Part
from grader.judging.formulas import shown
from grader.judging.judgement import (
    CORRECT,
    FULL,
    INCORRECT,
    PARTIAL,
    ZERO,
    Finding,
    Judgement,
    located,
    without_value,
)
from grader.reading import compare, points
from grader.reading.absence import says_no_value
from grader.reading.formula import Formula
from grader.reading.holding import Implementation, broken, calls, letters, outside
from grader.reading.latex import without_latex
from grader.reading.number import written
from grader.reading.relation import Comparison, Relation, Signatures, read_relation
from grader.reading.text import Unreadable, plain

LONGEST = 1000
MOST_STEPS = 12_000  # of evaluation, for one way to write the functions
FEWEST_POINTS = 12
SMALL = 80
SHRINKING = (1, 2, 3, 4, 8, 16)


def judge_invariant(part: Part, typed: str) -> Judgement:
    """Judge a property of the functions of the part.

    Raises:
        Unreadable: it is none, or one that says too little to be judged.
    """
    if says_no_value(typed):
        return without_value(part, typed)
    asked = Asked.of(part)
    text = plain(typed, LONGEST)
    try:
        text = without_latex(text)
        relation = read_relation(text.text, asked.signatures, asked.letters)
        tried = _points(relation, asked)
        for comparison in relation.comparisons:
            _speaks(comparison, asked, tried)
        return _judged(part, asked, relation, tried, typed)
    except Unreadable as complaint:
        raise located(complaint, text) from None


@dataclass(frozen=True)
class Asked:
    """What a property may name: the functions, and the letters with their domains."""

    functions: Mapping[str, Function]
    domain_of: Mapping[str, str]

    @classmethod
    def of(cls, part: Part) -> Asked:
        """Read it from the record: the arguments of the functions in order, then the letters of the part.

        Raises:
            ValueError: the record names no function.
        """
        if not part.functions:
            raise ValueError(f"part {part.part} has no functions that a property may name")
        domain_of: dict[str, str] = {}
        for function in part.functions:
            domain_of |= function.arguments
        return cls({function.name: function for function in part.functions}, domain_of | part.symbols)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters in order."""
        return tuple(self.domain_of)

    @cached_property
    def signatures(self) -> Signatures:
        """The arguments of each function."""
        return {name: tuple(function.arguments) for name, function in self.functions.items()}

    def body(self, name: str, expression: str) -> Formula:
        """One way to write a function."""
        arguments = self.functions[name].arguments
        return compare.reference(expression, tuple(arguments), tuple(arguments.values())).formula

    def written(self, way: Mapping[str, str]) -> Implementation:
        """All functions, each by its expression in `way`, else by its first right one."""
        bodies = {name: self.body(name, way.get(name, f.right[0])) for name, f in self.functions.items()}
        return Implementation(bodies, {name: tuple(f.arguments.values()) for name, f in self.functions.items()})

    def right(self) -> Iterator[dict[str, str]]:
        """The right ways: the first of every function, then the second, and so on."""
        for i in range(max(len(function.right) for function in self.functions.values())):
            yield {name: f.right[min(i, len(f.right) - 1)] for name, f in self.functions.items()}

    def wrong(self) -> Iterator[tuple[str, Mutant]]:
        """Every wrong way, with the function it is one of."""
        for name, function in self.functions.items():
            yield from ((name, mutant) for mutant in function.mutants)


def _points(relation: Relation, asked: Asked) -> tuple[points.Point, ...]:
    """Where a property is tried, from small up: fewer points for long ones; letters that do not occur are 1."""
    used = sorted(set().union(*(letters(comparison) for comparison in relation.comparisons)))
    domains = tuple(asked.domain_of[asked.letters[place]] for place in used)
    longest = {name: len(asked.body(name, function.right[0]).program) for name, function in asked.functions.items()}
    steps = sum(
        sum(len(side.program) for side in comparison.sides) + sum(longest[name] for name in calls(comparison, longest))
        for comparison in relation.comparisons
    )
    every = points.small(domains)[:SMALL] + points.varied(domains) + points.varied(domains, 3) + points.generic(domains)
    chosen = _spread(every, max(FEWEST_POINTS, MOST_STEPS // steps))
    return tuple(_full(point, used, len(asked.letters)) for point in chosen)


def _spread(every: Sequence[points.Point], most: int) -> Sequence[points.Point]:
    """So many of the points, evenly spread and in their order."""
    if len(every) <= most:
        return every
    return [every[i * len(every) // most] for i in range(most)]


def _full(point: points.Point, used: Sequence[int], length: int) -> points.Point:
    placed = dict(zip(used, point, strict=True))
    return tuple(placed.get(place, 1) for place in range(length))


def _speaks(comparison: Comparison, asked: Asked, tried: Sequence[points.Point]) -> None:
    """Complain about a comparison that says nothing of the functions, or no more than one number or the formula.

    Raises:
        Unreadable: `no-function`, `formula-given`, `worked-number`, `nowhere`.
    """
    about = {"functions": ", ".join(asked.functions)}
    if not any(calls(comparison, asked.functions)):
        raise Unreadable("no-function", comparison.at, about)
    free = sorted(frozenset().union(*(outside(side, asked.functions) for side in comparison.sides)))
    if len(free) > 1:
        raise Unreadable("formula-given", comparison.at, {"letters": " and ".join(free)})
    first = asked.written({})
    values = [first.values(comparison, point) for point in tried]
    if len(first.known) <= sum(1 for _ in calls(comparison, asked.functions)):  # the same arguments at every point
        raise Unreadable("worked-number", comparison.at, about)
    if not any(values):
        raise Unreadable("nowhere", comparison.at, about)


def _judged(part: Part, asked: Asked, relation: Relation, tried: Sequence[points.Point], typed: str) -> Judgement:
    reading = str(relation)
    reading = reading if len(reading) <= LONGEST else typed
    for way in asked.right():
        found = _refuted(relation, asked, asked.written(way), tried)
        if found is not None:
            return Judgement(INCORRECT, ZERO, reading, (), (found,), typed)
    wrong = list(asked.wrong())
    passing = [mutant for name, mutant in wrong if _passes(relation, asked.written({name: mutant.expression}), tried)]
    killed = len(wrong) - len(passing)
    if not killed:
        return Judgement(INCORRECT, ZERO, reading, (), (Finding("kills-none", {"of": str(len(wrong))}),), typed)
    wanted = ceil(len(wrong) * Fraction(part.needs or 1))
    about = {"killed": str(killed), "of": str(len(wrong)), "wanted": str(wanted)}
    missed = [Finding("passes", {"sentence": mutant.sentence}) for mutant in passing[:1]]
    if killed >= wanted:
        return Judgement(CORRECT, FULL, reading, (), (Finding("kills", about), *missed), typed)
    share = Fraction(killed, len(wrong))
    return Judgement(PARTIAL, share, reading, (), (Finding("kills-too-few", about), *missed), typed)


def _refuted(
    relation: Relation, asked: Asked, implementation: Implementation, tried: Sequence[points.Point]
) -> Finding | None:
    """The smallest point at which a right way breaks the property."""
    for point in tried:
        for comparison in relation.comparisons:
            values = implementation.values(comparison, point)
            if values is not None and broken(comparison, values):
                return _counterexample(relation, comparison, asked, implementation, point)
    return None


def _counterexample(
    relation: Relation, comparison: Comparison, asked: Asked, implementation: Implementation, point: points.Point
) -> Finding:
    used = sorted(letters(comparison))
    for place in used:
        domain = asked.domain_of[asked.letters[place]]
        for small in (value for value in SHRINKING if value < point[place] and points.inside(domain, value)):
            nearer = (*point[:place], small, *point[place + 1 :])
            values = implementation.values(comparison, nearer)
            if values is not None and broken(comparison, values):
                point = nearer
                break
    values = implementation.values(comparison, point) or []
    left, stands, right = broken(comparison, values) or (0, "", 0)
    about = {
        "comparison": relation.text(comparison),
        "assignment": ", ".join(f"{asked.letters[place]} = {written(point[place])}" for place in used),
        "found": f"{shown(left)} {stands} {shown(right)}",
    }
    return Finding("property-broken", about)


def _passes(relation: Relation, implementation: Implementation, tried: Sequence[points.Point]) -> bool:
    """Whether a wrong way has the property at every point where it has values."""
    for comparison in relation.comparisons:
        for point in tried:
            values = implementation.values(comparison, point)
            if values is not None and broken(comparison, values):
                return False
    return True
