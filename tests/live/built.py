"""Models built by transformers from a config.json, never downloaded: their parameters and the bytes of their caches."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before the import, which reads it

import torch
import transformers
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForImageTextToText, DynamicCache

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

torch.set_num_threads(1)  # the models are tiny, and threads only wait for each other
transformers.logging.set_verbosity_error()

# What stands beside the language model of a model that reads images as well.
BESIDE = ("visual", "vision_tower", "multi_modal_projector", "mm_projector")


def written(folder: Path, said: Mapping[str, Any]) -> Path:
    """Write the config.json that both sides read."""
    path = folder / "config.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


def built(said: Mapping[str, Any], *, sizes_only: bool = False) -> Any:
    """Build the model of a config.json with random weights, or without any where only sizes matter."""
    config = CONFIG_MAPPING[said["model_type"]].from_dict(json.loads(json.dumps(said)))
    kind = AutoModelForImageTextToText if hasattr(config, "text_config") else AutoModelForCausalLM
    with torch.device("meta" if sizes_only else "cpu"):
        return kind.from_config(config, experts_implementation="eager").eval()


def parameters(model: Any) -> int:
    """Count the parameters of the language model; a tied matrix is one."""
    named = model.named_parameters()
    return sum(each.numel() for name, each in named if not any(part in BESIDE for part in name.split(".")))


def cache_bytes(model: Any, tokens: int) -> int:
    """Run a prompt and add up the key and value tensors of the cache that the model returns."""
    vocabulary = model.config.get_text_config().vocab_size
    prompt = torch.arange(tokens).remainder(vocabulary)[None]
    with torch.no_grad():
        cache = model(input_ids=prompt, use_cache=True).past_key_values
    tensors = [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def windows(model: Any) -> list[int]:
    """Give the window of each layer that slides."""
    layers = DynamicCache(config=model.config.get_text_config()).layers
    return [layer.sliding_window for layer in layers if layer.is_sliding]
