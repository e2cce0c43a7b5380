"""Sheets: the exercises that one person gets, and the record by which their answers are judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.exercise import Exercise, exact
from grader.families import pose
from grader.posing import Undrawable
from grader.sets.definition import Item, ProblemSet
from grader.sets.telling import Numbers
from grader.sets.tolerance import reached, with_tolerance
from spec.stream import Stream

SCHEMA = 1  # of the key file
LARGEST_DRAWN_SEED = 10**12
DRAWS_TRIED = 50


class TooFew(ValueError):
    """A family does not have as many different exercises as an item asks for."""

    def __init__(self, family: str, count: int) -> None:
        super().__init__(family, count)
        self.family, self.count = family, count

    def __str__(self) -> str:
        return f"{self.family} does not have {self.count} different exercises to draw; ask for fewer."


@dataclass(frozen=True, slots=True)
class Entry:
    """One exercise of a sheet, numbered from 1. `parts` are the points of each part, by its letter."""

    number: int
    points: Fraction
    exercise: Exercise
    parts: Mapping[str, Fraction]

    @classmethod
    def of(cls, number: int, item: Item, exercise: Exercise) -> Entry:
        """Return the entry of an exercise that was drawn for an item.

        Raises:
            Reaches: the tolerance of the item comes too close to one of its slips.
        """
        letters = [part.part for part in exercise.parts]
        shares = dict(item.parts) or dict.fromkeys(letters, item.points / len(letters))
        return cls(number, item.points, with_tolerance(exercise, item.tolerance), shares)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The exercises of one person.

    Attributes:
        title: of the set.
        student: the code of the student; empty where a sheet is for everybody.
        entries: the exercises.
        name: for the head of the sheet; may be empty. It stands nowhere else.
    """

    title: str
    student: str
    entries: tuple[Entry, ...]
    name: str = ""

    @property
    def points(self) -> Fraction:
        """All points together."""
        return sum((entry.points for entry in self.entries), Fraction(0))

    def stem(self, kind: str) -> str:
        """Return what its files are called: the code, or `kind` (`sheet` or `key`) where it is for everybody."""
        return self.student or kind


def sheet(problem_set: ProblemSet) -> Sheet:
    """Draw the sheet that is for everybody; the same set always gives the same.

    Raises:
        TooFew: an item asks for more exercises than its family has.
        Undrawable: a seed of the set file gives no exercise.
    """
    entries: list[Entry] = []
    seen: set[object] = set()
    beside: list[Numbers] = []
    for place, item in enumerate(problem_set.items):
        for exercise in _drawn(problem_set.title, place, item, seen, beside):
            entries.append(Entry.of(len(entries) + 1, item, exercise))
            seen.add(content(exercise))
            beside.append(Numbers.of(exercise))
    return Sheet(problem_set.title, "", tuple(entries))


def _drawn(title: str, place: int, item: Item, seen: set[object], beside: Sequence[Numbers]) -> Iterator[Exercise]:
    if item.seed is not None:
        yield pose(item.family, item.seed)
        return
    stream = Stream("set", title, "", place, item.family)
    for _ in range(item.count):
        yield _another(stream, item, seen, beside)


def _another(stream: Stream, item: Item, seen: set[object], beside: Sequence[Numbers]) -> Exercise:
    for _ in range(DRAWS_TRIED):
        try:
            exercise = pose(item.family, 1 + stream.below(LARGEST_DRAWN_SEED))
        except Undrawable:
            continue
        if content(exercise) in seen or reached(exercise, item.tolerance):
            continue
        numbers = Numbers.of(exercise)
        if not any(numbers.tells(other) for other in beside):
            return exercise
    raise TooFew(item.family, item.count)


def content(exercise: Exercise) -> object:
    """Return what makes two exercises the same to a reader."""
    return exercise.family, exercise.statement, exercise.givens, tuple(part.question for part in exercise.parts)


def record(problem_set: ProblemSet, sheets: Iterable[str]) -> Iterator[str]:
    """Give the text of a key file: a JSON object, each sheet of it on a line of its own (`record_of`)."""
    head = {"schema": SCHEMA, "title": problem_set.title, "policy": problem_set.policy.to_data(), "sheets": []}
    yield json.dumps(head, ensure_ascii=False).removesuffix("]}") + "\n"
    for number, line in enumerate(sheets):
        yield ",\n" * bool(number) + line
    yield "\n]}\n"


def record_of(sheet: Sheet) -> str:
    """Return what judging the answers to a sheet will take, as one line of JSON: every exercise with its key."""
    items = [
        {
            "number": entry.number,
            "points": exact(entry.points),
            "parts": {letter: exact(points) for letter, points in entry.parts.items()},
            "exercise": json.loads(entry.exercise.to_json()),
        }
        for entry in sheet.entries
    ]
    return json.dumps({"student": sheet.student, "items": items}, ensure_ascii=False, separators=(",", ":"))
