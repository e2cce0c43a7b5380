"""llm-cal: its cache formula and parameter estimate, on profiles that it detects from a config.json."""

from __future__ import annotations

from typing import Any

from llm_cal.architecture.detector import detect
from llm_cal.architecture.formulas.kv_cache import compute_kv_cache_bytes


def cache(config: dict[str, Any], context: int = 1, width: float = 2) -> Any:
    """Return the cache of one request of a model."""
    return compute_kv_cache_bytes(detect(config), context, width).value


def kv_bytes_per_token(
    layers: int,
    kv_width: float,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    qk_rope_dim: int | None = None,
) -> Any:
    """Give the cache of one token, of key-value heads or of latent attention."""
    if kv_width != int(kv_width):
        raise NotImplementedError  # it takes whole bytes
    config: dict[str, Any] = {"num_hidden_layers": layers}
    if kv_lora_rank is None:
        config |= {"model_type": "llama", "head_dim": head_dim, "hidden_size": 4 * kv_heads * head_dim}
        config |= {"num_attention_heads": 4 * kv_heads, "num_key_value_heads": kv_heads}
    else:
        config |= {"model_type": "deepseek_v3", "hidden_size": 7168, "num_attention_heads": 128}
        config |= {"kv_lora_rank": kv_lora_rank, "qk_rope_head_dim": qk_rope_dim}
    return cache(config, 1, int(kv_width))


def kv_bytes_per_sequence(
    layers: int, sliding_layers: int, sliding_window: int, context: int, kv_heads: int, head_dim: int, kv_width: int
) -> Any:
    """Give the cache of one sequence of a model whose layers slide in part."""
    if kv_width != int(kv_width) or sliding_layers > layers:
        raise NotImplementedError
    kinds = ["sliding_attention"] * sliding_layers + ["full_attention"] * (layers - sliding_layers)
    config = {"model_type": "gemma2", "num_hidden_layers": layers, "hidden_size": 4 * kv_heads * head_dim}
    config |= {"num_attention_heads": 4 * kv_heads, "num_key_value_heads": kv_heads, "head_dim": head_dim}
    return cache(config | {"sliding_window": sliding_window, "layer_types": kinds}, context, int(kv_width))
