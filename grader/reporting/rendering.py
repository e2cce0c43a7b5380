"""A report as text, as CSV and as a page."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from io import StringIO
from typing import Any

from grader.feedback import visible, width
from grader.reporting import plots
from grader.reporting.report import Cell, Report, Table
from grader.tables import guarded

LONGEST = 72  # characters of a sentence in a text table


def as_text(tables: Sequence[Table]) -> str:
    """Return tables for a terminal, numbers to the right; where there is nothing to compute from stands a dash."""
    return "\n\n".join(map(_text, tables)) + "\n"


def _text(table: Table) -> str:
    lines = [table.header, *(tuple(_short(visible(shown(cell))) for cell in row) for row in table.rows)]
    numeric = [all(not isinstance(row[i], str) for row in table.rows) for i in range(len(table.header))]
    widths = [max(width(line[i]) for line in lines) for i in range(len(table.header))]
    return "\n".join("  ".join(map(_padded, line, widths, numeric)).rstrip() for line in lines)


def _padded(cell: str, columns: int, right: bool) -> str:  # noqa: FBT001  one of three parallel columns
    blank = " " * (columns - width(cell))
    return blank + cell if right else cell + blank


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def as_csv(tables: Sequence[Table]) -> str:
    """Return tables as CSV, a blank line between them; no cell is taken for a formula by a spreadsheet."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, table in enumerate(tables):
        if number:
            text.write("\n")
        writer.writerow(table.header)
        writer.writerows([guarded("" if cell is None else visible(shown(cell))) for cell in row] for row in table.rows)
    return text.getvalue()


def as_data(table: Table) -> dict[str, Any]:
    """Return a table as JSON carries it: shares as decimals of two places."""
    names = [name.replace(" ", "_") for name in table.header]
    return {
        "by": table.by,
        "rows": [
            {name: shown(cell) if isinstance(cell, Fraction) else cell for name, cell in zip(names, row, strict=True)}
            for row in table.rows
        ],
    }


def as_page(report: Report, tables: Sequence[Table], title: str) -> str:
    """Return one HTML file with all tables and plots; no script, and nothing is fetched."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from grader.sets.rendering import folder

    environment = Environment(
        loader=FileSystemLoader(folder()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.filters["shown"] = shown
    environment.tests["number"] = lambda cell: not isinstance(cell, str)
    by = {table.by: table for table in tables}
    of = by.get("item") or by.get("family")
    return environment.get_template("report.html.j2").render(
        title=title,
        report=report,
        tables=tables,
        points=plots.scatter(of) if of else [],
        what=of.by if of else "",
        plane=(plots.WIDTH, plots.HEIGHT),
        slips=plots.slips(by["slip"]) if "slip" in by else [],
        reached=plots.reached(by["student"]) if "student" in by else [],
    )


def shown(cell: Cell) -> str:
    """Return a cell in words: shares and correlations to two decimals."""
    if isinstance(cell, Fraction):
        return f"{float(cell):.2f}"
    return "-" if cell is None else str(cell)
