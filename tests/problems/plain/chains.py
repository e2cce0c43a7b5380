"""The keys of the families whose parts follow from each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.problems.plain.chapter import budget, cache, gpus, largest, on_one_gpu

Values = Mapping[str, Any]


def left(v: Values) -> Any:
    return budget(v) if budget(v) >= 0 else None


def prefill(v: Values) -> Any:
    return v["prompt"] / v["prefill_rate"]


def in_service(v: Values) -> Any:
    return v["wait"] + prefill(v) + v["output"] / v["decode_rate"]


KEYS: dict[str, dict[str, Callable[[Values], Any]]] = {
    "capacity-chain": {
        "kv_budget": left,
        "token_capacity": lambda v: largest(budget(v), cache(v)),
        "sequences_per_gpu": on_one_gpu,
        "gpus": gpus,
    },
    "latency-chain": {
        "prefill_time": prefill,
        "ttft": lambda v: v["wait"] + prefill(v),
        "service_time": in_service,
        "mean_concurrency": lambda v: v["arrival_rate"] * in_service(v),
    },
}
