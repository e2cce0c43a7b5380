"""The keys of the families behind the chapter's four computed exercises."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

Values = Mapping[str, Any]


def budget(v: Values) -> Any:
    return v["gpu_memory"] - v["weights"] - v["activations"] - v["safety_margin"]


def cache(v: Values) -> Any:
    if "kv_bytes_per_token" in v:
        return v["kv_bytes_per_token"]
    return 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"]


def largest(room: Any, each: Any) -> int | None:
    return None if room < 0 else int(room // each)


def service(v: Values) -> Any:
    return v["ttft"] + v["output"] / v["decode_rate"]


def on_one_gpu(v: Values) -> int | None:
    return largest(budget(v), (v["prompt"] + v["output"]) * cache(v))


def gpus(v: Values) -> int | None:
    held = on_one_gpu(v)
    return int(v["arrival_rate"] * service(v) // held) + 1 if held else None


def hidden(v: Values) -> Any:
    """The positive root of 12 L H^2 + 2 V H = P."""
    layers, vocab, parameters = (int(v[n]) for n in ("layers", "vocab", "parameters_approx"))
    return Fraction(math.isqrt(vocab**2 + 12 * layers * parameters) - vocab, 12 * layers)


def at_least(value: Any, low: Any) -> Any:
    return value if value >= low else None


def needed_share(v: Values) -> Any:
    return 2 * v["parameters"] * v["prefill_rate"] / v["compute"]


def in_service(v: Values, gpus: int) -> Any:
    """How many are in service on each GPU where steps read the caches of all of them; None: their number has no end."""
    rate, left = v["arrival_rate"] / gpus, v["bandwidth"] * v["mbu"]
    left *= 1 - rate * v["prefill_time"]
    if left <= 0:
        return None
    fixed = rate * (v["prefill_time"] + v["output"] * v["weights"] / left)
    slope = rate * v["output"] * v["context"] * v["kv_bytes_per_token"] / left
    return fixed / (1 - slope) if slope < 1 else None


def by_time(v: Values) -> int:
    held, gpus = on_one_gpu(v) or 0, 1
    while (found := in_service(v, gpus)) is None or found >= held:
        gpus += 1
    return gpus


MEMORY: dict[str, Callable[[Values], Any]] = {
    "concurrency": lambda v: largest(budget(v), v["context"] * cache(v)),
    "context": lambda v: largest(budget(v), v["concurrency"] * cache(v)) or None,  # a context has a token at least
    "gpu_memory": lambda v: (
        v["weights"] + v["activations"] + v["safety_margin"] + v["concurrency"] * v["context"] * cache(v)
    ),
    "activations": lambda v: at_least(
        v["gpu_memory"] - v["weights"] - v["safety_margin"] - v["concurrency"] * v["context"] * cache(v), 0
    ),
    "kv_bytes_per_token": lambda v: budget(v) / (v["concurrency"] * v["context"]) if budget(v) > 0 else None,
}
TTFT: dict[str, Callable[[Values], Any]] = {
    "ttft": lambda v: v["wait"] + v["prompt"] / v["prefill_rate"],
    "prompt": lambda v: at_least((v["ttft"] - v["wait"]) * v["prefill_rate"], 1),
    "prefill_rate": lambda v: v["prompt"] / (v["ttft"] - v["wait"]) if v["ttft"] > v["wait"] else None,
    "wait": lambda v: at_least(v["ttft"] - v["prompt"] / v["prefill_rate"], 0),
}
LOAD: dict[str, Callable[[Values], Any]] = {
    "mean_concurrency": lambda v: v["arrival_rate"] * service(v),
    "slots": lambda v: int(v["arrival_rate"] * service(v) // 1) + 1,
    "arrival_rate": lambda v: v["mean_concurrency"] / service(v),
    "service_time": lambda v: v["mean_concurrency"] / v["arrival_rate"],
    "decode_rate": lambda v: v["output"] / (v["mean_concurrency"] / v["arrival_rate"] - v["ttft"]),
    "sequences_per_gpu": on_one_gpu,
    "gpus": gpus,
}
KEYS: dict[str, dict[str, Callable[[Values], Any]]] = {
    "parameter-count": {
        "parameters_approx": lambda v: 12 * v["layers"] * v["hidden"] ** 2 + 2 * v["vocab"] * v["hidden"],
        "layers": lambda v: (v["parameters_approx"] - 2 * v["vocab"] * v["hidden"]) / (12 * v["hidden"] ** 2),
        "vocab": lambda v: (v["parameters_approx"] - 12 * v["layers"] * v["hidden"] ** 2) / (2 * v["hidden"]),
        "hidden": hidden,
    },
    "kv-per-token": {
        "kv_bytes_per_token": lambda v: 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"],
        "layers": lambda v: v["kv_bytes_per_token"] / (2 * v["kv_heads"] * v["head_dim"] * v["kv_width"]),
        "kv_heads": lambda v: v["kv_bytes_per_token"] / (2 * v["layers"] * v["head_dim"] * v["kv_width"]),
        "kv_width": lambda v: v["kv_bytes_per_token"] / (2 * v["layers"] * v["kv_heads"] * v["head_dim"]),
    },
    "max-concurrency": MEMORY,
    "max-context": MEMORY,
    "ttft": TTFT,
    "littles-law": LOAD,
    "gpu-count": LOAD,
    "exercise-1": {
        **MEMORY,
        "reaches_window": lambda v: "yes" if (MEMORY["context"](v) or 0) >= v["window"] else "no",
    },
    "exercise-2": {
        **TTFT,
        "required_mfu": needed_share,
        "verdict": lambda _: "impossible",  # 2.24 times the peak, see the part before
    },
    "exercise-3": {"batch": lambda _: None},  # 2 s against 0.5 s, whatever the batch
    "exercise-4": {
        **LOAD,
        "gpus_by_time": by_time,
        "limit": lambda _: "time",  # 3 GPUs against 1
    },
}
