"""The families of prefill and decode, each on a worked example."""

from tests.problems.examples import Example

CHAPTER_7B = {
    "layers": (32,),
    "heads": (32,),
    "head_dim": (128,),
    "parameters": (6_704_594_944,),
    "kv_bytes_per_token": (524_288,),
}
A100 = {"compute": ("312 TFLOP/s",), "bandwidth": ("2.039 TB/s",)}

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
    (
        # The chapter's 7B with 4,000 tokens. Where the weights are read for every token, and for the memory floor, the
        # cache that is written counts too: 26.305 and 0.0066 s would be the weights of 13.409 GB alone.
        "prefill-time",
        "prefill_time",
        {**CHAPTER_7B, **A100, "weights": ("14 GB",), "mfu": ("0.4",), "mbu": ("1",), "prompt": (4000,)},
        "18825216/40625",
        {
            "one-operation": "248.50",
            "multiply-add-as-one": "231.69",
            "sparse-peak": "231.69",
            "full-efficiency": "185.36",
            "weights-per-token": "27464.44",
            "attention-forgotten": "429.78",
            "memory-floor-only": "7.89",
            "times-added": "471.28",
        },
    ),
    (
        # One sequence of 4,096 tokens; its arithmetic alone would give 19,300 tokens/s with attention, 22,286 without.
        "decode-step",
        "decode_rate",
        {
            **CHAPTER_7B,
            **A100,
            "parameters": (7 * 10**9,),
            "weights": ("14 GB",),
            "mfu": ("1",),
            "mbu": ("1",),
            "batch": (1,),
            "concurrency": (1,),
            "context": (4096,),
            "kv_budget": ("54 GB",),
        },
        "3982421875/31538054",
        {
            "cache-unread": "145.6",
            "weights-per-sequence": "145.6",
            "smaller-part-of-the-gpu": "96.3",
            "compute-only": "19321.9",
            "operations-of-the-matrices": "22285.7",
            "weights-in-GiB": "118.7",
            "one-layer-cached": "144.9",
        },
    ),
]
