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
    ROWS,
    Erasure,
    Help,
    Posed,
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
    UNION ALL SELECT max(number) FROM help UNION ALL SELECT max(number) FROM erasure
) AS last
"""
_LAST_RECEIPT = """
SELECT receipt FROM (
    SELECT number, receipt FROM posed WHERE number = (SELECT max(number) FROM posed WHERE student = ?)
    UNION ALL
    SELECT number, receipt FROM submission WHERE number = (SELECT max(number) FROM submission WHERE student = ?)
    UNION ALL
    SELECT number, receipt FROM help WHERE number = (SELECT max(number) FROM help WHERE student = ?)
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
SELECT family, seed, revision, part, raw, count(*) FROM submission
WHERE student = ? AND number <= ? GROUP BY family, seed, revision, part, raw
"""


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

    def submitted(self, student: str, until: int) -> Iterator[tuple[str, int, int, str, str, int]]:
        """Give what `student` submitted in the rows up to the number `until`: each text once, and how often.

        A row is family, seed, revision, part, text and count.
        """
        for family, seed, revision, part, raw, count in self._database.read(_SUBMITTED, (pack(student), until)):
            yield unpack(family), int(seed), revision, unpack(part), unpack(raw), count

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
        return newest and self._exercise(newest)

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

        An exercise that was never posed to the student is recorded as posed by the way.
        The arguments are the fields of `Submission`.
        """
        key = _key(student, exercise)
        with self._database.transaction():
            self._ensure_posed(student, exercise)
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

        kinds = ROWS if student is None else (Posed, Submission, Help)
        return merge(*(self._select(kind, student=student) for kind in kinds), key=lambda row: row.number)

    def forget(self, student: str) -> int:
        """Erase every row of `student`, overwrite what they left in the file, and return how many they were.

        The one exception to a ledger that only grows; an `Erasure` records the count and the time, not the name.
        After a `LedgerError`, calling it again does what was left to do.
        """
        tables, name = [table(kind) for kind in (Help, Submission, Posed)], pack(student)
        with self._database.transaction():
            erased = self._database.count(tables, name)
            if erased:
                # Numbered before the others go, so that no number is given twice.
                self._append(Erasure, erased=erased)
                self._database.erase(tables, name)
        self._database.scrub()
        return erased

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

    def _is_posed(self, student: str, exercise: Exercise) -> bool:
        return self._database.first(_IS_POSED, _key(student, exercise)) is not None

    def _append(self, kind: type[RowT], /, **fields: Any) -> RowT:
        """Number, date and seal a row, and write it; inside a transaction."""
        last = self.newest()
        previous = (
            self._database.first(_LAST_ERASURE)
            if kind is Erasure
            else self._database.first(_LAST_RECEIPT, (pack(fields["student"]),) * 3)
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

    def _exercise(self, row: Posed) -> Exercise:
        try:
            return row.exercise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise LedgerError(Kind.CORRUPT, self._database.path, f"row {row.number} cannot be read") from error


def _key(student: str, exercise: Exercise) -> tuple[str, str, str, int]:
    return pack(student), pack(exercise.family), str(exercise.seed), exercise.revision
