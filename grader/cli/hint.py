"""`grade hint`: the next hint for a part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from grader.cli import options
from grader.cli.address import Address
from grader.cli.learner import learner, part_of, shown
from grader.cli.output import aside, examples, print_json, wrapped

if TYPE_CHECKING:
    from grader.cli.learner import Learner
    from grader.exercise import Exercise, Part


class Hint(NamedTuple):
    """A hint, its level, and how many there are."""

    level: int
    of: int
    text: str


@click.command("hint", epilog=examples("grade hint max-context/10", "grade hint max-context/10 --json"))
@options.exercise_id
@options.part
@options.as_json
@options.whose
def command(address: Address, part: str | None, ledger: str | None, student: str | None, *, as_json: bool) -> None:
    """Give the next hint: first which laws, then the formulas, then the numbers in them. It is recorded."""
    with learner(ledger, student) as who:
        exercise = who.exercise(address)
        meant = part_of(exercise, part)
        hint = next_hint(who, exercise, meant)
    if as_json:
        print_json(exercise=exercise.id, part=meant.part, level=hint.level, of=hint.of, hint=hint.text)
        return
    print_hint(hint)
    if hint.level == hint.of:
        aside(f"That is the last one; the worked solution: grade solution {shown(exercise.family, exercise.seed)}")


def next_hint(who: Learner, exercise: Exercise, part: Part) -> Hint:
    """Record that the next hint was taken, and return it; behind the last one comes the last one again."""
    from grader.solution import hints

    steps = hints(exercise, part)
    taken = [row.level for row in who.ledger.help(who.student, exercise, part.part) if row.kind == "hint"]
    level = min(max(taken, default=0) + 1, len(steps))
    who.ledger.record_help(who.student, exercise, part.part, "hint", level)
    return Hint(level, len(steps), steps[level - 1])


def print_hint(hint: Hint) -> None:
    """Print a hint with its place among all."""
    click.echo(wrapped(f"Hint {hint.level} of {hint.of}. {hint.text}"))
