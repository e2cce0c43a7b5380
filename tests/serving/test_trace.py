"""Traces: the columns of public ones are understood, and every bad line is named."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.serving.request import Request
from spec.serving.trace import BadTrace, read_trace

ROWS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**5), st.integers(1, 10**4)), min_size=1, max_size=9)


@pytest.mark.roundtrip
@given(ROWS)
def test_what_is_written_is_read_back_from_either_form(rows: list[tuple[int, int, int]]) -> None:
    start = min(arrival for arrival, _, _ in rows)
    expected = [Request(n, 10**6 * (a - start), p, o) for n, (a, p, o) in enumerate(rows)]
    table = ["arrival,prompt,output\n", *(f"{a},{p},{o}\n" for a, p, o in rows)]
    lines = [json.dumps({"timestamp": a, "input_length": p, "output_length": o}) + "\n" for a, p, o in rows]
    assert read_trace(table, "ms") == read_trace(lines, "ms") == expected


def test_dates_and_names_of_public_traces_are_understood() -> None:
    lines = [
        "TIMESTAMP,ContextTokens,GeneratedTokens",
        "2023-11-16 18:15:46.6805900,374,44",
        "2023-11-16 18:15:50.9951690,396,109",
        "",
    ]
    assert read_trace(lines) == [Request(0, 0, 374, 44), Request(1, 4_314_579_000, 396, 109)]
    lines = ["\ufeffTimestamp,Model,Request tokens,Response tokens,Total tokens,Log Type", "5,GPT-4,472,18,490,API"]
    assert read_trace(lines) == [Request(0, 0, 472, 18)]
    lines = [
        "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size",
        "7,2,0,1,1,9,4",
    ]
    assert read_trace(lines) == [Request(0, 0, 9, 4)]


@pytest.mark.roundtrip
@given(st.lists(st.floats(0, 10**9).map(lambda time: round(time, 12)), min_size=1, max_size=9))
def test_every_time_that_a_program_writes_is_read(times: list[float]) -> None:
    lines = [json.dumps({"arrival": time, "prompt": 1, "output": 1}) for time in times]
    table = ["arrival,prompt,output", *(f"{time!r},1,1" for time in times)]
    first = round(Fraction(repr(min(times))) * 10**9)
    expected = [round(Fraction(repr(time)) * 10**9) - first for time in times]
    assert [request.arrival for request in read_trace(lines)] == expected
    assert read_trace(table) == read_trace(lines)


def test_dates_of_one_moment_are_one_moment_wherever_they_were_written() -> None:
    same = (
        "2024-05-10 00:00:00.5",
        "2024-05-10T00:00:00.500Z",
        "2024-05-10 02:00:00.5+02:00",
        "2024-05-09 19:00:00.5-0500",
    )
    assert {request.arrival for request in read_trace(["time,prompt,output", *(f"{at},1,1" for at in same)])} == {0}


@pytest.mark.parametrize(
    ("lines", "line", "why"),
    [
        ([], 1, "holds no request"),
        (["arrival,prompt,output"], 1, "holds no request"),
        (["arrival,prompt", "1,2"], 2, "no column for the output"),
        (["arrival,prompt,output", "1,2"], 2, "2 columns"),
        (["arrival,prompt,output", "1,2,3", "", "x,2,3"], 4, "neither a number nor a date"),
        (["arrival,prompt,output", "2023-13-45 00:00:00,2,3"], 2, "neither a number nor a date"),
        (["arrival,prompt,output", "1,0,3"], 2, "from 1 to 10,000,000"),
        (["arrival,prompt,output", "1,2,2.5"], 2, "from 1 to"),
        (["timestamp,request tokens,response tokens", "5,472,0"], 2, "0,000; leave out requests that failed"),
        (["arrival,prompt,output", "1,2,9999999999"], 2, "from 1 to"),
        (["arrival,prompt,output", "1,2,1e99"], 2, "from 1 to"),
        (["arrival,prompt,output", "1e100,2,3"], 2, "neither a number"),
        (["arrival,prompt,output", "2024-01-01 00:00:00+99:99,2,3"], 2, "neither a number"),
        (['[{"arrival": 1, "prompt": 2, "output": 3}]'], 1, "one JSON object on each line"),
        (["arrival,prompt,output", "-1,2,3"], 2, "neither"),
        (['{"arrival": 1, "prompt": 2, "output": 3}', "[1]"], 2, "not a JSON object"),
        (["{" * 99999], 1, "not a JSON object"),
        (['{"arrival": 1, "prompt": true, "output": 3}'], 1, "'True' tokens of prompt"),
    ],
)
def test_a_bad_line_is_named(lines: list[str], line: int, why: str) -> None:
    with pytest.raises(BadTrace, match=rf"line {line}, column \d+ .*{why}") as error:
        read_trace(lines)
    assert error.value.line == line


@given(ROWS, st.integers(0, 8), st.integers(0, 2), st.booleans())
def test_a_complaint_points_at_the_value(rows: list[tuple[int, int, int]], which: int, cell: int, quoted: bool) -> None:  # noqa: FBT001  drawn
    which %= len(rows)
    cells: list[list[object]] = [list(row) for row in rows]
    cells[which][cell] = "x,y" if quoted else "x"
    table = ["arrival,prompt,output", *(",".join(f'"{c}"' if "," in str(c) else str(c) for c in row) for row in cells)]
    with pytest.raises(BadTrace) as error:
        read_trace(table)
    assert error.value.line == which + 2
    assert table[which + 1][error.value.column - 1 :].startswith('"x,y"' if quoted else "x")
    names = ("arrival", "prompt", "output")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in cells]
    with pytest.raises(BadTrace) as error:
        read_trace(lines)
    assert error.value.line == which + 1
    assert lines[which][error.value.column - 1 :].startswith(f'"{names[cell]}"')


def test_a_cell_that_csv_refuses_is_no_request() -> None:
    with pytest.raises(BadTrace, match="line 2, column 1 is too long"):
        read_trace(["arrival,prompt,output", "9" * 140_000 + ",2,3"])


@pytest.mark.fuzz
@given(st.lists(st.text(max_size=30), max_size=5), st.sampled_from(["", "arrival,prompt,output", "{"]))
def test_no_text_breaks_it(lines: list[str], first: str) -> None:
    try:
        assert read_trace([first, *lines])
    except BadTrace as error:
        assert str(error).startswith("line ")  # noqa: PT017
