"""Numbers of a run in print."""

from __future__ import annotations

from fractions import Fraction

from spec.serving.metrics import Metrics, Spread
from spec.solving import Exact

ONE_DECIMAL, WHOLE = 10, 1000
ALMOST = Fraction(199, 2)  # percent that would be printed as all


def seconds(value: Exact) -> str:
    """Write a time: milliseconds under a second, else three figures of a second or all of its whole ones."""
    if 0 < value < 1:
        return f"{float(1000 * value):.3g} ms"
    return f"{_number(value)} s"


def share(value: Exact) -> str:
    """Write a share as a percentage."""
    percent = 100 * value
    if ALMOST <= percent < 100:  # noqa: PLR2004  all of it
        return "over 99 %"
    return f"{float(percent):.0f} %" if percent == 0 or percent >= ONE_DECIMAL else f"{float(percent):.2g} %"


def rate(value: Exact, unit: str) -> str:
    """Write a rate."""
    return f"{_number(value)} {unit}/s"


def often(number: int) -> str:
    """Write how often."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def count(number: int, one: str, many: str = "") -> str:
    """Write a number of things."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def rows(found: Metrics) -> dict[str, str]:
    """Return the metrics by what they are called in a table; what there is nothing to say of is left empty."""
    flight = found.requests - found.done - found.refused - found.lost - found.unserved
    table = {
        "requests": f"{found.requests:,}",
        "served": f"{found.done:,}",
        "lost": f"{found.lost:,}",
        "refused": f"{found.refused:,}",
        "still in flight": f"{flight:,}" if flight else "",
        "still waiting": f"{found.unserved:,}" if found.unserved else "",
        "out of memory": f"{found.out_of_memory:,}",
        "alerts at 90 %": f"{found.alerts:,}",
        "preemptions": f"{found.preemptions:,}",
        "tokens worked on again": f"{found.recomputed:,}",
    }
    for name, spread in {
        "wait": found.wait,
        "TTFT": found.ttft,
        "TPOT": found.tpot,
        "latency": found.latency,
    }.items():
        table |= _spread(name, spread)
    return table | {
        "time": seconds(found.seconds),
        "output": rate(found.token_rate, "tokens"),
        "requests served": rate(found.request_rate, "requests"),
        "in flight, mean": _number(found.concurrency),
        "slots used": share(found.occupancy),
        "padding": share(found.waste),
        "KV use, mean": share(found.kv_use),
        "KV use, peak": share(found.kv_peak),
        "time for prefill": share(found.prefill),
        "time for decode": share(found.decode),
        "time for both": share(found.mixed) if found.mixed else "",
        "time for swaps": share(found.swap) if found.swap else "",
        "time away": share(found.restart) if found.restart else "",
        "time idle": share(found.idle),
    }


def _spread(name: str, spread: Spread | None) -> dict[str, str]:
    if spread is None:
        return {}
    return {
        f"{name}, mean": seconds(spread.mean),
        f"{name}, median": seconds(spread.p50),
        f"{name}, p90": seconds(spread.p90),
        f"{name}, p99": seconds(spread.p99),
    }


def _number(value: Exact) -> str:
    return f"{float(value):,.0f}" if value >= WHOLE else f"{float(value):.3g}"
