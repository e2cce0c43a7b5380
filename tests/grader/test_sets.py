"""Problem sets: what a set file may say, what sheets and keys hold, and what becomes of files that are there."""

from __future__ import annotations

import errno
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from grader.cli.app import app
from grader.exercise import Exercise, exact
from grader.judging import judge
from grader.sets import Exists, InvalidSet, TooFew, formats, read_set, record, rendered, sheet, write
from grader.sets.rendering import _environment, _markdown
from grader.solution import answer

GOOD = """\
title = "Week 1: GB & GiB, *two* kinds"

[[items]]
family = "max-context"
seed = 7
points = 4

[[items]]
family = "max-context"
count = 3
points = 2.5

[[items]]
family = "parameter-formula"
"""


def file(folder: Path, text: str) -> Path:
    path = folder / "set.toml"
    path.write_text(text, encoding="utf-8")
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["set", *map(str, arguments)])


def test_a_set_says_its_items(tmp_path: Path) -> None:
    found = read_set(file(tmp_path, GOOD))
    assert found.title == "Week 1: GB & GiB, *two* kinds"
    assert [(i.family, i.seed, i.count, i.points) for i in found.items] == [
        ("max-context", 7, 1, 4),
        ("max-context", None, 3, Fraction(5, 2)),
        ("parameter-formula", None, 1, 1),
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "says"),
    [
        ('title = "Week', 'titel = "Week', 1, "titel", "did you mean title?"),
        ('title = "Week 1: GB & GiB, *two* kinds"', "", 0, "title", "missing"),
        ('title = "Week 1: GB & GiB, *two* kinds"', "title = 5", 1, "title", "one line of text"),
        ('title = "Week 1: GB & GiB, *two* kinds"', 'title = "a\\nb"', 1, "title", "one line of text"),
        (
            'family = "max-context"\nseed',
            'family = "max-contxt"\nseed',
            4,
            "items[1].family",
            "did you mean max-context?",
        ),
        ('family = "max-context"\nseed', "seed", 3, "items[1].family", "missing"),
        ("seed = 7", "seed = -1", 5, "items[1].seed", "whole number from 0"),
        ("seed = 7", 'seed = "7"', 5, "items[1].seed", '"7" cannot stand here'),
        ("seed = 7", "seed = true", 5, "items[1].seed", "whole number"),
        ("seed = 7", "seed = 7\ncount = 2", 6, "items[1].count", "not both"),
        ("seed = 7", "sede = 7", 5, "items[1].sede", "did you mean seed?"),
        ("count = 3", "count = 0", 10, "items[2].count", "from 1 to 100"),
        ("count = 3", "count = 1.5", 10, "items[2].count", "from 1 to 100"),
        ("points = 4", "points = 0", 6, "items[1].points", "over 0"),
        ("points = 4", "points = nan", 6, "items[1].points", "over 0"),
        ("points = 4", "points = 1e999999999", 6, "items[1].points", "up to 1000"),
        ("points = 4", "points = false", 6, "items[1].points", "over 0"),
        (GOOD[GOOD.index("[[items]]") :], "", 0, "items", "[[items]]"),
        (GOOD[GOOD.index("[[items]]") :], "items = [5]", 0, "items[1]", "a table"),
        ("seed = 7", "seed = ", 0, "", "line 5"),
        ("seed = 7", "seed = " + "9" * 5000, 0, "", "not valid TOML"),
        ("seed = 7", "seed = " + "[" * 5000, 0, "", "nested"),
    ],
)
def test_a_mistake_in_a_set_file_is_told_with_its_line_and_key(
    tmp_path: Path, old: str, new: str, line: int, key: str, says: str
) -> None:
    assert GOOD.count(old) >= 1
    path = file(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(InvalidSet) as caught:
        read_set(path)
    assert (caught.value.line, caught.value.key) == (line, key)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    done = run(path, "--out", tmp_path / "out")
    assert (done.exit_code, done.stdout) == (2, "")
    assert str(caught.value) in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "content"), [("none.toml", None), ("bytes.toml", b"\xff\xfe"), (".", None)])
