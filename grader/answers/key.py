"""The key file of a set (`keys/key.json`): each exercise with everything that judging it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.answers.policy import Policy
from grader.codes import CODE, plain_code
from grader.exercise import Exercise, Part
from grader.tables import Row, rows, unguarded

SCHEMA = 1
SHEETS_HELD = 512  # sheets of the class that are held decoded


class BadKey(ValueError):
    """A key file that cannot be used; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class KeyItem:
    """One exercise of a sheet: its number, its points, those of each part by its letter, and the record."""

    number: int
    points: Fraction
    parts: dict[str, Fraction]
    exercise: Exercise

    @property
    def carries(self) -> bool:
        """Whether parts of the exercise follow from each other."""
        return any(part.follows for part in self.exercise.parts)

    def part(self, letter: str) -> Part | None:
        """Return the part of a letter, or the only one where none is named."""
        parts = self.exercise.parts
        if not letter:
            return parts[0] if len(parts) == 1 else None
        return next((part for part in parts if part.part == letter), None)


class Key:
    """A key file. Sheets stay text until they are asked for, so that a large class takes little memory."""

    def __init__(self, path: Path, title: str, sheets: dict[str, str], policy: Policy) -> None:
        self.path, self.title, self.policy = path, title, policy
        self._sheets = sheets
        self._codes = _codes_of_roster(path.with_name("roster.csv"))
        self._decoded = lru_cache(SHEETS_HELD)(self._decode)

    @property
    def for_everybody(self) -> bool:
        """Whether there is one sheet, which is nobody's own."""
        return self._sheets.keys() == {""}

    @property
    def students(self) -> Iterable[str]:
        """The codes of all who have a sheet; none where it is for everybody."""
        return self._sheets.keys() - {""}

    def student(self, named: str) -> str | None:
        """Return who is named, by code, id or e-mail address; None where there is nobody like that.

        Where a sheet is for everybody, everybody is who they say.
        """
        named = " ".join(named.split())
        if self.for_everybody:
            return named if named and named.isprintable() else None
        code = plain_code(named)
        return code if code in self._sheets else self._codes.get(named.casefold())

    def student_in(self, name: str) -> str:
        """Return the code that stands in the name of a file, if one does."""
        found = (plain_code(word) for word in CODE.findall(name.upper()))
        return next((code for code in found if code in self._sheets), "")

    def sheet(self, student: str) -> dict[int, KeyItem]:
        """Return the exercises of a student by their numbers.

        Raises:
            BadKey: the file is damaged there.
        """
        return self._decoded("" if self.for_everybody else student)

    def _decode(self, owner: str) -> dict[int, KeyItem]:
        try:
            items = [_item(item) for item in json.loads(self._sheets[owner])["items"]]
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
            items = []
        if not items:
            raise BadKey(f"{self.path}: the sheet of {owner or 'everybody'} is damaged.")
        return {item.number: item for item in items}


def _item(data: dict[str, Any]) -> KeyItem:
    parts = {letter: Fraction(points) for letter, points in data["parts"].items()}
    exercise = Exercise.from_json(json.dumps(data["exercise"]))
    if [part.part for part in exercise.parts] != list(parts):
        raise ValueError(data["number"])
    return KeyItem(int(data["number"]), Fraction(data["points"]), parts, exercise)


def read_key(path: Path) -> Key:
    """Read a key file.

    Raises:
        BadKey: it cannot be read, is none, or was written by a newer version.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            head, sheets = _read_lines(iter(()) if path.is_char_device() else file)  # /dev/zero has no end
    except OSError as error:
        raise BadKey(f"The key {path} cannot be read ({error.strerror}).") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadKey(f"{path} is no key file; `grade set` writes one, keys/key.json.") from None
    if head["schema"] != SCHEMA:
        raise BadKey(f"{path} was written by a newer version; update servespec.")
    if not sheets:
        raise BadKey(f"{path} holds no sheet.")
    try:
        policy = Policy.from_data(head.get("policy") or {})
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
        raise BadKey(f"{path}: its policy is damaged.") from None
    return Key(path, str(head.get("title", "")), sheets, policy)


def _read_lines(file: Iterator[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Read a file as `grade set` writes it, a sheet on each line, or any other JSON that says the same."""
    first = next(file, "")
    lines = list(file)
    if re.search(r'"sheets": *\[\s*$', first) is None or [line.strip() for line in lines[-1:]] != ["]}"]:
        data = json.loads(first + "".join(lines))
        found = {sheet["student"]: json.dumps(sheet, ensure_ascii=False) for sheet in data["sheets"]}
        return {key: value for key, value in data.items() if key != "sheets"} | {"schema": data["schema"]}, found
    head = json.loads(f"{first}]}}")
    sheets = (line.rstrip(",\r\n") for line in lines[:-1])
    return head | {"schema": head["schema"]}, {json.loads(sheet)["student"]: sheet for sheet in sheets}


def _codes_of_roster(path: Path) -> dict[str, str]:
    """Return the codes by id and e-mail address, from the roster that lies beside a key; nothing without one.

    What two students share names neither.
    """
    found: dict[str, set[str]] = {}
    try:
        for row in rows(path):
            if isinstance(row, Row) and len(row.cells) >= 4:  # noqa: PLR2004  code, id, name, email
                code, identity, _, email = (unguarded(cell).casefold() for cell in row.cells[:4])
                for name in filter(None, (identity, email)):
                    found.setdefault(name, set()).add(code.upper())
    except OSError:
        return {}
    return {name: codes.pop() for name, codes in found.items() if len(codes) == 1}
