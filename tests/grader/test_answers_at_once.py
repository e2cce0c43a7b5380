"""The same answers given to several graders at once are recorded once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.answers import Answer, Grading, grading, read_key
from grader.exercise import Exercise, Part
from grader.ledger import Ledger
from grader.sets import Entry, Item, ProblemSet, Sheet, record, record_of

pytestmark = pytest.mark.law

CODES = ("C2FR-WQRK", "K7Q2-9XMD")
EXERCISE = Exercise("sample", 1, 7, "?", (), (Part("a", "gpus", "?", "count", "14", "GPU", unit_in_question=True),))
MAIN = "from grader.cli import main\nmain()"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    entry = Entry.of(1, Item("sample", None, 1, Fraction(4)), EXERCISE)
    sheets = [record_of(Sheet("Week 1", code, (entry,))) for code in CODES]
    path = tmp_path / "key.json"
    path.write_text("".join(record(ProblemSet("Week 1", ()), sheets)), encoding="utf-8")
    return path


ANSWERS = st.lists(st.tuples(st.sampled_from(CODES), st.sampled_from(["14", "13", "?"])), max_size=9)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.lists(ANSWERS, min_size=2, max_size=3), turns=st.lists(st.integers(0, 2), max_size=30))
def test_however_graders_take_turns_each_text_is_recorded_as_often_as_the_fullest_file_has_it(
    key: Path, tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[str, str]]], turns: list[int]
) -> None:
    path = tmp_path_factory.mktemp("turns") / "ledger"
    with pytest.MonkeyPatch.context() as patch, Ledger.open(path) as one, Ledger.open(path) as two:
        patch.setattr(grading, "BATCH", 2)
        runs = [
            Grading(read_key(key), ledger, "").grade(Answer("a", 0, who, 1, "", text) for who, text in file)
            for ledger, file in zip((one, two, one), files, strict=False)
        ]
        for turn in turns:
            next(runs[turn % len(runs)], None)
        for run in runs:
            for _ in run:
                pass
        recorded = Counter((row.student, row.raw) for row in one.submissions())
    wanted: Counter[tuple[str, str]] = Counter()
    for file in files:
        wanted |= Counter(file)
    assert recorded == wanted


def test_two_processes_that_judge_one_file_record_each_row_once(key: Path) -> None:
    rows = [(CODES[n % 2], str(n // 4)) for n in range(6000)]
    text = "student,item,answer\n" + "".join(f"{code},1,{answer}\n" for code, answer in rows)
    key.with_name("a.csv").write_text(text, encoding="utf-8")
    arguments = ["submit", "--answers", "a.csv", "--key", "key.json", "--ledger", "ledger", "--exit-zero"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    graders = [
        subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments], cwd=key.parent, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [grader.communicate() for grader in graders]
    assert [grader.returncode for grader in graders] == [0, 0], said
    with Ledger.open(key.with_name("ledger")) as ledger:
        assert Counter((row.student, row.raw) for row in ledger.submissions()) == Counter(rows)
        assert ledger.verify() == []
    new = [int(stderr.splitlines()[-1].split(",")[1].split()[0]) for _, stderr in said]
    assert sum(new) == len(rows)
    assert said[0][0] == said[1][0]
