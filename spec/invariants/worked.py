"""Worked numbers: the few examples with a known answer that a formula is checked against after all sentences.

The givens and answers are those of the chapter's own examples and of public models, computed again by hand.
"""

from __future__ import annotations

from fractions import Fraction

from spec.invariants.example import GB, KIB, Values, Worked
from spec.invariants.worked_group import GROUP
from spec.invariants.worked_models import MODELS
from spec.invariants.worked_serving import SERVING

SEVEN_B: Values = {"layers": 32, "hidden": 4096, "vocab": 32_000}
LLAMA_3_8B: Values = {
    "layers": 32, "hidden": 4096, "vocab": 128_256, "tied": 0, "lm_head_bias": 0, "norm_vectors": 1,
    "norms_per_layer": 2, "position_embeddings": 0, "attention_parameters": 41_943_040,
    "feed_forward_parameters": 176_160_768,
}  # fmt: skip
MIXTRAL: Values = {
    "layers": 32, "hidden": 4096, "vocab": 32_000, "tied": 0, "lm_head_bias": 0, "norm_vectors": 1,
    "norms_per_layer": 2, "position_embeddings": 0, "attention_parameters": 41_943_040,
    "feed_forward_parameters": 176_160_768, "dense_layers": 0, "shared_experts": 0, "expert_parameters": 176_160_768,
    "router_parameters": 32_768,
}  # fmt: skip
A100: Values = {"compute": 312 * 10**12, "bandwidth": 2039 * GB, "mfu": 1, "mbu": 1}

