"""The set file: a title and items, read from TOML and checked, with complaints that point at line and key."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.families import UnknownFamily, family

MOST_COUNT = 100
MOST_POINTS = 1000
LARGEST_SEED = 10**18 - 1
SET_KEYS = ("title", "items")
ITEM_KEYS = ("family", "seed", "count", "points")


class InvalidSet(ValueError):
    """A set file that cannot be used.

    Attributes:
        file: its name.
        line: where, counted from 1; 0 where it is not about a line.
        key: which value, such as `items[2].points`; empty for the file as a whole.
        why: what is wrong and what would be right.
    """

    def __init__(self, file: str, line: int, key: str, why: str) -> None:
        super().__init__(file, line, key, why)
        self.file, self.line, self.key, self.why = file, line, key, why

    def __str__(self) -> str:
        place = f", line {self.line}" * bool(self.line)
        return f"{self.file}{place}: {f'{self.key}: ' * bool(self.key)}{self.why}"


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a set: the exercise of a `seed`, or `count` exercises drawn for the sheet; `points` for each.

    `parts` are the points of each part, by its letter, where the set says them; else the parts share equally.
    """

    family: str
    seed: int | None
    count: int
    points: Fraction
    parts: tuple[tuple[str, Fraction], ...] = ()


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """What a set file says."""

    title: str
    items: tuple[Item, ...]


def read_set(path: Path) -> ProblemSet:
    """Read and check a set file.

    Raises:
        InvalidSet: it cannot be read, or something in it is wrong.
    """
    return _Reader(path.name, _text(path)).problem_set()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidSet(path.name, 0, "", f"it cannot be read ({error.strerror}).") from None
    except ValueError:  # not UTF-8, or a NUL in the path
        raise InvalidSet(path.name, 0, "", "it is no UTF-8 text.") from None


class _Reader:
    """One set file, and where each of its keys stands."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.lines = file, text.splitlines()
        try:
            # Decimal keeps a mark such as 2.5 exact, and no exponent makes it large in memory.
            self.data: dict[str, Any] = tomllib.loads(text, parse_float=Decimal)
        except RecursionError:
            raise InvalidSet(file, 0, "", "its values are nested too deeply.") from None
        except ValueError as error:
            raise InvalidSet(file, 0, "", f"it is not valid TOML: {error}.") from None

    def problem_set(self) -> ProblemSet:
        self._known(self.data, SET_KEYS, 0)
        title = self.data.get("title")
        if not isinstance(title, str) or not title.strip() or not title.isprintable():
            raise self._wrong(0, "title", title, "write the title as one line of text")
        items = self.data.get("items")
        if not isinstance(items, list) or not items:
            raise self._wrong(0, "items", items, "write at least one [[items]] table")
        return ProblemSet(title.strip(), tuple(self._item(n, said) for n, said in enumerate(items, 1)))

    def _item(self, number: int, said: Any) -> Item:
        if not isinstance(said, dict):
            raise self._wrong(number, "", said, "write a table, [[items]]")
        self._known(said, ITEM_KEYS, number)
        slug = said.get("family")
        if not isinstance(slug, str):
            raise self._wrong(number, "family", slug, "name a family; `grade list` shows them")
        try:
            preset = family(slug).preset
        except UnknownFamily as error:
            raise InvalidSet(self.file, self._line(number, "family"), _path(number, "family"), str(error)) from None
        if "seed" in said and "count" in said:
            raise self._wrong(number, "count", said["count"], "give a seed or a count, not both")
        most = 1 if preset else MOST_COUNT
        seed = self._whole(number, said, "seed", 0, LARGEST_SEED) if "seed" in said else 0 if preset else None
        count = self._whole(number, said, "count", 1, most)
        if not isinstance(said.get("points"), dict):
            return Item(slug, seed, count, self._points(number, "points", said.get("points", 1)))
        parts = self._parts(number, slug, seed, said["points"])
        return Item(slug, seed, count, sum((points for _, points in parts), Fraction(0)), parts)

    def _whole(self, number: int, said: dict[str, Any], key: str, low: int, high: int) -> int:
        value = said.get(key, 1)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self._wrong(number, key, value, f"write a whole number from {low} to {high}")
        return value

    def _points(self, number: int, key: str, value: Any) -> Fraction:
        finite = isinstance(value, Decimal) and value.is_finite()
        if isinstance(value, bool) or not (finite or isinstance(value, int)) or not 0 < value <= MOST_POINTS:
            raise self._wrong(number, key, value, f"write a number over 0 and up to {MOST_POINTS}")
        return Fraction(value)

    def _parts(
        self, number: int, slug: str, seed: int | None, said: dict[str, Any]
    ) -> tuple[tuple[str, Fraction], ...]:
        from grader.families import pose
        from grader.posing import Undrawable

        try:
            letters = [part.part for part in pose(slug, 1 if seed is None else seed).parts]
        except Undrawable as error:
            raise self._wrong(number, "seed", error.seed, "take another seed, this one has no exercise") from None
        if sorted(said) != letters:
            raise self._wrong(number, "points", ", ".join(said), f"give points to {', '.join(letters)}")
        return tuple((letter, self._points(number, f"points.{letter}", said[letter])) for letter in letters)

    def _known(self, table: dict[str, Any], keys: Collection[str], number: int) -> None:
        for key in table:
            if key not in keys:
                from difflib import get_close_matches

                near = get_close_matches(key, keys, 1)
                hint = f"did you mean {near[0]}?" if near else f"the keys here are {', '.join(keys)}."
                why = f"there is no such key; {hint}"
                raise InvalidSet(self.file, self._line(number, key), _path(number, key), why)

    def _wrong(self, number: int, key: str, value: Any, right: str) -> InvalidSet:
        said = "it is missing" if value is None else f"{_shown(value)} cannot stand here"
        return InvalidSet(self.file, self._line(number, key), _path(number, key), f"{said}; {right}.")

    def _line(self, number: int, key: str) -> int:
        """Find the line of a key of an item (0: of the file), or else the line where the item begins."""
        item, begins = 0, 0
        for line, text in enumerate(self.lines, 1):
            if re.match(r"\s*\[\[\s*items\s*\]\]", text):
                item += 1
                begins = line if item == number else begins
            elif item == number and key and re.match(rf"""\s*["']?{re.escape(key.partition(".")[0])}["']?\s*=""", text):
                return line
        return begins


def _path(number: int, key: str) -> str:
    return ".".join(filter(None, [f"items[{number}]" * bool(number), key]))


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else f"{text[:40]}..."  # noqa: PLR2004  as much as one line of a message holds
