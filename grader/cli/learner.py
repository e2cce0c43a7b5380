"""A student with the ledger of what they were asked: where commands find their exercises."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from grader.cli.address import PRESET_SEED, Address
from grader.cli.output import Refused

if TYPE_CHECKING:
    from grader.exercise import Exercise, Part
    from grader.families import Poses
    from grader.ledger import Ledger


class Learner:
    """A student, and the open ledger with their rows."""

    def __init__(self, ledger: Ledger, student: str) -> None:
        self.ledger, self.student = ledger, student

    def exercise(self, address: Address) -> Exercise:
        """Return the exercise as it was posed, or else draw it, without recording it.

        Raises:
            Refused: there is no such exercise.
        """
        seed = PRESET_SEED if address.seed is None else address.seed
        posed = self.ledger.posed(self.student, address.family, seed, address.revision)
        if posed:
            return posed
        found = family(address.family)
        if address.seed is None and not found.preset:
            raise Refused(self._which(address.family))
        if address.revision not in {None, found.revision}:
            raise Refused(
                f"{address.family}@{address.revision} was never posed here, and this version draws revision "
                f"{found.revision}; try {address.family}/{seed}."
            )
        return drawn(found, address.family, seed)

    def pose(self, exercise: Exercise) -> Exercise:
        """Record an exercise as shown."""
        self.ledger.pose(self.student, exercise)
        return exercise

    def ids(self) -> list[str]:
        """Return the ids of all that was posed, the oldest first."""
        from grader.ledger import Posed

        rows = self.ledger.rows(self.student)
        return list(dict.fromkeys(shown(row.family, row.seed) for row in rows if isinstance(row, Posed)))

    def _which(self, slug: str) -> str:
        met = [i for i in self.ids() if i.startswith(f"{slug}/")][-3:]
        return f"{slug} needs a seed: {' or '.join(met) or f'{slug}/7'}; `grade new {slug}` poses a new one."


@contextmanager
def learner(ledger: str | None, student: str | None) -> Iterator[Learner]:
    """Open the ledger that is meant, for the student who is meant.

    Raises:
        Refused: the ledger cannot be used.
    """
    from grader.ledger import Ledger, LedgerError, ledger_path, student_name

    try:
        with Ledger.open(ledger_path(ledger, os.environ)) as opened:
            yield Learner(opened, student_name(student, os.environ))
    except LedgerError as error:
        raise Refused(str(error)) from error


def family(slug: str) -> Poses:
    """Load a family.

    Raises:
        Refused: there is none of that name.
    """
    from grader.families import UnknownFamily
    from grader.families import family as load

    try:
        return load(slug)
    except UnknownFamily as error:
        raise Refused(str(error)) from error


def drawn(found: Poses, slug: str, seed: int) -> Exercise:
    """Draw the exercise of a seed.

    Raises:
        Refused: this seed gives none.
    """
    from grader.posing import Undrawable

    try:
        return found.pose(slug, seed)
    except Undrawable as error:
        raise Refused(f"{slug} has no exercise for seed {seed} ({error.reason}); take another seed.") from error


def part_of(exercise: Exercise, letter: str | None) -> Part:
    """Return the part that is meant.

    Raises:
        Refused: there are several and none is named, or there is none of that name.
    """
    letters = [part.part for part in exercise.parts]
    if letter is None and len(letters) == 1:
        return exercise.parts[0]
    if letter is None or letter.lower() not in letters:
        asked = f"has no part {letter!r}" if letter else "has several parts"
        raise Refused(f"{exercise.id} {asked}; say which with {' or '.join(f'--part {p}' for p in letters)}.")
    return exercise.part(letter.lower())


def shown(slug: str, seed: int) -> str:
    """Return the id to type: `max-context/10`, and the name alone for an exercise of the chapter."""
    return slug if seed == PRESET_SEED else f"{slug}/{seed}"


def posed_ids(params: Mapping[str, Any]) -> list[str]:
    """Return the ids on the ledger of a command line that is being typed; none where there is no ledger yet."""
    from grader.ledger import LedgerError, ledger_path

    try:
        if not os.path.exists(ledger_path(params.get("ledger"), os.environ)):  # noqa: PTH110  as in grader.ledger
            return []
        with learner(params.get("ledger"), params.get("student")) as who:
            return who.ids()
    except (Refused, LedgerError):
        return []
