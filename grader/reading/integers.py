"""Lists of whole numbers, such as lengths: `1, 2, 1, 2`, with or without brackets, commas or line breaks between."""

from __future__ import annotations

import re

from grader.reading.text import Unreadable, plain

LONGEST = 400
_BETWEEN = re.compile(r"\s*[,;]\s*|\s+")
DIGITS = 9


def read_integers(typed: str) -> tuple[int, ...]:
    """Read whole numbers from 0 up, of at most nine digits.

    Raises:
        Unreadable: `blank`, `too-long`, `list-gap`, `no-list` at what is no whole number.
    """
    read = plain(typed, LONGEST)
    text = read.text
    for opening, closing in ("()", "[]", "{}"):
        if text.startswith(opening) and text.endswith(closing):
            text = text[1:-1]
            break
    found: list[int] = []
    for word in _BETWEEN.split(text.strip()):
        if not word:
            raise Unreadable("list-gap")
        if not (word.isascii() and word.isdigit() and len(word) <= DIGITS):
            raise Unreadable("no-list", read.column(read.text.find(word)), {"text": word[:40]})
        found.append(int(word))
    return tuple(found)
