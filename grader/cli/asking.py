"""Reading what a learner types: lines from a terminal or a pipe, and answers from files that a line names."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import BinaryIO

import click

from grader.cli.output import Refused
from grader.cli.submit import LONGEST, answer_text

FILE = "@"  # before the name of a file


class Ended(EOFError):
    """There is nothing more to read."""


class Unusable(ValueError):
    """What was typed cannot be taken for an answer; the message is one sentence."""


def ask(prompt: str) -> str:
    """Ask for a line and return it without outer white space, or the text of the file that it names.

    Raises:
        Ended: there is none.
        Unusable: it is no text, too long, or names a file that cannot be read.
    """
    try:
        line = _from_terminal(prompt) if sys.stdin.isatty() else _from_pipe(prompt, sys.stdin.buffer)
    except UnicodeDecodeError as error:
        raise Unusable("This is not UTF-8 text.") from error
    except (EOFError, OSError) as error:
        raise Ended from error
    text = line.strip()
    if not text.startswith(FILE):
        return text
    try:
        return answer_text((), os.path.expanduser(text.removeprefix(FILE).strip()))  # noqa: PTH111  as in submit
    except Refused as error:
        raise Unusable(error.message) from error


def _from_terminal(prompt: str) -> str:
    with suppress(ImportError):
        import readline  # noqa: F401  gives `input` the arrow keys
    try:
        return input(prompt)
    except EOFError:
        click.echo()  # what is printed next is not to stand behind the prompt
        raise


def _from_pipe(prompt: str, stdin: BinaryIO) -> str:
    """Read a line and print it behind the prompt, so that what is printed reads as a conversation."""
    from grader.feedback import visible

    content = stdin.readline(LONGEST + 1)
    if not content:
        raise EOFError
    rest = content
    while len(rest) > LONGEST and not rest.endswith(b"\n"):
        rest = stdin.readline(LONGEST + 1)
    if len(content) > LONGEST:
        raise Unusable("This line is longer than 64 KiB, which no answer is.")
    line = content.decode("utf-8-sig").strip()
    click.echo(f"{prompt}{visible(line)}")
    return line
