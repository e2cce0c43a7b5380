"""Rows of CSV files: whatever a program writes is read back, and what is broken costs one row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.tables import LONGEST, Broken, Row, guarded, plain_cells, rows, unguarded

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufffd"), max_size=12)
tables = st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=6))


def read(folder: Path, content: str | bytes, encoding: str = "utf-8") -> list[Row | Broken]:
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return list(rows(path))


@pytest.mark.roundtrip
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tables, st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])
)
def test_what_a_program_writes_is_read_back(
    tmp_path: Path, table: list[list[str]], delimiter: str, end: str, encoding: str
) -> None:
    table = [["id"] * len(table[0]), *table]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(table)
    found = read(tmp_path, text.getvalue(), encoding)
    assert [list(row.cells) for row in found if isinstance(row, Row)] == [
        row for row in table if any(cell.strip() for cell in row)
    ]
    assert [row for row in found if isinstance(row, Broken)] == []


def test_rows_know_their_line_and_blank_ones_are_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, 'a;b\n\n1;"two\nlines"\n;;\r\n3;4')
    assert found == [Row(1, ("a", "b")), Row(3, ("1", "two\nlines")), Row(6, ("3", "4"))]
    assert read(tmp_path, "sep=;\na;b,c\n") == [Row(2, ("a", "b,c"))]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (b'1,"never closed', "quotation mark"),
        (b'1,"closed" badly', "quotation mark"),
        (b"1,\xff\xfe", "UTF-8"),
        (b"1," + b"x" * LONGEST, "64 KiB"),
        (b"1," + b"x" * (5 * LONGEST), "64 KiB"),
    ],
)
def test_a_broken_row_costs_that_row_alone(tmp_path: Path, broken: bytes, why: str) -> None:
    before, bad, *after = read(tmp_path, b"a,b\n" + broken + b"\n2,3\n" + b"4,5\n" * 20000)
    assert before == Row(1, ("a", "b"))
    assert isinstance(bad, Broken)
    assert (bad.line, why in bad.why) == (2, True)
    assert after[0] == Row(3, ("2", "3"))
    assert len(after) == 20001


@pytest.mark.fuzz
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.text('",;\n\r a=', max_size=60).map(str.encode))
def test_no_bytes_break_the_reader(tmp_path: Path, content: bytes) -> None:
    for row in read(tmp_path, content):
        assert row.line >= 1


@pytest.mark.roundtrip
@given(st.text(max_size=8) | st.from_regex(r"\A'?[=+\-@']+.*\Z", fullmatch=True))
def test_a_guarded_cell_is_no_formula_and_can_be_undone(text: str) -> None:
    cell = guarded(text)
    assert unguarded(cell) == text
    assert cell[:1] not in {"=", "@", "\t", "\r"}
    assert cell[:1] not in {"+", "-"} or float(cell) is not None


@pytest.mark.parametrize(
    ("text", "cell"), [("-5", "-5"), ("+2.5", "+2.5"), ("-5+1", "'-5+1"), ("=cmd|'/c'!A1", "'=cmd|'/c'!A1")]
)
def test_numbers_are_left_alone(text: str, cell: str) -> None:
    assert guarded(text) == cell


def test_cells_are_as_many_as_the_header_has() -> None:
    assert plain_cells(("a",), 3) == ("a", "", "")
    assert plain_cells(("a", "b", " ", ""), 2) == ("a", "b")
    assert plain_cells(("a", "b", "c"), 2) == ("a", "b", "c")
