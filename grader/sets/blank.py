"""The table to type answers into: a row for each student, a column for each part, as `grade submit --answers` reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.sets.writing import replace
from grader.tables import Row, rows


def save_blank(path: Path, parts: Iterable[tuple[int, Sequence[str]]], students: Iterable[str]) -> bool:
    """Write the table, unless somebody has typed answers into it; say whether it was written.

    Args:
        path: the file.
        parts: the number of each exercise, and the letters of its parts.
        students: the codes, or none where a sheet is for everybody.

    Raises:
        OSError: it cannot be read or written.
    """
    if path.exists() and _is_filled(path):
        return False
    columns = [f"{number}{letter * (len(letters) > 1)}" for number, letters in parts for letter in letters]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["student", *columns])
    table.writerows([student, *[""] * len(columns)] for student in students)
    replace(path, [text.getvalue()])
    return True


def _is_filled(path: Path) -> bool:
    """Say whether anything stands in the table beside the students; a row that cannot be read counts as something."""
    first, *rest = rows(path) if path.stat().st_size else [Row(1, ())]
    return not isinstance(first, Row) or any(not isinstance(row, Row) or any(row.cells[1:]) for row in rest)
