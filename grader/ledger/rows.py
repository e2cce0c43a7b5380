r"""The rows of the ledger, how their fields are stored, and the receipt that seals each.

Storage loses nothing. Numbers that may outgrow 64 bits and exact fractions are text. Text is stored as it is, except
that a backslash is doubled and that NUL and lone surrogates, which no database keeps, are written `\u0000`, `\ud800`.
"""

from __future__ import annotations

import json
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from grader.exercise import Exercise

try:
    # hashlib is the same function, and loads OpenSSL, which takes 3 ms.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Posed(NamedTuple):
    """An exercise that a student was shown. `record` is the exercise as JSON, all that judging takes."""

    number: int
    student: str
    family: str
    revision: int
    seed: int
    record: str
    version: str
    utc: datetime
    receipt: str

    @property
    def exercise(self) -> Exercise:
        """The exercise, read from its record."""
        return Exercise.from_json(self.record)


class Submission(NamedTuple):
    """An answer and its verdict.

    Attributes:
        number: place in the ledger; grows from row to row, over all tables.
        student: who answered.
        family: with `revision` and `seed`, the posed exercise.
        revision: see `family`.
        seed: see `family`.
        part: `a`, `b`, ...
        raw: the answer as typed.
        reading: the answer as read; empty where it was not.
        verdict: `correct`, `partial`, `incorrect` or `invalid`.
        score: the exact share of the part's points.
        slips: names of the slips that explain the answer.
        attempt: attempts used on this part so far, this one included; `invalid` uses none.
        version: of this package.
        utc: when it was recorded.
        receipt: 12 hexadecimal digits that seal this row and all earlier ones of the student.
    """

    number: int
    student: str
    family: str
    revision: int
    seed: int
    part: str
    raw: str
    reading: str
    verdict: str
    score: Fraction
    slips: tuple[str, ...]
    attempt: int
    version: str
    utc: datetime
    receipt: str


class Help(NamedTuple):
    """Help that a student took: `kind` is `hint` or `solution`, `level` counts from 1."""

    number: int
    student: str
    family: str
    revision: int
    seed: int
    part: str
    kind: str
    level: int
    version: str
    utc: datetime
    receipt: str


class Amendment(NamedTuple):
    """A newer record of an exercise that was posed, such as one of another tolerance, and the reason for it."""

    number: int
    student: str
    family: str
    revision: int
    seed: int
    record: str
    reason: str
    version: str
    utc: datetime
    receipt: str

    @property
    def exercise(self) -> Exercise:
        """The exercise, read from its record."""
        return Exercise.from_json(self.record)


class Regrade(NamedTuple):
    """The mark that an answer got when it was judged again, and the reason for that; the row before it stays.

    `submission` is the number of the row of the answer; `reading`, `verdict`, `score` and `slips` are as there.
    """

    number: int
    student: str
    submission: int
    reading: str
    verdict: str
    score: Fraction
    slips: tuple[str, ...]
    reason: str
    version: str
    utc: datetime
    receipt: str


class Erasure(NamedTuple):
    """The trace of a student who was forgotten: how many rows went, and when, but not whose."""

    number: int
    erased: int
    version: str
    utc: datetime
    receipt: str


Row = Posed | Submission | Help | Amendment | Regrade | Erasure
RowT = TypeVar("RowT", bound=Row)
OWNED: tuple[type[Row], ...] = (Posed, Submission, Help, Amendment, Regrade)  # by a student
ROWS: tuple[type[Row], ...] = (*OWNED, Erasure)
Column = str | int


def pack(text: str) -> str:
    """Write any Python string as text that every database keeps."""
    text = text.replace("\\", "\\\\").replace("\0", "\\u0000")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def unpack(text: str) -> str:
    """Read a packed string; the inverse of `pack`."""
    if "\\" not in text:
        return text
    import re

    return re.sub(r"\\(\\|u[0-9a-f]{4})", lambda m: "\\" if m[1] == "\\" else chr(int(m[1][1:], 16)), text)


def pack_record(exercise: Exercise) -> str:
    """Write an exercise as JSON that every database keeps, lone surrogates by JSON's own escape."""
    return exercise.to_json().encode("utf-8", "backslashreplace").decode("utf-8")


def _pack_slips(slips: tuple[str, ...]) -> str:
    return json.dumps([pack(slip) for slip in slips], ensure_ascii=False, separators=(",", ":"))


def _unpack_slips(text: str) -> tuple[str, ...]:
    return tuple(unpack(slip) for slip in json.loads(text))


def _pack_score(score: Fraction) -> str:
    return f"{score.numerator}/{score.denominator}"


def _pack_moment(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")  # one width, so that it sorts


_Codec = tuple["Callable[[Any], Column]", "Callable[[Any], Any]"]
_TEXT: _Codec = (pack, unpack)
_INTEGER: _Codec = (int, int)
_CODECS: dict[str, _Codec] = {
    "number": _INTEGER,
    "revision": _INTEGER,
    "attempt": _INTEGER,
    "level": _INTEGER,
    "submission": _INTEGER,
    "erased": _INTEGER,
    "seed": (str, int),
    "record": (str, str),
    "score": (_pack_score, Fraction),
    "slips": (_pack_slips, _unpack_slips),
    "utc": (_pack_moment, datetime.fromisoformat),
}


def to_column(name: str, value: Any) -> Column:
    """Return the stored form of the field `name`."""
    return _CODECS.get(name, _TEXT)[0](value)


def from_columns(kind: type[RowT], columns: Sequence[Column]) -> RowT:
    """Read a row back; the inverse of `to_column`.

    Raises:
        ValueError, TypeError, ArithmeticError, AttributeError: the columns were damaged.
    """
    fields = (_CODECS.get(name, _TEXT)[1](value) for name, value in zip(kind._fields, columns, strict=True))
    return kind(*fields)


def table(kind: type[RowT]) -> str:
    """Return the name of the table that holds rows of `kind`."""
    return kind.__name__.lower()


def seal(columns: Sequence[Column], previous: str) -> str:
    """Return the receipt of a row from its other columns and the `previous` receipt of the same student."""
    # Damage may turn a column into bytes; its receipt is then wrong, but it has one.
    content = json.dumps([previous, *columns], ensure_ascii=False, separators=(",", ":"), default=repr)
    return blake2b(content.encode("utf-8"), digest_size=6).hexdigest()
