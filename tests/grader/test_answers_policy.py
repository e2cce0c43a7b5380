"""Policies: which answers count, what they are worth, and when a day ends."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from grader.answers import BadKey, read_key
from grader.answers.policy import COUNTS, USUAL, Extension, Override, Policy, zone
from grader.answers.policy_file import read_policy
from grader.cli.app import app
from grader.exercise import Exercise, Part, SlipValue, Tolerance
from grader.ledger import Ledger
from grader.sets import Entry, InvalidSet, Item, ProblemSet, Sheet, read_set, record, record_of

CODE, OTHER = "C2FR-WQRK", "K7Q2-9XMD"
BERLIN = replace(USUAL, zone="Europe/Berlin")
shares = st.fractions(0, 1, max_denominator=20)
moments = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001  bounds
policies = st.builds(
    Policy,
    st.sampled_from(COUNTS),
    st.none() | st.integers(1, 9),
    shares,
    shares,
    shares,
    st.none() | moments,
    st.sampled_from(["UTC", "Europe/Berlin"]),
    shares,
    st.integers(0, 9),
    st.lists(st.builds(Extension, st.text(), st.none() | moments, st.integers(0, 9), st.integers(0, 99))).map(tuple),
    st.lists(st.builds(Override, st.text(), st.integers(1, 9), st.sampled_from("ab"), shares, st.text())).map(tuple),
)


def local(text: str) -> datetime:
    return BERLIN.in_utc(datetime.fromisoformat(text))


@pytest.mark.roundtrip
@given(policies)
def test_a_policy_is_kept_in_a_key(policy: Policy) -> None:
    assert Policy.from_data(json.loads(json.dumps(policy.to_data()))) == policy


@pytest.mark.law
@given(policies, shares, st.integers(1, 9), st.integers(0, 9), st.integers(0, 9))
def test_no_attempt_hint_or_day_adds_anything(
    policy: Policy, score: Fraction, attempt: int, hints: int, days: int
) -> None:
    credit = policy.credit(score, attempt, hints, days)
    assert policy.credit(score, 1, 0, 0) == score
    assert 0 <= credit <= score
    assert policy.credit(score, attempt + 1, hints, days) <= credit
    assert policy.credit(score, attempt, hints + 1, days) <= credit
    assert policy.credit(score, attempt, hints, days + 1) <= credit


@pytest.mark.law
@given(moments, st.integers(1, 400), st.integers(1, 86_000))
def test_days_are_days_of_the_course(end: datetime, days: int, seconds: int) -> None:
    """After so many days of the calendar, the time of day is the same, whatever the clock did meanwhile."""
    end = end.replace(microsecond=0)
    wall = BERLIN.in_utc(end.astimezone(local_zone()).replace(tzinfo=None))
    later = BERLIN.in_utc(wall.astimezone(local_zone()).replace(tzinfo=None) + timedelta(days=days))
    assert BERLIN.days_late(wall, wall) == 0
    assert BERLIN.days_late(wall + timedelta(seconds=1), wall) == 1
    assert BERLIN.days_late(later, wall) == days
    assert BERLIN.days_late(later + timedelta(seconds=1), wall) == days + 1
    assert BERLIN.days_late(later + timedelta(seconds=seconds), wall) >= days


def local_zone() -> tzinfo:
    return zone("Europe/Berlin")


@pytest.mark.parametrize(
    ("end", "moment", "days"),
    [
        ("2026-10-24T23:59:00", "2026-10-25T23:59:00", 1),  # 25 hours
        ("2026-10-24T23:59:00", "2026-10-26T00:00:00", 2),
        ("2026-03-28T23:59:00", "2026-03-29T23:59:00", 1),  # 23 hours
        ("2026-03-28T23:59:00", "2026-03-30T00:00:00", 2),
    ],
)
def test_a_day_may_have_23_or_25_hours(end: str, moment: str, days: int) -> None:
    assert BERLIN.days_late(local(moment), local(end)) == days


def test_a_time_that_the_clock_shows_twice_or_never_has_one_meaning() -> None:
    assert local("2026-10-25T02:30:00") == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # the later of the two
    assert local("2026-03-29T02:30:00") <= local("2026-03-29T03:30:00")
    assert local("2026-07-01T12:00:00+00:00") == datetime(2026, 7, 1, 12, tzinfo=UTC)


# The set file.

HEAD = 'title = "t"\n[[items]]\nfamily = "exercise-1"\n\n'
GOOD = """\
[policy]
counts = "best"
attempts = 3
penalty = 0.1
hint_cost = 0.25
unit_slips = 0.5
deadline = 2026-12-04T23:59:00
zone = "Europe/Berlin"
late = { per_day = 0.1, days = 2 }

