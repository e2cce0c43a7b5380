"""`grade hint`: the next hint for a part."""

from __future__ import annotations

import click

from grader.cli import options
from grader.cli.address import Address
from grader.cli.learner import learner, part_of, shown
from grader.cli.output import aside, examples, print_json, wrapped


@click.command("hint", epilog=examples("grade hint max-context/7", "grade hint max-context/7 --json"))
@options.exercise_id
@options.part
@options.as_json
@options.whose
def command(address: Address, part: str | None, ledger: str | None, student: str | None, *, as_json: bool) -> None:
    """Give the next hint: first which laws, then the formulas, then the numbers in them. It is recorded."""
    from grader.solution import hints

    with learner(ledger, student) as who:
        exercise = who.exercise(address)
        meant = part_of(exercise, part)
        steps = hints(exercise, meant)
        taken = [row.level for row in who.ledger.help(who.student, exercise, meant.part) if row.kind == "hint"]
        level = min(max(taken, default=0) + 1, len(steps))
        who.ledger.record_help(who.student, exercise, meant.part, "hint", level)
    if as_json:
        print_json(exercise=exercise.id, part=meant.part, level=level, of=len(steps), hint=steps[level - 1])
        return
    click.echo(wrapped(f"Hint {level} of {len(steps)}. {steps[level - 1]}"))
    if level == len(steps):
        aside(f"That is the last one; the worked solution: grade solution {shown(exercise.family, exercise.seed)}")
