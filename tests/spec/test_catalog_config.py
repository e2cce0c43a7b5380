"""Models read from a config.json: real files, the rows of the catalogue written as files, and single fields."""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.calc import calculate, named
from spec import catalog
from spec.catalog import config
from spec.catalog.architectures import READERS

if TYPE_CHECKING:
    from spec.catalog import Model

parameter_count = runpy.run_path(str(Path(__file__).with_name("catalog_count.py")))["parameter_count"]

FOLDER = Path(__file__).parents[1] / "data" / "configs"
FILES = sorted(FOLDER.glob("*.json"))
READ, REFUSED, NO_MODEL = 36, 41, 6
COMPARED = 26
NOT_STRUCTURE = {"name", "source", "parameters", "active_parameters", "hub", "aliases", "notes"}
# Real files of models that are in the catalogue as well.
SAME = {
    "Qwen--Qwen3-0.6B": "qwen3-0.6b",
    "Qwen--Qwen3-8B": "qwen3-8b",
    "Qwen--Qwen3-30B-A3B": "qwen3-30b-a3b",
    "Qwen--Qwen3-30B-A3B-FP8": "qwen3-30b-a3b",
    "mistralai--Mixtral-8x7B-v0.1": "mixtral-8x7b",
    "deepseek-ai--DeepSeek-V3": "deepseek-v3",
    "deepseek-ai--DeepSeek-R1": "deepseek-v3",
    "nvidia--DeepSeek-V3.1-NVFP4": "deepseek-v3",
    "openai--gpt-oss-20b": "gpt-oss-20b",
}
# A size in a name: 32B, 30B-A3B, 120b; 8x7B is none.
SIZE = re.compile(r"-(\d+(?:\.\d+)?)[Bb](?:-A(\d+)B)?(?![\w.])")
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 1000,
}
NESTED_LLAMA = {"model_type": "qwen3_vl", "text_config": LLAMA | {"model_type": "qwen3_vl_text"}}


def structure(model: Model) -> dict[str, Any]:
    return {name: value for name, value in dataclasses.asdict(model).items() if name not in NOT_STRUCTURE}


def count(model: Model, goal: str = "parameters") -> int:
    result = calculate(named(goal), {}, model).result
    assert isinstance(result, int)
    return result


def written(folder: Path, said: object) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


# Real files


def outcome(path: Path) -> config.Config | config.UnusableConfig:
    try:
        return config.read(path)
    except config.UnusableConfig as error:
        return error


def model_name(path: Path) -> str:
    return path.stem.removesuffix("_config")


# Files that are read and have a size in their name.
SIZED = [path for path in FILES if SIZE.search(model_name(path)) and isinstance(outcome(path), config.Config)]


@pytest.mark.reality
def test_every_real_file_is_read_or_refused_by_name() -> None:
    read, refused, no_model = [], [], []
    for path in FILES:
        found = outcome(path)
        model_type = json.loads(path.read_text(encoding="utf-8")).get("model_type")
        if isinstance(found, config.Config):
            goals = ["parameters", "active_parameters"] if found.model.experts else ["parameters"]
            sizes = [f"{count(found.model, goal):,}" for goal in goals]
            read.append(f"{model_name(path)}: {model_type}, {' of which active '.join(sizes)}")
        elif model_type is None:
            no_model.append(str(found))
            assert str(found).startswith(f"{path.name}: model_type is missing: this file describes a quantisation")
        else:
            assert isinstance(found, config.UncoveredArchitecture)
            assert f"{path.name}: the architecture {model_type} is not covered: " in str(found)
            refused.append(str(found))
    for title, lines in (("read", read), ("refused by name", refused), ("no model", no_model)):
        print(f"\n{title}: {len(lines)}", *lines, sep="\n  ")  # noqa: T201  the table that `pytest -s` shows
    assert (len(read), len(refused), len(no_model)) == (READ, REFUSED, NO_MODEL)
    assert len(SIZED) == COMPARED


@pytest.mark.reality
@pytest.mark.parametrize("path", SIZED, ids=model_name)
def test_the_count_is_the_size_in_the_name(path: Path) -> None:
    found = config.read(path)
    total, active = SIZE.search(model_name(path)).groups()  # type: ignore[union-attr]
    parameters = count(found.model)
    if "VL-2B" in path.stem:  # its images are read by 0.4 B of the 2.1 B parameters, which are not counted
        assert Fraction("1.6") < Fraction(parameters, 10**9) < Fraction("1.8")
        return
    assert abs(Fraction(parameters, 10**9) / Fraction(total) - 1) <= Fraction(1, 10)
    if active:  # the makers leave the embedding matrix out
        met = count(found.model, "active_parameters") - found.model.vocab * found.model.hidden
        assert abs(Fraction(met, 10**9) / Fraction(active) - 1) <= Fraction(1, 10)


