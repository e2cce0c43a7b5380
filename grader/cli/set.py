"""`grade set`: problem sets with their keys, one sheet for everybody or one for each student."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.output import Refused, aside, counted, examples, print_json, verbatim

if TYPE_CHECKING:
    from pathlib import Path

    from grader.sets import HandedOut, ProblemSet, Sheet

EXAMPLE = """\
title = "Week 1: where the memory goes"

[[items]]
family = "max-context"  # this very exercise, for everybody
seed = 7
points = 4

[[items]]
family = "kv-per-token"  # two that are drawn for this sheet
count = 2
points = 1.5
"""


@click.command(
    "set",
    epilog=verbatim("A set file:", *EXAMPLE.splitlines())
    + "\n\n"
    + examples(
        "grade set week-1.toml --out week-1",
        "grade set week-1.toml --out week-1 --force --json",
        after="For a class, an own sheet for each student: grade set week-1.toml --roster roster.csv --out class",
    ),
)
@click.argument("path", metavar="SET.toml")
@click.option("--out", required=True, metavar="DIR", help="The folder to write to.")
@click.option(
    "--format", "names", multiple=True, default=("md",), metavar="F", help="A format, md unless told; repeatable."
)
@click.option(
    "--roster", metavar="CSV", help="An individual sheet for each student; columns id or email, and perhaps name."
)
@click.option(
    "--secret-file",
    "secret_file",
    metavar="FILE",
    help="The course secret that individual exercises come from; GRADE_SECRET, else DIR/keys/secret, made if need be.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Processes that write individual sheets; as many as there are cores.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@options.as_json
def command(
    path: str,
    out: str,
    names: tuple[str, ...],
    roster: str | None,
    secret_file: str | None,
    workers: int | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Write a problem set: DIR/sheets to hand out, DIR/keys to keep.

    The same set file always gives the same sheet; with a roster, the same set file and secret the same sheets. Sheets
    hold no answers and no seeds; keys/key.json is what judging the answers takes. Whoever has this tool can work out
    every exercise that it can draw: individual sheets stop copying, and only an exam room stops the tool.

    With a roster a run that was interrupted goes on where it was, and students who join later get sheets that nobody
    has. Names stand on the heads of sheets and in keys/roster.csv, and nowhere else.
    """
    from pathlib import Path

    from grader.sets import NoFormat, read_set, writer

    if roster is None and (secret_file or workers):
        raise Refused("--secret-file and --workers go with --roster; without it there is one sheet for everybody.")
    names = tuple(dict.fromkeys(names))
    with _refusals(out):
        try:
            for name in names:
                writer(name)
        except NoFormat as error:
            raise Refused(str(error)) from error
        problem_set = read_set(Path(path))
        if roster is None:
            _for_everybody(problem_set, Path(out), names, force=force, as_json=as_json)
        else:
            _for_each(problem_set, Path(roster), secret_file, Path(out), names, workers, force=force, as_json=as_json)


@contextmanager
def _refusals(out: str) -> Iterator[None]:
    """Turn what can go wrong into one sentence."""
    from grader.posing import Undrawable
    from grader.sets import BadSecret, CannotJudge, Exists, InvalidRoster, InvalidSet, OtherClass, Reaches, TooFew

    try:
        yield
    except (InvalidSet, CannotJudge, Reaches, TooFew, InvalidRoster, BadSecret, OtherClass, Exists) as error:
        raise Refused(str(error)) from error
    except Undrawable as error:
        raise Refused(f"{error.slug} has no exercise for seed {error.seed}; take another seed.") from error
    except (OSError, ValueError) as error:
        raise Refused(f"{out} cannot be written: {getattr(error, 'strerror', None) or error}.") from error


def _for_everybody(problem_set: ProblemSet, out: Path, names: tuple[str, ...], *, force: bool, as_json: bool) -> None:
    from grader.exercise import exact
    from grader.sets import Folder, check, save_blank, sheet, write

    drawn = sheet(problem_set)
    check(((e.number, e.exercise.family, [part.kind for part in e.exercise.parts]) for e in drawn.entries), names)
    Folder(out).make()
    written = write(out, _files(problem_set, drawn, names), force=force)
    answers = Folder(out).answers
    if save_blank(answers, [(entry.number, list(entry.parts)) for entry in drawn.entries], ()):
        written.append(answers)
    if as_json:
        print_json(
            title=drawn.title, exercises=len(drawn.entries), points=exact(drawn.points), files=list(map(str, written))
        )
        return
    for file in written:
        click.echo(file)


def _files(problem_set: ProblemSet, sheet: Sheet, names: tuple[str, ...]) -> dict[str, str | bytes]:
    from grader.sets import files, record, record_of, writer

    found: dict[str, str | bytes] = {}
    for kind in ("sheet", "key"):
        for name in names:
            of_format = {**files(kind, sheet, name), **writer(name).class_files(kind, [sheet])}
            found |= {f"{kind}s/{file}": content for file, content in of_format.items()}
    return found | {"keys/key.json": "".join(record(problem_set, [record_of(sheet)]))}


def _for_each(
    problem_set: ProblemSet,
    roster: Path,
    secret_file: str | None,
    out: Path,
    names: tuple[str, ...],
    workers: int | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    from grader.exercise import exact
    from grader.sets import Folder, find_secret, hand_out, read_roster

    read = read_roster(roster)
    for note in read.notes:
        aside(note)
    folder = Folder(out)
    secret = find_secret(secret_file, os.environ, folder.keys / "secret")
    done = hand_out(
        problem_set,
        read.students,
        secret,
        names,
        folder,
        workers=workers or os.cpu_count() or 1,
        force=force,
        progress=_progress,
    )
    _remarks(done)
    if as_json:
        print_json(
            title=problem_set.title,
            exercises=sum(item.count for item in problem_set.items),
            points=exact(sum(item.count * item.points for item in problem_set.items)),
            students=done.students,
            written=done.written,
            kept=done.kept,
            gone=list(done.gone),
            shared={str(number): count for number, count in done.shared.items()},
            files=list(map(str, done.files)),
        )
        return
    sheets = f"{counted(done.written, 'sheet')} written, {done.kept} there already"
    click.echo(f"{counted(done.students, 'student')}. {sheets}: {out / 'sheets'}")
    click.echo(f"For you alone: {folder.keys} (key.json, roster.csv, answers.csv, and the keys)")


def _progress(what: str, number: int, total: int) -> None:
    """Tell how far it is: on one line of a terminal, else every tenth of the way."""
    if sys.stderr.isatty():
        click.echo(f"\r{number} of {total} {what}", err=True, nl=number == total)
    elif number == total or number * 10 // total > (number - 1) * 10 // total:
        click.echo(f"{number} of {total} {what}", err=True)


def _remarks(done: HandedOut) -> None:
    for number, count in done.shared.items():
        aside(f"Exercise {number}: there are too few different ones; {count} students share theirs with another.")
    if done.gone:
        aside(
            f"{len(done.gone)} of those who have a sheet stand no longer in the roster; their sheets were left: "
            f"{', '.join(done.gone[:5])}{', ...' * (len(done.gone) > 5)}."  # noqa: PLR2004  as many as a line holds
        )
