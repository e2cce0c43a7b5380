"""The implementation that the specification itself is: every function answered by solving a law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol

from spec.index import laws
from spec.laws import Law
from spec.solving import Exact, Infeasible, NotInvertible

Question = tuple[str, frozenset[str]]
Answer = Exact | Infeasible | bool


class Unanswered(LookupError):
    """No law answers this question; for a changed law, it does not contain the quantity or is not solved for it."""


class Solver(Protocol):
    """What stands in for a law: the law itself, a mutant or a slip."""

    @property
    def symbols(self) -> Mapping[str, Any]:
        """The quantities it relates, by name."""

    def solve(self, name: str, /, **known: Any) -> Exact | Infeasible:
        """Find one quantity from all others."""

    def __call__(self, **known: Any) -> Any:
        """Say whether values satisfy it."""


@cache
def questions() -> dict[Question, Law]:
    """Say which law answers a function called with some keywords.

    A bound is also a function of its own name, which says whether values satisfy it. Where several laws could answer,
    the one that gives the quantity directly comes first, then a bound (an extreme value), then a solved equation.
    """
    ranked = [
        (0 if law.is_identity and law.left.name == name else 2 if law.is_identity else 1, (name, given), law)
        for law in laws().values()
        for name in law.symbols
        if law.symbols[name] not in law.not_invertible and not _open_ended(law, name)
        for given in [frozenset(law.symbols) - {name}]
    ]
    found: dict[Question, Law] = {
        (law.name, frozenset(law.symbols)): law for law in laws().values() if not law.is_identity
    }
    for _, question, law in sorted(ranked, key=lambda entry: entry[0]):
        found.setdefault(question, law)
    return found


def _open_ended(law: Law, name: str) -> bool:
    """Say whether a strict bound on an amount leaves no extreme value to answer with."""
    return law.relation == "<" and not law.symbols[name].domain.integer


@cache
def answerable() -> frozenset[str]:
    """Return the names of all functions."""
    return frozenset(name for name, _ in questions())


class Reference:
    """An implementation made of the laws, in which some laws can be replaced to see who notices.

    Attributes:
        replace: what stands in for a law, by the law's name.
        ambient: values of further quantities that a replacement needs and nobody passes.
        asked: the questions answered so far.
    """

    def __init__(self, replace: Mapping[str, Solver] | None = None, ambient: Mapping[str, Exact] | None = None) -> None:
        self.replace, self.ambient = dict(replace or {}), dict(ambient or {})
        self.asked: dict[Question, Callable[..., Answer]] = {}

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        """Return the function that gives a quantity from keywords."""
        if name not in answerable():
            raise AttributeError(name)

        def function(**known: Exact) -> Answer:
            question = name, frozenset(known)
            answer = self.asked.get(question) or self.asked.setdefault(question, self._answer(question))
            return answer(**known)

        self.__dict__[name] = function
        return function

    def _answer(self, question: Question) -> Callable[..., Answer]:
        name, given = question
        if question not in questions():
            raise Unanswered(f"no law gives {name} from {', '.join(sorted(given))}")
        law = questions()[question]
        solver = self.replace.get(law.name, law)
        test = name == law.name and not law.is_identity
        if not test and name not in solver.symbols:
            raise Unanswered(f"{law.name} does not give {name}")
        asked = _tested(solver) if test else solver.solve
        if solver.symbols.keys() == law.symbols.keys():
            return lambda **known: _answered(asked, name, known)
        dropped = given - solver.symbols.keys()
        added = {n: self.ambient[n] for n in solver.symbols.keys() - given - {name}}

        def changed(**known: Exact) -> Answer:
            for n in dropped:
                del known[n]
            return _answered(asked, name, known | added)

        return changed


def _tested(solver: Solver) -> Callable[..., Answer]:
    return lambda _, **known: bool(solver(**known))


def _answered(asked: Callable[..., Answer], name: str, known: dict[str, Exact]) -> Answer:
    try:
        return asked(name, **known)
    except NotInvertible as error:
        raise Unanswered(str(error)) from error
