"""What was acknowledged survives a kill at any moment, and processes that write at once do not disturb each other.

A kill leaves the system's own cache alone; that a commit is also flushed to the disk is checked in test_ledger.py.
"""

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

import pytest

from grader.exercise import Exercise, Part
from grader.ledger import Ledger, Submission

pytestmark = [
    pytest.mark.law,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that start in a millisecond"),
]

EXERCISE = Exercise("ttft", 1, 3, "How long until the first token?", (), (Part("a", "ttft", "?", "count", "3", "ms"),))
ROUNDS = 200
ROUNDS_PER_LEDGER = 10  # so that kills meet new ledgers and grown ones


def submit(ledger: Ledger, student: str, raw: str) -> Submission:
    return ledger.submit(
        student, EXERCISE, "a", raw=raw, reading=raw, verdict="incorrect", score=Fraction(0), slips=["s"]
    )


def started(work: Callable[[int], None]) -> tuple[int, int]:
    """Fork a process that runs `work` with the writing end of a pipe; return its id and the reading end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.close(reading)
        work(writing)
        status = 0
    finally:
        os._exit(status)


def ended(child: int, reading: int) -> tuple[int, list[str]]:
    """Wait for a process; return its status and the lines that it wrote."""
    with os.fdopen(reading) as lines:
        written = lines.read().split()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), written


def submit_for_ever(path: Path, writing: int) -> NoReturn:
    """Acknowledge each receipt once its row is recorded; close and open again now and then, as commands do."""
    while True:
        with Ledger.open(path) as ledger:
            for number in range(7):
                row = submit(ledger, "ann", str(number))
                os.write(writing, f"{row.receipt}\n".encode())


def acknowledge_too_early(path: Path, writing: int) -> NoReturn:
    """The same with the one mistake that matters: acknowledge just before the commit."""
    receipt = ""

    def watch(statement: str) -> None:
        nonlocal receipt
        if statement.startswith("INSERT INTO submission"):
            receipt = statement.rstrip("')")[-12:]
        elif statement == "COMMIT" and receipt:
            os.write(writing, f"{receipt}\n".encode())

    while True:
        with Ledger.open(path) as ledger:
            ledger._database._connection.set_trace_callback(watch)  # noqa: SLF001 - breaks what the test is about
            for number in range(7):
                submit(ledger, "ann", str(number))


def killed(work: Callable[[Path, int], NoReturn], path: Path, delay: float) -> list[str]:
    """Let a process submit, kill it after `delay` seconds, and return the receipts that it acknowledged."""
    child, reading = started(lambda writing: work(path, writing))
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    status, receipts = ended(child, reading)
    assert status == -signal.SIGKILL
    return receipts


def lost(path: Path, receipts: list[str]) -> set[str]:
    with Ledger.open(path) as ledger:
        assert ledger.verify() == []
        kept = {row.receipt for row in ledger.submissions()}
    return set(receipts) - kept


@pytest.fixture
def longest(tmp_path: Path) -> float:
    """How long to wait for a kill, in seconds: as this disk takes to create a ledger and record some rows."""
    start = time.monotonic()
    with Ledger.open(tmp_path / "timed.sqlite") as ledger:
        for _ in range(10):
            submit(ledger, "ann", "1")
    return min(max(time.monotonic() - start, 0.04), 0.2)


def test_no_acknowledged_submission_is_lost_by_a_kill_at_any_moment(tmp_path: Path, longest: float) -> None:
    moments = random.Random(20)  # noqa: S311 - drawn, not secret
    acknowledged: list[int] = []
    for round_ in range(ROUNDS):
        path = tmp_path / f"{round_ // ROUNDS_PER_LEDGER}.sqlite"
        receipts = killed(submit_for_ever, path, moments.uniform(0, longest))
        assert not lost(path, receipts), f"round {round_}"
        acknowledged.append(len(receipts))
    assert sum(acknowledged) > ROUNDS // 4, "the kills came too early to prove anything"


@pytest.mark.meta
def test_an_acknowledgement_before_the_commit_would_be_noticed(tmp_path: Path, longest: float) -> None:
    moments = random.Random(20)  # noqa: S311 - drawn, not secret
    path = tmp_path / "ledger.sqlite"
    for _ in range(ROUNDS):
        if lost(path, killed(acknowledge_too_early, path, moments.uniform(0.01, longest))):
            return
    pytest.fail("no kill of a process that acknowledges too early lost a row")


def submit_some(path: Path, writing: int, student: str, count: int, *, anew: bool) -> None:
    """Submit `count` answers, opening the ledger once or `anew` for each, and write each attempt number."""
    while count:
        with Ledger.open(path) as ledger:
            for _ in range(1 if anew else count):
                row = submit(ledger, student, "1")
                os.write(writing, f"{row.attempt}\n".encode())
                count -= 1


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize(("processes", "rounds"), [(2, 25), (4, 6)])
def test_processes_that_submit_at_once_all_succeed_with_distinct_attempts(
    tmp_path: Path, processes: int, rounds: int, *, anew: bool
) -> None:
    each = 4
    for round_ in range(rounds):
        path = tmp_path / f"{round_}.sqlite"  # new, so that all create it at once
        children = [started(lambda w: submit_some(path, w, "ann", each, anew=anew)) for _ in range(processes)]  # noqa: B023
        results = [ended(*child) for child in children]
        assert [status for status, _ in results] == [0] * processes
        attempts = sorted(int(attempt) for _, written in results for attempt in written)
        assert attempts == list(range(1, processes * each + 1))
        with Ledger.open(path) as ledger:
            assert ledger.verify() == []


def test_an_exercise_posed_by_two_processes_at_once_is_recorded_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger.open(path).close()

    def hold(writing: int) -> None:
        """Keep both from writing until both have seen that the exercise is new."""
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        os.write(writing, b"held\n")
        time.sleep(0.2)

    def pose(writing: int) -> None:
        with Ledger.open(path) as ledger:
            os.write(writing, f"{ledger.pose('ann', EXERCISE)}\n".encode())

    holder, reading = started(hold)
    os.read(reading, 5)
    assert sorted(ended(*child)[1] for child in [started(pose), started(pose)]) == [["False"], ["True"]]
    assert ended(holder, reading)[0] == 0
