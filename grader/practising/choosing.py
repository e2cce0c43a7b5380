"""The choice of the next exercise; the rule stands in `grader.practising`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import count, islice

from grader.exercise import Exercise
from grader.families import family
from grader.ledger import Ledger, Posed
from grader.practising.history import LAST, History, history
from grader.practising.objectives import Objective
from grader.practising.showing import shown
from grader.practising.table import Entry

CANDIDATES = 40  # draws that are looked at, at most
FIRST_SEED = 1


def trained(by: Mapping[str, Entry], objective: Objective, *, drawn: bool = False) -> list[str]:
    """Name the families of an objective; with `drawn` without those that are printed in the chapter."""
    return [slug for slug, entry in by.items() if entry.objective in objective.covers and not (drawn and entry.preset)]


def choose(known: History, by: Mapping[str, Entry], objectives: Iterable[Objective]) -> str | None:
    """Choose the family of the next exercise; None where no family of the objectives can be drawn."""
    wanted = max(
        (each for each in objectives if trained(by, each, drawn=True)),
        key=lambda each: _need(known, trained(by, each)),
        default=None,
    )
    if wanted is None:
        return None
    return max(trained(by, wanted, drawn=True), key=lambda slug: _use(known, slug, by[slug]))


def _need(known: History, families: list[str]) -> Fraction:
    return (LAST + 1 - known.standing(families).right) * known.since(families)


def _use(known: History, slug: str, entry: Entry) -> tuple[bool, bool, int]:
    untested = len(entry.slips - known.tested)
    new = bool(untested) and not known.met(slug)
    return bool(entry.slips & known.made), new, (1 + untested) * known.since([slug])


def pose_next(
    ledger: Ledger, student: str, known: History, by: Mapping[str, Entry], objectives: Iterable[Objective]
) -> Exercise | None:
    """Pose the exercise that the learner needs next; None where no family of the objectives can be drawn.

    Raises:
        LedgerError: it cannot be recorded.
        Undrawable: the family that is needed has no draw left.
    """
    objectives = tuple(objectives)
    while (slug := choose(known, by, objectives)) is not None:
        exercise = draw(known, slug, by[slug])
        if ledger.pose(student, exercise):
            return exercise
        known = history(ledger, student)  # another terminal posed this one just now
    return None


def draw(known: History, slug: str, entry: Entry) -> Exercise:
    """Draw the exercise of a family that the learner needs, which they have not met.

    Raises:
        Undrawable: none can be drawn.
    """
    from grader.posing import Undrawable

    asked = {_text(row.exercise) for row in known.posed if row.family == slug}
    best, worth = None, (False, -1, -1)
    most = (True, len(entry.slips & known.made), len(entry.slips - known.tested))
    for exercise in _candidates(known, slug):
        slips = shown(exercise)
        found = (_text(exercise) not in asked, len(slips & known.made), len(slips - known.tested))
        if found > worth:
            best, worth = exercise, found
        if worth >= most:
            break
    if best is None:
        raise Undrawable(slug, FIRST_SEED, "every draw was met or makes no exercise")
    return best


def _candidates(known: History, slug: str) -> Iterator[Exercise]:
    """Give the next draws that the learner has not met."""
    from grader.posing import Undrawable

    of, met = family(slug), known.met(slug)
    for seed in islice((seed for seed in count(FIRST_SEED) if seed not in met), CANDIDATES):
        with suppress(Undrawable):
            yield of.pose(slug, seed)


def _text(exercise: Exercise) -> tuple[object, ...]:
    return exercise.statement, exercise.givens, tuple((part.question, part.givens) for part in exercise.parts)


def unfinished(ledger: Ledger, known: History, families: Iterable[str]) -> Exercise | None:
    """Return the newest exercise of some families, if a question of it is neither right nor given up."""
    of = set(families)
    row: Posed | None = next((row for row in reversed(known.posed) if row.family in of), None)
    if row is None:
        return None
    exercise = ledger.current(row)
    name = (row.family, row.seed, row.revision)
    return exercise if any((*name, part.part) not in known.closed for part in exercise.parts) else None
