"""The keys of the families of prefill and decode."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Values = Mapping[str, Any]


def total(v: Values) -> Any:
    return v["wait"] + v["prefill_time"] + (v["output"] - 1) * v["tpot"]


KEYS: dict[str, dict[str, Callable[[Values], Any]]] = {
    "phase-ratio": {
        "phase_ratio": lambda v: v["prompt"] / (v["decode_rate"] * v["prefill_time"]),
        "prompt": lambda v: v["phase_ratio"] * v["prefill_time"] * v["decode_rate"],
        "prefill_time": lambda v: v["prompt"] / (v["decode_rate"] * v["phase_ratio"]),
        "decode_rate": lambda v: v["prompt"] / (v["phase_ratio"] * v["prefill_time"]),
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
