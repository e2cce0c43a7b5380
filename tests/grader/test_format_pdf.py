"""PDF sheets: what a reader takes out of them again."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.givens import shown
from grader.sets import Sheet, files
from grader.sets.formats.pdf import NoFont, _compiler, expression, mathematics
from grader.sets.formulas import WORDS
from grader.solution import answer, lines
from spec.index import laws
from spec.quantities import quantities
from tests.grader.every_family import NAME, TITLE, exercises, first_of_each, hidden, sheet


def pdf(kind: str, of: Sheet) -> bytes:
    ((name, content),) = files(kind, of, "pdf").items()
    assert name == f"{of.student or kind}.pdf"
    assert isinstance(content, bytes)
    return content


def compiled(source: str) -> str:
    made = _compiler().compile(f"#set page(width: 40cm, height: auto)\n{source}".encode(), format="pdf")
    assert isinstance(made, bytes)
    return text_of(made)


def pages(content: bytes) -> list[str]:
    return [squeezed(page.extract_text()) for page in pypdf.PdfReader(io.BytesIO(content)).pages]


def text_of(content: bytes) -> str:
    return "".join(pages(content))


def squeezed(text: str) -> str:
    """Take out the spaces: where a line is broken, and how far letters stand apart, is no part of the words."""
    return re.sub(r"\s+", "", text)


@pytest.fixture(scope="module", params=["sheet", "key"])
def either(request: pytest.FixtureRequest) -> bytes:
    return pdf(request.param, sheet())


@pytest.fixture(scope="module")
def own() -> list[str]:
    """Give the pages of a sheet."""
    return pages(pdf("sheet", sheet()))


def bodies(found: list[str]) -> Iterator[str]:
    """Give what stands below each heading, without the footers."""
    text = "".join(re.sub(r"K7Q2-9XMD(:key)?\d+/\d+$", "", page) for page in found)
    return iter(re.split(r"Exercise\d+\(2\.5points\)", text)[1:])


def test_a_sheet_says_all_that_is_asked_word_for_word(own: list[str]) -> None:
    sections = list(bodies(own))
    assert len(sections) == len(exercises())
    for section, exercise in zip(sections, exercises(), strict=True):
        said = [exercise.statement, exercise.convention]
        for part in exercise.parts:
            said += [part.question, *part.options]
        for given_ in (*exercise.givens, *(g for part in exercise.parts for g in part.givens)):
            said += [shown(given_), given_.says]
        assert [text for text in said if squeezed(text) not in section] == []
    assert squeezed(TITLE) in own[0]
    assert squeezed(f"Name: {NAME}") in own[0]
    assert "Code:K7Q2-9XMD" in own[0]


def test_a_sheet_has_a_box_for_each_part_and_nothing_of_a_key(own: list[str]) -> None:
    labels = [f"{n}{p.part * (len(e.parts) > 1)}" for n, e in enumerate(exercises(), 1) for p in e.parts]
    assert re.findall(r"Answer(\d+[a-z]?):", "".join(own)) == labels
    for section, exercise in zip(bodies(own), exercises(), strict=True):
        assert [text for text in hidden(exercise) if squeezed(text) in section] == []


def test_a_key_says_every_answer_with_its_steps() -> None:
    found = pages(pdf("key", sheet()))
    for section, exercise in zip(bodies(found), exercises(), strict=True):
        assert f"{exercise.family}@{exercise.revision}/{exercise.seed}" in section
        for part in exercise.parts:
            said = [answer(part), part.reason, *(line.says for line in lines(exercise, part))]
            assert [text for text in said if squeezed(text) not in section] == []
    assert squeezed(NAME) not in "".join(found)
    assert squeezed(f"{TITLE}: key") in found[0]


def test_every_page_has_its_number_and_the_code(either: bytes) -> None:
    found = pages(either)
    assert len(found) > 2
    for number, page in enumerate(found, 1):
        assert re.search(rf"K7Q2-9XMD(:key)?{number}/{len(found)}$", page)


def test_every_font_is_embedded(either: bytes) -> None:
    fonts: dict[str, Any] = {}
    for page in pypdf.PdfReader(io.BytesIO(either)).pages:
        fonts |= {name: font.get_object() for name, font in page["/Resources"]["/Font"].items()}
    assert len(fonts) > 1
    for font in fonts.values():
        descendant = font["/DescendantFonts"][0].get_object()
        assert {"/FontFile2", "/FontFile3"} & set(descendant["/FontDescriptor"].get_object())


def test_the_file_says_its_title_and_language_and_no_date(either: bytes) -> None:
    reader = pypdf.PdfReader(io.BytesIO(either))
    assert reader.metadata is not None
    assert (reader.metadata.title or "").startswith(TITLE)
    assert reader.metadata.author is None
    assert reader.metadata.creation_date is None
    assert reader.trailer["/Root"]["/Lang"] == "en"


def test_screen_readers_get_tags_and_the_words_of_every_formula(either: bytes) -> None:
    reader = pypdf.PdfReader(io.BytesIO(either))
    root: Any = reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert b"<pdfuaid:part>1</pdfuaid:part>" in root["/Metadata"].get_object().get_data()
    tags: list[tuple[str, str]] = []
    rest: list[Any] = [root["/StructTreeRoot"]]
    while rest:
        node = rest.pop().get_object()
        if isinstance(node, dict):  # else the number of a piece of a page
            children = node.get("/K", [])
            tags.append((str(node.get("/S")), str(node.get("/Alt", ""))))
            rest += children if isinstance(children, list) else [children]
    names = {name for name, _ in tags}
    key = "/L" in names and "/Table" not in names
    assert names >= ({"/H1", "/H2", "/L", "/Formula"} if key else {"/H1", "/H2", "/Table", "/TH", "/TD", "/Formula"})
    spoken = [alt for name, alt in tags if name == "/Formula"]
    said = [line.text for e in exercises() for part in e.parts for line in lines(e, part) if line.latex]
    symbols = [g.symbol for e in exercises() for g in (*e.givens, *(g for p in e.parts for g in p.givens))]
    assert sorted(spoken) == sorted(said if key else symbols)


@pytest.mark.parametrize("kind", ["sheet", "key"])
def test_letters_that_no_font_has_are_told_in_one_sentence(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import typst

    bare = typst.Compiler(ignore_system_fonts=True)
    monkeypatch.setattr("grader.sets.formats.pdf._compiler", lambda: bare)
    with pytest.raises(NoFont) as caught:
        pdf(kind, sheet(title="Week \N{CJK UNIFIED IDEOGRAPH-592A}\N{CJK UNIFIED IDEOGRAPH-90CE}"))
    assert "\N{CJK UNIFIED IDEOGRAPH-592A}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert pdf(kind, sheet())


@pytest.mark.law
def test_the_same_sheet_gives_the_same_bytes() -> None:
    assert pdf("sheet", sheet()) == pdf("sheet", sheet())
    assert pdf("sheet", sheet()) != pdf("sheet", sheet(name="Another"))


def test_a_sheet_for_everybody_has_a_line_for_the_name_and_no_code() -> None:
    found = text_of(pdf("sheet", sheet(name="", student="")))
    assert "Name:" in found
    assert "Code:" not in found


@pytest.mark.roundtrip
@given(st.text(st.characters(codec="latin-1", exclude_categories=["Cs", "Cc", "Cf"]), max_size=60))
def test_a_text_comes_out_as_it_went_in(text: str) -> None:
    """Between letters that close it off: space at the ends of a line is nothing to a reader."""
    assert compiled(f"{expression(f'A{text}B')}(x)") == squeezed(f"A{text}B(x)")


@pytest.mark.law
def test_every_law_and_letter_is_set() -> None:
    formulas = [law.latex() for law in laws().values()] + [q.tex for q in quantities().values()]
    formulas += [line.latex for e in first_of_each() for part in e.parts for line in lines(e, part) if line.latex]
    found = compiled("\n\n".join(mathematics(formula) for formula in formulas))
    assert not re.search(r"[\\{}]", found)
    words = [word for formula in formulas for _, word in WORDS.findall(formula)]
    assert found.count("$") == "".join(words).count("$")  # as in `$/h`, and nowhere else
    for formula in formulas:
        for number in re.findall(r"\d+(?:\{,\}\d{3})*(?:\.\d+)?", formula):
            assert number.replace("{,}", ",") in found


@pytest.mark.parametrize(
    ("latex", "typst"),
    [
        (r"\frac{a}{b_{kv}}", "$frac(a, b _(k v))$"),
        (r"2{,}807\,\text{a \"b\" \% $}", '$"2,807" thin "a \\\\\\"b\\\\\\" \\\\% $"$'),
        (r"\left\lfloor{\frac{1}{2}}\right\rfloor", '$⌊ frac("1", "2") ⌋$'),
        (r"\bar{N}^{2} \times \lambda \le 0.5", '$macron(N) ^("2") times lambda <= "0.5"$'),
        (r"\operatorname{gcd}\left(a, b\right)", '$op("gcd") ( a , b )$'),
    ],
)
def test_formulas_are_translated(latex: str, typst: str) -> None:
    assert mathematics(latex) == typst


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="needs poppler")
def test_another_reader_draws_every_page_and_says_the_same(tmp_path: Path) -> None:
    content = pdf("sheet", sheet())
    (tmp_path / "a.pdf").write_bytes(content)
    subprocess.run(["pdftotext", "-raw", "a.pdf"], cwd=tmp_path, check=True)  # noqa: S607
    text = (tmp_path / "a.txt").read_text(encoding="utf-8")
    text = squeezed(re.sub(r"\n\S+ \d+ / \d+\n", "\n", text))  # a statement may go on behind the foot of a page
    assert [e.id for e in exercises() if squeezed(e.statement) not in text] == []
    subprocess.run(["pdftoppm", "-r", "20", "a.pdf", "page"], cwd=tmp_path, check=True)  # noqa: S607
    drawn = sorted(tmp_path.glob("page*.ppm"))
    assert len(drawn) == len(pages(content))
    assert all(len(set(image.read_bytes())) > 20 for image in drawn)
