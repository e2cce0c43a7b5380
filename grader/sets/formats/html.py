"""HTML: a file for each sheet and each key, and for a class the instructor's page that links them all."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import lru_cache

from grader.sets.formats import Files, Format
from grader.sets.formulas import clauses, letter, with_words
from grader.sets.sheets import Sheet
from grader.solution import answer

INDEX_STYLE = """:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif }
body { margin: 1rem auto; padding: 0 1rem }
div { overflow-x: auto }
table { border-collapse: collapse }
caption { text-align: left }
th, td { border: 1px solid; padding: .2rem .6rem; text-align: left; white-space: nowrap }
:focus-visible { outline: 3px solid; outline-offset: 2px }"""

_GROUPED = re.compile(r"\d+(?:\{,\}\d{3})+(?:\.\d+)?")


def escaped(text: str) -> str:
    """Escape what HTML would take for markup, in text and in quoted attributes."""
    return html.escape(text)


@lru_cache(maxsize=1024)
def mathml(latex: str) -> str:
    """Set a formula in MathML, an element for each clause, so that a long one is broken where a reader would."""
    return "<wbr />".join(map(_clause, clauses(latex)))


def _clause(latex: str) -> str:
    from latex2mathml.converter import convert

    held: list[str] = []  # what the converter would break: a percent or dollar sign in a word, a grouped number

    def hold(element: str) -> str:
        held.append(element)
        return rf"\text{{held{len(held) - 1}.}}"

    def word(command: str, text: str) -> str:
        if command == "operatorname":
            return rf"\operatorname{{{text}}}"
        return hold(f'<mi mathvariant="normal">{escaped(text)}</mi>')

    safe = _GROUPED.sub(lambda number: hold(f"<mn>{number[0].replace('{,}', ',')}</mn>"), with_words(latex, word))
    found: str = convert(safe)
    return re.sub(r"<mtext>held(\d+)\.</mtext>", lambda place: held[int(place[1])], found)


class Html(Format):
    """Templates, which escape by `html` and set formulas by `math`, and the page of a class."""

    filters = {"html": escaped, "math": mathml, "letter": letter}  # noqa: RUF012  never changed
    needs = ("latex2mathml",)
    extra = "html"

    def class_files(self, kind: str, sheets: Iterable[Sheet]) -> Files:
        """Return the page of a class, for the instructor: links and answers by code, without names."""
        return {"index.html": _index(sheets)} if kind == "key" else {}


def _index(sheets: Iterable[Sheet]) -> str:
    title, columns, rows = "", "", []
    for sheet in sheets:
        title, code = escaped(sheet.title), escaped(sheet.stem("sheet"))
        parts = [(e.number, part, len(e.parts) > 1) for e in sheet.entries for part in e.exercise.parts]
        columns = "".join(f'<th scope="col">{number}{part.part * several}</th>' for number, part, several in parts)
        links = f'<a href="../sheets/{code}.html">{code}</a>', f'<a href="{escaped(sheet.stem("key"))}.html">key</a>'
        cells = "".join(f"<td>{escaped(answer(part))}</td>" for _, part, _ in parts)
        rows.append(f'<tr><th scope="row">{links[0]}</th><td>{links[1]}</td>{cells}</tr>\n')
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{title}: all answers</title>
<style>
{INDEX_STYLE}
</style>
</head>
<body>
<main>
<h1>{title}: all answers</h1>
<div role="region" aria-labelledby="all" tabindex="0">
<table>
<caption id="all">Sheets and answers, by code</caption>
<thead><tr><th scope="col">Sheet</th><th scope="col">Key</th>{columns}</tr></thead>
<tbody>
{"".join(rows)}</tbody>
</table>
</div>
</main>
</body>
</html>
"""


writer = Html()
