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


def step(v: Values) -> Any:
    heads = -(-int(v["kv_heads"]) // int(v["tensor_parallel"]))
    token = 2 * v["layers"] * heads * v["head_dim"] * v["kv_width"]
    read = v["weights"] / v["tensor_parallel"] + v["batch"] * v["context"] * token
    return read / (v["bandwidth"] * v["achieved_mbu"])


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
    "cost-chain": {
        "decode_step_time": step,
        "throughput": lambda v: v["batch"] / step(v),
        "cost_per_token": lambda v: v["gpus"] * v["gpu_price"] * step(v) / v["batch"],  # the price is one for a second
    },
}
