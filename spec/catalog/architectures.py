"""What each known architecture makes of its config.json: sizes from the file, traits from the architecture.

The traits are those of the model's class in transformers 5.24.0; a default is used only where that class has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from spec.catalog import config_older as older
from spec.catalog.config_shapes import (
    HEAD_EACH,
    NOTHING,
    beside_routed,
    decoder,
    every_layer_has_experts,
    every_layer_slides,
    experts,
    late_layers_slide,
    sizes,
    some_layers_slide,
    spanning,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spec.catalog.config_fields import Fields
    from spec.catalog.config_shapes import Traits

# Architectures: Llama and its relatives


def _attention_bias(c: Fields) -> Traits:
    bias = c.flag("attention_bias", default=False)
    return {"qkv_bias": bias, "o_bias": bias}


def _biases(c: Fields) -> Traits:
    return _attention_bias(c) | {"mlp_bias": c.flag("mlp_bias", default=False)}


def _llama(c: Fields) -> Traits:
    return decoder(c, tied=False, usual=HEAD_EACH) | _biases(c)


def _arcee(c: Fields) -> Traits:
    return _llama(c) | {"gated": False}


def _olmo(c: Fields) -> Traits:
    return decoder(c, tied=False, usual=HEAD_EACH) | _attention_bias(c) | {"norm": "none"}


def _granite_moe(c: Fields) -> Traits:
    found = decoder(c, tied=False, usual=HEAD_EACH)
    return found | _attention_bias(c) | experts(c, "num_local_experts", "intermediate_size")


def _seed_oss(c: Fields) -> Traits:
    found = decoder(c, tied=False, usual={"head_dim": 128})
    bias, out = c.flag("attention_bias", default=True), c.flag("attention_out_bias", default=False)
    return found | {"qkv_bias": bias, "o_bias": out, "mlp_bias": c.flag("mlp_bias", default=False)}


def _hunyuan(c: Fields) -> Traits:
    found = decoder(c, tied=False, usual={"head_dim": c.size("head_dim")})  # its class has no size of its own
    _always_norms_heads(c)
    return found | _normed_heads(c)


def _ernie(c: Fields) -> Traits:
    found = decoder(c, tied=True, usual={"head_dim": 128})
    bias = c.flag("use_bias", default=False)
    return found | {"qkv_bias": bias, "o_bias": bias, "mlp_bias": bias}


def _cohere(c: Fields) -> Traits:
    found = decoder(c, tied=True, usual=HEAD_EACH)
    if c.flag("use_qk_norm", default=False):
        raise c.uncovered("use_qk_norm is true, and every head has a norm of its own")
    # One norm for attention and feed-forward network, which run side by side; its scale without shift is counted alike.
    return found | _attention_bias(c) | {"norm": "rmsnorm", "norms_per_layer": 1}


def _stablelm(c: Fields) -> Traits:
    found = sizes(c, tied=False)
    if c.flag("qk_layernorm", default=False):
        raise c.uncovered("qk_layernorm is true, and every head has a norm of its own")
    norms = 1 if c.flag("use_parallel_residual", default=False) else 2
    bias = c.flag("use_qkv_bias", default=False)
    return found | {"head_dim": spanning(c, found), "norm": "layernorm", "norms_per_layer": norms, "qkv_bias": bias}


def _nemotron(c: Fields) -> Traits:
    return decoder(c, tied=False) | _biases(c) | {"gated": False, "norm": "layernorm"}


def _smollm3(c: Fields) -> Traits:
    found = decoder(c, tied=True)
    if c.flag("use_sliding_window", default=False):
        raise c.uncovered("use_sliding_window is true, and its layers slide by where they have no rotary positions")
    c.ignore("sliding_window")
    return found | _biases(c)


def _starcoder2(c: Fields) -> Traits:
    found = decoder(c, tied=True)
    bias = c.flag("use_bias", default=True)
    biases = {"qkv_bias": bias, "o_bias": bias, "mlp_bias": bias}
    return found | biases | {"gated": False, "norm": "layernorm"} | every_layer_slides(c, found["layers"])


def _mistral(c: Fields) -> Traits:
    found = decoder(c, tied=False)
    return found | every_layer_slides(c, found["layers"], 4096)


def _ministral3(c: Fields) -> Traits:
    found = decoder(c, tied=False, usual={"head_dim": 128})
    return found | every_layer_slides(c, found["layers"])


def _mixtral(c: Fields) -> Traits:
    found = decoder(c, tied=False)
    routed = experts(c, "num_local_experts", "intermediate_size")
    return found | routed | every_layer_slides(c, found["layers"])


def _phimoe(c: Fields) -> Traits:
    found = decoder(c, tied=False)
    traits = _attention_bias(c) | {"norm": "layernorm", "lm_head_bias": c.flag("lm_head_bias", default=False)}
    routed = experts(c, "num_local_experts", "intermediate_size")
    return found | traits | routed | every_layer_slides(c, found["layers"])


def _exaone4(c: Fields) -> Traits:
    found = decoder(c, tied=False)
    layers, listed = found["layers"], c.said.get("layer_types") is not None
    if listed:
        c.ignore("sliding_window_pattern")
    usual = 0 if listed else layers - layers // c.size("sliding_window_pattern", default=4)
    return found | {"qk_norm": True} | some_layers_slide(c, layers, usual, 4096)


def _phi3(c: Fields) -> Traits:
    found = decoder(c, tied=False, usual=HEAD_EACH)
    return found | every_layer_slides(c, found["layers"])


def _qwen2(c: Fields) -> Traits:
    found = decoder(c, tied=False)
    return found | {"qkv_bias": True} | late_layers_slide(c, found["layers"])


def _qwen2_vl(c: Fields) -> Traits:
    found = sizes(c, tied=False)
    return found | {"head_dim": spanning(c, found), "qkv_bias": True} | late_layers_slide(c, found["layers"])


def _mimo(c: Fields) -> Traits:
    found = decoder(c, tied=False)
    return found | {"qkv_bias": c.flag("attention_bias", default=True)} | late_layers_slide(c, found["layers"])


def _qwen3(c: Fields) -> Traits:
    found = _qwen3_vl(c)
    return found | late_layers_slide(c, found["layers"])


def _qwen3_vl(c: Fields) -> Traits:
    return decoder(c, tied=False, usual={"head_dim": 128}) | _normed_heads(c)


def _normed_heads(c: Fields) -> Traits:
    return _attention_bias(c) | {"qk_norm": True}


def _always_norms_heads(c: Fields) -> None:
    if c.said.get("use_qk_norm") is not None and not c.flag("use_qk_norm", default=True):
        raise c.invalid("use_qk_norm", "write true, as this architecture always norms queries and keys")


def _qwen3_moe(c: Fields) -> Traits:
    if c.flag("use_sliding_window", default=False):
        raise c.uncovered("use_sliding_window is true, and which of its layers slide differs between servers")
    c.ignore("sliding_window", "max_window_layers")
    return _qwen3_vl_moe(c)


def _qwen3_vl_moe(c: Fields) -> Traits:
    found = decoder(c, tied=False)
    every_layer_has_experts(c)
    _always_norms_heads(c)
    return found | _normed_heads(c) | experts(c, "num_experts")


def _glm(c: Fields) -> Traits:
    found = decoder(c, tied=False, usual={"head_dim": 128})
    return found | {"qkv_bias": c.flag("attention_bias", default=True)}


def _glm4(c: Fields) -> Traits:
    return _glm(c) | {"norms_per_layer": 4}


def _glm4_moe(c: Fields) -> Traits:
    found = decoder(c, tied=False)
    traits = {"qkv_bias": c.flag("attention_bias", default=False), "qk_norm": c.flag("use_qk_norm", default=False)}
    return found | traits | experts(c, "n_routed_experts") | beside_routed(c, found["layers"])


def _gpt_oss(c: Fields) -> Traits:
    found = decoder(c, tied=False, usual={"head_dim": 64})
    bias = c.flag("attention_bias", default=True)
    traits = {"qkv_bias": bias, "o_bias": bias, "mlp_bias": True, "router_bias": True, "attention_sinks": True}
    routed = experts(c, "num_local_experts", "intermediate_size")
    sliding = some_layers_slide(c, found["layers"], (found["layers"] + 1) // 2, 128)
    return found | traits | routed | sliding


# Gemma


def _gemma(c: Fields, usual: Mapping[str, int] = NOTHING) -> Traits:
    return decoder(c, tied=True, usual={"head_dim": 256, **usual}) | _attention_bias(c)


def _gemma2(c: Fields) -> Traits:
    found = _gemma(c) | {"norms_per_layer": 4}
    return found | some_layers_slide(c, found["layers"], (found["layers"] + 1) // 2, 4096)


def _gemma3(c: Fields) -> Traits:
    # Published files with images leave these to the class.
    usual = {"num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 262_208} if c.place else NOTHING
    found = _gemma(c, usual) | {"norms_per_layer": 4, "qk_norm": True}
    layers = found["layers"]
    every = c.size("sliding_window_pattern", "_sliding_window_pattern", default=6)
    return found | some_layers_slide(c, layers, layers - layers // every, 4096)


# DeepSeek


def _deepseek(c: Fields) -> Traits:
    found = sizes(c, tied=False, usual=HEAD_EACH)
    for name in ("attention_bias", "mlp_bias"):
        if c.flag(name, default=False):
            raise c.uncovered(f"{name} is true, and latent attention is counted without biases")
    if c.size("moe_layer_freq", default=1) != 1:
        raise c.uncovered("moe_layer_freq puts dense layers between those with experts")
    if "q_lora_rank" not in c.said:
        raise c.invalid("q_lora_rank", "write its size, or null where the model has none")
    rope, nope = c.size("qk_rope_head_dim"), c.size("qk_nope_head_dim")
    latent = {
        "head_dim": rope + nope,  # files write head_dim in several senses
        "kv_lora_rank": c.size("kv_lora_rank"),
        "q_lora_rank": c.optional("q_lora_rank"),
        "qk_rope_dim": rope,
        "qk_nope_dim": nope,
        "v_head_dim": c.size("v_head_dim"),
    }
    return found | latent | experts(c, "n_routed_experts") | beside_routed(c, found["layers"])


READERS: Mapping[str, Callable[[Fields], Traits]] = MappingProxyType(
    {
        "arcee": _arcee,
        "codegen": older.gptj,
        "cohere": _cohere,
        "deepseek_v2": _deepseek,
        "deepseek_v3": _deepseek,
        "ernie4_5": _ernie,
        "exaone4": _exaone4,
        "falcon": older.falcon,
        "gemma": _gemma,
        "gemma2": _gemma2,
        "gemma3_text": _gemma3,
        "glm": _glm,
        "glm4": _glm4,
        "glm4_moe": _glm4_moe,
        "gpt2": older.gpt2,
        "gpt_bigcode": older.gpt_bigcode,
        "gpt_neox": older.gpt_neox,
        "gpt_oss": _gpt_oss,
        "gptj": older.gptj,
        "granite": _llama,
        "granitemoe": _granite_moe,
        "hunyuan_v1_dense": _hunyuan,
        "kimi_k2": _deepseek,
        "llama": _llama,
        "mimo": _mimo,
        "ministral3": _ministral3,
        "mistral": _mistral,
        "mixtral": _mixtral,
        "mpt": older.mpt,
        "nemotron": _nemotron,
        "olmo": _olmo,
        "opt": older.opt,
        "phi": older.phi,
        "phi3": _phi3,
        "phimoe": _phimoe,
        "qwen2": _qwen2,
        "qwen2_5_vl_text": _qwen2_vl,
        "qwen2_vl_text": _qwen2_vl,
        "qwen3": _qwen3,
        "qwen3_moe": _qwen3_moe,
        "qwen3_vl_text": _qwen3_vl,
        "qwen3_vl_moe_text": _qwen3_vl_moe,
        "seed_oss": _seed_oss,
        "smollm3": _smollm3,
        "stablelm": _stablelm,
        "starcoder2": _starcoder2,
    }
)


@dataclass(frozen=True, slots=True)
class Nest:
    """An architecture whose language model is nested.

    Attributes:
        kinds: the architectures that the language model may have.
        tied: whether its class ties the output head where the outer fields do not say; None where the inner fields
            then decide.
        flat: the language model may also stand among the outer fields, as in its older files.
    """

    kinds: tuple[str, ...]
    tied: bool | None
    flat: bool = False


NESTED: Mapping[str, Nest] = MappingProxyType(
    {
        "gemma3": Nest(("gemma3_text",), tied=True),
        "kimi_k25": Nest(("kimi_k2", "deepseek_v3"), tied=True),
        "mistral3": Nest(("mistral", "ministral3"), tied=True),
        "qwen2_5_vl": Nest(("qwen2_5_vl_text",), tied=None, flat=True),
        "qwen2_vl": Nest(("qwen2_vl_text",), tied=None, flat=True),
        "qwen3_vl": Nest(("qwen3_vl_text",), tied=False),
        "qwen3_vl_moe": Nest(("qwen3_vl_moe_text",), tied=False),
    }
)
