"""Architectures that have a part which no law counts: known by name, and refused with the reason."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAMBA = "some of its layers are Mamba layers, which keep a state in place of keys and values"
_LINEAR = "most of its layers have linear attention, which keeps a state in place of keys and values"
_INDEXER = "an indexer with weights and a cache of its own chooses the tokens that latent attention sees"
_SEVERAL = "the language model and what reads images share layers that no law counts"
_WIDE_NORM = "it norms the queries of all heads together, and only norms of single heads are counted"
_SHARED = "its layers have embeddings of their own and share caches"
_GLOBAL = "its global layers have another head size and other key heads than its sliding ones"
_CHUNKS = "most of its layers attend within chunks of the context, which no law counts"
_COMPRESSED = "its layers keep caches compressed by different factors"
_BLOCKS = "most of its layers choose the blocks that they attend to by an index of their own"
_ENCODER = "it is not a decoder alone, and only decoders are counted"

UNCOVERED: Mapping[str, str] = MappingProxyType(
    {
        "bamba": _MAMBA,
        "bart": _ENCODER,
        "bert": _ENCODER,
        "bloom": "a norm follows its embeddings, which no law counts",
        "deepseek_ref": _COMPRESSED,
        "deepseek_v32": _INDEXER,
        "deepseek_v4": _COMPRESSED,
        "falcon_h1": _MAMBA,
        "falcon_mamba": _MAMBA,
        "gemma3n": _SHARED,
        "gemma3n_text": _SHARED,
        "gemma4": _GLOBAL,
        "gemma4_text": _GLOBAL,
        "glm_moe_dsa": _INDEXER,
        "granitemoehybrid": _MAMBA,
        "jamba": _MAMBA,
        "kimi_k3": _LINEAR,
        "kimi_linear": _LINEAR,
        "llama4": _CHUNKS,
        "llama4_text": _CHUNKS,
        "mamba": _MAMBA,
        "mamba2": _MAMBA,
        "mimo_v2_flash": "its sliding layers have other key heads than its global ones",
        "minimax": _LINEAR,
        "minimax_m2": _WIDE_NORM,
        "minimax_m3": _BLOCKS,
        "minimax_m3_vl": _BLOCKS,
        "mllama": _SEVERAL,
        "nemotron-nas": "every layer has its own number of key heads and its own inner size (block_configs)",
        "nemotron_h": _MAMBA,
        "olmo2": _WIDE_NORM,
        "olmo3": _WIDE_NORM,
        "olmoe": _WIDE_NORM,
        "qwen2_moe": "its shared expert has a gate and a size of its own",
        "qwen3_5": _LINEAR,
        "qwen3_5_moe": _LINEAR,
        "qwen3_5_moe_text": _LINEAR,
        "qwen3_5_text": _LINEAR,
        "qwen3_next": _LINEAR,
        "step3p7": "its sliding layers may have other query heads than its global ones, which the file leaves open",
        "t5": _ENCODER,
        "whisper": _ENCODER,
        "zamba": _MAMBA,
        "zamba2": _MAMBA,
    }
)
