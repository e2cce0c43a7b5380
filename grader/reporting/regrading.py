"""Judging stored answers again: which marks change, and why.

An answer is judged from its text as typed and the newest record of its exercise, by the judge of this version. The
family's own revision of today is another exercise, with other numbers perhaps, which nobody was asked; so a record
changes only where a key says so: `grade set` wrote another tolerance into it, or an instructor corrected it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from grader.answers import Key
from grader.exercise import Exercise, Part, Tolerance
from grader.feedback import message
from grader.judging import Judgement
from grader.judging.carried import judge_after
from grader.judging.compound import TOGETHER
from grader.ledger import Ledger, Posed, Regrade, Submission

RAISED, LOWERED, SAME = "raised", "lowered", "same"


class OtherQuestion(ValueError):
    """A key asks something else than the student was asked, under the same id."""

    def __init__(self, student: str, exercise: str) -> None:
        super().__init__(student, exercise)
        self.student, self.exercise = student, exercise

    def __str__(self) -> str:
        return (
            f"The key asks another question as {self.exercise} than {self.student} was asked; take the key of that set."
        )


@dataclass(frozen=True, slots=True)
class Change:
    """An answer that is marked differently now.

    Attributes:
        submission: the answer.
        old: the row that holds its mark.
        new: what judging it again gave.
        was: the part by which it was judged then.
        part: the part by which it was judged now.
    """

    submission: Submission
    old: Submission | Regrade
    new: Judgement
    was: Part
    part: Part

    @property
    def effect(self) -> str:
        """`raised`, `lowered`, or `same` where only the verdict or its reason changes."""
        if self.new.score == self.old.score:
            return SAME
        return RAISED if self.new.score > self.old.score else LOWERED

    @property
    def before(self) -> str:
        """Why the mark was what it is, in words: what the record says of the slips, or else nothing."""
        sentences = {slip.slip: slip.sentence for slip in self.was.slips}
        return " ".join(sentences.get(slip, slip) for slip in self.old.slips)

    @property
    def now(self) -> str:
        """Why the mark is another one, in words."""
        said = " ".join(message(self.new, self.part).split())
        if self.was.tolerance == self.part.tolerance:
            return said
        return f"{said} Judged {_to(self.part.tolerance)}, before {_to(self.was.tolerance)}."


def _to(tolerance: Tolerance) -> str:
    return "exactly" if tolerance.kind == "exact" else f"to {tolerance.value} {tolerance.kind}"


@dataclass(frozen=True, slots=True)
class Again:
    """The answers of one student, judged again.

    Attributes:
        student: whose they are.
        judged: how many there are.
        changes: those that are marked differently now.
        records: exercises that the key has another record of.
        beyond: how many ask for what this version cannot judge.
    """

    student: str
    judged: int
    changes: tuple[Change, ...]
    records: tuple[Exercise, ...]
    beyond: int


def judged_again(
    ledger: Ledger, key: Key | None = None, student: str | None = None, family: str | None = None
) -> Iterator[Again]:
    """Judge the stored answers of one student, or of all, by their records, or by those of a key that has them.

    Raises:
        OtherQuestion: the key asks something else.
        LedgerError, BadKey: what is stored cannot be used.
    """
    for name in ledger.students() if student is None else [student]:
        if key is None or key.student(name) == name:
            yield _again(ledger, key, name, family)


def _again(ledger: Ledger, key: Key | None, student: str, family: str | None) -> Again:
    keyed = {}
    if key is not None:
        keyed = {_name(item.exercise): item.exercise for item in key.sheet(student).values()}
    posings: dict[tuple[str, int, int], Posed] = {}
    stored: dict[tuple[str, int, int], Exercise] = {}
    records = []
    for posed in ledger.posings(student, family):
        posings[_name(posed)] = posed
        exercise = stored[_name(posed)] = ledger.current(posed)
        newer = keyed.get(_name(posed), exercise)
        if _question(newer) != _question(exercise):
            raise OtherQuestion(student, exercise.id)
        if newer != exercise:
            records.append(newer)
    judged = beyond = 0
    changes = []
    before: dict[tuple[str, int, int], dict[str, list[str]]] = {}
    for submission, old in ledger.marks(student, family):
        name = _name(submission)
        if key is not None and name not in keyed:
            continue
        exercise = keyed.get(name, stored[name])
        part, earlier = exercise.part(submission.part), before.setdefault(name, {})
        try:
            new = judge_after(exercise, part, submission.raw, earlier)
        except ValueError:
            beyond += 1
            continue
        earlier.setdefault(part.part, []).append(submission.raw)
        judged += 1
        # Two slips at once are looked for while a learner waits, and not again: they do not touch the mark.
        slips = tuple(diagnosis.slip for diagnosis in new.diagnoses) or tuple(s for s in old.slips if TOGETHER in s)
        if (new.verdict, new.score, slips) != (old.verdict, old.score, old.slips):
            was = ledger.current(posings[name], old.number).part(submission.part)
            changes.append(Change(submission, old, new, was, part))
    return Again(student, judged, tuple(changes), tuple(records), beyond)


def _name(row: Posed | Submission | Exercise) -> tuple[str, int, int]:
    return row.family, row.seed, row.revision


def _question(exercise: Exercise) -> object:
    """Return what a student was asked."""
    parts = tuple((p.part, p.question, p.kind, p.unit, p.options, p.givens) for p in exercise.parts)
    return exercise.statement, exercise.givens, exercise.convention, parts


def apply(ledger: Ledger, again: Again, changes: Iterable[Change], reason: str) -> int:
    """Record new marks of a student and the records they come from, all of them or none; return how many marks.

    What somebody else has marked again or erased meanwhile is left.
    """
    count = 0
    with ledger.together():
        marks = {row.number: mark.number for row, mark in ledger.marks(again.student)}
        for exercise in again.records:
            ledger.amend(again.student, exercise, reason)
        for change in changes:
            if marks.get(change.submission.number) != change.old.number:
                continue
            ledger.regrade(
                change.submission,
                reading=change.new.reading,
                verdict=change.new.verdict,
                score=Fraction(change.new.score),
                slips=[diagnosis.slip for diagnosis in change.new.diagnoses],
                reason=reason,
            )
            count += 1
    return count