[[extensions]]
student = "C2FR-WQRK"
days = 7
reason = "illness"

[[overrides]]
student = "K7Q2-9XMD"
item = "2b"
points = 1.5
reason = "The unit was printed unclearly."
"""


def set_file(folder: Path, text: str) -> Path:
    path = folder / "set.toml"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def test_a_set_says_its_policy(tmp_path: Path) -> None:
    policy = read_policy(set_file(tmp_path, GOOD))
    assert policy == read_set(tmp_path / "set.toml").policy
    assert policy == Policy(
        "best",
        3,
        Fraction(1, 10),
        Fraction(1, 4),
        Fraction(1, 2),
        datetime(2026, 12, 4, 22, 59, tzinfo=UTC),
        "Europe/Berlin",
        Fraction(1, 10),
        2,
        (Extension(CODE, None, 7, 0),),
        (Override(OTHER, 2, "b", Fraction(3, 2), "The unit was printed unclearly."),),
    )
    assert read_policy(set_file(tmp_path, "")) == USUAL


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "says"),
    [
        ('"best"', '"most"', 6, "policy.counts", "last, best, first"),
        ("attempts = 3", "attempts = 0", 7, "policy.attempts", "from 1"),
        ("attempts", "atempts", 7, "policy.atempts", "did you mean attempts?"),
        ("penalty = 0.1", "penalty = 2", 8, "policy.penalty", "from 0 and up to 1"),
        ("penalty = 0.1", "penalty = -0.1", 8, "policy.penalty", "from 0"),
        ("2026-12-04T23:59:00", '"2026-12-04"', 11, "policy.deadline", "without quotes"),
        ("2026-12-04T23:59:00", "2026-12-04", 11, "policy.deadline", "a moment"),
        ("2026-12-04T23:59:00", "9999-12-31T23:59:59", 11, "policy.deadline", "a year from"),
        ("Europe/Berlin", "Europe/Nowhere", 12, "policy.zone", "a zone such as"),
        ('zone = "Europe/Berlin"', "", 11, "policy.deadline", "zone ="),
        ("days = 2 }", "day = 2, days = 2 }", 13, "policy.late.day", "did you mean"),
        (", days = 2 }", " }", 13, "policy.late", "per_day"),
        ("deadline = 2026-12-04T23:59:00", "", 13, "policy.late", "deadline"),
        ("days = 7", "", 15, "extensions[1].until", "how many days"),
        ("days = 7", "days = -1", 17, "extensions[1].days", "from 0"),
        ('student = "C2FR-WQRK"', "student = true", 16, "extensions[1].student", "name a student"),
        ('item = "2b"', 'item = "x"', 22, "overrides[1].item", "name a part"),
        ("points = 1.5", "points = -1", 23, "overrides[1].points", "from 0"),
        ('reason = "The unit was printed unclearly."', "", 20, "overrides[1].reason", "missing"),
        ("[[overrides]]", "[overrides]", 0, "overrides", "[[overrides]]"),
        ("[policy]", "[[policy]]", 0, "policy", "[policy]"),
        ("[[overrides]]", "[[override]]", 0, "override", "did you mean overrides?"),
    ],
)
def test_a_mistake_in_a_policy_is_told_with_its_line_and_key(
    tmp_path: Path, old: str, new: str, line: int, key: str, says: str
) -> None:
    assert old in GOOD
    path = set_file(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(InvalidSet) as caught:
        read_set(path)
    assert (caught.value.line, caught.value.key) == (line, key)
    assert says in str(caught.value)


# The gradebook.


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Give a key of two students: exercise 1 has a part of 4 points, exercise 2 has a and b of 2 points each."""
    near = Tolerance("relative", "0.01")
    a = Part("a", "gpus", "How many?", "count", "15", "GPU", unit_in_question=True, slips=(SlipValue("s", "S.", "14"),))
    b = Part("b", "weights", "How much?", "quantity", "28", "GB", near)
    exercises = (Exercise("sample", 1, 1, "One.", (), (a,)), Exercise("sample", 1, 2, "Two.", (), (a, b)))
    item = Item("sample", None, 1, Fraction(4))
    entries = tuple(Entry.of(number, item, exercise) for number, exercise in enumerate(exercises, 1))
    path = tmp_path / "key.json"
    sheets = [record_of(Sheet("t", code, entries)) for code in (CODE, OTHER)]
    path.write_text("".join(record(ProblemSet("t", ()), sheets)), encoding="utf-8")
    return path


