"""vramscout: the weights and cache of its memory plan."""

from __future__ import annotations

from typing import Any

from vramscout.memory import cache_memory_gib, kv_cache_per_token_gib, weight_memory_gib
from vramscout.types import ModelSpec

GIB = 2**30
FORMATS = {1: "fp8", 2: "bf16", 4: "fp32"}
BITS = {8: "fp8", 16: "bf16", 32: "fp32"}  # its other formats have scales


def model(layers: int = 1, kv_heads: int = 1, head_dim: int = 1, parameters: int = 1, **more: Any) -> ModelSpec:
    """Return the description of a model."""
    return ModelSpec("model", "llama", parameters, layers, 4096, 4 * kv_heads, kv_heads, head_dim, None, **more)


def weights(parameters: int, weight_bits: float) -> Any:
    """Give the bytes of the weights."""
    if weight_bits not in BITS:
        raise NotImplementedError
    return weight_memory_gib(model(parameters=parameters), BITS[weight_bits]) * GIB


def kv_bytes_per_token(
    layers: int,
    kv_width: float,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    qk_rope_dim: int | None = None,
) -> Any:
    """Give the cache of one token, of key-value heads or of latent attention in 16 bits and more."""
    if kv_width not in FORMATS:
        raise NotImplementedError
    if kv_lora_rank is None:
        return kv_cache_per_token_gib(model(layers, kv_heads, head_dim), 1, FORMATS[kv_width]) * GIB
    if kv_width == 1:
        raise NotImplementedError  # it adds scales and keeps the rotary key in 16 bits
    latent = {"kv_lora_rank": kv_lora_rank, "rope_head_dim": qk_rope_dim, "mla_latent_dim": kv_lora_rank + qk_rope_dim}
    shape = model(layers, cache_kind="kimi_mla", cache_metadata=latent)
    return cache_memory_gib(shape, 1, 1, FORMATS[kv_width]) * GIB


def kv_bytes_per_token_per_gpu(layers: int, kv_heads: int, head_dim: int, kv_width: float, tensor_parallel: int) -> Any:
    """Give the cache of one token on each GPU of a group that shares the heads out evenly."""
    even = kv_heads % tensor_parallel == 0 or tensor_parallel % kv_heads == 0
    if kv_width not in FORMATS or not even:
        raise NotImplementedError  # it refuses other groups
    return kv_cache_per_token_gib(model(layers, kv_heads, head_dim), 1, FORMATS[kv_width], tensor_parallel) * GIB
