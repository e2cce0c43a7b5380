"""`grade set`: problem sets with their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.output import Refused, examples, print_json, verbatim

if TYPE_CHECKING:
    from grader.sets import Sheet

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
    + examples("grade set week-1.toml --out week-1", "grade set week-1.toml --out week-1 --force --json"),
)
@click.argument("path", metavar="SET.toml")
@click.option("--out", required=True, metavar="DIR", help="The folder to write to.")
@click.option(
    "--format", "names", multiple=True, default=("md",), metavar="F", help="A format, md unless told; repeatable."
)
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@options.as_json
def command(path: str, out: str, names: tuple[str, ...], *, force: bool, as_json: bool) -> None:
    """Write a problem set: DIR/sheets to hand out, DIR/keys to keep.

    The same set file always gives the same sheet. Sheets hold no answers and no seeds; keys/key.json is what judging
    the answers will take. Whoever has this tool can work out every exercise that it can draw.
    """
    from pathlib import Path

    from grader.exercise import exact
    from grader.posing import Undrawable
    from grader.sets import Exists, InvalidSet, TooFew, formats, read_set, sheet, write

    unknown = [name for name in names if name not in formats()]
    if unknown:
        raise Refused(f"There is no format {unknown[0]!r}; there is {', '.join(formats())}.")
    try:
        drawn = sheet(read_set(Path(path)))
    except (InvalidSet, TooFew) as error:
        raise Refused(str(error)) from error
    except Undrawable as error:
        raise Refused(f"{error.slug} has no exercise for seed {error.seed}; take another seed.") from error
    try:
        written = write(Path(out), _files(drawn, names), force=force)
    except Exists as error:
        raise Refused(str(error)) from error
    except (OSError, ValueError) as error:
        raise Refused(f"{out} cannot be written: {getattr(error, 'strerror', None) or error}.") from error
    if as_json:
        print_json(
            title=drawn.title, exercises=len(drawn.entries), points=exact(drawn.points), files=list(map(str, written))
        )
        return
    for file in written:
        click.echo(file)


def _files(sheet: Sheet, names: tuple[str, ...]) -> dict[str, str]:
    from grader.sets import record, rendered

    files = {f"sheets/sheet.{name}": rendered("sheet", sheet, name) for name in names}
    keys = {f"keys/key.{name}": rendered("key", sheet, name) for name in names}
    return files | keys | {"keys/key.json": record([sheet])}
