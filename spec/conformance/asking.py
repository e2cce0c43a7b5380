"""What a candidate can be asked: each of its functions, with the law or the chain of laws that answers it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from spec.chain import Link, NoDerivation, chain
from spec.conformance import padding
from spec.conformance.candidate import Candidate
from spec.conformance.declared import known, suggestion
from spec.index import laws
from spec.invariants.reference import questions
from spec.laws import Law
from spec.solving import Exact, Infeasible, NotInvertible, whole

Values = Mapping[str, Exact]
Right = Exact | Infeasible | bool


class NoPoint(ValueError):
    """The laws say nothing about these values: a joint condition does not hold, or every answer is right."""


class NotWhole(NoPoint):
    """A count would be a fraction, `value` where that is known."""

    def __init__(self, value: Exact | None) -> None:
        super().__init__("no whole number solves it")
        self.value = value


@dataclass(frozen=True, eq=False)
class Asked:
    """One function of the candidate, called with one set of keywords.

    Attributes:
        name: the function: a quantity, or a bound that is to be judged.
        given: the quantities that it is told or assumes, in a fixed order.
        passed: those of them that it is told.
        steps: the laws that lead to the quantity, in order; none where a bound is judged.
        law: the law that gives the answer, the last of the steps.
    """

    name: str
    given: tuple[str, ...]
    passed: frozenset[str]
    steps: tuple[Link, ...]
    law: Law

    @property
    def laws(self) -> tuple[str, ...]:
        """Every law that the answer follows from."""
        return tuple(step.law.name for step in self.steps) or (self.law.name,)

    @property
    def call(self) -> str:
        """The call as one writes it, without values."""
        return f"{self.name}({', '.join(n for n in self.given if n in self.passed)})"

    @cached_property
    def counts(self) -> bool:
        """Whether the answer is a whole number."""
        return bool(self.steps) and known()[self.name].domain.integer

    @property
    def inverse(self) -> str:
        """The left side of an equation that is solved for another quantity, or ""."""
        solved = len(self.steps) == 1 and self.law.is_identity and self.law.left.name in self.given
        return str(self.law.left.name) if solved else ""

    def valid(self, values: Values) -> bool:
        """Say whether every value lies in the domain of its quantity."""
        return all(values[name] in known()[name].domain for name in self.given)

    def right(self, values: Values) -> Right:
        """Return the right answer.

        Raises:
            NoPoint: the laws say nothing about these values.
        """
        if not self.steps:
            self._keep(self.law, values)
            return bool(self.law(**{name: values[name] for name in self.law.symbols}))
        return self.followed(self.steps, values)

    def followed(self, steps: tuple[Link, ...], values: Values, *, raw: bool = False) -> Exact | Infeasible:
        """Return where steps lead, of which some may be wrong.

        What a formula gives is taken as it is where it is asked for `raw`, a negative amount too.

        Raises:
            NoPoint: as for `right`, or a step divides by zero.
        """
        numbers = dict(values)
        for step in steps:
            self._keep(step.law, {n: v for n, v in numbers.items() if n != step.gives})
            try:
                found = whole(step.law.bodies[1](**numbers)) if raw and step.direct else step.follow(numbers)
            except (NotInvertible, ZeroDivisionError) as error:
                raise NoPoint(str(error)) from None
            if isinstance(found, Infeasible):
                if _is_fraction(found, step):
                    raise NotWhole(found.deficit if found.why == "not-whole" else None)
                return found
            numbers[step.gives] = found
        return numbers[steps[-1].gives]

    @staticmethod
    def _keep(law: Law, values: Values) -> None:
        if any(condition.missed_by(values) is not None for condition in law.conditions):
            raise NoPoint(law.name)


def _lacking(name: str, told: Collection[str]) -> list[str]:
    """Return the fewest quantities that would do, of a law that gives it directly where there is one."""
    every = [(given, law) for given, law in _questions_of(name) if law.name != name or law.is_identity]
    direct = [given for given, law in every if law.is_identity and law.left.name == name]
    options = [sorted(given.difference(told)) for given in direct or [given for given, _ in every]]
    return min(options, key=len, default=[])


def _is_fraction(found: Infeasible, step: Link) -> bool:
    """Say whether an equation for a count is solved by a fraction, which is no answer but no wrong one either."""
    if found.why == "not-whole":
        return True
    counts = step.law.is_identity and step.law.symbols[step.gives].domain.integer
    return counts and found.why in {"below", "above"} and (found.deficit or 0).denominator != 1


def asked(candidate: Candidate) -> tuple[list[Asked], dict[str, str]]:
    """Return everything a candidate can be asked, and of each function that cannot be asked the reason."""
    found: list[Asked] = []
    unasked: dict[str, str] = {}
    for name in dict.fromkeys([*known(), *(law.name for law in laws().values() if not law.is_identity)]):
        if candidate.takes(name) and not (name == padding.FUNCTION and padding.applies(candidate)):
            of_name = list(_single(candidate, name))
            if not of_name:
                of_name, why = _chained(candidate, name)
                unasked |= {name: why} if why else {}
            found += of_name
    return found, unasked


def _single(candidate: Candidate, name: str) -> Iterator[Asked]:
    """Give the calls that one law answers; where two look alike to the candidate, the one that assumes least."""
    fixed, ways = candidate.declared.assumes, candidate.takes(name)
    best: dict[frozenset[str], Asked] = {}
    if name in fixed:
        return
    for given, law in _questions_of(name):
        passed = frozenset(given - fixed.keys())
        if any(way.accepts(passed) for way in ways):
            steps = () if name == law.name and not law.is_identity else (Link(law, name),)
            before = best.get(passed)
            if before is None or len(given) < len(before.given):
                best[passed] = Asked(name, tuple(sorted(given)), passed, steps, law)
    yield from best.values()


@cache
def _questions_of(name: str) -> list[tuple[frozenset[str], Law]]:
    return [(given, law) for (gives, given), law in questions().items() if gives == name]


def _chained(candidate: Candidate, name: str) -> tuple[list[Asked], str]:
    """Find the laws that lead from what a function takes to what it gives."""
    if name not in known():
        law = laws()[name]
        return [], f"it does not take {', '.join(law.symbols)}"
    found, why = [], ""
    for way in candidate.takes(name):
        passed = frozenset(n for n in way.required | way.optional if n in known())
        strange = sorted(way.required - passed)
        if strange:
            why = f"it takes {strange[0]!r}, which is no quantity{suggestion(strange[0], known())}"
            continue
        told = passed | (candidate.declared.assumes.keys() - {name})
        if name in passed:
            why = "it takes what it gives"
            continue
        try:
            steps = chain(name, sorted(told), list(laws().values()))
        except NoDerivation:
            lacking = ", ".join(_lacking(name, told))
            why = f"it would also need {lacking}, as a keyword or in ASSUMES" if lacking else "no law gives it"
            continue
        given = {n for step in steps for n in step.needs} & told | passed
        found.append(Asked(name, tuple(sorted(given)), passed, steps, steps[-1].law))
    return found, "" if found else why
