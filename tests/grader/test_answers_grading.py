"""Answers of a class, judged by the key file: points, problems, the ledger, and what a kill leaves."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.answers import Answer, BadKey, Grading, Unplaced, read_key
from grader.cli.app import app
from grader.exercise import Exercise, Part, SlipValue, Tolerance
from grader.judging import judge
from grader.ledger import Ledger
from grader.sets import Entry, Item, ProblemSet, Sheet, record, record_of
from grader.solution import answer
from grader.tables import unguarded
from tests.grader.every_family import first_of_each

CODES = ("C2FR-WQRK", "K7Q2-9XMD")
MAIN = "from grader.cli import main\nmain()"


def exercise(number: int) -> Exercise:
    near = Tolerance("relative", "0.01")
    parts = (
        Part("a", "gpus", "How many?", "count", str(10 + number), "GPU", unit_in_question=True,
             slips=(SlipValue("forgot-one", "One was forgotten.", str(9 + number)),)),
        Part("b", "weights", "How much?", "quantity", str(14 * number), "GB", near),
    )  # fmt: skip
    return Exercise("sample", 1, number, "Answer.", (), parts if number == 2 else parts[:1])


def sheet(student: str, first: int) -> str:
    items = [(number, Item("sample", None, 1, Fraction(4))) for number in (1, 2)]
    entries = tuple(Entry.of(number, item, exercise(2 if number == 2 else first)) for number, item in items)
    return record_of(Sheet("Week 1", student, entries))


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Give a key of two students: exercise 1 has one part, exercise 2 has a and b."""
    path = tmp_path / "key.json"
    lines = [sheet(code, 5 + n) for n, code in enumerate(CODES)]
    path.write_text("".join(record(ProblemSet("Week 1", ()), lines)), encoding="utf-8")
    (tmp_path / "roster.csv").write_text(
        "code,id,name,email\nC2FR-WQRK,007,Ada,Ada@b.c\nK7Q2-9XMD,8,Bob,two@b.c\nC2FR-WQRK,9,Eve,two@b.c\n",
        encoding="utf-8",
    )
    return path


def run(key: Path, content: str | Path, *more: str | Path, name: str = "a.csv") -> Result:
    path = content
    if isinstance(content, str):
        path = key.with_name(name)
        path.write_text(content, encoding="utf-8")
    arguments = ["--answers", path, "--key", key, "--ledger", key.with_name("ledger"), *more]
    return CliRunner().invoke(app, ["submit", *map(str, arguments)])


