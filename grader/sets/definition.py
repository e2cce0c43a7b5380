"""The set file: a title, items and a policy, read from TOML and checked, with complaints that point at line and key."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.amounts import rounded
from grader.answers.policy import USUAL, Policy
from grader.answers.policy_file import POLICY_KEYS, policy_of
from grader.exercise import Exercise, exact
from grader.families import UnknownFamily, family
from grader.sourced import WHOLE, InvalidSet, Place, Source

__all__ = ["InvalidSet", "Item", "ProblemSet", "read_set"]

MOST_COUNT = 100
MOST_POINTS = 1000
LARGEST_SEED = 10**18 - 1
SET_KEYS = ("title", "items", *POLICY_KEYS)
ITEM_KEYS = ("family", "seed", "count", "points", "tolerance")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a set: the exercise of a `seed`, or `count` exercises drawn for the sheet; `points` for each.

    `parts` are the points of each part, by its letter, where the set says them; else the parts share equally.
    `tolerance` is relative, and takes the place of the family's.
    """

    family: str
    seed: int | None
    count: int
    points: Fraction
    parts: tuple[tuple[str, Fraction], ...] = ()
    tolerance: Fraction | None = None


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """What a set file says."""

    title: str
    items: tuple[Item, ...]
    policy: Policy = USUAL


def read_set(path: Path) -> ProblemSet:
    """Read and check a set file.

    Raises:
        InvalidSet: it cannot be read, or something in it is wrong.
    """
    source = Source(path)
    source.known(WHOLE, source.data, SET_KEYS)
    title = source.data.get("title")
    if not isinstance(title, str) or not title.strip() or not title.isprintable():
        raise source.wrong(WHOLE, "title", title, "write the title as one line of text")
    right = "write at least one [[items]] table"
    items = tuple(_item(source, place, said) for place, said in source.tables("items", right))
    if not items:
        raise source.wrong(WHOLE, "items", source.data.get("items"), right)
    return ProblemSet(title.strip(), items, policy_of(source))


def _item(source: Source, place: Place, said: dict[str, Any]) -> Item:
    source.known(place, said, ITEM_KEYS)
    slug = said.get("family")
    if not isinstance(slug, str):
        raise source.wrong(place, "family", slug, "name a family; `grade list` shows them")
    try:
        preset = family(slug).preset
    except UnknownFamily as error:
        raise source.complaint(place, "family", str(error)) from None
    if "seed" in said and "count" in said:
        raise source.wrong(place, "count", said["count"], "give a seed or a count, not both")
    seed = source.whole(place, "seed", said["seed"], 0, LARGEST_SEED) if "seed" in said else 0 if preset else None
    count = source.whole(place, "count", said.get("count", 1), 1, 1 if preset else MOST_COUNT)
    tolerance = _tolerance(source, place, slug, seed, said["tolerance"]) if "tolerance" in said else None
    points = said.get("points", 1)
    if not isinstance(points, dict):
        return Item(slug, seed, count, source.number(place, "points", points, MOST_POINTS), (), tolerance)
    parts = _parts(source, place, slug, seed, points)
    return Item(slug, seed, count, sum((share for _, share in parts), Fraction(0)), parts, tolerance)


def _tolerance(source: Source, place: Place, slug: str, seed: int | None, said: Any) -> Fraction:
    from grader.sets.tolerance import FINEST, TOO_WIDE, applies, fits, nearest

    tolerance = source.number(place, "tolerance", said, 1)
    if tolerance < FINEST:
        right = f"write {exact(FINEST)} or more: the statement asks for three significant figures"
        raise source.wrong(place, "tolerance", said, right)
    if tolerance >= TOO_WIDE:
        right = f"write less than {exact(TOO_WIDE)}, which would hide K against Ki"
        raise source.wrong(place, "tolerance", said, right)
    if not fits(slug) or (seed is not None and not any(map(applies, _sample(source, place, slug, seed).parts))):
        raise source.wrong(place, "tolerance", said, f"leave it out: the answers of {slug} are judged exactly")
    found = nearest(_sample(source, place, slug, seed)) if seed is not None else None
    if found is not None and found[0] <= tolerance:
        under, slip = found
        right = f"stay under {rounded(under)}: the slip {slip} would come too close to the key"
        raise source.wrong(place, "tolerance", said, right)
    return tolerance


def _sample(source: Source, place: Place, slug: str, seed: int | None) -> Exercise:
    """Pose the exercise of a seed, or one that stands for those that will be drawn."""
    from grader.families import pose
    from grader.posing import Undrawable

    try:
        return pose(slug, 1 if seed is None else seed)
    except Undrawable as error:
        raise source.wrong(place, "seed", error.seed, "take another seed, this one has no exercise") from None


def _parts(
    source: Source, place: Place, slug: str, seed: int | None, said: dict[str, Any]
) -> tuple[tuple[str, Fraction], ...]:
    letters = [part.part for part in _sample(source, place, slug, seed).parts]
    if sorted(said) != letters:
        raise source.wrong(place, "points", ", ".join(said), f"give points to {', '.join(letters)}")
    return tuple((letter, source.number(place, f"points.{letter}", said[letter], MOST_POINTS)) for letter in letters)
