"""The course secret: from it come the code of each student and the stream that draws their exercises.

Both are keyed hashes (HMAC-SHA256), so that nobody who has codes and sheets, but not the secret, can compute another
student's code, or the seed of an exercise, their own included.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from grader.codes import FIRST, LENGTH, LETTERS, written
from spec.stream import Stream

LEAST = 16  # characters
MOST = 4096  # bytes of a file that holds one


class BadSecret(ValueError):
    """A secret that cannot be used; the message is one sentence."""


class Secret:
    """A course secret, which never shows itself."""

    def __init__(self, value: bytes) -> None:
        """Take a secret.

        Raises:
            BadSecret: it is too short to be one.
        """
        if len(value) < LEAST:
            raise BadSecret(f"The course secret is shorter than {LEAST} characters; `openssl rand -hex 32` makes one.")
        self._value = value

    def code(self, identity: str, turn: int = 0) -> str:
        """Return the code of a student, such as `K7Q2-9XMD`; another `turn` gives another."""
        stream = self.stream("code", identity, turn)
        return written(stream.choice(FIRST) + "".join(stream.choice(LETTERS) for _ in range(LENGTH - 1)))

    def stream(self, *name: str | int) -> Stream:
        """Return the integers that belong to a name."""
        return Stream("keyed", self._hash("stream", *name).hex())

    @property
    def mark(self) -> str:
        """What tells this secret from another and gives neither away."""
        return self._hash("mark").hex()[:16]

    def _hash(self, *name: str | int) -> bytes:
        return hmac.digest(self._value, json.dumps(name).encode(), "sha256")


def find_secret(option: str | None, environ: Mapping[str, str], own: Path) -> Secret:
    """Return the secret: that of the file `option`, else GRADE_SECRET, else that in the file `own`, made if need be.

    Raises:
        BadSecret: there is none there, or it is too short.
        OSError: `own` cannot be read or made.
    """
    if option:
        return _read(Path(option))
    if environ.get("GRADE_SECRET"):
        return Secret(environ["GRADE_SECRET"].strip().encode("utf-8", "surrogateescape"))
    own.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not own.exists():
        _make(own)
    return _read(own)


def _make(own: Path) -> None:
    """Make a secret, unless somebody else does at the same moment; it is never there unfinished."""
    unfinished = own.with_name(f".{own.name}.{secrets.token_hex(4)}.unfinished")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(32)}\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(unfinished, own)
        except FileExistsError:
            return
        except OSError:  # a disk that has no links
            unfinished.replace(own)
    finally:
        unfinished.unlink(missing_ok=True)


def _read(path: Path) -> Secret:
    try:
        with path.open("rb") as file:
            content = file.read(MOST + 1)
    except (OSError, ValueError) as error:
        raise BadSecret(f"The secret {path} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    if len(content) > MOST:
        raise BadSecret(f"The file {path} is too long to be a secret.")
    return Secret(content.strip())
