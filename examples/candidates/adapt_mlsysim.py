"""mlsysim: the formulas of its physics package, with the units they carry."""

from __future__ import annotations

from typing import Any

from mlsysim.core.units import ureg
from mlsysim.physics import communication, memory, serving, statistics, transformer


def _bytes(quantity: Any) -> Any:
    return quantity.to(ureg.byte).magnitude


def weights(parameters: int, weight_bits: float) -> Any:
    """Give the bytes of the weights."""
    return memory.model_memory(parameters, weight_bits / 8 * ureg.byte, unit=ureg.byte)


def kv_bytes_per_token(
    layers: int,
    kv_width: float,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    qk_rope_dim: int | None = None,
) -> Any:
    """Give the cache of one token, of key-value heads or of latent attention."""
    width = kv_width * ureg.byte
    if kv_lora_rank is not None:
        return _bytes(memory.calc_mla_cache_size(layers, kv_lora_rank, qk_rope_dim, 1, 1, width))
    return _bytes(memory.calc_kv_cache_size(layers, kv_heads, head_dim, 1, 1, width))


def blocks_per_sequence(context: int, block_size: int) -> Any:
    """Give the blocks of one sequence."""
    return memory.calc_kv_block_count(context, block_size)


def concurrency(kv_budget: float, context: int, kv_bytes_per_token: float) -> Any:
    """Give the sequences that fit a pool."""
    return memory.calc_kv_resident_fit(kv_budget * ureg.byte, context * kv_bytes_per_token * ureg.byte)


def flops_per_token(parameters: int) -> Any:
    """Give the operations of the matrices for one token."""
    return transformer.calc_transformer_decode_flops(parameters).to(ureg.flop).magnitude


def prefill_attention_flops(layers: int, heads: int, head_dim: int, prompt: int) -> Any:
    """Give the operations of causal attention in one prefill, as what they add to a model without parameters."""
    return transformer.calc_transformer_prefill_flops(0, prompt, layers, heads * head_dim).to(ureg.flop).magnitude


def mean_concurrency(arrival_rate: float, service_time: float) -> Any:
    """Give the mean number of requests in a stable system."""
    return serving.calc_littles_law_occupancy(arrival_rate, service_time)


def padding_waste(lengths: list[int]) -> Any:
    """Give the share of a batch that is padding."""
    return serving.calc_padding_waste_fraction(lengths)


def all_reduce_bytes(all_reduce_payload: float, tensor_parallel: int) -> Any:
    """Give the bytes that each GPU sends in a ring all-reduce."""
    return all_reduce_payload * communication.calc_ring_allreduce_data_factor(tensor_parallel)


def covered(offered_load: float, servers: int) -> Any:
    """Give the share of the time in which a Poisson number of requests finds a slot."""
    return 1 - statistics.calc_poisson_tail(offered_load, servers + 1)


TOLERANCE = {"covered": "1e-6"}
