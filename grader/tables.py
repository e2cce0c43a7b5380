"""Rows of a CSV file as spreadsheets, forms and course platforms write it: one at a time, each with its line.

A row that cannot be read costs that row alone. What is held of a file is one row of at most `LONGEST` characters.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TextIO

LONGEST = 64 * 1024  # characters of a row
DELIMITERS = ",;\t"
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row, and the line where it begins, counted from 1."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that cannot be read, the line where it begins, and why: a clause such as `it is longer than 64 KiB`."""

    line: int
    why: str


def rows(path: Path) -> Iterator[Row | Broken]:
    """Give the rows of a file, blank ones left out. The header says what separates the cells: `,`, `;` or a tab.

    Raises:
        OSError: the file cannot be opened or read.
    """
    with path.open("rb") as file:
        encoding = _BOMS.get(file.read(2), "utf-8-sig")
    # A byte that is no UTF-8 becomes a lone surrogate, which the line is then known by.
    errors = "replace" if encoding == "utf-16" else "surrogateescape"
    with path.open(encoding=encoding, errors=errors) as file:
        yield from _rows(_Lines(file))


class _Lines:
    """The lines of a file, each with its number; None for one that is too long. Lines can be put back."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._number, self._back = file, 0, deque[tuple[int, str | None]]()

    def next(self) -> tuple[int, str | None] | None:
        if self._back:
            return self._back.popleft()
        line = self._file.readline(LONGEST)
        if not line:
            return None
        self._number += 1
        if len(line) < LONGEST or line.endswith("\n"):
            return self._number, line
        while line and not line.endswith("\n"):
            line = self._file.readline(LONGEST)
        return self._number, None

    def put_back(self, lines: list[tuple[int, str | None]]) -> None:
        self._back.extendleft(reversed(lines))


def _rows(lines: _Lines) -> Iterator[Row | Broken]:
    delimiter = ""
    while (found := lines.next()) is not None:
        number, text = found
        if text is None:
            yield Broken(number, f"it is longer than {LONGEST // 1024} KiB")
            continue
        if not delimiter and text.lower().startswith("sep=") and len(text.strip()) <= len("sep=;"):
            delimiter = text[len("sep=") :].strip("\r\n") or "\t"  # a spreadsheet's own note
            continue
        delimiter = delimiter or max(DELIMITERS, key=text.count)
        row = _row(number, text, lines, delimiter)
        if isinstance(row, Broken) or any(cell.strip() for cell in row.cells):
            yield row


def _row(number: int, text: str, lines: _Lines, delimiter: str) -> Row | Broken:
    if '"' not in text and _is_text(text):
        return Row(number, tuple(text.rstrip("\r\n").split(delimiter)))
    taken: list[tuple[int, str | None]] = []
    while _is_text(text):
        with suppress(csv.Error):
            return Row(number, tuple(next(csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True))))
        more = _rest_of_cell(text, lines, taken)
        if not more:
            lines.put_back(taken)
            return Broken(number, "a quotation mark in it has no partner")
        text += more
    return Broken(number, "it is no UTF-8 text; save the file as CSV UTF-8")


def _rest_of_cell(text: str, lines: _Lines, taken: list[tuple[int, str | None]]) -> str:
    """Return the lines in which an open cell goes on, up to the next quotation mark; empty where there is none."""
    more = ""
    while text.count('"') % 2 and (further := lines.next()) is not None:
        taken.append(further)
        piece = further[1]
        if piece is None or len(text) + len(more) + len(piece) > LONGEST:
            return ""
        more += piece
        if '"' in piece:
            return more
    return ""


def _is_text(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" or c == "\ufffd" for c in text)


def columns(header: tuple[str, ...], spellings: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Find the columns of a header by the names they usually have."""
    names = [re.sub(r"[\W_]", "", cell.casefold()) for cell in header]
    found = {}
    for column, spelt in spellings.items():
        for name in spelt:
            if name in names:
                found[column] = names.index(name)
                break
    return found


def plain_cells(cells: tuple[str, ...], width: int) -> tuple[str, ...]:
    """Return the cells as many as the header has: missing ones are blank, blank ones behind the last are dropped."""
    extra = len(cells) - width
    if extra > 0 and not any(cell.strip() for cell in islice(cells, width, None)):
        return cells[:width]
    return cells + ("",) * -extra


def guarded(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; `unguarded` is the inverse."""
    risky = text[:1] in {"=", "+", "-", "@", "\t", "\r"} or (text[:1] == "'" and text[1:2] in {"=", "+", "-", "@", "'"})
    return f"'{text}" if risky and not _is_number(text) else text


def unguarded(text: str) -> str:
    """Return a cell as it was before `guarded`."""
    return text[1:] if text[:1] == "'" and text[1:2] in {"=", "+", "-", "@", "\t", "\r", "'"} else text


def _is_number(text: str) -> bool:
    digits = text.lstrip("+-") if text[:2] not in {"--", "++", "+-", "-+"} else ""
    return digits.replace(".", "", 1).isascii() and digits.replace(".", "", 1).isdigit()
