"""Jupyter: a notebook for each sheet, whose answer cells `grade submit` finds by their marks, and one for each key.

An answer is a Markdown cell: it needs no kernel, and is read the same whether it was run or not. Its mark, the label
in it and the code in the name of the file say the same thing, for an editor that drops one of them.
"""

from __future__ import annotations

import json
import re
from typing import Any

from grader.sets.formats import Files, Format
from grader.sets.formulas import with_words
from grader.sets.sheets import Sheet

KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_MARKUP = re.compile(r"[`*_\[\]<>#|~&@]|:(?=//)|www")
_START = re.compile(r"(?m)^(\s*\d{0,9})([.)+=-])")  # of a line: what would be a list, a heading or a line across
_GAP = re.compile(r"\n{3,}")
_MATHEMATICS = re.compile(r"[$\\]")


def escaped(text: str) -> str:
    """Escape what Markdown would take for markup, by references that every reader of notebooks knows.

    A dollar sign and a backslash are elements of their own: readers look for formulas in the finished page once more.
    """
    text = _MARKUP.sub(lambda found: _reference(found[0][0]) + found[0][1:], text)
    text = _START.sub(lambda found: found[1] + _reference(found[2]), text)
    return _MATHEMATICS.sub(lambda found: f"<span>{_reference(found[0])}</span>", text)


def _reference(character: str) -> str:
    return f"&#{ord(character)};"


def mathematics(latex: str) -> str:
    """Write a formula of the laws on lines of its own; a dollar sign in a word of it begins no other formula."""

    def write(command: str, word: str) -> str:
        dollar = word.replace("$", r"\$")
        return rf"\{command}{{{dollar}}}"

    return f"$$\n{with_words(latex, write)}\n$$"


def text_cell(text: str, name: str) -> str:
    """Return a cell to read, on one line."""
    return _cell("markdown", text, name, {"deletable": False, "editable": False})


def answer_cell(text: str, item: int, part: str) -> str:
    """Return a cell to answer in, with its mark."""
    mark = {"item": item, "part": part} if part else {"item": item}
    metadata = {"deletable": False, "servespec": mark, "tags": ["answer"]}
    return _cell("markdown", f"{text.strip()} ", f"answer-{item}{part}", metadata)


def code_cell(text: str, name: str) -> str:
    """Return a cell to calculate in."""
    return _cell("code", text, name, {}, execution_count=None, outputs=[])


def _cell(kind: str, text: str, name: str, metadata: dict[str, Any], **more: Any) -> str:
    source = _GAP.sub("\n\n", text.strip("\n")).splitlines(keepends=True)
    return json.dumps({"cell_type": kind, "id": name, "metadata": metadata, **more, "source": source}) + "\n"


class Jupyter(Format):
    """Templates give the cells, each on a line of its own."""

    suffix = "ipynb"
    filters = {  # noqa: RUF012  never changed
        "plain": escaped, "math": mathematics,
        "text_cell": text_cell, "answer_cell": answer_cell, "code_cell": code_cell,
    }  # fmt: skip

    def files(self, kind: str, sheet: Sheet, text: str) -> Files:
        """Return the notebook; that of a sheet says whose it is."""
        metadata: dict[str, Any] = dict(KERNEL)
        if kind == "sheet" and sheet.student:
            metadata["servespec"] = {"student": sheet.student}
        cells = [json.loads(line) for line in text.splitlines() if line.strip()]
        notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        content = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
        return {f"{sheet.stem(kind)}.{self.suffix}": f"{content}\n"}


writer = Jupyter()
