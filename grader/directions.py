"""Directions: each choice of unknown of a family, with its chain, what is printed and the wrong ways through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from grader.family import Ask, Family, OwnSlip
from grader.slips import Found, Given, Values, Variation, variations
from spec.chain import Link, NoDerivation, chain


@dataclass(frozen=True, slots=True)
class Question:
    """One ask with its chain and the wrong ways through it."""

    ask: Ask
    steps: tuple[Link, ...]
    slips: tuple[Variation, ...]


@dataclass(frozen=True, slots=True)
class Direction:
    """One choice of unknowns.

    Attributes:
        questions: what is asked.
        printed: names of the givens, in the order of print.
        target: the quantity of the forward problem that becomes a given here, or None.
        forward: the chain that computes it.
    """

    questions: tuple[Question, ...]
    printed: tuple[str, ...]
    target: Ask | None = None
    forward: tuple[Link, ...] = ()


@cache
def directions(family: Family) -> tuple[Direction, ...]:
    """Return every choice of unknowns, the forward one first."""
    return (_direction(family, family.parts), *(_direction(family, (ask,)) for ask in family.inverse))


def _direction(family: Family, asks: tuple[Ask, ...]) -> Direction:
    pool = family.given.names - {ask.quantity.name for ask in asks}
    target: Ask | None = None
    forward: tuple[Link, ...] = ()
    try:
        chains = [chain(ask.quantity.name, pool, family.by) for ask in asks]
    except NoDerivation:
        if asks == family.parts:
            raise
        target = family.parts[0]
        forward = chain(target.quantity.name, family.given.names, family.by)
        pool |= {target.quantity.name}
        chains = [chain(ask.quantity.name, pool, family.by) for ask in asks]
    printed = _printed(family, pool, chains)
    units = _units(family, printed, target)
    questions = tuple(
        Question(ask, steps, (*variations(steps, units, frozenset(pool), ask.answer_unit), *_own(family, ask)))
        for ask, steps in zip(asks, chains, strict=True)
    )
    return Direction(questions, printed, target, forward)


def _printed(family: Family, pool: frozenset[str], chains: list[tuple[Link, ...]]) -> tuple[str, ...]:
    needed = {name for steps in chains for step in steps for name in step.needs}
    needed |= {name for law in family.requires for name in law.symbols}
    needed |= {quantity.name for quantity in family.also}
    order = [*family.given.names_in_order, *(ask.quantity.name for ask in family.parts)]
    return tuple(name for name in order if name in needed & pool)


def _units(family: Family, printed: tuple[str, ...], target: Ask | None) -> dict[str, str]:
    amounts = family.given.at(0).amounts
    own = {} if target is None else {target.quantity.name: target.answer_unit}
    return {name: own.get(name) or amounts[name].unit.name for name in printed}


def _own(family: Family, ask: Ask) -> list[Variation]:
    return [Variation(s.slug, s.sentence, _ignoring_print(s)) for s in family.slips if s.asks in (None, ask.quantity)]


def _ignoring_print(slip: OwnSlip) -> Callable[[Values, Given], Found]:
    def value(values: Mapping[str, object], given: Given) -> Found:  # noqa: ARG001  one signature for all
        return slip.value(values)  # type: ignore[arg-type]  # the values of a draw are exact numbers

    return value
