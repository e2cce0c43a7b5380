"""kvfit: its cache estimate from a config.json, and its plan of the groups that share it."""

from __future__ import annotations

import dataclasses
from typing import Any

from kvfit.architectures import estimate_cache
from kvfit.hardware import HARDWARE
from kvfit.models import CacheEstimate
from kvfit.planner import plan_topologies


def estimate(layers: int, kv_heads: int, head_dim: int, width: float, context: int = 1, **fields: Any) -> CacheEstimate:
    """Return its estimate of a Llama-like model with four query heads for each key-value head."""
    config = {"model_type": "llama", "num_hidden_layers": layers, "hidden_size": 4 * kv_heads * head_dim}
    config |= {"num_attention_heads": 4 * kv_heads, "num_key_value_heads": kv_heads, "head_dim": head_dim}
    return estimate_cache(config | fields, context_tokens=context, kv_bytes=width)


def kv_bytes_per_token(
    layers: int,
    kv_width: float,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    qk_rope_dim: int | None = None,
) -> Any:
    """Give the cache of one token, of key-value heads or of latent attention."""
    if kv_lora_rank is None:
        return estimate(layers, kv_heads, head_dim, kv_width).total_bytes
    latent = {"model_type": "deepseek_v3", "kv_lora_rank": kv_lora_rank, "qk_rope_head_dim": qk_rope_dim}
    return estimate(layers, 32, 56, kv_width, **latent).total_bytes


def kv_bytes_per_sequence(
    layers: int,
    sliding_layers: int,
    sliding_window: int,
    context: int,
    kv_heads: int,
    head_dim: int,
    kv_width: float,
) -> Any:
    """Give the cache of one sequence of a model whose layers slide in part."""
    if sliding_layers > layers:
        raise NotImplementedError
    kinds = ["sliding_attention"] * sliding_layers + ["full_attention"] * (layers - sliding_layers)
    more = {"model_type": "gemma3_text", "layer_types": kinds, "sliding_window": sliding_window}
    return estimate(layers, kv_heads, head_dim, kv_width, context, **more).total_bytes


def kv_bytes_per_token_per_gpu(layers: int, kv_heads: int, head_dim: int, kv_width: float, tensor_parallel: int) -> Any:
    """Give the cache of one token on each GPU of a group that divides the query heads."""
    machine = dataclasses.replace(next(iter(HARDWARE.values())))
    found = plan_topologies(
        estimate(layers, kv_heads, head_dim, kv_width),
        weight_bytes=0,
        hardware=machine,
        gpus=tensor_parallel,
        utilization=0.9,
        tensor_parallel=tensor_parallel,
    )[0]
    if found.verdict == "unsupported":
        raise NotImplementedError
    return found.kv_per_sequence_per_rank_bytes
