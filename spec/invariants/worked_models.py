"""Worked numbers of experts, of quantised numbers, of windows and of a change of the model, computed again by hand."""

from __future__ import annotations

from fractions import Fraction

from spec.invariants.example import GB, Values, Worked

EXPERT_LAYERS: Values = {
    "layers": 32, "hidden": 4096, "vocab": 32_000, "tied": 0, "lm_head_bias": 0, "norm_vectors": 1,
    "norms_per_layer": 2, "position_embeddings": 0, "attention_parameters": 41_943_040, "shared_experts": 0,
    "expert_parameters": 176_160_768, "router_parameters": 32_768,
}  # fmt: skip
HALF_SLIDES: Values = {"layers": 24, "sliding_layers": 12, "sliding_window": 128, "kv_bytes_per_layer": 1}
MET = 12_879_925_248  # parameters that a token meets of Mixtral-8x7B

MODELS = (
    Worked(
        "parameters", {**EXPERT_LAYERS, "experts": 8}, 46_702_792_704, "Mixtral-8x7B, whose every layer has experts"
    ),
    Worked("active_parameters", {**EXPERT_LAYERS, "experts_per_token": 2}, MET, "two of the eight experts of Mixtral"),
    Worked("active_parameters", {"parameters": 8_030_261_248}, 8_030_261_248, "Llama-3-8B has no experts"),
    Worked("flops_per_token", {"active_parameters": MET}, 25_759_850_496, "Mixtral-8x7B"),
    Worked("active_weights", {"active_parameters": MET, "weight_bits": 16}, 25_759_850_496, "Mixtral-8x7B at 16 bits"),
    Worked(
        "decode_bytes",
        {"active_weights": 25_759_850_496, "cached_tokens": 1000, "kv_bytes_per_token": 131_072},
        25_890_922_496,
        "one sequence of 1,000 tokens on Mixtral-8x7B",
    ),
    Worked("active_weights_per_gpu", {"active_weights": 24 * GB, "tensor_parallel": 8}, 3 * GB, "24 GB on eight GPUs"),
    Worked(
        "decode_bytes_per_gpu",
        {"active_weights_per_gpu": 3 * GB, "cached_tokens": 1000, "kv_bytes_per_token_per_gpu": 16_384},
        3_016_384_000,
        "Mixtral-8x7B on eight GPUs, one sequence of 1,000 tokens",
    ),
    Worked(
        "weight_bits",
        {"stored_weight_bits": 4, "weight_group_bits": 20, "weight_group": 128},
        Fraction(133, 32),
        "4-bit weights in groups of 128 with a scale of 16 bits and a zero point of 4",
    ),
    Worked(
        "kv_width",
        {"stored_kv_bits": 8, "kv_group_bits": 16, "kv_group": 32},
        Fraction(17, 16),
        "q8_0: 34 bytes for 32 elements",
    ),
    Worked(
        "kv_bytes_per_layer",
        {"kv_lora_rank": 512, "qk_rope_dim": 64, "kv_width": 1, "latent_scale_width": 16, "rope_width": 2},
        656,
        "the fp8 latent cache of DeepSeek-V3 in public serving engines: 512 + 16 + 128 bytes",
    ),
    Worked("kv_bytes_per_token", {"layers": 61, "kv_bytes_per_layer": 656}, 40_016, "61 layers of 656 bytes"),
    Worked(
        "kv_bytes_per_token_per_gpu",
        {"layers": 24, "kv_bytes_per_layer_per_gpu": 512},
        12_288,
        "24 layers of 512 bytes",
    ),
    Worked(
        "concurrency",
        {**HALF_SLIDES, "kv_budget": 10**6, "context": 1000, "block_size": 16},
        73,
        "12 layers of 1,008 tokens in blocks and 12 of 128",
    ),
    Worked(
        "kv_bytes_per_sequence",
        {"blocks_per_sequence": 188, "kv_bytes_per_block": 2**21},
        188 * 2**21,
        "3,001 tokens of Llama-3-8B in blocks of 16",
    ),
    Worked(
        "token_capacity",
        {"kv_budget": 100, "block_size": 16, "kv_bytes_per_block": 16},
        96,
        "six whole blocks of 16 bytes in 100",
    ),
    Worked("kv_bytes_total", {"concurrency": 4, "kv_bytes_per_sequence": 2**31}, 2**33, "four caches of 2 GiB"),
    Worked(
        "sequences_per_gpu",
        {**HALF_SLIDES, "kv_budget": 10**6, "prompt": 800, "output": 200},
        73,
        "12 layers of 1,000 tokens and 12 of 128",
    ),
    Worked(
        "new_kv_budget",
        {"kv_budget": 54 * GB, "weights": 14 * GB, "new_weights": 16 * GB},
        52 * GB,
        "the chapter's 80 GB with weights of 16 GB for 14",
    ),
    Worked(
        "new_context",
        {"new_kv_budget": 52 * GB, "concurrency": 20, "new_kv_bytes_per_token": 819_200},
        3_173,
        "a 13B without grouped heads for the chapter's 7B",
    ),
    Worked(
        "new_concurrency",
        {"new_kv_budget": 52 * GB, "context": 4096, "new_kv_bytes_per_token": 131_072},
        96,
        "grouped heads for the chapter's 7B",
    ),
    Worked(
        "context_change",
        {
            "kv_budget": 54 * GB,
            "new_kv_budget": 27 * GB,
            "kv_bytes_per_token": 524_288,
            "new_kv_bytes_per_token": 131_072,
        },
        2,
        "half the budget and a quarter of the cache per token",
    ),
    Worked("mean_length", {"total_length": 4096, "batch": 8}, 512, "the batch of the lab"),
    Worked("padding_waste", {"mean_length": 512, "longest_length": 1024}, Fraction(1, 2), "the batch of the lab: half"),
    Worked(
        "prefill_cost_ratio",
        {"flops_per_token": 13_409_189_888, "attention_flops_per_pair": 262_144, "prompt": 51_152},
        3,
        "the chapter's 7B: exactly three times at P / (L H) tokens",
    ),
)
