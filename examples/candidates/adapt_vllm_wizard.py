"""vllm-wizard: the parts of its memory plan and its parameter estimate, without the factor for fragmentation."""

from __future__ import annotations

from typing import Any

from vllm_wizard.models.metadata import ModelMetadata, estimate_params_from_config
from vllm_wizard.planning.memory import compute_kv_cache_memory, compute_max_concurrency_at_context
from vllm_wizard.schemas.inputs import KVCacheDType

FORMATS = {1: KVCacheDType.FP8_E4M3FN, 2: KVCacheDType.AUTO}
ASSUMES = {
    "gated": 1,  # it estimates parameters of Llama-like models
    "tied": 0,
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


def model(layers: int, hidden: int, heads: int, kv_heads: int, vocab: int = 1, inner: int = 1) -> ModelMetadata:
    """Return the description of a model."""
    return ModelMetadata(layers, hidden, heads, kv_heads, vocab, 4096, "llama", inner)


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
    """Give the cache of one token."""
    if kv_width not in FORMATS:
        raise NotImplementedError
    shape = model(layers, 4 * kv_heads * head_dim, 4 * kv_heads, kv_heads)
    return compute_kv_cache_memory(shape, 1, 1, kv_dtype=FORMATS[kv_width], fragmentation_factor=1.0)


def parameters(
    layers: int, hidden: int, heads: int, kv_heads: int, head_dim: int, intermediate: int, vocab: int
) -> Any:
    """Give the parameters of a model whose heads share its hidden size out."""
    if hidden != heads * head_dim or heads % kv_heads:
        raise NotImplementedError
    return estimate_params_from_config(model(layers, hidden, heads, kv_heads, vocab, intermediate))


def concurrency(kv_budget: float, context: int, layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
    """Give the sequences that fit a budget."""
    if kv_width not in FORMATS:
        raise NotImplementedError
    shape = model(layers, 4 * kv_heads * head_dim, 4 * kv_heads, kv_heads)
    return compute_max_concurrency_at_context(
        kv_budget, 0, 0, shape, context, kv_dtype=FORMATS[kv_width], fragmentation_factor=1.0
    )
