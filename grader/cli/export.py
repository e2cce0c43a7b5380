"""`grade export`: everything that the ledger holds of a student."""

from __future__ import annotations

import os

import click

from grader.cli import options
from grader.cli.giving import give
from grader.cli.output import aside, examples
from grader.cli.records import records


@click.command(
    "export", epilog=examples("grade export", "grade export --student ada --format csv", "grade export --out mine.json")
)
@click.option("--student", metavar="NAME", help="Whose rows; GRADE_STUDENT, else the local user.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["json", "csv"]),
    default="json",
    show_default=True,
    help="JSON has the whole record of every exercise, CSV one line for each row.",
)
@click.option("--out", metavar="FILE", help="The file to write, in place of standard output.")
@options.ledger
def command(student: str | None, kind: str, out: str | None, ledger: str | None) -> None:
    """Print everything that is stored of a student: exercises, answers, marks and help, with times in UTC.

    The ledger is all that is meant; sheets, keys and rosters are files of the instructor.
    """
    from grader.ledger import student_name
    from grader.reporting.exporting import as_csv, as_json

    name = student_name(student, os.environ)
    with records(ledger) as opened:
        rows = [] if opened is None else list(opened.rows(name))
    if not rows:
        aside(f"Nothing is stored of {name}.")
    text = as_json(name, rows) if kind == "json" else as_csv(rows)
    give(text, out, f"{len(rows)} rows of {name} are in {out}.")
