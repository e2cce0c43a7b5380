"""llm-d-planner: its capacity planner, on configurations in memory instead of downloaded ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from planner import capacity_planner

FORMATS = {1: "float8_e4m3fn", 2: "bfloat16", 4: "float32"}


def config(architecture: str = "LlamaForCausalLM", width: float = 2, **fields: Any) -> SimpleNamespace:
    """Return the configuration of a model, with the fields that the planner reads."""
    usual = {"hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 32, "num_hidden_layers": 32}
    usual |= {"max_position_embeddings": 10**12, "vocab_size": 32_000, "intermediate_size": 11_008}
    return SimpleNamespace(architectures=[architecture], torch_dtype=FORMATS[width], **usual | fields)


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
        sizes = {"num_attention_heads": 4 * kv_heads, "num_key_value_heads": kv_heads, "head_dim": head_dim}
        model = config(width=kv_width, num_hidden_layers=layers, **sizes)
    else:
        sizes = {"num_hidden_layers": layers, "kv_lora_rank": kv_lora_rank, "qk_rope_head_dim": qk_rope_dim}
        model = config("DeepseekV3ForCausalLM", kv_width, **sizes)
    return capacity_planner.KVCacheDetail("model", model).per_token_memory_bytes


class Group:
    """The tokens that a group of two GPUs holds, from the number of blocks of one token that it counts."""

    ASSUMES = {"kv_bytes_per_token": 524_288}

    @staticmethod
    def token_capacity(kv_budget: float) -> Any:
        """Give the tokens that the memory of both GPUs together holds."""
        before = capacity_planner.allocatable_kv_cache_memory
        capacity_planner.allocatable_kv_cache_memory = lambda *_, **__: kv_budget / capacity_planner.BYTES_PER_GIB
        try:
            return capacity_planner.total_kv_cache_blocks("model", config(), 1, 80, block_size=1, tp=2)
        finally:
            capacity_planner.allocatable_kv_cache_memory = before
