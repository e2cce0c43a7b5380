"""`grade solution`: the worked solution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grader.cli import options
from grader.cli.address import Address
from grader.cli.learner import learner, part_of
from grader.cli.output import examples, print_json, print_rubric, printed, wrapped

if TYPE_CHECKING:
    from grader.cli.learner import Learner
    from grader.exercise import Exercise, Part


@click.command("solution", epilog=examples("grade solution max-context/10", "grade solution exercise-3 --json"))
@options.exercise_id
@options.part
@options.as_json
@options.whose
def command(address: Address, part: str | None, ledger: str | None, student: str | None, *, as_json: bool) -> None:
    """Show the worked solution, of one part or of all. It is recorded."""
    with learner(ledger, student) as who:
        exercise = who.exercise(address)
        meant = exercise.parts if part is None else (part_of(exercise, part),)
        worked = [solved(who, exercise, one) for one in meant]
    if as_json:
        print_json(exercise=exercise.id, parts=worked, **({"rubric": exercise.rubric} if exercise.rubric else {}))
        return
    for place, (one, found) in enumerate(zip(meant, worked, strict=True)):
        if place:
            click.echo()
        print_solution(one, found, several=len(exercise.parts) > 1)
    if exercise.rubric:
        print_rubric(exercise.rubric)


def solved(who: Learner, exercise: Exercise, part: Part) -> dict[str, Any]:
    """Record that the worked solution was taken, and return it as its JSON."""
    from grader.solution import answer, lines

    steps = [
        {"law": line.law, "says": line.says, "latex": line.latex, "text": line.text} for line in lines(exercise, part)
    ]
    who.ledger.record_help(who.student, exercise, part.part, "solution", 1)
    return {
        "part": part.part,
        "answer": answer(part),
        "infeasible": part.key is None,
        "reason": part.reason or None,
        "steps": steps,
    }


def print_solution(part: Part, found: dict[str, Any], *, several: bool) -> None:
    """Print a worked solution: its steps, the answer, and why there is none."""
    from grader.solution import about

    for step in found["steps"]:
        if step["says"]:
            click.echo(wrapped(step["says"]))
        click.echo(wrapped(step["text"], indent=4))
    rounded = about(part)
    given = f"{rounded}, exactly {found['answer']}" if rounded else found["answer"]
    printed(f"{f'{part.part}) ' if several else ''}Answer: {given}", "green")
    if found["reason"]:
        click.echo(wrapped(found["reason"]))
