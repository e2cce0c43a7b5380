"""Finding families: every file in `problems/` is one, its slug the file name with dashes.

To one with a chain of laws there is another that hides a mistake in its solutions, with `-mistake` behind the slug.
Whether there is one is read from the certificates, so that nobody loads a family to list them.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import problems
from grader.exercise import Exercise

if TYPE_CHECKING:
    from grader.posing import Rejected


class Poses(Protocol):
    """What every kind of family has."""

    @property
    def objective(self) -> str:
        """The learning objective it trains."""

    @property
    def section(self) -> str:
        """The chapter section."""

    @property
    def revision(self) -> int:
        """Raised whenever what it draws changes."""

    @property
    def preset(self) -> bool:
        """Whether it is an exercise printed in the chapter."""

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


MISTAKE = "-mistake"
CERTIFICATES = Path(problems.__path__[0]) / "certificates"


@cache
def slugs() -> list[str]:
    """Return the names of all families without loading one."""
    files = {m.name.replace("_", "-") for m in pkgutil.iter_modules(problems.__path__) if not m.ispkg}
    certified = (file.name.removesuffix(".toml") for file in CERTIFICATES.glob(f"*{MISTAKE}.toml"))
    return sorted(files | {slug for slug in certified if slug.removesuffix(MISTAKE) in files})


@cache
def family(slug: str) -> Poses:
    """Load one family.

    Raises:
        UnknownFamily: there is no such file.
    """
    if slug not in slugs():
        from difflib import get_close_matches

        raise UnknownFamily(slug, tuple(get_close_matches(slug, slugs(), 2)))
    if slug.endswith(MISTAKE):
        return mistakes_in(slug.removesuffix(MISTAKE))
    module = importlib.import_module(f"problems.{slug.replace('-', '_')}")
    found: Poses = module.family
    return found


@cache
def mistakes_in(slug: str) -> Poses:
    """Return the family that hides mistakes in the solutions of another one, certified or not.

    Raises:
        TypeError: that one has no chains of laws.
    """
    from grader.family import Family
    from grader.mistake import MistakeFamily

    of = family(slug)
    if not isinstance(of, Family):
        raise TypeError(f"{slug} has no chains of laws to hide a mistake in")
    return MistakeFamily(of, slug)


def pose(slug: str, seed: int) -> Exercise:
    """Draw the exercise of a family and a seed."""
    return family(slug).pose(slug, seed)
