"""Vidur: its parameter counter and memory planner, for a replica described by its numbers alone."""

from __future__ import annotations

from math import ceil
from types import SimpleNamespace
from typing import Any

from vidur.utils.memory_planner import MemoryPlanner
from vidur.utils.param_counter import ParamCounter

ASSUMES = {"kv_width": 2, "mlp_bias": 0, "qkv_bias": 0, "o_bias": 0, "qk_norm": 0, "attention_sinks": 0}


def _replica(heads: int = 1, kv_heads: int = 1, head_dim: int = 1, group: int = 1, **sizes: Any) -> SimpleNamespace:
    model = SimpleNamespace(
        embedding_dim=sizes.get("hidden", 1),
        use_gated_mlp=bool(sizes.get("gated", 1)),
        mlp_hidden_dim=sizes.get("intermediate", 0),
    )
    return SimpleNamespace(
        model_config=model,
        attention_head_dim=head_dim,
        q_heads_per_tensor_parallel_worker=heads // group,
        kv_heads_per_tensor_parallel_worker=ceil(kv_heads / group),  # as its ReplicaConfig computes it
        num_layers_per_pipeline_stage=sizes.get("layers", 1),
        tensor_parallel_size=group,
        device_config=SimpleNamespace(total_memory_gb=80),
    )


def kv_bytes_per_token_per_gpu(layers: int, kv_heads: int, head_dim: int, tensor_parallel: int) -> Any:
    """Give the cache of one token on each GPU of a group."""
    replica = _replica(kv_heads=kv_heads, head_dim=head_dim, group=tensor_parallel, layers=layers)
    return MemoryPlanner(replica, None)._get_kv_cache_memory_per_device_per_token()


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int) -> Any:
    """Give the cache of one token."""
    return kv_bytes_per_token_per_gpu(layers, kv_heads, head_dim, 1)


def attention_parameters(hidden: int, heads: int, kv_heads: int, head_dim: int) -> Any:
    """Give the parameters of attention in one layer."""
    replica = _replica(heads, kv_heads, head_dim, hidden=hidden)
    return ParamCounter(replica).get_num_parameters_per_layer()


def feed_forward_parameters(hidden: int, intermediate: int, gated: int) -> Any:
    """Give the parameters of the feed-forward network of one layer, as what it adds to attention."""
    counts = [
        ParamCounter(_replica(hidden=hidden, intermediate=size, gated=gated)).get_num_parameters_per_layer()
        for size in (intermediate, 0)
    ]
    return counts[0] - counts[1]
