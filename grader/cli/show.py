"""`grade show`: the statement of an exercise again."""

from __future__ import annotations

import click

from grader.cli import options
from grader.cli.address import Address
from grader.cli.learner import learner
from grader.cli.output import examples
from grader.cli.posed import print_exercise


@click.command("show", epilog=examples("grade show max-context/7", "grade show exercise-1"))
@options.exercise_id
@options.as_json
@options.whose
def command(address: Address, ledger: str | None, student: str | None, *, as_json: bool) -> None:
    """Print the statement of an exercise again, and pose it where it was not yet."""
    with learner(ledger, student) as who:
        exercise = who.pose(who.exercise(address))
    print_exercise(exercise, as_json=as_json)
