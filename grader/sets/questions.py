"""A set as questions of a platform: each part of an exercise is one, and those of one place are variants of it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grader.amounts import spoken
from grader.exercise import Exercise, Part
from grader.sets.ranges import NUMERIC, Range, plain, ranges
from grader.sets.sheets import Entry, Sheet
from grader.solution import about, answer

_OF_READING = ("A number without a unit", "If no such value exists")  # a platform reads otherwise, and says so itself
_IN_PARTS = re.compile(r" in parts? ([a-h](?: and [a-h])*)\.$")


@dataclass(frozen=True, slots=True)
class Question:
    """One part of one exercise.

    Attributes:
        place: the number of the exercise, and the letter of the part where it has several: `2b`.
        variant: counts the exercises of the place, from 1.
        points: for this part.
        exercise: with what all its parts share.
        part: what is asked.
        answers: what each number earns; empty where the answer is no number, and a person must grade it.
    """

    place: str
    variant: int
    points: Fraction
    exercise: Exercise
    part: Part
    answers: tuple[Range, ...]


def pool(sheets: Iterable[Sheet]) -> Sheet | None:
    """Return the exercises of all sheets as one sheet for everybody, each once, by place; None where there is none."""
    title = ""
    entries: dict[tuple[int, str], Entry] = {}
    for sheet in sheets:
        title = sheet.title
        for entry in sheet.entries:
            entries.setdefault((entry.number, entry.exercise.id), entry)
    return Sheet(title, "", tuple(sorted(entries.values(), key=lambda entry: entry.number))) if entries else None


def questions(sheet: Sheet) -> list[Question]:
    """Return the questions of a sheet, those of one place one after the other."""
    places: dict[str, list[Question]] = {}
    for entry in sheet.entries:
        several = len(entry.exercise.parts) > 1
        for part in entry.exercise.parts:
            place = f"{entry.number}{part.part * several}"
            variants = places.setdefault(place, [])
            answers = ranges(part) if part.kind in NUMERIC else ()
            variants.append(Question(place, len(variants) + 1, entry.parts[part.part], entry.exercise, part, answers))
    return [question for variants in places.values() for question in variants]


def convention(question: Question) -> str:
    """Return what of the convention of an exercise holds for this part, wherever it is asked."""
    found = []
    for sentence in re.split(r"(?<=\.) ", question.exercise.convention):
        parts = _IN_PARTS.search(sentence)
        if not sentence.startswith(_OF_READING) and (not parts or question.part.part in parts[1].split(" and ")):
            found.append(_IN_PARTS.sub(".", sentence))
    return " ".join(found)


def right_answer(part: Part) -> str:
    """Write the key for reading: rounded where it has no finite decimal."""
    return about(part) or answer(part)


def in_plural(name: str) -> str:
    """Write a unit as after a number: `tokens`, `requests/min`, `GB`; nothing where it is silent."""
    return spoken(2, name).removeprefix("2").strip() if name else ""


FILTERS: Mapping[str, Callable[..., Any]] = {  # that the templates of platforms share
    "convention": convention,
    "escaped": html.escape,
    "in_plural": in_plural,
    "plain": plain,
    "questions": questions,
    "right_answer": right_answer,
}
