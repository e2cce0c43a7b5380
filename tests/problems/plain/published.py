"""The keys of the families that ask what is most often published wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]


def each(v: Values) -> Any:
    return 2 * v["layers"] * v["head_dim"] * v.get("kv_heads", 1) * v.get("kv_width", 1)


KEYS = {
    "kv-per-sequence": {
        "kv_bytes_per_sequence": lambda v: each(v) * v["context"],
        "context": lambda v: v["kv_bytes_per_sequence"] / each(v),
        "kv_heads": lambda v: v["kv_bytes_per_sequence"] / (each(v) * v["context"]),
        "kv_width": lambda v: v["kv_bytes_per_sequence"] / (each(v) * v["context"]),
    }
}
