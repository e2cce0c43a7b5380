"""The keys of the families of prefill and decode."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Values = Mapping[str, Any]


def total(v: Values) -> Any:
    return v["wait"] + v["prefill_time"] + (v["output"] - 1) * v["tpot"]


def work(v: Values, n: Any) -> Any:
    """The operations of a prefill: the matrices, and causal attention over half of the square."""
    return 2 * v["parameters"] * n + 2 * v["layers"] * v["heads"] * v["head_dim"] * n * n


def traffic(v: Values, n: Any) -> Any:
    return v["weights"] + n * v["kv_bytes_per_token"]


def reading(v: Values, n: Any) -> Any:
    return traffic(v, n) / (v["bandwidth"] * v["mbu"])


def prefill(v: Values, n: Any) -> Any:
    return max(work(v, n) / (v["compute"] * v["mfu"]), reading(v, n))


def step(v: Values, batch: Any) -> Any:
    """The longer of the arithmetic of a step and of its reading."""
    flops = batch * (2 * v["parameters"] + 4 * v["layers"] * v["heads"] * v["head_dim"] * v["context"])
    return max(flops / (v["compute"] * v["mfu"]), reads(v, batch) / (v["bandwidth"] * v["mbu"]))


def reads(v: Values, batch: Any) -> Any:
    return v["weights"] + batch * v["context"] * v["kv_bytes_per_token"]


def at_the_peak(v: Values, peak: str) -> Any:
    """The bandwidth, or the share of it, with which a step fits its target; `peak` is the other one."""
    flops = v["batch"] * (2 * v["parameters"] + 4 * v["layers"] * v["heads"] * v["head_dim"] * v["context"])
    fast = flops / (v["compute"] * v["mfu"]) <= v["tpot_target"]
    found = reads(v, v["batch"]) / (v["tpot_target"] * v[peak])
    return found if fast and held(v) and (peak == "mbu" or found <= 1) else None


def held(v: Values) -> bool:
    return bool(v["batch"] * v["context"] * v["kv_bytes_per_token"] <= v["kv_budget"])


def last(holds: Callable[[int], bool]) -> int | None:
    """The last whole number from 1 on for which something still holds."""
    if not holds(1):
        return None
    low, high = 1, 2
    while holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def reached(v: Values) -> Any:
    """The share of the peak that a time reaches, where the traffic fits that time too."""
    share = work(v, v["prompt"]) / (v["compute"] * v["prefill_time"])
    return share if share <= 1 and reading(v, v["prompt"]) <= v["prefill_time"] else None


KEYS: dict[str, dict[str, Callable[[Values], Any]]] = {
    "phase-ratio": {
        "phase_ratio": lambda v: v["prompt"] / (v["decode_rate"] * v["prefill_time"]),
        "prompt": lambda v: v["phase_ratio"] * v["prefill_time"] * v["decode_rate"],
        "prefill_time": lambda v: v["prompt"] / (v["decode_rate"] * v["phase_ratio"]),
        "decode_rate": lambda v: v["prompt"] / (v["phase_ratio"] * v["prefill_time"]),
    },
    "prefill-time": {
        "prefill_time": lambda v: prefill(v, v["prompt"]),
        "prompt": lambda v: last(lambda n: prefill(v, n) <= v["ttft_target"] - v["wait"]),
        "mfu": reached,
        "compute": lambda v: (
            work(v, v["prompt"]) / (v["mfu"] * v["prefill_time"])
            if reading(v, v["prompt"]) <= v["prefill_time"]
            else None
        ),
    },
    "decode-step": {
        "decode_step_time": lambda v: step(v, v["batch"]) if held(v) else None,
        "decode_rate": lambda v: 1 / step(v, v["batch"]) if held(v) else None,
        "throughput": lambda v: v["batch"] / step(v, v["batch"]) if held(v) else None,
        "batch": lambda v: last(lambda batch: step(v, batch) <= v["tpot_target"]),
        "bandwidth": lambda v: at_the_peak(v, "mbu"),
        "mbu": lambda v: at_the_peak(v, "bandwidth"),
    },
    "generation-metrics": {
        "total_time": total,
        "decode_share": lambda v: (v["output"] - 1) * v["tpot"] / total(v),
        "decode_rate": lambda v: 1 / v["tpot"],
        "break_even_output": lambda v: math.ceil(v["prefill_time"] / v["tpot"]) + 1,
        "output": lambda v: (v["total_time"] - v["wait"] - v["prefill_time"]) / v["tpot"] + 1,
        "tpot": lambda v: (v["total_time"] - v["wait"] - v["prefill_time"]) / (v["output"] - 1),
    },
}
