"""Formats: templates `sheet.X.j2` and `key.X.j2`, a writer `grader/sets/formats/X.py`, or both, are the format X.

That is the whole registration; what a writer may do stands in `grader.sets.formats`.
"""

from __future__ import annotations

import pkgutil
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grader
from grader.amounts import digits
from grader.givens import shown
from grader.sets import formats as writers
from grader.sets import showing
from grader.sets.formats import KINDS, Files, Format
from grader.sets.sheets import Sheet
from grader.solution import answer, lines

if TYPE_CHECKING:
    from jinja2 import Environment


class NoFormat(LookupError):
    """A format that does not exist, or lacks what it needs; the message is one sentence."""


def folder() -> Path:
    """Return where the templates lie: in the package where it is installed, beside it in a checkout."""
    package = Path(grader.__file__).parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


def format_names() -> list[str]:
    """Return the names of all formats."""
    templates = {file.name.split(".")[1] for kind in KINDS for file in folder().glob(f"{kind}.*.j2")}
    return sorted(templates | {module.name for module in pkgutil.iter_modules(writers.__path__)})


def writer(name: str) -> Format:
    """Return the writer of a format.

    Raises:
        NoFormat: there is no such format, or a module that it needs is not installed.
    """
    if name not in format_names():
        raise NoFormat(f"There is no format {name!r}; there is {', '.join(format_names())}.")
    found = Format()
    if any(module.name == name for module in pkgutil.iter_modules(writers.__path__)):
        found = import_module(f"{writers.__name__}.{name}").writer
    missing = [module for module in found.needs if find_spec(module) is None]
    if missing:
        raise NoFormat(f"The format {name} needs {', '.join(missing)}: pip install 'servespec[{found.extra}]'.")
    found.suffix = found.suffix or name
    return found


def files(kind: str, sheet: Sheet, name: str) -> Files:
    """Return the files of a sheet, or of its key, by their path below the folder of their kind.

    Raises:
        NoFormat: see `writer`.
    """
    return writer(name).files(kind, sheet, rendered(kind, sheet, name))


def rendered(kind: str, sheet: Sheet, name: str) -> str:
    """Render a template of a format; empty where there is none of this kind."""
    template = f"{kind}.{name}.j2"
    if not (folder() / template).is_file():
        return ""
    return _environment(name).get_template(template).render(sheet=sheet)


@cache
def _environment(name: str) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  each format escapes by its own filter
    )
    filters: dict[str, Any] = {"points": _points, "shown": shown, "answer": answer}
    environment.filters.update(filters | dict(showing.FILTERS) | dict(writer(name).filters))
    environment.globals["lines"] = lines
    return environment


def _points(points: Fraction) -> str:
    return f"{digits(points)} point{'' if points == 1 else 's'}"
