"""GenZ: the machine and model objects that its prefill and decode models are computed from."""

from __future__ import annotations

from typing import Any

from GenZ.Models.default_models import ModelConfig
from GenZ.system import System

UNITS = {"compute": "TFLOP/s", "bandwidth": "GB/s"}  # as its bandwidth parameter is documented


def ridge(compute: float, bandwidth: float) -> Any:
    """Give the operations per byte at which its machine balances."""
    machine = System(flops=compute, offchip_mem_bw=bandwidth)
    return machine.flops / machine.offchip_mem_bw


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
    """Give the cache of one token; the model gives its elements."""
    model = ModelConfig(
        num_decoder_layers=layers,
        hidden_size=4 * kv_heads * head_dim,
        num_attention_heads=4 * kv_heads,
        num_key_value_heads=kv_heads,
        head_dim=head_dim,
    )
    return kv_width * model.get_kv_size()
