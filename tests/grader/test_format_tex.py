"""LaTeX sheets: nothing in them is left open or unknown, and where there is a LaTeX, it sets them."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.givens import shown
from grader.sets import rendered
from grader.sets.formats.tex import escaped, mathematics
from grader.sets.showing import form, mistakes, paragraphs
from grader.solution import answer, lines
from spec.index import laws
from spec.quantities import quantities
from tests.grader.every_family import NAME, TITLE, exercises, hidden, sheet

# What LaTeX, its amsmath and the head of the file know.
KNOWN = r"""
    \answer \apart \bar \begin \beta \bfseries \cdot \chi \delta \end \foreign \frac \gamma \hfill \hline \item
    \kappa \lambda \Large \lceil \le \left \lfloor \mathrm \max \mbox \min \nopagebreak \nu \omega \operatorname \par
    \prime \quad \rceil \rfloor \rho \Rightarrow \right \rule \section \sigma \small \smallskip \sqrt \subsection \tau
    \scriptsize \text \ttfamily
    \textasciicircum \textasciigrave \textasciitilde \textbackslash \textbar \textbf \textgreater \textless
    \textquotedbl \textquotesingle \times
"""
COMMANDS = frozenset(re.findall(r"\\[a-zA-Z]+", KNOWN))
READ_BACK = {
    "textbackslash": "\\", "textasciicircum": "^", "textasciitilde": "~", "textless": "<", "textgreater": ">",
    "textbar": "|", "textquotedbl": '"', "textquotesingle": "'", "textasciigrave": "`", "apart": "",
}  # fmt: skip


def body(text: str) -> str:
    return text.partition(r"\begin{document}")[2].partition(r"\end{document}")[0]


def read_back(text: str) -> str:
    """Undo escaping, by the meaning of the commands."""
    text = re.sub(r"\\foreign\{([0-9A-F]+)\}\{(.*?)\}", lambda m: m[2] if int(m[1], 16) == ord(m[2][0]) else "?", text)
    return re.sub(r"\\([a-z]+)\{\}|\\(.)", lambda m: READ_BACK[m[1]] if m[1] else m[2], text)


def complaints(text: str) -> list[str]:
    """Say what a TeX would stumble over: open groups and environments, unknown commands, characters with a meaning."""
    found, open_ = [], [""]
    for match in re.finditer(r"\\(begin|end)\{(\w+)\}|\\[a-zA-Z]+|\\.|[{}$#%&_^~]", text, re.DOTALL):
        piece = match[0]
        if match[1] == "begin" or piece == "{":
            open_.append(match[2] or "{")
        elif match[1] == "end" or piece == "}":
            if open_.pop() != (match[2] or "{"):
                found.append(f"{piece} closes what is not open")
        elif piece == "$":
            open_.pop() if open_[-1] == "$" else open_.append("$")
        elif _means_something(piece, open_):
            found.append(piece)
    return found + open_[1:]


def _means_something(piece: str, open_: list[str]) -> bool:
    if len(piece) > 2:
        return piece not in COMMANDS
    return piece in {"#", "%", "~"} or (piece in {"_", "^"} and "$" not in open_) or (piece == "&" and not open_[-1])


@pytest.mark.parametrize("kind", ["sheet", "key"])
def test_a_file_leaves_nothing_open_and_uses_what_a_stock_class_has(kind: str) -> None:
    text = rendered(kind, sheet(), "tex")
    assert complaints(body(text)) == []
    assert text.startswith(r"\documentclass[11pt,a4paper]{article}")
    assert text.endswith("\\end{document}\n")


def test_a_sheet_says_all_that_is_asked_and_nothing_of_a_key() -> None:
    text = body(rendered("sheet", sheet(), "tex"))
    sections = re.split(r"\\section\{Exercise \d+ \(2\.5 points\)\}", text)[1:]
    for section, exercise in zip(sections, exercises(), strict=True):
        said = [*paragraphs(exercise), exercise.convention]
        for part in exercise.parts:
            said += [part.question, *part.options, *form(part)]
        for given_ in (*exercise.givens, *(g for part in exercise.parts for g in part.givens)):
            said += [shown(given_), given_.says]
        assert [words for words in said if escaped(words) not in section] == []
        assert [text for text in hidden(exercise) if escaped(text) in section] == []
    labels = [f"{n}{p.part * (len(e.parts) > 1)}" for n, e in enumerate(exercises(), 1) for p in e.parts]
    assert re.findall(r"\\answer\[\d+mm\]\{(\w+)\}", text) == labels
    assert f"Name: {escaped(NAME)}" in text
    assert escaped(TITLE) in text
    assert r"Name: \rule" in rendered("sheet", sheet(name=""), "tex")


def test_a_key_says_every_answer_with_its_steps() -> None:
    text = body(rendered("key", sheet(), "tex"))
    sections = re.split(r"\\section\{Exercise \d+ \(2\.5 points\)\}", text)[1:]
    for section, exercise in zip(sections, exercises(), strict=True):
        assert f"{escaped(exercise.family)}@{exercise.revision}/{exercise.seed}\n" in section
        for part in exercise.parts:
            assert rf"\textbf{{{escaped(answer(part))}}}" in section
            assert escaped(part.reason) in section
            assert [said for _, said in mistakes(part) if escaped(said) not in section] == []
            for line in lines(exercise, part):
                assert escaped(line.says) in section
                assert (mathematics(line.latex) if line.latex else escaped(line.text)) in section
    assert escaped(NAME) not in text


@pytest.mark.roundtrip
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])) | st.text("-,<>'`!? a"))
def test_escaped_text_reads_back_and_holds_no_markup(text: str) -> None:
    written = escaped(text)
    assert read_back(written) == unicodedata.normalize("NFC", text)
    assert complaints(written) == []
    assert not re.search(r"--|,,|<<|>>|''|``|[!?]`", written)


@pytest.mark.law
def test_every_law_and_letter_is_well_formed() -> None:
    for formula in [law.latex() for law in laws().values()] + [q.tex for q in quantities().values()]:
        assert complaints(mathematics(formula)) == []


def test_words_in_formulas_are_escaped() -> None:
    assert mathematics(r"5\,\text{%} + 2\,\text{$/h^2}") == r"$5\,\text{\%} + 2\,\text{\$/h\textasciicircum{}2}$"


@pytest.mark.parametrize("text", ["{", "}", r"\begin{a}", r"\end{a}", r"\begin{a}\end{b}", "$", "5 %", "a_b", r"\no"])
def test_the_check_itself_sees_what_is_wrong(text: str) -> None:
    assert complaints(text) != []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "kind", "name"),
    [("pdflatex", "sheet", NAME), ("pdflatex", "key", NAME), ("lualatex", "sheet", NAME)],
)
def test_a_latex_sets_the_sheet(tmp_path: Path, engine: str, kind: str, name: str) -> None:
    done = run(engine, tmp_path, rendered(kind, sheet(name=name), "tex"))
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in done.stdout
    assert re.search(r"Output written on sheet\.pdf \(\d+ pages", done.stdout)


@pytest.mark.slow
def test_every_letter_that_is_not_foreign_has_a_shape(tmp_path: Path) -> None:
    letters = [
        chr(c) for c in range(0xA0, 0x2100) if chr(c).isprintable() and not escaped(chr(c)).startswith(r"\foreign")
    ]
    assert {"é", "ß", "ø", "š", "€"} <= set(letters)
    done = run("pdflatex", tmp_path, rendered("sheet", sheet(name=" ".join(letters)), "tex"))
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in done.stdout


@pytest.mark.slow
def test_a_letter_that_pdflatex_lacks_is_told_in_one_sentence(tmp_path: Path) -> None:
    done = run("pdflatex", tmp_path, rendered("sheet", sheet(name="Ана 太郎"), "tex"))
    assert done.returncode != 0
    assert "! pdflatex has no letter U+410: compile this file with lualatex or xelatex." in done.stdout


def run(engine: str, folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    if shutil.which(engine) is None:
        pytest.skip(f"needs {engine}")
    (folder / "sheet.tex").write_text(text, encoding="utf-8")
    options = ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
    return subprocess.run(
        [engine, *options, "sheet.tex"], cwd=folder, capture_output=True, text=True, errors="replace", check=False
    )
