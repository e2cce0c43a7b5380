"""A tolerance of a set: what it may be, what it changes, and that it never marks a slip right."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.answers import read_key
from grader.cli.app import app
from grader.exercise import Exercise
from grader.families import family, pose, slugs
from grader.judging import CORRECT, judge
from grader.posing import Undrawable
from grader.sets import InvalidSet, Reaches, read_set
from grader.sets.tolerance import applies, nearest, reached, with_tolerance

pytestmark = pytest.mark.law

WIDE = Fraction(23, 1000)
SET = 'title = "W"\n[[items]]\nfamily = "ttft"\nseed = 3\ntolerance = {}\n'
ROSTER = "id,name\n1,Ada\n2,Bob\n3,Cyd\n"


COURSE = "the course secret number 2"  # by which all of these classes are asked for something judged to a tolerance


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def drawn(count: int) -> list[Exercise]:
    found = []
    for slug in slugs():
        for seed in [0] if family(slug).preset else range(1, count):
            try:
                found.append(pose(slug, seed))
            except Undrawable:
                continue
    return found


@pytest.mark.parametrize("exercise", drawn(4), ids=lambda e: e.id)
def test_a_tolerance_that_is_taken_marks_no_slip_right_and_changes_nothing_but_the_tolerance(
    exercise: Exercise,
) -> None:
    slip = reached(exercise, WIDE)
    if slip:
        with pytest.raises(Reaches, match=slip):
            with_tolerance(exercise, WIDE)
        return
    wide = with_tolerance(exercise, WIDE)
    assert wide.altered == any(map(applies, exercise.parts))
    assert (wide.id, wide.statement, wide.givens, wide.convention) == (
        exercise.id, exercise.statement, exercise.givens, exercise.convention,
    )  # fmt: skip
    for before, part in zip(exercise.parts, wide.parts, strict=True):
        assert (before.key, before.slips, before.steps, before.question) == (
            part.key, part.slips, part.steps, part.question,
        )  # fmt: skip
        for known in filter(applies, [part]):
            assert (known.tolerance.value, known.tolerance_of) == ("0.023", "set")
            if known.key is not None:
                near = Fraction(known.key) * (1 + Fraction(2, 100))
                assert judge(known, f"{near} {known.unit}").verdict == CORRECT
                assert judge(before, f"{near} {known.unit}").verdict != CORRECT
                right = [s.slip for s in known.slips if s.value and judge(known, f"{s.value} {known.unit}").score == 1]
                assert right == []
    assert Exercise.from_json(wide.to_json()) == wide
    assert Exercise.from_json(exercise.to_json()).altered is False


@pytest.mark.parametrize(
    ("tolerance", "says"),
    [
        ("0.024", "less than 0.024, which would hide K against Ki"),
        ("0.5", "less than 0.024"),
        ("0.0049", "0.005 or more: the statement asks for three significant figures"),
        ("0", "over 0"),
        ('"1 %"', "number over 0"),
    ],
)
def test_a_tolerance_that_no_set_may_give_is_told_with_line_and_key(tmp_path: Path, tolerance: str, says: str) -> None:
    path = tmp_path / "set.toml"
    path.write_text(SET.format(tolerance), encoding="utf-8")
    with pytest.raises(InvalidSet) as caught:
        read_set(path)
    assert (caught.value.line, caught.value.key) == (5, "items[1].tolerance")
    assert says in str(caught.value)


def test_what_is_judged_exactly_takes_no_tolerance(tmp_path: Path) -> None:
    exact = next(s for s in range(1, 99) if not any(map(applies, pose("kv-per-token", s).parts)))
    path = tmp_path / "set.toml"
    for said in ('family = "parameter-formula"', f'seed = {exact}\nfamily = "kv-per-token"'):
        path.write_text(f'title = "W"\n[[items]]\ntolerance = 0.02\n{said}\n', encoding="utf-8")
        with pytest.raises(InvalidSet, match=r"line 3: items\[1\].tolerance.*judged exactly"):
            read_set(path)


def test_a_new_tolerance_changes_the_key_of_a_class_and_no_exercise(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    path, out = tmp_path / "set.toml", tmp_path / "out"
    path.write_text('title = "W"\n[[items]]\nfamily = "latency-chain"\n', encoding="utf-8")
    (tmp_path / "secret").write_text(COURSE, encoding="utf-8")
    arguments = (
        "set", path, "--roster", tmp_path / "roster.csv", "--secret-file", tmp_path / "secret",
        "--out", out, "--format", "md", "--workers", "1",
    )  # fmt: skip
    assert run(*arguments).exit_code == 0
    sheets = {file.name: file.read_bytes() for file in (out / "sheets").iterdir()}
    before = read_key(out / "keys" / "key.json")
    old = {student: before.sheet(student)[1].exercise for student in before.students}
    path.write_text('title = "W"\n[[items]]\nfamily = "latency-chain"\ntolerance = 0.008\n', encoding="utf-8")
    done = run(*arguments)
    assert done.exit_code == 0, done.stderr
    assert {file.name: file.read_bytes() for file in (out / "sheets").iterdir()} == sheets
    after = read_key(out / "keys" / "key.json")
    for student, exercise in old.items():
        assert after.sheet(student)[1].exercise == with_tolerance(exercise, Fraction(8, 1000))
        assert after.sheet(student)[1].exercise != exercise


def test_a_tolerance_that_reaches_a_slip_of_a_sheet_that_is_out_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(40)), encoding="utf-8")
    (tmp_path / "secret").write_text(COURSE, encoding="utf-8")
    path, out = tmp_path / "set.toml", tmp_path / "out"
    arguments = (
        "set", path, "--roster", tmp_path / "roster.csv", "--secret-file", tmp_path / "secret",
        "--out", out, "--format", "md", "--workers", "1",
    )  # fmt: skip
    path.write_text('title = "W"\n[[items]]\nfamily = "littles-law"\n', encoding="utf-8")
    assert run(*arguments).exit_code == 0
    before = (out / "keys" / "key.json").read_bytes()
    key = read_key(out / "keys" / "key.json")
    assert any(reached(key.sheet(student)[1].exercise, WIDE) for student in key.students)
    path.write_text('title = "W"\n[[items]]\nfamily = "littles-law"\ntolerance = 0.023\n', encoding="utf-8")
    done = run(*arguments)
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith(
        "Error: The tolerance 0.023 comes too close to a slip of littles-law/"
    )
    assert (out / "keys" / "key.json").read_bytes() == before


def test_a_slip_that_lies_too_close_in_a_sheet_that_is_out_is_one_sentence(tmp_path: Path) -> None:
    seed = next(s for s in range(1, 500) if reached(pose("littles-law", s), WIDE))
    path = tmp_path / "set.toml"
    path.write_text(SET.format("0.023").replace("ttft", "littles-law").replace("3\n", f"{seed}\n", 1), encoding="utf-8")
    done = run("set", path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "items[1].tolerance: 0.023 cannot stand here" in done.stderr
    assert "would come too close to the key" in done.stderr


def test_draws_keep_away_from_slips_by_the_tolerance_of_the_set(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    path = tmp_path / "set.toml"
    path.write_text('title = "W"\n[[items]]\nfamily = "littles-law"\ncount = 5\ntolerance = 0.023\n', encoding="utf-8")
    (tmp_path / "secret").write_text(COURSE, encoding="utf-8")
    roster = ("--roster", tmp_path / "roster.csv", "--secret-file", tmp_path / "secret", "--workers", "1")
    for more in ((), roster):
        out = tmp_path / f"out{len(more)}"
        done = run("set", path, "--out", out, "--format", "md", *more)
        assert done.exit_code == 0, done.stderr
        for sheet in json.loads((out / "keys" / "key.json").read_text(encoding="utf-8"))["sheets"]:
            assert [reached(Exercise.from_json(json.dumps(i["exercise"])), WIDE) for i in sheet["items"]] == [""] * 5


@pytest.mark.law
@pytest.mark.parametrize("seed", range(1, 40))
def test_the_width_that_is_named_is_where_a_slip_begins_to_be_too_close(seed: int) -> None:
    exercise = pose("littles-law", seed)
    found = nearest(exercise)
    if found is not None:
        assert reached(exercise, found[0]) == found[1]
        assert reached(exercise, found[0] * Fraction(999_999, 1_000_000)) == ""
        with pytest.raises(Reaches, match=r"stay under 0\.\d+\.$|stay under \d"):
            with_tolerance(exercise, found[0])
