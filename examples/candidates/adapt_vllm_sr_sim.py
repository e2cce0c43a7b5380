"""vllm-sr-sim: its model description, its computed GPU profile and its queue."""

from __future__ import annotations

from typing import Any

from fleet_sim.gpu_profiles import ServingConfig
from fleet_sim.gpu_profiles.computed import ComputedProfile
from fleet_sim.hardware.catalog import H100_SXM
from fleet_sim.models.spec import ModelSpec
from fleet_sim.optimizer.analytical import erlang_c

ASSUMES = {
    "gated": 1,
    "norms_per_layer": 0,  # it counts matrices only
    "norm_vectors": 0,
    "qkv_bias": 0,
    "o_bias": 0,
    "mlp_bias": 0,
    "lm_head_bias": 0,
    "qk_norm": 0,
    "attention_sinks": 0,
    "position_embeddings": 0,
}


def model(layers: int = 1, hidden: int = 1, heads: int = 1, kv_heads: int = 1, **sizes: int) -> ModelSpec:
    """Return the description of a model."""
    usual = {"intermediate_size": 1, "vocab_size": 1, "max_position": 1}
    return ModelSpec("model", layers, heads, kv_heads, hidden, **usual | sizes)


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
        heads = 4 * kv_heads
        return model(layers, heads * head_dim, heads, kv_heads).kv_bytes_per_token_dtype(kv_width)
    config = {"num_attention_heads": 128, "num_key_value_heads": 128, "hidden_size": 7168, "vocab_size": 1}
    config |= {"num_hidden_layers": layers, "kv_lora_rank": kv_lora_rank, "qk_rope_head_dim": qk_rope_dim}
    return ModelSpec.from_hf_config(config, name="model").kv_bytes_per_token_dtype(kv_width)


def parameters(
    layers: int, hidden: int, heads: int, kv_heads: int, head_dim: int, intermediate: int, vocab: int, tied: int
) -> Any:
    """Give the parameters of a model whose heads share its hidden size out."""
    if hidden != heads * head_dim or heads % kv_heads:
        raise NotImplementedError
    config = {"num_attention_heads": heads, "num_key_value_heads": kv_heads, "hidden_size": hidden}
    config |= {"num_hidden_layers": layers, "intermediate_size": intermediate, "vocab_size": vocab}
    return ModelSpec.from_hf_config(config | {"tie_word_embeddings": bool(tied)}, name="model").param_count()


def decode_attention_flops(layers: int, heads: int, head_dim: int, cached_tokens: int) -> Any:
    """Give the operations of attention in a decode step, as what the cached tokens add to it."""
    if heads % 4:
        raise NotImplementedError  # four query heads share a key-value head here
    shape = model(layers, heads * head_dim, heads, heads // 4)
    profile = ComputedProfile(H100_SXM, shape, ServingConfig(tp=1), W=0.01, H=0.001, total_kv_blks=1)
    with_cache, without = (profile.decode_efficiency(1, tokens).flops_per_iter for tokens in (cached_tokens, 0))
    return with_cache - without


def waiting(offered_load: float, servers: int) -> Any:
    """Give the share of requests that wait, by Erlang's second formula."""
    if offered_load >= servers:
        raise NotImplementedError  # it says 1 where the queue never settles: its convention
    return erlang_c(servers, offered_load)


def concurrency(kv_budget: float, context: int, block_size: int, kv_bytes_per_block: float) -> Any:
    """Give the sequences that a budget in whole blocks holds."""
    blocks = int(kv_budget // kv_bytes_per_block)
    serving = ServingConfig(tp=1, blk_size=block_size, max_slots=0)
    return ComputedProfile(H100_SXM, model(), serving, W=0.01, H=0.001, total_kv_blks=blocks).n_slots(context)