WORKED = (
    Worked("parameters_approx", SEVEN_B, 6_704_594_944, "the chapter's 7B"),
    Worked("parameters", LLAMA_3_8B, 8_030_261_248, "tensors of Llama-3-8B as published"),
    Worked(
        "attention_parameters",
        {
            "hidden": 4096,
            "heads": 32,
            "kv_heads": 8,
            "head_dim": 128,
            "qkv_bias": 0,
            "o_bias": 0,
            "qk_norm": 0,
            "attention_sinks": 0,
        },
        41_943_040,
        "tensors of one layer of Llama-3-8B as published",
    ),
    Worked(
        "feed_forward_parameters",
        {"hidden": 4096, "intermediate": 14_336, "gated": 1, "mlp_bias": 0},
        176_160_768,
        "tensors of one layer of Llama-3-8B as published",
    ),
    Worked(
        "attention_parameters",
        {
            "hidden": 7168,
            "heads": 128,
            "q_lora_rank": 1536,
            "kv_lora_rank": 512,
            "qk_nope_dim": 128,
            "qk_rope_dim": 64,
            "v_head_dim": 128,
        },
        187_107_328,
        "tensors of one layer of DeepSeek-V3 as published",
    ),
    Worked(
        "attention_parameters",
        {
            "hidden": 2048,
            "heads": 16,
            "kv_lora_rank": 512,
            "qk_nope_dim": 128,
            "qk_rope_dim": 64,
            "v_head_dim": 128,
        },
        13_763_072,
        "tensors of one layer of DeepSeek-V2-Lite as published",
    ),
    Worked(
        "expert_parameters",
        {"hidden": 7168, "moe_intermediate": 2048, "gated": 1, "mlp_bias": 0},
        44_040_192,
        "tensors of one expert of DeepSeek-V3 as published",
    ),
    Worked(
        "router_parameters",
        {"hidden": 4096, "experts": 8, "router_bias": 0},
        32_768,
        "router of one layer of Mixtral-8x7B as published",
    ),
    Worked("parameters", {**MIXTRAL, "experts": 8}, 46_702_792_704, "tensors of Mixtral-8x7B as published"),
    Worked(
        "active_parameters", {**MIXTRAL, "experts_per_token": 2}, 12_879_925_248, "the 12.9 B of the Mixtral report"
    ),
    Worked("weights", {"parameters": 7 * GB, "weight_bits": 16}, 14 * GB, "the chapter's 7B in fp16"),
    Worked(
        "kv_bytes_per_token",
        {"layers": 32, "kv_heads": 32, "head_dim": 128, "kv_width": 2},
        512 * KIB,
        "the chapter's 7B in fp16",
    ),
    Worked(
        "kv_bytes_per_token",
        {"layers": 32, "kv_heads": 8, "head_dim": 128, "kv_width": 2},
        128 * KIB,
        "Llama-3-8B in fp16",
    ),
    Worked(
        "kv_bytes_per_token_approx",
        {"layers": 32, "hidden": 4096, "kv_width": 2},
        512 * KIB,
        "the chapter's 7B in fp16",
    ),
    Worked(
        "kv_bytes_per_token",
        {"layers": 60, "kv_lora_rank": 512, "qk_rope_dim": 64, "kv_width": 2},
        69_120,
        "DeepSeek-V2, technical report",
    ),
    Worked(
        "kv_bytes_per_layer",
        {"kv_heads": 8, "head_dim": 128, "kv_width": 1, "scale_width": 4},
        2112,
        "Llama-3-8B in eight bits with an fp32 scale for each key and value of a head",
    ),
    Worked(
        "kv_bytes_per_layer",
        {"kv_lora_rank": 512, "qk_rope_dim": 64, "kv_width": 2},
        1152,
        "DeepSeek-V2, technical report",
    ),
    Worked(
        "kv_bytes_per_sequence",
        {"context": 20, "layers": 6, "sliding_layers": 5, "sliding_window": 8, "kv_bytes_per_layer": 2},
        120,
        "five sliding layers to a full one, as in Gemma 3",
    ),
    Worked(
        "kv_bytes_per_sequence",
        {
            "context": 20,
            "layers": 6,
            "sliding_layers": 5,
            "sliding_window": 10,
            "kv_bytes_per_layer": 2,
            "block_size": 16,
        },
        224,
        "five sliding layers to a full one, as in Gemma 3, in blocks of 16",
    ),
    Worked(
        "concurrency",
        {
            "context": 8192,
            "layers": 32,
            "sliding_layers": 32,
            "sliding_window": 4096,
            "kv_bytes_per_layer": 4096,
            "kv_budget": 54 * GB,
        },
        100,
        "Mistral-7B-v0.1 in the chapter's budget",
    ),
    Worked(
        "kv_bytes_per_sequence", {"context": 4096, "kv_bytes_per_token": 512 * KIB}, 2**31, "the chapter's 4K context"
    ),
    Worked(
        "kv_budget",
        {
            "memory_utilization": Fraction(9, 10),
            "gpu_memory_reported": 7922,
            "weights": 1496,
            "activations": 126,
            "runtime_memory": 179,
        },
        Fraction(26_644, 5),
        "Llama-3-8B on an H100 in hundredths of a GiB, vllm-project/vllm#10511",
    ),
    Worked(
        "hidden_activations",
        {"batch": 1, "prompt": 4096, "hidden": 4096, "activation_width": 2},
        32 * 2**20,
        "4,096 tokens of the chapter's 7B in fp16",
    ),
    Worked(
        "feed_forward_activations",
        {"batch": 1, "prompt": 4096, "intermediate": 11_008, "activation_width": 2},
        86 * 2**20,
        "4,096 tokens of Llama-2-7B in fp16",
    ),
    Worked(
        "logit_bytes",
        {"batch": 1, "prompt": 4096, "vocab": 32_000, "logit_width": 4},
        524_288_000,
        "4,096 positions of Llama-2-7B in fp32",
    ),
    Worked(
        "score_bytes",
        {"batch": 1, "heads": 32, "prompt": 4096, "activation_width": 2},
        2**30,
        "one layer of Llama-2-7B at 4,096 tokens in fp16",
    ),
    Worked(
        "kv_bytes_total", {"cached_tokens": 40_960, "kv_bytes_per_token": 512 * KIB}, 20 * 2**30, "ten contexts of 4K"
    ),
    Worked("cached_tokens", {"concurrency": 10, "context": 4096}, 40_960, "ten contexts of 4K"),
    Worked("cached_tokens", {"batch": 8, "context": 3072}, 24_576, "the batch of eight of the lab"),
    Worked(
        "kv_budget",
        {"gpu_memory": 80 * GB, "weights": 14 * GB, "activations": 8 * GB, "safety_margin": 4 * GB},
        54 * GB,
        "the chapter's partition of 80 GB",
    ),
    Worked(
        "kv_budget",
        {"gpu_memory": 80 * GB, "weights": 138 * GB, "activations": 8 * GB, "safety_margin": 0},
        None,
        "a 70B model on one 80 GB GPU",
    ),
    Worked(
        "activations",
        {"gpu_memory": 80 * GB, "activation_share_of_total": Fraction(1, 10)},
        8 * GB,
        "a tenth of 80 GB",
    ),
    Worked(
        "activations",
        {"gpu_memory": 80 * GB, "weights": 14 * GB, "activation_share_of_remaining": Fraction(1, 10)},
        66 * GB // 10,
        "a tenth of what 14 GB leave of 80 GB",
    ),
    Worked("safety_margin", {"gpu_memory": 80 * GB, "safety_share_of_total": Fraction(1, 20)}, 4 * GB, "5 % of 80 GB"),
    Worked(
        "safety_margin",
        {"gpu_memory": 80 * GB, "weights": 14 * GB, "safety_share_of_remaining": Fraction(1, 20)},
        33 * GB // 10,
        "5 % of what 14 GB leave of 80 GB",
    ),
    Worked(
        "kv_budget",
        {
            "gpu_memory": 80 * GB,
            "weights": 14 * GB,
            "activation_share_of_remaining": Fraction(1, 10),
            "safety_share_of_total": Fraction(1, 20),
        },
        554 * GB // 10,
        "10 % of the rest and 5 % of the whole of 80 GB",
    ),
    Worked("kv_share", {"kv_budget": 54 * GB, "gpu_memory": 80 * GB}, Fraction(27, 40), "the chapter's 54 of 80 GB"),
    Worked("token_capacity", {"kv_budget": 54 * GB, "kv_bytes_per_token": 512 * KIB}, 102_996, "the chapter's 54 GB"),
    Worked(
        "concurrency",
        {"kv_budget": 54 * GB, "kv_bytes_per_token": 512 * KIB, "context": 4096},
        25,
        "the chapter's 54 GB in decimal units",
    ),
    Worked(
        "context",
        {"kv_budget": 46 * GB, "kv_bytes_per_token": 800 * KIB, "concurrency": 20},
        2807,
        "the chapter's exercise 1 with the cache of Llama-2-13B",
    ),
    Worked("blocks_per_sequence", {"context": 4097, "block_size": 16}, 257, "one token over 256 blocks of 16"),
    Worked("kv_bytes_per_block", {"block_size": 16, "kv_bytes_per_token": 512 * KIB}, 2**23, "blocks of 16 of the 7B"),
    Worked(
        "concurrency",
        {"kv_budget": 54 * GB, "kv_bytes_per_block": 2**23, "context": 4097, "block_size": 16},
        25,
        "the chapter's 54 GB in blocks of 16",
    ),
    Worked("attention_scores_per_head", {"context": 4096}, 16_777_216, "the chapter's 4K context"),
    Worked("causal_scores_per_head", {"context": 4096}, 8_390_656, "the chapter's 4K context"),
    Worked(
        "attention_scores_per_layer",
        {"heads": 32, "attention_scores_per_head": 16_777_216},
        536_870_912,
        "the chapter's 7B",
    ),
    Worked("attention_scores", {"layers": 32, "attention_scores_per_layer": 536_870_912}, 2**34, "the chapter's 7B"),
    Worked("flops_per_token", {"parameters": 7 * GB}, 14 * GB, "two operations for each of 7B parameters"),
    Worked(
        "prefill_attention_flops",
        {"layers": 32, "heads": 32, "head_dim": 128, "prompt": 1000},
        262_144 * 10**6,
        "the chapter's 7B over 1,000 tokens",
    ),
    Worked(
        "prefill_flops",
        {"flops_per_token": 14 * GB, "prompt": 1000, "prefill_attention_flops": 262_144 * 10**6},
        14_262_144 * 10**6,
        "the chapter's 7B over 1,000 tokens",
    ),
    Worked(
        "prefill_bytes",
        {"weights": 14 * GB, "prompt": 1000, "kv_bytes_per_token": 512 * KIB},
        14_524_288_000,
        "the chapter's 7B over 1,000 tokens",
    ),
    Worked(
        "prefill_time",
        {"prefill_flops": 156 * 10**12, "prefill_bytes": 2039 * 10**8, **A100},
        Fraction(1, 2),
        "half a second of arithmetic on an A100",
    ),
    Worked(
        "decode_attention_flops",
        {"layers": 32, "heads": 32, "head_dim": 128, "cached_tokens": 4096},
        2**31,
        "the chapter's 7B at 4,096 tokens",
    ),
    Worked("decode_matrix_flops", {"batch": 8, "flops_per_token": 14 * GB}, 112 * GB, "a batch of eight of the 7B"),
    Worked(
        "decode_flops",
        {"decode_matrix_flops": 14 * GB, "decode_attention_flops": 2**31},
        14 * GB + 2**31,
        "the chapter's 7B at 4,096 tokens",
    ),
    Worked(
        "decode_bytes",
        {"weights": 14 * GB, "cached_tokens": 4096, "kv_bytes_per_token": 512 * KIB},
        14 * GB + 2**31,
        "the chapter's 7B at 4,096 tokens",
    ),
    Worked(
        "decode_step_time",
        {"decode_flops": 14 * GB, "decode_bytes": 14 * GB, **A100},
        Fraction(14, 2039),
        "the weights of the 7B read once on an A100",
    ),
    Worked("ttft", {"wait": 0, "prompt": 10_000, "prefill_rate": 50_000}, Fraction(1, 5), "the chapter's exercise 2"),
    Worked("service_time", {"ttft": Fraction(1, 5), "output": 500, "decode_rate": 50}, Fraction(51, 5), "exercise 4"),
    Worked("decode_rate", {"output": 100, "latency_target": Fraction(1, 2)}, 200, "the chapter's exercise 3"),
    Worked("output", {"decode_rate": 50, "latency_target": Fraction(1, 2)}, 25, "the chapter's exercise 3"),
    Worked("batch", {"slots": 8}, 8, "the eight slots of the lab"),
    Worked("mean_concurrency", {"arrival_rate": Fraction(5, 3), "service_time": Fraction(51, 5)}, 17, "exercise 4"),
    Worked("blocking", {"servers": 1, "offered_load": 1}, Fraction(1, 2), "one server offered one erlang"),
    Worked("waiting", {"servers": 2, "offered_load": 1}, Fraction(1, 3), "two servers offered one erlang"),
    Worked(
        "sequences_per_gpu",
        {"kv_budget": 54 * GB, "prompt": 2000, "output": 500, "kv_bytes_per_token": 512 * KIB},
        41,
        "the chapter's exercise 4",
    ),
    Worked("slots", {"mean_concurrency": 17}, 18, "exercise 4"),
    Worked("gpus", {"mean_concurrency": 17, "sequences_per_gpu": 41}, 1, "the chapter's exercise 4"),
    Worked("gpus", {"mean_concurrency": 20, "sequences_per_gpu": 10}, 3, "a load that divides evenly"),
    Worked("servers", {"blocking": Fraction(1, 2), "offered_load": 1}, 1, "one server offered one erlang"),
    *SERVING,
    *GROUP,
    *MODELS,
)
