"""llm-sizer: its sum of weights and cache, for a model of its own catalogue form."""

from __future__ import annotations

from typing import Any

from llm_sizer.catalog import ModelSpec
from llm_sizer.sizing import estimate_vram


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
    """Give the cache of one token of a model with four query heads for each key-value head."""
    return estimate_vram(ModelSpec("model", 1, layers, 4 * kv_heads * head_dim), kv_width, 1, 1).kv_cache_bytes


def weights(parameters: int, weight_bits: float) -> Any:
    """Give the bytes of the weights."""
    return estimate_vram(ModelSpec("model", parameters, 1, 1), weight_bits / 8, 1, 1).weights_bytes


class OwnHeads:
    """The same cache for models in which every query head has its own key and value: what the package can say."""

    @staticmethod
    def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
        """Give the cache of one token."""
        return estimate_vram(ModelSpec("model", 1, layers, kv_heads * head_dim), kv_width, 1, 1).kv_cache_bytes
