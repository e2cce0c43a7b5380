"""Problem sets: what a set file may say, what sheets and keys hold, and what becomes of files that are there."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import grader
from grader.cli.app import app
from grader.exercise import Exercise, exact
from grader.judging import judge
from grader.sets import (
    Exists,
    InvalidSet,
    TooFew,
    format_names,
    read_set,
    record,
    record_of,
    rendered,
    sheet,
    write,
    writer,
)
from grader.sets import formats as writers
from grader.sets.formats.md import escaped
from grader.sets.rendering import _environment, folder
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
            "did you mean max-context",
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
        ("points = 4", "points = { b = 4 }", 6, "items[1].points", "give points to a"),
        ("points = 4", "points = { a = 0 }", 6, "items[1].points.a", "over 0"),
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
def test_the_same_set_always_gives_the_same_sheet(tmp_path: Path) -> None:
    found = read_set(file(tmp_path, GOOD))
    assert sheet(found) == sheet(found)
    assert sheet(found).points == 4 + 3 * Fraction(5, 2) + 1
    assert [entry.number for entry in sheet(found).entries] == [1, 2, 3, 4, 5]


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
    problem_set = read_set(file(tmp_path, GOOD))
    drawn = sheet(problem_set)
    data = json.loads("".join(record(problem_set, [record_of(drawn)])))
    assert (data["schema"], data["title"], data["sheets"][0]["student"]) == (1, drawn.title, "")
    for item, entry in zip(data["sheets"][0]["items"], drawn.entries, strict=True):
        exercise = Exercise.from_json(json.dumps(item["exercise"]))
        assert exercise == entry.exercise
        assert (item["number"], item["points"]) == (entry.number, exact(entry.points))
        assert sum(map(Fraction, item["parts"].values())) == entry.points
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
        assert escaped(exercise.statement) in text
        assert text.count("\nAnswer: ____") == len(drawn.entries)
        for part in exercise.parts:
            assert escaped(part.question) in text
            assert escaped(answer(part)) in key
            hidden = [s.sentence for s in part.slips] + [s.slip for s in part.slips] + [answer(part)]
            assert [h for h in hidden if re.search(rf"(?<!\w){re.escape(h)}(?!\w)", text)] == []
        assert f"{exercise.family}@{exercise.revision}/{exercise.seed}" in key
    seeds = [str(entry.exercise.seed) for entry in drawn.entries[1:]]
    assert [found for found in (*seeds, "max-context", "parameter-formula", "seed") if found in text] == []
    assert "\n\n\n" not in text + key


def test_json_says_what_was_written(tmp_path: Path) -> None:
    found = json.loads(run(file(tmp_path, GOOD), "--out", tmp_path / "out", "--json").stdout)
    files = [
        str(tmp_path / "out" / name) for name in ("sheets/sheet.md", "keys/key.md", "keys/key.json", "keys/answers.csv")
    ]
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

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = run(path, "--out", out, "--force")
    assert done.exit_code == 2
    assert "No space left on device" in done.stderr
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
def test_keys_are_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "set.toml"
    path.write_text('title = "T"\n[[items]]\nfamily = "max-context"\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["set", str(path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out/keys").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="has no links and pipes")
def test_a_link_stays_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    real, link, pipe = (tmp_path / name for name in ("real", "link", "pipe"))
    link.symlink_to(real)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(tmp_path, {"link": "text", "pipe": "text"}, force=True)
    assert link.is_symlink()
    assert (real.read_bytes(), os.read(reader, 9)) == (b"text", b"text")
    os.close(reader)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "real"]


def test_writing_refuses_before_it_writes_anything(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("old", encoding="utf-8")
    with pytest.raises(Exists):
        write(tmp_path, {"a": "new", "b": "new"}, force=False)
    assert [p.name for p in tmp_path.iterdir()] == ["b"]


def test_parts_have_points_of_their_own_or_equal_shares(tmp_path: Path) -> None:
    text = 'title = "t"\n[[items]]\nfamily = "exercise-4"\npoints = { a = 1, b = 2.5, c = 3, d = 1, e = 2, f = 1 }\n'
    (entry,) = sheet(read_set(file(tmp_path, text))).entries
    assert (entry.points, entry.parts) == (
        Fraction(21, 2),
        {"a": 1, "b": Fraction(5, 2), "c": 3, "d": 1, "e": 2, "f": 1},
    )
    assert "**b)** (2.5 points) " in rendered("sheet", sheet(read_set(tmp_path / "set.toml")), "md")
    text = 'title = "t"\n[[items]]\nfamily = "exercise-4"\npoints = 4\n'
    (entry,) = sheet(read_set(file(tmp_path, text))).entries
    assert entry.parts == dict.fromkeys("abcdef", Fraction(2, 3))


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder that is the only one with templates, and one, `writers`, below it that is the only with writers."""
    (tmp_path / "templates" / "writers").mkdir(parents=True)
    monkeypatch.setattr("grader.sets.rendering.folder", lambda: tmp_path / "templates")
    monkeypatch.setattr(writers, "__path__", [str(tmp_path / "templates" / "writers")])
    _environment.cache_clear()
    yield tmp_path / "templates"
    monkeypatch.undo()
    _environment.cache_clear()
    for name in [name for name in sys.modules if name.startswith("grader.sets.formats.")]:
        del sys.modules[name]


