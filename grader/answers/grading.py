"""Grading: each answer finds its part in the key, is judged and recorded, and is entered in the gradebook.

Answers are recorded in batches, each durable before it is acknowledged. What a ledger holds already is not recorded
again: a file that is given twice, or again after it was cut short, or again with rows added, or to two graders at
once, adds what is new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from grader.answers.answer import Answer, Unplaced
from grader.answers.gradebook import Gradebook
from grader.answers.key import Key, KeyItem
from grader.answers.policy import Policy
from grader.exercise import Exercise, Part
from grader.feedback import message
from grader.judging import INVALID, Judgement, judge
from grader.ledger import Ledger

BATCH = 500  # answers that become durable together


@dataclass(frozen=True, slots=True)
class Graded:
    """What it came to so far: how many answers there were, how many of them new; and what of a batch was unreadable."""

    answers: int
    recorded: int
    problems: tuple[Unplaced, ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    """An answer with the part of the key that it answers."""

    answer: Answer
    student: str
    item: KeyItem
    part: Part


class _Turns:
    """The answers of a student to the parts of an exercise, in the order of the ledger; new ones come at its end."""

    def __init__(self, recorded: list[tuple[str, str]]) -> None:
        self._answers, self._open = recorded, set(range(len(recorded)))

    def before(self, part: str, text: str) -> dict[str, list[str]]:
        """Take the place of an answer, one that is recorded if it has not come yet, and return those before it."""
        places = (place for place in sorted(self._open) if self._answers[place] == (part, text))
        place = next(places, len(self._answers))
        self._open.discard(place)
        if place == len(self._answers):
            self._answers.append((part, text))
        found: dict[str, list[str]] = {}
        for letter, typed in self._answers[:place]:
            found.setdefault(letter, []).append(typed)
        return found


class Grading:
    """Grades answers by a key.

    Attributes:
        gradebook: what it comes to.
        problems: what the policy says of students or exercises that the key does not have.
        untimed: how many answers say no time, though there is a deadline; they count as in time.
    """

    def __init__(self, key: Key, ledger: Ledger, nobody: str, policy: Policy | None = None) -> None:
        """Begin.

        Args:
            key: the key file.
            ledger: where the answers are recorded.
            nobody: whose an answer is that names no student, where the key allows it.
            policy: in place of that of the key.
        """
        self._policy = policy or key.policy
        self.gradebook = Gradebook(key, self._policy, self._hints)
        self.untimed = 0
        self._key, self._ledger, self._nobody = key, ledger, nobody
        self._known = 0  # the number of the newest row that is accounted for
        self._before: dict[str, Counter[int]] = {}  # by student: what is recorded and has not come in this run yet
        self._turns: dict[tuple[str, str, int, int], _Turns] = {}
        self._answers = self._recorded = 0
        self.problems = tuple(self._ruled())

    def _ruled(self) -> Iterator[Unplaced]:
        """Enter extensions and points given by hand."""
        for extension in self._policy.extensions:
            student = self._key.student(extension.student)
            if student is None:
                yield Unplaced("extensions", 0, extension.student, "", "there is no such student in the key")
            else:
                self.gradebook.extend(student, extension)
        for override in self._policy.overrides:
            named = Answer("overrides", 0, override.student, override.item, override.part, "")
            placed = self._placed(named)
            if isinstance(placed, Unplaced):
                yield placed
            else:
                self.gradebook.override(placed.student, placed.item.number, placed.part.part, override)

    def _hints(self, student: str, exercise: Exercise, part: str) -> int:
        return len({row.level for row in self._ledger.help(student, exercise, part) if row.kind == "hint"})

    def grade(self, found: Iterable[Answer | Unplaced]) -> Iterator[Graded]:
        """Grade answers batch by batch; what is given of a batch is durable.

        Raises:
            LedgerError: the ledger cannot be used. The batches before are safe.
            BadKey: the key is damaged.
        """
        stream = iter(found)
        while batch := list(islice(stream, BATCH)):
            # Judged before the ledger is held, so that graders who share it wait for each other as little as can be.
            judged: list[tuple[_Placed, Judgement]] = []
            problems: list[Unplaced] = []
            for entry in batch:
                placed = entry if isinstance(entry, Unplaced) else self._placed(entry)
                problem = placed if isinstance(placed, Unplaced) else self._judged(placed, judged)
                if problem:
                    problems.append(problem)
            with self._ledger.together():  # nobody else writes meanwhile
                self._catch_up()
                for placed, judgement in judged:
                    self._record(placed, judgement)
                self._known = self._ledger.newest()
            yield Graded(self._answers, self._recorded, tuple(problems))

    def _placed(self, answer: Answer) -> _Placed | Unplaced:
        key = self._key
        named = answer.student or key.student_in(answer.file) or (self._nobody if key.for_everybody else "")
        student = key.student(named)
        if student is None:
            why = f"there is no student {_short(named)} in the key" if named else "no student is named"
            return _unplaced(answer, "", why)
        sheet = key.sheet(student)
        item = sheet.get(answer.item)
        if item is None:
            return _unplaced(answer, student, f"the sheet has the exercises {min(sheet)} to {max(sheet)}")
        part = item.part(answer.part)
        if part is None:
            letters = ", ".join(item.parts)
            why = f"it has no part {_short(answer.part)}" if answer.part else f"it has the parts {letters}; say which"
            return _unplaced(answer, student, why)
        return _Placed(answer, student, item, part)

    def _judged(self, placed: _Placed, judgements: list[tuple[_Placed, Judgement]]) -> Unplaced | None:
        """Judge an answer for the gradebook and for the ledger; return what is wrong with it."""
        answer, student, part = placed.answer, placed.student, placed.part
        if not answer.text:
            self.gradebook.know(student)
            return None
        moment = _moment(answer.time, self._policy)
        if moment is None and self._policy.deadline is not None:
            if answer.time:
                why = f"its time {_short(answer.time)} cannot be read; write it as 2026-12-04 23:59:00"
                return _unplaced(answer, student, why)
            self.untimed += 1
        self._answers += 1
        judged = self._in_turn(placed) if placed.item.carries else judge(part, answer.text)
        judgements.append((placed, judged))
        self.gradebook.enter(student, placed.item.number, part.part, answer.text, judged, moment)
        if judged.verdict != INVALID:
            return None
        reason = message(judged, part).split("\n")[-1].rstrip(".")
        return _unplaced(answer, student, f"{_short(answer.text)} cannot be read as an answer: {reason}")

    def _in_turn(self, placed: _Placed) -> Judgement:
        """Judge an answer after those that the ledger holds before it, or will hold."""
        from grader.judging.carried import judge_after

        exercise, part = placed.item.exercise, placed.part
        name = (placed.student, exercise.family, exercise.seed, exercise.revision)
        if name not in self._turns:
            rows = self._ledger.submissions(placed.student, exercise.family, exercise.seed)
            self._turns[name] = _Turns([(row.part, row.raw) for row in rows if row.revision == exercise.revision])
        return judge_after(exercise, part, placed.answer.text, self._turns[name].before(part.part, placed.answer.text))

    def _record(self, placed: _Placed, judged: Judgement) -> None:
        if not self._is_new(placed):
            return
        self._recorded += 1
        self._ledger.submit(
            placed.student,
            placed.item.exercise,
            placed.part.part,
            raw=placed.answer.text,
            reading=judged.reading,
            verdict=judged.verdict,
            score=judged.score,
            slips=[diagnosis.slip for diagnosis in judged.diagnoses],
        )

    def _catch_up(self) -> None:
        """Account for what others have recorded since the last batch."""
        if self._before and self._known != self._ledger.newest():
            for student, *name, count in self._ledger.submitted_after(self._known):
                if student in self._before:
                    self._before[student][hash(tuple(name))] += count

    def _is_new(self, placed: _Placed) -> bool:
        """Say whether an answer is one more than the ledger holds of it."""
        student, exercise = placed.student, placed.item.exercise
        if student not in self._before:
            rows = self._ledger.submitted(student)  # none of them from this run: the student has not come in it yet
            self._before[student] = Counter({hash(tuple(name)): count for _, *name, count in rows})
        name = hash((exercise.family, exercise.seed, exercise.revision, placed.part.part, placed.answer.text))
        if not self._before[student][name]:
            return True
        self._before[student][name] -= 1
        return False


def _moment(text: str, policy: Policy) -> datetime | None:
    """Read when an answer was handed in: a moment with a zone, or one of the course's; None for anything else."""
    try:
        return policy.in_utc(datetime.fromisoformat(text.strip().replace(" UTC", "Z")))
    except ValueError:
        return None


def _unplaced(answer: Answer, student: str, why: str) -> Unplaced:
    return Unplaced(answer.file, answer.line, student or answer.student, f"{answer.item}{answer.part}", why)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")  # noqa: PLR2004  as much as one line of a message holds
