"""Text that a command gives out: on standard output, or into a file that is named."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.output import Refused


def give(text: str, out: str | None, said: str) -> None:
    """Print a text; or write it as a file, whole or not at all, in a folder that is there, and print what is `said`.

    Raises:
        Refused: the file cannot be written.
    """
    if out is None:
        click.echo(text, nl=False)
        return
    from grader.sets.writing import replace

    try:
        path = Path(out)
        if not path.parent.is_dir():
            raise Refused(f"{out} cannot be written: there is no folder {path.parent}.")
        replace(path, [text.encode("utf-8", "backslashreplace")])
    except (OSError, ValueError) as error:
        raise Refused(f"{out} cannot be written: {getattr(error, 'strerror', None) or error}.") from error
    click.echo(said)
