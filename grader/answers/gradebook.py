"""The gradebook: for each student and part, the answer that counts, its verdict and its points."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TextIO

from grader.answers.key import Key, KeyItem
from grader.exercise import Part, exact
from grader.feedback import message
from grader.judging import INVALID, judge
from grader.tables import guarded

MISSING = "missing"  # the verdict where nothing was handed in
HEADER = ("student", "item", "part", "answer", "read as", "verdict", "points", "of", "why")
DECIMALS = 10**4  # points are printed to so many parts


@dataclass(frozen=True, slots=True)
class Line:
    """One part of one student. `points` are exact; `verdict` is that of judging, or `missing`."""

    student: str
    item: int
    part: str
    answer: str
    reading: str
    verdict: str
    points: Fraction
    of: Fraction
    why: str


@dataclass(slots=True)
class Total:
    """What the lines of one student come to, or of all."""

    points: Fraction = Fraction(0)
    of: Fraction = Fraction(0)
    correct: int = 0
    wrong: int = 0
    unread: int = 0
    missing: int = 0

    def add(self, line: Line) -> None:
        """Count a line."""
        self.points += line.points
        self.of += line.of
        self.correct += line.verdict == "correct"
        self.wrong += line.verdict in {"partial", "incorrect"}
        self.unread += line.verdict == INVALID
        self.missing += line.verdict == MISSING


class Gradebook:
    """The answers that count. Of each it holds the text alone: memory grows with the class, not with its answers."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._counted: dict[str, dict[tuple[int, str], tuple[str, bool]]] = {}

    def enter(self, student: str, item: int, part: str, text: str, *, readable: bool) -> None:
        """Enter an answer: the last that can be read counts, and where none can, the last."""
        parts = self._counted.setdefault(student, {})
        if readable or not parts.get((item, part), ("", False))[1]:
            parts[item, part] = (text, readable)

    def know(self, student: str) -> None:
        """Note that a student handed something in, though nothing of it counts."""
        self._counted.setdefault(student, {})

    @property
    def students(self) -> list[str]:
        """Who handed something in, sorted."""
        return sorted(self._counted)

    def lines(self, student: str) -> Iterator[Line]:
        """Give a line for every part of the sheet of a student."""
        parts = self._counted[student]
        for item in self._key.sheet(student).values():
            for part in item.exercise.parts:
                text, _ = parts.get((item.number, part.part), (None, False))
                yield _line(student, item, part, text)

    def write(self, file: TextIO) -> dict[str, Total]:
        """Write the gradebook as CSV, and return the totals by student."""
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        totals: dict[str, Total] = {}
        for student in self.students:
            total = totals[student] = Total()
            for line in self.lines(student):
                total.add(line)
                table.writerow(map(guarded, _cells(line)))
        return totals


def _line(student: str, item: KeyItem, part: Part, text: str | None) -> Line:
    of = item.parts[part.part]
    if text is None:
        return Line(student, item.number, part.part, "", "", MISSING, Fraction(0), of, "Nothing was handed in.")
    judged = judge(part, text)
    why = " ".join(message(judged, part).split("\n")[1:])
    return Line(student, item.number, part.part, text, judged.reading, judged.verdict, judged.score * of, of, why)


def _cells(line: Line) -> tuple[str, ...]:
    points, of = printed(line.points), printed(line.of)
    return (
        *(line.student, str(line.item), line.part, line.answer, line.reading, line.verdict, points, of),
        " ".join(line.why.split()),
    )


def printed(points: Fraction) -> str:
    """Print points as a decimal, which a spreadsheet does not take for a date, as it would 4/3."""
    return exact(Fraction(round(points * DECIMALS), DECIMALS))
