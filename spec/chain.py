"""From what is known to what is asked: finding the laws that lead there, and following them.

A chain is found, not written: laws that give a quantity directly come first, then the one law that is solved for the
goal, then any law with a single unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spec import solving
from spec.laws import Law
from spec.solving import Exact, Infeasible

Values = dict[str, Exact]


class NoDerivation(ValueError):
    """The goal does not follow from what is known.

    Attributes:
        goal: the quantity asked for.
        missing: the fewest further quantities that would give it by one law.
    """

    def __init__(self, goal: str, missing: tuple[str, ...]) -> None:
        super().__init__(goal, missing)
        self.goal, self.missing = goal, missing

    def __str__(self) -> str:
        return f"{self.goal} needs {', '.join(self.missing)}" if self.missing else f"no law gives {self.goal}"


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a chain: `law`, solved for the quantity `gives`."""

    law: Law
    gives: str

    @property
    def direct(self) -> bool:
        """Say whether the law gives this quantity without being solved."""
        return self.law.is_identity and self.law.left.name == self.gives

    @property
    def rank(self) -> int:
        """Order steps that give the same quantity.

        0 direct, 1 an equation solved for it, 2 the extreme of a bound, 3 an equation searched for a whole number,
        which few values have.
        """
        if self.direct:
            return 0
        searched = solving.route(self.law, self.law.symbols[self.gives]).method == "bisection"
        return 2 if not self.law.is_identity else 3 if searched else 1

    @property
    def needs(self) -> set[str]:
        """The quantities that must be known before this step."""
        return set(self.law.symbols) - {self.gives}

    def follow(self, values: Values) -> Exact | Infeasible:
        """Return the value of this step; a joint condition of the law that the values break leaves none."""
        known = values if self.gives not in values else without(values, self.gives)
        for condition in self.law.conditions:
            missed = condition.missed_by(known)
            if missed is not None:
                return Infeasible(self.law.name, self.gives, "broken", missed, condition.unit)
        return solving.solve(self.law, self.gives, known)


def without(values: Mapping[str, Exact], name: str) -> Values:
    """Return the values without one of them."""
    return {n: v for n, v in values.items() if n != name}


def in_force(laws: Iterable[Law], known: Iterable[str]) -> list[Law]:
    """Leave out the laws that another one supersedes, given what is known."""
    names = frozenset(known)
    return [law for law in laws if names.isdisjoint(symbol.name for symbol in law.superseded_by)]


def closure(
    known: Iterable[str], laws: Sequence[Law], *, goal: str = "", invert: bool = False
) -> dict[str, Link | None]:
    """Return everything that follows from what is known, each with the step that gives it (None for the givens).

    The search ends at the goal, so it is never a step towards others. With `invert`, laws are also solved for their
    only unknown, once nothing more follows directly, and bounds once no equation helps.
    """
    reached: dict[str, Link | None] = dict.fromkeys(known)
    while goal not in reached:
        new: dict[str, Link] = {}
        for link in _next(reached, laws, invert=invert):
            best = new.get(link.gives)
            new[link.gives] = link if best is None or link.rank < best.rank else best
        first = min((link.rank for link in new.values()), default=0)
        if not new:
            break
        reached.update({name: link for name, link in new.items() if link.rank == first})
    return reached


def _next(reached: Mapping[str, Link | None], laws: Sequence[Law], *, invert: bool) -> Iterator[Link]:
    for law in laws:
        unknown = [name for name in law.symbols if name not in reached]
        if len(unknown) == 1:
            link = Link(law, unknown[0])
            if link.direct or (invert and _solvable(law, unknown[0])):
                yield link


def _solvable(law: Law, name: str) -> bool:
    return solving.route(law, law.symbols[name]).method != "not invertible"


def chain(goal: str, known: Iterable[str], laws: Sequence[Law], *, superseded: bool = False) -> tuple[Link, ...]:
    """Find the steps from what is known to the goal, in order, and nothing beside them.

    Laws that something known supersedes are no steps, unless `superseded` says so.

    Raises:
        NoDerivation: no chain of laws leads there.
    """
    known = tuple(known)
    laws = laws if superseded else in_force(laws, known)
    reached = closure(known, laws, goal=goal)
    if goal not in reached:
        ready = [
            Link(law, goal) for law in laws if goal in law.symbols and law.symbols.keys() - {goal} <= reached.keys()
        ]
        last = min((link for link in ready if _solvable(link.law, goal)), key=lambda link: link.rank, default=None)
        reached = reached | {goal: last} if last else closure(known, laws, goal=goal, invert=True)
    if goal not in reached:
        raise NoDerivation(goal, _missing(goal, reached, laws))
    steps: list[Link] = []
    _collect(goal, reached, steps)
    return tuple(steps)


def _collect(name: str, reached: Mapping[str, Link | None], steps: list[Link]) -> None:
    link = reached[name]
    if link is None or link in steps:
        return
    for needed in sorted(link.needs):
        _collect(needed, reached, steps)
    steps.append(link)


def _missing(goal: str, reached: Mapping[str, Link | None], laws: Sequence[Law]) -> tuple[str, ...]:
    options = [
        tuple(n for n in law.symbols if n not in reached and n != goal)
        for law in laws
        if goal in law.symbols and _solvable(law, goal)
    ]
    return min(options, key=len, default=())


def follow(steps: Sequence[Link], values: Values) -> dict[str, Exact | Infeasible]:
    """Follow the steps from the given values; the last value is Infeasible if any step is.

    Returns the givens, every intermediate value and the goal.
    """
    found: dict[str, Exact | Infeasible] = dict(values)
    numbers = dict(values)
    for step in steps:
        result = step.follow(numbers)
        found[step.gives] = result
        if isinstance(result, Infeasible):
            found[steps[-1].gives] = result
            break
        numbers[step.gives] = result
    return found
