"""Files of answers: every way to write the same answers is read the same, and no file breaks the reader."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.answers import Answer, Unplaced, Unreadable, read_answers
from grader.answers.answer import item_of
from grader.tables import guarded

Written = tuple[str, int, str, str]  # student, item, part, text
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffd"), max_size=10).map(str.strip)
students = st.sampled_from(["C2FR-WQRK", "K7Q2-9XMD", "ada"])
answers = st.dictionaries(
    st.tuples(students, st.integers(1, 12), st.sampled_from(["", "a", "b"])), texts, min_size=1, max_size=8
)

KEYS = ["1", "2b", "answers", "item", "part", "answer", "student", "cells", "metadata", "servespec", "source", "x"]


def read(folder: Path, name: str, content: str | bytes) -> list[Answer | Unplaced]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_answers(path))


def said(found: list[Answer | Unplaced]) -> dict[tuple[str, int, str], str]:
    """Give the answers that are not blank."""
    assert [f for f in found if isinstance(f, Unplaced)] == []
    return {(f.student, f.item, f.part): f.text for f in found if isinstance(f, Answer) and f.text}


def table(rows: list[list[str]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


@pytest.mark.roundtrip
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers, st.sampled_from(",;\t"))
def test_all_ways_to_write_answers_say_the_same(
    tmp_path: Path, wanted: dict[tuple[str, int, str], str], delimiter: str
) -> None:
    known = {place: text for place, text in wanted.items() if text}
    long = [["Part", "Student code", "Item", "Answer"]]
    long += [[part, student, str(item), guarded(text)] for (student, item, part), text in wanted.items()]
    assert said(read(tmp_path, "long.csv", table(long, delimiter))) == known

    places = list(dict.fromkeys((item, part) for _, item, part in wanted))
    wide = [["student", *(f"Exercise {item}{f' ({part})' * bool(part)}" for item, part in places)]]
    wide += [
        [student, *(guarded(wanted.get((student, *place), "")) for place in places)]
        for student in dict.fromkeys(student for student, _, _ in wanted)
    ]
    assert said(read(tmp_path, "wide.csv", table(wide, delimiter))) == known

    rows = [{"student": s, "item": i, "part": p, "answer": t} for (s, i, p), t in wanted.items()]
    assert said(read(tmp_path, "rows.json", json.dumps(rows))) == known
    nested: dict[str, dict[str, str]] = {}
    for (student, item, part), text in wanted.items():
        nested.setdefault(student, {})[f"{item}{part}"] = text
    assert said(read(tmp_path, "nested.json", json.dumps(nested))) == known
    each = [{"student": student, "answers": below} for student, below in nested.items()]
    assert said(read(tmp_path, "each.json", json.dumps({"schema": 1, "sheets": each}))) == known
    toml = "".join(
        f"[answers.{json.dumps(student)}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in below.items())
        for student, below in nested.items()
    )
    if not any("\x7f" in text or ord(max(text, default="a")) > 0xFFFF for text in wanted.values()):
        assert said(read(tmp_path, "answers.toml", toml)) == known
    for student, below in nested.items():
        cells = [
            {"cell_type": "raw", "metadata": {"servespec": {"item": k}}, "source": [v[:3], v[3:]]}
            for k, v in below.items()
        ]
        book = {
            "cells": [{"cell_type": "markdown", "source": "# 1"}, *cells],
            "metadata": {"servespec": {"student": student}},
        }
        assert said(read(tmp_path, "book.ipynb", json.dumps(book))) == {
            p: t for p, t in known.items() if p[0] == student
        }


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("2", (2, "")), ("2b", (2, "b")), ("Exercise 2 (b)", (2, "b")), ("Q2", (2, "")), ("2 (4 points)", (2, "")),
        ("#3", (3, "")), ("item_12_c", (12, "c")), ("2.b", (2, "b")), ("Question 2 part B:", (2, "b")),
        ("answer", None), ("b", None), ("2z", None), ("", None), ("1.5", None), ("week 2", None), ("9" * 200, None),
    ],
)  # fmt: skip
def test_an_exercise_is_named_in_many_ways(text: str, item: tuple[int, str] | None) -> None:
    assert item_of(text) == item


def test_numbers_stay_as_typed(tmp_path: Path) -> None:
    found = read(tmp_path, "a.json", '{"student": "ada", "answers": {"1": 2.50, "2": 1e400, "3": {"a": 7, "b": -0}}}')
    assert [f.text for f in found if isinstance(f, Answer)] == ["2.50", "1e400", "7", "-0"]
    found = read(tmp_path, "a.toml", 'code = "ada"\n1 = 2.50\n2a = 7\n2b = "8 GB"\n')
    assert said(found) == {("ada", 1, ""): "2.50", ("ada", 2, "a"): "7", ("ada", 2, "b"): "8 GB"}


def test_cells_of_a_notebook_may_begin_with_a_label(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "Answer 2b: 320 tokens\n"},
        {"cell_type": "code", "metadata": {"servespec": {"item": 3}}, "source": "# Write it below.\n12*L\n"},
        {"cell_type": "markdown", "metadata": {}, "source": "Some words."},
    ]
    assert said(read(tmp_path, "b.ipynb", json.dumps({"cells": cells}))) == {
        ("", 2, "b"): "320 tokens",
        ("", 3, ""): "12*L",
    }


@pytest.mark.parametrize(
    ("name", "content", "line", "says"),
    [
        ("a.csv", b"", 0, "empty"),
        ("a.csv", b"x,y\n1,2\n", 1, "names neither"),
        ("a.csv", b"student,item,answer\nada,one,5\n", 2, "number of an exercise"),
        ("a.csv", b"student,item,answer\nada,1,1,234\n", 2, "4 columns"),
        ("a.csv", b"student,item,answer\nada,1,\xff\n", 2, "UTF-8"),
        ("a.csv", b'student,item,answer\nada,1,"5\n', 2, "quotation"),
        ("a.csv", b"student,item,answer\nada,1," + b"5" * 70000 + b"\n", 2, "64 KiB"),
        ("a.json", b"{", 1, "not valid JSON"),
        ("a.json", b"[" * 100000, 0, "not valid JSON"),
        ("a.json", b"[" * 20 + b"]" * 20, 0, "nested too deeply"),
        ("a.json", b"5", 0, "table of answers"),
        ("a.json", b'{"1": true}', 0, "is no answer"),
        ("a.json", b'{"1": ["5"]}', 0, "is no answer"),
        ("a.json", b'{"1": {"z": "5"}}', 0, "no part"),
        ("a.json", b'{"one": "5"}', 0, "names no exercise"),
        ("a.json", b"\xff", 0, "UTF-8"),
        ("a.toml", b"1 = ", 0, "not valid TOML"),
        ("a.toml", b"1 = 2024-01-01", 0, "is no answer"),
        ("a.ipynb", b"{}", 0, "no notebook"),
        ("a.ipynb", b'{"cells": []}', 0, "marked"),
        ("a.pdf", b"%PDF", 0, "CSV, TOML, JSON"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_its_place(
    tmp_path: Path, name: str, content: bytes, line: int, says: str
) -> None:
    problems = [f for f in read(tmp_path, name, content) if isinstance(f, Unplaced)]
    assert [(f.file, f.line) for f in problems] == [(name, line)]
    assert says in str(problems[0])
    assert "\n" not in str(problems[0])


def test_a_folder_is_read_by_name_and_a_bad_file_costs_itself(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    read(tmp_path / "below", "b.json", '{"student": "ada", "1": "5"}')
    read(tmp_path, "a.csv", "student,1\nada,4\n")
    read(tmp_path, "z.json", "{")
    read(tmp_path, ".hidden", "x")
    found = list(read_answers(tmp_path))
    assert [f.text for f in found if isinstance(f, Answer)] == ["4", "5"]
    assert [f.file for f in found] == ["a.csv", os.path.join("below", "b.json"), "z.json"]  # noqa: PTH118  as shown
    (tmp_path / "empty").mkdir()
    assert [str(f) for f in read_answers(tmp_path / "empty")] == ["empty: the folder holds no file."]
    for name in ("none.csv", "a\0b", "/dev/null" if os.name == "posix" else "nul:"):
        with pytest.raises(Unreadable):
            read_answers(tmp_path / name)


def test_a_cell_of_a_hundred_megabytes_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.write(b"student,item,answer\nada,1,")
        for _ in range(100):
            file.write(b"5" * 2**20)
        file.write(b"\nada,2,7\n")
    found = list(read_answers(path))
    assert [type(f) for f in found] == [Unplaced, Answer]
    path.with_suffix(".json").write_bytes(b'["' + b"5" * (17 << 20) + b'"]')
    assert "16 MiB" in str(next(read_answers(path.with_suffix(".json"))))


@pytest.mark.fuzz
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["a.csv", "a.json", "a.toml", "a.ipynb"]),
    st.binary(max_size=80)
    | st.text('{}[]",:;=\n 12ab\\metadatacells', max_size=80).map(str.encode)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=4),
        lambda below: st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), below, max_size=4),
    ).map(lambda data: json.dumps(data).encode()),
)  # fmt: skip
def test_no_file_breaks_the_reader(tmp_path: Path, name: str, content: bytes) -> None:
    for found in read(tmp_path, name, content):
        assert isinstance(found, Answer) or "\n" not in str(found)


POLICY = {"evict_to": "host", "headroom": 0.05, "keep": 4608, "predictions": {"overflow_turn": 20}, "ttl": None}
fields = st.dictionaries(
    st.from_regex(r"[a-z]{3,8}(_[a-z]{1,4})?", fullmatch=True).filter(lambda name: name not in KEYS and name != "code"),
    st.integers() | st.booleans() | st.text(max_size=5) | st.floats(allow_nan=False, allow_infinity=False),
    min_size=1,
    max_size=5,
).filter(lambda table: not {"time", "name", "title", "schema", "set", "answers"} & set(table))


@pytest.mark.roundtrip
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fields)
def test_an_answer_that_is_a_table_stands_below_its_exercise_or_in_a_file_of_its_own(
    tmp_path: Path, wanted: dict[str, object]
) -> None:
    for name, content in (
        ("a.json", {"student": "K7Q2-9XMD", "8": wanted}),
        ("b.json", {"K7Q2-9XMD": {"8": wanted}}),
        ("c.json", [{"student": "K7Q2-9XMD", "item": 8, "answer": wanted}]),
        ("K7Q2-9XMD-8.json", wanted),
    ):
        (found,) = read(tmp_path, name, json.dumps(content))
        assert isinstance(found, Answer)
        assert (found.item, found.part, json.loads(found.text)) == (8, "", wanted)


def test_a_policy_is_read_from_toml_and_from_a_notebook_as_it_was_typed(tmp_path: Path) -> None:
    plain = '# mine\nevict_to = "host"\nkeep = 4_608\nheadroom = +0.050\n[predictions]\noverflow_turn = 20\n'
    below = f'student = "K7Q2-9XMD"\n[8]\n{plain.replace("[predictions]", "[8.predictions]")}'
    text = '{"evict_to": "host", "keep": 4608, "headroom": 0.050, "predictions": {"overflow_turn": 20}}'
    assert said(read(tmp_path, "all.toml", below)) == {("K7Q2-9XMD", 8, ""): text}
    for name in ("K7Q2-9XMD-8.toml", "answer 8.toml", "Ada_K7Q2-9XMD_8.toml"):
        assert said(read(tmp_path, name, plain)) == {("", 8, ""): plain.strip()}
    assert said(read(tmp_path, "K7Q2-9XMD 8b.toml", plain)) == {("", 8, "b"): plain.strip()}
    for source in (f"Answer 8:\n```toml\n{plain}```\n", f"Answer 8: {plain}"):
        book = {"cells": [{"cell_type": "markdown", "source": source, "metadata": {}}], "metadata": {}}
        assert said(read(tmp_path, "x.ipynb", json.dumps(book))) == {("", 8, ""): plain.strip()}
    assert {("K7Q2-9XMD", 8, ""): json.dumps(POLICY)} == said(
        read(tmp_path, "p.json", json.dumps({"K7Q2-9XMD": {"8": POLICY}}))
    )


def test_a_file_of_answers_is_no_policy_whatever_its_name_ends_in(tmp_path: Path) -> None:
    for name in ("K7Q2-9XMD-2.json", "answer-2.json"):
        assert said(read(tmp_path, name, '{"1": "5", "2": {"a": "6"}}')) == {("", 1, ""): "5", ("", 2, "a"): "6"}
        assert said(read(tmp_path, name, '{"u1234567": {"1": "5"}}')) == {("u1234567", 1, ""): "5"}
        assert said(read(tmp_path, name, '{"student": "ada", "answers": {"1": "5"}}')) == {("ada", 1, ""): "5"}
    for wrong in ('{"2": {"x": "5"}}', '{"2": {"answer": "5"}}', '{"2": ' + '{"abc": ' * 30 + "1" + "}" * 31):
        assert [type(f) for f in read(tmp_path, "a.json", wrong)] == [Unplaced]