def book(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def recorded(key: Path) -> list[tuple[str, int, str, str, str]]:
    with Ledger.open(key.with_name("ledger")) as ledger:
        assert ledger.verify() == []
        return [(r.student, r.seed, r.part, r.raw, r.verdict) for r in ledger.submissions()]


GOOD = """\
code,1,2a,2b
C2FR-WQRK,15 GPUs,11,28000 MB
k7q2 9xmd,16,,none
"""


def test_answers_become_points_and_a_gradebook(key: Path) -> None:
    done = run(key, GOOD, "--out", key.with_name("g.csv"))
    assert (done.exit_code, done.stderr) == (0, "5 answers judged, 5 of them new; all are recorded.\n")
    assert done.stdout.splitlines() == [
        "student    points  of  correct  wrong  unread  missing",
        "C2FR-WQRK       6   8        2      1       0        0",
        "K7Q2-9XMD       4   8        1      1       0        1",
        "all            10  16        3      2       0        1",
    ]
    rows = book(key.with_name("g.csv"))
    assert [(r["student"], r["item"] + r["part"], r["verdict"], r["points"], r["of"]) for r in rows] == [
        ("C2FR-WQRK", "1a", "correct", "4", "4"),
        ("C2FR-WQRK", "2a", "incorrect", "0", "2"),
        ("C2FR-WQRK", "2b", "correct", "2", "2"),
        ("K7Q2-9XMD", "1a", "correct", "4", "4"),
        ("K7Q2-9XMD", "2a", "missing", "0", "2"),
        ("K7Q2-9XMD", "2b", "incorrect", "0", "2"),
    ]
    assert (rows[1]["why"], rows[2]["read as"]) == ("One was forgotten.", "28000 MB")
    assert [r[:4] for r in recorded(key)][:3] == [
        ("C2FR-WQRK", 5, "a", "15 GPUs"), ("C2FR-WQRK", 2, "a", "11"), ("C2FR-WQRK", 2, "b", "28000 MB"),
    ]  # fmt: skip


@pytest.mark.roundtrip
def test_a_gradebook_is_a_file_of_answers(key: Path) -> None:
    run(key, GOOD, "--out", key.with_name("g.csv"))
    done = run(key, key.with_name("g.csv"), "--out", key.with_name("h.csv"))
    assert "5 answers judged, 0 of them new" in done.stderr
    assert key.with_name("g.csv").read_bytes() == key.with_name("h.csv").read_bytes()


def test_the_last_that_can_be_read_counts(key: Path) -> None:
    text = "student,item,answer\n" + "".join(f"C2FR-WQRK,1,{a}\n" for a in ("14", "15", "?", "zebra"))
    done = run(key, text, "--out", key.with_name("g.csv"))
    assert done.exit_code == 1
    assert book(key.with_name("g.csv"))[0]["answer"] == "15"
    assert "line 4, C2FR-WQRK, exercise 1: '?' cannot be read" in done.stderr
    done = run(key, "student,item,answer\nC2FR-WQRK,1,?\n", "--out", key.with_name("g.csv"))
    assert book(key.with_name("g.csv"))[0]["verdict"] == "invalid"
    assert done.stdout.splitlines()[-1].split() == ["C2FR-WQRK", "0", "8", "0", "0", "1", "2"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("K7Q2-9XMX,1,,5", "no student 'K7Q2-9XMX'"),
        (",1,,5", "no student is named"),
        ("C2FR-WQRK,3,,5", "exercises 1 to 2"),
        ("C2FR-WQRK,2,,5", "parts a, b; say which"),
        ("C2FR-WQRK,2,c,5", "no part 'c'"),
        ("C2FR-WQRK,x,,5", "number of an exercise"),
        ("C2FR-WQRK,1,,abc", "cannot be read as an answer"),
        ("C2FR-WQRK,1,,1,234", "5 columns"),
        ("C2FR-WQRK,1,," + "5" * 300, "too long"),
        ("C2FR-WQRK,1,,\x1b[31m", "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_told_with_student_and_exercise_and_costs_itself(key: Path, row: str, says: str) -> None:
    done = run(key, f"student,item,part,answer\nC2FR-WQRK,2,a,12\n{row}\nK7Q2-9XMD,1,,16\n", "--json")
    assert done.exit_code == 1
    assert says in done.stderr
    assert "a.csv, line 3" in done.stderr
    assert "\x1b" not in done.stderr
    data = json.loads(done.stdout)
    assert (data["schema"], data["problem_count"], len(data["problems"])) == (1, 1, 1)
    assert says in data["problems"][0]["why"]
    by = {s["student"]: s["points"] for s in data["students"]}
    assert (by["C2FR-WQRK"], by["K7Q2-9XMD"]) == ("2", "4")
    assert run(key, key.with_name("a.csv"), "--exit-zero").exit_code == 0


@pytest.mark.parametrize("named", ["C2FR-WQRK", "c2frwqrk", "007", "ada@B.c"])
def test_a_student_is_named_by_code_id_or_address(key: Path, named: str) -> None:
    run(key, f"Student ID,1\n{named},15\n")
    assert [r[0] for r in recorded(key)] == ["C2FR-WQRK"]


def test_an_address_that_two_share_names_nobody(key: Path) -> None:
    assert "no student 'two@b.c'" in run(key, "email,1\ntwo@b.c,15\n").stderr


def test_the_name_of_a_file_may_say_whose_it_is(key: Path) -> None:
    assert run(key, '{"1": "15"}', name="week1_C2FR-WQRK.json").exit_code == 0
    assert [r[0] for r in recorded(key)] == ["C2FR-WQRK"]


def test_a_sheet_for_everybody_is_answered_under_any_name(key: Path) -> None:
    key.write_text("".join(record(ProblemSet("Week 1", ()), [sheet("", 5)])), encoding="utf-8")
    assert run(key, "student,1\nAda Lovelace,15\nBob,14\n").exit_code == 0
    assert run(key, "1,2a\n15,12\n", "--student", "eve").exit_code == 0
    assert [r[0] for r in recorded(key)] == ["Ada Lovelace", "Bob", "eve", "eve"]


def test_formulas_stay_text_in_a_gradebook(key: Path) -> None:
    evil = "=cmd|' /C calc'!A0"
    run(key, f'student,item,answer\nC2FR-WQRK,1,"{evil}"\n', "--out", key.with_name("g.csv"))
    cell = book(key.with_name("g.csv"))[0]["answer"]
    assert (cell[0], unguarded(cell)) == ("'", evil)
    run(key, "student,item,answer\nC2FR-WQRK,1,-5\n", "--out", key.with_name("g.csv"))
    assert book(key.with_name("g.csv"))[0]["answer"] == "-5"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "no key file"),
        ("{}", "no key file"),
        ("[1]", "no key file"),
        ('{"schema": 1, "sheets": [{}]}', "no key file"),
        ('{"schema": 2, "title": "", "sheets": [{"student": "x"}]}', "newer version"),
        ('{"schema": 1, "title": "", "sheets": []}', "holds no sheet"),
        ('{"schema": 1, "title": "", "sheets": [{"student": "C2FR-WQRK", "items": [5]}]}', "is damaged"),
        ('{"schema": 1, "title": "", "sheets": [{"student": "C2FR-WQRK", "items": []}]}', "is damaged"),
        ("[" * 100000, "no key file"),
        ("\udcff", "no key file"),
    ],
)
def test_a_bad_key_is_one_sentence(key: Path, content: str, says: str) -> None:
    key.write_bytes(content.encode(errors="surrogateescape"))
    done = run(key, GOOD)
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="has no links and pipes")
def test_a_gradebook_goes_where_a_link_leads_and_into_a_pipe(key: Path) -> None:
    real, link, pipe = (key.with_name(name) for name in ("real.csv", "link.csv", "pipe"))
    link.symlink_to(real)
    assert run(key, "student,1\nC2FR-WQRK,15\n", "--out", link).exit_code == 0
    assert link.is_symlink()
    assert book(real)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run(key, "student,1\nC2FR-WQRK,15\n", "--out", pipe).exit_code == 0
    assert os.read(reader, 1 << 16) == real.read_bytes()
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="has no file without an end")
def test_a_key_without_an_end_is_no_key() -> None:
    with pytest.raises(BadKey, match="no key file"):
        read_key(Path("/dev/zero"))


