"""A report: tables by student, family, objective, item and slip, of what was observed.

The difficulty of a question is the mean share of its points for the first answer of each student that could be read:
1 is easy, 0 hard. Its discrimination is the corrected item-total correlation: how well that share goes along with
what the same students reach on all other questions. A question that the better students miss has a negative one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.reporting.observations import Observation
from grader.reporting.statistics import discrimination, mean

Cell = str | int | Fraction | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a header; a cell is None where there is nothing to compute it from. The first column is a name."""

    by: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class Report:
    """What was observed, and the tables of it.

    Attributes:
        students: how many have answered.
        answers: how many answers could be read.
        unread: how many could not.
    """

    def __init__(self, observations: Iterable[Observation], objective_of: Callable[[str], str]) -> None:
        self._seen: list[Observation] = []
        self.unread = 0
        for seen in observations:
            self.unread += seen.unread
            if seen.answers:
                self._seen.append(seen)
        self.answers = sum(seen.answers for seen in self._seen)
        self._objective_of = objective_of
        self._totals = _sums(self._seen)
        self.students = len(self._totals)

    def table(self, by: str) -> Table:
        """Return the table of a grouping."""
        if by == "slip":
            return self._slips()
        groups = self._groups(by)
        if by == "student":
            rows = [self._of_student(name, seen) for name, seen in sorted(groups.items())]
            return Table(by, ("student", "questions", "first", "last", "answers", "commonest slip"), tuple(rows))
        names = (by, "family") if by == "item" else (by,)
        header = (*names, "students", "questions", "difficulty", "last", "answers", "discrimination", "commonest slip")
        rows = [self._of_group(by, name, seen) for name, seen in groups.items()]
        return Table(by, header, tuple(sorted(rows, key=lambda row: _order(str(row[0])))))

    def _groups(self, by: str) -> dict[str, list[Observation]]:
        name: dict[str, Callable[[Observation], str]] = {
            "student": lambda seen: seen.student,
            "family": lambda seen: seen.family,
            "objective": lambda seen: self._objective_of(seen.family),
            "item": lambda seen: seen.item,
        }
        groups: dict[str, list[Observation]] = defaultdict(list)
        for seen in self._seen:
            groups[name[by](seen)].append(seen)
        return groups

    def _of_student(self, name: str, seen: Sequence[Observation]) -> tuple[Cell, ...]:
        return (
            name,
            len(seen),
            _mean(seen, "first"),
            _mean(seen, "last"),
            sum(s.answers for s in seen),
            _commonest(seen),
        )

    def _of_group(self, by: str, name: str, seen: Sequence[Observation]) -> tuple[Cell, ...]:
        scores = _sums(seen)
        families = [", ".join(sorted({one.family for one in seen}))] if by == "item" else []
        return (
            *(name, *families, len(scores), len(seen), _mean(seen, "first"), _mean(seen, "last")),
            *(sum(s.answers for s in seen), discrimination(scores, self._totals), _commonest(seen)),
        )

    def _slips(self) -> Table:
        wrong = Counter[str]()
        answers = Counter[tuple[str, str]]()
        students: dict[tuple[str, str], set[str]] = defaultdict(set)
        sentences: dict[tuple[str, str], str] = {}
        for seen in self._seen:
            wrong[seen.family] += seen.answers
            for slipped in seen.slips:
                name = (slipped.family, slipped.slip)
                answers[name] += 1
                students[name].add(seen.student)
                sentences[name] = sentences.get(name) or slipped.sentence
        rows = [
            (slip, family, count, Fraction(count, wrong[family]), len(students[family, slip]), sentences[family, slip])
            for (family, slip), count in answers.items()
        ]
        rows.sort(key=lambda row: (-row[2], row[1], row[0]))
        return Table("slip", ("slip", "family", "answers", "share", "students", "what went wrong"), tuple(rows))


def _sums(seen: Iterable[Observation]) -> dict[str, tuple[Fraction, int]]:
    scores: dict[str, list[Fraction]] = defaultdict(list)
    for one in seen:
        scores[one.student].append(one.first)
    return {student: (sum(found, Fraction(0)), len(found)) for student, found in scores.items()}


def _mean(seen: Sequence[Observation], which: str) -> Fraction | None:
    return mean([getattr(one, which) for one in seen])


def _commonest(seen: Iterable[Observation]) -> str:
    counts = Counter(slipped.slip for one in seen for slipped in one.slips)
    return min(counts, key=lambda slip: (-counts[slip], slip)) if counts else ""


def _order(name: str) -> tuple[int, str]:
    """Sort the numbers of a sheet as numbers: 2 before 10."""
    digits = name[: len(name) - len(name.lstrip("0123456789"))]
    return (int(digits) if digits else 0), name
