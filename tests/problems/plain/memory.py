"""The keys of the families on where memory goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Values = Mapping[str, Any]


def base(v: Values, share: str, of: str) -> Any:
    """What a share is taken of."""
    if f"{share}_share_of_total" in v or of == "total":
        return v["gpu_memory"]
    left = v["gpu_memory"] - v["weights"]
    return left if left >= 0 else None


def reserve(v: Values, share: str) -> Any:
    whole = base(v, share, "")
    name = f"{share}_share_of_{'total' if f'{share}_share_of_total' in v else 'remaining'}"
    return None if whole is None else v[name] * whole


def left_for_cache(v: Values) -> Any:
    activations, margin = reserve(v, "activation"), reserve(v, "safety")
    if activations is None or margin is None:
        return None
    rest = v["gpu_memory"] - v["weights"] - activations - margin
    return rest if rest >= 0 else None


def share_of_cache(v: Values) -> Any:
    left = left_for_cache(v)
    return None if left is None else left / v["gpu_memory"]


def share(v: Values, reserved: str, other: str, of: str) -> Any:
    rest = v["gpu_memory"] - v["weights"] - reserve(v, other) - v["kv_budget"]
    return rest / base(v, reserved, of)


def cached(v: Values) -> Any:
    return v["concurrency"] * v["context"] * one_token(v)


def one_token(v: Values) -> Any:
    return 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"]


def by_shares(v: Values) -> Any:
    """The budget when activations are a share of what the weights leave and the margin one of the whole."""
    a, s = v["activation_share_of_remaining"], v["safety_share_of_total"]
    if a + s >= 1 or v["weights"] > v["gpu_memory"]:
        return None
    return (1 - a) * (v["gpu_memory"] - v["weights"]) - s * v["gpu_memory"]


def sequences(v: Values) -> int | None:
    budget = by_shares(v)
    return None if budget is None or budget < 0 else int(budget // (v["context"] * one_token(v)))


def needed(v: Values) -> Any:
    a, s = v["activation_share_of_remaining"], v["safety_share_of_total"]
    return None if a + s >= 1 else (v["weights"] * (1 - a) + cached(v)) / (1 - a - s)


def largest_activations(v: Values) -> Any:
    left = v["gpu_memory"] - v["weights"]
    rest = left - v["safety_share_of_total"] * v["gpu_memory"] - cached(v)
    return rest / left if left > 0 and rest >= 0 else None


def largest_margin(v: Values) -> Any:
    left = v["gpu_memory"] - v["weights"]
    rest = (1 - v["activation_share_of_remaining"]) * left - cached(v)
    return rest / v["gpu_memory"] if left >= 0 and rest >= 0 else None


KEYS: dict[str, dict[str, Callable[[Values], Any]]] = {
    "weight-memory": {
        "weights": lambda v: v["parameters"] * v["weight_bits"] / 8,
        "parameters": lambda v: 8 * v["weights"] / v["weight_bits"],
        "weight_bits": lambda v: 8 * v["weights"] / v["parameters"],
    },
    "needed-memory": {
        "gpu_memory": needed,
        "concurrency": sequences,
        "activation_share_of_remaining": largest_activations,
        "safety_share_of_total": largest_margin,
    },
    "memory-shares": {
        "kv_budget": left_for_cache,
        "kv_share": share_of_cache,
        "activations": lambda v: reserve(v, "activation"),
        "safety_margin": lambda v: reserve(v, "safety"),
        "activation_share_of_total": lambda v: share(v, "activation", "safety", "total"),
        "activation_share_of_remaining": lambda v: share(v, "activation", "safety", "remaining"),
        "safety_share_of_total": lambda v: share(v, "safety", "activation", "total"),
        "safety_share_of_remaining": lambda v: share(v, "safety", "activation", "remaining"),
        "weights": lambda v: v["gpu_memory"] - reserve(v, "activation") - reserve(v, "safety") - v["kv_budget"],
    },
}
