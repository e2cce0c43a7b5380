"""How long a durable row takes, beside the disk's own flush and an open of the ledger: `python -m bench.ledger`."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from grader.exercise import Exercise, Given, Part, SlipValue, Step
from grader.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 2000
OPENS = 100
PAGE = 4096  # bytes, as SQLite writes them
EXERCISE = Exercise(
    family="max-context",
    revision=1,
    seed=7,
    statement="An A100 with 80 GB serves a model of 13.0 billion parameters at 16 bits to 12 sequences. " * 4,
    givens=tuple(Given(f"given_{n}", f"g_{n}", "80", "GB", "what it means") for n in range(8)),
    parts=(
        Part(
            "a",
            "context",
            "What is the longest context?",
            "count",
            "2807",
            "token",
            slips=tuple(SlipValue(f"slip-{n}", "A sentence on what went wrong.", str(5000 + n)) for n in range(12)),
            steps=tuple(Step(f"law_{n}", f"quantity_{n}", "54000000000", "B") for n in range(6)),
        ),
    ),
)


def times(action: Callable[[], object], count: int) -> list[float]:
    """Return how long each of `count` calls took, in milliseconds, shortest first."""
    spent = []
    for _ in range(count):
        start = time.perf_counter()
        action()
        spent.append((time.perf_counter() - start) * 1000)
    return sorted(spent)


def line(name: str, spent: list[float]) -> str:
    """Return a line of the table: median, 99th percentile and number per second."""
    total = sum(spent) / 1000
    return f"{name:34} {spent[len(spent) // 2]:9.3f} {spent[len(spent) * 99 // 100]:9.3f} {len(spent) / total:11.0f}"


def measure(folder: Path) -> list[str]:
    """Measure on the disk of `folder`, one process, everything in turn, and return the lines of the table."""
    path = folder / "ledger.sqlite"
    flushes: list[float] = []
    rows: list[float] = []

    def submit(ledger: Ledger) -> None:
        ledger.submit(
            "ann",
            EXERCISE,
            "a",
            raw="5615 tokens",
            reading="5615 tokens",
            verdict="incorrect",
            score=Fraction(0),
            slips=["forgot-the-values"],
        )

    def command() -> None:
        with Ledger.open(path) as ledger:
            submit(ledger)

    descriptor = os.open(folder / "flush", os.O_RDWR | os.O_CREAT | os.O_APPEND)

    def flush() -> None:
        os.write(descriptor, bytes(PAGE))
        os.fsync(descriptor)

    seeds = iter(range(ROWS))
    with Ledger.open(path) as ledger:
        # In turns, so that whatever else the machine does meets both.
        for _ in range(10):
            flushes += times(flush, ROWS // 10)
            rows += times(lambda: submit(ledger), ROWS // 10)
        posed = times(lambda: ledger.pose(f"student {next(seeds)}", EXERCISE), ROWS // 10)
        verified = times(ledger.verify, 5)
    os.close(descriptor)
    return [
        f"{'':34} {'median ms':>9} {'p99 ms':>9} {'per second':>11}",
        line(f"flush of {PAGE} bytes", sorted(flushes)),
        line("submission, durable", sorted(rows)),
        line("posed exercise, durable", posed),
        line("open, submission, close", times(command, OPENS)),
        line("open, close", times(lambda: Ledger.open(path).close(), OPENS)),
        line(f"verify, {ROWS + ROWS // 10 + 1} rows", verified),
    ]


def run(folder: str = ".") -> str:
    """Return the table for the disk of a folder."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        return "\n".join(["Durable rows (goal: 0.2 ms)", *measure(Path(made)), ""])


if __name__ == "__main__":
    sys.stdout.write(run(*sys.argv[1:2]))
