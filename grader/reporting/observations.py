"""What a report counts: how one student did on one question. Taken from a ledger, or from a gradebook."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from grader.answers import Key
from grader.judging import INVALID
from grader.judging.carried import judge_after
from grader.judging.compound import TOGETHER
from grader.ledger import Ledger, Regrade, Submission
from grader.tables import unguarded

NEEDED = ("student", "item", "part", "answer", "verdict", "points", "of")  # columns of a gradebook
ANSWERED = frozenset({"correct", "partial", "incorrect"})
Before = dict[tuple[str, int], dict[str, list[str]]]  # the answers of a student to an exercise, by part


class BadGradebook(ValueError):
    """A file that is no gradebook; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Slipped:
    """A slip that explains an answer: its name, the family that it belongs to, and the sentence of the record."""

    family: str
    slip: str
    sentence: str


@dataclass(slots=True)
class Observation:
    """How one student did on one question.

    Attributes:
        student: who.
        item: the question as it is compared between students: the family and part, or the number on the sheet.
        family: the slug; empty where it is not known.
        first: the share of the points for the first answer that could be read.
        last: the share for the last such answer.
        answers: how many such answers there are.
        unread: how many could not be read.
        slips: what explains the wrong ones, one entry for each answer that a slip explains.
    """

    student: str
    item: str
    family: str
    first: Fraction = Fraction(0)
    last: Fraction = Fraction(0)
    answers: int = 0
    unread: int = 0
    slips: list[Slipped] = field(default_factory=list)

    def enter(self, verdict: str, score: Fraction) -> None:
        """Count an answer."""
        if verdict == INVALID:
            self.unread += 1
            return
        if not self.answers:
            self.first = score
        self.last, self.answers = score, self.answers + 1


def from_ledger(ledger: Ledger, key: Key | None = None) -> Iterator[Observation]:
    """Give what a ledger holds, by the marks that count now; with a key, of its students and exercises alone.

    With a key a question is called by its number on the sheet, else by family and part.

    Raises:
        LedgerError, BadKey: what is stored cannot be used.
    """
    sentences: dict[tuple[str, str], str] = {}
    for student in ledger.students():
        if key is not None and key.student(student) != student:
            continue
        places = {} if key is None else _places(key, student)
        found: dict[tuple[str, int, int, str], Observation] = {}
        for row, mark in ledger.marks(student):
            name = (row.family, row.seed, row.revision, row.part)
            if key is not None and name not in places:
                continue
            item = places.get(name, f"{row.family} {row.part}")
            seen = found.setdefault(name, Observation(student, item, row.family))
            seen.enter(mark.verdict, mark.score)
            for slip in (single for slips in mark.slips for single in slips.split(TOGETHER)):
                seen.slips.append(Slipped(row.family, slip, _sentence(ledger, row, mark, slip, sentences)))
        yield from found.values()


def _places(key: Key, student: str) -> dict[tuple[str, int, int, str], str]:
    found = {}
    for item in key.sheet(student).values():
        exercise = item.exercise
        for part in exercise.parts:
            name = (exercise.family, exercise.seed, exercise.revision, part.part)
            found[name] = f"{item.number}{part.part if len(exercise.parts) > 1 else ''}"
    return found


def _sentence(
    ledger: Ledger, row: Submission, mark: Submission | Regrade, slip: str, known: dict[tuple[str, str], str]
) -> str:
    """Return the sentence of a slip; records are read only as long as it is not known from another one."""
    if (row.family, slip) not in known and mark.verdict != INVALID:
        exercise = ledger.posed(row.student, row.family, row.seed, row.revision)
        for part in exercise.parts if exercise else ():
            for value in part.slips:
                known.setdefault((row.family, value.slip), value.sentence)
    return known.get((row.family, slip), "")


def from_gradebook(path: Path, key: Key | None = None) -> Iterator[Observation]:
    """Give what a gradebook of `grade submit --out` holds: the points that a policy made of the answers that count.

    What was not handed in, or too late, is not counted. Slips and families are known where the key is given: the
    answers are judged by it again.

    Raises:
        BadGradebook: it cannot be read, or is none.
        BadKey: the key is damaged.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            if not set(NEEDED) <= set(table.fieldnames or ()):
                raise BadGradebook(f"{path} is no gradebook; `grade submit --answers ... --out` writes one.")
            before: Before = {}
            for line in table:
                yield from _line({name: unguarded(line[name] or "") for name in NEEDED}, key, before)
    except OSError as error:
        raise BadGradebook(f"The gradebook {path} cannot be read ({error.strerror}).") from None
    except (ValueError, ArithmeticError, csv.Error) as error:
        if isinstance(error, BadGradebook):
            raise
        raise BadGradebook(f"{path} is damaged: {error}.") from None


def _line(said: Mapping[str, str], key: Key | None, before: Before) -> Iterator[Observation]:
    student, number, letter = said["student"], int(said["item"]), said["part"]
    verdict = said["verdict"]
    seen = Observation(student, f"{number}{letter}", "")
    if verdict == INVALID:
        seen.unread = 1
    elif verdict not in ANSWERED:
        return
    else:
        of = Fraction(said["of"])
        seen.enter(verdict, Fraction(said["points"]) / of if of else Fraction(0))
    known = key.student(student) if key else None
    item = key.sheet(known).get(number) if key and known else None
    part = item.part(letter) if item else None
    if item and part:
        seen.family = item.exercise.family
        if len(item.exercise.parts) == 1:
            seen.item = str(number)
        others = before.setdefault((student, number), {})
        judged = judge_after(item.exercise, part, said["answer"], others)
        others.setdefault(part.part, []).append(said["answer"])
        seen.slips += [Slipped(seen.family, d.slip, d.sentence) for d in judged.diagnoses]
    yield seen
