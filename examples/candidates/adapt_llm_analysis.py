"""llm-analysis: the memory and parameter formulas of its analysis object, for a GPU group of any size."""

from __future__ import annotations

from typing import Any

from llm_analysis.analysis import LLMAnalysis
from llm_analysis.config import GPUConfig, ModelConfig, ParallelismConfig

QUERY_HEADS_PER_KV_HEAD = 4  # the formulas need both counts; a group of four is common
ASSUMES = {"gated": 0, "mlp_bias": 0}  # it counts the two matrices of a plain network and no biases


def _analysis(layers: int, kv_heads: int, head_dim: int, intermediate: int = 4, group: int = 1) -> LLMAnalysis:
    heads = QUERY_HEADS_PER_KV_HEAD * kv_heads
    model = ModelConfig(
        name="model",
        num_layers=layers,
        n_head=heads,
        hidden_dim=heads * head_dim,
        vocab_size=32_000,
        num_key_value_heads=kv_heads,
        ffn_embed_dim=intermediate,
        expansion_ratio=4,
    )
    gpu = GPUConfig("gpu", 80, 2000, 300, 0.0, 312)
    return LLMAnalysis(model_config=model, gpu_config=gpu, parallelism_config=ParallelismConfig(tp_size=group))


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
    """Give the cache of one token, from the cache of one layer."""
    return layers * _analysis(layers, kv_heads, head_dim).get_memory_kv_cache_per_layer(1, 1, kv_width)


def kv_bytes_per_token_per_gpu(layers: int, kv_heads: int, head_dim: int, kv_width: float, tensor_parallel: int) -> Any:
    """Give the cache of one token on each GPU of a group."""
    analysis = _analysis(layers, kv_heads, head_dim, group=tensor_parallel)
    return layers * analysis.get_memory_kv_cache_per_layer(1, 1, kv_width)


def feed_forward_parameters(hidden: int, intermediate: int) -> Any:
    """Give the parameters of the feed-forward network of one layer."""
    model = ModelConfig("model", 1, 1, hidden, 1, ffn_embed_dim=intermediate, expansion_ratio=4)
    return LLMAnalysis(model, GPUConfig("gpu", 80, 2000, 300, 0.0, 312)).get_num_params_per_layer_mlp()