@pytest.mark.reality
@pytest.mark.parametrize(("file", "row"), SAME.items(), ids=SAME)
def test_a_real_file_equals_the_row_of_the_catalogue(file: str, row: str) -> None:
    model, known = config.read(FOLDER / f"{file}_config.json").model, catalog.model(row)
    assert structure(model) == structure(known)
    assert count(model) == known.parameters
    if known.active_parameters is not None:
        assert count(model, "active_parameters") == known.active_parameters


@pytest.mark.differential
def test_the_laws_count_every_model_that_is_read_tensor_by_tensor() -> None:
    models = [found.model for found in map(outcome, FILES) if isinstance(found, config.Config)]
    assert len(models) == READ
    for model in models:
        assert count(model) == parameter_count(model)


@pytest.mark.law
def test_the_fields_that_are_said_to_be_used_are_enough(tmp_path: Path) -> None:
    for path in FILES:
        found = outcome(path)
        if not isinstance(found, config.Config):
            continue
        whole = json.loads(path.read_text(encoding="utf-8"))
        said: dict[str, Any] = {"model_type": found.model_type}
        if "text_config" in whole:
            said["text_config"] = {"model_type": whole["text_config"]["model_type"]}
        for name, value in found.used.items():
            place, _, field = name.rpartition(".")
            (said[place] if place else said)[field] = value
        again = config.read(written(tmp_path, said))
        assert structure(again.model) == structure(found.model)
        assert (again.used, again.defaults) == (found.used, found.defaults)


# Small models with random sizes and traits, built from such a file by transformers 5.24.0.
TINY = json.loads((FOLDER.parent / "tiny_models.json").read_text(encoding="utf-8"))


@pytest.mark.reality
@pytest.mark.parametrize("model_type", sorted({tiny["config"]["model_type"] for tiny in TINY}))
def test_parameters_and_sliding_layers_are_those_of_the_model_that_is_built(model_type: str, tmp_path: Path) -> None:
    for tiny in TINY:
        if tiny["config"]["model_type"] == model_type:
            model = config.read(written(tmp_path, tiny["config"])).model
            assert count(model) == tiny["parameters"], tiny
            assert tiny["sliding_layers"] in {None, model.sliding_layers or 0}, tiny


def test_every_architecture_has_a_model_that_was_built_or_a_real_file() -> None:
    files = [json.loads(path.read_text(encoding="utf-8")) for path in FILES] + [tiny["config"] for tiny in TINY]
    assert READERS.keys() <= {
        inner.get("model_type") for said in files for inner in (said, said.get("text_config", {}))
    }


# The rows of the catalogue, written as their files are


