"""One answer as it stands in a file, and what stands there instead of one."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ITEM = re.compile(
    r"(?:exercise|item|question|problem|answer|ex|q|#)?[\s._#-]*(\d{1,4})[\s._)-]*(?:part[\s._-]*)?(?:\(?([a-h])\)?)?"
    r"[\s:.)]*(?:\(.*\)|\[.*\])?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its place.

    Attributes:
        file, line: where it stands; line 0 where the file has none.
        student: as written; empty where the file names nobody.
        item: the number of the exercise on the sheet.
        part: the letter; empty where none is named.
        text: the answer.
        time: when it was handed in, as written; may be empty.
    """

    file: str
    line: int
    student: str
    item: int
    part: str
    text: str
    time: str = ""


@dataclass(frozen=True, slots=True)
class Unplaced:
    """Something in a file that is no answer to anything: where, whose as far as is known, and why in a clause."""

    file: str
    line: int
    student: str
    item: str
    why: str

    def __str__(self) -> str:
        return ", ".join([*self.place, ""]).rstrip(", ") + f": {self.why}."

    @property
    def place(self) -> list[str]:
        """The file, line, student and exercise, as far as they are known."""
        line = f"line {self.line}" if self.line else ""
        item = f"exercise {self.item}" if self.item else ""
        return list(filter(None, [self.file, line, self.student, item]))


def item_of(text: str) -> tuple[int, str] | None:
    """Read the name of an exercise: `2`, `2b`, `Exercise 2 (b)`, `Q2`, `2 (4 points)`; None where it is none."""
    found = _ITEM.fullmatch(text.strip()) if len(text) <= 100 else None  # noqa: PLR2004  no heading is longer
    return (int(found[1]), (found[2] or "").lower()) if found else None
