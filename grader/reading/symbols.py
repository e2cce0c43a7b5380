"""The letters of an expression: exactly the symbols of the question, however they are spelled.

`\N{GREEK SMALL LETTER LAMDA}` is `lambda`, `T_{p}` is `T_p`, and letters written together are a product.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

from grader.reading.text import Unreadable

NAME = re.compile(r"[A-Za-z_\u0370-\u03ff](?:_\{[A-Za-z0-9\u0370-\u03ff]+\}|[A-Za-z0-9_\u0370-\u03ff])*")
_GREEK = re.compile(r"[\u0370-\u03ff]")


@lru_cache(maxsize=256)
def _greek(letter: str) -> str:
    """The name of a Greek letter as it is typed: `lambda`, `Delta`."""
    name = unicodedata.name(letter, "").removeprefix("GREEK ")
    if not name.startswith(("SMALL LETTER ", "CAPITAL LETTER ")):
        return letter
    word = name.rpartition(" ")[2].replace("LAMDA", "LAMBDA")
    return word.capitalize() if name.startswith("CAPITAL") else word.lower()


@lru_cache(maxsize=1)
def greek_names() -> frozenset[str]:
    """The names of the Greek letters, as LaTeX has them."""
    return frozenset(_greek(chr(code)) for code in range(0x391, 0x3CA) if unicodedata.name(chr(code), ""))


def canonical(name: str) -> str:
    """The one spelling of a name: Greek letters by name, braces dropped."""
    if name.isascii():
        return name.replace("{", "").replace("}", "")
    return _GREEK.sub(lambda match: _greek(match.group()), name).replace("{", "").replace("}", "")


class Alphabet:
    """The declared symbols, in order; a symbol is known by its place in that order."""

    def __init__(self, symbols: tuple[str, ...]) -> None:
        self.symbols = symbols
        self.names: Mapping[str, int] = {canonical(symbol): place for place, symbol in enumerate(symbols)}
        joined = [name.replace("_", "") for name in self.names]
        self.joined = {
            name.replace("_", ""): place
            for name, place in self.names.items()
            if "_" in name and joined.count(name.replace("_", "")) == 1
        }
        self.longest_first = sorted(self.names, key=lambda name: (-len(name), name))

    def resolve(self, typed: str, at: int, functions: Mapping[str, str]) -> Iterator[tuple[str, int | str]]:
        """Split one run of letters and digits into symbols and, before a bracket, a function at its end.

        Raises:
            Unreadable: the run holds something that is no symbol of the question.
        """
        name = canonical(typed)
        if name in self.names:
            yield "symbol", self.names[name]
            return
        if name.casefold() in functions:
            yield "function", functions[name.casefold()]
            return
        split = self._split(name)
        if split is not None:
            yield from (("symbol", place) for place in split)
            return
        for function in sorted(functions, key=len, reverse=True):
            head = name[: -len(function)]
            if name.casefold().endswith(function) and (split := self._split(head)):
                yield from (("symbol", place) for place in split)
                yield "function", functions[function]
                return
        if name in self.joined:
            yield "symbol", self.joined[name]
            return
        raise self._unknown(name, at)

    def _split(self, run: str) -> list[int] | None:
        """Cut a run into symbols, the longest first at each place, or give None."""
        # ends[i] is the last symbol of some cut of run[:i]; looked for from the back so that long names win.
        starts: dict[int, int | None] = {len(run): None}
        for i in range(len(run) - 1, -1, -1):
            for name in self.longest_first:
                if run.startswith(name, i) and i + len(name) in starts:
                    starts[i] = self.names[name]
                    break
        if 0 not in starts or not run:
            return None
        places, i = [], 0
        while (place := starts[i]) is not None:
            places.append(place)
            i += len(canonical(self.symbols[place]))
        return places

    def _unknown(self, name: str, at: int) -> Unreadable:
        letters = name.rstrip("0123456789")
        if letters != name and (letters in self.names or self._split(letters)):
            return Unreadable("digits-after-symbol", at, {"text": name})
        known = {symbol.casefold(): symbol for symbol in self.names}
        meant = known.get(name.casefold(), "")
        if not meant and len(name) > 1:
            meant = " ".join(known.get(letter.casefold(), "") or "?" for letter in name)
            meant = "" if "?" in meant else meant
        about = {"text": name, "symbols": ", ".join(self.symbols), "meant": meant}
        return Unreadable("unknown-symbol", at, about)


@lru_cache(maxsize=256)
def alphabet(symbols: tuple[str, ...]) -> Alphabet:
    """The alphabet of these symbols, built once."""
    return Alphabet(symbols)
