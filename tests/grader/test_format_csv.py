"""CSV sheets: what a spreadsheet makes of them, and the way back."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.answers import Answer, read_answers
from grader.cli.app import app
from grader.exercise import NUMERIC, Exercise, Part
from grader.judging import CORRECT, judge
from grader.sets import Entry, Item, Sheet, files, writer
from grader.solution import answer
from grader.tables import Row, rows, unguarded
from tests.grader.every_family import NAME, TITLE, exercises, sheet

# What spreadsheets take for something else than the text it is: formulas, dates, numbers that lose zeros or digits.
REFORMATTED = re.compile(
    r"[=+@\t\r-].*|0\d+|\d{16,}|\d+e\d+|\d+[-/.:]\d+[-/.:\d]*|\w{3}[- ]?\d+|true|false", re.IGNORECASE
)


def table(content: str | bytes) -> list[dict[str, str]]:
    assert isinstance(content, str)
    assert content.startswith("\ufeff")
    return list(csv.DictReader(content.removeprefix("\ufeff").splitlines(), strict=True))


def key(*sheets: Sheet) -> list[dict[str, str]]:
    return table(writer("csv").class_files("key", sheets)["key.csv"])


def of(part: Part) -> Sheet:
    exercise = Exercise("x", 1, 5, "S.", (), (part,))
    return Sheet("t", "K7Q2-9XMD", (Entry.of(1, Item("x", 5, 1, Fraction(1, 3)), exercise),))


def test_a_sheet_has_a_row_for_each_part_and_nothing_in_it() -> None:
    (found,) = files("sheet", sheet(), "csv").items()
    assert found[0] == "K7Q2-9XMD.csv"
    asked = table(found[1])
    parts = [(str(n), p, len(e.parts)) for n, e in enumerate(exercises(), 1) for p in e.parts]
    assert [(r["item"], r["part"]) for r in asked] == [(n, p.part if several > 1 else "") for n, p, several in parts]
    assert [r["unit"] for r in asked] == [p.unit for _, p, _ in parts]
    assert {r["student"] for r in asked} == {"K7Q2-9XMD"}
    assert {r["answer"] for r in asked} == {""}
    assert not any(word in found[1] for word in (TITLE, NAME, "@"))


def test_a_unit_that_the_question_keeps_back_is_kept_back() -> None:
    part = Part("a", "x", "How long?", "quantity", "5", "ms")
    assert [r["unit"] for r in table(files("sheet", of(part), "csv")["K7Q2-9XMD.csv"])] == [""]


def test_the_key_says_every_answer_of_every_sheet() -> None:
    both = [sheet(student="K7Q2-9XMD"), sheet(student="C234-5678")]
    found = key(*both)
    wanted = [(s.student, p) for s in both for e in exercises() for p in e.parts]
    assert [(r["student"], r["reason"]) for r in found] == [(student, p.reason) for student, p in wanted]
    for row, (_, part) in zip(found, wanted, strict=True):
        if part.kind in NUMERIC and "/" in (part.key or ""):  # 1/3 would become the first of March
            assert "/" not in row["answer"].partition(" ")[0]
            assert judge(part, row["answer"]).verdict == CORRECT
        else:
            assert row["answer"] == answer(part)
    assert {r["exercise"] for r in found} == {f"{e.family}@{e.revision}/{e.seed}" for e in exercises()}
    assert writer("csv").class_files("sheet", both) == files("key", sheet(), "csv") == {}
    (row,) = key(of(Part("a", "x", "?", "count", "5")))
    assert row["points"] == "0.3333"  # and not 1/3, the first of March


def test_a_spreadsheet_reads_every_cell_as_it_is_written() -> None:
    cells = [c for r in table(files("sheet", sheet(), "csv")["K7Q2-9XMD.csv"]) for c in r.values()]
    cells += [c for row in key(sheet()) for c in row.values()]
    numbers = {"item", "points"}
    cells += [name for name in key(sheet())[0] if name not in numbers]
    assert [c for c in cells if REFORMATTED.fullmatch(c) and not re.fullmatch(r"\d+(\.\d+)?", c)] == []


@pytest.mark.law
@pytest.mark.parametrize("formula", ["-x", "=1+1", "+x", "@SUM(A1)", "\tx", "-2 * H"])
def test_no_cell_is_a_formula(formula: str) -> None:
    (row,) = key(of(Part("a", "x", "?", "expression", formula)))
    assert row["answer"][0] == "'"
    assert unguarded(row["answer"]) == formula
    (row,) = key(replace(of(Part("a", "x", "?", "count", "5", "=x", unit_in_question=True)), student=formula))
    assert row["student"][0] == "'"
    (row,) = table(*files("sheet", of(Part("a", "x", "?", "count", "5", "=x", unit_in_question=True)), "csv").values())
    assert row["unit"] == "'=x"


def test_a_fraction_is_no_date() -> None:
    (row,) = key(of(Part("a", "x", "?", "number", "1/3")))
    assert row["answer"] == "0.333333"


@pytest.mark.roundtrip
def test_what_is_typed_into_a_sheet_comes_back_as_answers(tmp_path: Path) -> None:
    path = tmp_path / "K7Q2-9XMD.csv"
    (content,) = files("sheet", sheet(), "csv").values()
    path.write_text(str(content), encoding="utf-8")
    header, *blank = [row for row in rows(path) if isinstance(row, Row)]
    typed = ["5 µs", "1,024", 'a "b"', "x; y", "none", "1/2", "-3", ""]
    expected = [typed[n % len(typed)] for n in range(len(blank))]
    for separator in ",;\t":  # of spreadsheets in other countries
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            table = csv.writer(file, delimiter=separator)
            table.writerow(header.cells)
            table.writerows([*row.cells[:-1], text] for row, text in zip(blank, expected, strict=True))
        found = list(read_answers(path))
        assert all(isinstance(answer, Answer) for answer in found)
        assert [a.text for a in found if isinstance(a, Answer)] == expected
        places = [(a.student, a.item, a.part) for a in found if isinstance(a, Answer)]
        assert places == [
            ("K7Q2-9XMD", n, p.part if len(e.parts) > 1 else "") for n, e in enumerate(exercises(), 1) for p in e.parts
        ]


def test_a_class_gets_its_sheets_and_the_instructor_one_key(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text('title = "=1"\n[[items]]\nfamily = "kv-per-token"\ncount = 2\n', "utf-8")
    (tmp_path / "roster.csv").write_text("id,name\nu1,=Ada\nu2,Bob\n", encoding="utf-8")
    arguments = ["set", tmp_path / "set.toml", "--roster", tmp_path / "roster.csv", "--out", tmp_path / "c"]
    done = CliRunner().invoke(app, [*map(str, arguments), "--format", "csv", "--workers", "1"])
    assert done.exit_code == 0, done.output
    found = [p.stem for p in sorted((tmp_path / "c/sheets").iterdir())]
    assert len(found) == 2
    all_keys = table((tmp_path / "c/keys/key.csv").read_text(encoding="utf-8"))
    assert [r["student"] for r in all_keys] == [code for code in found for _ in range(2)]
    for code in found:
        path = tmp_path / "c/sheets" / f"{code}.csv"
        typed = [r["answer"] for r in all_keys if r["student"] == code]
        path.write_text(
            "".join(f"{line}{text}\n" for line, text in zip(lines(path), ["", *typed], strict=True)), "utf-8"
        )
    key = tmp_path / "c/keys/key.json"
    done = CliRunner().invoke(app, ["submit", "--answers", str(tmp_path / "c/sheets"), "--key", str(key), "--json"])
    assert done.exit_code == 0, done.output
    assert '"correct": 2' in done.output
    assert '"wrong": 0' in done.output


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8-sig").splitlines()
