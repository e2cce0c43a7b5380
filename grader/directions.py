"""Directions: each choice of unknown of a family, with its chain, what is printed and the wrong ways through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from grader.amounts import Amount, Fractions
from grader.family import Ask, Family, OwnSlip
from grader.menu import entry
from grader.paths import Path, Values
from grader.slips import Found, Variation, Wrong, variations
from spec.chain import Link, NoDerivation, chain
from spec.laws import Law
from spec.solving import Exact, whole


@dataclass(frozen=True, slots=True)
class Question:
    """One ask with its chain and the wrong ways through it.

    Attributes:
        ask: what is asked.
        steps: the chain; empty where only the family's requirements speak of the unknown.
        slips: the wrong ways.
        at: the givens of this question alone: as printed, and in the unit of the quantity.
        factor: how many units of the answer the unit of the quantity is.
        capacity: the answer is the largest count allowed, so that zero says the same as none.
    """

    ask: Ask
    steps: tuple[Link, ...]
    slips: tuple[Variation, ...]
    at: Mapping[str, tuple[Amount, Exact]]
    factor: Exact
    capacity: bool


@dataclass(frozen=True, slots=True)
class Direction:
    """One choice of unknowns.

    Attributes:
        questions: what is asked.
        pool: names of everything that has a value.
        printed: names of the givens, in the order of print.
        target: the quantity of the forward problem that becomes a given here, or None.
        forward: the path that computes it.
    """

    questions: tuple[Question, ...]
    pool: frozenset[str]
    printed: tuple[str, ...]
    target: Ask | None = None
    forward: Path | None = None


@cache
def directions(family: Family) -> tuple[Direction, ...]:
    """Return every choice of unknowns, the forward one first."""
    return (_direction(family, family.parts), *(_direction(family, (ask,)) for ask in family.inverse))


def _direction(family: Family, asks: tuple[Ask, ...]) -> Direction:
    unknown = {quantity.name for ask in asks for quantity in (ask.quantity, *ask.hides)}
    own = {quantity.name for ask in asks for quantity in ask.at}
    pool = family.given.names - unknown | own
    target: Ask | None = None
    forward: Path | None = None
    try:
        chains = [_chain(ask, pool, family) for ask in asks]
    except NoDerivation:
        if asks == family.parts:
            raise
        target = family.parts[0]
        forward = Path(chain(target.quantity.name, family.given.names, family.by))
        pool |= {target.quantity.name}
        chains = [_chain(ask, pool, family) for ask in asks]
    needed = _needed(family, chains) & pool
    printed = tuple(name for name in _in_order(family) if name in needed - own)
    units = _units(family, printed, target)
    questions = tuple(_question(family, ask, steps, units, pool) for ask, steps in zip(asks, chains, strict=True))
    return Direction(questions, pool, printed, target, forward)


def _chain(ask: Ask, pool: frozenset[str], family: Family) -> tuple[Link, ...]:
    if not any(ask.quantity.name in law.symbols for law in family.by):
        return ()  # only the requirements speak of it
    return chain(ask.quantity.name, pool, family.by)


def _needed(family: Family, chains: list[tuple[Link, ...]]) -> frozenset[str]:
    needed = {name for steps in chains for step in steps for name in step.needs}
    needed |= {name for law in family.requires for name in law.symbols}
    return frozenset(needed | {quantity.name for quantity in family.also})


def _in_order(family: Family) -> list[str]:
    return list(dict.fromkeys([*family.given.names_in_order, *(ask.quantity.name for ask in family.parts)]))


def _units(family: Family, printed: tuple[str, ...], target: Ask | None) -> dict[str, str]:
    amounts = family.given.at(0).amounts
    own = {} if target is None else {target.quantity.name: target.answer_unit}
    return {name: own.get(name) or amounts[name].unit.name for name in printed}


def _question(
    family: Family, ask: Ask, steps: tuple[Link, ...], units: Mapping[str, str], pool: frozenset[str]
) -> Question:
    at = {quantity.name: entry(quantity.name, choice) for quantity, choice in ask.at.items()}
    given = {**units, **{name: written.unit.name for name, (written, _) in at.items()}}
    return Question(
        ask,
        steps,
        (*variations(steps, given, pool, ask.answer_unit), *_own(family, ask)),
        at,
        whole(ask.quantity.unit.factor / ask.in_unit.factor),
        ask.kind == "count" and (not steps or _is_maximum(steps[-1].law, steps[-1].gives)),
    )


def _is_maximum(law: Law, name: str) -> bool:
    return not law.is_identity and law.senses[name] == -1


def _own(family: Family, ask: Ask) -> list[Variation]:
    return [
        Variation(slip.slug, slip.sentence, value, _where_it_leads_somewhere(value))
        for slip in family.slips
        if slip.asks in (None, ask.quantity)
        for value in [_of_own(slip)]
    ]


def _of_own(slip: OwnSlip) -> Wrong:
    def value(values: Values) -> Found:
        try:
            return slip.value(Fractions(values))
        except (KeyError, ZeroDivisionError):  # a step that has no value here
            return None

    return value


def _where_it_leads_somewhere(wrong: Wrong) -> Callable[[Values], bool]:
    return lambda values: wrong(values) is not None
