"""`grade forget`: erases a student from the ledger."""

from __future__ import annotations

import click

from grader.cli import options
from grader.cli.output import Refused, aside, examples, print_json
from grader.cli.records import records


@click.command(
    "forget",
    epilog=examples(
        "grade forget nobody --yes",
        "grade forget nobody --yes --json",
        after="Before that: grade export --student NAME --out FILE",
    ),
)
@click.argument("student", metavar="STUDENT")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
@options.ledger
def command(student: str, ledger: str | None, *, yes: bool, as_json: bool) -> int:
    """Erase every row of a student, and what they left in the file. It cannot be undone.

    The ledger keeps how many rows went, and when, with a receipt, but not whose they were. Students of a class are
    named by their code. Sheets, keys and rosters are files of yours: delete what they hold of the student yourself.
    """
    with records(ledger) as opened:
        count = sum(1 for _ in opened.rows(student)) if opened else 0
        if count and not yes and not _agreed(student, count):
            aside("Nothing was erased.")
            return 1
        # Also where nothing is left: an erasure that was cut short is finished by asking for it again.
        erased = opened.forget(student) if opened else 0
        receipt = opened.last_erasure() if opened and erased else ""
    if as_json:
        print_json(erased=erased, receipt=receipt or None)
    elif not erased:
        click.echo(f"Nothing is stored of {student!r}.")
    else:
        click.echo(f"{erased} rows are erased. The ledger keeps that number and the time, not the name: {receipt}.")
    return 0


def _agreed(student: str, count: int) -> bool:
    try:
        return click.confirm(f"Erase all {count} rows of {student!r} for good?", err=True)
    except click.Abort:
        raise Refused("Nobody answered, and nothing was erased; --yes erases without asking.") from None
