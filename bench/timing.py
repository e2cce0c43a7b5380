"""Timing and its tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

REPEATS = 5  # the best of so many is taken per item: what disturbs a run only ever adds


def microseconds(action: Callable[[], object]) -> float:
    """Return the best time of one call."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter_ns()
        action()
        best = min(best, time.perf_counter_ns() - start)
    return best / 1000


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table in aligned columns, the first to the left and the others to the right."""
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    lines = [
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in [columns, *rows]
    ]
    return "\n".join([title, *lines, ""])
