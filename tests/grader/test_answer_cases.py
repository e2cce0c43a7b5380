"""The table of hard answers, and the script that judges any table in its format."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from grader.feedback import message

TESTS = Path(__file__).parents[1]
TABLE = TESTS / "data" / "answers.tsv"
HEADER = "id\tkind\texpected_answer\tsubmitted\tshould\tnote\tsource\n"


def _script() -> ModuleType:
    name = "answer_cases"
    found = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


cases = _script()
ROWS = list(cases.rows(TABLE))
pytestmark = pytest.mark.reality


def test_the_table_is_whole() -> None:
    assert len(ROWS) == 243
    assert {row.should for row in ROWS} == {"accept", "reject", "invalid"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_row(row: cases.Row) -> None:  # type: ignore[name-defined]  # loaded from its path
    outcomes = [cases.Outcome(row, *cases.timed(row)) for _ in range(3)]
    assert outcomes[0].agrees, (outcomes[0].judgement, row.note)
    assert min(outcome.seconds for outcome in outcomes) < 0.1
    assert message(outcomes[0].judgement, row.part)


def _run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TESTS / "answer_cases.py"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_the_script_runs_from_any_folder(tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text(HEADER + "X1\tnumber\t27 | int\t27\taccept\t\t\n", encoding="utf-8")
    done = _run("own.tsv", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 passed, 0 failed")
    assert done.stdout.startswith("slowest row X1: ")


def test_a_disagreement_is_reported_and_fails(tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text(HEADER + "X1\tnumber\t27 | int\t28\taccept\twhy not\t\n", encoding="utf-8")
    done = _run("own.tsv", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "0 passed, 1 failed"
    first = done.stdout.splitlines()[0]
    assert all(part in first for part in ("X1", "28", "incorrect", "accept", "why not"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "header lacks"),
        ("id\tkind\n", "header lacks expected_answer, submitted, should"),
        (HEADER + "X1\tnumber\t27\n", ":2: 3 fields"),
        (HEADER + "X1\tessay\t27\t27\taccept\n", "kind is 'essay'"),
        (HEADER + "X1\tnumber\t27\t27\tmaybe\n", "should is 'maybe'"),
        (HEADER + "X1\tnumber\t27\t\\x\taccept\n", "JSON string"),
        (HEADER + "X1\tnumber\t27 | rel\t27\taccept\n", "unknown policy word rel"),
        (HEADER + "X1\tnumber\t27 | rel=wide\t27\taccept\n", "unknown policy word rel=wide"),
        (HEADER + "X1\tnumber\ttwo\t27\taccept\n", "'two' is no number"),
        (HEADER + "X1\tquantity\t27 floops\t27\taccept\n", "floops"),
        (HEADER + "X1\tsymbolic\tx + 1 | green\t27\taccept\n", "unknown domain 'green'"),
        (HEADER + "X1\tsymbolic\tx + \tx\taccept\n", "no formula in x"),
        (HEADER + "X1\tnumber\t27 | locale=xx\t27\taccept\n", "unknown policy word locale=xx"),
        (HEADER + "X1\tchoice\tB | three\tB\taccept\n", "unknown policy word 'three'"),
    ],
)
def test_a_malformed_table_is_one_clear_sentence(text: str, says: str, tmp_path: Path) -> None:
    table = tmp_path / "own.tsv"
    table.write_text(text, encoding="utf-8")
    done = _run(str(table), cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_missing_table_is_one_clear_sentence(tmp_path: Path) -> None:
    done = _run("nowhere.tsv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "nowhere.tsv: No such file or directory\n")
