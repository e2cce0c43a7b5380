"""`grade report`: how hard the questions are, whether they tell students apart, and which slips are common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.giving import give
from grader.cli.output import Refused, examples, print_json
from grader.cli.records import records
from grader.reporting.groupings import GROUPINGS

if TYPE_CHECKING:
    from grader.reporting.report import Report


@click.command(
    "report",
    epilog=examples(
        "grade report",
        "grade report --by slip --json",
        "grade report --format html --out report.html",
        after="A class: grade report --key week-1/keys/key.json --format html --out week-1.html",
    ),
)
@click.option(
    "--by",
    "groupings",
    type=click.Choice(GROUPINGS),
    multiple=True,
    help="What a row is; may be repeated. Family, or item with --key or --gradebook; a page has all of them.",
)
@click.option(
    "--format", "kind", type=click.Choice(["text", "csv", "html"]), default="text", show_default=True, help="The form."
)
@click.option("--out", metavar="FILE", help="The file to write, in place of standard output.")
@click.option("--key", metavar="FILE", help="The key.json of a set: only its students and its exercises.")
@click.option("--gradebook", metavar="FILE", help="A gradebook, in place of the ledger; with --key its slips, too.")
@options.as_json
@options.ledger
def command(
    groupings: tuple[str, ...],
    kind: str,
    out: str | None,
    key: str | None,
    gradebook: str | None,
    ledger: str | None,
    *,
    as_json: bool,
) -> None:
    """Report difficulty, discrimination and the commonest slips, by student, family, objective, item or slip.

    Difficulty is the mean share of the points for the first answer of each student that could be read: 1 is easy.
    Discrimination is the correlation of that share with what the same students reach on all other questions.
    Marks are those of the ledger, new ones of `grade regrade` included, without any policy; a gradebook has the points
    that its policy made of them.
    """
    from grader.reporting.rendering import as_csv, as_data, as_page, as_text

    report, title = _report(ledger, key, gradebook)
    of_class = key is not None or gradebook is not None
    every = [by for by in GROUPINGS if of_class or by != "item"]
    if gradebook is not None and key is None:
        every = ["item", "student"]
    chosen = list(groupings) or (every if kind == "html" else ["item" if of_class else "family"])
    unknown = [by for by in chosen if by not in every and by != "item"]
    if unknown:
        raise Refused(f"A gradebook names no {unknown[0]}; give the key of its set with --key.")
    tables = [report.table(by) for by in chosen]
    if as_json:
        counts = {"students": report.students, "answers": report.answers, "unread": report.unread}
        print_json(**counts, tables=[as_data(table) for table in tables])
    elif not report.students:
        click.echo("Nothing was answered yet, so there is nothing to report.")
    elif kind == "html":
        give(as_page(report, tables, title), out, str(out))
    else:
        give((as_text if kind == "text" else as_csv)(tables), out, str(out))


def _report(ledger: str | None, key: str | None, gradebook: str | None) -> tuple[Report, str]:
    from grader.answers import BadKey, read_key
    from grader.reporting.observations import BadGradebook, from_gradebook, from_ledger
    from grader.reporting.report import Report

    try:
        known = read_key(Path(key)) if key else None
        title = known.title if known else "Report"
        if gradebook is not None:
            return Report(from_gradebook(Path(gradebook), known), _objective), title
        with records(ledger) as opened:
            return Report(from_ledger(opened, known) if opened else (), _objective), title
    except (BadKey, BadGradebook) as error:
        raise Refused(str(error)) from error


def _objective(slug: str) -> str:
    """Return what a family trains; nothing for one that is gone."""
    from grader.families import UnknownFamily, family

    try:
        return family(slug).objective
    except UnknownFamily:
        return ""