def test_a_key_may_be_laid_out_anew(key: Path) -> None:
    data = json.loads(key.read_text(encoding="utf-8"))
    lines = read_key(key)
    key.write_text(json.dumps(data, indent=2), encoding="utf-8")
    assert [read_key(key).sheet(code) for code in CODES] == [lines.sheet(code) for code in CODES]
    with pytest.raises(BadKey):
        read_key(key.with_name("none"))


def test_options_that_do_not_go_together_are_refused(key: Path) -> None:
    for arguments in (
        ["sample/1", "5", "--key", key], ["--answers", key], ["sample/1", "--answers", key, "--key", key],
        ["--answers", key, "--key", key, "--dry-run"], ["--out", key], [],
        ["--answers", key.with_name("none"), "--key", key], ["--answers", key, "--key", key, "--out", key.parent],
        ["--answers", key, "--key", key, "--policy", key.with_name("none")], ["--policy", key],
    ):  # fmt: skip
        done = CliRunner().invoke(app, ["submit", *map(str, arguments)])
        assert done.exit_code == 2, arguments
        assert "Traceback" not in done.output


moves = st.lists(
    st.tuples(st.sampled_from(CODES), st.sampled_from(["1", "2a"]), st.sampled_from(["11", "12", "15", "?"])),
    max_size=8,
)


@pytest.mark.law
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(moves, st.integers(0, 8), st.sampled_from([1, 2, 500]))
def test_a_file_again_adds_nothing_and_a_file_that_grew_adds_the_rest(
    tmp_path_factory: pytest.TempPathFactory, key: Path, rows: list[tuple[str, str, str]], cut: int, size: int
) -> None:
    found = [Answer("a.csv", 0, s, int(i[0]), i[1:], text) for s, i, text in rows]
    folder = tmp_path_factory.mktemp("law")

    def graded(name: str, *files: list[Answer]) -> list[Any]:
        with Ledger.open(folder / name) as ledger:
            for file in files:
                grading = Grading(read_key(key), ledger, "")
                assert sum(len(g.problems) for g in grading.grade(file)) == sum(a.text == "?" for a in file)
            return [(r.student, r.seed, r.part, r.raw, r.attempt) for r in ledger.submissions()]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grader.answers.grading.BATCH", size)
        once = graded("once", found)
        assert len(once) == len(rows)
        assert graded("twice", found, found, found) == once
        assert graded("grown", found[:cut], found, found[:cut]) == once


