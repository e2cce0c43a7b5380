"""Requests from a file: CSV or JSON lines with a time of arrival, the tokens of the prompt and those of the output.

The columns may be named as public traces of LLM services name them.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from typing import NamedTuple

from spec.serving.request import NANOSECONDS, Request

NAMES = {
    "arrival": ("arrival", "arrived_at", "arrival_time", "arrival_timestamp", "timestamp", "time"),
    "prompt": (
        "prompt",
        "prompt_tokens",
        "prompt_size",
        "input_tokens",
        "input_length",
        "contexttokens",
        "request tokens",
        "num_prefill_tokens",
    ),
    "output": (
        "output",
        "output_tokens",
        "output_length",
        "completion_tokens",
        "token_size",
        "generatedtokens",
        "response tokens",
        "num_decode_tokens",
    ),
}
UNITS = {"s": NANOSECONDS, "ms": 10**6, "us": 10**3, "ns": 1}
LONGEST = 10**7  # tokens: the longest contexts that are offered, and still simulated in seconds
_CELL = re.compile(r'(?:(?<=,)|(?<![^\n]))(?:[^",]|"(?:[^"]|"")*"?)*')
_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{0,30})?(?:[eE][+-]?[0-9]{1,2})?")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:?\d\d)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BadTrace(ValueError):
    """A line of a trace is no request.

    Attributes:
        line: which, counted from 1.
        column: the first of its characters that is meant, counted from 1.
        why: what is wrong with it.
    """

    def __init__(self, line: int, column: int, why: str) -> None:
        super().__init__(line, column, why)
        self.line, self.column, self.why = line, column, why

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column} {self.why}"


class _Row(NamedTuple):
    """A line with its values by lower-case name, and where each begins."""

    line: int
    values: dict[str, str]
    columns: dict[str, int]

    def bad(self, name: str, why: str) -> BadTrace:
        return BadTrace(self.line, self.columns.get(name, 1), why)


def read_trace(lines: Iterable[str], unit: str = "s") -> list[Request]:
    """Read a trace: JSON lines where it starts with a brace, else CSV with a line of names.

    The first arrival is at 0, and lines need not be in order. Ids count the requests as the file has them.

    Args:
        lines: the lines of the file.
        unit: what plain numbers of arrival are counted in: s, ms, us or ns. Dates with a time need none; those
            without an offset from UTC have none.

    Raises:
        BadTrace: a line is no request, or there is none.
    """
    rows = [_request(row, UNITS[unit]) for row in _rows(iter(lines))]
    if not rows:
        raise BadTrace(1, 1, "holds no request")
    start = min(arrival for arrival, _, _ in rows)
    return [Request(number, arrival - start, prompt, output) for number, (arrival, prompt, output) in enumerate(rows)]


def _rows(lines: Iterator[str]) -> Iterator[_Row]:
    numbered = ((n, line.lstrip("\ufeff")) for n, line in enumerate(lines, 1) if line.strip("\ufeff \t\r\n"))
    first = next(numbered, None)
    if first is None:
        return
    if first[1].lstrip().startswith("["):
        raise BadTrace(first[0], 1, "begins a JSON array; write one JSON object on each line")
    if first[1].lstrip().startswith("{"):
        for number, line in (first, *numbered):
            yield _json_row(number, line)
        return
    names = [name.strip().lower() for name in _cells(*first)]
    for number, line in numbered:
        cells = _cells(number, line)
        if len(cells) != len(names):
            why = f"has {len(cells)} columns, and the first line has {len(names)}"
            starts = _starts(line)
            raise BadTrace(number, starts[min(len(starts), len(cells), len(names) + 1) - 1], why)
        yield _Row(number, dict(zip(names, cells, strict=True)), dict(zip(names, _starts(line), strict=False)))


def _cells(number: int, line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell of more than 131,072 characters
        raise BadTrace(number, 1, "is too long") from None


def _starts(line: str) -> list[int]:
    return [cell.start() + 1 for cell in _CELL.finditer(line)]


def _json_row(number: int, line: str) -> _Row:
    column = 1
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        row, column = None, min(error.colno, len(line.rstrip()) + 1)
    except (ValueError, RecursionError):  # a number with too many digits, or too many brackets
        row = None
    if not isinstance(row, dict):
        raise BadTrace(number, column, "is not a JSON object")
    values = {name.strip().lower(): str(value) for name, value in row.items()}
    columns = {name.strip().lower(): max(line.find(json.dumps(name)), 0) + 1 for name in row}
    return _Row(number, values, columns)


def _request(row: _Row, unit: int) -> tuple[int, int, int]:
    cells = {}
    for name, others in NAMES.items():
        found = next((other for other in others if other in row.values), None)
        if found is None:
            raise row.bad("", f"has no column for the {name}; it may be named {', '.join(others)}")
        cells[name] = found
    return (
        _arrival(row, cells["arrival"], unit),
        _tokens(row, "prompt", cells["prompt"]),
        _tokens(row, "output", cells["output"]),
    )


def _arrival(row: _Row, name: str, unit: int) -> int:
    text = row.values[name].strip()
    if _NUMBER.fullmatch(text):
        return round(Fraction(text) * unit)
    date = _DATE.fullmatch(text)
    try:
        if date:
            whole = datetime.fromisoformat(date[1] + (date[3] or "Z")) - _EPOCH
            return (whole.days * 86400 + whole.seconds) * NANOSECONDS + int((date[2] or "").ljust(9, "0"))
    except ValueError:
        pass
    raise row.bad(name, f"has the arrival {text[:40]!r}, which is neither a number nor a date with a time")


def _tokens(row: _Row, what: str, name: str) -> int:
    text = row.values[name].strip()
    if not _NUMBER.fullmatch(text) or Fraction(text).denominator != 1 or not 1 <= Fraction(text) <= LONGEST:
        why = f"has {text[:40]!r} tokens of {what}; it must be a whole number from 1 to {LONGEST:,}"
        raise row.bad(name, why + "; leave out requests that failed" * (text in {"0", "0.0"}))
    return int(Fraction(text))
