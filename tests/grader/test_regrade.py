"""Judging again: what changes is listed with both reasons, only --apply writes, and no mark is ever lost."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.answers import read_key
from grader.cli.app import app
from grader.exercise import Exercise, Part, SlipValue, Tolerance
from grader.judging import judge
from grader.ledger import Amendment, Ledger, Regrade, Row
from grader.reporting.regrading import apply, judged_again
from grader.sets import Entry, Item, ProblemSet, Sheet, record, record_of

pytestmark = pytest.mark.law

CODES = ("C2FR-WQRK", "K7Q2-9XMD")
WEIGHTS = Part(
    "a", "weights", "How much?", "quantity", "100", "GB", Tolerance("relative", "0.01"), unit_in_question=True,
    slips=(SlipValue("bits-as-bytes", "The bit width was used as bytes.", "800"),),
)  # fmt: skip
CONTEXT = Part("b", "context", "How many?", "count", "7", "token", unit_in_question=True)
EXERCISE = Exercise("sample", 1, 7, "A model is loaded.", (), (WEIGHTS, CONTEXT))
ANSWERS = "student,1a,1b\nC2FR-WQRK,101.5 GB,7\nK7Q2-9XMD,98.9 GB,8\nK7Q2-9XMD,800 GB,?\n"


def wide(tolerance: str) -> Exercise:
    part = replace(WEIGHTS, tolerance=Tolerance("relative", tolerance), tolerance_of="set")
    return replace(EXERCISE, parts=(part, CONTEXT))


class Course(NamedTuple):
    """A folder with a key and a ledger on which the answers of two students are recorded."""

    folder: Path

    def key(self, exercise: Exercise) -> str:
        entry = Entry.of(1, Item("sample", None, 1, Fraction(4)), exercise)
        sheets = [record_of(Sheet("Week 1", code, (entry,))) for code in CODES]
        path = self.folder / "key.json"
        path.write_text("".join(record(ProblemSet("Week 1", ()), sheets)), encoding="utf-8")
        return str(path)

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, [*arguments, "--ledger", str(self.folder / "ledger")])

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self.run("regrade", *arguments, "--json")
        assert done.exit_code == 0, done.output
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def rows(self) -> list[Row]:
        with Ledger.open(self.folder / "ledger") as ledger:
            assert ledger.verify() == []
            return list(ledger.rows())

    def verdicts(self) -> list[str]:
        with Ledger.open(self.folder / "ledger") as ledger:
            return [mark.verdict for _, mark in ledger.marks()]


@pytest.fixture
def course(tmp_path: Path) -> Course:
    found = Course(tmp_path)
    (tmp_path / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    found.run("submit", "--answers", str(tmp_path / "answers.csv"), "--key", found.key(EXERCISE))
    assert found.verdicts() == ["incorrect", "correct", "incorrect", "incorrect", "incorrect", "invalid"]
    return found


def test_a_wider_tolerance_is_shown_then_applied_and_the_old_marks_stay(course: Course) -> None:
    before, key = course.rows(), course.key(wide("0.02"))
    shown = course.run("regrade", "--key", key, "--diff")
    assert shown.stdout.splitlines() == [
        "raised: C2FR-WQRK, sample/7 a, '101.5 GB'",
        "  before  incorrect, 0.",
        "  now     correct, 1. Correct. Judged to 0.02 relative, before to 0.01 relative.",
        "raised: K7Q2-9XMD, sample/7 a, '98.9 GB'",
        "  before  incorrect, 0.",
        "  now     correct, 1. Correct. Judged to 0.02 relative, before to 0.01 relative.",
        "6 answers judged again. Changed: 2 raised, 0 lowered, 0 the same for another reason.",
        "Of 2 exercises the key has another record than the ledger.",
    ]
    assert shown.stderr == "Nothing was recorded; --apply --reason TEXT records it.\n"
    assert course.rows() == before
    done = course.json("--key", key, "--apply", "--reason", "2 % was promised.")
    assert (done["changed"], done["raised"], done["applied"]) == (2, 2, 2)
    after = course.rows()
    assert after[: len(before)] == before
    assert [type(row) for row in after[len(before) :]] == [Amendment, Regrade] * 2
    assert {row.reason for row in after if isinstance(row, Amendment | Regrade)} == {"2 % was promised."}
    assert course.verdicts() == ["correct", "correct", "correct", "incorrect", "incorrect", "invalid"]


def test_what_was_applied_is_no_change_any_more_with_the_key_or_without(course: Course) -> None:
    key = course.key(wide("0.02"))
    course.json("--key", key, "--apply", "--reason", "Wider.")
    rows = course.rows()
    assert course.json("--key", key, "--apply", "--reason", "Wider.")["changed"] == 0
    assert course.json()["changed"] == 0
    assert course.rows() == rows


def test_two_who_apply_one_list_at_once_record_it_once(course: Course) -> None:
    key = read_key(Path(course.key(wide("0.02"))))
    with Ledger.open(course.folder / "ledger") as one, Ledger.open(course.folder / "ledger") as two:
        lists = [list(judged_again(ledger, key)) for ledger in (one, two)]
        counts = [
            [apply(ledger, again, again.changes, "Wider.") for again in found]
            for ledger, found in zip((one, two), lists, strict=True)
        ]
    assert counts == [[1, 1], [0, 0]]
    assert [type(row) for row in course.rows()[-4:]] == [Amendment, Regrade] * 2


def test_what_was_erased_meanwhile_is_not_marked_again(course: Course) -> None:
    key = read_key(Path(course.key(wide("0.02"))))
    with Ledger.open(course.folder / "ledger") as ledger:
        first, _ = judged_again(ledger, key)
        ledger.forget(first.student)
        assert apply(ledger, first, first.changes, "Wider.") == 0
        assert list(ledger.rows(first.student)) == []
        assert ledger.verify() == []


def test_a_mark_that_would_be_lowered_is_listed_first_and_may_be_kept(course: Course) -> None:
    course.json("--key", course.key(wide("0.02")), "--apply", "--reason", "Wider.")
    key = course.key(wide("0.012"))
    shown = course.run("regrade", "--key", key).stdout.splitlines()
    assert shown[0] == "lowered: C2FR-WQRK, sample/7 a, '101.5 GB'"
    assert shown[2].startswith("  now     incorrect, 0. Not correct. Judged to 0.012")
    assert "Changed: 0 raised, 1 lowered" in shown[3]
    kept = course.json("--key", key, "--apply", "--reason", "Narrower.", "--keep-higher")
    assert (kept["lowered"], kept["applied"]) == (1, 0)
    assert course.verdicts()[0] == "correct"
    assert course.json("--key", key, "--apply", "--reason", "Narrower.")["applied"] == 1
    assert course.verdicts()[0] == "incorrect"


def test_an_answer_that_an_older_version_misjudged_is_judged_by_its_own_record(course: Course) -> None:
    with Ledger.open(course.folder / "ledger") as ledger:
        for raw, verdict, slips in (("800 GB", "incorrect", []), ("100", "invalid", []), ("100", "correct", ["odd"])):
            ledger.submit(
                "ada", EXERCISE, "a", raw=raw, reading="", verdict=verdict, score=Fraction(verdict == "correct"),
                slips=slips,
            )  # fmt: skip
    found = course.json("--student", "ada")
    assert [(c["effect"], c["before"]["verdict"], c["now"]["verdict"]) for c in found["changes"]] == [
        ("same", "incorrect", "incorrect"), ("raised", "invalid", "correct"), ("same", "correct", "correct"),
    ]  # fmt: skip
    assert found["changes"][0]["now"]["reason"] == "Not correct. The bit width was used as bytes."
    assert (found["changes"][2]["before"]["slips"], found["changes"][2]["now"]["slips"]) == (["odd"], [])
    assert (found["judged"], found["records"]) == (3, 0)


def test_a_class_is_judged_by_its_key_and_nobody_else(course: Course) -> None:
    with Ledger.open(course.folder / "ledger") as ledger:
        ledger.submit("ada", EXERCISE, "a", raw="1", reading="1", verdict="correct", score=Fraction(1))
    assert course.json("--key", course.key(EXERCISE))["judged"] == 6
    assert course.json()["changed"] == 1
    assert course.json("--family", "other")["judged"] == 0


def test_a_key_that_asks_another_question_is_refused(course: Course) -> None:
    done = course.run("regrade", "--key", course.key(replace(EXERCISE, statement="Another model is loaded.")))
    assert done.exit_code == 2
    assert "asks another question as sample/7 than C2FR-WQRK was asked" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("--apply",), ("--apply", "--reason", " "), ("--reason", "x"), ("--keep-higher",)]
)
def test_writing_takes_both_the_order_and_the_reason(course: Course, arguments: tuple[str, ...]) -> None:
    before = course.rows()
    assert course.run("regrade", *arguments).exit_code == 2
    assert course.rows() == before


def test_where_there_is_no_ledger_none_is_made(tmp_path: Path) -> None:
    done = Course(tmp_path).run("regrade")
    assert (done.exit_code, done.stdout) == (0, "0 answers judged again. None changes.\n")
    assert list(tmp_path.iterdir()) == []


def test_what_this_version_cannot_judge_is_left_and_said(course: Course) -> None:
    part = replace(CONTEXT, part="a", kind="haiku")
    with Ledger.open(course.folder / "ledger") as ledger:
        exercise = Exercise("poem", 1, 1, "", (), (part,))
        ledger.submit("ada", exercise, "a", raw="x", reading="x", verdict="correct", score=Fraction(1))
    done = course.run("regrade")
    assert "Left, as this version cannot judge their kind: 1 answer." in done.stderr
    assert done.exit_code == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(texts=st.lists(st.one_of(st.text(max_size=8), st.integers(0, 900).map(lambda n: f"{n} GB")), max_size=4))
def test_nothing_changes_where_neither_judge_nor_record_did(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    with Ledger.open(tmp_path_factory.mktemp("again") / "ledger") as ledger:
        for text in texts:
            judged = judge(WEIGHTS, text)
            ledger.submit(
                "ada", EXERCISE, "a", raw=text, reading=judged.reading, verdict=judged.verdict, score=judged.score,
                slips=[diagnosis.slip for diagnosis in judged.diagnoses],
            )  # fmt: skip
        found = list(judged_again(ledger))
    assert sum(again.judged for again in found) == len(texts)
    assert all(again.changes == () and again.records == () for again in found)


def test_grading_again_with_a_wider_key_records_the_record_that_judged(course: Course) -> None:
    key = course.key(wide("0.02"))
    (course.folder / "more.csv").write_text("student,1a\nC2FR-WQRK,98.5 GB\n", encoding="utf-8")
    course.run("submit", "--answers", str(course.folder / "more.csv"), "--key", key)
    with Ledger.open(course.folder / "ledger") as ledger:
        posed = ledger.posed("C2FR-WQRK", "sample", 7)
        assert posed == read_key(Path(key)).sheet("C2FR-WQRK")[1].exercise
    # The answer before it was judged by the narrower one, which now shows.
    (change,) = course.json()["changes"]
    assert (change["answer"], change["effect"]) == ("101.5 GB", "raised")
    assert change["now"]["reason"] == "Correct. Judged to 0.02 relative, before to 0.01 relative."
