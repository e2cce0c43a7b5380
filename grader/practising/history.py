"""What a ledger says of a learner: what they met, how they did at first, which slips they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from grader.judging import INVALID
from grader.ledger import Help, Ledger, Posed, Submission
from grader.practising.showing import shown_by

LAST = 5  # questions that count for a mastery
ENOUGH = 4  # of them, to master an objective
REMEMBERED = 100  # questions by which slips are known

Question = tuple[str, int, int, str]  # family, seed, revision, part


class First(NamedTuple):
    """How a question went at first: `score` is 0 where the answer came after help, or not at all before a solution."""

    question: Question
    score: Fraction
    slips: tuple[str, ...]

    @property
    def family(self) -> str:
        """The slug of its family."""
        return self.question[0]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a learner stands in an objective: the scores of its last questions, the oldest first."""

    scores: tuple[Fraction, ...]

    @property
    def right(self) -> Fraction:
        """How many of them are right."""
        return sum(self.scores, Fraction(0))

    @property
    def mastered(self) -> bool:
        """Whether that is enough."""
        return self.right >= ENOUGH


@dataclass(slots=True)
class History:
    """What a learner did.

    Attributes:
        posed: everything they met, the oldest first.
        firsts: how each question went at first, in the order of the answers.
        closed: the questions that they got right or were shown the solution of.
        made: slips that explain a first answer, and that no later question which shows them was answered without.
        tested: slips that some question showed.
    """

    posed: list[Posed] = field(default_factory=list)
    firsts: list[First] = field(default_factory=list)
    closed: set[Question] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    tested: set[str] = field(default_factory=set)

    def standing(self, families: Iterable[str]) -> Standing:
        """Return how the learner stands in an objective that has these families."""
        of = set(families)
        return Standing(tuple(first.score for first in self.firsts if first.family in of)[-LAST:])

    def since(self, families: Iterable[str]) -> int:
        """Count the exercises back to the newest of these families, which is 1 where that is the last one posed.

        Where none was posed it is the number of all, and one more.
        """
        of = set(families)
        return next((n for n, row in enumerate(reversed(self.posed), 1) if row.family in of), len(self.posed) + 1)

    def met(self, slug: str) -> set[int]:
        """Return the seeds of a family that the learner has met."""
        return {row.seed for row in self.posed if row.family == slug}


def history(ledger: Ledger, student: str) -> History:
    """Read what a learner did, by the marks that count now.

    Raises:
        LedgerError: it cannot be read.
    """
    found = History(list(ledger.posings(student)))
    found.firsts = list(_firsts(ledger, student, found.closed))
    _follow_slips(found, ledger)
    return found


def _firsts(ledger: Ledger, student: str, closed: set[Question]) -> Iterator[First]:
    marks = {row.number: mark for row, mark in ledger.marks(student)}
    helped: set[Question] = set()
    known: set[Question] = set()
    for row in ledger.rows(student):
        if isinstance(row, Help):
            question = (row.family, row.seed, row.revision, row.part)
            helped.add(question)
            if row.kind == "solution":
                closed.add(question)
                if question not in known:
                    known.add(question)
                    yield First(question, Fraction(0), ())
        elif isinstance(row, Submission) and row.number in marks and marks[row.number].verdict != INVALID:
            question, mark = (row.family, row.seed, row.revision, row.part), marks[row.number]
            if mark.score == 1:
                closed.add(question)
            if question not in known:
                known.add(question)
                yield First(question, Fraction(0) if question in helped else mark.score, mark.slips)


def _follow_slips(found: History, ledger: Ledger) -> None:
    rows = {(row.family, row.seed, row.revision): row for row in found.posed}
    for first in found.firsts[-REMEMBERED:]:
        row = rows.get(first.question[:3])
        if row is None:
            continue
        shown = shown_by(ledger.current(row).part(first.question[3]))
        found.tested |= shown | set(first.slips)
        if first.score == 1:
            found.made -= shown
        else:
            found.made |= set(first.slips)
