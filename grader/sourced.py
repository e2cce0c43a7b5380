"""A TOML file that knows where each of its keys stands, so that a complaint can point at line and key."""

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

LARGEST = 16 * 1024 * 1024  # bytes of a file
_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.-]+)\s*\]")


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
class Place:
    """A table of the file: a name, and which of several it is (0: there is only one). The file itself has no name."""

    table: str = ""
    number: int = 0

    def path(self, key: str) -> str:
        """Return the path of a key, such as `items[2].points`."""
        return ".".join(filter(None, [f"{self.table}{f'[{self.number}]' * bool(self.number)}", key]))


WHOLE = Place()


class Source:
    """A file, its data, and its complaints."""

    def __init__(self, path: Path) -> None:
        """Read a file.

        Raises:
            InvalidSet: it cannot be read, or is no TOML.
        """
        self.file = path.name or str(path)
        text = self._text(path)
        self._lines = text.splitlines()
        try:
            # Decimal keeps a mark such as 2.5 exact, and no exponent makes it large in memory.
            self.data: dict[str, Any] = tomllib.loads(text, parse_float=Decimal)
        except RecursionError:
            raise InvalidSet(self.file, 0, "", "its values are nested too deeply.") from None
        except ValueError as error:
            raise InvalidSet(self.file, 0, "", f"it is not valid TOML: {error}.") from None

    def _text(self, path: Path) -> str:
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)
            text = content[:LARGEST].decode("utf-8-sig")
        except OSError as error:
            raise InvalidSet(self.file, 0, "", f"it cannot be read ({error.strerror}).") from None
        except ValueError:  # not UTF-8, or a NUL in the path
            raise InvalidSet(self.file, 0, "", "it is no UTF-8 text.") from None
        if len(content) > LARGEST:
            raise InvalidSet(self.file, 0, "", f"it is larger than {LARGEST >> 20} MiB.")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def known(self, place: Place, table: dict[str, Any], keys: Collection[str]) -> None:
        """Check the names of a table.

        Raises:
            InvalidSet: one of them is no such key.
        """
        for key in table:
            if key not in keys:
                from difflib import get_close_matches

                near = get_close_matches(key, keys, 1)
                hint = f"did you mean {near[0]}?" if near else f"the keys here are {', '.join(keys)}."
                raise self.complaint(place, key, f"there is no such key; {hint}")

    def tables(self, name: str, right: str) -> list[tuple[Place, dict[str, Any]]]:
        """Return the tables of an array, each with its place; none where there is no such array.

        Raises:
            InvalidSet: it is something else; `right` says what would be right.
        """
        said = self.data.get(name, [])
        if not isinstance(said, list):
            raise self.wrong(WHOLE, name, said, right)
        for number, table in enumerate(said, 1):
            if not isinstance(table, dict):
                raise self.wrong(Place(name, number), "", table, f"write a table, [[{name}]]")
        return [(Place(name, number), table) for number, table in enumerate(said, 1)]

    def whole(self, place: Place, key: str, value: Any, low: int, high: int) -> int:
        """Return a whole number.

        Raises:
            InvalidSet: it is none from `low` to `high`.
        """
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(place, key, value, f"write a whole number from {low} to {high}")
        return value

    def number(self, place: Place, key: str, value: Any, most: int, *, least: int | None = None) -> Fraction:
        """Return a number over 0, or from `least`, and up to `most`.

        Raises:
            InvalidSet: it is none.
        """
        finite = isinstance(value, Decimal) and value.is_finite()
        low = "over 0" if least is None else f"from {least}"
        if (
            isinstance(value, bool)
            or not (finite or isinstance(value, int))
            or not (value > 0 if least is None else value >= least)
            or value > most
        ):
            raise self.wrong(place, key, value, f"write a number {low} and up to {most}")
        return Fraction(value)

    def wrong(self, place: Place, key: str, value: Any, right: str) -> InvalidSet:
        """Return the complaint about a value."""
        said = "it is missing" if value is None else f"{_shown(value)} cannot stand here"
        return self.complaint(place, key, f"{said}; {right}.")

    def complaint(self, place: Place, key: str, why: str) -> InvalidSet:
        """Return a complaint that points at a key."""
        return InvalidSet(self.file, self._line(place, key), place.path(key), why)

    def _line(self, place: Place, key: str) -> int:
        """Find the line of a key, or else the line where its table begins."""
        name = re.escape(key.partition(".")[0])
        inside, count, begins = not place.table, 0, 0
        for line, text in enumerate(self._lines, 1):
            header = _HEADER.match(text)
            if header:
                count += header[1] == "[[" and header[2] == place.table
                inside = header[2].partition(".")[0] == place.table and place.number in {0, count}
                begins = begins or line * inside
            elif inside and name and re.match(rf"""\s*["']?{name}["']?\s*=""", text):
                return line
        return begins


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else f"{text[:40]}..."  # noqa: PLR2004  as much as one line of a message holds
