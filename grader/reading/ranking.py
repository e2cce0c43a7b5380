"""Rankings: labels from the best to the worst, `>` between two and `=` between equal ones; a plain list will do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.reading.choice import read_labels
from grader.reading.text import Unreadable, plain

Ranking = tuple[tuple[str, ...], ...]  # the best first; labels that are equal stand together

LONGEST = 400
_REVERSED = re.compile(r"<|\u2190|\u227a")
_UNCLEAR = re.compile(r"<[=-]|>=|=<|<>|!=")
_ORDER = re.compile(r"\s*(?:=+>|-+>|>+|\u227b|\u21d2|\b(?:then|before)\b)\s*", re.IGNORECASE)
_EQUAL = re.compile(r"\s*(?:=+|~)\s*")
_LISTED = re.compile(r"[,;\n]")


def ranking_of(key: str) -> Ranking:
    """The ranking that a record keeps: `c = d > a`."""
    return tuple(tuple(label.strip() for label in level.split("=")) for level in key.split(">"))


def written(ranking: Ranking) -> str:
    """The inverse of `ranking_of`."""
    return " > ".join(" = ".join(level) for level in ranking)


def read_ranking(typed: str, options: Sequence[str]) -> Ranking:
    """Read a ranking of all the options, each as the question spells it.

    Raises:
        Unreadable: `blank`, `too-long`, `unknown-label`, or a `ranking-` code: `reversed`, `unclear`, `dangling`,
            `missing`, `repeated`.
    """
    text = plain(typed, LONGEST).text
    for pattern, code in ((_UNCLEAR, "ranking-unclear"), (_REVERSED, "ranking-reversed")):
        found = pattern.search(text)
        if found:
            raise Unreadable(code, about={"text": found.group()})
    levels = [[_labels(piece, options) for piece in _EQUAL.split(level)] for level in _ORDER.split(text)]
    pieces = [piece for level in levels for piece in level]
    if len(pieces) == 1:
        ranking: Ranking = tuple((label,) for label in pieces[0])
    elif _LISTED.search(text) or any(len(piece) > 1 for piece in pieces):
        raise Unreadable("ranking-unclear", about={"text": "," if _LISTED.search(text) else " "})
    else:
        ranking = tuple(tuple(piece[0] for piece in level) for level in levels)
    _complete(ranking, options)
    return ranking


def _labels(piece: str, options: Sequence[str]) -> tuple[str, ...]:
    if not piece.strip():
        raise Unreadable("ranking-dangling")
    try:
        return read_labels(piece, options)
    except Unreadable as complaint:
        raise Unreadable(complaint.why, -1, complaint.about) from None  # its column is that of the piece


def _complete(ranking: Ranking, options: Sequence[str]) -> None:
    labels = [label for level in ranking for label in level]
    repeated = [option for option in options if labels.count(option) > 1]
    if repeated:
        raise Unreadable("ranking-repeated", about={"labels": ", ".join(repeated)})
    missing = [option for option in options if option not in labels]
    if missing:
        raise Unreadable("ranking-missing", about={"labels": ", ".join(missing)})
