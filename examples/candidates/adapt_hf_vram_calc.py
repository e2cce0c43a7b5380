"""hf-vram-calc: the cache and weight formulas of its calculator, in GiB as it returns them."""

from __future__ import annotations

from typing import Any

from hf_vram_calc.calculator import VRAMCalculator
from hf_vram_calc.config import ConfigManager
from hf_vram_calc.models import ModelConfig

CALCULATOR = VRAMCalculator(ConfigManager())
FORMATS = {1: "fp8", 2: "bf16", 4: "fp32"}
GIB = 2**30
BITS = {4: "int4", 8: "int8", 16: "bf16", 32: "fp32"}


def model(layers: int, kv_heads: int, head_dim: int, query_heads_per_kv_head: int = 4) -> ModelConfig:
    """Return a model whose head size is what its hidden size and heads imply."""
    heads = query_heads_per_kv_head * kv_heads
    return ModelConfig("model", 32_000, heads * head_dim, layers, heads, num_key_value_heads=kv_heads)


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
    """Give the cache of one token."""
    if kv_width not in FORMATS:
        raise NotImplementedError
    shape = model(layers, kv_heads, head_dim)
    return CALCULATOR.calculate_kv_cache_memory(shape, FORMATS[kv_width], 1, 1) * GIB


def weights(parameters: int, weight_bits: float) -> Any:
    """Give the bytes of the weights."""
    if weight_bits not in BITS:
        raise NotImplementedError
    return CALCULATOR.calculate_model_memory(parameters, BITS[weight_bits]) * GIB
