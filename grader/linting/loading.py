"""Loading a family from a file, wherever the file lies."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader.linting.lack import Lack

if TYPE_CHECKING:
    from types import ModuleType

    from grader.families import Poses

NEEDED = ("pose", "search", "outcome", "grid", "kinds", "objective", "section", "revision", "preset")


class NoFamily(Exception):
    """The file holds no family; `lack` says why."""

    def __init__(self, lack: Lack) -> None:
        super().__init__(lack)
        self.lack = lack


class Loaded(NamedTuple):
    """A family with the slug that its file gives it, and the text above it."""

    slug: str
    family: Poses
    says: str


def loaded(path: Path) -> Loaded:
    """Run a file and return its family.

    Raises:
        NoFamily: it cannot be read or run, or holds none.
    """
    module = _module(path)
    family = getattr(module, "family", None)
    if family is None:
        raise NoFamily(Lack("no-family"))
    if not set(NEEDED) <= set(dir(family)):
        raise NoFamily(Lack.of("other-thing", kind=type(family).__name__))
    return Loaded(path.stem.replace("_", "-"), family, (module.__doc__ or "").strip())


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"linted_{path.stem}", path) if path.suffix == ".py" else None
    if spec is None or spec.loader is None:
        raise NoFamily(Lack("no-python"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses of the file look themselves up there
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise NoFamily(Lack.of("syntax", line=error.lineno or 0, why=error.msg)) from error
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        if isinstance(error, OSError) and not lines:
            raise NoFamily(Lack.of("unreadable", why=error.strerror or error)) from error
        why = f"{type(error).__name__}: {error}"
        raise NoFamily(Lack.of("fails", line=lines[-1] if lines else 0, why=why)) from error
    finally:
        sys.modules.pop(spec.name, None)
    return module