def graded(key: Path, policy: str, *rows: str, code: int = 0) -> dict[str, dict[str, str]]:
    """Grade rows `item,answer[,time]` of the first student, and return the lines by student and part."""
    done = run(key, policy, *(f"{CODE},{row}" for row in rows))
    assert done.exit_code == code, done.output
    with key.with_name("g.csv").open(encoding="utf-8", newline="") as file:
        return {f"{r['student'][0]}{r['item']}{r['part']}": r for r in csv.DictReader(file)}


def run(key: Path, policy: str, *rows: str) -> Result:
    answers = key.with_name("a.csv")
    lines = [row + "," * (3 - row.count(",")) for row in rows]
    answers.write_text("\n".join(["student,item,answer,time", *lines]), encoding="utf-8")
    set_path = set_file(key.parent, policy)
    arguments = ["--answers", answers, "--key", key, "--policy", set_path, "--out", key.with_name("g.csv")]
    return CliRunner().invoke(app, ["submit", *map(str, arguments), "--ledger", str(key.with_name("l"))])


@pytest.mark.parametrize(
    ("policy", "points"),
    [
        ("", "0"),
        ('counts = "best"', "4"),
        ('counts = "first"', "0"),
        ('counts = "best"\npenalty = 0.1', "3.6"),
        ("attempts = 2", "4"),
        ("attempts = 2\npenalty = 0.25", "3"),
        ("attempts = 1", "0"),
    ],
)
def test_the_policy_says_which_attempt_counts_and_what_it_is_worth(key: Path, policy: str, points: str) -> None:
    line = graded(key, f"[policy]\n{policy}", "1,14", "1,zebra", "1,15", "1,13", code=1)["C1a"]
    assert line["points"] == points
    assert line["answer"] == {"0": line["answer"]}.get(points, "15")


def test_what_a_policy_took_off_is_said(key: Path) -> None:
    line = graded(key, "[policy]\npenalty = 0.25", "1,14", "1,15")["C1a"]
    assert line["why"] == "Attempt 2: 0.75 instead of 1 of the points."


DEADLINE = """\
[policy]
deadline = 2026-12-04T23:59:00
zone = "Europe/Berlin"
"""
LATE = DEADLINE + "late = { per_day = 0.25, days = 2 }\n"


@pytest.mark.parametrize(
    ("policy", "time", "points", "verdict"),
    [
        (DEADLINE, "2026-12-04 23:59:00", "4", "correct"),
        (DEADLINE, "2026-12-04T22:59:00Z", "4", "correct"),
        (DEADLINE, "2026-12-04 22:59:01 UTC", "0", "late"),
        (DEADLINE, "2026-12-05 00:00", "0", "late"),
        (DEADLINE, "", "4", "correct"),
        (LATE, "2026-12-05 00:00", "3", "correct"),
        (LATE, "2026-12-06 23:59", "2", "correct"),
        (LATE, "2026-12-07 00:00", "0", "late"),
        (f'{DEADLINE}[[extensions]]\nstudent = "{CODE}"\ndays = 3\n', "2026-12-07 23:59", "4", "correct"),
        (f'{DEADLINE}[[extensions]]\nstudent = "{CODE}"\nminutes = 30\n', "2026-12-05 00:29", "4", "correct"),
        (f'{DEADLINE}[[extensions]]\nstudent = "{CODE}"\nminutes = 30\n', "2026-12-05 00:30", "0", "late"),
        (f'{DEADLINE}[[extensions]]\nstudent = "{CODE}"\nuntil = 2027-01-01T00:00:00\n', "2026-12-31", "4", "correct"),
        (f'{DEADLINE}[[extensions]]\nstudent = "{OTHER}"\ndays = 3\n', "2026-12-05 00:00", "0", "late"),
    ],
)
def test_what_comes_late_is_worth_less_or_nothing(key: Path, policy: str, time: str, points: str, verdict: str) -> None:
    line = graded(key, policy, f"1,15,{time}")["C1a"]
    assert (line["points"], line["verdict"]) == (points, verdict)


