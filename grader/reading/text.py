"""What was typed, made plain: one spelling of spaces, dashes, digits and exponents, with the column of every character.

Superscripts, subscripts and vulgar fractions are kept apart before Unicode compatibility mapping would melt them
into the digits beside them: `10³` is a power and `1½` is not 11/2.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, repeat

INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u061c")
DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d")
SPELLINGS: Mapping[str, str] = {
    **dict.fromkeys(INVISIBLE, ""),
    **dict.fromkeys(DASHES, "-"),
    **dict.fromkeys("\u00d7\u2715\u2716\u00b7\u22c5\u2219\u2022\u2217\u2062", "*"),
    **dict.fromkeys("\u00f7\u2215\u2044\u2236", "/"),
    **dict.fromkeys("\u2248\u2243\u2245\u223c", "~"),
    **dict.fromkeys("\u2019\u02bc\u2018", "'"),
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u2026": "..",
    "\u2192": ">",
    "\u00b5": "\u03bc",
}
SAFE_COMPATIBILITY = frozenset({"<wide>", "<narrow>", "<font>", "<square>", "<compat>", "<noBreak>"})
SAFE_DIGITS = frozenset({"<wide>", "<narrow>", "<font>"})


@dataclass(eq=False)
class Unreadable(Exception):
    """A text that is no answer, or not yet: `why` is a code that `grader.feedback` puts into words.

    Attributes:
        why: the code.
        at: position of the offence in the text, -1 where the text as a whole is meant.
        about: what the sentence needs: names, limits, suggestions.
    """

    why: str
    at: int = -1
    about: dict[str, str] = field(default_factory=dict)

    def moved(self, by: int) -> Unreadable:
        """The same complaint about a text that stands `by` characters further right."""
        return Unreadable(self.why, self.at + by if self.at >= 0 else -1, self.about)


@dataclass(frozen=True, slots=True)
class Plain:
    """A plain text and, for each of its characters, the column in what was typed (None: the same column)."""

    text: str
    columns: tuple[int, ...] | None = None

    def column(self, at: int) -> int:
        """The column in the typed text of position `at` here."""
        if self.columns is None or at < 0:
            return at
        return self.columns[at] if at < len(self.columns) else (self.columns[-1] + 1 if self.columns else 0)


def plain(typed: str, limit: int) -> Plain:
    """Normalise a stripped text.

    Raises:
        Unreadable: `blank`, or `too-long` for more than `limit` characters.
    """
    if not typed:
        raise Unreadable("blank")
    if len(typed) > limit:
        raise Unreadable("too-long", about={"limit": str(limit)})
    if typed.isascii():
        return Plain(typed)
    pieces = list(_pieces(typed))
    text = "".join(piece for piece, _ in pieces)
    columns = tuple(chain.from_iterable(repeat(column, len(piece)) for piece, column in pieces))
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if start >= end:
        raise Unreadable("blank")
    if len(text) > 2 * limit:
        raise Unreadable("too-long", about={"limit": str(limit)})
    return Plain(text[start:end], columns[start:end])


def _pieces(typed: str) -> Iterable[tuple[str, int]]:
    """Yield each character's plain spelling; a run of raised or lowered characters becomes `^(...)` or `_{...}`."""
    closing = ""
    for column, character in enumerate(typed):
        tag = "" if character.isascii() else unicodedata.decomposition(character).partition(" ")[0]
        opening, closer = {"<super>": ("^(", ")"), "<sub>": ("_{", "}")}.get(tag, ("", ""))
        if closer != closing:
            yield closing + opening, column
            closing = closer
        yield _spelling(character, tag), column
    yield closing, len(typed) - 1


def _spelling(character: str, tag: str) -> str:
    if character.isascii():
        return character
    if character in SPELLINGS:
        return SPELLINGS[character]
    if unicodedata.category(character) == "Zs":
        return " "
    if tag in {"<super>", "<sub>"}:
        simple = unicodedata.normalize("NFKC", character)
        return SPELLINGS.get(simple, simple)
    if tag.startswith("<") and tag not in SAFE_COMPATIBILITY:
        return character
    if unicodedata.numeric(character, None) is not None and tag not in SAFE_DIGITS:
        return character
    return "".join(SPELLINGS.get(c, c) for c in unicodedata.normalize("NFKC", character))
