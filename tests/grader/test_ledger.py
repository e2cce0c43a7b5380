"""What a ledger keeps, counts, refuses and forgets."""

# Statements are made of the names of our own tables.
# ruff: noqa: S608

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from grader import __version__
from grader.exercise import Exercise, Given, Part, SlipValue
from grader.ledger import Amendment, Erasure, Help, Ledger, LedgerError, Posed, Regrade, Row, Submission

pytestmark = pytest.mark.law

TABLES: dict[str, type[Row]] = {
    "posed": Posed, "submission": Submission, "help": Help, "amendment": Amendment, "regrade": Regrade,
    "erasure": Erasure,
}  # fmt: skip


def exercise(seed: int = 7, revision: int = 1, statement: str = "An A100 serves a model.") -> Exercise:
    part = Part("a", "context", "How long?", "count", "2807", "token", slips=(SlipValue("halved", "Half.", "1403"),))
    return Exercise("max-context", revision, seed, statement, (Given("gpu_memory", "M", "80", "GB"),), (part,))


def answer(
    ledger: Ledger, student: str = "ann", seed: int = 7, part: str = "a", verdict: str = "incorrect", raw: str = "5615"
) -> Submission:
    return ledger.submit(
        student, exercise(seed), part, raw=raw, reading=raw, verdict=verdict, score=Fraction(1, 3), slips=["halved"]
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "servespec" / "ledger.sqlite"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger.open(path) as opened:
        yield opened


def test_the_first_record_of_an_exercise_stays(ledger: Ledger) -> None:
    assert ledger.pose("ann", exercise(statement="first"))
    assert not ledger.pose("ann", exercise(statement="second"))
    assert ledger.posed("ann", "max-context", 7) == exercise(statement="first")


def test_an_exercise_is_posed_to_one_student_only(ledger: Ledger) -> None:
    ledger.pose("ann", exercise())
    assert ledger.posed("bob", "max-context", 7) is None
    assert ledger.pose("bob", exercise())


def test_the_latest_revision_is_meant_unless_one_is_named(ledger: Ledger) -> None:
    for revision in (2, 10, 9):
        ledger.pose("ann", exercise(revision=revision))
    assert ledger.posed("ann", "max-context", 7) == exercise(revision=10)
    assert ledger.posed("ann", "max-context", 7, revision=2) == exercise(revision=2)
    assert ledger.posed("ann", "max-context", 7, revision=3) is None


def test_submitting_poses_what_was_never_posed(ledger: Ledger) -> None:
    answer(ledger)
    assert ledger.posed("ann", "max-context", 7) == exercise()


def test_invalid_submissions_use_no_attempt(ledger: Ledger) -> None:
    verdicts = ("invalid", "incorrect", "invalid", "invalid", "partial", "correct")
    assert [answer(ledger, verdict=verdict).attempt for verdict in verdicts] == [0, 1, 1, 1, 2, 3]


def test_attempts_count_for_each_student_exercise_and_part_alone(ledger: Ledger) -> None:
    others = ({"student": "bob"}, {"seed": 8}, {"part": "b"})
    assert [answer(ledger, **other).attempt for other in ({}, *others, {}, *others)] == [1] * 4 + [2] * 4


def test_attempts_of_another_revision_begin_anew(ledger: Ledger) -> None:
    answer(ledger)
    newer = ledger.submit(
        "ann", exercise(revision=2), "a", raw="1", reading="1", verdict="correct", score=Fraction(1), slips=()
    )
    assert newer.attempt == 1


def test_submissions_are_given_oldest_first_of_what_is_named(ledger: Ledger) -> None:
    rows = [answer(ledger, student, seed, part) for student in ("ann", "bob") for seed in (7, 8) for part in ("a", "b")]
    assert list(ledger.submissions()) == rows
    assert list(ledger.submissions("bob")) == rows[4:]
    assert list(ledger.submissions(seed=8, part="b")) == [rows[3], rows[7]]
    assert list(ledger.submissions("ann", "max-context", 7, "a")) == rows[:1]
    assert list(ledger.submissions(family="ttft")) == []


def again(ledger: Ledger, row: Submission, verdict: str = "correct") -> Regrade:
    return ledger.regrade(row, reading="5615 tokens", verdict=verdict, score=Fraction(1), slips=["s"], reason="Wider.")


def test_a_mark_is_the_last_that_an_answer_got_and_the_old_ones_stay(ledger: Ledger) -> None:
    rows = [answer(ledger), answer(ledger, "bob"), answer(ledger)]
    assert list(ledger.marks()) == [(row, row) for row in rows]
    again(ledger, rows[0], "partial")
    last = again(ledger, rows[0])
    assert list(ledger.marks("ann")) == [(rows[0], last), (rows[2], rows[2])]
    assert list(ledger.marks("bob")) == [(rows[1], rows[1])]
    assert list(ledger.submissions()) == rows
    assert [row.verdict for row in ledger.rows("ann") if isinstance(row, Regrade)] == ["partial", "correct"]
    assert ledger.verify() == []


def test_an_exercise_is_judged_by_its_newest_record_and_the_first_one_stays(ledger: Ledger) -> None:
    ledger.pose("ann", exercise())
    assert not ledger.amend("ann", exercise(), "The same.")
    newer = exercise(statement="An A100 serves one model.")
    assert ledger.amend("ann", newer, "Clearer.")
    assert not ledger.amend("ann", newer, "Clearer.")
    assert ledger.posed("ann", "max-context", 7) == newer
    assert [row.exercise for row in ledger.posings("ann")] == [exercise()]
    assert ledger.amend("ann", exercise(), "Back.")
    assert ledger.posed("ann", "max-context", 7) == exercise()
    assert ledger.verify() == []


def test_a_tolerance_of_a_set_is_recorded_with_the_answer_that_it_judged(ledger: Ledger) -> None:
    wide = replace(exercise(), parts=(replace(exercise().parts[0], tolerance_of="set"),))
    for record in (exercise(), wide, wide, exercise()):
        ledger.submit("ann", record, "a", raw="1", reading="1", verdict="correct", score=Fraction(1))
        assert ledger.posed("ann", "max-context", 7) == record
    assert sum(isinstance(row, Amendment) for row in ledger.rows()) == 2


def test_help_is_kept_for_each_part(ledger: Ledger) -> None:
    taken = [ledger.record_help("ann", exercise(), "a", "hint", level) for level in (1, 2)]
    taken.append(ledger.record_help("ann", exercise(), "a", "solution", 1))
    ledger.record_help("ann", exercise(), "b", "hint", 1)
    assert ledger.help("ann", exercise(), "a") == taken
    assert ledger.help("bob", exercise(), "a") == []


def test_every_row_is_numbered_dated_and_signed_by_a_version(ledger: Ledger) -> None:
    before = datetime.now(UTC)
    answer(ledger)
    ledger.record_help("ann", exercise(), "a", "hint", 1)
    answer(ledger, "bob")
    rows = list(ledger.rows())
    assert [type(row) for row in rows] == [Posed, Submission, Help, Posed, Submission]
    assert [row.number for row in rows] == [1, 2, 3, 4, 5]
    assert {row.version for row in rows} == {__version__}
    assert all(before <= row.utc <= datetime.now(UTC) and row.utc.utcoffset() == timedelta(0) for row in rows)
    assert list(ledger.rows("ann")) == rows[:3]


def test_no_two_rows_share_a_receipt(ledger: Ledger) -> None:
    for _ in range(3):
        answer(ledger)
        answer(ledger, "bob")
    receipts = [row.receipt for row in ledger.rows()]
    assert len(set(receipts)) == len(receipts) == 8
    assert all(len(receipt) == 12 and int(receipt, 16) >= 0 for receipt in receipts)


def test_the_columns_are_the_fields(ledger: Ledger, path: Path) -> None:
    ledger.pose("ann", exercise())
    with sqlite3.connect(path) as raw:
        for table, row in TABLES.items():
            assert tuple(column[1] for column in raw.execute(f"PRAGMA table_info({table})")) == row._fields
    raw.close()


def test_the_log_is_written_ahead_and_flushed_before_a_commit_returns(ledger: Ledger) -> None:
    connection = ledger._database._connection  # noqa: SLF001 - each connection has its own setting
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    settings = [
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("synchronous", "fullfsync", "foreign_keys")
    ]
    assert settings == [(2,), (1,), (1,)]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a ledger with some rows of every kind; written once, for flushes take their time."""
    path = tmp_path_factory.mktemp("filled") / "ledger.sqlite"
    with Ledger.open(path) as ledger:
        for student in ("ann", "bob", "eve"):
            for _ in range(3):
                answer(ledger, student)
            ledger.record_help(student, exercise(), "a", "hint", 1)
            ledger.amend(student, exercise(statement="Clearer."), "It was unclear.")
            again(ledger, next(ledger.submissions(student)))
        ledger.forget("eve")
        answer(ledger, "bob")
    return path.read_bytes()


@pytest.fixture
def filled(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("table", TABLES)
def test_no_row_is_changed_or_deleted_behind_the_ledgers_back(filled: Path, table: str) -> None:
    raw = sqlite3.connect(filled)
    for statement in (f"UPDATE {table} SET version = '9'", f"DELETE FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError, match="only grows"):
            raw.execute(statement)
    raw.close()


def test_no_two_submissions_share_an_attempt(filled: Path) -> None:
    raw = sqlite3.connect(filled)
    columns = ", ".join(Submission._fields[1:])
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        raw.execute(f"INSERT INTO submission (number, {columns}) SELECT number + 100, {columns} FROM submission")
    raw.close()


def tampered(path: Path, *statements: str) -> list[str]:
    """Run statements without triggers and checks, and return the kinds of fault that the ledger then sees in itself."""
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA synchronous = OFF")
    raw.execute("PRAGMA ignore_check_constraints = ON")
    for (trigger,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        raw.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        assert raw.execute(statement).rowcount == 1
    raw.commit()
    raw.close()
    with Ledger.open(path) as ledger:
        return [fault.kind for fault in ledger.verify()]


def test_a_ledger_as_it_was_written_has_no_fault(filled: Path) -> None:
    assert tampered(filled) == []


COLUMNS = [(table, column) for table, row in TABLES.items() for column in row._fields]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
@pytest.mark.parametrize("change", ["{0} || '9'", "12345", "x'ff'"])
def test_a_change_to_any_column_of_any_row_is_noticed(filled: Path, table: str, column: str, change: str) -> None:
    if column == "number":
        change = "number + 1000"
    newest = f"(SELECT max(number) FROM {table})"
    assert tampered(filled, f"UPDATE {table} SET {column} = {change.format(column)} WHERE number = {newest}")


@pytest.mark.parametrize("table", TABLES)
def test_a_lost_row_is_noticed(filled: Path, table: str) -> None:
    oldest = f"(SELECT min(number) FROM {table})"
    kind = "file" if table in {"posed", "submission"} else "count"  # what hangs on a lost row points nowhere
    assert kind in tampered(filled, f"DELETE FROM {table} WHERE number = {oldest}")


def test_two_answers_that_changed_places_are_noticed(filled: Path) -> None:
    first, second = 2, 3
    moves = [f"UPDATE submission SET number = {b} WHERE number = {a}" for a, b in ((first, 99), (second, 2), (99, 3))]
    assert tampered(filled, *moves) == ["row", "row", "row"]


def test_an_erasure_that_was_left_half_done_is_noticed(filled: Path) -> None:
    assert tampered(filled, "INSERT INTO erasing VALUES ('ann')") == ["erasing"]


def test_a_forgotten_student_leaves_a_count_and_no_byte(path: Path) -> None:
    names = [f"student-{number}-Zoë" for number in range(20)]
    with Ledger.open(path) as ledger:
        # Some builds of SQLite overwrite what is deleted, others leave it lying in the file.
        ledger._database._connection.execute("PRAGMA secure_delete = OFF")  # noqa: SLF001
        for round_ in range(8):
            for name in names:
                answer(ledger, name, raw=f"my answer {round_} is {name} " * (1 + 3 * round_))
        ledger.record_help(names[3], exercise(), "a", "hint", 1)
        kept = [row for row in ledger.rows() if not isinstance(row, Erasure) and row.student != names[3]]
        assert ledger.forget(names[3]) == 10
        *rows, erasure = ledger.rows()
        assert rows == kept
        assert isinstance(erasure, Erasure)
        assert (erasure.number, erasure.erased) == (10 + len(kept) + 1, 10)
        assert ledger.verify() == []
        for file in path.parent.iterdir():
            assert names[3].encode() not in file.read_bytes(), file
            assert names[4].encode() in path.read_bytes()


def test_who_was_forgotten_begins_anew_and_nobody_elses_count_changes(ledger: Ledger) -> None:
    for student in ("ann", "bob", "ann"):
        answer(ledger, student)
    assert (ledger.forget("ann"), ledger.forget("ann"), ledger.forget("nobody")) == (3, 0, 0)
    assert answer(ledger).attempt == 1
    assert answer(ledger, "bob").attempt == 2
    assert ledger.forget("ann") == 2
    assert sum(isinstance(row, Erasure) for row in ledger.rows()) == 2
    assert ledger.verify() == []
    assert len(list(ledger.rows())) == len({row.number for row in ledger.rows()})


def test_an_erasure_waits_for_no_reader_for_ever_and_can_be_finished_later(path: Path) -> None:
    with Ledger.open(path, timeout=0.05) as ledger:
        answer(ledger, "ann")
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM posed").fetchall()
        with pytest.raises(LedgerError) as caught:
            ledger.forget("ann")
        assert caught.value.kind == "locked"
        reader.close()
        assert ledger.forget("ann") == 0
        assert b"max-context" not in path.read_bytes()


def test_a_verdict_that_is_none_is_refused_and_leaves_nothing(ledger: Ledger) -> None:
    with pytest.raises(LedgerError) as caught:
        answer(ledger, verdict="perhaps")
    assert caught.value.kind == "failed"
    assert list(ledger.rows()) == []
    assert answer(ledger).number == 2


def test_the_ledger_loads_next_to_nothing() -> None:
    code = (
        "import sys, click; before = set(sys.modules); import grader.ledger; print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    own = {name for name in loaded if name.startswith("grader")}
    assert {name.partition(".")[0] for name in loaded} - own <= {
        *(
            "__future__",
            "_blake2",
            "_decimal",
            "_json",
            "_numbers",
            "_sqlite3",
            "copy",
            "dataclasses",
            "decimal",
            "errno",
        ),
        *(
            "fractions",
            "grader",
            "json",
            "math",
            "numbers",
            "sqlite3",
            "weakref",
            "_weakrefset",
            "datetime",
            "_datetime",
        ),
    }
