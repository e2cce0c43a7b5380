"""The candidate as the invariants see it: exact functions that take and give the quantities' own units.

A number that is right within its tolerance is handed on as the right number itself. A sentence therefore never fails
through rounding alone, and a wrong number stays wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from spec.conformance.answers import Nothing
from spec.conformance.asking import Asked, Values
from spec.conformance.judging import Judge, Reply, Skipped
from spec.invariants import Invariant, written
from spec.invariants.derived import of_law
from spec.invariants.draws import sample
from spec.invariants.reference import Reference, Unanswered, questions
from spec.laws import Law
from spec.solving import Infeasible, OutsideDomain

FEW = 4  # points that show what a sentence asks


class Missing(Unanswered):
    """The candidate does not answer a question that the sentence asks."""


class Adapted:
    """An implementation as an invariant expects it.

    Attributes:
        wrong: the answers so far that were not right.
    """

    def __init__(self, judge: Judge, single: Mapping[tuple[str, frozenset[str]], Asked]) -> None:
        """Take the questions that one law each answers, by the name of the function and all its keywords."""
        self.judge, self.single = judge, single
        self.wrong: list[Reply] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the function of that name."""

        def function(**known: Any) -> Any:
            return self._ask(name, known)

        self.__dict__[name] = function
        return function

    def _ask(self, name: str, known: dict[str, Any]) -> Any:
        asked = self.single.get((name, frozenset(known)))
        if asked is None:
            raise Missing(f"{name}({', '.join(sorted(known))})")
        fixed = self.judge.candidate.declared.assumes
        if any(fixed.get(n, value) != value for n, value in known.items()):
            raise Missing(f"{name} with another value than it assumes")
        if not asked.valid(known):  # a wrong answer before was no value that a law takes
            raise OutsideDomain(name, "a wrong answer", "a valid value")
        try:
            reply = self.judge.reply(asked, known)
        except Skipped as error:
            raise Missing(str(error)) from None
        if not reply.wrong:
            return reply.right
        self.wrong.append(reply)
        return Infeasible(asked.law.name, name, "broken", None, "") if isinstance(reply.got, Nothing) else reply.got


def broken(invariant: Invariant, impl: Adapted, values: Values) -> bool:
    """Say whether a sentence fails at a point.

    Raises:
        Missing: the candidate does not answer what the sentence asks.
        Failed: it gives an answer of no use.
    """
    before = len(impl.wrong)
    try:
        return not invariant.holds(impl, values)
    except (OutsideDomain, ZeroDivisionError, TypeError, AttributeError, ValueError):
        if len(impl.wrong) == before:
            raise
        return True  # it calculates with a wrong answer that no law takes


@cache
def questions_of(invariant: Invariant) -> Mapping[tuple[str, frozenset[str]], str]:
    """Return what a sentence asks, each with the law that answers it, found by asking the laws themselves."""
    impl = Reference()
    for values in sample(invariant.draws, FEW, invariant.id):
        invariant.holds(impl, values)
    return {question: questions()[question].name for question in impl.asked}


def about(names: Collection[str], of: Collection[Law]) -> list[Invariant]:
    """Return the true sentences that exercise none but these functions; of the derived ones those of some laws."""
    had, every = frozenset(names), [*written(), *(one for law in of for one in of_law(law))]
    return [one for one in every if one.refuted is None and one.about and had.issuperset(one.about)]
