"""The configurations that transformers bundles: each is read to the last parameter, or refused by name."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import pytest
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CAUSAL

from spec.catalog import config
from tests.live.built import built, parameters, windows, written
from tests.live.test_tiny_models import count

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.reality

# Classes that cannot be made from their own defaults.
BROKEN = {"gemma4_assistant", "nougat"}
# Language models of models that read images, which have no class with an output head of their own.
HEADLESS = {"qwen2_vl_text", "qwen2_5_vl_text", "qwen3_vl_text", "qwen3_vl_moe_text"}
# Defaults that no model could be built from, or that leave open what the two places of a nested model disagree on.
INCOMPLETE = {
    "deepseek_v2": "num_experts_per_tok is missing",
    "glm4_moe": "hidden_size = 4096: write a multiple of the 96 attention heads",
    "hunyuan_v1_dense": "head_dim is missing",
    "kimi_k25": "text_config.tie_word_embeddings = false: write true, as outside of text_config",
    "mistral3": "text_config.tie_word_embeddings = false: write true, as outside of text_config",
    "nemotron": "num_key_value_heads is missing",
    "qwen3_vl_moe": "text_config.tie_word_embeddings = true: write false, as outside of text_config",
}
# How many of the language models are read; the rest is refused by name.
CAUSAL_READ = 38


@functools.cache
def defaults(model_type: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(CONFIG_MAPPING[model_type]().to_json_string(use_diff=False))
    return said


def read(model_type: str, folder: Path) -> config.Config | config.UnusableConfig:
    try:
        return config.read(written(folder, defaults(model_type)))
    except config.UnusableConfig as error:
        return error


@pytest.mark.parametrize("model_type", sorted(CONFIG_MAPPING_NAMES.keys() - BROKEN))
def test_a_default_configuration_is_read_to_the_last_parameter_or_refused_by_name(
    model_type: str, tmp_path: Path
) -> None:
    found = read(model_type, tmp_path)
    said = defaults(model_type)["model_type"]
    if isinstance(found, config.Config):
        if model_type not in HEADLESS:
            real = built(defaults(model_type), sizes_only=True)
            assert count(found.model) == parameters(real)
            assert windows(real) == [found.model.sliding_window] * (found.model.sliding_layers or 0)
    elif isinstance(found, config.UnknownArchitecture):
        assert f'model_type = "{said}" is no architecture known here' in str(found)
    elif isinstance(found, config.UncoveredArchitecture):
        assert f"the architecture {said} is not covered: " in str(found)
    else:
        assert str(found).startswith(f"config.json: {INCOMPLETE[model_type]}")


def test_so_many_of_the_language_models_are_read(tmp_path: Path) -> None:
    found = {name for name in CAUSAL.keys() - BROKEN if isinstance(read(name, tmp_path), config.Config)}
    print(f"\nread: {len(found)} of {len(CAUSAL)} language models", *sorted(found), sep="\n  ")  # noqa: T201
    assert len(found) == CAUSAL_READ
