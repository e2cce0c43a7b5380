"""The gradebook: for each student and part, the answer that counts, its verdict and its points."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import TextIO

from grader.answers.key import Key, KeyItem
from grader.answers.policy import Extension, Override, Policy
from grader.exercise import Exercise, Part, exact
from grader.feedback import message
from grader.judging import INVALID, PARTIAL, Judgement, judge
from grader.judging.judgement import is_carried
from grader.tables import guarded

MISSING, LATE = "missing", "late"  # the verdicts where nothing was handed in, or nothing in time
HEADER = ("student", "item", "part", "answer", "read as", "verdict", "points", "of", "why", "time")
DECIMALS = 10**4  # points are printed to so many parts


@dataclass(frozen=True, slots=True)
class Line:
    """One part of one student. `points` are exact; `verdict` is that of judging, or `missing`, or `late`."""

    student: str
    item: int
    part: str
    answer: str
    reading: str
    verdict: str
    points: Fraction
    of: Fraction
    why: str = ""
    moment: datetime | None = None


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
        self.missing += line.verdict in {MISSING, LATE}


@dataclass(frozen=True, slots=True)
class Counted:
    """An answer that counts: its text, which attempt it was, when it came, how late, and what share it is worth.

    `judged` is kept where it depends on the answers before, as it does where a wrong one is carried forward.
    """

    text: str
    attempt: int
    moment: datetime | None
    days: int
    credit: Fraction
    judged: Judgement | None = None


@dataclass(slots=True)
class _Slot:
    """What is known of a part of a student: the attempts, the answer that counts, and else one that does not."""

    attempts: int = 0
    counted: Counted | None = None
    instead: str | None = None
    late: bool = False


class Gradebook:
    """The answers that count. Of each it holds the text alone: memory grows with the class, not with its answers.

    `hints` says how many hints a student took on a part.
    """

    def __init__(self, key: Key, policy: Policy, hints: Callable[[str, Exercise, str], int]) -> None:
        self._key, self._policy, self._hints = key, policy, hints
        self._slots: dict[str, dict[tuple[int, str], _Slot]] = {}
        self._overrides: dict[tuple[str, int, str], Override] = {}
        self._ends: dict[str, datetime | None] = {}

    def extend(self, student: str, extension: Extension) -> None:
        """Give a student more time."""
        self._ends[student] = self._policy.end(extension)

    def override(self, student: str, item: int, part: str, override: Override) -> None:
        """Give points by hand."""
        self._overrides[student, item, part] = override
        self.know(student)

    def know(self, student: str) -> None:
        """Note that a student belongs in the gradebook, though perhaps nothing counts."""
        self._slots.setdefault(student, {})

    def enter(
        self, student: str, item: int, part: str, text: str, judged: Judgement, moment: datetime | None = None
    ) -> None:
        """Enter an answer that was handed in at a moment, if that is known; the policy says which counts."""
        slot = self._slots.setdefault(student, {}).setdefault((item, part), _Slot())
        days = 0
        if moment is not None:
            days = self._policy.days_late(moment, self._ends.get(student, self._policy.deadline))
        if judged.verdict == INVALID or days > self._policy.late_days:
            slot.instead, slot.late = text, judged.verdict != INVALID
            return
        if slot.attempts == self._policy.attempts:
            return
        slot.attempts += 1
        credit = self._policy.credit(self._policy.score(judged), slot.attempts, 0, days)
        kept, counts = slot.counted, self._policy.counts
        if kept is None or counts == "last" or (counts == "best" and credit > kept.credit):
            slot.counted = Counted(text, slot.attempts, moment, days, credit, judged if is_carried(judged) else None)

    @property
    def students(self) -> list[str]:
        """Who is in the gradebook, sorted."""
        return sorted(self._slots)

    def lines(self, student: str) -> Iterator[Line]:
        """Give a line for every part of the sheet of a student."""
        slots = self._slots[student]
        for item in self._key.sheet(student).values():
            for part in item.exercise.parts:
                line = self._line(student, item, part, slots.get((item.number, part.part), _Slot()))
                override = self._overrides.get((student, item.number, part.part))
                if override:
                    judged = f"Judged: {printed(line.points)}. {line.why}".strip()
                    reason = override.reason.rstrip(".")
                    line = replace(line, points=override.points, why=f"By hand: {reason}. {judged}")
                yield line

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

    def _line(self, student: str, item: KeyItem, part: Part, slot: _Slot) -> Line:
        of, counted = item.parts[part.part], slot.counted
        text = counted.text if counted else slot.instead
        if text is None:
            return Line(student, item.number, part.part, "", "", MISSING, Fraction(0), of, "Nothing was handed in.")
        judged = (counted and counted.judged) or judge(part, text)
        why = " ".join(message(judged, part).split("\n")[1:])
        line = Line(student, item.number, part.part, text, judged.reading, judged.verdict, Fraction(0), of, why)
        if counted is None:
            return replace(line, verdict=LATE, why="It came too late to count.") if slot.late else line
        hints = self._hints(student, item.exercise, part.part) if self._policy.hint_cost else 0
        score = self._policy.score(judged)
        credit = self._policy.credit(score, counted.attempt, hints, counted.days)
        if credit != score:
            causes = [
                *[f"{hints} hint{'s' * (hints > 1)}"] * bool(hints),
                *[f"{counted.days} day{'s' * (counted.days > 1)} late"] * bool(counted.days),
            ]
            why = f"{why} Attempt {counted.attempt}{''.join(f', {cause}' for cause in causes)}: "
            why += f"{printed(credit)} instead of {printed(score)} of the points."
        verdict = PARTIAL if score > judged.score else judged.verdict
        return replace(line, points=credit * of, moment=counted.moment, verdict=verdict, why=why.strip())


def _cells(line: Line) -> tuple[str, ...]:
    points, of = printed(line.points), printed(line.of)
    time = line.moment.isoformat() if line.moment else ""
    return (
        *(line.student, str(line.item), line.part, line.answer, line.reading, line.verdict, points, of),
        " ".join(line.why.split()),
        time,
    )


def printed(points: Fraction) -> str:
    """Print points as a decimal, which a spreadsheet does not take for a date, as it would 4/3."""
    return exact(Fraction(round(points * DECIMALS), DECIMALS))
