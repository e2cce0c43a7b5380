"""llm-flops: parameter counts, cache, and the roofline at full efficiency."""

from __future__ import annotations

from typing import Any

from llmflops import memory
from llmflops.config import ModelConfig
from llmflops.flops import forward_flops

FORMATS = {1: "fp8", 2: "bf16", 4: "fp32"}
BITS = {4: "int4", 8: "int8", 16: "bf16", 32: "fp32"}
ASSUMES = {"qk_norm": 0, "attention_sinks": 0, "lm_head_bias": 0, "norms_per_layer": 2, "norm_vectors": 1}


def model(layers: int = 1, hidden: int = 64, heads: int = 1, kv_heads: int = 1, **sizes: Any) -> ModelConfig:
    """Return the description of a model."""
    usual = {"vocab_size": 1, "intermediate_size": 1, "head_dim": 1, "norm_bias": False}
    return ModelConfig("model", hidden, layers, heads, num_key_value_heads=kv_heads, **usual | sizes)


def weights(parameters: int, weight_bits: float) -> Any:
    """Give the bytes of the weights."""
    if weight_bits not in BITS:
        raise NotImplementedError
    return memory.weight_memory_bytes(model(), BITS[weight_bits], parameters)


def kv_bytes_per_token(
    layers: int,
    kv_width: float,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    qk_rope_dim: int | None = None,
) -> Any:
    """Give the cache of one token, of key-value heads or of latent attention."""
    if kv_width not in FORMATS:
        raise NotImplementedError
    if kv_lora_rank is None:
        shape = model(layers, heads=4 * kv_heads, kv_heads=kv_heads, head_dim=head_dim)
    else:
        shape = model(layers, attention_type="mla", kv_lora_rank=kv_lora_rank, qk_rope_head_dim=qk_rope_dim)
    return memory.kv_cache_bytes(shape, 1, 1, FORMATS[kv_width])


def parameters(
    layers: int,
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    intermediate: int,
    vocab: int,
    gated: int,
    tied: int,
    qkv_bias: int,
    o_bias: int,
    mlp_bias: int,
    position_embeddings: int,
) -> Any:
    """Give the parameters of a model; its attention has all biases or none."""
    if heads % kv_heads or qkv_bias != o_bias:
        raise NotImplementedError
    shape = model(
        layers,
        hidden,
        heads,
        kv_heads,
        head_dim=head_dim,
        intermediate_size=intermediate,
        vocab_size=vocab,
        mlp_type="gated" if gated else "standard",
        tie_word_embeddings=bool(tied),
        attention_bias=bool(qkv_bias),
        mlp_bias=bool(mlp_bias),
        positional="learned" if position_embeddings else "rope",
        max_position_embeddings=position_embeddings,
    )
    return memory.parameter_count(shape).total


def prefill_attention_flops(layers: int, heads: int, head_dim: int, prompt: int) -> Any:
    """Give the operations of causal attention in one prefill."""
    counted = forward_flops(model(layers, heads=heads, head_dim=head_dim), 1, prompt, causal=True)
    return counted["attention_detail"]["attention_scores"] + counted["attention_detail"]["attention_over_values"]
