"""Why a ledger cannot be used: the kind, the place, and the sentence made of them."""

# pathlib takes 4 ms to load, a tenth of what `import click` does; `grade submit` waits for both.
# ruff: noqa: PTH110, PTH120

from __future__ import annotations

import errno
import os
import sqlite3
from enum import StrEnum


class Kind(StrEnum):
    """What is wrong with a ledger; `FAILED` is the rest, such as a broken disk."""

    LOCKED = "locked"
    READ_ONLY = "read-only"
    CORRUPT = "corrupt"
    FULL = "full"
    NEWER = "newer"
    FOREIGN = "foreign"
    UNOPENABLE = "unopenable"
    FAILED = "failed"


_SENTENCES = {
    Kind.LOCKED: "The ledger {path} is locked by another program; close that program or try again.",
    Kind.READ_ONLY: "The ledger {path} is read-only ({detail}); make it writable, or name another with --ledger.",
    Kind.CORRUPT: "The ledger {path} is damaged or is no ledger ({detail}); "
    "restore a copy of it, or move it away to begin a new one.",
    Kind.FULL: "There is no space left for the ledger {path}, so nothing was recorded; "
    "free some and do it again. What was recorded before is safe.",
    Kind.NEWER: "The ledger {path} was written by a newer servespec ({detail}); "
    "update servespec, or name another with --ledger.",
    Kind.FOREIGN: "The file {path} is not a ledger but the database of another program; name another with --ledger.",
    Kind.UNOPENABLE: "The ledger {path} cannot be opened ({detail}); name another with --ledger.",
    Kind.FAILED: "The ledger {path} cannot be used ({detail}); check the disk, or name another with --ledger.",
}
_KINDS = {
    sqlite3.SQLITE_BUSY: Kind.LOCKED,
    sqlite3.SQLITE_LOCKED: Kind.LOCKED,
    sqlite3.SQLITE_PROTOCOL: Kind.LOCKED,
    sqlite3.SQLITE_READONLY: Kind.READ_ONLY,
    sqlite3.SQLITE_CORRUPT: Kind.CORRUPT,
    sqlite3.SQLITE_NOTADB: Kind.CORRUPT,
    # Every statement is fixed and fits the schema, so one that SQLite cannot compile means that the schema is damaged.
    sqlite3.SQLITE_ERROR: Kind.CORRUPT,
    sqlite3.SQLITE_FULL: Kind.FULL,
    sqlite3.SQLITE_CANTOPEN: Kind.UNOPENABLE,
}
_ERRNO_KINDS = {errno.EROFS: Kind.READ_ONLY, errno.ENOSPC: Kind.FULL, errno.EDQUOT: Kind.FULL}
_LEAST_SPACE = 64 * 1024  # bytes; what SQLite could not get at once, 32 KiB, is a disk error to it and not a full disk


class LedgerError(Exception):
    """The ledger cannot be used. `str()` is one sentence: what is wrong, where, and what to do.

    Attributes:
        kind: what is wrong.
        path: the ledger's file.
        detail: what the system said.
    """

    def __init__(self, kind: Kind, path: str, detail: str = "") -> None:
        super().__init__(kind, path, detail)
        self.kind = kind
        self.path = path
        self.detail = detail

    def __str__(self) -> str:
        return _SENTENCES[self.kind].format(path=_printable(self.path), detail=_printable(self.detail))


def _printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)[1:-1]


def ledger_error(error: sqlite3.Error | OSError, path: str) -> LedgerError:
    """Return what `error` means for the user of the ledger at `path`."""
    if isinstance(error, OSError):
        return LedgerError(_ERRNO_KINDS.get(error.errno or 0, Kind.UNOPENABLE), path, error.strerror or str(error))
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        if isinstance(error, sqlite3.OperationalError):  # found by Python and not by SQLite
            return LedgerError(Kind.CORRUPT, path, "text that is not UTF-8")
        return LedgerError(Kind.FAILED, path, str(error))
    primary = code & 0xFF
    if primary in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}:
        return _obstacle(path) or LedgerError(_KINDS.get(primary, Kind.FAILED), path, str(error))
    return LedgerError(_KINDS.get(primary, Kind.FAILED), path, str(error))


def _obstacle(path: str) -> LedgerError | None:
    """Look for the cause that SQLite does not report; without opening the file, which would drop SQLite's locks."""
    folder = os.path.dirname(path)
    causes = (
        (os.path.exists(path) and not os.access(path, os.R_OK), Kind.UNOPENABLE, "no permission to read it"),
        (not os.access(folder, os.X_OK), Kind.UNOPENABLE, "no permission to enter its folder"),
        (not os.access(folder, os.W_OK), Kind.READ_ONLY, "no permission to write in its folder"),
        (_space(folder) < _LEAST_SPACE, Kind.FULL, "no space left"),
    )
    return next((LedgerError(kind, path, detail) for found, kind, detail in causes if found), None)


def _space(folder: str) -> int:
    """Return the bytes left on the disk of `folder`; plenty where the system does not tell."""
    try:
        disk = os.statvfs(folder)
    except (AttributeError, OSError):
        return _LEAST_SPACE
    return disk.f_bavail * disk.f_frsize
