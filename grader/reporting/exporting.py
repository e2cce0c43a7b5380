"""Everything that a ledger holds of a student, for the student to read."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from datetime import datetime
from fractions import Fraction
from io import StringIO
from typing import Any

from grader.exercise import exact
from grader.ledger import Row
from grader.tables import guarded

COLUMNS = (
    *("number", "utc", "what", "exercise", "revision", "part", "raw", "reading", "verdict", "score", "slips"),
    *("attempt", "kind", "level", "submission", "reason", "record", "version", "receipt"),
)


def as_json(student: str, rows: Iterable[Row]) -> str:
    """Return one JSON object, in ASCII: the student and their rows in the order of recording, nothing left out."""
    return json.dumps({"schema": 1, "student": student, "rows": [_described(row) for row in rows]}, indent=1) + "\n"


def as_csv(rows: Iterable[Row]) -> str:
    """Return a table with a line for each row, nothing left out but whose it is."""
    text = StringIO()
    table = csv.writer(text)  # ends lines as RFC 4180 does, so that a carriage return in a cell is quoted
    table.writerow(COLUMNS)
    for row in rows:
        said = _described(row)
        said |= {"slips": ", ".join(said.get("slips", ())), "record": getattr(row, "record", "")}
        table.writerow(guarded(str(said.get(column, ""))) for column in COLUMNS)
    return text.getvalue()


def _described(row: Row) -> dict[str, Any]:
    fields = row._asdict()
    described: dict[str, Any] = {"number": fields.pop("number"), "what": type(row).__name__.lower()}
    if "family" in fields:
        described["exercise"] = f"{fields.pop('family')}/{fields.pop('seed')}"
    fields.pop("student", None)
    return described | {name: _plain(name, value) for name, value in fields.items()}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Fraction):
        return exact(value)
    if isinstance(value, tuple):
        return list(value)
    return json.loads(value) if name == "record" else value
