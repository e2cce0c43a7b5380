"""`grade show`: the statement of an exercise again."""

from __future__ import annotations

import click

from grader.cli import options
from grader.cli.address import Address
from grader.cli.learner import learner, part_of
from grader.cli.output import Refused, examples, print_json
from grader.cli.posed import print_exercise


@click.command(
    "show",
    epilog=examples("grade show max-context/10", "grade show exercise-1", "grade show session-policy/7 --template"),
)
@options.exercise_id
@click.option("--template", is_flag=True, help="Print a policy with all its fields explained, to begin with.")
@options.as_json
@options.whose
def command(address: Address, ledger: str | None, student: str | None, *, template: bool, as_json: bool) -> None:
    """Print the statement of an exercise again, and pose it where it was not yet."""
    with learner(ledger, student) as who:
        exercise = who.pose(who.exercise(address))
    if template:
        part = part_of(exercise, None)
        if part.kind != "policy":
            raise Refused(f"{exercise.id} asks for no policy, so there is no template.")
        from grader.executing.session_policy import template as blank

        text = blank(part)
        if as_json:
            print_json(exercise=exercise.id, template=text)
        else:
            click.echo(text, nl=False)
        return
    print_exercise(exercise, as_json=as_json)
