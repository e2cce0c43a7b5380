"""A policy as an answer: read, run, judged, recorded and judged again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from grader.cli.app import app
from grader.executing.session_policy import Run as Ran
from grader.executing.session_policy import judged, report_page
from grader.executing.session_policy.predictions import FORETOLD
from grader.executing.session_policy.reading import Answer, PolicyRefused, blank, read_answer, written
from grader.executing.session_policy.running import (
    GRADING,
    PRACTICE,
    RUNS,
    circumstances,
    overflow_turn,
    seeds,
    setting,
)
from grader.exercise import Exercise, Part, Run
from grader.feedback import message
from grader.judging import judge
from grader.ledger import Ledger, Submission
from spec.serving.session_policy import SessionPolicy
from spec.serving.session_workload import Circumstances

pytestmark = pytest.mark.law

SHORT = Circumstances(seconds=600, warm_up=120)
PART = Part("a", "policy", "Which policy?", "policy", "{}", run=Run("session-policy", setting(SHORT, "1")))
EXERCISE = Exercise("session-policy", 99, 7, "Sessions come.", (), (PART,))
GOOD = '{"evict_to": "host", "keep": 4608, "predictions": {"overflow_turn": 27, "resident_sessions": 9}}'
SHARES = st.fractions(0, Fraction(9, 10), max_denominator=100)
SAID = st.dictionaries(
    st.sampled_from([each.name for each in FORETOLD]), st.decimals(1, 10**5, places=3).map(Fraction), max_size=3
)


@pytest.fixture(scope="module")
def good() -> Ran:
    return judged(PART, GOOD)


# Reading


@pytest.mark.roundtrip
@given(st.integers(1024, 7168), SHARES, SAID)
def test_an_answer_is_read_back_from_its_echo(keep: int, headroom: Fraction, said: dict[str, Fraction]) -> None:
    headroom = Fraction(int(headroom * 1000), 1000)
    answer = Answer(SessionPolicy(keep=keep, headroom=headroom), said)
    assert read_answer(written(answer, 8192), 8192) == answer


@pytest.mark.parametrize("window", [4096, 8192, 16_384])
def test_the_template_is_an_answer_that_foretells_nothing_and_changes_nothing(window: int) -> None:
    answer = read_answer(blank(window), window)
    assert answer.predictions == {}
    assert written(answer, window) == "{}"


def test_toml_and_json_say_the_same() -> None:
    toml = 'evict_to = "host"\nkeep = 4608\n[predictions]\noverflow_turn = 27\nresident_sessions = 9\n'
    assert read_answer(toml, 8192) == read_answer(GOOD, 8192)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('{"evict_too": "host", "keep": true, "predictions": {"overflow": 1, "new_wait_p99_s": -1}}', 4),
        ('{"predictions": 3}', 1),
        ('{"predictions": {"overflow_turn": true, "resident_sessions": "9", "new_wait_p99_s": NaN}}', 3),
        ('{"predictions": {"overflow_turn": 1e300}}', 1),
        ('{"predictions": {"overflow_turn": 1, "overflow_turn": 2}}', 1),
        ("[1]", 1),
        ("none", 1),
        ("?!", 1),
        ("{" * 5000, 1),
    ],
)
def test_what_is_wrong_is_named_one_sentence_each(text: str, fields: int) -> None:
    with pytest.raises(PolicyRefused) as refused:
        read_answer(text, 8192)
    assert len(refused.value.problems) == fields
    found = judge(PART, text)
    assert (found.verdict, found.score, found.reading) == ("invalid", 0, "")
    said = message(found, PART).split("\n")
    assert len(said) == 1 + fields
    assert all(line.endswith((".", "?")) for line in said)


def test_a_prediction_may_be_null() -> None:
    assert read_answer('{"predictions": {"overflow_turn": null}}', 8192).predictions == {}


def test_an_empty_answer_is_none() -> None:
    assert judge(PART, "  ").verdict == "invalid"


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=9), st.lists, max_leaves=5)


@pytest.mark.fuzz
@given(st.text(max_size=60) | st.dictionaries(st.sampled_from(["keep", "predictions", "x"]), JSON).map(json.dumps))
def test_no_text_makes_the_reader_raise_anything_else(text: str) -> None:
    with suppress(PolicyRefused):
        read_answer(text, 8192)


# Running


def test_the_same_answer_gets_the_same_report_again(good: Ran) -> None:
    assert judged(PART, GOOD) == good
    assert judge(PART, good.reading) == replace(good, typed=good.reading)


def test_the_report_names_every_component_what_cost_most_and_the_predictions(good: Ran) -> None:
    said = message(good, PART)
    for words in (
        "of 100, the mean of 5 runs",
        "p99 wait of new sessions",
        "Jain",
        "cost",
        "27 foretold",
        "5 to 10 min",
    ):
        assert words in said
    assert good.graded is not None
    assert good.score == Fraction(int(1000 * good.graded.score), 1000)
    assert good.verdict == ("correct" if good.score >= Fraction(9, 10) else "partial")


def test_predictions_alone_make_the_difference(good: Ran) -> None:
    without = judged(PART, '{"evict_to": "host", "keep": 4608}')
    assert good.graded is not None
    assert without.graded is not None
    assert good.graded.runs == without.graded.runs
    earned = sum(each.earned for each in good.graded.predictions) / 3
    assert abs(good.score - without.score - earned / 5) < Fraction(2, 1000)


def test_practice_runs_others_than_those_that_count(good: Ran) -> None:
    practice = judged(PART, GOOD, practice=True)
    assert good.graded is not None
    assert practice.graded is not None
    assert practice.graded.runs != good.graded.runs
    assert "For practice" in message(practice, PART)


def test_no_report_tells_a_seed(good: Ran) -> None:
    shown = message(good, PART) + report_page(EXERCISE, good)
    assert not any(str(seed) in shown for kind in (GRADING, PRACTICE) for seed in seeds("1", kind))


@given(st.text(max_size=20))
def test_practice_and_grading_have_no_seed_in_common(draw: str) -> None:
    count, practise = set(seeds(draw, GRADING)), set(seeds(draw, PRACTICE))
    assert len(count) == len(practise) == RUNS
    assert not count & practise
    assert {seed % 2 for seed in count} == {1}
    assert {seed % 2 for seed in practise} == {0}
    assert count != set(seeds(draw + "x", GRADING))


@pytest.mark.roundtrip
@given(st.integers(4096, 20_000), st.fractions(Fraction(1, 10), 9, max_denominator=100), st.text(max_size=9))
def test_circumstances_are_read_back_as_they_were_written(window: int, rate: Fraction, draw: str) -> None:
    under = Circumstances("llama-2-7b", "h100", rate, window, 500, 300)
    assert circumstances(setting(under, draw)) == under


def test_progress_is_told_before_each_run() -> None:
    told: list[tuple[int, int]] = []
    judged(PART, GOOD, progress=lambda *done: told.append(done))
    assert told == [(n, RUNS) for n in range(RUNS)]


@pytest.mark.parametrize("limit", [5000, 6500, 8192])
def test_sessions_outgrow_a_limit_where_the_mean_turn_says(limit: int) -> None:
    found = overflow_turn(Circumstances(), limit, 5)
    assert overflow_turn(Circumstances(), 10**6, 5) is None
    assert found == pytest.approx((limit - 512 - 101 - 200) / (101 + 188) + 2, rel=0.1)


# Commands


def run(ledger: Path, *arguments: str | Path) -> Result:
    return CliRunner().invoke(
        app, list(map(str, arguments)), env={"GRADE_LEDGER": str(ledger), "GRADE_STUDENT": "ada", "NO_COLOR": "1"}
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as opened:
        opened.pose("ada", EXERCISE)
    (tmp_path / "good.json").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bad.json").write_text('{"kep": 1, "reserve": "all"}', encoding="utf-8")
    return path


def submissions(ledger: Path) -> list[Submission]:
    with Ledger.open(ledger) as opened:
        return [row for row in opened.rows() if isinstance(row, Submission)]


def test_an_answer_is_judged_recorded_and_told(ledger: Path, good: Ran) -> None:
    page = ledger.parent / "report.html"
    done = run(ledger, "submit", "session-policy/7", "--file", ledger.parent / "good.json", "--html", page)
    assert done.exit_code == (0 if good.verdict == "correct" else 1), done.output
    (row,) = submissions(ledger)
    assert (row.verdict, row.score, row.reading, row.raw) == (good.verdict, good.score, good.reading, GOOD)
    assert message(good, PART) in done.stdout
    assert row.receipt in done.stdout
    assert "Running the policy 5 times" in done.stderr
    assert page.read_text(encoding="utf-8") == report_page(EXERCISE, good)
    again = run(ledger, "regrade", "--diff")
    assert again.exit_code == 0, again.output
    assert "session-policy/7" not in again.stdout


def test_a_dry_run_reports_on_practice_and_records_nothing(ledger: Path) -> None:
    done = run(ledger, "submit", "session-policy/7", "--file", ledger.parent / "good.json", "--dry-run", "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["attempt"], found["receipt"]) == (None, None)
    assert "For practice" in found["message"]
    assert found["score"] > 0
    assert submissions(ledger) == []


def test_a_bad_policy_uses_up_no_attempt(ledger: Path) -> None:
    done = run(ledger, "submit", "session-policy/7", "--file", ledger.parent / "bad.json")
    assert done.exit_code == 2
    assert "did you mean keep" in done.stdout
    assert 'reserve = "all": it must be none, prompt, turn or window.' in done.stdout
    assert "No attempt used" in done.stdout
    assert [row.verdict for row in submissions(ledger)] == ["invalid"]


def test_a_page_that_cannot_be_written_costs_only_itself(ledger: Path) -> None:
    answer = ("submit", "session-policy/7", "--file", ledger.parent / "good.json")
    done = run(ledger, *answer, "--html", ledger.parent / "no" / "where.html")
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr
    (row,) = submissions(ledger)
    assert row.receipt in done.stdout
    bad = run(ledger, *answer[:-1], ledger.parent / "bad.json", "--html", ledger.parent / "page.html")
    assert "nothing was run" in bad.stderr
    assert not (ledger.parent / "page.html").exists()


def test_only_policies_have_a_page_and_a_template(ledger: Path) -> None:
    assert run(ledger, "submit", "littles-law/3", "5", "--html", ledger.parent / "x.html").exit_code == 2
    refused = run(ledger, "show", "littles-law/3", "--template")
    assert refused.exit_code == 2
    assert "asks for no policy" in refused.stderr
    blank_one = run(ledger, "show", "session-policy/7", "--template")
    assert blank_one.stdout == blank(8192)


def test_an_interrupted_run_leaves_no_row_and_one_sentence(ledger: Path) -> None:
    with Ledger.open(ledger) as opened:
        long = replace(PART, run=Run("session-policy", setting(replace(SHORT, seconds=500_000), "1")))
        opened.pose("ada", replace(EXERCISE, seed=8, parts=(long,)))
    code = "import sys; from grader.cli import main; sys.argv[0] = 'grade'; main()"
    arguments = ("submit", "session-policy/8", "--file", str(ledger.parent / "good.json"))
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"GRADE_LEDGER": str(ledger), "GRADE_STUDENT": "ada"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "Running" in process.stderr.readline()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err.strip()) == ("", "Interrupted. Everything recorded before is safe.")
    assert submissions(ledger) == []


@pytest.mark.meta
def test_a_page_is_one_file_without_scripts(good: Ran) -> None:
    page = report_page(EXERCISE, good)
    assert not any(text in page for text in ("<script", "http:", "https:", "@import"))
    assert page.count('<i style="left:') == 5
    assert page.count('fill="var(--a') == 5
