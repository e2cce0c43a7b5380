"""Configurations of well-known models, and what the laws say of them."""

from __future__ import annotations

from typing import Any

from bench.peers import CONFIG, derived

LLAMA_3_8B = CONFIG | {"num_key_value_heads": 8, "intermediate_size": 14_336, "vocab_size": 128_256}
QWEN3_32B = CONFIG | {
    "num_hidden_layers": 64,
    "hidden_size": 5120,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 25_600,
    "vocab_size": 151_936,
}
DEEPSEEK_V3 = {
    "model_type": "deepseek_v3",
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "intermediate_size": 18_432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "vocab_size": 129_280,
    "tie_word_embeddings": False,
}
GEMMA_2_9B = {
    "model_type": "gemma2",
    "num_hidden_layers": 42,
    "hidden_size": 3584,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "sliding_window": 4096,
}
PLAIN = {"qkv_bias": 0, "o_bias": 0, "mlp_bias": 0, "lm_head_bias": 0, "qk_norm": 0, "attention_sinks": 0}
PLAIN |= {"norm_vectors": 1, "norms_per_layer": 2, "position_embeddings": 0, "gated": 1, "tied": 0}


def cache(layers: int, kv_heads: int, head_dim: int, width: float = 2) -> Any:
    return derived("kv_bytes_per_token", layers=layers, kv_heads=kv_heads, head_dim=head_dim, kv_width=width)


def latent(layers: int = 61, rank: int = 512, rope: int = 64) -> Any:
    return derived("kv_bytes_per_token", layers=layers, kv_lora_rank=rank, qk_rope_dim=rope, kv_width=2)


def parameters(config: dict[str, Any], **other: int) -> Any:
    heads = config["num_attention_heads"]
    known = {
        "layers": config["num_hidden_layers"],
        "hidden": config["hidden_size"],
        "heads": heads,
        "kv_heads": config["num_key_value_heads"],
        "head_dim": config.get("head_dim", config["hidden_size"] // heads),
        "intermediate": config["intermediate_size"],
        "vocab": config["vocab_size"],
    }
    return derived("parameters", **known | PLAIN | other)


def v3_parameters() -> int:
    """Count DeepSeek-V3 by hand from its configuration, without the extra prediction layer and the router's biases."""
    attention = 7168 * 1536 + 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 + 512 * 128 * 256 + 128 * 128 * 7168
    dense = 3 * 7168 * 18_432
    experts = 257 * 3 * 7168 * 2048 + 7168 * 256
    return 2 * 129_280 * 7168 + 61 * (attention + 2 * 7168) + 3 * dense + 58 * experts + 7168
