"""The contract of the command line: what is printed, as JSON and in words, and with which exit status."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import __version__
from grader.cli.app import COMMANDS, app
from grader.exercise import EXACT, Exercise, Given, Part, SlipValue, Step, Tolerance
from grader.ledger import Help, Ledger, Posed, Submission
from grader.practising import OBJECTIVES

WEIGHTS = Part(
    part="a",
    asks="weights",
    question="How many GB do the weights take?",
    kind="quantity",
    key="14",
    unit="GB",
    tolerance=Tolerance("relative", "0.01"),
    unit_in_question=True,
    slips=(SlipValue("bits-as-bytes", "The bit width was used as a number of bytes.", "112"),),
    steps=(Step("weights", "weights", "14000000000", "B"),),
)
CONTEXT = Part(
    part="b",
    asks="context",
    question="How many tokens fit?",
    kind="count",
    key=None,
    unit="token",
    tolerance=EXACT,
    unit_in_question=True,
    reason="The weights alone are larger than the memory.",
)
GIVENS = (
    Given("parameters", "P", "7000000000", "parameter", "parameters"),
    Given("weight_bits", "b_w", "16", "bit", "bits per weight"),
)
ONE = Exercise("sample", 1, 7, "A model is loaded.", GIVENS, (WEIGHTS,), "1 GB = 10^9 bytes.")
TWO = Exercise("pair", 1, 7, "A model is loaded.", GIVENS, (WEIGHTS, CONTEXT), "1 GB = 10^9 bytes.")


class Desk(NamedTuple):
    """A fresh ledger on which the two samples were posed to `ada`, and a way to run commands on it."""

    path: Path

    def run(self, *arguments: str, stdin: str | bytes | None = None) -> Result:
        environment = {"GRADE_LEDGER": str(self.path), "GRADE_STUDENT": "ada", "NO_COLOR": None}
        return CliRunner().invoke(app, list(arguments), input=stdin, env=environment)

    def json(self, *arguments: str, status: int = 0, stdin: str | bytes | None = None) -> dict[str, Any]:
        done = self.run(*arguments, "--json", stdin=stdin)
        assert done.exit_code == status, done.output
        found: dict[str, Any] = json.loads(done.stdout)
        assert found.pop("schema") == 1
        assert done.stdout.count("\n") == 1
        return found

    def rows(self, kind: type) -> list[Any]:
        with Ledger.open(self.path) as ledger:
            return [row for row in ledger.rows() if isinstance(row, kind)]


@pytest.fixture(scope="module")
def posed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        ledger.pose("ada", ONE)
        ledger.pose("ada", TWO)
    return path


@pytest.fixture
def desk(posed: Path, tmp_path: Path) -> Desk:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(posed.read_bytes())
    return Desk(path)


@pytest.mark.parametrize(
    ("answer", "verdict", "score", "status", "slips"),
    [
        ("14 GB", "correct", 1.0, 0, []),
        ("14", "correct", 1.0, 0, []),
        ("112 GB", "incorrect", 0.0, 1, ["bits-as-bytes"]),
        ("12 GB", "incorrect", 0.0, 1, []),
        ("14 bananas", "invalid", 0.0, 2, []),
    ],
)
def test_a_submission_is_one_object_with_every_promised_key(
    desk: Desk, answer: str, verdict: str, score: float, status: int, slips: list[str]
) -> None:
    found = desk.json("submit", "sample/7", answer, status=status)
    assert list(found) == [
        "exercise", "part", "verdict", "score", "reading", "diagnoses", "message", "attempt", "receipt",
    ]  # fmt: skip
    assert (found["exercise"], found["part"]) == ("sample/7", "a")
    assert (found["verdict"], found["score"]) == (verdict, score)
    assert isinstance(found["score"], float)
    assert [d["slip"] for d in found["diagnoses"]] == slips
    assert all(d["sentence"] for d in found["diagnoses"])
    assert found["message"]
    assert found["attempt"] == (0 if verdict == "invalid" else 1)
    (row,) = desk.rows(Submission)
    assert (row.raw, row.verdict, row.slips, row.receipt) == (answer, verdict, tuple(slips), found["receipt"])


def test_an_invalid_answer_uses_up_no_attempt(desk: Desk) -> None:
    attempts = [desk.run("submit", "sample/7", a, "--json").stdout for a in ("13", "what?", "12", "", "14")]
    assert [json.loads(a).get("attempt") for a in attempts] == [1, 1, 2, 2, 3]


def test_words_say_verdict_reading_slip_and_receipt(desk: Desk) -> None:
    done = desk.run("submit", "sample/7", "112")
    assert done.exit_code == 1
    assert "Not correct. Read as 112 GB." in done.stdout
    assert "The bit width was used as a number of bytes." in done.stdout
    assert desk.rows(Submission)[0].receipt in done.stdout
    assert "grade hint sample/7" in done.stderr


def test_the_reason_is_told_where_no_value_exists(desk: Desk) -> None:
    assert CONTEXT.reason in desk.run("submit", "pair/7", "none", "--part", "b").stdout
    assert desk.json("submit", "pair/7", "none", "--part", "B")["verdict"] == "correct"


@pytest.mark.parametrize("arguments", [(), ("--part", "c")])
def test_several_parts_must_be_told_apart(desk: Desk, arguments: tuple[str, ...]) -> None:
    done = desk.run("submit", "pair/7", "14", *arguments)
    assert done.exit_code == 2
    assert "--part a or --part b" in done.stderr
    assert desk.rows(Submission) == []


@pytest.mark.roundtrip
@pytest.mark.parametrize("answer", ["14", "14 GB", "14e9 B", "1.4e1GB", "112", "none"])
def test_a_dry_run_shows_the_reading_alone_and_it_reads_back_the_same(desk: Desk, answer: str) -> None:
    found = desk.json("submit", "sample/7", answer, "--dry-run")
    assert (found["verdict"], found["score"], found["diagnoses"]) == (None, None, [])
    assert (found["attempt"], found["receipt"]) == (None, None)
    assert desk.json("submit", "sample/7", found["reading"], "--dry-run")["reading"] == found["reading"]
    assert desk.run("submit", "sample/7", answer, "--dry-run").stdout == f"Read as {found['reading']}.\n"
    assert desk.rows(Submission) == []


def test_a_dry_run_of_no_answer_says_why(desk: Desk) -> None:
    found = desk.json("submit", "sample/7", "14 bananas", "--dry-run", status=2)
    assert found["verdict"] == "invalid"
    assert "bananas" in found["message"]


@pytest.mark.parametrize(("answer", "status"), [("14", 0), ("13", 0), ("14 bananas", 0)])
def test_exit_zero_holds_for_every_verdict(desk: Desk, answer: str, status: int) -> None:
    assert desk.run("submit", "sample/7", answer, "--exit-zero").exit_code == status
    assert desk.run("submit", "no-such/7", answer, "--exit-zero").exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [("-5",), ("--", "-5"), ("-5 GB",), ("-5", "GB"), ("-.5",), ("-5e3 MB",), ("-1/2",), ("--5",), ("-N",), ("-14GB",)],
)
def test_an_answer_may_begin_with_a_minus_sign(desk: Desk, arguments: tuple[str, ...]) -> None:
    assert desk.run("submit", "sample/7", *arguments).exit_code in {1, 2}
    (row,) = desk.rows(Submission)
    assert row.raw == " ".join(a for a in arguments if a != "--")


def test_an_exercise_that_was_never_posed_is_drawn_and_recorded_by_its_first_answer(desk: Desk) -> None:
    assert desk.run("submit", "max-context/9", "1 token", "--dry-run").exit_code == 0
    assert [row for row in desk.rows(Posed) if row.family == "max-context"] == []
    assert desk.json("submit", "max-context/9", "1 token", status=1)["exercise"] == "max-context/9"
    assert [row.seed for row in desk.rows(Posed) if row.family == "max-context"] == [9]


@pytest.mark.parametrize("option", ["--jsn", "-json", "--dry_run", "--prat=b", "--exit-zer"])
def test_a_mistyped_option_is_an_error_with_a_suggestion(desk: Desk, option: str) -> None:
    done = desk.run("submit", "sample/7", "14", option)
    assert done.exit_code == 2
    assert "Did you mean '--" in done.stderr
    assert desk.rows(Submission) == []


def test_an_answer_comes_from_an_argument_a_file_or_stdin(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "answer.txt"
    file.write_text("\ufeff14 GB\n", encoding="utf-8")
    assert desk.json("submit", "sample/7", "--file", str(file))["verdict"] == "correct"
    assert desk.json("submit", "sample/7", "-", stdin="14 GB\n")["verdict"] == "correct"
    assert desk.json("submit", "sample/7", "14", "GB")["verdict"] == "correct"
    assert [row.raw for row in desk.rows(Submission)] == ["14 GB"] * 3


@pytest.mark.parametrize(
    ("arguments", "stdin", "says"),
    [
        ((), None, "missing"),
        (("14", "--file", "x"), None, "once"),
        (("--file", "no/such/file"), None, "No such file"),
        (("--file", "."), None, "directory"),
        (("--file", "a\0b"), None, "no file name"),
        (("-",), b"\xff\xfe", "UTF-8"),
        (("-",), b"1" * (64 * 1024 + 1), "64 KiB"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_and_nothing_is_recorded(
    desk: Desk, arguments: tuple[str, ...], stdin: bytes | None, says: str
) -> None:
    done = desk.run("submit", "sample/7", *arguments, "--json", stdin=stdin)
    assert done.exit_code == 2
    assert says in done.stderr
    assert says in json.loads(done.stdout)["error"]
    assert "Traceback" not in done.output
    assert desk.rows(Submission) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("show", "no-such-family/7"), "There is no family 'no-such-family'"),
        (("show", "max-contxt/7"), "did you mean max-context"),
        (("show", "max-context/seven"), "FAMILY/SEED"),
        (("show", "max-context/-7"), "FAMILY/SEED"),
        (("show", "/7"), "FAMILY/SEED"),
        (("show", "max-context/" + "9" * 19), "FAMILY/SEED"),
        (("show", "max-context@99/7"), "revision"),
        (("submit", "max-context", "5"), "needs a seed"),
        (("new", "nothing"), "There is no family 'nothing'"),
        (("new", "max-context", "--seed", "-1"), "--seed"),
        (("list", "--objective", "flying"), "memory-partition"),
        (("nwe",), "Did you mean"),
        (("calc", "--json"), "Name a quantity"),
    ],
)
def test_what_does_not_exist_is_one_sentence(desk: Desk, arguments: tuple[str, ...], says: str) -> None:
    done = desk.run(*arguments)
    assert done.exit_code == 2
    assert says in done.stderr
    assert "Traceback" not in done.output


def test_a_name_without_a_seed_names_the_exercises_one_may_mean(desk: Desk) -> None:
    with Ledger.open(desk.path) as ledger:
        ledger.pose("ada", replace(ONE, family="max-context", seed=12))
    assert "max-context/12" in desk.run("submit", "max-context", "5").stderr


def test_a_ledger_that_cannot_be_used_is_one_sentence(desk: Desk, tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"This is no database at all." * 100)
    for ledger, says in ((broken, "damaged"), (tmp_path, "folder"), (Path("/proc/none/ledger"), "cannot be opened")):
        done = desk.run("submit", "sample/7", "14", "--ledger", str(ledger), "--json")
        assert done.exit_code == 2
        assert says in done.stderr
        assert "Traceback" not in done.output
        assert str(ledger) in json.loads(done.stdout)["error"]


def test_no_verdict_is_printed_that_was_not_recorded(desk: Desk) -> None:
    writer = sqlite3.connect(desk.path, isolation_level=None)
    writer.execute("CREATE TRIGGER full BEFORE INSERT ON submission BEGIN SELECT RAISE(ABORT, 'no'); END")
    writer.close()
    done = desk.run("submit", "sample/7", "14")
    assert done.exit_code == 2
    assert done.stdout == ""


def test_a_mistake_of_ours_is_told_without_a_traceback(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("grader.judging.judge", broken)
    done = desk.run("submit", "sample/7", "14", "--json")
    assert done.exit_code == 2
    assert "ZeroDivisionError: planted" in done.stderr
    assert "GRADE_DEBUG=1" in done.stderr
    assert "planted" in json.loads(done.stdout)["error"]
    monkeypatch.setenv("GRADE_DEBUG", "1")
    assert isinstance(desk.run("submit", "sample/7", "14").exception, ZeroDivisionError)


@pytest.mark.fuzz
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=st.one_of(st.text(), st.text("-0123456789.,e+/*^() GBtokens\0%"), st.binary().map(repr)))
def test_any_answer_gets_one_object_and_a_known_status(desk: Desk, answer: str) -> None:
    done = desk.run("submit", "sample/7", "--json", "--", answer)
    assert done.exit_code in {0, 1, 2}
    found = json.loads(done.stdout)
    assert found["verdict"] in {"correct", "incorrect", "partial", "invalid"}
    assert {"correct": 0, "invalid": 2}.get(found["verdict"], 1) == done.exit_code


def test_show_prints_what_was_posed(desk: Desk) -> None:
    found = desk.json("show", "pair/7")
    assert list(found) == [
        "exercise", "family", "revision", "seed", "statement", "givens", "parts", "convention",
    ]  # fmt: skip
    assert found["givens"][0] == {"name": "parameters", "symbol": "P", "value": "7000000000", "unit": "parameter"}
    assert [part["part"] for part in found["parts"]] == ["a", "b"]
    assert {"part", "asks", "kind", "unit"} <= found["parts"][0].keys()
    for text in (found["statement"], desk.run("show", "pair/7").stdout):
        for said in (TWO.statement, "7,000,000,000 parameters", "16 bits", f"a) {WEIGHTS.question}", TWO.convention):
            assert said in text


def test_nothing_posed_gives_its_key_away(desk: Desk) -> None:
    for output in (desk.run("show", "pair/7").stdout, desk.run("show", "pair/7", "--json").stdout):
        assert "112" not in output
        assert CONTEXT.reason not in output
        assert "bits-as-bytes" not in output


def test_an_old_revision_stays_the_one_that_was_posed(desk: Desk) -> None:
    with Ledger.open(desk.path) as ledger:
        ledger.pose("ada", replace(ONE, family="max-context", revision=99))
    for address in ("max-context/7", "max-context@99/7"):
        assert desk.json("show", address)["revision"] == 99
        assert desk.json("submit", address, "14")["verdict"] == "correct"


def test_hints_go_from_the_law_to_the_numbers_and_are_recorded(desk: Desk) -> None:
    found = [desk.json("hint", "sample/7") for _ in range(4)]
    assert [(hint["part"], hint["level"], hint["of"]) for hint in found] == [("a", n, 3) for n in (1, 2, 3, 3)]
    assert len({hint["hint"] for hint in found}) == 3
    assert [(row.kind, row.level) for row in desk.rows(Help)] == [("hint", 1), ("hint", 2), ("hint", 3), ("hint", 3)]
    assert found[2]["hint"] in " ".join(desk.run("hint", "sample/7").stdout.split())


def test_a_solution_has_its_steps_and_is_recorded(desk: Desk) -> None:
    found = desk.json("solution", "pair/7")
    assert found["exercise"] == "pair/7"
    first, second = found["parts"]
    assert (first["part"], first["answer"], first["infeasible"]) == ("a", "14 GB", False)
    assert (second["part"], second["answer"], second["infeasible"]) == ("b", "none", True)
    assert second["reason"] == CONTEXT.reason
    (step,) = first["steps"]
    assert step["law"] == "weights"
    assert "14 GB" in step["text"]
    assert step["latex"]
    assert [(row.part, row.kind) for row in desk.rows(Help)] == [("a", "solution"), ("b", "solution")]
    assert [part["part"] for part in desk.json("solution", "pair/7", "--part", "b")["parts"]] == ["b"]


@pytest.mark.parametrize("family", ["max-context", "parameter-formula"])
def test_a_new_exercise_is_recorded_and_its_solution_is_correct(desk: Desk, family: str) -> None:
    found = desk.json("new", family, "--seed", "3")
    assert (found["exercise"], found["family"], found["seed"]) == (f"{family}/3", family, 3)
    assert desk.rows(Posed)[-1].family == family
    answer = desk.json("solution", f"{family}/3")["parts"][0]["answer"]
    assert desk.json("submit", f"{family}/3", answer)["verdict"] == "correct"


@pytest.mark.law
def test_the_same_seed_poses_the_same_exercise_to_everybody(desk: Desk) -> None:
    assert desk.json("new", "max-context", "--seed", "5") == desk.json("show", "max-context/5", "--student", "eve")


def test_without_a_seed_the_lowest_that_was_not_met_is_drawn(desk: Desk) -> None:
    desk.run("new", "max-context", "--seed", "2")
    assert [desk.json("new", "max-context")["seed"] for _ in range(3)] == [1, 3, 4]
    assert desk.json("new", "max-context", "--student", "eve")["seed"] == 1


def test_without_a_family_objectives_take_turns_and_nothing_comes_twice(desk: Desk) -> None:
    families = {f["family"]: f["objective"] for f in desk.json("list")["families"]}
    trained = {of.name for of in OBJECTIVES if any(own in of.covers for own in families.values())}
    met = [desk.json("new") for _ in range(len(trained) + 2)]
    turns = [next(of.name for of in OBJECTIVES if families[found["family"]] in of.covers) for found in met]
    assert set(turns[: len(trained)]) == trained
    assert len({found["exercise"] for found in met}) == len(met)
    assert not any(found["family"].startswith("exercise-") for found in met)


def test_a_seed_alone_is_that_draw_of_the_family_that_is_needed(desk: Desk) -> None:
    family = desk.json("new", "--student", "eve")["family"]
    assert desk.json("new", "--seed", "77")["exercise"] == f"{family}/77"


def test_the_families_are_listed_with_what_they_train(desk: Desk) -> None:
    found = desk.json("list")["families"]
    assert {"max-context", "parameter-formula"} <= {f["family"] for f in found}
    assert all(list(f) == ["family", "objective", "section", "kinds"] for f in found)
    formula = next(f for f in found if f["family"] == "parameter-formula")
    assert formula["kinds"] == ["expression"]
    objective = formula["objective"]
    some = desk.json("list", "--objective", objective)["families"]
    assert some == [f for f in found if f["objective"] == objective]
    assert "max-context" in desk.run("list").stdout


def test_every_command_is_there_and_says_how_it_is_used(desk: Desk) -> None:
    overview = desk.run("--help").stdout
    for name in COMMANDS:
        assert f"\n  {name} " in overview
        help_ = desk.run(name, "--help")
        assert help_.exit_code == 0
        assert "Examples:" in help_.stdout
    assert desk.run("--version").stdout == f"grade, version {__version__}\n"
