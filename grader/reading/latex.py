r"""Pieces of LaTeX, as pasted from a rendered formula, rewritten as plain text: `1.2 \times 10^{3}`, `\frac{1}{2}`.

Only what people paste is known; anything else keeps its backslash, which the lexer then complains about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.reading.symbols import greek_names
from grader.reading.text import Plain

WRAPPERS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
# Group commands: how the command and its brace open, and how the brace closes.
GROUPS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("text", "mathrm", "textrm", "operatorname", "mathit", "mathsf", "mbox", "rm"), ("", "")),
    "sqrt": ("sqrt(", ")"),
    **dict.fromkeys(("frac", "dfrac", "tfrac"), ("((", ")")),
}
COMMANDS: Mapping[str, str] = {
    **dict.fromkeys(("times", "cdot", "ast"), "*"),
    **dict.fromkeys(("left", "right", "displaystyle", "big", "Big", "bigl", "bigr"), ""),
    **dict.fromkeys(("quad", "qquad"), " "),
    **dict.fromkeys(("approx", "sim", "simeq"), "~"),
    "div": "/",
    "lfloor": "\u230a",
    "rfloor": "\u230b",
    "lceil": "\u2308",
    "rceil": "\u2309",
    "mu": "\u03bc",
    **{name: name for name in ("max", "min", "log", "ln", "exp")},
}
ESCAPED: Mapping[str, str] = {
    ",": " ",
    ";": " ",
    ":": " ",
    "!": "",
    " ": " ",
    "%": "%",
    "$": "$",
    "#": "#",
    "{": "(",
    "}": ")",
    "_": "_",
}
COMMAND = re.compile(r"\\([A-Za-z]+)\s*|\\(.)|([\^_])\{|(\{,\})|([{}])", re.DOTALL)


def without_latex(plain: Plain) -> Plain:
    """Rewrite the LaTeX in a text; a text without any is returned as it is."""
    text = plain.text
    if "\\" not in text and "{" not in text and text[0] != "$":
        return plain
    start, end = _inside(text)
    out: list[str] = []
    columns: list[int] = []

    def write(piece: str, at: int) -> None:
        out.append(piece)
        columns.extend([plain.column(at)] * len(piece))

    closers: list[str] = []
    at = start
    for match in COMMAND.finditer(text, start, end):
        if match.start() < at:
            continue
        for i in range(at, match.start()):
            write(text[i], i)
        piece, at = _rewrite(match, text, closers)
        write(piece, match.start())
    for i in range(at, end):
        write(text[i], i)
    return _stripped("".join(out), columns)


def _inside(text: str) -> tuple[int, int]:
    for opening, closing in WRAPPERS:
        if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing):
            return len(opening), len(text) - len(closing)
    return 0, len(text)


def _rewrite(match: re.Match[str], text: str, closers: list[str]) -> tuple[str, int]:
    """Give the plain spelling of one match and the position to go on at."""
    command, escaped, raised, comma, brace = match.groups()
    end = match.end()
    if command in GROUPS and text[end : end + 1] == "{":
        opening, closing = GROUPS[command]
        closers.append(")/(\x00" if opening == "((" else closing)
        return opening, end + 1
    if command is not None:
        return COMMANDS.get(command, f" {command} " if command in greek_names() else match.group()), end
    if escaped is not None:
        return ESCAPED.get(escaped, match.group()), end
    if comma:
        return ",", end
    if raised:
        closers.append(")" if raised == "^" else "}")
        return "^(" if raised == "^" else "_{", end
    if brace == "{":
        closers.append(")")
        return "(", end
    closing = closers.pop() if closers else "}"
    if closing.endswith("\x00"):  # between numerator and denominator of a fraction
        follows = text[end : end + 1] == "{"
        closers.extend(["))"] if follows else [])
        return (closing[:-1], end + 1) if follows else ("))", end)
    return closing, end


def _stripped(text: str, columns: list[int]) -> Plain:
    start = len(text) - len(text.lstrip())
    end = max(start, len(text.rstrip()))
    return Plain(text[start:end], tuple(columns[start:end]))
