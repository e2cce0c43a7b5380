"""Answers in a CSV file: long, with a row for each answer, or wide, with a row for each student."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.answers.answer import Answer, Unplaced, item_of
from grader.tables import Broken, Row, columns, plain_cells, rows, unguarded

# Spellings, letters and digits alone; the first that stands in a header is taken.
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "student": (
        *("code", "studentcode", "student", "studentid", "sid", "sisuserid", "idnumber", "id", "username", "login"),
        *("email", "emailaddress", "mail", "name"),
    ),
    "item": ("item", "exercise", "question", "problem", "questionnumber", "number"),
    "part": ("part", "letter"),
    "answer": ("answer", "response", "value", "text"),
    "time": ("time", "timestamp", "submitted", "submittedat", "submissiontime", "completed", "date"),
}


def from_table(path: Path, name: str) -> Iterator[Answer | Unplaced]:
    """Give the answers of a CSV file.

    Raises:
        OSError: it cannot be read.
    """
    header: _Header | None = None
    for row in rows(path):
        if isinstance(row, Broken):
            yield Unplaced(name, row.line, "", "", row.why)
        elif header is None:
            header = _header(row)
            if not header.long and not header.wide:
                why = "its first line names neither columns item and answer, nor one column for each exercise"
                yield Unplaced(name, row.line, "", "", why)
                return
        else:
            yield from _answers(row, header, name)
    if header is None:
        yield Unplaced(name, 0, "", "", "it is empty")


@dataclass(frozen=True, slots=True)
class _Header:
    width: int
    found: Mapping[str, int]
    wide: Mapping[int, tuple[int, str]]

    @property
    def long(self) -> bool:
        return self.found.keys() >= {"item", "answer"}


def _header(row: Row) -> _Header:
    wide = {place: item for place, cell in enumerate(row.cells) if (item := item_of(cell))}
    return _Header(len(row.cells), columns(row.cells, SPELLINGS), wide)


def _answers(row: Row, header: _Header, name: str) -> Iterator[Answer | Unplaced]:
    cells = plain_cells(row.cells, header.width)
    said = {column: unguarded(cells[place]).strip() for column, place in header.found.items()}
    student, time = said.get("student", ""), said.get("time", "")
    if len(cells) > header.width:
        why = f"the row has {len(cells)} columns and the first line {header.width}; quote an answer with a separator"
        yield Unplaced(name, row.line, student, "", why)
        return
    if not header.long:
        for place, (item, part) in header.wide.items():
            yield Answer(name, row.line, student, item, part, unguarded(cells[place]).strip(), time)
        return
    found = item_of(said["item"])
    if found is None:
        yield Unplaced(name, row.line, student, said["item"], "the column item must hold the number of an exercise")
        return
    yield Answer(name, row.line, student, found[0], said.get("part", "").lower() or found[1], said["answer"], time)
