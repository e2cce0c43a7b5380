"""One connection to the database of a ledger: all that is particular to SQLite, its locks and its files."""

# Names of tables and columns in a statement are our own, values are always bound.
# ruff: noqa: S608
# pathlib takes 4 ms to load, a tenth of what `import click` does; `grade submit` waits for both.
# ruff: noqa: PTH100, PTH103, PTH110, PTH112, PTH116, PTH118, PTH120, PTH123, PTH208

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from grader.ledger.errors import Kind, LedgerError, ledger_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_APPLICATION = 0x53525653  # "SRVS", by which `file` and we tell a ledger from other SQLite files
_MIGRATIONS = os.path.join(os.path.dirname(__file__), "migrations")


class Database:
    """An open connection in autocommit, and transactions on it. Every failure is a `LedgerError`."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self.path = path

    @classmethod
    def open(cls, path: str, timeout: float) -> Database:
        """Open the file, creating it and its folder, and bring its schema up to date.

        Args:
            path: the file.
            timeout: seconds to wait for other writers, here and in every later transaction.
        """
        # A name such as `:memory:` would be no file to SQLite.
        path = os.path.abspath(path)
        with _failures(path):
            try:
                _make_room(path)
                connection = sqlite3.connect(path, timeout=timeout, isolation_level=None)
            except ValueError as error:  # a NUL or a lone surrogate in the path
                raise LedgerError(Kind.UNOPENABLE, path, str(error)) from error
            try:
                _prepare(connection, path, timeout)
            except BaseException:
                connection.close()
                raise
        return cls(connection, path)

    def close(self) -> None:
        """Close the connection; the last one to close leaves all rows in the one file."""
        with _failures(self.path):
            self._connection.close()

    def read(self, sql: str, values: Sequence[str | int] = ()) -> Iterator[Any]:
        """Run a query and give its rows one at a time."""
        with _failures(self.path):
            for row in self._connection.execute(sql, values):  # noqa: UP028 - it would close the cursor, maybe too late
                yield row

    def first(self, sql: str, values: Sequence[str | int] = ()) -> Any:
        """Run a query and return its first row, None without one."""
        with _failures(self.path):
            return self._connection.execute(sql, values).fetchone()

    def insert(self, table: str, columns: Sequence[str], values: Sequence[str | int]) -> None:
        """Add a row, inside `transaction`."""
        marks = ", ".join("?" * len(columns))
        with _failures(self.path):
            self._connection.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)

    def count(self, tables: Sequence[str], student: str) -> int:
        """Return how many rows of a student the tables hold."""
        return sum(self.first(f"SELECT count(*) FROM {table} WHERE student = ?", (student,))[0] for table in tables)

    def erase(self, tables: Sequence[str], student: str) -> None:
        """Delete the rows of a student, inside `transaction`; the triggers allow it while `erasing` names them."""
        with _failures(self.path):
            self._connection.execute("INSERT INTO erasing (student) VALUES (?)", (student,))
            for table in tables:
                self._connection.execute(f"DELETE FROM {table} WHERE student = ?", (student,))
            self._connection.execute("DELETE FROM erasing WHERE student = ?", (student,))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write alone: nobody else writes meanwhile, all is durable after the block, nothing if it raises.

        One inside another is part of it.
        """
        if self._connection.in_transaction:
            yield
            return
        with _failures(self.path), _transaction(self._connection, "BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the ledger, whatever others write meanwhile."""
        with _failures(self.path), _transaction(self._connection, "BEGIN"):
            yield

    def scrub(self) -> None:
        """Overwrite what deleted rows left behind in the file and in its log."""
        with _failures(self.path):
            self._connection.execute("VACUUM")
            blocked, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if blocked:
            raise LedgerError(Kind.LOCKED, self.path, "another program still reads the erased rows")

    def damage(self) -> list[str]:
        """Return what SQLite finds wrong with the file's structure; nothing where it is sound."""
        with _failures(self.path):
            found = [str(line) for (line,) in self._connection.execute("PRAGMA integrity_check")]
            orphans = self._connection.execute("PRAGMA foreign_key_check").fetchall()
        return [line for line in found if line != "ok"] + [f"{o[0]} row {o[1]} was never posed" for o in orphans]


@contextmanager
def _failures(path: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise ledger_error(error, path) from error
    except UnicodeDecodeError as error:  # what SQLite says of a damaged schema quotes it
        raise LedgerError(Kind.CORRUPT, path, "text that is not UTF-8") from error


def _make_room(path: str) -> None:
    """Create the folder of the file, and refuse what SQLite would take for a file, such as a device."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        raise LedgerError(Kind.UNOPENABLE, path, "it is a folder" if os.path.isdir(path) else "it is not a file")


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite ends the transaction by itself after some failures, a full disk among them.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _prepare(connection: sqlite3.Connection, path: str, timeout: float) -> None:
    migrations = sorted(name for name in os.listdir(_MIGRATIONS) if name.endswith(".sql"))
    with _transaction(connection, "BEGIN"):
        version = _version(connection, path, len(migrations))
    _log_ahead(connection, timeout)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # on macOS a plain flush stops at the disk's own cache
    connection.execute("PRAGMA foreign_keys = ON")
    if version < len(migrations):
        _migrate(connection, path, migrations)


def _version(connection: sqlite3.Connection, path: str, known: int) -> int:
    """Return the schema's version, 0 for an empty file; refuse a file that we must not write."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != _APPLICATION:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application or version or tables:
            raise LedgerError(Kind.FOREIGN, path, f"application {application:#x}")
    if version > known:
        raise LedgerError(Kind.NEWER, path, f"its schema is {version}, this one knows {known}")
    return int(version)


def _log_ahead(connection: sqlite3.Connection, timeout: float) -> None:
    """Switch to the write-ahead log; SQLite does not wait for others here by itself."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _migrate(connection: sqlite3.Connection, path: str, migrations: list[str]) -> None:
    """Apply each missing migration in a transaction of its own, which another process may have done meanwhile."""
    for number, name in enumerate(migrations, start=1):
        with _transaction(connection, "BEGIN IMMEDIATE"):
            if _version(connection, path, len(migrations)) < number:
                with open(os.path.join(_MIGRATIONS, name), encoding="utf-8") as file:
                    for statement in _statements(file.read()):
                        connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {number}")


def _statements(script: str) -> Iterator[str]:
    """Split a script; `executescript` would commit on its own."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
