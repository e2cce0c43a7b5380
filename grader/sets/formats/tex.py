"""LaTeX, for a stock class and any engine; letters beyond Latin need LuaLaTeX or XeLaTeX, and the file says so."""

from __future__ import annotations

import re
import unicodedata

from grader.sets.formats import Format
from grader.sets.formulas import letter, with_words

_MARKUP = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "\0": r"\apart{}",
}
_LIGATURE = re.compile(r"([-,<>'`!?])(?=\1|`)")  # what would become a dash or a quotation mark
_LACKING = "\u0126\u0127\u0138\u013f\u0140\u0149\u0166\u0167"  # the letters up to U+017E that pdfTeX's fonts lack
_QUOTES = "\u2013\u2014\u2018-\u201a\u201c-\u201e\u2026\u20ac"  # and what they have beyond: quotes, dashes, the euro
_FOREIGN = re.compile(rf"(?:[^\0 -~\u00a1-\u017e{_QUOTES}]|[{_LACKING}])+")


def escaped(text: str) -> str:
    r"""Escape what LaTeX would take for markup, and mark what needs another font, `\foreign{65E5}{...}`."""
    text = _LIGATURE.sub("\\1\0", unicodedata.normalize("NFC", text))
    found, end = "", 0
    for run in _FOREIGN.finditer(text):
        found += _escaped(text[end : run.start()]) + rf"\foreign{{{ord(run[0][0]):X}}}{{{_escaped(run[0])}}}"
        end = run.end()
    return found + _escaped(text[end:])


def _escaped(text: str) -> str:
    return "".join(_MARKUP.get(character, character) for character in text)


def mathematics(latex: str) -> str:
    """Write a formula of the laws into the text, its words escaped."""

    def write(command: str, word: str) -> str:
        return rf"\{command}{{{_escaped(word)}}}"

    return f"${with_words(latex, write)}$"


class Tex(Format):
    """Templates alone; `tex` escapes, `math` writes a formula."""

    filters = {"tex": escaped, "math": mathematics, "letter": letter}  # noqa: RUF012  never changed


writer = Tex()
