"""accelerate: empty models on its meta device, counted as its estimator does."""

from __future__ import annotations

from functools import cache
from typing import Any

from accelerate import init_empty_weights
from accelerate.utils import calculate_maximum_sizes
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaMLP

ASSUMES = {"gated": 1, "qkv_bias": 0, "o_bias": 0, "mlp_bias": 0, "qk_norm": 0, "attention_sinks": 0}
BYTES = 4  # of a parameter as it is built


def _config(hidden: int, heads: int = 1, kv_heads: int = 1, head_dim: int = 2, intermediate: int = 1) -> LlamaConfig:
    return LlamaConfig(
        hidden_size=hidden,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=head_dim,
        intermediate_size=intermediate,
        num_hidden_layers=1,
        vocab_size=1,
        pad_token_id=None,
        bos_token_id=0,
        eos_token_id=0,
    )


def _count(module: Any) -> Any:
    return calculate_maximum_sizes(module)[0] // BYTES


@cache
def attention_parameters(hidden: int, heads: int, kv_heads: int, head_dim: int) -> Any:
    """Give the parameters of attention in one layer."""
    if heads % kv_heads or hidden % heads or head_dim % 2:
        raise NotImplementedError  # such a model cannot be built: rotary positions turn pairs
    with init_empty_weights():
        return _count(LlamaAttention(_config(hidden, heads, kv_heads, head_dim), layer_idx=0))


@cache
def feed_forward_parameters(hidden: int, intermediate: int) -> Any:
    """Give the parameters of the feed-forward network of one layer."""
    with init_empty_weights():
        return _count(LlamaMLP(_config(hidden, intermediate=intermediate)))
