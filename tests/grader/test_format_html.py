"""HTML sheets: what a strict parser, a screen reader and a browser find in them."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest

from grader.exercise import Exercise
from grader.givens import shown
from grader.sets import files, rendered, writer
from grader.sets.formats.html import mathml
from grader.sets.formulas import WORDS, clauses
from grader.sets.showing import mistakes, paragraphs
from grader.solution import about, answer, lines
from spec.index import laws
from spec.quantities import quantities
from tests.grader.every_family import NAME, TITLE, exercises, first_of_each, hidden, sheet

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def parsed(text: str) -> Element:
    """Parse as a browser does, and refuse what a browser would repair."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    found: Element = parser.parse(text)
    return found


@pytest.fixture(scope="module", params=["sheet", "key"])
def page(request: pytest.FixtureRequest) -> Element:
    return parsed(rendered(request.param, sheet(), "html"))


@pytest.fixture(scope="module")
def own() -> Element:
    """Give the page of a sheet."""
    return parsed(rendered("sheet", sheet(), "html"))


def words(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def test_a_page_says_all_that_is_asked_word_for_word(own: Element) -> None:
    text = words(own)
    for exercise in exercises():
        assert [words_ for words_ in paragraphs(exercise) if words_ not in text] == []
        assert exercise.convention in text
        for part in exercise.parts:
            assert part.question in text
            assert [option for option in part.options if option not in text] == []
        for given in givens(exercise):
            assert given in text
    assert TITLE in text
    assert [words(e) for e in own.iter("bdi")] == [NAME]
    assert words(own.find(".//title")) == f"{TITLE} (K7Q2-9XMD)"  # type: ignore[arg-type]


def givens(exercise: Exercise) -> Iterator[str]:
    for given in (*exercise.givens, *(g for part in exercise.parts for g in part.givens)):
        yield f"{shown(given)}"
        yield given.says


def test_a_key_says_every_answer_with_its_steps() -> None:
    found = parsed(rendered("key", sheet(), "html"))
    sections = list(found.iter("section"))
    assert len(sections) == len(exercises())
    for section, exercise in zip(sections, exercises(), strict=True):
        text = words(section)
        assert f"{exercise.family}@{exercise.revision}/{exercise.seed}" in text
        for part in exercise.parts:
            assert answer(part) in [words(e) for e in section.iter("strong")]
            assert part.reason in text
            assert about(part) in text
            assert [said for _, said in mistakes(part) if said not in text] == []
            assert [line.says for line in lines(exercise, part) if line.says not in text] == []
        assert [question for question in exercise.rubric if question not in text] == []
    assert NAME not in words(found)


def test_nothing_that_is_hidden_stands_on_a_sheet(own: Element) -> None:
    source = rendered("sheet", sheet(), "html")
    for section, exercise in zip(own.iter("section"), exercises(), strict=True):
        assert [text for text in hidden(exercise) if text in words(section)] == []
        assert not exercise.seed or str(exercise.seed) not in source


def test_headings_go_down_one_level_at_a_time(page: Element) -> None:
    levels = [int(e.tag[1]) for e in page.iter() if re.fullmatch("h[1-6]", str(e.tag))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_what_a_screen_reader_needs_is_there(page: Element) -> None:
    assert page.get("lang") == "en"
    assert len(list(page.iter("main"))) == len(list(page.iter("nav"))) == len(list(page.iter("header"))) == 1
    ids = [e.get("id") for e in page.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    assert {a.get("href", "").removeprefix("#") for a in page.iter("a")} <= set(ids)
    for element in page.iter():
        for attribute in ("for", "aria-labelledby", "aria-describedby"):
            assert set(element.get(attribute, "").split()) <= set(ids)
    assert all(e.get("scope") in {"col", "row"} for e in page.iter("th"))
    assert all(e.find("caption") is not None for e in page.iter("table"))


def test_each_part_has_one_field_with_its_own_label(own: Element) -> None:
    labels = {e.get("for"): words(e) for e in own.iter("label")}
    fields = [e for e in own.iter() if e.tag in {"input", "textarea"}]
    assert len(fields) == len(labels) == sum(len(e.parts) for e in exercises())
    assert [labels[f.get("id")] for f in fields] == [f"Answer {f.get('name')}" for f in fields]
    assert len(set(labels.values())) == len(labels)


def test_a_page_is_one_file_without_scripts(page: Element) -> None:
    tags = {str(e.tag) for e in page.iter()}
    assert tags & {"script", "link", "img", "iframe", "object", "form"} == set()
    assert not any(name.startswith("on") or name in {"src", "style"} for e in page.iter() for name in e.keys())  # noqa: SIM118
    assert not re.search(r"url\(|@import|https?:", words(page.find(".//style")))  # type: ignore[arg-type]


@pytest.mark.law
def test_every_law_and_letter_becomes_mathematics_without_a_trace_of_latex() -> None:
    formulas = [law.latex() for law in laws().values()] + [q.tex for q in quantities().values()]
    formulas += [line.latex for e in first_of_each() for part in e.parts for line in lines(e, part) if line.latex]
    for formula in formulas:
        found = parsed(f"<!DOCTYPE html><title>x</title><p>{mathml(formula)}</p>")
        maths = [e for e in found.iter() if str(e.tag).endswith("math")]
        assert len(maths) == len(clauses(formula))
        upright = [word for _, word in WORDS.findall(formula)]  # which may be `$/h`
        rest = words(found)
        for word in upright:
            rest = rest.replace(word, "")
        assert not re.search(r"[\\{}$]", rest), formula
        numbers = [n.replace("{,}", ",") for n in re.findall(r"\d+(?:\{,\}\d{3})*(?:\.\d+)?", WORDS.sub("", formula))]
        assert [words(e) for e in found.iter() if str(e.tag).endswith("mn")] == numbers
        assert [word for word in upright if word not in words(found)] == []


def test_words_in_formulas_are_text_whatever_they_hold() -> None:
    formula = mathml(r"3{,}500\,\text{$/h & % <i>}")
    found = parsed(f"<!DOCTYPE html><title>x</title>{formula}")
    assert [words(e) for e in found.iter() if str(e.tag).endswith("}mi") or e.tag == "mi"] == ["$/h & % <i>"]
    assert "3,500" in [words(e) for e in found.iter()]


@pytest.mark.law
def test_a_formula_is_cut_where_nothing_is_open() -> None:
    for law in laws().values():
        for clause in clauses(law.latex()):
            assert clause.count("{") == clause.count("}")
            assert clause.count(r"\left") - clause.count(r"\left" + "arrow") == clause.count(r"\right")
        assert " ".join(clauses(law.latex())) == law.latex()


def test_the_page_of_a_class_links_every_sheet_and_key_and_names_nobody() -> None:
    students = [sheet(student=code) for code in ("AAAA-2222", "BBBB-3333")]
    found = writer("html").class_files("key", iter(students))
    assert list(found) == ["index.html"]
    page = parsed(str(found["index.html"]))
    links = [a.get("href") for a in page.iter("a")]
    assert links == [f for s in students for f in (f"../sheets/{s.student}.html", f"{s.student}.html")]
    for student, row in zip(students, list(page.iter("tr"))[1:], strict=True):
        answers = [answer(part) for entry in student.entries for part in entry.exercise.parts]
        assert [words(cell) for cell in row.iter("td")][1:] == answers
        assert {f"{student.student}.html"} == set(files("key", student, "html"))
    assert NAME not in words(page)
    assert writer("html").class_files("sheet", iter(students)) == {}


@pytest.mark.meta
@pytest.mark.parametrize("name", ["html", "pdf"])
def test_the_extra_that_a_format_names_brings_what_it_needs(name: str) -> None:
    project = Path(__file__).parents[2] / "pyproject.toml"
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert writer(name).needs
    assert all(
        any(wanted.startswith(f"{need}>") for wanted in extras[writer(name).extra]) for need in writer(name).needs
    )


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("kind", ["sheet", "key"])
def test_nothing_sticks_out_of_a_narrow_phone(tmp_path: Path, kind: str) -> None:
    """A browser lays the page out 360 pixels wide, and says how wide it became."""
    (tmp_path / "page.html").write_text(rendered(kind, sheet(), "html"), encoding="utf-8")
    frame = """<!DOCTYPE html><title></title><iframe src="page.html" width="360" height="600" style="border:0"></iframe>
    <script>onload = () => { const page = frames[0].document.documentElement;
    document.title = [page.scrollWidth, frames[0].document.querySelectorAll("math").length]; }</script>"""
    (tmp_path / "frame.html").write_text(frame, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    files = ["--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000"]
    done = subprocess.run(
        [str(CHROMIUM), *options, *files, "--dump-dom", (tmp_path / "frame.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    width, formulas = map(int, re.findall(r"<title>(\d+),(\d+)</title>", done.stdout)[0])
    assert width <= 360
    assert formulas > 20
