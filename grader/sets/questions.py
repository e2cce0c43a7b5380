"""A set as questions of a platform: each part of an exercise is one, and those of one place are variants of it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grader.amounts import spoken
from grader.exercise import NUMERIC, Exercise, Part
from grader.judging import CORRECT, judge
from grader.reading.choice import labels_of
from grader.sets.ranges import Range, plain, ranges
from grader.sets.sheets import Entry, Sheet
from grader.sets.showing import EXAMPLES
from grader.solution import about, answer

NONE_OF_THESE = "None of these"  # stands below all options, so that it tells nothing
_OF_READING = ("A number without a unit", "If no such value exists")  # a platform reads otherwise, and says so itself
_IN_PARTS = re.compile(r" in parts? ([a-h](?:(?:,| and) [a-h])*)\.$")


@dataclass(frozen=True, slots=True)
class Option:
    """One of the answers to choose from, and what to tell whoever chooses it."""

    text: str
    right: bool
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One part of one exercise.

    Attributes:
        place: the number of the exercise, and the letter of the part where it has several: `2b`.
        variant: counts the exercises of the place, from 1.
        points: for this part.
        exercise: with what all its parts share.
        part: what is asked.
        answers: what each number earns; empty where the answer is no number.
        options: what there is to choose from; empty where nothing is chosen. Without either a person must grade it.
    """

    place: str
    variant: int
    points: Fraction
    exercise: Exercise
    part: Part
    answers: tuple[Range, ...]
    options: tuple[Option, ...] = ()

    @property
    def several(self) -> bool:
        """Whether several options may be right."""
        return self.part.kind == "choices"

    @property
    def right(self) -> int:
        """How many options are right."""
        return sum(option.right for option in self.options)


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
            number, points = len(variants) + 1, entry.parts[part.part]
            variants.append(Question(place, number, points, entry.exercise, part, answers, options(part)))
    return [question for variants in places.values() for question in variants]


def options(part: Part) -> tuple[Option, ...]:
    """Return what there is to choose from, and below it that none of it is right; nothing where nothing is chosen."""
    if part.kind not in {"choice", "choices"} or not part.options:
        return ()
    found = [Option(text, text in labels_of(part.key)) for text in part.options]
    if part.kind == "choice":
        judged = [judge(part, text) for text in part.options]
        found = [
            Option(text, each.verdict == CORRECT, tuple(said.sentence for said in each.diagnoses))
            for text, each in zip(part.options, judged, strict=True)
        ]
    return (*found, Option(NONE_OF_THESE, part.key is None))


def convention(question: Question) -> str:
    """Return what of the convention of an exercise holds for this part, wherever it is asked."""
    found = []
    for sentence in re.split(r"(?<=\.) ", question.exercise.convention):
        parts = _IN_PARTS.search(sentence)
        if not sentence.startswith(_of_reading(question)) and (
            not parts or question.part.part in re.findall(r"\b[a-h]\b", parts[1])
        ):
            found.append(_IN_PARTS.sub(".", sentence))
    return " ".join(found)


def _of_reading(question: Question) -> tuple[str, ...]:
    return (*_OF_READING, "Answer with") if question.options else _OF_READING


def right_answer(part: Part) -> str:
    """Write the key for reading: rounded where it has no finite decimal."""
    return about(part) or answer(part)


def rule(part: Part) -> str:
    """Say what is right, to a person who grades."""
    if part.key is None:
        return f"Right is that there is none. {part.reason}".strip()
    if part.kind in EXAMPLES:
        return f"Right is, for example, {answer(part)}. To judge another answer: grade submit."
    if part.kind == "mistake":
        return f"Right is {answer(part)}: half of the points for the line, half for its value."
    return f"Right is whatever equals {right_answer(part)}."


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
    "rule": rule,
}