def test_a_set_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = run(tmp_path / name, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.output


@pytest.mark.law
def test_the_same_set_and_name_always_give_the_same_sheet(tmp_path: Path) -> None:
    found = read_set(file(tmp_path, GOOD))
    assert sheet(found) == sheet(found)
    assert sheet(found).points == 4 + 3 * Fraction(5, 2) + 1
    assert [entry.number for entry in sheet(found).entries] == [1, 2, 3, 4, 5]
    assert sheet(found, "ada").entries[0] == sheet(found).entries[0]
    assert sheet(found, "ada").entries[1:] != sheet(found).entries[1:]


def test_no_exercise_stands_on_a_sheet_twice(tmp_path: Path) -> None:
    many = '[[items]]\nfamily = "parameter-formula"\ncount = 60\n'
    entries = sheet(read_set(file(tmp_path, f'title = "t"\n{many}'))).entries
    assert len({entry.exercise.statement for entry in entries}) == 60
    preset = '[[items]]\nfamily = "exercise-1"\n'
    assert len(sheet(read_set(file(tmp_path, f'title = "t"\n{preset}'))).entries) == 1
    with pytest.raises(InvalidSet):
        read_set(file(tmp_path, f'title = "t"\n{preset}count = 2\n'))


def test_a_family_that_is_too_small_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_set(file(tmp_path, GOOD))
    one = sheet(found).entries[0].exercise
    monkeypatch.setattr("grader.sets.sheets.pose", lambda *_: one)
    with pytest.raises(TooFew):
        sheet(found)


@pytest.mark.roundtrip
def test_the_record_of_a_key_judges_the_answers_of_the_key(tmp_path: Path) -> None:
    drawn = sheet(read_set(file(tmp_path, GOOD)))
    data = json.loads(record([drawn]))
    assert (data["schema"], data["title"], data["sheets"][0]["name"]) == (1, drawn.title, "")
    for item, entry in zip(data["sheets"][0]["items"], drawn.entries, strict=True):
        exercise = Exercise.from_json(json.dumps(item["exercise"]))
        assert exercise == entry.exercise
        assert (item["number"], item["points"]) == (entry.number, exact(entry.points))
        assert [judge(part, answer(part)).verdict for part in exercise.parts] == ["correct"] * len(exercise.parts)


def test_a_sheet_holds_all_that_is_asked_and_nothing_of_the_key(tmp_path: Path) -> None:
    done = run(file(tmp_path, GOOD), "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert sorted(done.stdout.split()) == sorted(str(p) for p in (tmp_path / "out").rglob("*") if p.is_file())
    text = (tmp_path / "out/sheets/sheet.md").read_text(encoding="utf-8")
    key = (tmp_path / "out/keys/key.md").read_text(encoding="utf-8")
    drawn = sheet(read_set(tmp_path / "set.toml"))
    assert "\n## Exercise 1 (4 points)\n" in text
    assert "\n## Exercise 5 (1 point)\n" in text
    for entry in drawn.entries:
        exercise = entry.exercise
        assert _markdown(exercise.statement) in text
        assert text.count("\nAnswer: ____") == len(drawn.entries)
        for part in exercise.parts:
            assert _markdown(part.question) in text
            assert _markdown(answer(part)) in key
            hidden = [s.sentence for s in part.slips] + [s.slip for s in part.slips] + [answer(part)]
            assert [h for h in hidden if re.search(rf"(?<!\w){re.escape(h)}(?!\w)", text)] == []
        assert f"{exercise.family}@{exercise.revision}/{exercise.seed}" in key
    seeds = [str(entry.exercise.seed) for entry in drawn.entries[1:]]
    assert [found for found in (*seeds, "max-context", "parameter-formula", "seed") if found in text] == []
    assert "\n\n\n" not in text + key


def test_json_says_what_was_written(tmp_path: Path) -> None:
    found = json.loads(run(file(tmp_path, GOOD), "--out", tmp_path / "out", "--json").stdout)
    files = [str(tmp_path / "out" / name) for name in ("sheets/sheet.md", "keys/key.md", "keys/key.json")]
    assert found == {
        "schema": 1, "title": "Week 1: GB & GiB, *two* kinds", "exercises": 5, "points": "12.5", "files": files,
    }  # fmt: skip


def test_nothing_is_overwritten_unless_told(tmp_path: Path) -> None:
    path, out = file(tmp_path, GOOD), tmp_path / "out"
    run(path, "--out", out)
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    path.write_text(GOOD.replace("seed = 7", "seed = 8"), encoding="utf-8")
    done = run(path, "--out", out)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--force" in done.stderr
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before
    assert run(path, "--out", out, "--force").exit_code == 0
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} != before


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    path = file(tmp_path, GOOD)
    for out, says in ((path, "File exists"), (path / "below", "Not a directory"), ("a\0b", "null")):
        done = run(path, "--out", out)
        assert done.exit_code == 2
        assert "cannot be written" in done.stderr
        assert "Traceback" not in done.output
        assert says in done.stderr or says == "File exists"


def test_a_full_disk_is_one_sentence_and_leaves_whole_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = file(tmp_path, GOOD), tmp_path / "out"
    run(path, "--out", out)
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}

    def full(self: Path, text: str, **_: str) -> int:
        self.write_bytes(text.encode()[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = run(path, "--out", out, "--force")
    assert done.exit_code == 2
    assert "No space left on device" in done.stderr
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before


def test_writing_refuses_before_it_writes_anything(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("old", encoding="utf-8")
    with pytest.raises(Exists):
        write(tmp_path, {"a": "new", "b": "new"}, force=False)
    assert [p.name for p in tmp_path.iterdir()] == ["b"]


def test_a_format_is_a_pair_of_templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert formats() == ["md"]
    (tmp_path / "sheet.txt.j2").write_text("{{ sheet.title }}: {{ sheet.entries|length }}", encoding="utf-8")
    (tmp_path / "key.txt.j2").write_text("key", encoding="utf-8")
    monkeypatch.setattr("grader.sets.rendering.folder", lambda: tmp_path)
    _environment.cache_clear()
    try:
        assert formats() == ["txt"]
        assert rendered("sheet", sheet(read_set(file(tmp_path, GOOD))), "txt").endswith("kinds: 5")
        done = run(tmp_path / "set.toml", "--out", tmp_path / "out", "--format", "txt")
        assert {p.name for p in (tmp_path / "out").rglob("*.txt")} == {"sheet.txt", "key.txt"}
        assert done.exit_code == 0
        assert "there is txt" in run(tmp_path / "set.toml", "--out", tmp_path / "o", "--format", "pdf").stderr
    finally:
        _environment.cache_clear()


@pytest.mark.law
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_escaped_text_has_no_markup_left(text: str) -> None:
    escaped = _markdown(text)
    assert re.sub(r"\\(.)", r"\1", escaped) == text
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>#|~$&]", escaped)
