"""What each known architecture makes of its config.json: sizes from the file, traits from the architecture.

The traits are those of the model's class in transformers 5.24.0; a default is used only where that class has it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from spec.catalog.config_fields import FULL, SLIDING, Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Traits = dict[str, Any]


NOTHING: Mapping[str, int] = MappingProxyType({})
# Where key heads are not written, every query head has its own.
HEAD_EACH: Mapping[str, int] = MappingProxyType({})


def _sizes(c: Fields, *, tied: bool, usual: Mapping[str, int] = NOTHING) -> Traits:
    """Return the sizes that most architectures spell alike, but for the head size.

    `usual` are defaults of the architecture, by the name of the field. Every field without one must be written.
    """
    layers, hidden = c.size("num_hidden_layers"), c.size("hidden_size")
    heads = c.size("num_attention_heads", default=usual.get("num_attention_heads"))
    kv_heads = c.size("num_key_value_heads", default=heads if usual is HEAD_EACH else usual.get("num_key_value_heads"))
    if heads % kv_heads:
        raise c.invalid("num_key_value_heads", f"write a divisor of num_attention_heads = {heads}")
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": kv_heads,
        "intermediate": c.size("intermediate_size"),
        "vocab": c.size("vocab_size", default=usual.get("vocab_size")),
        "tied": c.tied(default=tied),
        "gated": True,
        "window": c.optional("max_position_embeddings"),
    }


def _decoder(c: Fields, *, tied: bool, usual: Mapping[str, int] = NOTHING) -> Traits:
    """Return the sizes that most architectures spell alike."""
    found = _sizes(c, tied=tied, usual=usual)
    if "head_dim" in usual or c.said.get("head_dim") is not None:
        return found | {"head_dim": c.size("head_dim", default=usual.get("head_dim"))}
    return found | {"head_dim": c.default("head_dim", _equal_heads(c, "hidden_size", found["hidden"], found["heads"]))}


def _equal_heads(c: Fields, name: str, hidden: int, heads: int) -> int:
    if hidden % heads:
        raise c.invalid(name, f"write a multiple of the {heads} attention heads")
    return hidden // heads


# Sliding windows


def _every_layer_slides(c: Fields, layers: int, default: int | None = None) -> Traits:
    window = c.optional("sliding_window", default)
    return {} if window is None else {"sliding_window": window, "sliding_layers": layers}


def _some_layers_slide(c: Fields, layers: int, usual: int, default: int) -> Traits:
    """Read the kinds of the layers; where they are not listed, `usual` of them slide."""
    kinds = c.layer_kinds(layers, (FULL, SLIDING))
    count = usual if kinds is None else kinds.count(SLIDING)
    if kinds is None:
        c.default("layer_types", f"{usual} of {layers} layers slide")
    window = c.optional("sliding_window", default)
    if count and window is None:
        raise c.invalid("sliding_window", "write the tokens that a sliding layer keeps")
    return {"sliding_window": window, "sliding_layers": count} if count else {}


def _qwen_slides(c: Fields, layers: int) -> Traits:
    if not c.flag("use_sliding_window", default=False):
        c.ignore("sliding_window", "max_window_layers")
        kinds = c.layer_kinds(layers, (FULL, SLIDING))
        if kinds is not None and SLIDING in kinds:
            raise c.invalid("use_sliding_window", f"write true, as layer_types has {SLIDING}")
        return {}
    first = c.size("max_window_layers", default=28, least=0)
    return _some_layers_slide(c, layers, max(layers - first, 0), 4096)


# Experts


def _experts(c: Fields, number: str, inner: str = "moe_intermediate_size") -> Traits:
    other = "num_experts" if number == "num_local_experts" else "num_local_experts"  # transformers writes either
    experts, picked = c.size(number, other), c.size("num_experts_per_tok")
    if picked > experts:
        raise c.invalid("num_experts_per_tok", f"write at most {number} = {experts}")
    return {"experts": experts, "experts_per_token": picked, "moe_intermediate": c.size(inner)}


def _beside_routed(c: Fields, layers: int) -> Traits:
    dense = c.size("first_k_dense_replace", least=0)
    if dense > layers:
        raise c.invalid("first_k_dense_replace", f"write at most num_hidden_layers = {layers}")
    if "n_shared_experts" not in c.said:
        raise c.invalid("n_shared_experts", "write their number, or null where the model has none")
    return {"shared_experts": c.optional("n_shared_experts", least=0) or 0, "dense_layers": dense}


def _every_layer_has_experts(c: Fields) -> None:
    if c.size("decoder_sparse_step", default=1) != 1:
        raise c.uncovered("decoder_sparse_step puts dense layers between those with experts")
    if c.said.get("mlp_only_layers"):
        raise c.uncovered("mlp_only_layers makes single layers dense")


# Architectures: Llama and its relatives


def _llama(c: Fields) -> Traits:
    found = _decoder(c, tied=False, usual=HEAD_EACH)
    bias = c.flag("attention_bias", default=False)
    return found | {"qkv_bias": bias, "o_bias": bias, "mlp_bias": c.flag("mlp_bias", default=False)}


def _smollm3(c: Fields) -> Traits:
    found = _decoder(c, tied=True)
    if c.flag("use_sliding_window", default=False):
        raise c.uncovered("use_sliding_window is true, and its layers slide by where they have no rotary positions")
    c.ignore("sliding_window")
    bias = c.flag("attention_bias", default=False)
    return found | {"qkv_bias": bias, "o_bias": bias, "mlp_bias": c.flag("mlp_bias", default=False)}


def _starcoder2(c: Fields) -> Traits:
    found = _decoder(c, tied=True)
    bias = c.flag("use_bias", default=True)
    biases = {"qkv_bias": bias, "o_bias": bias, "mlp_bias": bias}
    return found | biases | {"gated": False, "norm": "layernorm"} | _every_layer_slides(c, found["layers"])


def _mistral(c: Fields) -> Traits:
    found = _decoder(c, tied=False)
    return found | _every_layer_slides(c, found["layers"], 4096)


def _mixtral(c: Fields) -> Traits:
    found = _decoder(c, tied=False)
    experts = _experts(c, "num_local_experts", "intermediate_size")
    return found | experts | _every_layer_slides(c, found["layers"])


def _phi3(c: Fields) -> Traits:
    found = _decoder(c, tied=False, usual=HEAD_EACH)
    return found | _every_layer_slides(c, found["layers"])


def _qwen2(c: Fields) -> Traits:
    found = _decoder(c, tied=False)
    return found | {"qkv_bias": True} | _qwen_slides(c, found["layers"])


def _mimo(c: Fields) -> Traits:
    found = _decoder(c, tied=False)
    return found | {"qkv_bias": c.flag("attention_bias", default=True)} | _qwen_slides(c, found["layers"])


def _qwen3(c: Fields) -> Traits:
    found = _decoder(c, tied=False, usual={"head_dim": 128})
    bias = c.flag("attention_bias", default=False)
    return found | {"qk_norm": True, "qkv_bias": bias, "o_bias": bias} | _qwen_slides(c, found["layers"])


def _qwen3_moe(c: Fields) -> Traits:
    found = _decoder(c, tied=False)
    _every_layer_has_experts(c)
    if c.flag("use_sliding_window", default=False):
        raise c.uncovered("use_sliding_window is true, and which of its layers slide differs between servers")
    c.ignore("sliding_window", "max_window_layers")
    if c.said.get("use_qk_norm") is not None and not c.flag("use_qk_norm", default=True):
        raise c.invalid("use_qk_norm", "write true, as this architecture always norms queries and keys")
    bias = c.flag("attention_bias", default=False)
    experts = _experts(c, "num_experts")
    return found | {"qk_norm": True, "qkv_bias": bias, "o_bias": bias} | experts


def _glm4_moe(c: Fields) -> Traits:
    found = _decoder(c, tied=False)
    traits = {"qkv_bias": c.flag("attention_bias", default=False), "qk_norm": c.flag("use_qk_norm", default=False)}
    return found | traits | _experts(c, "n_routed_experts") | _beside_routed(c, found["layers"])


def _gpt_oss(c: Fields) -> Traits:
    found = _decoder(c, tied=False, usual={"head_dim": 64})
    bias = c.flag("attention_bias", default=True)
    traits = {"qkv_bias": bias, "o_bias": bias, "mlp_bias": True, "router_bias": True, "attention_sinks": True}
    experts = _experts(c, "num_local_experts", "intermediate_size")
    sliding = _some_layers_slide(c, found["layers"], (found["layers"] + 1) // 2, 128)
    return found | traits | experts | sliding


# Gemma


def _gemma(c: Fields, usual: Mapping[str, int] = NOTHING) -> Traits:
    found = _decoder(c, tied=True, usual={"head_dim": 256, **usual})
    bias = c.flag("attention_bias", default=False)
    return found | {"qkv_bias": bias, "o_bias": bias}


def _gemma2(c: Fields) -> Traits:
    found = _gemma(c) | {"norms_per_layer": 4}
    return found | _some_layers_slide(c, found["layers"], (found["layers"] + 1) // 2, 4096)


def _gemma3(c: Fields) -> Traits:
    # Published files with images leave these to the class.
    usual = {"num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 262_208} if c.place else NOTHING
    found = _gemma(c, usual) | {"norms_per_layer": 4, "qk_norm": True}
    layers = found["layers"]
    every = c.size("sliding_window_pattern", "_sliding_window_pattern", default=6)
    return found | _some_layers_slide(c, layers, layers - layers // every, 4096)


# DeepSeek


def _deepseek(c: Fields) -> Traits:
    found = _sizes(c, tied=False, usual=HEAD_EACH)
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
    return found | latent | _experts(c, "n_routed_experts") | _beside_routed(c, found["layers"])


# Older architectures: LayerNorm, no gate, biases


def _classic(c: Fields, *, tied: bool) -> Traits:
    """Return what the architectures with the names of GPT-2 share."""
    hidden, heads = c.size("n_embd", "hidden_size"), c.size("n_head", "num_attention_heads")
    return {
        "layers": c.size("n_layer", "num_hidden_layers"),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": heads,
        "head_dim": _equal_heads(c, "n_embd", hidden, heads),
        "intermediate": c.size("n_inner", default=4 * hidden),
        "vocab": c.size("vocab_size"),
        "tied": c.tied(default=tied),
        "gated": False,
        "window": c.size("n_positions"),
        "norm": "layernorm",
        "mlp_bias": True,
    }


def _gpt2(c: Fields) -> Traits:
    found = _classic(c, tied=True)
    return found | {"qkv_bias": True, "o_bias": True, "position_embeddings": found["window"]}


def _gptj(c: Fields) -> Traits:
    return _classic(c, tied=False) | {"norms_per_layer": 1, "lm_head_bias": True}


def _gpt_neox(c: Fields) -> Traits:
    found = _decoder(c, tied=False, usual=HEAD_EACH)
    bias = c.flag("attention_bias", default=True)
    return found | {"gated": False, "norm": "layernorm", "qkv_bias": bias, "o_bias": bias, "mlp_bias": True}


def _phi(c: Fields) -> Traits:
    found = _decoder(c, tied=False, usual=HEAD_EACH)
    biases = {"qkv_bias": True, "o_bias": True, "mlp_bias": True, "lm_head_bias": True}
    return found | biases | {"gated": False, "norm": "layernorm", "norms_per_layer": 1}


def _opt(c: Fields) -> Traits:
    hidden, heads, window = c.size("hidden_size"), c.size("num_attention_heads"), c.size("max_position_embeddings")
    if c.size("word_embed_proj_dim", default=hidden) != hidden:
        raise c.uncovered("word_embed_proj_dim is not hidden_size, so that its embeddings are projected")
    for name in ("do_layer_norm_before", "layer_norm_elementwise_affine", "enable_bias"):
        if not c.flag(name, default=True):
            raise c.uncovered(f"{name} is false, which changes its norms or biases")
    return {
        "layers": c.size("num_hidden_layers"),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": heads,
        "head_dim": _equal_heads(c, "hidden_size", hidden, heads),
        "intermediate": c.size("ffn_dim"),
        "vocab": c.size("vocab_size"),
        "tied": c.tied(default=True),
        "gated": False,
        "window": window,
        "norm": "layernorm",
        "qkv_bias": True,
        "o_bias": True,
        "mlp_bias": True,
        "position_embeddings": window + 2,
    }


def _falcon(c: Fields) -> Traits:
    hidden, heads = c.size("hidden_size"), c.size("num_attention_heads", "n_head")
    new = c.flag("new_decoder_architecture", default=False)
    if new:
        kv_heads = c.size("num_kv_heads", default=heads)
        norms = c.size("num_ln_in_parallel_attn", default=2)
    else:
        kv_heads = 1 if c.flag("multi_query", default=True) else heads
        norms = 1 if c.flag("parallel_attn", default=True) else 2
    if heads % kv_heads:
        raise c.invalid("num_kv_heads", f"write a divisor of num_attention_heads = {heads}")
    bias = c.flag("bias", default=False)
    return {
        "layers": c.size("num_hidden_layers", "n_layer"),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": _equal_heads(c, "hidden_size", hidden, heads),
        "intermediate": c.size("ffn_hidden_size", default=4 * hidden),
        "vocab": c.size("vocab_size"),
        "tied": c.tied(default=True),
        "gated": False,
        "window": c.size("max_position_embeddings", default=2048),
        "norm": "layernorm",
        "norms_per_layer": norms,
        "qkv_bias": bias,
        "o_bias": bias,
        "mlp_bias": bias,
    }


READERS: Mapping[str, Callable[[Fields], Traits]] = MappingProxyType(
    {
        "deepseek_v2": _deepseek,
        "deepseek_v3": _deepseek,
        "falcon": _falcon,
        "gemma": _gemma,
        "gemma2": _gemma2,
        "gemma3_text": _gemma3,
        "glm4_moe": _glm4_moe,
        "gpt2": _gpt2,
        "gpt_neox": _gpt_neox,
        "gpt_oss": _gpt_oss,
        "gptj": _gptj,
        "granite": _llama,
        "kimi_k2": _deepseek,
        "llama": _llama,
        "mimo": _mimo,
        "mistral": _mistral,
        "mixtral": _mixtral,
        "opt": _opt,
        "phi": _phi,
        "phi3": _phi3,
        "qwen2": _qwen2,
        "qwen3": _qwen3,
        "qwen3_moe": _qwen3_moe,
        "qwen3_vl_text": _qwen3,
        "qwen3_vl_moe_text": _qwen3_moe,
        "smollm3": _smollm3,
        "starcoder2": _starcoder2,
    }
)

# Architectures whose language model is nested, and what that may be.
NESTED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "gemma3": ("gemma3_text",),
        "kimi_k25": ("kimi_k2", "deepseek_v3"),
        "qwen3_vl": ("qwen3_vl_text",),
        "qwen3_vl_moe": ("qwen3_vl_moe_text",),
    }
)
