"""Requests from a file: CSV or JSON lines with a time of arrival, the tokens of the prompt and those of the output.

The columns may be named as public traces of LLM services name them.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction

from spec.serving.request import NANOSECONDS, Request

NAMES = {
    "arrival": ("arrival", "arrived_at", "timestamp", "time"),
    "prompt": ("prompt", "prompt_tokens", "input_length", "contexttokens", "request tokens", "num_prefill_tokens"),
    "output": ("output", "output_tokens", "output_length", "generatedtokens", "response tokens", "num_decode_tokens"),
}
UNITS = {"s": NANOSECONDS, "ms": 10**6, "us": 10**3, "ns": 1}
LONGEST = 10**9  # tokens
_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\d*(?:Z|[+-]\d\d:?\d\d)?")


class BadTrace(ValueError):
    """A line of a trace is no request; `line` counts from 1 and `why` says what is wrong with it."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.line, self.why = line, why

    def __str__(self) -> str:
        return f"line {self.line} {self.why}"


def read_trace(lines: Iterable[str], unit: str = "s") -> list[Request]:
    """Read a trace: JSON lines where it starts with a brace, else CSV with a line of names.

    The first arrival is at 0, and lines need not be in order. Ids count the requests as the file has them.

    Args:
        lines: the lines of the file.
        unit: what plain numbers of arrival are counted in: s, ms, us or ns. Dates with a time need none.

    Raises:
        BadTrace: a line is no request, or there is none.
    """
    rows = [(line, _request(line, row, UNITS[unit])) for line, row in _rows(iter(lines))]
    if not rows:
        raise BadTrace(1, "holds no request")
    start = min(arrival for _, (arrival, _, _) in rows)
    return [
        Request(number, arrival - start, prompt, output) for number, (_, (arrival, prompt, output)) in enumerate(rows)
    ]


def _rows(lines: Iterator[str]) -> Iterator[tuple[int, Mapping[str, object]]]:
    numbered = ((n, line) for n, line in enumerate(lines, 1) if line.strip())
    first = next(numbered, None)
    if first is None:
        return
    if first[1].lstrip("\ufeff").startswith("{"):
        for number, line in (first, *numbered):
            try:
                row = json.loads(line.lstrip("\ufeff"))
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise BadTrace(number, "is not a JSON object")
            yield number, _lowered(row)
        return
    names = next(csv.reader([first[1].lstrip("\ufeff")]))
    for number, line in numbered:
        cells = next(csv.reader([line]), [])
        if len(cells) != len(names):
            raise BadTrace(number, f"has {len(cells)} columns, and the first line has {len(names)}")
        yield number, _lowered(dict(zip(names, cells, strict=True)))


def _lowered(row: Mapping[str, object]) -> dict[str, object]:
    return {name.strip().lower(): value for name, value in row.items()}


def _request(line: int, row: Mapping[str, object], unit: int) -> tuple[int, int, int]:
    cells = {}
    for name, others in NAMES.items():
        found = next((other for other in others if other in row), None)
        if found is None:
            raise BadTrace(line, f"has no column for the {name}; it may be named {', '.join(others)}")
        cells[name] = str(row[found]).strip()
    return (
        _arrival(line, cells["arrival"], unit),
        _tokens(line, "prompt", cells["prompt"]),
        _tokens(line, "output", cells["output"]),
    )


def _arrival(line: int, text: str, unit: int) -> int:
    if _NUMBER.fullmatch(text):
        return round(Fraction(text) * unit)
    date = _DATE.fullmatch(text)
    try:
        if date:
            whole = datetime.fromisoformat(date[1]) - datetime(1970, 1, 1)  # noqa: DTZ001
            return (whole.days * 86400 + whole.seconds) * NANOSECONDS + int((date[2] or "").ljust(9, "0"))
    except ValueError:
        pass
    raise BadTrace(line, f"has the arrival {text[:40]!r}, which is neither a number nor a date with a time")


def _tokens(line: int, name: str, text: str) -> int:
    if not _NUMBER.fullmatch(text) or Fraction(text).denominator != 1 or not 1 <= Fraction(text) <= LONGEST:
        raise BadTrace(line, f"has {text[:40]!r} tokens of {name}; it must be a whole number of at least 1")
    return int(Fraction(text))
