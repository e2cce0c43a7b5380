"""Run by test_ledger_disk.py in a mount namespace of its own, on a disk that it may fill or make read-only.

`ledger_worker.py full FOLDER` and `ledger_worker.py read-only FOLDER` print one JSON object.
"""

import json
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.exercise import Exercise, Part
from grader.ledger import Ledger, LedgerError, Submission

EXERCISE = Exercise("ttft", 1, 3, "How long until the first token?", (), (Part("a", "ttft", "?", "count", "3", "ms"),))


def submit(ledger: Ledger, raw: str) -> Submission:
    return ledger.submit("ann", EXERCISE, "a", raw=raw, reading=raw, verdict="incorrect", score=Fraction(0))


def failure(action: Any) -> list[str]:
    try:
        action()
    except LedgerError as error:
        return [error.kind, str(error)]
    return ["none", ""]


def opened(path: Path) -> None:
    with Ledger.open(path, timeout=0.1) as ledger:
        submit(ledger, "1")


def fill_up(folder: Path) -> dict[str, Any]:
    """Submit until the disk is full, then open a second ledger there, then make room and go on."""
    path, filler = folder / "ledger.sqlite", folder / "filler"
    filler.write_bytes(b"x" * 1024 * 1024)
    opened(folder / "closed.sqlite")
    acknowledged: list[str] = []

    def on_and_on() -> None:
        with Ledger.open(path) as ledger:
            while True:
                acknowledged.append(submit(ledger, "x" * 2000).receipt)

    old = failure(on_and_on)
    with (folder / "rest").open("wb", buffering=0) as rest:
        failed = False
        while not failed:
            try:
                rest.write(b"x" * 4096)
            except OSError:
                failed = True
    closed = failure(lambda: opened(folder / "closed.sqlite"))
    new = failure(lambda: opened(folder / "new.sqlite"))
    filler.unlink()
    with Ledger.open(path) as ledger:
        acknowledged.append(submit(ledger, "after").receipt)
        kept = {row.receipt for row in ledger.submissions()}
        faults = [str(fault) for fault in ledger.verify()]
    lost = sorted(set(acknowledged) - kept)
    return {"old": old, "closed": closed, "new": new, "rows": len(acknowledged), "lost": lost, "faults": faults}


def make_read_only(folder: Path) -> dict[str, Any]:
    """Write a ledger, make its disk read-only, and try to write both to it and to a new one."""
    path = folder / "ledger.sqlite"
    opened(path)
    subprocess.run([shutil.which("mount") or "mount", "-o", "remount,ro", str(folder)], check=True)
    return {"old": failure(lambda: opened(path)), "new": failure(lambda: opened(folder / "deep" / "new.sqlite"))}


if __name__ == "__main__":
    result = {"full": fill_up, "read-only": make_read_only}[sys.argv[1]](Path(sys.argv[2]))
    sys.stdout.write(json.dumps(result))
