"""llm-x-py: its cache estimate from the tensors of a model and, where there is one, its config.json."""

from __future__ import annotations

from typing import Any

from llm_x.estimation.kv_cache import estimate_kv_cache

GIB = 2**30
FORMATS = {1: "I8", 2: "BF16", 4: "F32"}


def cache(layers: int, heads: int, kv_heads: int, head_dim: int, config: dict[str, int], **options: Any) -> Any:
    """Return the cache of one sequence of a Llama-like model, from the shapes of its tensors and a configuration."""
    hidden = 4096
    shapes = {"q_proj": [heads * head_dim, hidden], "k_proj": [kv_heads * head_dim, hidden]}
    tensors = {
        f"model.layers.{layer}.self_attn.{name}.weight": {"shape": shape}
        for layer in {0, layers - 1}
        for name, shape in shapes.items()
    }
    tensors["model.norm.weight"] = {"shape": [hidden]}
    return estimate_kv_cache(tensors, config, **{"seq_len": 1} | options)[0] * GIB


def kv_bytes_per_token(
    layers: int,
    kv_width: float,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    qk_rope_dim: int | None = None,
) -> Any:
    """Give the cache of one token, of key-value heads with an explicit size or of latent attention."""
    if kv_width not in FORMATS:
        raise NotImplementedError
    if kv_lora_rank is None:
        heads = 4 * kv_heads
        config = {"num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": head_dim}
        shape = (heads, kv_heads, head_dim)
    else:
        config = {"kv_lora_rank": kv_lora_rank, "qk_rope_head_dim": qk_rope_dim}
        shape = (128, 128, 128)
    return cache(layers, *shape, config | {"num_hidden_layers": layers}, kv_dtype=FORMATS[kv_width])
