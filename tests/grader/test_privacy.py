"""What is stored of a student can be read by them, whole, and erased, without a trace of whose it was."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from grader.cli.app import app
from grader.exercise import Exercise, Given, Part
from grader.ledger import Erasure, Ledger, Row
from grader.ledger.rows import OWNED
from grader.reporting.exporting import as_csv, as_json
from grader.tables import unguarded

pytestmark = pytest.mark.law

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


def exercise(text: str = "A model is loaded.", seed: int = 7) -> Exercise:
    part = Part("a", "gpus", "How many?", "count", "14", "GPU")
    return Exercise("sample", 1, seed, text, (Given("a", "A", "1/3", "GB"),), (part,))


def fill(ledger: Ledger, student: str, text: str = "=14 GPUs", score: Fraction = Fraction(1, 3)) -> int:
    """Record a row of every kind, and return how many there are of the student."""
    with ledger.together():
        row = ledger.submit(
            student, exercise(text), "a", raw=text, reading=text, verdict="partial", score=score, slips=[text, "b"]
        )
        ledger.record_help(student, exercise(text), "a", "hint", 1)
        ledger.amend(student, exercise(f"{text}!"), text)
        ledger.regrade(row, reading=text, verdict="correct", score=Fraction(1), slips=[], reason=text)
    return len(list(ledger.rows(student)))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    with Ledger.open(tmp_path_factory.mktemp("scratch") / "ledger") as opened:
        yield opened


def read_back(student: str, data: dict[str, Any]) -> Row:
    """Make the row of the ledger from what was exported."""
    fields = dict(data)
    kind = {kind.__name__.lower(): kind for kind in OWNED}[fields.pop("what")]
    if "exercise" in fields:
        family, _, seed = fields.pop("exercise").rpartition("/")
        fields |= {"family": family, "seed": int(seed)}
    if "record" in fields:
        fields["record"] = Exercise.from_json(json.dumps(fields["record"]))
    if "score" in fields:
        fields |= {"score": Fraction(fields["score"]), "slips": tuple(fields["slips"])}
    return kind(**fields | {"student": student, "utc": datetime.fromisoformat(fields["utc"])})


@pytest.mark.roundtrip
@given(student=ANY_TEXT, text=ANY_TEXT, score=st.fractions(0, 1))
def test_the_rows_of_a_ledger_can_be_made_from_what_is_exported(
    scratch: Ledger, student: str, text: str, score: Fraction
) -> None:
    fill(scratch, student, text, score)
    rows = list(scratch.rows(student))
    data = json.loads(as_json(student, rows))
    assert (data["schema"], data["student"]) == (1, student)
    parsed = [row._replace(record=row.exercise) if hasattr(row, "record") else row for row in rows]
    assert [read_back(student, row) for row in data["rows"]] == parsed
    table = list(csv.DictReader(StringIO(as_csv(rows), newline="")))
    assert [int(row["number"]) for row in table] == [row.number for row in rows]
    assert [unguarded(row["receipt"]) for row in table] == [row.receipt for row in rows]


# --- the commands ---


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger"
    with Ledger.open(path) as opened:
        assert [fill(opened, name) for name in ("Zoë Ängström", "bob")] == [5, 5]
    return path


def run(ledger: Path, *arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [*arguments, "--ledger", str(ledger)], input=stdin, env={"GRADE_STUDENT": "bob"})


def kept(ledger: Path) -> list[Row]:
    with Ledger.open(ledger) as opened:
        assert opened.verify() == []
        return list(opened.rows())


def test_a_student_exports_their_own_rows_and_no_others(ledger: Path, tmp_path: Path) -> None:
    data = json.loads(run(ledger, "export").stdout)
    assert [row["what"] for row in data["rows"]] == ["posed", "submission", "help", "amendment", "regrade"]
    assert data["rows"][0]["record"]["givens"][0]["value"] == "1/3"
    assert "ngstr" not in json.dumps(data)
    done = run(ledger, "export", "--student", "Zoë Ängström", "--format", "csv", "--out", str(tmp_path / "z.csv"))
    assert done.stdout == f"5 rows of Zoë Ängström are in {tmp_path / 'z.csv'}.\n"
    text = (tmp_path / "z.csv").read_text(encoding="utf-8")
    assert text.count("'=14 GPUs") > 0
    assert not any(cell[:1] in {"=", "+", "@"} for row in csv.reader(StringIO(text)) for cell in row)


def test_nothing_stored_is_said_and_makes_no_ledger(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "ledger",):
        done = run(path, "export")
        assert (done.exit_code, json.loads(done.stdout)["rows"]) == (0, [])
        assert done.stderr == "Nothing is stored of bob.\n"
        assert run(path, "forget", "bob", "--yes").stdout == "Nothing is stored of 'bob'.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [("export",), ("report",), ("report", "--format", "html")])
def test_a_file_that_cannot_be_written_is_one_sentence_and_makes_no_folder(
    ledger: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    for name, why in (("no/file", f"there is no folder {tmp_path / 'no'}"), ("x\0y", "embedded null byte")):
        done = run(ledger, *command, "--out", f"{tmp_path}/{name}")
        assert (done.exit_code, done.stderr.startswith("Error: "), done.stdout) == (2, True, "")
        assert f"cannot be written: {why}." in done.stderr
    assert not (tmp_path / "no").exists()


def test_forgetting_leaves_a_count_and_a_receipt_and_no_name(ledger: Path) -> None:
    others = [row for row in kept(ledger) if not isinstance(row, Erasure) and row.student == "bob"]
    done = run(ledger, "forget", "Zoë Ängström", "--yes", "--json")
    *rows, erasure = kept(ledger)
    assert rows == others
    assert isinstance(erasure, Erasure)
    assert json.loads(done.stdout) == {"schema": 1, "erased": 5, "receipt": erasure.receipt}
    for file in ledger.parent.iterdir():
        for name in ("Zoë", "ngstr"):
            assert name.encode() not in file.read_bytes()
    again = run(ledger, "forget", "Zoë Ängström", "--yes", "--json")
    assert json.loads(again.stdout) == {"schema": 1, "erased": 0, "receipt": None}


@pytest.mark.parametrize(
    ("answer", "status", "says", "left"),
    [("y\n", 0, "5 rows are erased.", 6), ("n\n", 1, "Nothing was erased.", 10), ("", 2, "--yes erases", 10)],
)
def test_it_asks_before_and_only_a_yes_erases(ledger: Path, answer: str, status: int, says: str, left: int) -> None:
    done = run(ledger, "forget", "bob", stdin=answer)
    assert "Erase all 5 rows of 'bob' for good?" in done.stderr
    assert (done.exit_code, says in done.output) == (status, True)
    assert len(kept(ledger)) == left
