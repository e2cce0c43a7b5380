"""Looking up a row by any of its names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

SUGGESTIONS = 3


class Named(Protocol):
    """A row of the catalogue: one name of its own and any number of aliases."""

    @property
    def name(self) -> str:
        """The name of the row."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the row, its own first."""


Row = TypeVar("Row", bound=Named)


class UnknownName(LookupError):
    """No row has this name.

    Attributes:
        name: what was asked for.
        kind: `model` or `GPU`.
        suggestions: names that exist and look alike, the likeliest first; at most one for each row.
    """

    def __init__(self, name: str, kind: str, suggestions: tuple[str, ...]) -> None:
        super().__init__(name, kind, suggestions)
        self.name, self.kind, self.suggestions = name, kind, suggestions

    def __str__(self) -> str:
        hint = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        return f"unknown {self.kind} {self.name!r}{hint}"


def plain(name: str) -> str:
    """Reduce a name to what tells it apart: case does not, and `_` and spaces are as good as `-`."""
    return re.sub(r"[\s_-]+", "-", name.strip()).casefold()


def alike(name: str, known: Iterable[str]) -> list[str]:
    """List the known names that a mistyped name may have meant, the likeliest first."""
    from difflib import get_close_matches

    plainly = {plain(k): k for k in known}
    typed = plain(name)
    longer = sorted((p for p in plainly if typed and p.startswith(typed)), key=lambda p: (len(p), p))
    close = get_close_matches(typed, plainly, n=3 * SUGGESTIONS)
    return [plainly[p] for p in dict.fromkeys([*longer, *close])]


class Table(Mapping[str, Row], Generic[Row]):
    """Rows of one kind by their own name, in the order of the file; `find` takes aliases too."""

    def __init__(self, kind: str, rows: Iterable[Row]) -> None:
        self.kind = kind
        self._rows = {row.name: row for row in rows}
        self._by_name = {plain(name): row for row in self._rows.values() for name in row.names}

    def __getitem__(self, name: str) -> Row:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def taken(self, name: str) -> Row | None:
        """Return the row that has this name or alias, or None."""
        return self._by_name.get(plain(name))

    def find(self, name: str) -> Row:
        """Return the row that has this name or alias.

        Raises:
            UnknownName: there is none.
        """
        row = self.taken(name)
        if row is None:
            raise UnknownName(name, self.kind, self._suggest(name))
        return row

    def _suggest(self, name: str) -> tuple[str, ...]:
        # One name a row: three spellings of one GPU are one suggestion.
        spellings = (known for row in self._rows.values() for known in row.names)
        best: dict[str, str] = {}
        for known in alike(name, spellings):
            best.setdefault(self._by_name[plain(known)].name, known)
        return tuple(best.values())[:SUGGESTIONS]
