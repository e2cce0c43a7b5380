"""The families on where memory goes."""

from fractions import Fraction

from tests.problems.examples import Example
from tests.problems.examples.chapter import LLAMA_2_7B

EIGHTY = {"gpu_memory": ("80 GB",), "weights": ("14 GB",)}
TARGET = {**LLAMA_2_7B, **EIGHTY, "concurrency": (25,), "context": (4096,), "kv_width": ("2 B",)}
SHARES = {"activation_share_of_remaining": ("12 %",), "safety_share_of_total": ("5 %",)}

EXAMPLES: list[Example] = [
    (
        "weight-memory",
        "weights",
        {"parameters": (7_000_000_000,), "weight_bits": (16,)},
        "14",
        {
            "bits-as-bytes": "112",
            "answer-in-GiB": "13.039",
            "fp32-assumed": "28",
            "one-byte-assumed": "7",
            "billion-as-2-30": "15.032",
        },
    ),
    (
        "needed-memory",
        "gpu_memory",
        {**TARGET, **SHARES},
        str(Fraction("66.0070912") / Fraction("0.83")),  # 0.88 of 14 GB and 25 caches of 2.147 GB: 79.53 GB
        {
            "weights-forgotten": "64.68",
            "both-of-total": "81.55",
            "answer-in-GiB": "74.06",
            "reserves-forgotten": "67.69",
        },
    ),
    (
        # With small shares the next slip is too close to the key to be told from it: 79.19 GB above.
        "needed-memory",
        "gpu_memory",
        {**TARGET, "activation_share_of_remaining": ("20 %",), "safety_share_of_total": ("10 %",)},
        str(Fraction("64.8870912") / Fraction("0.7")),
        {"shares-added": "87.99", "one-after-the-other": "88.57", "margin-forgotten": "81.11"},
    ),
    (
        "memory-shares",
        "kv_budget",
        {**EIGHTY, "activation_share_of_total": ("10 %",), "safety_share_of_total": ("5 %",)},
        "54",
        {
            "activations-of-remaining": "55.4",
            "both-bases": "56.1",
            "one-after-the-other": "56.43",
            "of-the-weights": "63.9",
            "margin-forgotten": "58",
        },
    ),
    (
        "memory-shares",
        "kv_share",
        {**EIGHTY, "activation_share_of_remaining": ("10 %",), "safety_share_of_total": ("5 %",)},
        "69.25",
        {
            "share-of-remaining": "83.94",
            "both-of-remaining": "70.125",
            "reserved-share": "30.75",
            "margin-forgotten": "74.25",
        },
    ),
]
