"""ridgepoint: its compiled core, given the shape of a model, on its A100 with 80 GB."""

from __future__ import annotations

import json
from typing import Any

from ridgepoint import _core

FORMATS = {1: "fp8", 2: "fp16"}
BITS = {8: "fp8", 16: "fp16"}
TOLERANCE = {"weights": "1e-4", "weights_per_gpu": "1e-4"}  # it prints five digits


def fit(
    layers: int = 1,
    parameters: int = 10**9,
    geometry: str = "gqa",
    head_dim: int = 128,
    heads: int = 32,
    kv_heads: int = 8,
    kv_lora_rank: int = 0,
    qk_rope_dim: int = 0,
    gpus: int = 1,
    weight_format: str = "fp16",
    kv_format: str = "fp16",
    context: int = 1,
    prompt: int = 1,
) -> dict[str, Any]:
    """Return everything it says of a model on a machine."""
    shape = ("x", layers, layers, 4096, parameters, parameters, geometry)
    sizes = (head_dim, heads, kv_heads, kv_lora_rank, qk_rope_dim)
    machine = ("a100-80gb", gpus, "vllm", weight_format, kv_format, context, prompt, True)
    return dict(json.loads(_core.fit_shape(*shape, *sizes, *machine)))


def weights(parameters: int, weight_bits: float) -> Any:
    """Give the bytes of the weights in the formats that have no scales."""
    if weight_bits not in BITS:
        raise NotImplementedError
    found = fit(parameters=parameters, weight_format=BITS[weight_bits])
    return found["memory"]["weights_bytes"]["best"]


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
        found = fit(layers, head_dim=head_dim, kv_heads=kv_heads, kv_format=FORMATS[kv_width])
    else:
        found = fit(
            layers,
            geometry="mla",
            kv_lora_rank=kv_lora_rank,
            qk_rope_dim=qk_rope_dim,
            kv_format=FORMATS[kv_width],
        )
    return found["capacity"]["bytes_per_seq"]
