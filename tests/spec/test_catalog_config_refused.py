"""What is said of a config.json that gives no model, and that nothing else ever happens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec.catalog import config
from spec.catalog.architectures import NESTED, READERS
from spec.catalog.config_fields import STRUCTURAL
from spec.catalog.uncovered import UNCOVERED

FOLDER = Path(__file__).parents[1] / "data" / "configs"
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 1000,
}
QWEN_MOE = LLAMA | {"model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
DEEPSEEK = LLAMA | {
    "model_type": "deepseek_v3", "num_key_value_heads": 8, "n_routed_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 32, "n_shared_experts": 1, "first_k_dense_replace": 1, "kv_lora_rank": 16,
    "q_lora_rank": None, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8,
}  # fmt: skip
MPT = LLAMA | {"model_type": "mpt", "d_model": 64, "n_heads": 8, "n_layers": 4}
NESTED_LLAMA = {"model_type": "qwen3_vl", "text_config": LLAMA | {"model_type": "qwen3_vl_text"}}


def written(folder: Path, said: object) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


def complaint(folder: Path, said: object) -> str:
    with pytest.raises(config.UnusableConfig) as caught:
        config.read(written(folder, said))
    assert "\n" not in str(caught.value)
    assert caught.value.file == "config.json"
    return str(caught.value)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"model_type": None}, 'model_type is missing: write the name of the architecture, such as "llama"'),
        ({"model_type": 3}, 'model_type = 3: write the name of the architecture, such as "llama"'),
        ({"model_type": "lama"}, 'model_type = "lama" is no architecture known here; did you mean llama?'),
        ({"model_type": "Qwen3-VL"}, 'model_type = "Qwen3-VL" is no architecture known here; did you mean qwen3_vl?'),
        ({"model_type": "qwen4_vl"}, 'model_type = "qwen4_vl" is no architecture known here; its shape is not guessed'),
        ({"model_type": "llava", "text_config": LLAMA},
         'model_type = "llava" is no architecture known here; its shape is not guessed'),
        ({"model_type": "Gemma3", "text_config": LLAMA},
         'model_type = "Gemma3" is no architecture known here; did you mean gemma3?'),
        ({"model_type": "zzzzzz"}, 'model_type = "zzzzzz" is no architecture known here; its shape is not guessed'),
        ({"num_hidden_layers": None},
         "num_hidden_layers is missing: write a whole number of at least 1 and under 10^18"),
        ({"num_hidden_layers": 4.0},
         "num_hidden_layers = 4.0: write a whole number of at least 1 and under 10^18"),
        ({"num_hidden_layers": True},
         "num_hidden_layers = true: write a whole number of at least 1 and under 10^18"),
        ({"hidden_size": "64"}, 'hidden_size = "64": write a whole number of at least 1 and under 10^18'),
        ({"vocab_size": -1}, "vocab_size = -1: write a whole number of at least 1 and under 10^18"),
        ({"tie_word_embeddings": "no"}, 'tie_word_embeddings = "no": write true or false'),
        ({"attention_bias": 1}, "attention_bias = 1: write true or false"),
        ({"num_key_value_heads": 3}, "num_key_value_heads = 3: write a divisor of num_attention_heads = 8"),
        ({"hidden_size": 63}, "hidden_size = 63: write a multiple of the 8 attention heads"),
        ({"sliding_window": 9}, "the architecture llama is not covered: it has no sliding_window, and the file says 9"),
        ({"model_type": "qwen3", "layer_types": ["full_attention"] * 3},
         ('layer_types = ["full_attention", "full_attention", "full_attention"]: '
         "write a list of one text for each of the 4 layers")),
        ({"model_type": "gemma2", "layer_types": ["full_attention"] * 3 + ["linear_attention"]},
         'the architecture gemma2 is not covered: layer_types has "linear_attention", which no law counts'),
        ({"model_type": "qwen2", "layer_types": ["full_attention"] * 3 + ["sliding_attention"]},
         "use_sliding_window is missing: write true, as layer_types has sliding_attention"),
        ({"model_type": "gemma2", "sliding_window": None},
         "sliding_window is missing: write the tokens that a sliding layer keeps"),
        ({"model_type": "mamba2"}, ("the architecture mamba2 is not covered: some of its layers are Mamba layers, "
         "which keep a state in place of keys and values")),
        (QWEN_MOE | {"num_experts_per_tok": 9}, "num_experts_per_tok = 9: write at most num_experts = 8"),
        (QWEN_MOE | {"num_experts": None},
         "num_experts is missing: write a whole number of at least 1 and under 10^18"),
        (QWEN_MOE | {"decoder_sparse_step": 2}, ("the architecture qwen3_moe is not covered: "
         "decoder_sparse_step puts dense layers between those with experts")),
        (QWEN_MOE | {"mlp_only_layers": [1]},
         "the architecture qwen3_moe is not covered: mlp_only_layers makes single layers dense"),
        (DEEPSEEK | {"first_k_dense_replace": 5}, "first_k_dense_replace = 5: write at most num_hidden_layers = 4"),
        (DEEPSEEK | {"moe_layer_freq": 2}, ("the architecture deepseek_v3 is not covered: "
         "moe_layer_freq puts dense layers between those with experts")),
        (DEEPSEEK | {"index_topk": 9},
         "the architecture deepseek_v3 is not covered: it has no index_topk, and the file says 9"),
        (LLAMA | {"model_type": "smollm3", "use_sliding_window": True}, ("the architecture smollm3 is not covered: "
         "use_sliding_window is true, and its layers slide by where they have no rotary positions")),
        ({k: v for k, v in DEEPSEEK.items() if k != "n_shared_experts"},
         "n_shared_experts is missing: write their number, or null where the model has none"),
        ({k: v for k, v in DEEPSEEK.items() if k != "q_lora_rank"},
         "q_lora_rank is missing: write its size, or null where the model has none"),
        ({"model_type": "qwen3_vl"},
         "text_config is missing: write the language model of qwen3_vl as an object, { ... }"),
        ({"model_type": "qwen3_vl", "text_config": LLAMA},
         'text_config.model_type = "llama": write qwen3_vl_text, as model_type is qwen3_vl'),
        ({"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text"}},
         "text_config.num_hidden_layers is missing: write a whole number of at least 1 and under 10^18"),
        ({"model_type": "qwen3_vl", "tie_word_embeddings": True,
          "text_config": NESTED_LLAMA["text_config"] | {"tie_word_embeddings": False}},  # type: ignore[operator]
         "text_config.tie_word_embeddings = false: write true, as outside of text_config"),
        ({"model_type": "mistral3", "text_config": LLAMA | {"model_type": "mistral"}},
         "tie_word_embeddings is missing: write it outside of text_config too, where it is true by default"),
        ({"model_type": "qwen3_vl", "text_config": NESTED_LLAMA["text_config"] | {"tie_word_embeddings": True}},  # type: ignore[operator]
         "tie_word_embeddings is missing: write it outside of text_config too, where it is false by default"),
        ({"model_type": "gpt2", "n_positions": 64, "max_position_embeddings": 32},
         "max_position_embeddings = 32: write 64, as for n_positions"),
        ({"model_type": "gpt_neox"}, "num_key_value_heads = 2: write 8, which follows from the other sizes"),
        ({"model_type": "gpt_neox", "num_key_value_heads": 8, "head_dim": 16},
         "head_dim = 16: write 8, which follows from the other sizes"),
        ({"model_type": "qwen2_vl", "head_dim": 16}, "head_dim = 16: write 8, which follows from the other sizes"),
        ({"model_type": "qwen3_vl", "text_config": NESTED_LLAMA["text_config"] | {"sliding_window": 9}},  # type: ignore[operator]
         "the architecture qwen3_vl_text is not covered: it has no text_config.sliding_window, and the file says 9"),
        ({"model_type": "ernie4_5", "head_dim": None},
         "head_dim is missing: write the size of one head, as null and silence mean different sizes"),
        ({"model_type": "falcon", "multi_query": None}, "multi_query is missing: write true or false"),
        ({"model_type": "mistral", "num_hidden_layers": 1, "layer_types": ["full_attention"]},
         'layer_types = ["full_attention"]: write sliding_attention for every layer, as sliding_window is 4096'),
        ({"model_type": "phi3", "num_hidden_layers": 1, "sliding_window": None, "layer_types": ["sliding_attention"]},
         'layer_types = ["sliding_attention"]: write full_attention for every layer, as sliding_window is null'),
        ({"model_type": "stablelm", "head_dim": 16}, "head_dim = 16: write 8, which follows from the other sizes"),
        (QWEN_MOE | {"num_local_experts": 7}, "num_local_experts = 7: write 8, as for num_experts"),
        ({"model_type": "opt", "max_position_embeddings": 9, "ffn_dim": 7, "_remove_final_layer_norm": True},
         ("the architecture opt is not covered: "
         "_remove_final_layer_norm is true, which takes the last norm away")),
        ({"model_type": "falcon", "num_ln_in_parallel_attn": 2},
         "num_ln_in_parallel_attn = 2: write 1, as new_decoder_architecture is false"),
        ({"model_type": "falcon", "new_decoder_architecture": True, "num_ln_in_parallel_attn": 3},
         "num_ln_in_parallel_attn = 3: write 1 or 2"),
        ({"model_type": "falcon", "new_decoder_architecture": True, "parallel_attn": False},
         ("the architecture falcon is not covered: "
         "new_decoder_architecture is true and parallel_attn is not, and its class does not run so")),
        ({"model_type": "cohere", "use_qk_norm": True},
         "the architecture cohere is not covered: use_qk_norm is true, and every head has a norm of its own"),
        ({"model_type": "stablelm", "qk_layernorm": True},
         "the architecture stablelm is not covered: qk_layernorm is true, and every head has a norm of its own"),
        ({"model_type": "hunyuan_v1_dense"}, "head_dim is missing: write a whole number of at least 1 and under 10^18"),
        (MPT | {"expansion_ratio": 8},
         "the architecture mpt is not covered: expansion_ratio is not 4, and its class builds no other inner size"),
        (MPT | {"no_bias": False},
         "the architecture mpt is not covered: no_bias is false, and its class builds no biases"),
        (MPT | {"attn_config": {"attn_type": "multiquery_attention"}},
         ("the architecture mpt is not covered: "
         "attn_config.attn_type lets its heads share keys, and its class has a key head for each")),
        (MPT | {"attn_config": {"alibi": False}},
         ("the architecture mpt is not covered: "
         "attn_config asks for norms of queries or for learned positions, and its class builds none")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_what_would_be_right(said: dict[str, Any], says: str, tmp_path: Path) -> None:
    whole = said if said.keys() >= {"num_hidden_layers", "vocab_size"} else LLAMA | said
    assert complaint(tmp_path, whole) == f"config.json: {says}"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it is not valid JSON: Expecting value"),
        (b"{", "it is not valid JSON: Expecting property name"),
        (b"layers = 4", "it is not valid JSON: Expecting value"),
        (b"\xff", "it is not UTF-8 text"),
        (b"[]", "it holds no JSON object"),
        (b"null", "it holds no JSON object"),
        (b"[" * 100_000, "its values are nested too deeply"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "it is not valid JSON"),
        (b" " * (16 * 2**20 + 1), "it is larger than 16 MiB"),
    ],
    ids=["empty", "cut", "toml", "latin", "list", "null", "deep", "digits", "long"],
)
def test_what_is_no_json_object_is_said_in_one_sentence(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(config.UnreadableConfig) as caught:
        config.read(path)
    assert str(caught.value).startswith(f"cannot read config.json: {why}")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none.json", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(config.UnreadableConfig) as caught:
            config.read(str(path))
        assert str(caught.value) == f"cannot read {path.name}: {why}"


@pytest.mark.law
@pytest.mark.parametrize("name", STRUCTURAL)
def test_a_shape_that_the_architecture_does_not_have_is_refused(name: str, tmp_path: Path) -> None:
    model_type = "gemma" if name in {"attention_bias", "mlp_bias"} else "llama"
    plain = LLAMA | {"model_type": model_type}
    assert config.read(written(tmp_path, plain | {name: False})).model.layers == 4
    if (model_type, name) != ("gemma", "attention_bias"):
        assert f"it has no {name}, " in complaint(tmp_path, plain | {name: 2})


@pytest.mark.law
def test_an_architecture_is_read_or_refused_and_never_both() -> None:
    assert not READERS.keys() & UNCOVERED.keys()
    assert not NESTED.keys() & (READERS.keys() | UNCOVERED.keys())
    assert {kind for nest in NESTED.values() for kind in nest.kinds} <= READERS.keys()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
BASES = (LLAMA, QWEN_MOE, DEEPSEEK, NESTED_LLAMA, LLAMA | {"model_type": "gemma3_text"}, LLAMA | {"model_type": "opt"})
NAMES = sorted(
    {*STRUCTURAL, *LLAMA, *QWEN_MOE, *DEEPSEEK, "text_config", "quantization_config", "ffn_dim", "head_dim"}
    | {"max_position_embeddings", "use_sliding_window", "decoder_sparse_step", "sliding_window_pattern"}
)


@pytest.mark.fuzz
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(BASES), st.dictionaries(st.sampled_from(NAMES), JSON, max_size=3))
def test_any_values_give_a_model_or_one_sentence(tmp_path: Path, base: dict[str, Any], change: dict[str, Any]) -> None:
    path = written(tmp_path, base | change)
    try:
        numbers = config.read(path).model.quantities()
    except config.UnusableConfig as refused:
        sentence, numbers = str(refused), {}
    else:
        sentence = ""
        assert numbers["heads"] % numbers["kv_heads"] == 0
        assert all(0 <= number < 10**18 for number in numbers.values())
    assert len(sentence) < 300
    assert "\n" not in sentence
    assert bool(sentence) != bool(numbers)


@pytest.mark.meta
def test_reading_a_file_loads_neither_sympy_nor_click() -> None:
    file = str(FOLDER / "Qwen--Qwen3-8B_config.json")
    program = f"import sys\nfrom spec.catalog import config\nconfig.read({file!r})\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"sympy", "hypothesis", "jinja2", "difflib", "click"} & set(done.stdout.split())
