"""A ledger that cannot be used says so in one sentence; damage is noticed, and what is not ours is left alone."""

import errno
import os
import pickle
import random
import shutil
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from grader.exercise import Exercise, Part
from grader.ledger import Kind, Ledger, LedgerError, Row, Submission, database
from grader.ledger.errors import ledger_error

pytestmark = pytest.mark.law

EXERCISE = Exercise("ttft", 1, 3, "How long until the first token?", (), (Part("a", "ttft", "?", "count", "3", "ms"),))


def submit(ledger: Ledger, raw: str = "1") -> Submission:
    return ledger.submit("ann", EXERCISE, "a", raw=raw, reading=raw, verdict="incorrect", score=Fraction(0))


def used(path: Path) -> list[Row]:
    """Open a ledger, write to it, and return its rows."""
    with Ledger.open(path, timeout=0.05) as ledger:
        submit(ledger)
        return list(ledger.rows())


def failure(action: Callable[[], object], kind: str, path: Path, *words: str) -> None:
    with pytest.raises(LedgerError) as caught:
        action()
    check_sentence(str(caught.value), path)
    assert caught.value.kind == kind, caught.value
    assert all(word in str(caught.value) for word in words), caught.value


def check_sentence(text: str, path: Path) -> None:
    assert str(path) in text
    assert text[0].isupper()
    assert text.endswith(".")
    assert text.isprintable()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_one_sentence_with_the_place(kind: Kind) -> None:
    check_sentence(str(LedgerError(kind, "/data/ledger.sqlite", "for a reason")), Path("/data/ledger.sqlite"))


