"""Worked numbers of the laws of batching, phases, load and scale, computed again by hand."""

from __future__ import annotations

from fractions import Fraction

from spec.invariants.example import KIB, Worked

SEVEN_B_PARAMETERS = 6_704_594_944  # the chapter's 7B by the 12 L H^2 rule

SERVING = (
    Worked(
        "cache_to_weights",
        {"context": 3072, "kv_bytes_per_token": 512 * KIB, "weights": 2 * SEVEN_B_PARAMETERS},
        Fraction(3072 * 512 * KIB, 2 * SEVEN_B_PARAMETERS),
        "the chapter's 7B at 3,072 tokens, about 0.12",
    ),
    Worked(
        "batching_gain",
        {"batch": 8, "cache_to_weights": Fraction(3, 25)},
        Fraction(32, 7),
        "the chapter's 4.6 times from eight at once",
    ),
    Worked(
        "latency_factor",
        {"batch": 8, "cache_to_weights": Fraction(3, 25)},
        Fraction(7, 4),
        "the chapter's batch of eight",
    ),
    Worked(
        "batching_limit", {"cache_to_weights": Fraction(3, 25)}, Fraction(28, 3), "the chapter's 7B at 3,072 tokens"
    ),
    Worked(
        "throughput", {"batch": 8, "decode_step_time": Fraction(1, 50)}, 400, "eight sequences at 50 tokens a second"
    ),
    Worked("decode_rate", {"decode_step_time": Fraction(1, 50)}, 50, "a step of 20 ms"),
    Worked(
        "cost_per_token",
        {"gpus": 2, "gpu_price": 9, "throughput": 1000},
        Fraction(1, 200_000),
        "two GPUs at 9 $ an hour: 5 $ for a million tokens",
    ),
    Worked(
        "prefill_cost_ratio",
        {
            "flops_per_token": 2 * SEVEN_B_PARAMETERS,
            "prompt": 4096,
            "prefill_attention_flops": 2 * 32 * 4096 * 4096**2,
        },
        Fraction(7418, 3453),
        "the chapter's 7B from 4,096 to 8,192 tokens, about 2.148",
    ),
)
