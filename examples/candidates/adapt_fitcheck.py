"""fitcheck-llm: its serving memory and parameter count."""

from __future__ import annotations

from typing import Any

from fitcheck.config_parser import ModelConfig, _attention_param_count, _count_params, _ParsedFields
from fitcheck.memory.inference import estimate_inference_memory
from fitcheck.memory.weights import estimate_weight_memory

UNITS = {"weights": "MiB"}
FORMATS = {2: "bf16", 4: "fp32"}
BITS = {4: "int4", 8: "int8", 16: "bf16", 32: "fp32"}
MIB = 2**20
ASSUMES = {
    "gated": 1,
    "norms_per_layer": 2,
    "norm_vectors": 1,
    "qkv_bias": 0,
    "o_bias": 0,
    "mlp_bias": 0,
    "lm_head_bias": 0,
    "qk_norm": 0,
    "attention_sinks": 0,
    "position_embeddings": 0,
}


def weights(parameters: int, weight_bits: float) -> Any:
    """Give the weights in MiB."""
    if weight_bits not in BITS or parameters * weight_bits % 8:
        raise NotImplementedError  # it rounds to whole bytes
    return estimate_weight_memory(parameters, BITS[weight_bits])


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
    """Give the cache of one token."""
    if kv_width not in FORMATS:
        raise NotImplementedError
    model = ModelConfig("model", 1, 1, layers, kv_heads, kv_heads, 1, 1, head_dim, tie_word_embeddings=False)
    return estimate_inference_memory(model, FORMATS[kv_width], 1).kv_cache_mib * MIB


def attention_parameters(hidden: int, heads: int, kv_heads: int, head_dim: int) -> Any:
    """Give the parameters of attention in one layer."""
    return _attention_param_count(hidden, heads, kv_heads, head_dim)


def parameters(
    layers: int,
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    intermediate: int,
    vocab: int,
    tied: int,
) -> Any:
    """Give the parameters of a model."""
    return _count_params(_ParsedFields(hidden, layers, heads, kv_heads, intermediate, vocab, head_dim, bool(tied)))
