"""Sheets: the exercises that one person gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grader.exercise import Exercise, exact
from grader.families import pose
from grader.posing import Undrawable
from grader.sets.definition import Item, ProblemSet
from grader.stream import Stream

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
    """One exercise of a sheet, numbered from 1."""

    number: int
    points: Fraction
    exercise: Exercise


@dataclass(frozen=True, slots=True)
class Sheet:
    """The exercises of one person; `name` is empty where a sheet is for everybody."""

    title: str
    name: str
    entries: tuple[Entry, ...]

    @property
    def points(self) -> Fraction:
        """All points together."""
        return sum((entry.points for entry in self.entries), Fraction(0))


def sheet(problem_set: ProblemSet, name: str = "") -> Sheet:
    """Draw the sheet of a name; the same set and name always give the same sheet.

    Raises:
        TooFew: an item asks for more exercises than its family has.
        Undrawable: a seed of the set file gives no exercise.
    """
    entries: list[Entry] = []
    seen: set[object] = set()
    for place, item in enumerate(problem_set.items):
        for exercise in _drawn(problem_set.title, name, place, item, seen):
            entries.append(Entry(len(entries) + 1, item.points, exercise))
            seen.add(_content(exercise))
    return Sheet(problem_set.title, name, tuple(entries))


def _drawn(title: str, name: str, place: int, item: Item, seen: set[object]) -> Iterator[Exercise]:
    if item.seed is not None:
        yield pose(item.family, item.seed)
        return
    stream = Stream("set", title, name, place, item.family)
    for _ in range(item.count):
        yield _another(stream, item, seen)


def _another(stream: Stream, item: Item, seen: set[object]) -> Exercise:
    for _ in range(DRAWS_TRIED):
        try:
            exercise = pose(item.family, 1 + stream.below(LARGEST_DRAWN_SEED))
        except Undrawable:
            continue
        if _content(exercise) not in seen:
            return exercise
    raise TooFew(item.family, item.count)


def _content(exercise: Exercise) -> object:
    """Return what makes two exercises the same to a reader."""
    return exercise.family, exercise.statement, exercise.givens, tuple(part.question for part in exercise.parts)


def record(sheets: list[Sheet]) -> str:
    """Return what judging the answers will take, as JSON: every exercise with its key."""
    data: dict[str, Any] = {
        "schema": 1,
        "title": sheets[0].title,
        "sheets": [
            {
                "name": sheet.name,
                "items": [
                    {
                        "number": entry.number,
                        "points": exact(entry.points),
                        "exercise": json.loads(entry.exercise.to_json()),
                    }
                    for entry in sheet.entries
                ],
            }
            for sheet in sheets
        ],
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
