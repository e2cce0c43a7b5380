"""Sheets for a class: individual draws, and a folder where an interrupted run goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from grader.amounts import digits, natural, rounded, spoken
from grader.cli.app import app
from grader.exercise import Exercise, Part
from grader.givens import shown
from grader.sets import (
    Folder,
    HandedOut,
    InvalidSet,
    ProblemSet,
    Secret,
    Student,
    hand_out,
    read_roster,
    read_set,
)
from grader.sets.draws import Allotment, digest, first_draws, places, shape
from grader.sets.formats.md import escaped
from grader.solution import answer
from grader.tables import rows

SECRET = Secret(b"a secret of the course")
SET = """\
title = "Week 1"

[[items]]
family = "max-context"
seed = 7

[[items]]
family = "kv-per-token"
count = 2
points = 2.5

[[items]]
family = "max-concurrency"
"""


@pytest.fixture
def problem_set(tmp_path: Path) -> ProblemSet:
    path = tmp_path / "set.toml"
    path.write_text(SET, encoding="utf-8")
    return read_set(path)


def class_of(size: int) -> list[Student]:
    return [Student(f"u{1000 + n}", f"Ada Quux{n:03}", f"s{n}@example.org", n + 2) for n in range(size)]


def quiet(_: str, __: int, ___: int) -> None:
    pass


def handed(
    problem_set: ProblemSet, students: list[Student], folder: Path, *, force: bool = False, workers: int = 1
) -> HandedOut:
    return hand_out(
        problem_set, students, SECRET, ("md",), Folder(folder), workers=workers, force=force, progress=quiet
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def exercises(folder: Path) -> dict[str, list[Exercise]]:
    key = json.loads((folder / "keys/key.json").read_text(encoding="utf-8"))
    return {
        sheet["student"]: [Exercise.from_json(json.dumps(item["exercise"])) for item in sheet["items"]]
        for sheet in key["sheets"]
    }


# The draws.


@pytest.mark.law
def test_the_same_secret_gives_the_same_files_in_any_order_by_any_number_of_processes(
    tmp_path: Path, problem_set: ProblemSet
) -> None:
    students = class_of(12)
    handed(problem_set, students, tmp_path / "one")
    handed(problem_set, students[::-1], tmp_path / "two", workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    hand_out(
        problem_set, students, Secret(b"another secret of it"), ("md",), Folder(tmp_path / "three"),
        workers=1, force=False, progress=quiet,
    )  # fmt: skip
    seeds = [{e.id for es in exercises(tmp_path / n).values() for e in es[1:]} for n in ("one", "three")]
    assert not seeds[0] & seeds[1]
    assert exercises(tmp_path / "one").keys() & exercises(tmp_path / "three").keys() == set()


@pytest.mark.law
def test_everybody_gets_an_own_exercise_that_is_equally_hard(tmp_path: Path, problem_set: ProblemSet) -> None:
    done = handed(problem_set, class_of(40), tmp_path / "out")
    assert done.shared == {}
    sheets = list(exercises(tmp_path / "out").values())
    assert len({sheet[0].id for sheet in sheets}) == 1  # the seed that the set names
    for place in range(4):
        assert len({shape(sheet[place]) for sheet in sheets}) == 1
    drawn = [digest(exercise) for sheet in sheets for exercise in sheet[1:]]
    assert len(set(drawn)) == len(drawn) == 120


@pytest.mark.law
@given(st.integers(1, 30))
def test_a_family_that_is_too_small_is_shared_as_evenly_as_it_goes(size: int) -> None:
    def small(family: str, seed: int) -> Exercise:
        return Exercise(family, 1, seed, f"Number {seed % 6}.", (), (Part("a", "x", "?", "count", "1"),))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grader.sets.draws.pose", small)
        items = ProblemSet("t", (_item(2),))
        spots = places(items, SECRET)
        allotment = Allotment("t", SECRET, spots)
        for student in map(str, range(size)):
            allotment.add(student, first_draws("t", SECRET, spots, student))
        held = [d.digest for draws in allotment.draws.values() for d in draws]
        counts = [held.count(d) for d in set(held)]
        assert all(a.digest != b.digest for a, b in allotment.draws.values())
        assert max(counts) - (min(counts) if len(counts) == 6 else 0) <= 1
        assert bool(allotment.shared()) == (size > 3)
        from grader.sets import TooFew

        spots = places(ProblemSet("t", (_item(7),)), SECRET)
        with pytest.raises(TooFew):
            Allotment("t", SECRET, spots).add("x", first_draws("t", SECRET, spots, "x"))


def _item(count: int) -> object:
    from grader.sets import Item

    return Item("small", None, count, Fraction(1))


# The files.


def test_no_sheet_holds_anything_of_a_key_a_seed_a_slip_or_the_secret(tmp_path: Path) -> None:
    out = tmp_path / "out"
    path = tmp_path / "set.toml"
    more = "".join(f'[[items]]\nfamily = "{family}"\n' for family in ("exercise-4", "parameter-formula", "gpu-count"))
    path.write_text(SET + more, encoding="utf-8")
    handed(read_set(path), class_of(30), out)
    seeds: set[str] = set()
    slips: set[str] = set()
    for code, drawn in exercises(out).items():
        text = (out / "sheets" / f"{code}.md").read_text(encoding="utf-8")
        bare = re.sub(r"Exercise \d+|\(?[\d./]+ (points?|exercises)\)?", "", text).replace(code, "")
        for piece in sorted(public(drawn), key=len, reverse=True):
            bare = bare.replace(escaped(piece), "")
        shows = " ".join(public(drawn))
        for exercise in drawn:
            for part in exercise.parts:
                found = {n for n in notations(part) if whole(n, bare) or (len(n) > 4 and whole(n, text))}
                assert {n for n in found if not whole(n, shows)} == set(), exercise.id
                slips |= {s.slip for s in part.slips} | {s.sentence for s in part.slips}
            seeds |= {str(exercise.seed), f"{exercise.seed:,}", exercise.id, f"{exercise.family}@"}
    every = b"\n".join(p.read_bytes() for p in (out / "sheets").rglob("*"))
    hidden = {*seeds, *slips, "a secret of the course", SECRET.mark} - {"7", "0"}  # what the set and the chapter name
    assert {h for h in hidden if h.encode() in every} == set()
    assert b"Code: " in every


def public(drawn: list[Exercise]) -> list[str]:
    """Give what an exercise shows."""
    found = ["Week 1"]
    for e in drawn:
        for g in (*e.givens, *(g for p in e.parts for g in p.givens)):
            found += [g.symbol, g.says, shown(g)]
        found += [e.statement, e.convention, *(p.question for p in e.parts), *(o for p in e.parts for o in p.options)]
    return list(filter(None, found))


def notations(part: Part) -> set[str]:
    """Give the key in every way in which keys, solutions and calculations print it."""
    if part.key is None:
        return {part.reason}
    if part.kind == "expression":
        return {part.key, escaped(part.key), part.key.replace(" ", "")}
    if part.kind == "choice":
        return set()  # it stands among the others
    value = Fraction(part.key)
    amounts = {spoken(value, part.unit), natural(value, part.unit)} if part.unit else set()
    found = {part.key, answer(part), digits(value), rounded(value), f"{float(value):g}", f"{float(value):e}", *amounts}
    return found | {n.replace(",", "") for n in found} | {escaped(n) for n in found}


def whole(number: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(number)}(?![\w.,]*\d)(?!\w)", text) is not None


def test_a_name_stands_on_the_head_of_its_sheet_and_in_the_roster_alone(
    tmp_path: Path, problem_set: ProblemSet
) -> None:
    out = tmp_path / "out"
    handed(problem_set, class_of(5), out)
    code_of = {r.cells[2]: r.cells[0] for r in rows(out / "keys/roster.csv")}  # type: ignore[union-attr]
    for student in class_of(5):
        for identity in (student.name, student.identity, student.email):
            found = {name for name, content in contents(out).items() if identity.encode() in content}
            head = {f"sheets/{code_of[student.name]}.md"} if identity == student.name else set()
            assert found == head | {"keys/roster.csv"}
        assert not any(student.name in name or student.identity in name for name in contents(out))


def test_formulas_in_a_roster_stay_text(tmp_path: Path, problem_set: ProblemSet) -> None:
    handed(problem_set, [Student("7", "=cmd|' /C calc'!A0", "", 2)], tmp_path / "out")
    assert (tmp_path / "out/keys/roster.csv").read_text(encoding="utf-8").splitlines()[1].split(",")[2][0] == "'"
    assert read_roster(tmp_path / "out/keys/roster.csv").students[0].name == "=cmd|' /C calc'!A0"


@pytest.mark.law
@pytest.mark.parametrize("stop", [1, 4, 9])
def test_an_interrupted_run_goes_on_and_rewrites_no_finished_sheet(
    tmp_path: Path, problem_set: ProblemSet, stop: int
) -> None:
    handed(problem_set, class_of(6), tmp_path / "whole")
    out, steps = Folder(tmp_path / "out"), 0

    def interrupted(_: str, __: int, ___: int) -> None:
        nonlocal steps
        steps += 1
        if steps == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hand_out(problem_set, class_of(6), SECRET, ("md",), out, workers=1, force=False, progress=interrupted)
    assert not (out.keys / "key.json").exists()
    times = {p: p.stat().st_mtime_ns for p in (out.path / "sheets").glob("*")}
    done = handed(problem_set, class_of(6), out.path)
    assert (done.kept, done.written) == (len(times), 6 - len(times))
    assert {p: p.stat().st_mtime_ns for p in times} == times
    assert contents(out.path) == contents(tmp_path / "whole")
    assert handed(problem_set, class_of(6), out.path).written == 0


@pytest.mark.law
def test_who_joins_or_leaves_changes_nobody_elses_sheet(tmp_path: Path, problem_set: ProblemSet) -> None:
    out = tmp_path / "out"
    handed(problem_set, class_of(6), out)
    before = contents(out / "sheets")
    done = handed(problem_set, class_of(8)[1:], out)
    after = contents(out / "sheets")
    assert (done.written, done.kept, len(done.gone)) == (2, 5, 1)
    assert {n: after[n] for n in before} == before
    assert len(after) == 8
    assert len(exercises(out)) == 8
    (out / "sheets" / next(iter(before))).unlink()
    handed(problem_set, class_of(6), out)
    assert {n: contents(out / "sheets")[n] for n in before} == before


@pytest.mark.roundtrip
def test_a_table_to_type_answers_into_is_read_back_and_never_overwritten(tmp_path: Path) -> None:
    path, out = tmp_path / "set.toml", tmp_path / "out"
    path.write_text(SET + '[[items]]\nfamily = "exercise-4"\n', encoding="utf-8")
    handed(read_set(path), class_of(3), out)
    blank = (out / "keys/answers.csv").read_text(encoding="utf-8")
    assert blank.splitlines()[0] == "student,1,2,3,4,5a,5b,5c,5d,5e,5f"
    handed(read_set(path), class_of(4), out)
    assert len((out / "keys/answers.csv").read_text(encoding="utf-8").splitlines()) == 5
    filled = [blank.splitlines()[0]]
    for code, drawn in exercises(out).items():
        filled.append(",".join([code, *(answer(part) for e in drawn for part in e.parts)]))
    (out / "keys/answers.csv").write_text("\n".join(filled), encoding="utf-8")
    handed(read_set(path), class_of(5), out, force=True)
    assert (out / "keys/answers.csv").read_text(encoding="utf-8").splitlines() == filled
    arguments = ["--answers", out / "keys/answers.csv", "--key", out / "keys/key.json", "--ledger", tmp_path / "l"]
    done = CliRunner().invoke(app, ["submit", *map(str, arguments), "--json"])
    assert {(s["points"], s["of"]) for s in json.loads(done.stdout)["students"]} == {("8", "8")}


def run(*arguments: str | Path, **env: str) -> Result:
    return CliRunner().invoke(app, ["set", *map(str, arguments)], env=env)


@pytest.fixture
def roster(tmp_path: Path) -> Path:
    (tmp_path / "set.toml").write_text(SET, encoding="utf-8")
    path = tmp_path / "roster.csv"
    path.write_text("id,name\n" + "".join(f"{s.identity},{s.name}\n" for s in class_of(4)), encoding="utf-8")
    return path


def test_the_command_writes_a_class_and_says_so(tmp_path: Path, roster: Path) -> None:
    done = run(tmp_path / "set.toml", "--roster", roster, "--out", tmp_path / "out", "--workers", "1")
    assert done.exit_code == 0, done.output
    assert "4 students. 4 sheets written" in done.stdout
    assert "4 of 4 written" in done.stderr
    again = json.loads(
        run(tmp_path / "set.toml", "--roster", roster, "--out", tmp_path / "out", "--workers", "1", "--json").stdout
    )
    assert (again["schema"], again["students"], again["written"], again["kept"]) == (1, 4, 0, 4)
    assert (again["exercises"], again["points"]) == (4, "7")
    assert all(Path(file).is_file() for file in again["files"])
    secret = (tmp_path / "out/keys/secret").read_text(encoding="ascii").strip()
    assert secret not in done.output


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("secret", "another course secret"),
        ("title", "the title differs"),
        ("points", "items[2].points differs"),
        ("damage", "is damaged"),
    ],
)
def test_another_class_is_not_mixed_into_a_folder_unless_told(
    tmp_path: Path, roster: Path, change: str, says: str
) -> None:
    path, out = tmp_path / "set.toml", tmp_path / "out"
    arguments = (path, "--roster", roster, "--out", out, "--workers", "1")
    run(*arguments)
    before = contents(out)
    env = {"GRADE_SECRET": "another secret of it"} if change == "secret" else {}
    text = SET.replace("Week 1", "Week 2") if change == "title" else SET.replace("2.5", "3")
    if change in {"title", "points"}:
        path.write_text(text, encoding="utf-8")
    if change == "damage":
        (out / "keys/draws.json").write_text("{", encoding="utf-8")
        before["keys/draws.json"] = b"{"
    done = run(*arguments, **env)
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert contents(out) == before
    assert run(*arguments, "--force", **env).exit_code == 0
    assert len(list((out / "sheets").iterdir())) == 4


def test_one_student_is_one(tmp_path: Path, roster: Path) -> None:
    roster.write_text("id\nada\n", encoding="utf-8")
    done = run(tmp_path / "set.toml", "--roster", roster, "--out", tmp_path / "out")
    assert done.stdout.startswith("1 student. 1 sheet written, 0 there already: ")


@pytest.mark.skipif(os.name != "posix", reason="locks are the system's")
def test_one_run_at_a_time_writes_to_a_folder(tmp_path: Path, roster: Path) -> None:
    path, folder = tmp_path / "set.toml", Folder(tmp_path / "out")
    run(path, "--roster", roster, "--out", folder.path)
    before = contents(folder.path)
    with folder.alone():
        done = run(path, "--roster", roster, "--out", folder.path, "--force", "--workers", "1")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Another run is writing" in done.stderr
    assert contents(folder.path) == before
    assert run(path, "--roster", roster, "--out", folder.path).exit_code == 0


@pytest.mark.parametrize("content", [b"title = 1 #" + b"x" * 16 * 1024 * 1024, b"\0" * (16 * 1024 * 1024 + 1)])
def test_a_set_file_is_not_read_without_end(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "huge.toml"
    path.write_bytes(content)
    with pytest.raises(InvalidSet, match=r"^huge\.toml: it is larger than 16 MiB\.$"):
        read_set(path)


def test_a_set_file_that_is_a_folder_is_named() -> None:
    with pytest.raises(InvalidSet, match=r"^\.: it cannot be read"):
        read_set(Path())


def test_a_mistake_is_one_sentence(tmp_path: Path, roster: Path) -> None:
    path = tmp_path / "set.toml"
    run(path, "--out", tmp_path / "all")
    for arguments, says in [
        (("--roster", tmp_path / "none.csv"), "cannot be read"),
        (("--roster", roster, "--secret-file", tmp_path / "none"), "cannot be read"),
        (("--secret-file", roster), "go with --roster"),
        (("--roster", roster, "--format", "none"), "there is"),
        (("--roster", roster, "--out", tmp_path / "all"), "for everybody"),
        (("--roster", roster, "--out", path), "cannot be written"),
    ]:
        done = run(path, "--out", tmp_path / "out", *arguments)
        assert done.exit_code == 2, done.output
        assert says in done.stderr
        assert "Traceback" not in done.output


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_cleanly_and_a_new_run_goes_on(tmp_path: Path, roster: Path) -> None:
    roster.write_text("id\n" + "\n".join(map(str, range(60))), encoding="utf-8")
    grade = [sys.executable, "-c", "from grader.cli import main\nif __name__ == '__main__': main()"]
    command = [*grade, "set", "set.toml", "--roster", "roster.csv", "--out", "out", "--workers", "2"]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    ) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, b"")
        assert any(b"written" in line for line in lines)
        os.kill(process.pid, signal.SIGINT)
        rest = b"".join(lines)
    assert process.returncode == 130, rest
    assert b"Traceback" not in rest
    assert b"Interrupted" in rest
    time.sleep(0.1)
    assert 0 < len(list((tmp_path / "out/sheets").glob("*.md"))) < 60
    assert not list((tmp_path / "out").rglob("*.unfinished"))
    done = run(tmp_path / "set.toml", "--roster", roster, "--out", tmp_path / "out", "--workers", "1")
    assert done.exit_code == 0
    assert len(list((tmp_path / "out/sheets").glob("*.md"))) == 60
