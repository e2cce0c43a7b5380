"""Answers that are run: seconds pass, and the learner sees how many runs are done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from grader.cli.output import aside

if TYPE_CHECKING:
    from grader.executing.session_policy import Run
    from grader.exercise import Exercise, Part
    from grader.judging import Judgement


def run(part: Part, text: str, *, practice: bool) -> Run:
    """Run a policy and judge it; for practice on other seeds than those that count."""
    from grader.executing.session_policy import judged

    try:
        return judged(part, text, practice=practice, progress=_progress)
    finally:
        if sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)


def _progress(done: int, of: int) -> None:
    """Show how many runs are done: on one line of a terminal, and once where nobody watches."""
    if sys.stderr.isatty():
        click.echo(f"\rRun {done + 1} of {of} ...", nl=False, err=True)
    elif not done:
        click.echo(f"Running the policy {of} times ...", err=True)


def write_page(path: str, exercise: Exercise, judgement: Judgement) -> bool:
    """Write the report on a policy as a page; say why it is not written, and whether it is."""
    from grader.executing.session_policy import Run, report_page

    if not isinstance(judgement, Run) or judgement.graded is None:
        aside("No page is written: nothing was run.")
        return False
    text = report_page(exercise, judgement)
    try:
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123  as in grader.cli.submit
            file.write(text)
    except OSError as error:
        aside(f"{path} cannot be written: {error.strerror}.")
    except ValueError:  # a NUL in the name of the file
        aside(f"{path!r} is no file name.")
    else:
        return True
    return False
