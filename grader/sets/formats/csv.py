"""CSV: a table to type answers into for each sheet, and one table with all keys for the instructor.

The tables hold no title and no name: whatever a spreadsheet could take for a formula, a date or a number of its own
is not in them, or is guarded. They begin with a byte order mark, by which a spreadsheet knows that they are UTF-8, and
keeps them so when it saves what a student typed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from fractions import Fraction

from grader.amounts import natural
from grader.answers.gradebook import printed
from grader.exercise import NUMERIC, Part
from grader.sets.formats import Files, Format
from grader.sets.sheets import Entry, Sheet
from grader.solution import answer
from grader.tables import guarded

BLANK = ("student", "item", "part", "unit", "answer")  # as `grade submit --answers` reads it
KEY = ("student", "item", "part", "points", "exercise", "answer", "reason")
BOM = "\ufeff"


class Csv(Format):
    """No template: cells are quoted where they must be, and guarded."""

    def files(self, kind: str, sheet: Sheet, text: str) -> Files:  # noqa: ARG002  there is no template
        """Return the table to type answers into; where the question names no unit, it names none either."""
        if kind == "key":
            return {}
        rows = ([sheet.student, *place, part.unit * part.unit_in_question, ""] for _, part, place in _parts(sheet))
        return {f"{sheet.stem(kind)}.{self.suffix}": _table(BLANK, rows)}

    def class_files(self, kind: str, sheets: Iterable[Sheet]) -> Files:
        """Return the table with the keys of all sheets, by code."""
        if kind == "sheet":
            return {}
        rows = (_key(sheet, *found) for sheet in sheets for found in _parts(sheet))
        return {f"key.{self.suffix}": _table(KEY, rows)}


def _parts(sheet: Sheet) -> Iterator[tuple[Entry, Part, tuple[str, str]]]:
    """Give all parts with their places: the number, and the letter where there are several."""
    for entry in sheet.entries:
        for part in entry.exercise.parts:
            yield entry, part, (str(entry.number), part.part * (len(entry.parts) > 1))


def _key(sheet: Sheet, entry: Entry, part: Part, place: tuple[str, str]) -> list[str]:
    exercise = entry.exercise
    name = f"{exercise.family}@{exercise.revision}/{exercise.seed}"
    right = answer(part)
    if part.kind in NUMERIC and "/" in (part.key or ""):  # 1/3 would become the first of March
        right = natural(Fraction(part.key or 0), part.unit or "1").replace(",", "")
    return [sheet.student, *place, printed(entry.parts[part.part]), name, right, part.reason]


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    table.writerows(map(guarded, row) for row in rows)
    return BOM + text.getvalue()


writer = Csv()