def test_a_batch_is_recorded_as_a_whole_or_not_at_all(key: Path) -> None:
    def stream() -> Iterator[Answer]:
        for number in range(3):
            yield Answer("a.csv", number, CODES[0], 1, "", str(number))

    with pytest.MonkeyPatch.context() as patch, Ledger.open(key.with_name("ledger")) as ledger:
        patch.setattr("grader.answers.grading.BATCH", 2)
        graded = Grading(read_key(key), ledger, "").grade(stream())
        assert next(graded).recorded == 2
        patch.setattr(ledger, "submit", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            next(graded)
        patch.undo()
        patch.setattr("grader.answers.grading.judge", lambda part, text: 1 / 0 if text == "9" else judge(part, text))
        answers = [Answer("a.csv", 0, CODES[0], 1, "", text) for text in ("7", "8", "9")]
        with pytest.raises(ZeroDivisionError):
            next(Grading(read_key(key), ledger, "").grade(answers))
    assert [r[3] for r in recorded(key)] == ["0", "1"]


def test_answers_are_judged_without_laws_templates_or_families(key: Path) -> None:
    key.with_name("a.csv").write_text(GOOD, encoding="utf-8")
    script = "import sys\ntry:\n    from grader.cli import main; main()\nfinally: print(*sys.modules, file=sys.stderr)"
    arguments = ["submit", "--answers", "a.csv", "--key", "key.json", "--ledger", "l", "--out", "g.csv"]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=key.parent, capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    tops = {module.partition(".")[0] for module in done.stderr.splitlines()[-1].split()}
    assert tops & {"sympy", "jinja2", "problems", "hypothesis"} == set()
    assert {"grader", "sqlite3"} <= tops


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("after", [1, 3])
def test_a_kill_loses_no_acknowledged_batch_and_a_new_run_completes_it(key: Path, after: int) -> None:
    rows = "".join(f"{CODES[n % 2]},1,{n}\n" for n in range(4000))
    key.with_name("a.csv").write_text("student,item,answer\n" + rows, encoding="utf-8")
    arguments = ["submit", "--answers", "a.csv", "--key", "key.json", "--ledger", "ledger", "--out", "g.csv"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments], cwd=key.parent, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for _ in range(after):
            acknowledged = int(process.stderr.readline().split()[0])
        process.kill()
    assert process.returncode == -signal.SIGKILL
    kept = recorded(key)
    assert acknowledged == 500 * after <= len(kept) < 4000
    assert len(kept) % 500 == 0
    assert [r[3] for r in kept] == [str(n) for n in range(len(kept))]
    assert not key.with_name("g.csv").exists()
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *arguments], cwd=key.parent, env=environment, capture_output=True, check=True
    )
    assert f"{4000 - len(kept)} of them new" in done.stderr.decode()
    assert [r[3] for r in recorded(key)] == [str(n) for n in range(4000)]
    assert len(book(key.with_name("g.csv"))) == 6


def test_a_ledger_that_cannot_be_used_is_one_sentence(key: Path) -> None:
    key.with_name("ledger").write_bytes(b"no ledger" * 1000)
    done = run(key, GOOD)
    assert done.exit_code == 2
    assert "is damaged or is no ledger" in done.stderr


@pytest.mark.fuzz
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.text('student,item12ab"\n;=K7Q-92XMD', max_size=80))
def test_no_file_breaks_the_command(key: Path, text: str) -> None:
    done = run(key, f"student,item,answer\n{text}\n")
    assert done.exit_code in {0, 1}, done.output
    assert "mistake in grade" not in done.output


def test_an_unplaced_answer_says_where_it_stands() -> None:
    assert str(Unplaced("a.csv", 3, "ada", "2b", "it is blank")) == "a.csv, line 3, ada, exercise 2b: it is blank."
    assert str(Unplaced("a.csv", 0, "", "", "it is blank")) == "a.csv: it is blank."


def test_right_answers_of_every_kind_earn_all_points_and_a_policy_is_a_file(tmp_path: Path) -> None:
    kinds: dict[str, Exercise] = {}
    for asked in first_of_each():
        for part in asked.parts:
            kinds.setdefault(part.kind, asked)
    assert {"count", "choice", "choices", "mistake", "invariant", "counterexample", "expression", "policy"} <= set(
        kinds
    )
    of = {asked.id: asked for asked in kinds.values()}.values()
    entries = [Entry.of(n, Item(e.family, e.seed, 1, Fraction(2)), e) for n, e in enumerate(of, 1)]
    key = tmp_path / "key.json"
    lines = [record_of(Sheet("Week 1", CODES[0], tuple(entries)))]
    key.write_text("".join(record(ProblemSet("Week 1", ()), lines)), encoding="utf-8")
    (tmp_path / "in").mkdir()
    with (tmp_path / "in" / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["student", "item", "part", "answer"])
        for entry in entries:
            for part in entry.exercise.parts:
                if part.kind == "policy":
                    (tmp_path / "in" / f"{CODES[0]}-{entry.number}.json").write_text(answer(part), encoding="utf-8")
                else:
                    table.writerow([CODES[0], entry.number, part.part, answer(part)])
    done = run(key, tmp_path / "in", "--out", key.with_name("g.csv"))
    assert (done.exit_code, len(recorded(key))) == (0, sum(len(e.exercise.parts) for e in entries)), done.stderr
    assert [(r["item"], r["part"], r["why"]) for r in book(key.with_name("g.csv")) if r["verdict"] != "correct"] == []