def as_file(row: Model) -> dict[str, Any]:
    """Write a row with the field names of its architecture, and only with fields that published files have."""
    tie = {"tie_word_embeddings": row.tied}
    common = {
        "num_hidden_layers": row.layers,
        "hidden_size": row.hidden,
        "num_attention_heads": row.heads,
        "vocab_size": row.vocab,
        "max_position_embeddings": row.window,
    }
    grouped = common | {"num_key_value_heads": row.kv_heads, "intermediate_size": row.intermediate} | tie
    own_head = {"head_dim": row.head_dim}
    window = {"sliding_window": row.sliding_window}
    kinds = ["sliding_attention", "full_attention"] * (row.layers // 2)
    family = next(start for start in FAMILIES if row.name.startswith(start))
    fields: dict[str, Any] = {
        "gpt": {
            "n_layer": row.layers, "n_embd": row.hidden, "n_head": row.heads, "vocab_size": row.vocab,
            "n_positions": row.window,
        } | ({} if row.tied else tie),
        "neox": {k: v for k, v in grouped.items() if k != "num_key_value_heads"},
        "opt": common | {"ffn_dim": row.intermediate},
        "falcon": common | {"multi_query": True, "parallel_attn": True, "bias": False},
        "llama": grouped,
        "mistral": grouped | window,
        "mixtral": grouped | {"num_local_experts": row.experts, "num_experts_per_tok": row.experts_per_token},
        "qwen2": grouped | {"use_sliding_window": False, "sliding_window": 131072, "max_window_layers": 28},
        "qwen3": grouped | own_head,
        "qwen3_moe": grouped | own_head | {
            "num_experts": row.experts, "num_experts_per_tok": row.experts_per_token, "mlp_only_layers": [],
            "moe_intermediate_size": row.moe_intermediate,
        },
        "gemma": {k: v for k, v in grouped.items() if k not in tie} | own_head,
        "gemma-window": {k: v for k, v in grouped.items() if k not in tie} | own_head | window,
        "deepseek": grouped | {
            "n_routed_experts": row.experts, "num_experts_per_tok": row.experts_per_token,
            "moe_intermediate_size": row.moe_intermediate, "n_shared_experts": row.shared_experts,
            "first_k_dense_replace": row.dense_layers, "kv_lora_rank": row.kv_lora_rank,
            "q_lora_rank": row.q_lora_rank, "qk_rope_head_dim": row.qk_rope_dim,
            "qk_nope_head_dim": row.qk_nope_dim, "v_head_dim": row.v_head_dim,
        },
        "phi": grouped | {"num_key_value_heads": None, "qk_layernorm": False},
        "gpt-oss": grouped | own_head | window | {
            "num_local_experts": row.experts, "num_experts_per_tok": row.experts_per_token, "layer_types": kinds,
        },
    }  # fmt: skip
    model_type, style = FAMILIES[family]
    return {"model_type": model_type, **fields[style]}


FAMILIES = {
    "gpt2": ("gpt2", "gpt"),
    "gpt-j": ("gptj", "gpt"),
    "gpt-neox": ("gpt_neox", "neox"),
    "pythia": ("gpt_neox", "neox"),
    "opt": ("opt", "opt"),
    "falcon": ("falcon", "falcon"),
    "llama": ("llama", "llama"),
    "mistral": ("mistral", "mistral"),
    "mixtral": ("mixtral", "mixtral"),
    "qwen2.5": ("qwen2", "qwen2"),
    "qwen3-30b": ("qwen3_moe", "qwen3_moe"),
    "qwen3": ("qwen3", "qwen3"),
    "gemma-2-": ("gemma2", "gemma-window"),
    "gemma-3-": ("gemma3_text", "gemma-window"),
    "gemma": ("gemma", "gemma"),
    "deepseek-v2": ("deepseek_v2", "deepseek"),
    "deepseek-v3": ("deepseek_v3", "deepseek"),
    "phi-2": ("phi", "phi"),
    "phi-3": ("phi3", "mistral"),
    "gpt-oss": ("gpt_oss", "gpt-oss"),
}


@pytest.mark.roundtrip
@pytest.mark.parametrize("row", [m for m in catalog.models().values() if m.name != "chapter-7b"], ids=lambda m: m.name)
def test_every_row_of_the_catalogue_is_read_back_from_its_file(row: Model, tmp_path: Path) -> None:
    model = config.read(written(tmp_path, as_file(row))).model
    assert structure(model) == structure(row)
    assert count(model) == row.parameters


# What a file may leave out or say in another way


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"num_key_value_heads": None}, {"kv_heads": 8}),
        ({"head_dim": 32}, {"head_dim": 32}),
        ({"head_dim": None}, {"head_dim": 8}),
        ({"attention_bias": True}, {"qkv_bias": True, "o_bias": True}),
        ({"mlp_bias": True}, {"mlp_bias": True}),
        ({"layer_types": ["full_attention"] * 4}, {"sliding_layers": None}),
        ({"model_type": "mistral"}, {"sliding_window": 4096, "sliding_layers": 4}),
        ({"model_type": "mistral", "sliding_window": None}, {"sliding_window": None, "sliding_layers": None}),
        ({"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 9, "max_window_layers": 3},
         {"sliding_window": 9, "sliding_layers": 1}),
        ({"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 9, "max_window_layers": 4},
         {"sliding_window": None, "sliding_layers": None}),
        ({"model_type": "qwen2", "sliding_window": 9}, {"sliding_window": None, "qkv_bias": True}),
        ({"model_type": "gemma3_text", "sliding_window_pattern": 2}, {"sliding_window": 4096, "sliding_layers": 2}),
        ({"model_type": "gemma3_text", "layer_types": ["full_attention"] * 4}, {"sliding_window": None}),
        ({"model_type": "gemma2"}, {"sliding_layers": 2, "head_dim": 256, "tied": True}),
        ({"model_type": "gpt_oss", "num_hidden_layers": 3, "num_local_experts": 4, "num_experts_per_tok": 1},
         {"sliding_window": 128, "sliding_layers": 2, "head_dim": 64, "qkv_bias": True}),
        ({"model_type": "mixtral", "num_experts": 4, "num_experts_per_tok": 1},
         {"experts": 4, "experts_per_token": 1, "moe_intermediate": 128}),
        ({"model_type": "qwen3_moe", "num_local_experts": 4, "num_experts_per_tok": 1, "moe_intermediate_size": 7},
         {"experts": 4, "experts_per_token": 1, "moe_intermediate": 7, "qk_norm": True}),
        ({"model_type": "falcon"}, {"kv_heads": 1, "norms_per_layer": 1, "qkv_bias": False, "intermediate": 256}),
        ({"model_type": "falcon", "multi_query": False, "parallel_attn": False, "bias": True},
         {"kv_heads": 8, "norms_per_layer": 2, "qkv_bias": True, "o_bias": True, "mlp_bias": True}),
        ({"model_type": "falcon", "new_decoder_architecture": True, "num_kv_heads": 4, "ffn_hidden_size": 7},
         {"kv_heads": 4, "norms_per_layer": 2, "intermediate": 7}),
        ({"model_type": "exaone4", "sliding_window_pattern": "LLLG", "layer_types": ["full_attention"] * 4},
         {"sliding_window": None, "qk_norm": True}),
        ({"model_type": "mpt", "d_model": 64, "n_heads": 8, "n_layers": 4, "attn_config": {"alibi": True}},
         {"intermediate": 256, "norm": "rmsnorm", "tied": True, "window": None}),
        ({"model_type": "cohere", "logit_scale": 0.0625}, {"norms_per_layer": 1, "tied": True}),
        ({"model_type": "nemotron"}, {"gated": False, "norm": "layernorm"}),
    ],
)  # fmt: skip
def test_what_a_field_says_or_leaves_to_the_architecture(
    said: dict[str, Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    model = config.read(written(tmp_path, LLAMA | said)).model
    assert {name: getattr(model, name) for name in expected} == expected


def test_a_nested_language_model_is_read_and_said(tmp_path: Path) -> None:
    found = config.read(written(tmp_path, NESTED_LLAMA | {"tie_word_embeddings": True}))
    assert (found.model.layers, found.model.tied, found.model_type) == (4, True, "qwen3_vl")
    assert found.used["text_config.hidden_size"] == 64
    assert found.remarks == ("Of qwen3_vl, the language model (text_config) is read and nothing else.",)


@pytest.mark.parametrize("model_type", ["qwen2_vl", "qwen2_5_vl"])
def test_a_language_model_may_stand_beside_what_reads_images_as_in_older_files(model_type: str, tmp_path: Path) -> None:
    eyes = {"vision_config": {"depth": 32, "hidden_size": 1280}}
    # Qwen/Qwen2.5-VL-7B-Instruct: its language model has the sizes of Qwen2.5-7B, of 7,615,616,512 parameters
    sizes = LLAMA | {"num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4}
    said = sizes | {"intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": False}
    found = config.read(written(tmp_path, said | eyes | {"model_type": model_type}))
    assert count(found.model) == 7_615_616_512
    assert found.used["hidden_size"] == 3584
    assert found.remarks == (f"Of {model_type}, the language model is read and nothing else.",)


def test_a_quantisation_beside_a_nested_model_is_said(tmp_path: Path) -> None:
    found = config.read(written(tmp_path, NESTED_LLAMA | {"quantization_config": {"quant_method": "fp8"}}))
    assert "give weight_bits=8 " in found.remarks[-1]


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(LLAMA).encode())
    assert config.read(path).model.layers == 4


def test_published_gemma_3_files_leave_heads_and_vocabulary_to_the_class(tmp_path: Path) -> None:
    text = {"model_type": "gemma3_text", "num_hidden_layers": 34, "hidden_size": 2560, "intermediate_size": 10240}
    said = {"model_type": "gemma3", "text_config": text | {"sliding_window": 1024}}
    found = config.read(written(tmp_path, said))
    # google/gemma-3-4b-it: 4,300,079,472 parameters on the Hub, 419,816,304 of them outside of the language model
    assert count(found.model) == 4_300_079_472 - 419_816_304
    assert found.model.sliding_layers == 29
    assert found.defaults["text_config.num_attention_heads"] == 8


@pytest.mark.parametrize(
    ("said", "bits"),
    [
        ({"quant_method": "fp8"}, 8),
        ({"quant_method": "gptq", "bits": 4}, 4),
        ({"config_groups": {"a": {"weights": {"num_bits": 4}}}}, 4),
        ({"config_groups": {"a": {"weights": {"num_bits": 4}}, "b": {"weights": {"num_bits": 8}}}}, None),
        ({"config_groups": {"a": 7}}, None),
        ({"quant_method": "torchao"}, None),
        ({"bits": "4"}, None),
        ({"bits": [4]}, None),
        ("fp8", None),
    ],
)
def test_a_quantisation_changes_no_size_and_its_width_is_said(said: object, bits: int | None, tmp_path: Path) -> None:
    plain = config.read(written(tmp_path, LLAMA))
    found = config.read(written(tmp_path, LLAMA | {"quantization_config": said}))
    assert found.model == plain.model
    assert [f"give weight_bits={bits} " in remark for remark in found.remarks] == [True] * (bits is not None)
