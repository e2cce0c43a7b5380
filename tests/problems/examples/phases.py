"""The families of prefill and decode, each on a worked example."""

from tests.problems.examples import Example

EXAMPLES: list[Example] = [
    (
        "phase-ratio",
        "prompt",
        {"prompt": (100,), "prefill_time": ("50 ms",), "decode_rate": (50,), "phase_ratio": (40,)},
        "100",
        {"times-exchanged": "16", "rate-for-time": "40", "prompt-of-another-example": "2000"},
    ),
    (
        "phase-ratio",
        "phase_ratio",
        {"prompt": (100,), "prefill_time": ("50 ms",), "decode_rate": (50,)},
        "40",
        {"thousand-tokens": "400", "sum-of-phases": "1.4", "ratio-inverted": "0.025", "prompt-forgotten": "0.4"},
    ),
    (
        "generation-metrics",
        "total_time",
        {"wait": ("0 ms",), "prefill_time": ("50 ms",), "tpot": ("20 ms/token",), "output": (100,)},
        "2030",
        {
            "first-token-decoded": "2050",
            "ttft-twice": "2080",
            "ttft-per-token": "7000",
            "ttft-forgotten": "1980",
            "output-over-rate": "2000",
        },
    ),
    (
        "generation-metrics",
        "break_even_output",
        {"wait": ("10 ms",), "prefill_time": ("50 ms",), "tpot": ("20 ms/token",), "output": (100,)},
        "4",
        {"first-token-decoded": "3", "rounded-down": "3", "not-rounded": "3.5", "tpot-in-s": "2"},
    ),
]
