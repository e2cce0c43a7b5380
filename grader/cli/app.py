"""The group of commands, and what happens when one of them cannot go on."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from grader import __version__
from grader.cli.output import examples, print_json

COMMANDS = (
    *("list", "new", "show", "submit", "hint", "solution", "practice", "calc", "diagnose", "claims", "lab", "check"),
    *("incident", "simulate", "lint"),
    *("set", "report", "regrade", "export", "forget"),
)
UNUSABLE = 2  # a usage error, or an answer, a file or a ledger that cannot be read
INTERRUPTED = 130
FULL = {errno.ENOSPC, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC}  # what is printed is lost too


class Grade(click.Group):
    """Commands found by name: the command `new` is `command` of `grader.cli.new`.

    Whatever stops a command ends in one sentence on stderr, and in one object on stdout where `--json` asks for it.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Name the commands in the order in which they are met."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  as above
        """Load one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"grader.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant, or suggest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> Any:  # type: ignore[override]  # always standalone
        """Run a command and exit with its status."""
        typed = sys.argv[1:] if args is None else list(args)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # a terminal without a sign shows its code
        try:
            status = super().main(typed, prog_name or "grade", **extra | {"standalone_mode": False})
        except click.Abort:
            click.echo("Interrupted. Everything recorded before is safe.", err=True)
            status = INTERRUPTED
        except click.ClickException as error:
            error.show()
            status = _unusable(error.format_message(), typed)
        except Exception as error:
            if isinstance(error, OSError) and error.errno in FULL:
                click.echo(f"Error: Nothing more can be written: {error.strerror}.", err=True)
                sys.exit(UNUSABLE)
            if os.environ.get("GRADE_DEBUG"):
                raise
            sentence = (
                f"This is a mistake in grade, not in what you typed: {type(error).__name__}: {error}\n"
                "Please report it with the command you typed; with GRADE_DEBUG=1 it shows where it happened."
            )
            click.echo(sentence, err=True)
            status = _unusable(sentence, typed)
        sys.exit(status or 0)


def _unusable(sentence: str, typed: list[str]) -> int:
    if "--json" in typed:
        print_json(error=sentence)
    return UNUSABLE


@click.command(
    "grade",
    cls=Grade,
    epilog=examples(
        "grade new max-context --seed 10",
        'grade submit max-context/10 "320 tokens"',
        "grade calc concurrency --model llama-2-7b --gpu a100-80gb context=4096",
        after='Completion of commands, families and ids in bash: eval "$(_GRADE_COMPLETE=bash_source grade)"\n'
        "(zsh_source and fish_source for the other shells).",
    ),
)
@click.version_option(__version__, prog_name="grade")
def app() -> None:
    """Exercises about how transformers serve requests, posed, judged and explained.

    Exit status: 0 correct or done, 1 not correct, 2 nothing to judge or a usage error.
    """
