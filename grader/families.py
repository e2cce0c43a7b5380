"""Finding families: every file in `problems/` is one, its slug the file name with dashes."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Protocol

import problems
from grader.exercise import Exercise

if TYPE_CHECKING:
    from grader.posing import Rejected


class Poses(Protocol):
    """What every kind of family has."""

    objective: str
    section: str
    revision: int
    preset: bool

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of answer it asks for."""

    @property
    def grid(self) -> int | None:
        """The number of points that draws are taken from; None where there is no list of them."""

    def pose(self, slug: str, seed: int) -> Exercise:
        """Draw the exercise of a seed."""

    def search(self, slug: str, seed: int) -> tuple[Exercise, int]:
        """Draw the exercise of a seed, and say how many points were tried."""

    def outcome(self, slug: str, point: int) -> tuple[Exercise | Rejected, list[str]]:
        """Make the exercise at one point, or say why it makes none; with the names of all slips it might have."""


class UnknownFamily(LookupError):
    """No file in `problems/` has this name; `near` are similar ones."""

    def __init__(self, slug: str, near: tuple[str, ...]) -> None:
        super().__init__(slug, near)
        self.slug, self.near = slug, near

    def __str__(self) -> str:
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else "`grade list` shows them all."
        return f"There is no family {self.slug!r}; {hint}"


def slugs() -> list[str]:
    """Return the names of all families without loading one."""
    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(problems.__path__) if not m.ispkg)


@cache
def family(slug: str) -> Poses:
    """Load one family.

    Raises:
        UnknownFamily: there is no such file.
    """
    if slug not in slugs():
        from difflib import get_close_matches

        raise UnknownFamily(slug, tuple(get_close_matches(slug, slugs(), 2)))
    module = importlib.import_module(f"problems.{slug.replace('-', '_')}")
    found: Poses = module.family
    return found


def pose(slug: str, seed: int) -> Exercise:
    """Draw the exercise of a family and a seed."""
    return family(slug).pose(slug, seed)
