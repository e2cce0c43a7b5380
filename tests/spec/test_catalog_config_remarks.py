"""What a config.json says beside sizes is remarked, and changes none of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spec.catalog import config

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}


def remarks(folder: Path, **more: object) -> tuple[str, ...]:
    path = folder / "config.json"
    path.write_text(json.dumps({**LLAMA, **more}), encoding="utf-8")
    found = config.read(path)
    sizes = found.model.quantities()
    assert (sizes["hidden"], sizes["vocab"], sizes["tied"]) == (4096, 128256, 0)
    return found.remarks


@pytest.mark.parametrize("name", ["dtype", "torch_dtype"])
def test_weights_of_four_bytes_are_remarked(tmp_path: Path, name: str) -> None:
    (said,) = remarks(tmp_path, **{name: "float32"})
    assert f"({name})" in said
    assert "weight_bits=32" in said
    assert not remarks(tmp_path, **{name: "bfloat16"})


def test_a_model_that_writes_no_tokens_is_remarked(tmp_path: Path) -> None:
    (said,) = remarks(tmp_path, architectures=["LlamaForSequenceClassification"])
    assert said.startswith("LlamaForSequenceClassification has no matrix over the vocabulary")


@pytest.mark.parametrize("named", [["LlamaForCausalLM"], [], None, "LlamaForTokenClassification", 5, [None, 3]])
def test_other_classes_and_what_names_none_are_not(tmp_path: Path, named: object) -> None:
    assert not remarks(tmp_path, architectures=named)
