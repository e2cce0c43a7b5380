"""What commands have in common when they print."""

from __future__ import annotations

import os
from typing import Any

import click


class Refused(click.ClickException):
    """A command cannot do what was asked; the message is one clear sentence."""

    exit_code = 2


def print_json(**fields: Any) -> None:
    """Print the one object of a command, in ASCII, so that every terminal and pipe carries it."""
    import json

    click.echo(json.dumps({"schema": 1, **fields}))


def printed(text: str, colour: str | None = None) -> None:
    """Print a line, in colour where the output is a terminal that wants it."""
    click.secho(text, fg=colour, bold=colour is not None, color=False if os.environ.get("NO_COLOR") else None)


def aside(text: str) -> None:
    """Say something to the person at the terminal that is not part of the output."""
    click.echo(text, err=True)


def counted(count: int, thing: str) -> str:
    """Return a number of things in words: `1 sheet`, `2 sheets`."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def examples(*lines: str, after: str = "") -> str:
    """Return the end of a `--help`: examples that run as they stand, and a last remark."""
    return "\n\n".join([verbatim("Examples:", *lines), *([verbatim(after)] if after else [])])


def verbatim(title: str, *lines: str) -> str:
    """Return a title and indented lines that click prints as they stand, blank ones included."""
    text = "\n".join([title, *(f"  {line}" if line else "" for line in lines)])
    return "\b\n" + text.replace("\n\n", "\n\n\b\n")


def wrapped(text: str, indent: int = 0) -> str:
    """Break a paragraph into lines of a readable width, all but the first indented."""
    import shutil
    import textwrap

    width = min(shutil.get_terminal_size().columns, 88)
    return textwrap.fill(
        text, max(width, 20), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def print_rubric(rubric: tuple[str, ...]) -> None:
    """Print the questions for the learner's own review of a page, which carry no points."""
    click.echo("\nTo review a page of your own by, without points:")
    for question in rubric:
        click.echo(wrapped(f"- {question}", indent=2))
