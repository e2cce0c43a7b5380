"""PDF, typeset by Typst: the templates are written in its language, every text in them as one of its strings."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from grader.sets.formats import Files, Format
from grader.sets.formulas import letter
from grader.sets.sheets import Sheet

if TYPE_CHECKING:
    import typst

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\{,\}\d{3})*(?:\.\d+)?|[^\s]")
_MISSING = re.compile(r'the text `"(.+?)"` could not be displayed')
_NAMES = {  # commands of LaTeX as Typst writes them; what is not here is called the same, such as a Greek letter
    r"\,": "thin",
    r"\cdot": "dot.op",
    r"\times": "times",
    r"\le": "<=",
    r"\Rightarrow": "=>",
    r"\prime": "prime",
    r"\lfloor": "\N{LEFT FLOOR}",
    r"\rfloor": "\N{RIGHT FLOOR}",
    r"\lceil": "\N{LEFT CEILING}",
    r"\rceil": "\N{RIGHT CEILING}",
    r"\left": "",
    r"\right": "",
    r"\bar": "macron",
    r"\frac": "frac",
    r"\sqrt": "sqrt",
}
_PLAIN = frozenset("=<>+-(),|")  # what stands for itself
_WORDS = frozenset({r"\text", r"\mathrm", r"\operatorname"})


def string(text: str) -> str:
    """Write a text as a string of Typst, which nothing in it can end."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def expression(text: str) -> str:
    """Write a text into the markup of Typst, as an expression that ends before whatever follows."""
    return f"#{string(text)};"


@lru_cache(maxsize=1024)
def mathematics(latex: str) -> str:
    """Translate a formula of the laws from LaTeX to Typst."""
    return f"${_Formula(latex).all()}$"


def equation(latex: str, aloud: str) -> str:
    """Write a formula into the markup of Typst, with what is read aloud in its place."""
    return f"#math.equation({mathematics(latex)}.body, alt: {string(aloud)});"


class _Formula:
    """Reads LaTeX as `spec.printing` writes it, from left to right."""

    def __init__(self, latex: str) -> None:
        self._latex, self._at = latex, 0

    def all(self) -> str:
        found = []
        while piece := self._next():
            if piece == "}":
                break
            found.append(self._written(piece))
        return " ".join(filter(None, found))

    def _next(self) -> str:
        found = _TOKEN.search(self._latex, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[0]

    def _group(self) -> str:
        """Read what a command takes: a group in braces, or a single token."""
        piece = self._next()
        return self.all() if piece == "{" else self._written(piece)

    def _word(self) -> str:
        end = self._latex.index("}", self._at)
        word, self._at = self._latex[self._latex.index("{", self._at) + 1 : end], end + 1
        return string(word)

    def _written(self, piece: str) -> str:
        if piece in _WORDS:
            return f"op({self._word()})" if piece == r"\operatorname" else self._word()
        if piece == r"\frac":
            return f"frac({self._group()}, {self._group()})"
        if piece in {r"\bar", r"\sqrt"}:
            return f"{_NAMES[piece]}({self._group()})"
        if piece == "{":
            return self.all()
        if piece in {"^", "_"}:
            return f"{piece}({self._group()})"
        if piece.startswith("\\"):
            return _NAMES.get(piece, piece[1:])
        if piece in _PLAIN or piece.isalpha():
            return piece
        return string(piece.replace("{,}", ","))


@cache
def _compiler() -> typst.Compiler:
    import typst

    return typst.Compiler()


class NoFont(ValueError):
    """No font that is installed has the letters of a text; the message is one sentence."""

    def __init__(self, stem: str, letters: str) -> None:
        super().__init__(stem, letters)
        self.stem, self.letters = stem, letters

    def __str__(self) -> str:
        return f"no font that is installed has the letters {self.letters} on the sheet {self.stem}; install one"


class Pdf(Format):
    """Templates in Typst, where `typ` writes a text and `math` a formula, and the compiler.

    The files are PDF/UA-1: tagged for screen readers, formulas read aloud as their text.
    """

    filters = {"typ": expression, "string": string, "math": equation, "letter": letter}  # noqa: RUF012  never changed
    needs = ("typst",)
    extra = "pdf"

    def files(self, kind: str, sheet: Sheet, text: str) -> Files:
        """Return the PDF of a sheet, or of its key; the same text and fonts always give the same bytes.

        Raises:
            NoFont: a letter would be missing on paper.
        """
        import typst

        try:
            made = _compiler().compile(text.encode(), format="pdf", pdf_standards="ua-1")
        except typst.TypstError as error:
            missing = _MISSING.findall(error.diagnostic)
            if not missing:
                raise
            raise NoFont(sheet.stem(kind), "".join(dict.fromkeys(missing))) from None
        if not isinstance(made, bytes):
            raise TypeError(made)
        return {f"{sheet.stem(kind)}.{self.suffix}": made}


writer = Pdf()
