"""`grade submit --answers`: a class's answers, judged by a key file alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from grader.answers import BadKey, Gradebook, Grading, Total, Unplaced, Unreadable, read_answers, read_key
from grader.answers.gradebook import printed as decimal
from grader.answers.policy_file import read_policy
from grader.cli.output import Refused, aside, counted, print_json
from grader.feedback import visible
from grader.ledger import Ledger, LedgerError, ledger_path, student_name
from grader.sourced import InvalidSet

MOST_LISTED = 1000  # problems in the JSON object; all of them stand on stderr
COLUMNS = ("student", "points", "of", "correct", "wrong", "unread", "missing")


def submit_answers(
    answers: str,
    key: str | None,
    policy: str | None,
    out: str | None,
    ledger: str | None,
    student: str | None,
    *,
    as_json: bool,
) -> int:
    """Judge a file or a folder of answers, record them, and write the gradebook.

    Returns 0 where every answer was read, else 1.
    """
    if key is None:
        raise click.UsageError("--answers needs --key, the key.json that `grade set` wrote.")
    try:
        known = read_key(Path(key))
        found = read_answers(Path(answers))
        rules = read_policy(Path(policy)) if policy else None
        read = recorded = 0
        with Ledger.open(ledger_path(ledger, os.environ)) as opened:
            grading = Grading(known, opened, student_name(student, os.environ), rules)
            for problem in grading.problems:
                aside(visible(str(problem)))
            count, problems = len(grading.problems), list(grading.problems[:MOST_LISTED])
            for graded in grading.grade(found):
                read, recorded = graded.answers, graded.recorded
                for problem in graded.problems:
                    aside(visible(str(problem)))
                count += len(graded.problems)
                problems += graded.problems[: MOST_LISTED - len(problems)]
                aside(f"{counted(read, 'answer')} judged, {recorded} of them new; all are recorded.")
            totals = _gradebook(grading.gradebook, out)
    except (BadKey, Unreadable, LedgerError, InvalidSet) as error:
        raise Refused(str(error)) from error
    if grading.untimed:
        aside(f"Answers without a time: {grading.untimed}. They count as handed in before the deadline.")
    silent = len(set(known.students) - totals.keys())
    if silent:
        aside(f"Not in the gradebook, as they handed in nothing: {counted(silent, 'student')} of the key.")
    if as_json:
        _print_json(totals, problems, answers=read, recorded=recorded, count=count, silent=silent)
    else:
        _print_table(totals)
    return int(count > 0)


def _gradebook(gradebook: Gradebook, out: str | None) -> dict[str, Total]:
    """Write the gradebook, whole or not at all, and return the totals."""
    if out is None:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123  the totals are made by writing
            return gradebook.write(nowhere)
    path = Path(out)
    special = path.exists() and not path.is_file()  # a device or a pipe, such as /dev/stdout, is written to as it is
    path = path.resolve() if path.is_symlink() and not special else path
    unfinished = path if special else path.with_name(f".{path.name}.{os.getpid()}.unfinished")  # not another run's
    try:
        with unfinished.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            totals = gradebook.write(file)
            if not special:
                file.flush()
                os.fsync(file.fileno())
        if not special:
            unfinished.replace(path)
    except (OSError, ValueError) as error:
        raise Refused(f"{out} cannot be written: {getattr(error, 'strerror', None) or error}.") from error
    finally:
        if not special:
            unfinished.unlink(missing_ok=True)
    return totals


def _print_table(totals: dict[str, Total]) -> None:
    lines = [COLUMNS, *((student, *_numbers(total)) for student, total in totals.items())]
    if len(totals) > 1:
        lines.append(("all", *_numbers(_sum(totals))))
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    for line in lines:
        cells = [
            f"{line[0]:{widths[0]}}",
            *(f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        click.echo("  ".join(cells))
    sys.stdout.flush()


def _numbers(total: Total) -> tuple[str, ...]:
    counts = (total.correct, total.wrong, total.unread, total.missing)
    return (decimal(total.points), decimal(total.of), *map(str, counts))


def _sum(totals: dict[str, Total]) -> Total:
    whole = Total()
    for total in totals.values():
        whole.points += total.points
        whole.of += total.of
        whole.correct += total.correct
        whole.wrong += total.wrong
        whole.unread += total.unread
        whole.missing += total.missing
    return whole


def _print_json(
    totals: dict[str, Total], problems: list[Unplaced], *, answers: int, recorded: int, count: int, silent: int
) -> None:
    print_json(
        answers=answers,
        recorded=recorded,
        students=[
            {"student": student}
            | dict(zip(COLUMNS[1:3], _numbers(total)[:2], strict=True))
            | {"correct": total.correct, "wrong": total.wrong, "unread": total.unread, "missing": total.missing}
            for student, total in totals.items()
        ],
        silent=silent,
        problems=[
            {"file": p.file, "line": p.line, "student": p.student, "item": p.item, "why": p.why} for p in problems
        ],
        problem_count=count,
    )
