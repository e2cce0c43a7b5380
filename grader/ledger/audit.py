"""Whether a ledger is still as it was written."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from grader.ledger.rows import ROWS, Erasure, seal, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.ledger.database import Database
    from grader.ledger.rows import Column, Row


class Fault(NamedTuple):
    """Something in the ledger that was not written by it.

    Attributes:
        kind: `file` where the database is unsound, `row` where a receipt does not fit its row and the one before,
            `count` where not as many rows are missing as were erased, `erasing` where an erasure was left half done.
        number: of the row; 0 where it is not about one.
        detail: what was found.
    """

    kind: str
    number: int
    detail: str


def verify(database: Database) -> list[Fault]:
    """Check the file, every receipt against its row and the student's row before, and the numbers for gaps.

    Noticed is any change to a row, and any loss but that of the newest rows of the whole ledger: those are known by
    the receipts that were handed out. It is no protection from someone who computes all receipts anew.
    """
    with database.snapshot():
        unsound = database.damage()
        if unsound:
            return [Fault("file", 0, line) for line in unsound]
        return [*_rows(database), *_leftovers(database)]


def _rows(database: Database) -> Iterator[Fault]:
    newest: dict[Column | None, str] = {}
    rows = last = erased = 0
    for number, kind, columns in merge(*(_read(database, kind) for kind in ROWS), key=lambda row: row[0]):
        owner = None if kind is Erasure else columns[1]
        receipt = str(columns[-1])
        if receipt != seal(columns[:-1], newest.get(owner, "")):
            yield Fault("row", number, f"the receipt {receipt} does not fit this {table(kind)}")
        newest[owner] = receipt
        rows, last = rows + 1, number
        erased += columns[1] if kind is Erasure and isinstance(columns[1], int) else 0
    if last - rows != erased:
        yield Fault("count", 0, f"{last - rows} rows are missing, {erased} were erased")


def _read(database: Database, kind: type[Row]) -> Iterator[tuple[int, type[Row], list[Column]]]:
    query = f"SELECT {', '.join(kind._fields)} FROM {table(kind)} ORDER BY number"  # noqa: S608 - our own tables
    for columns in database.read(query):
        yield columns[0], kind, list(columns)


def _leftovers(database: Database) -> Iterator[Fault]:
    (left,) = database.first("SELECT count(*) FROM erasing")
    if left:
        yield Fault("erasing", 0, f"{left} students are being forgotten")
