"""The roster: who is in the class, read from the CSV file that a course platform or a spreadsheet exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.tables import Broken, Row, columns, plain_cells, rows, unguarded

MOST_STUDENTS = 100_000
LONGEST_CELL = 200
# Spellings of the platforms that courses use, letters and digits alone; the first that stands in a header is taken.
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "id": (
        *("studentid", "sid", "sisuserid", "idnumber", "id", "studentnumber", "matriculationnumber", "matrikelnummer"),
        *("matriculation", "matrnr", "userid", "username", "login", "loginid", "sisloginid", "netid", "orgdefinedid"),
    ),
    "name": ("name", "fullname", "studentname", "student", "displayname"),
    "first": ("firstname", "givenname", "first", "vorname"),
    "last": ("lastname", "surname", "familyname", "last", "nachname"),
    "email": ("email", "emailaddress", "mail", "studentemail"),
}


class InvalidRoster(ValueError):
    """A roster that cannot be used: the file, the line (0: the file as a whole) and a clause that says why."""

    def __init__(self, file: str, line: int, why: str) -> None:
        super().__init__(file, line, why)
        self.file, self.line, self.why = file, line, why

    def __str__(self) -> str:
        return f"{self.file}{f', line {self.line}' * bool(self.line)}: {self.why}."


@dataclass(frozen=True, slots=True)
class Student:
    """One line of a roster. `identity` is the id, or else the e-mail address; the name may be empty.

    The `code` comes from the course secret and not from the roster.
    """

    identity: str
    name: str
    email: str
    line: int
    code: str = ""


@dataclass(frozen=True, slots=True)
class Roster:
    """The students in the order of the file, and what was noticed in it, in sentences."""

    students: tuple[Student, ...]
    notes: tuple[str, ...]


def read_roster(path: Path) -> Roster:
    """Read a roster.

    Raises:
        InvalidRoster: it cannot be read, has no column that tells students apart, or a line is not as it must be.
    """
    try:
        return _Reader(path).roster()
    except OSError as error:
        raise InvalidRoster(path.name, 0, f"it cannot be read ({error.strerror})") from None
    except ValueError as error:
        if isinstance(error, InvalidRoster):
            raise
        raise InvalidRoster(path.name, 0, f"it cannot be read ({error})") from None  # a NUL in the path


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path, self.file = path, path.name
        self.students: dict[str, Student] = {}
        self.notes: list[str] = []

    def roster(self) -> Roster:
        found: dict[str, int] = {}
        width = 0
        for row in rows(self.path):
            if isinstance(row, Broken):
                raise InvalidRoster(self.file, row.line, row.why)
            if not width:
                width, found = len(row.cells), columns(row.cells, SPELLINGS)
                if not found.keys() & {"id", "email"}:
                    raise InvalidRoster(
                        self.file, row.line, "no column is named id or email; the first line must name the columns"
                    )
            else:
                self._add(row, found, width)
        if not self.students:
            raise InvalidRoster(self.file, 0, "it names no student")
        return Roster(tuple(self.students.values()), tuple(self.notes))

    def _add(self, row: Row, found: dict[str, int], width: int) -> None:
        cells = plain_cells(row.cells, width)
        if len(cells) > width:
            why = f"it has {len(cells)} columns and the first line {width}; quote a cell that holds the separator"
            raise InvalidRoster(self.file, row.line, why)
        said = {column: self._cell(row.line, cells[place]) for column, place in found.items()}
        email = said.get("email", "").casefold()
        identity = said.get("id") or email
        if not identity:
            raise InvalidRoster(self.file, row.line, "it has neither an id nor an e-mail address")
        name = said.get("name") or " ".join(filter(None, (said.get("first"), said.get("last"))))
        student = Student(identity, name, email, row.line)
        before = self.students.setdefault(identity, student)
        if before is student:
            if len(self.students) > MOST_STUDENTS:
                raise InvalidRoster(self.file, row.line, f"there are more than {MOST_STUDENTS} students")
        elif (before.name, before.email) == (name, email):
            self.notes.append(f"{self.file}, line {row.line}: it repeats line {before.line} and was left out.")
        else:
            why = f"{identity} stands in line {before.line} already, with another name or address"
            raise InvalidRoster(self.file, row.line, why)

    def _cell(self, line: int, text: str) -> str:
        cell = " ".join(unguarded(text).split())
        if not cell.isprintable() or len(cell) > LONGEST_CELL:
            raise InvalidRoster(self.file, line, f"a cell is longer than {LONGEST_CELL} characters or does not print")
        return cell
