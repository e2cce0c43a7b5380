"""Notebooks: what Jupyter, a reader of Markdown and `grade submit` find in them."""

from __future__ import annotations

import copy
import html
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.answers import Answer, read_answers
from grader.cli.app import app
from grader.exercise import Exercise, Part
from grader.givens import shown
from grader.sets import Entry, Item, Sheet, files
from grader.sets.formats.jupyter import escaped, mathematics
from grader.sets.formulas import WORDS
from grader.solution import answer, lines
from spec.index import laws
from tests.grader.every_family import NAME, TITLE, exercises, sheet

Notebook = dict[str, Any]
PLACES = [(n, p.part if len(e.parts) > 1 else "") for n, e in enumerate(exercises(), 1) for p in e.parts]


def notebook(kind: str = "sheet", of: Sheet | None = None) -> Notebook:
    (content,) = files(kind, of or sheet(), "jupyter").values()
    found: Notebook = json.loads(content)
    return found


def sources(book: Notebook) -> list[str]:
    return ["".join(cell["source"]) for cell in book["cells"]]


def read(text: str) -> str:
    """Return what a reader of a Markdown cell sees, on one line."""
    page = re.sub("</?span>", "", MarkdownIt("commonmark").enable("table").render(text))
    return " ".join(html.unescape(re.sub(r"</?[a-z][^<>]*>", " ", page)).split())


@pytest.mark.parametrize("kind", ["sheet", "key"])
def test_a_notebook_is_one_by_the_schema_and_is_stored_as_jupyter_stores_it(kind: str) -> None:
    (content,) = files(kind, sheet(), "jupyter").values()
    book = nbformat.reads(str(content), as_version=4)
    nbformat.validate(book)
    assert nbformat.writes(book).rstrip() == str(content).rstrip()
    assert len({cell.id for cell in book.cells}) == len(book.cells)


def test_a_sheet_says_all_that_is_asked_and_the_key_all_that_is_right() -> None:
    asked, told = read("\n\n".join(sources(notebook()))), read("\n\n".join(sources(notebook("key"))))
    assert TITLE in asked
    assert f"Name: {NAME}" in asked
    assert "Code: K7Q2-9XMD" in asked
    assert NAME not in told
    for exercise in exercises():
        assert " ".join(exercise.statement.split()) in asked
        assert exercise.convention in asked
        assert f"{exercise.family}@{exercise.revision}/{exercise.seed}" in told
        for given_ in exercise.givens:
            assert shown(given_) in asked
        for part in exercise.parts:
            assert part.question in asked
            assert [option for option in part.options if option not in asked] == []
            assert answer(part) in told
            assert part.reason in told
            assert [line.says for line in lines(exercise, part) if line.says not in told] == []


def test_nothing_of_a_key_is_in_a_sheet() -> None:
    part = Part("a", "x", "?", "count", "987654321", "token", reason="A reason.", unit_in_question=True)
    hidden = Sheet(
        "t", "K7Q2-9XMD", (Entry.of(1, Item("x", 5, 1, Fraction(1)), Exercise("fam", 7, 55443322, "S.", (), (part,))),)
    )
    (content,) = files("sheet", hidden, "jupyter").values()
    assert [word for word in ("987654321", "55443322", "fam", "reason", "token") if word in str(content)] == []
    (content,) = files("sheet", sheet(), "jupyter").values()
    slips = {s.sentence for e in exercises() for p in e.parts for s in p.slips}
    assert [s for s in slips if s in str(content)] == []
    book = notebook()
    assert book["metadata"]["servespec"] == {"student": "K7Q2-9XMD"}
    marks = [cell["metadata"]["servespec"] for cell in book["cells"] if "servespec" in cell["metadata"]]
    assert [(mark.pop("item"), mark.pop("part", "")) for mark in marks] == PLACES
    assert not any(marks)
    assert "servespec" not in notebook("key")["metadata"]
    assert "servespec" not in notebook(of=sheet(student=""))["metadata"]


def answered(book: Notebook) -> tuple[Notebook, list[str]]:
    """Answer every question, each another way."""
    book, typed = copy.deepcopy(book), []
    ways = ["5 µs", "2 * L * H", "none", "a, b", "1/2\n", "~5_000~ **tokens**", "$5$", ""]
    for cell in book["cells"]:
        if "answer" in cell["metadata"].get("tags", []):
            typed.append(ways[len(typed) % len(ways)])
            cell["source"][-1] += typed[-1]
    return book, [text.strip() for text in typed]


def found(book: Notebook, folder: Path, name: str = "K7Q2-9XMD.ipynb") -> list[tuple[str, int, str, str]]:
    (folder / name).write_text(json.dumps(book), encoding="utf-8")
    answers = list(read_answers(folder / name))
    assert all(isinstance(a, Answer) for a in answers), answers
    return [(a.student, a.item, a.part, a.text) for a in answers if isinstance(a, Answer)]


def untouched(_: Notebook) -> None:
    pass


