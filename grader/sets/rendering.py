"""Formats: a file `templates/sheet.X.j2` with its `key.X.j2` is the format X, and that is the whole registration."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grader
from grader.amounts import digits
from grader.givens import shown
from grader.sets.sheets import Sheet
from grader.solution import answer, lines

if TYPE_CHECKING:
    from jinja2 import Environment

_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$&])")


def folder() -> Path:
    """Return where the templates lie: in the package where it is installed, beside it in a checkout."""
    package = Path(grader.__file__).parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


def formats() -> list[str]:
    """Return the names of all formats."""
    return sorted(file.name.split(".")[1] for file in folder().glob("sheet.*.j2"))


def rendered(kind: str, sheet: Sheet, name: str) -> str:
    """Render a sheet, or its key: `kind` is `sheet` or `key`, `name` the format."""
    return _environment().get_template(f"{kind}.{name}.j2").render(sheet=sheet)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  Markdown is escaped by its own filter
    )
    filters: dict[str, Any] = {"md": _markdown, "points": _points, "shown": shown, "answer": answer}
    environment.filters.update(filters)
    environment.globals["lines"] = lines
    return environment


def _markdown(text: str) -> str:
    """Escape what Markdown would take for markup."""
    return _MARKDOWN.sub(r"\\\1", text)


def _points(points: Fraction) -> str:
    return f"{digits(points)} point{'' if points == 1 else 's'}"
