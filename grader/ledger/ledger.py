"""The ledger: every exercise posed, every answer with its verdict, every help taken. It only grows."""

from __future__ import annotations

import os
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from grader import __version__
from grader.ledger.database import Database
from grader.ledger.errors import Kind, LedgerError
from grader.ledger.rows import (
    OWNED,
    ROWS,
    Amendment,
    Erasure,
    Help,
    Posed,
    Regrade,
    Submission,
    from_columns,
    pack,
    pack_record,
    seal,
    table,
    to_column,
    unpack,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from grader.exercise import Exercise
    from grader.ledger.audit import Fault
    from grader.ledger.rows import Column, Row, RowT

_LAST_NUMBER = """
SELECT max(number) FROM (
    SELECT max(number) AS number FROM posed UNION ALL SELECT max(number) FROM submission
    UNION ALL SELECT max(number) FROM help UNION ALL SELECT max(number) FROM amendment
    UNION ALL SELECT max(number) FROM regrade UNION ALL SELECT max(number) FROM erasure
) AS last
"""
_LAST_RECEIPT = """
SELECT receipt FROM (
    SELECT number, receipt FROM posed WHERE number = (SELECT max(number) FROM posed WHERE student = ?)
    UNION ALL
    SELECT number, receipt FROM submission WHERE number = (SELECT max(number) FROM submission WHERE student = ?)
    UNION ALL
    SELECT number, receipt FROM help WHERE number = (SELECT max(number) FROM help WHERE student = ?)
    UNION ALL
    SELECT number, receipt FROM amendment WHERE number = (SELECT max(number) FROM amendment WHERE student = ?)
    UNION ALL
    SELECT number, receipt FROM regrade WHERE number = (SELECT max(number) FROM regrade WHERE student = ?)
) AS last ORDER BY number DESC LIMIT 1
"""
_LAST_ERASURE = "SELECT receipt FROM erasure ORDER BY number DESC LIMIT 1"
_IS_POSED = "SELECT 1 FROM posed WHERE student = ? AND family = ? AND seed = ? AND revision = ?"
# An invalid submission repeats the number of the attempt before it; to leave it out lets the index `attempts` answer.
_ATTEMPTS = """
SELECT max(attempt) FROM submission
WHERE student = ? AND family = ? AND seed = ? AND revision = ? AND part = ? AND verdict <> 'invalid'
"""
_SUBMITTED = """
SELECT student, family, seed, revision, part, raw, count(*) FROM submission
WHERE {} GROUP BY student, family, seed, revision, part, raw
"""
_RECORD = """
SELECT record FROM (
    SELECT number, record FROM posed WHERE student = ? AND family = ? AND seed = ? AND revision = ?
    UNION ALL
    SELECT number, record FROM amendment WHERE student = ? AND family = ? AND seed = ? AND revision = ?
) AS records ORDER BY number DESC LIMIT 1
"""
_ALTERED = '"tolerance_of":'  # in a record: it has a tolerance that its family did not give it


class Ledger:
    """An open ledger; a context manager. One thread at a time uses it, and no child process inherits it.

    Every method raises `LedgerError` when the file cannot be used. What returned is durable: neither a kill nor a loss
    of power takes it back.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, path: str | os.PathLike[str], timeout: float = 10.0) -> Self:
        """Open the ledger at `path`; create it and its folder where there is none.

        Args:
            path: the file.
            timeout: seconds to wait while another program writes.

        Raises:
            LedgerError: it cannot be opened, is damaged, or is no ledger of this version.
        """
        return cls(Database.open(os.fspath(path), timeout))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. What was written is durable long before."""
        self._database.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make what is recorded in the block durable at its end, all of it or nothing: a flush for many rows."""
        with self._database.transaction():
            yield

    def newest(self) -> int:
        """Return the number of the newest row, 0 in an empty ledger."""
        (last,) = self._database.first(_LAST_NUMBER)
        return last or 0

    def submitted(self, student: str) -> Iterator[tuple[str, str, int, int, str, str, int]]:
        """Give what `student` submitted: each text once, and how often.

        A row is student, family, seed, revision, part, text and count.
        """
        return self._submitted("student = ?", pack(student))

    def submitted_after(self, number: int) -> Iterator[tuple[str, str, int, int, str, str, int]]:
        """Give what everybody submitted in the rows behind that of a number; see `submitted`."""
        return self._submitted("number > ?", number)

    def _submitted(self, condition: str, value: Column) -> Iterator[tuple[str, str, int, int, str, str, int]]:
        for row in self._database.read(_SUBMITTED.format(condition), (value,)):
            student, family, seed, revision, part, raw, count = row
            yield unpack(student), unpack(family), int(seed), revision, unpack(part), unpack(raw), count

    def pose(self, student: str, exercise: Exercise) -> bool:
        """Record that `student` was shown `exercise`; return whether it is new to the student.

        The first record of a (student, family, revision, seed) stays.
        """
        if self._is_posed(student, exercise):
            return False
        with self._database.transaction():
            return self._ensure_posed(student, exercise)

    def posed(self, student: str, family: str, seed: int, revision: int | None = None) -> Exercise | None:
        """Return the exercise as it was posed to `student`, of the latest revision posed unless one is named."""
        newest: Posed | None = None
        for row in self._select(Posed, student=student, family=family, seed=seed, revision=revision):
            if newest is None or row.revision > newest.revision:
                newest = row
        return newest and self.current(newest)

    def current(self, row: Posed, number: int | None = None) -> Exercise:
        """Return what answers to a posed exercise are judged by: its newest record, or that at a row of a number."""
        newest: Posed | Amendment = row
        amended = self._select(Amendment, student=row.student, family=row.family, seed=row.seed, revision=row.revision)
        for newer in amended:
            if number is None or newer.number < number:
                newest = newer
        try:
            return newest.exercise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise LedgerError(Kind.CORRUPT, self._database.path, f"row {newest.number} cannot be read") from error

    def amend(self, student: str, exercise: Exercise, reason: str) -> bool:
        """Record that answers to a posed exercise are judged by another record now; return whether it is another."""
        with self._database.transaction():
            return self._is_posed(student, exercise) and self._ensure_current(student, exercise, reason)

    def submit(
        self,
        student: str,
        exercise: Exercise,
        part: str,
        *,
        raw: str,
        reading: str,
        verdict: str,
        score: Fraction,
        slips: Sequence[str] = (),
    ) -> Submission:
        """Record an answer and its verdict, and return the row with its attempt number and receipt.

        An exercise that was never posed to the student is recorded as posed by the way, and a record of another
        tolerance as an amendment. The arguments are the fields of `Submission`.
        """
        key = _key(student, exercise)
        with self._database.transaction():
            if not self._ensure_posed(student, exercise):
                self._ensure_current(student, exercise, "The set gives another tolerance.", only_tolerance=True)
            (attempts,) = self._database.first(_ATTEMPTS, (*key, pack(part)))
            return self._append(
                Submission,
                student=student,
                family=exercise.family,
                revision=exercise.revision,
                seed=exercise.seed,
                part=part,
                raw=raw,
                reading=reading,
                verdict=verdict,
                score=score,
                slips=tuple(slips),
                attempt=(attempts or 0) + (verdict != "invalid"),
            )

    def submissions(
        self, student: str | None = None, family: str | None = None, seed: int | None = None, part: str | None = None
    ) -> Iterator[Submission]:
        """Give the submissions, oldest first, of what is named."""
        return self._select(Submission, student=student, family=family, seed=seed, part=part)

    def regrade(
        self,
        submission: Submission,
        *,
        reading: str,
        verdict: str,
        score: Fraction,
        slips: Sequence[str],
        reason: str,
    ) -> Regrade:
        """Record another mark for an answer, and why; the old one stays."""
        with self._database.transaction():
            return self._append(
                Regrade,
                student=submission.student,
                submission=submission.number,
                reading=reading,
                verdict=verdict,
                score=score,
                slips=tuple(slips),
                reason=reason,
            )

    def marks(
        self, student: str | None = None, family: str | None = None
    ) -> Iterator[tuple[Submission, Submission | Regrade]]:
        """Give the submissions, oldest first, each with the row that holds its mark: the last regrade, or itself."""
        again = {row.submission: row for row in self._select(Regrade, student=student)}
        for row in self._select(Submission, student=student, family=family):
            yield row, again.get(row.number, row)

    def students(self) -> list[str]:
        """Return everybody of whom something is kept, sorted."""
        return sorted(unpack(name) for (name,) in self._database.read("SELECT DISTINCT student FROM posed"))

    def posings(self, student: str | None = None, family: str | None = None) -> Iterator[Posed]:
        """Give what was posed, oldest first."""
        return self._select(Posed, student=student, family=family)

    def record_help(self, student: str, exercise: Exercise, part: str, kind: str, level: int) -> Help:
        """Record that `student` took a `hint` of a level, or the `solution`."""
        with self._database.transaction():
            self._ensure_posed(student, exercise)
            return self._append(
                Help,
                student=student,
                family=exercise.family,
                revision=exercise.revision,
                seed=exercise.seed,
                part=part,
                kind=kind,
                level=level,
            )

    def help(self, student: str, exercise: Exercise, part: str) -> list[Help]:
        """Return the help that `student` took on a part, oldest first."""
        return list(
            self._select(
                Help,
                student=student,
                family=exercise.family,
                seed=exercise.seed,
                revision=exercise.revision,
                part=part,
            )
        )

    def rows(self, student: str | None = None) -> Iterator[Row]:
        """Give every row of one student, or of the whole ledger, in the order of recording."""
        from heapq import merge

        kinds = ROWS if student is None else OWNED
        return merge(*(self._select(kind, student=student) for kind in kinds), key=lambda row: row.number)

    def forget(self, student: str) -> int:
        """Erase every row of `student`, overwrite what they left in the file, and return how many they were.

        The one exception to a ledger that only grows; an `Erasure` records the count and the time, not the name.
        After a `LedgerError`, calling it again does what was left to do.
        """
        tables, name = [table(kind) for kind in reversed(OWNED)], pack(student)
        with self._database.transaction():
            erased = self._database.count(tables, name)
            if erased:
                # Numbered before the others go, so that no number is given twice.
                self._append(Erasure, erased=erased)
                self._database.erase(tables, name)
        self._database.scrub()
        return erased

    def last_erasure(self) -> str:
        """Return the receipt of the newest erasure; empty where nobody was ever forgotten."""
        row = self._database.first(_LAST_ERASURE)
        return row[0] if row else ""

    def verify(self) -> list[Fault]:
        """Return what was damaged or tampered with; nothing where the ledger is as it was written."""
        from grader.ledger.audit import verify

        return verify(self._database)

    def _ensure_posed(self, student: str, exercise: Exercise) -> bool:
        if self._is_posed(student, exercise):
            return False
        self._append(
            Posed,
            student=student,
            family=exercise.family,
            revision=exercise.revision,
            seed=exercise.seed,
            record=pack_record(exercise),
        )
        return True

    def _ensure_current(self, student: str, exercise: Exercise, reason: str, *, only_tolerance: bool = False) -> bool:
        """Amend the record of a posed exercise where it is another; inside a transaction.

        With `only_tolerance` nothing is compared, which takes time, where neither record has a tolerance of its own.
        """
        key = _key(student, exercise)
        (stored,) = self._database.first(_RECORD, key * 2)
        if only_tolerance and _ALTERED not in stored and not exercise.altered:
            return False
        record = pack_record(exercise)
        if record == stored:
            return False
        family, revision, seed = exercise.family, exercise.revision, exercise.seed
        self._append(
            Amendment, student=student, family=family, revision=revision, seed=seed, record=record, reason=reason
        )
        return True

    def _is_posed(self, student: str, exercise: Exercise) -> bool:
        return self._database.first(_IS_POSED, _key(student, exercise)) is not None

    def _append(self, kind: type[RowT], /, **fields: Any) -> RowT:
        """Number, date and seal a row, and write it; inside a transaction."""
        last = self.newest()
        previous = (
            self._database.first(_LAST_ERASURE)
            if kind is Erasure
            else self._database.first(_LAST_RECEIPT, (pack(fields["student"]),) * len(OWNED))
        )
        fields |= {"number": last + 1, "version": __version__, "utc": datetime.now(UTC)}
        columns = [to_column(name, fields[name]) for name in kind._fields[:-1]]
        receipt = seal(columns, previous[0] if previous else "")
        self._database.insert(table(kind), kind._fields, (*columns, receipt))
        return kind(**fields, receipt=receipt)

    def _select(self, kind: type[RowT], /, **named: str | int | None) -> Iterator[RowT]:
        conditions: dict[str, Column] = {}
        for name, value in named.items():
            if value is not None:
                conditions[name] = str(value) if name == "seed" else pack(value) if isinstance(value, str) else value
        where = " AND ".join(f"{name} = ?" for name in conditions) or "1 = 1"
        query = f"SELECT {', '.join(kind._fields)} FROM {table(kind)} WHERE {where} ORDER BY number"  # noqa: S608 - our names
        for columns in self._database.read(query, tuple(conditions.values())):
            try:
                row = from_columns(kind, columns)
            except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
                raise LedgerError(Kind.CORRUPT, self._database.path, f"row {columns[0]} cannot be read") from error
            yield row


def _key(student: str, exercise: Exercise) -> tuple[str, str, str, int]:
    return pack(student), pack(exercise.family), str(exercise.seed), exercise.revision