def run(book: Notebook) -> None:
    """Run it as Jupyter does, with work of one's own in the cells for it."""
    for number, cell in enumerate(book["cells"]):
        if cell["cell_type"] == "code":
            output = {"output_type": "stream", "name": "stdout", "text": ["Answer 1: 99\n"]}
            cell |= {"source": ["x = 1\n", "print(x)"], "execution_count": number, "outputs": [output]}


def joined(book: Notebook) -> None:
    """Store a source as one text, as other editors do."""
    for cell in book["cells"]:
        cell["source"] = "".join(cell["source"])


def unmarked(book: Notebook) -> None:
    """Lose the marks of cells, of which the labels say as much."""
    for cell in book["cells"]:
        cell["metadata"] = {}


def unlabelled(book: Notebook) -> None:
    """Overwrite the labels, which the marks say as well."""
    for cell in book["cells"]:
        cell["source"] = ["".join(cell["source"]).removeprefix(label(cell)).lstrip()]


def label(cell: dict[str, Any]) -> str:
    mark = cell["metadata"].get("servespec")
    return f"Answer {mark['item']}{mark.get('part', '')}:" if mark else ""


def as_code(book: Notebook) -> None:
    """Turn an answer into code."""
    for cell in book["cells"]:
        if "servespec" in cell["metadata"]:
            cell |= {"cell_type": "code", "execution_count": 3, "outputs": []}


@pytest.mark.roundtrip
@pytest.mark.parametrize("change", [untouched, run, joined, unmarked, unlabelled, as_code])
def test_what_is_typed_into_the_cells_comes_back_as_answers(change: Callable[[Notebook], None], tmp_path: Path) -> None:
    book, typed = answered(notebook())
    change(book)
    nbformat.validate(nbformat.from_dict(book))  # type: ignore[no-untyped-call]
    wanted = [("K7Q2-9XMD", *place, text) for place, text in zip(PLACES, typed, strict=True)]
    assert found(book, tmp_path) == wanted


@pytest.mark.roundtrip
def test_an_untouched_notebook_has_no_answers(tmp_path: Path) -> None:
    assert found(notebook(), tmp_path) == [("K7Q2-9XMD", *place, "") for place in PLACES]


@pytest.mark.roundtrip
def test_a_class_is_graded_from_its_notebooks(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text('title = "t"\n[[items]]\nfamily = "exercise-4"\n', encoding="utf-8")
    (tmp_path / "roster.csv").write_text("id,name\nu1,日本 Ada\nu2,Bob\n", encoding="utf-8")
    arguments = ["set", tmp_path / "set.toml", "--roster", tmp_path / "roster.csv", "--out", tmp_path / "c"]
    done = CliRunner().invoke(app, [*map(str, arguments), "--format", "jupyter", "--workers", "1"])
    assert done.exit_code == 0, done.output
    right = iter(["17 sequences", "18", "41", "1 GPU", "3", "time"] * 2)
    for path in sorted((tmp_path / "c/sheets").iterdir()):
        book = json.loads(path.read_text(encoding="utf-8"))
        book["metadata"].pop("servespec")  # the name of the file says it too
        for cell in book["cells"]:
            if "servespec" in cell["metadata"]:
                cell["source"][-1] += next(right)
        path.write_text(json.dumps(book), encoding="utf-8")
    submit = ["submit", "--answers", tmp_path / "c/sheets", "--key", tmp_path / "c/keys/key.json", "--json"]
    done = CliRunner().invoke(app, list(map(str, submit)))
    assert done.exit_code == 0, done.output
    assert [(s["correct"], s["wrong"]) for s in json.loads(done.stdout)["students"]] == [(6, 0)] * 2


@pytest.mark.law
@given(st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" ")).map(str.strip).filter(bool))
def test_a_reader_of_markdown_sees_the_text_and_no_markup(text: str) -> None:
    text = " ".join(text.split())
    page = MarkdownIt("gfm-like", {"linkify": False}).render(escaped(text))
    inside = page.removeprefix("<p>").removesuffix("</p>\n")
    assert re.sub(r"<span>(.*?)</span>", lambda found: found[1], html.unescape(inside)) == text
    assert len(re.findall("<", inside)) == 2 * sum(map(text.count, "$\\"))


@pytest.mark.parametrize(
    "text", ["1. a", "- a", "+ a", "1) a", "# a", "    a".strip(), "===", "---", "> a", "a\n---", "a\n- b"]
)
def test_no_line_is_a_list_or_a_heading(text: str) -> None:
    assert MarkdownIt("commonmark").render(escaped(text)).count("<") == 2  # a paragraph


@pytest.mark.law
def test_formulas_have_no_dollar_of_their_own() -> None:
    formulas = [law.latex() for law in laws().values()] + [r"3\,\text{$/h}"]
    for formula in formulas:
        written = mathematics(formula)
        assert re.fullmatch(r"\$\$\n(?:[^$]|\\\$)*\n\$\$", written)
        assert "\n\n" not in written
        assert [w.replace(r"\$", "$") for _, w in WORDS.findall(written)] == [w for _, w in WORDS.findall(formula)]
