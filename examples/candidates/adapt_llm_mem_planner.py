"""llm-mem-planner: parameters and cache of models with latent attention, which are all that it reads."""

from __future__ import annotations

from typing import Any

from llm_mem_planner.cli import ModelDims, estimate_kv_cache_gib, estimate_params, load_dims

GIB = 2**30


def dims(**fields: Any) -> ModelDims:
    """Return the sizes that it reads from a config.json, those of DeepSeek-V3 where none are given."""
    usual = {"hidden_size": 7168, "num_hidden_layers": 61, "vocab_size": 129_280, "num_attention_heads": 128}
    usual |= {"q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64}
    usual |= {"v_head_dim": 128, "intermediate_size": 18_432}
    return load_dims(usual | fields)


def kv_bytes_per_token(layers: int, kv_lora_rank: int, qk_rope_dim: int, kv_width: float) -> Any:
    """Give the cache of one token."""
    sizes = dims(num_hidden_layers=layers, kv_lora_rank=kv_lora_rank, qk_rope_head_dim=qk_rope_dim)
    return estimate_kv_cache_gib(sizes, batch=1, seq_len=1, kv_dtype_bytes=kv_width) * GIB


def attention_parameters(
    hidden: int,
    heads: int,
    q_lora_rank: int,
    kv_lora_rank: int,
    qk_nope_dim: int,
    qk_rope_dim: int,
    v_head_dim: int,
) -> Any:
    """Give the matrices of attention in one layer; the two norms over the ranks, which it leaves out, are added."""
    sizes = dims(
        num_hidden_layers=1,
        hidden_size=hidden,
        num_attention_heads=heads,
        q_lora_rank=q_lora_rank,
        kv_lora_rank=kv_lora_rank,
        qk_nope_head_dim=qk_nope_dim,
        qk_rope_head_dim=qk_rope_dim,
        v_head_dim=v_head_dim,
    )
    return estimate_params(sizes).attention_total + q_lora_rank + kv_lora_rank