def test_an_error_survives_a_process_boundary() -> None:
    error = LedgerError(Kind.FULL, "/data/{ledger}.sqlite", "no space")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (copy.kind, copy.path, copy.detail, str(copy)) == (error.kind, error.path, error.detail, str(error))


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_PROTOCOL, "locked"),
        (sqlite3.SQLITE_IOERR_FSYNC, "failed"),
        (sqlite3.SQLITE_CORRUPT_VTAB, "corrupt"),
    ],
)
def test_what_sqlite_reports_has_a_kind(tmp_path: Path, code: int, kind: str) -> None:
    error = sqlite3.OperationalError("as SQLite says")
    error.sqlite_errorcode = code
    assert ledger_error(error, str(tmp_path / "ledger.sqlite")).kind == kind


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, "full"), (errno.EDQUOT, "full"), (errno.EROFS, "read-only"), (errno.EIO, "unopenable")],
)
def test_what_the_system_reports_has_a_kind(number: int, kind: str) -> None:
    assert ledger_error(OSError(number, os.strerror(number)), "/data/ledger.sqlite").kind == kind


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31m", "a\udcff"])
def test_a_path_that_cannot_be_printed_is_escaped(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(LedgerError) as caught:
        Ledger.open(tmp_path / name)
    assert str(caught.value).isprintable()


# --- locked ---


def test_another_writer_is_waited_for_and_then_named(path: Path) -> None:
    used(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    failure(lambda: used(path), "locked", path)
    other.close()
    assert len(used(path)) == 3


@pytest.mark.parametrize("new", [False, True])
def test_a_ledger_locked_by_one_program_alone_is_locked(path: Path, *, new: bool) -> None:
    if not new:
        used(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    failure(lambda: used(path), "locked", path)
    other.close()
    assert used(path)


# --- corrupt, foreign, newer ---


@pytest.mark.parametrize("content", [b"student;answer\n" * 100, b"\0" * 5000, bytes(range(256)) * 64, b"4\n"])
def test_a_file_that_is_no_database_is_named_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    failure(lambda: used(path), "corrupt", path)
    assert path.read_bytes() == content


def filled(path: Path) -> tuple[bytes, list[Row]]:
    with Ledger.open(path) as ledger:
        for number in range(20):
            submit(ledger, f"answer {number} " + "é" * 4 * number)
        ledger.record_help("ann", EXERCISE, "a", "hint", 1)
        ledger.submit("bob", EXERCISE, "a", raw="2", reading="2", verdict="correct", score=Fraction(1))
        ledger.forget("bob")
        written = list(ledger.rows())
    return path.read_bytes(), written


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.9, 0.999])
def test_a_truncated_ledger_is_corrupt(path: Path, share: float) -> None:
    content, _ = filled(path)
    path.write_bytes(content[: int(len(content) * share)])
    failure(lambda: used(path), "corrupt", path)


@pytest.mark.fuzz
@pytest.mark.parametrize("length", [1, 16, 4096])
def test_damage_anywhere_is_noticed_or_changes_nothing(path: Path, length: int) -> None:
    content, written = filled(path)
    draw = random.Random(length)  # noqa: S311 - drawn, not secret
    noticed = 0
    for _ in range(150):
        at = draw.randrange(len(content))
        path.write_bytes(content[:at] + draw.randbytes(length) + content[at + length :])
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        try:
            with Ledger.open(path, timeout=0.05) as ledger:
                ledger._database._connection.execute("PRAGMA synchronous = OFF")  # noqa: SLF001 - flushes take time
                sound = not ledger.verify()
                rows = list(ledger.rows())
                submit(ledger)
                ledger.posed("ann", "ttft", 3)
        except LedgerError as error:
            check_sentence(str(error), path)
            assert error.kind in {"corrupt", "foreign", "newer", "failed"}, error  # noqa: PT017 - any of them will do
            noticed += 1
        else:
            assert not sound or rows == written
            noticed += not sound
    assert noticed > 20


def test_a_damaged_index_is_noticed(path: Path) -> None:
    content, _ = filled(path)
    raw = sqlite3.connect(path)
    (page,) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'attempts'").fetchone()
    raw.close()
    start = (page - 1) * 4096
    index = content[start : start + 4096].replace(b"annttft", b"annttfu")
    path.write_bytes(content[:start] + index + content[start + 4096 :])
    with Ledger.open(path) as ledger:
        assert {fault.kind for fault in ledger.verify()} == {"file"}


def test_text_that_is_none_is_corrupt(path: Path) -> None:
    used(path)
    raw = sqlite3.connect(path)
    raw.execute("DROP TRIGGER submission_stays")
    raw.execute("UPDATE submission SET raw = CAST(x'ff' AS TEXT)")
    raw.commit()
    raw.close()
    failure(lambda: used(path), "corrupt", path)


def test_the_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (address TEXT)")
    other.commit()
    other.close()
    content = path.read_bytes()
    failure(lambda: used(path), "foreign", path)
    assert path.read_bytes() == content
    for setting in ("application_id", "user_version"):
        path.unlink()
        other = sqlite3.connect(path)
        other.execute(f"PRAGMA {setting} = 7")
        other.close()
        failure(lambda: used(path), "foreign", path)


def test_a_ledger_of_a_newer_version_is_refused(path: Path) -> None:
    used(path)
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.close()
    failure(lambda: used(path), "newer", path, "99")


# --- migrations ---


@pytest.fixture
def migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the migrations, to which a test adds its own."""
    folder = Path(shutil.copytree(database._MIGRATIONS, tmp_path / "migrations"))  # noqa: SLF001 - a seam for tests
    monkeypatch.setattr(database, "_MIGRATIONS", str(folder))
    return folder


def test_an_older_ledger_is_brought_up_to_date_and_keeps_its_rows(path: Path, migrations: Path) -> None:
    rows = used(path)
    (migrations / "0003_more.sql").write_text("CREATE TABLE more (a TEXT);\nCREATE TABLE most (b TEXT);\n")
    assert used(path)[:-1] == rows
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA user_version").fetchone() == (3,)
    assert raw.execute("SELECT count(*) FROM most").fetchone() == (0,)
    raw.close()


def test_a_ledger_of_the_first_version_keeps_its_rows(path: Path) -> None:
    rows = used(path)
    raw = sqlite3.connect(path)
    raw.executescript("DROP TABLE regrade; DROP TABLE amendment; PRAGMA user_version = 1;")
    raw.close()
    assert used(path)[:-1] == rows
    with Ledger.open(path) as ledger:
        assert list(ledger.marks()) == [(row, row) for row in ledger.submissions()]
        assert ledger.verify() == []


def test_a_migration_that_fails_changes_nothing(path: Path, migrations: Path) -> None:
    rows = used(path)
    broken = migrations / "0003_broken.sql"
    broken.write_text("CREATE TABLE more (a TEXT);\nCREATE TABLE posed (b TEXT);\n")
    failure(lambda: used(path), "corrupt", path)
    broken.unlink()
    assert used(path)[:-1] == rows


@pytest.mark.meta
def test_migrations_are_numbered_without_gaps_and_end_with_a_statement() -> None:
    files = sorted(Path(database._MIGRATIONS).iterdir())  # noqa: SLF001 - the folder is the list
    assert [int(file.name[:4]) for file in files] == list(range(1, len(files) + 1))
    assert all(sqlite3.complete_statement(file.read_text()) for file in files)