def test_one_day_late_is_one_day(key: Path) -> None:
    line = graded(key, LATE, "1,15,2026-12-05 00:00")["C1a"]
    assert ", 1 day late: " in line["why"]


def test_a_late_answer_does_not_take_the_place_of_one_in_time(key: Path) -> None:
    line = graded(key, DEADLINE, "1,15,2026-12-04", "1,14,2026-12-06")["C1a"]
    assert (line["answer"], line["points"], line["time"]) == ("15", "4", "2026-12-03T23:00:00+00:00")


def test_a_time_that_cannot_be_read_or_is_missing_is_told(key: Path) -> None:
    done = run(key, DEADLINE, f"{CODE},1,15,yesterday", f"{CODE},2a,15", f"{CODE},2b,15,9999-12-31")
    assert done.exit_code == 1
    assert "its time '9999-12-31' cannot be read" in done.stderr
    assert "its time 'yesterday' cannot be read" in done.stderr
    assert "Answers without a time: 1." in done.stderr


def test_a_unit_slip_may_be_worth_something(key: Path) -> None:
    assert graded(key, "", "2b,28 MB")["C2b"]["points"] == "0"
    line = graded(key, "[policy]\nunit_slips = 0.5", "2b,28 MB")["C2b"]
    assert (line["points"], line["verdict"]) == ("1", "partial")
    assert "prefix" in line["why"]
    assert graded(key, "[policy]\nunit_slips = 0.5", "2b,29 GB")["C2b"]["points"] == "0"


def test_hints_cost(key: Path) -> None:
    part = Part("a", "gpus", "How many?", "count", "15", "GPU")
    with Ledger.open(key.with_name("l")) as ledger:
        for level in (1, 2, 2):
            ledger.record_help(CODE, Exercise("sample", 1, 1, "One.", (), (part,)), "a", "hint", level)
    line = graded(key, "[policy]\nhint_cost = 0.25", "1,15")["C1a"]
    assert (line["points"], line["why"]) == ("2", "Attempt 1, 2 hints: 0.5 instead of 1 of the points.")
    assert graded(key, "", "1,15")["C1a"]["points"] == "4"


def test_points_by_hand_keep_what_was_judged(key: Path) -> None:
    override = '[[overrides]]\nstudent = "{}"\nitem = "{}"\npoints = {}\nreason = "{}"\n'
    lines = graded(
        key, override.format(CODE, "1", 3, "A fair reading") + override.format(OTHER, "2b", 1, "Said so."), "1,14"
    )
    assert (lines["C1a"]["points"], lines["C1a"]["verdict"]) == ("3", "incorrect")
    assert lines["C1a"]["why"] == "By hand: A fair reading. Judged: 0. S."
    assert (lines["K2b"]["points"], lines["K2b"]["verdict"]) == ("1", "missing")
    assert lines["K2b"]["why"].startswith("By hand: Said so. Judged: 0. ")
    done = run(key, override.format("nobody", "1", 3, "x") + override.format(CODE, "2", 3, "x"), f"{CODE},1,15")
    assert done.exit_code == 1
    assert "overrides, nobody, exercise 1: there is no student 'nobody'" in done.stderr
    assert "it has the parts a, b; say which" in done.stderr


def test_the_policy_of_a_key_holds_unless_another_is_given(tmp_path: Path, key: Path) -> None:
    found = read_set(set_file(tmp_path, GOOD))
    text = key.read_text(encoding="utf-8")
    key.write_text(text.replace('"policy": {}', f'"policy": {json.dumps(found.policy.to_data())}'), encoding="utf-8")
    assert read_key(key).policy == found.policy
    key.write_text(text.replace('"policy": {}', '"policy": {"penalty": "x"}'), encoding="utf-8")
    with pytest.raises(BadKey, match="policy is damaged"):
        read_key(key)
