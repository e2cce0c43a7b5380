"""How a posed exercise is printed: for a person, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli.learner import shown
from grader.cli.output import print_json, printed, wrapped

if TYPE_CHECKING:
    from grader.exercise import Exercise, Given

A_LINE = 160  # characters of a question and its options that are read at a glance


def print_exercise(exercise: Exercise, *, as_json: bool) -> None:
    """Print an exercise with its id and the command that answers it; nothing that gives its key away."""
    text = statement(exercise)
    if as_json:
        print_json(
            exercise=exercise.id,
            family=exercise.family,
            revision=exercise.revision,
            seed=exercise.seed,
            statement=text,
            givens=_described(exercise.givens),
            parts=[
                {"part": p.part, "asks": p.asks, "question": p.question, "kind": p.kind, "unit": p.unit}
                | {"options": list(p.options), "givens": _described(p.givens)}
                for p in exercise.parts
            ],
            convention=exercise.convention,
        )
        return
    address = shown(exercise.family, exercise.seed)
    several = " --part LETTER" if len(exercise.parts) > 1 else ""
    printed(address, "cyan")
    click.echo(f"\n{text}\n")
    if any(part.kind == "policy" for part in exercise.parts):
        click.echo(f"To begin: grade show {address} --template > policy.toml")
        click.echo(f"To practise: grade submit {address} --file policy.toml --dry-run")
        click.echo(f"To answer: grade submit {address} --file policy.toml")
    else:
        click.echo(f'To answer: grade submit {address}{several} "ANSWER"')


def statement(exercise: Exercise) -> str:
    """Return the story, the givens, the questions and the conventions."""
    several = len(exercise.parts) > 1
    paragraphs = [*map(wrapped, _paragraphs(exercise)), _table(exercise.givens)]
    for part in exercise.parts:
        question, listed = f"{f'{part.part}) ' if several else ''}{part.question}", ", ".join(part.options)
        if len(question) + len(listed) > A_LINE:
            paragraphs += [wrapped(question), "\n".join(wrapped(option, indent=4) for option in part.options)]
        else:
            paragraphs.append(wrapped(f"{question} ({listed})" if listed else question))
        paragraphs.append(_table(part.givens))
    return "\n\n".join(filter(None, [*paragraphs, wrapped(exercise.convention)]))


def _paragraphs(exercise: Exercise) -> list[str]:
    if all(part.kind != "policy" for part in exercise.parts):
        return [exercise.statement]
    from grader.executing.session_policy.rules import paragraphs

    return paragraphs(exercise.statement)


def _table(givens: tuple[Given, ...]) -> str:
    from grader.givens import shown as value

    rows = [(given.symbol, value(given), given.says) for given in givens]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
    return "\n".join(f"  {symbol:{widths[0]}}  {amount:{widths[1]}}  {says}".rstrip() for symbol, amount, says in rows)


def _described(givens: tuple[Given, ...]) -> list[dict[str, str]]:
    return [{"name": g.name, "symbol": g.symbol, "value": g.value, "unit": g.unit} for g in givens]
