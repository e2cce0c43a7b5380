"""hf-mem: the cache of a model as its config.json describes it, in the number formats it knows."""

from __future__ import annotations

from typing import Any

from hf_mem.safetensors.kv_cache import compute_safetensors_kv_cache_size

FORMATS = {1: "F8_E4M3", 2: "BF16", 4: "F32"}


def kv_bytes_per_token(
    layers: int,
    kv_width: float,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    qk_rope_dim: int | None = None,
) -> Any:
    """Give the cache of one token, of key-value heads or of latent attention."""
    if kv_width not in FORMATS:
        raise NotImplementedError
    if kv_lora_rank is None:
        config = {"num_attention_heads": 4 * kv_heads, "num_key_value_heads": kv_heads, "head_dim": head_dim}
    else:  # the other sizes are those of DeepSeek-V3
        config = {"num_attention_heads": 128, "kv_lora_rank": kv_lora_rank, "qk_rope_head_dim": qk_rope_dim}
    config |= {"hidden_size": 7168, "num_hidden_layers": layers}
    return compute_safetensors_kv_cache_size(config, FORMATS[kv_width], 1)
