"""Worked numbers of one model on a group of GPUs, computed again by hand."""

from __future__ import annotations

from fractions import Fraction

from spec.invariants.example import GB, Values, Worked

PART = 17_638_426_624  # bytes of Llama-3-70B on each of eight GPUs: 70,553,706,496 parameters of 2 bytes
BUDGET = 62_361_573_376  # what that leaves of 80 GB
NEEDS: Values = {"weights_per_gpu": PART, "activations": 0, "safety_margin": 0}
H100: Values = {"compute": 989 * 10**12, "bandwidth": 3350 * GB, "mfu": 1, "mbu": 1}
LLAMA = "Llama-3-70B on eight GPUs of 80 GB"
ON_H100 = "Llama-3-70B on eight H100"

GROUP = (
    Worked("kv_budget", {"gpu_memory": 80 * GB, **NEEDS}, BUDGET, LLAMA),
    Worked("kv_budget", {"gpu_memory": 80 * GB, **NEEDS, "weights_per_gpu": 81 * GB}, None, "too large a part"),
    Worked(
        "kv_budget",
        {
            "gpu_memory_reported": 85 * GB,
            "memory_utilization": Fraction(9, 10),
            "weights_per_gpu": 17 * GB,
            "activations": 2 * GB,
            "runtime_memory": GB,
        },
        Fraction(113, 2) * GB,
        "0.9 of 85 GB less 20 GB",
    ),
    Worked(
        "activations",
        {"activation_share_of_remaining": Fraction(1, 10), "gpu_memory": 80 * GB, "weights_per_gpu": 18 * GB},
        Fraction(31, 5) * GB,
        "a tenth of the 62 GB that 18 leave",
    ),
    Worked(
        "safety_margin",
        {"safety_share_of_remaining": Fraction(1, 20), "gpu_memory": 80 * GB, "weights_per_gpu": 18 * GB},
        Fraction(31, 10) * GB,
        "a twentieth of the 62 GB that 18 leave",
    ),
    Worked("kv_budget_of_group", {"tensor_parallel": 8, "kv_budget": 62 * GB}, 496 * GB, "eight times 62 GB"),
    Worked(
        "kv_bytes_per_token_per_gpu",
        {"layers": 61, "kv_lora_rank": 512, "qk_rope_dim": 64, "kv_width": 2},
        70_272,
        "DeepSeek-V3: the same on every GPU",
    ),
    Worked(
        "kv_bytes_per_layer_per_gpu",
        {"kv_heads": 8, "tensor_parallel": 4, "head_dim": 64, "kv_width": 2, "scale_width": 0},
        512,
        "gpt-oss on four GPUs: two heads of 64 elements each",
    ),
    Worked("token_capacity", {"kv_budget": BUDGET, "kv_bytes_per_token_per_gpu": 40_960}, 1_522_499, LLAMA),
    Worked("concurrency", {"kv_budget": BUDGET, "context": 8192, "kv_bytes_per_token_per_gpu": 40_960}, 185, LLAMA),
    Worked(
        "concurrency",
        {"kv_budget": 100, "context": 17, "block_size": 16, "kv_bytes_per_token_per_gpu": 1},
        3,
        "two blocks of 16 for each sequence",
    ),
    Worked(
        "concurrency",
        {
            "kv_budget": 10**6,
            "context": 1000,
            "layers": 24,
            "sliding_layers": 12,
            "sliding_window": 128,
            "kv_bytes_per_layer_per_gpu": 1,
        },
        73,
        "12 layers of 1,000 tokens and 12 of 128",
    ),
    Worked(
        "group_size",
        {
            "weights": 8 * PART,
            "activations": 0,
            "safety_margin": 0,
            "cached_tokens": 65_536,
            "kv_heads": 8,
            "kv_bytes_per_token": 327_680,
            "gpu_memory": 80 * GB,
        },
        3,
        "Llama-3-70B with eight sequences of 8,192 tokens: 81.3 GB each on two GPUs, 55.1 GB on three",
    ),
    Worked("prefill_flops_per_gpu", {"prefill_flops": 16, "tensor_parallel": 8}, 2, "an eighth of the operations"),
    Worked("decode_flops_per_gpu", {"decode_flops": 16, "tensor_parallel": 8}, 2, "an eighth of the operations"),
    Worked(
        "prefill_bytes_per_gpu",
        {"weights_per_gpu": PART, "prompt": 1000, "kv_bytes_per_token_per_gpu": 40_960},
        PART + 40_960_000,
        LLAMA,
    ),
    Worked(
        "decode_bytes_per_gpu",
        {"weights_per_gpu": PART, "cached_tokens": 1000, "kv_bytes_per_token_per_gpu": 40_960},
        PART + 40_960_000,
        LLAMA,
    ),
    Worked(
        "prefill_time",
        {"prefill_flops_per_gpu": 989 * 10**11, "prefill_bytes_per_gpu": 18 * GB, **H100},
        Fraction(1, 10),
        ON_H100,
    ),
    Worked(
        "decode_step_time",
        {"decode_flops_per_gpu": GB, "decode_bytes_per_gpu": 335 * GB // 10, "communication_time": 0, **H100},
        Fraction(1, 100),
        ON_H100,
    ),
    Worked(
        "achieved_mfu",
        {"prefill_flops_per_gpu": 989 * 10**11, "prefill_time": Fraction(1, 4), "compute": 989 * 10**12},
        Fraction(2, 5),
        "a tenth of a second of work in a quarter",
    ),
    Worked(
        "achieved_mbu",
        {"decode_bytes_per_gpu": 20 * GB, "decode_step_time": Fraction(1, 100), "bandwidth": 3350 * GB},
        Fraction(40, 67),
        "20 GB on each of a group of H100 in 10 ms",
    ),
)
