"""modelinfo-cli: its footprint of a model whose config.json is at hand."""

from __future__ import annotations

from typing import Any

from modelinfo.calculator import calculate_footprint

ASSUMES = {"kv_width": 2}
DTYPES = {8: "I8", 16: "BF16", 32: "F32"}


def footprint(config: dict[str, int], context: int = 1, **options: Any) -> dict[str, Any]:
    """Return everything it says of a model with next to no weights."""
    tensors = {"__metadata__": {"lazy_fetch": True, "total_size": 0.0}}
    return calculate_footprint(tensors, context_length=context, config=config, **options)


def kv_bytes_per_token(
    layers: int,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    qk_rope_dim: int | None = None,
) -> Any:
    """Give the cache of one token, of key-value heads or of latent attention."""
    if kv_lora_rank is None:
        heads = 4 * kv_heads
        config = {"num_attention_heads": heads, "num_key_value_heads": kv_heads, "hidden_size": heads * head_dim}
    else:  # the other sizes are those of DeepSeek-V3
        config = {"num_attention_heads": 128, "num_key_value_heads": 128, "hidden_size": 7168}
        config |= {"kv_lora_rank": kv_lora_rank, "qk_rope_head_dim": qk_rope_dim}
    return footprint(config | {"num_hidden_layers": layers})["kv_cache_bytes"]


def weights(parameters: int, weight_bits: float) -> Any:
    """Give the bytes of the weights."""
    if weight_bits not in DTYPES:
        raise NotImplementedError
    return calculate_footprint({"w": {"shape": [parameters], "dtype": DTYPES[weight_bits]}})["base_memory_bytes"]
