"""Labels: one, several in any order, or several in a given order, however they are punctuated."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.reading.text import Unreadable

_BETWEEN = re.compile(r"[\s,;:/|&+>()\[\]{}.\"'<_\-\u2010-\u2015\u2212\u2190-\u21ff\u27f5-\u27ff]+|=>")
_LINKS = frozenset({"and", "then", "und", "et"})
_INTRODUCTIONS = frozenset({"option", "options", "answer", "answers", "choice"})
_ALTERNATIVES = frozenset({"or", "oder", "ou", "not"})


def labels_of(key: str | None) -> tuple[str, ...]:
    """The labels of a key: comma-separated."""
    return tuple(label.strip() for label in key.split(",") if label.strip()) if key else ()


def folded(text: str) -> tuple[str, ...]:
    """The words of a label, case and punctuation folded: `Memory-Bound` is memory, bound."""
    from unicodedata import normalize

    plain = text if text.isascii() else normalize("NFKC", text)
    return tuple(word for word in _BETWEEN.split(plain.casefold()) if word)


def read_labels(text: str, options: Sequence[str]) -> tuple[str, ...]:
    """Read labels in the order in which they stand, each as the question spells it.

    Raises:
        Unreadable: `blank`, `unknown-label`, `alternatives` for `A or B`.
    """
    exact = {option.casefold(): option for option in options}
    if text.strip().casefold() in exact:
        return (exact[text.strip().casefold()],)
    words = folded(text)
    if not words:
        raise Unreadable("blank" if not text else "unknown-label", 0 if text else -1, _about(text, options))
    known = {folded(option): option for option in options if folded(option)}
    found: list[str] = []
    place = 0
    longest = max((len(label) for label in known), default=1)
    while place < len(words):
        for size in range(min(longest, len(words) - place), 0, -1):
            label = known.get(words[place : place + size])
            if label is not None:
                found.append(label)
                place += size
                break
        else:
            found += _other(words[place], known, text, options, first=place == 0)
            place += 1
    if not found:
        raise Unreadable("unknown-label", 0, _about(text, options))
    return tuple(found)


def _other(
    word: str, known: dict[tuple[str, ...], str], text: str, options: Sequence[str], *, first: bool
) -> list[str]:
    """What a word that is no label adds: nothing for a link between labels, several labels for letters run together."""
    if word in _LINKS or (first and word in _INTRODUCTIONS):
        return []
    if word in _ALTERNATIVES:
        raise Unreadable("alternatives", max(0, text.casefold().find(word)), {"text": word})
    single = {label[0]: option for label, option in known.items() if len(label) == 1 and len(label[0]) == 1}
    if len(single) == len(known) and all(letter in single for letter in word):
        return [single[letter] for letter in word]
    at = max(0, text.casefold().find(word))
    raise Unreadable("unknown-label", at, _about(text[at : at + len(word)], options))


def _about(text: str, options: Sequence[str]) -> dict[str, str]:
    return {"text": text[:40], "options": ", ".join(options)}