def test_a_format_is_a_pair_of_templates(tmp_path: Path, templates: Path) -> None:
    assert format_names() == []
    (templates / "sheet.txt.j2").write_text("{{ sheet.title }}: {{ sheet.entries|length }}", encoding="utf-8")
    (templates / "key.txt.j2").write_text("key", encoding="utf-8")
    assert format_names() == ["txt"]
    assert rendered("sheet", sheet(read_set(file(tmp_path, GOOD))), "txt").endswith("kinds: 5")
    done = run(tmp_path / "set.toml", "--out", tmp_path / "out", "--format", "txt")
    assert {p.name for p in (tmp_path / "out").rglob("*.txt")} == {"sheet.txt", "key.txt"}
    assert done.exit_code == 0
    assert "there is txt" in run(tmp_path / "set.toml", "--out", tmp_path / "o", "--format", "pdf").stderr


WRITER = """
from grader.sets.formats import Format

class Zipped(Format):
    suffix = "z"
    filters = {"loud": str.upper}
    def files(self, kind, sheet, text):
        return {f"{sheet.stem(kind)}/{kind}.z": text.encode("utf-16")} if kind == "sheet" else {}
    def class_files(self, kind, sheets):
        return {"all.z": ",".join(sheet.stem(kind) for sheet in sheets)} if kind == "key" else {}

writer = Zipped()
"""


def test_a_writer_makes_of_a_sheet_what_a_template_cannot(tmp_path: Path, templates: Path) -> None:
    (templates / "sheet.zipped.j2").write_text("{{ sheet.title|loud }}", encoding="utf-8")
    (templates / "writers" / "zipped.py").write_text(WRITER, encoding="utf-8")
    (templates / "writers" / "lacking.py").write_text(
        WRITER.replace('suffix = "z"', 'needs, extra = ("no_such_module",), "pdf"'), encoding="utf-8"
    )
    assert format_names() == ["lacking", "zipped"]
    out = tmp_path / "out"
    assert run(file(tmp_path, GOOD), "--out", out, "--format", "zipped").exit_code == 0
    assert {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()} == {
        "sheets/sheet/sheet.z", "keys/all.z", "keys/key.json", "keys/answers.csv",
    }  # fmt: skip
    assert "TWO" in (out / "sheets/sheet/sheet.z").read_text(encoding="utf-16")
    (tmp_path / "roster.csv").write_text("id\nu1\nu2\n", encoding="utf-8")
    arguments = (tmp_path / "set.toml", "--out", tmp_path / "class", "--roster", tmp_path / "roster.csv")
    for _ in range(2):
        assert run(*arguments, "--format", "zipped", "--workers", "1").exit_code == 0
        codes = [folder.name for folder in sorted((tmp_path / "class/sheets").iterdir())]
        assert len(codes) == 2
        assert (tmp_path / "class/keys/all.z").read_text(encoding="utf-8") == ",".join(codes)
    refused = run(tmp_path / "set.toml", "--out", tmp_path / "o", "--format", "lacking")
    assert (refused.exit_code, "servespec[pdf]" in refused.stderr) == (2, True)


@pytest.mark.meta
def test_a_format_stands_in_its_templates_and_its_writer_and_nowhere_else() -> None:
    root = Path(grader.__file__).parent
    for name in format_names():
        own = {folder() / f"sheet.{name}.j2", folder() / f"key.{name}.j2", root / "sets" / "formats" / f"{name}.py"}
        # Answers that come back, reports and simulations have formats of their own, which may be called the same.
        assert {*folder().glob(f"sheet.{name}.*"), *folder().glob(f"key.{name}.*")} <= own
        searched = [*(root / "sets").rglob("*.py"), root / "cli" / "set.py"]
        elsewhere = {p for p in searched if re.search(rf"""["']\.?{name}["']""", p.read_text("utf-8"))}
        assert elsewhere - own <= ({root / "cli" / "set.py"} if name == "md" else set())  # the default
        assert writer(name).suffix


@pytest.mark.law
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_escaped_text_has_no_markup_left(text: str) -> None:
    written = escaped(text)
    assert re.sub(r"\\(.)", r"\1", written) == text
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>#|~$&]", written)
