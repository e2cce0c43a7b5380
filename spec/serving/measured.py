"""What remedies of a busy server came to when they were run: frozen, so that who reads it need not run them again.

`python -m tests.problems.measured` runs them, and a test runs some of them again.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from spec.serving.remedies import Deployment

FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Measured:
    """One server, what it gets, and what came of each remedy.

    Attributes:
        deployment: the server before any remedy.
        rate: requests per minute that arrive at random.
        p99: milliseconds within which 99 % of the first tokens came, in a run for each seed, by remedy that it has.
        tokens: output tokens per second of requests that are all there at the start, by remedy.
    """

    deployment: Deployment
    rate: int
    p99: dict[str, tuple[int, ...]]
    tokens: dict[str, int]


@cache
def measured() -> tuple[Measured, ...]:
    """Read everything that was run."""
    return tuple(_measured(row) for row in tomllib.loads(FILE.read_text(encoding="utf-8"))["circumstances"])


def _measured(row: dict[str, Any]) -> Measured:
    runs = row.pop("measured")
    return Measured(
        rate=row.pop("rate"),
        p99={remedy: tuple(run["p99"]) for remedy, run in runs.items()},
        tokens={remedy: run["tokens"] for remedy, run in runs.items()},
        deployment=Deployment(**{**row, "output": tuple(row["output"])}),
    )
