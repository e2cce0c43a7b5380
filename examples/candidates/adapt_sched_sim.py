"""sched-sim: its hardware profile, block manager and roofline model."""

from __future__ import annotations

from typing import Any

from sched_sim.hardware.profile import HardwareProfile
from sched_sim.memory.block_manager import BlockManager

GIB = 2**30
LARGE = 2**24  # a head so large that the lists of free blocks stay short


def _profile(**fields: Any) -> HardwareProfile:
    return HardwareProfile(**{"num_layers": 1, "num_kv_heads": 1, "head_dim": 1, "dtype_bytes": 2} | fields)


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
    """Give the cache of one token."""
    if kv_width != int(kv_width):
        raise NotImplementedError
    sizes = {"num_layers": layers, "num_kv_heads": kv_heads, "head_dim": head_dim, "dtype_bytes": int(kv_width)}
    return _profile(**sizes).kv_bytes_per_token


def weights(parameters: int, weight_bits: float) -> Any:
    """Give the bytes of the weights."""
    if weight_bits % 8:
        raise NotImplementedError
    profile = _profile(parameter_count_billions=parameters / 1e9, dtype_bytes=int(weight_bits // 8))
    return profile.model_weights_gb * GIB


def blocks_per_sequence(context: int, block_size: int) -> Any:
    """Give the blocks of one sequence."""
    return BlockManager(_profile(head_dim=LARGE), block_size=block_size).blocks_required(context)


class Pool:
    """The tokens that its manager finds room for, in blocks of one token."""

    UNITS = {"gpu_memory": "GB"}
    ASSUMES = {
        "weight_bits": 16,
        "kv_bytes_per_token": 4 * LARGE,
        "activations": 0,
        "safety_margin": GIB // 2,
    }

    @staticmethod
    def token_capacity(gpu_memory: float, parameters: int) -> Any:
        """Give the tokens that fit beside the weights and its buffer of half a GiB."""
        profile = _profile(vram_gb=gpu_memory, parameter_count_billions=parameters / 1e9, head_dim=LARGE)
        return BlockManager(profile, block_size=1).total_gpu_blocks
