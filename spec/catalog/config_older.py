"""What older architectures make of their config.json: LayerNorm, no gate, often biases and a table of positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec.catalog.config_shapes import HEAD_EACH, decoder, equal_heads, sizes, spanning

if TYPE_CHECKING:
    from spec.catalog.config_fields import Fields
    from spec.catalog.config_shapes import Traits


def _classic(c: Fields, *, tied: bool) -> Traits:
    """Return what the architectures with the names of GPT-2 share."""
    hidden, heads = c.size("n_embd", "hidden_size"), c.size("n_head", "num_attention_heads")
    return {
        "layers": c.size("n_layer", "num_hidden_layers"),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": heads,
        "head_dim": equal_heads(c, "n_embd", hidden, heads),
        "intermediate": c.size("n_inner", default=4 * hidden),
        "vocab": c.size("vocab_size"),
        "tied": c.tied(default=tied),
        "gated": False,
        "window": c.size("n_positions", "max_position_embeddings"),
        "norm": "layernorm",
        "mlp_bias": True,
    }


def gpt2(c: Fields) -> Traits:
    """Read a GPT-2."""
    found = _classic(c, tied=True)
    return found | {"qkv_bias": True, "o_bias": True, "position_embeddings": found["window"]}


def gpt_bigcode(c: Fields) -> Traits:
    """Read a first StarCoder: a GPT-2 whose query heads share one key head."""
    return gpt2(c) | ({"kv_heads": 1} if c.flag("multi_query", default=True) else {})


def gptj(c: Fields) -> Traits:
    """Read a GPT-J or a CodeGen: one norm before attention and feed-forward network, which run side by side."""
    return _classic(c, tied=False) | {"norms_per_layer": 1, "lm_head_bias": True}


def gpt_neox(c: Fields) -> Traits:
    """Read a GPT-NeoX or a Pythia."""
    found = sizes(c, tied=False, usual=HEAD_EACH)
    found |= {"kv_heads": c.fixed("num_key_value_heads", found["heads"]), "head_dim": spanning(c, found)}
    bias = c.flag("attention_bias", default=True)
    return found | {"gated": False, "norm": "layernorm", "qkv_bias": bias, "o_bias": bias, "mlp_bias": True}


def phi(c: Fields) -> Traits:
    """Read a Phi-1, 1.5 or 2: one norm before attention and feed-forward network, which run side by side."""
    found = decoder(c, tied=False, usual=HEAD_EACH)
    biases = {"qkv_bias": True, "o_bias": True, "mlp_bias": True, "lm_head_bias": True}
    return found | biases | {"gated": False, "norm": "layernorm", "norms_per_layer": 1}


def opt(c: Fields) -> Traits:
    """Read an OPT; its table of positions has two rows more than the window."""
    hidden, heads, window = c.size("hidden_size"), c.size("num_attention_heads"), c.size("max_position_embeddings")
    if c.size("word_embed_proj_dim", default=hidden) != hidden:
        raise c.uncovered("word_embed_proj_dim is not hidden_size, so that its embeddings are projected")
    for name in ("do_layer_norm_before", "layer_norm_elementwise_affine", "enable_bias"):
        if not c.flag(name, default=True):
            raise c.uncovered(f"{name} is false, which changes its norms or biases")
    if c.flag("_remove_final_layer_norm", default=False):
        raise c.uncovered("_remove_final_layer_norm is true, which takes the last norm away")
    return {
        "layers": c.size("num_hidden_layers"),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": heads,
        "head_dim": equal_heads(c, "hidden_size", hidden, heads),
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


def mpt(c: Fields) -> Traits:
    """Read an MPT: norms without shift, and distances in place of positions."""
    hidden, heads = c.size("d_model", "hidden_size"), c.size("n_heads", "num_attention_heads")
    if c.size("expansion_ratio", default=4) != 4:  # noqa: PLR2004  the only ratio that its class in transformers builds
        raise c.uncovered("expansion_ratio is not 4, and its class builds no other inner size")
    if not c.flag("no_bias", default=True):
        raise c.uncovered("no_bias is false, and its class builds no biases")
    attention = c.said.get("attn_config")
    said = attention if isinstance(attention, dict) else {}
    if said.get("attn_type", "multihead_attention") != "multihead_attention":
        raise c.uncovered("attn_config.attn_type lets its heads share keys, and its class has a key head for each")
    if said.get("qk_ln") or not said.get("alibi", True):
        raise c.uncovered("attn_config asks for norms of queries or for learned positions, and its class builds none")
    return {
        "layers": c.size("n_layers", "num_hidden_layers"),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": heads,
        "head_dim": equal_heads(c, "d_model", hidden, heads),
        "intermediate": 4 * hidden,
        "vocab": c.size("vocab_size"),
        "tied": c.tied(default=True),
        "gated": False,
        "window": c.optional("max_seq_len"),
        "norm": "rmsnorm",  # counted alike: a scale and no shift
    }


def _falcon_attention(c: Fields, heads: int) -> tuple[int, int]:
    """Return the key heads, and the norms of a layer."""
    parallel, norms = c.flag("parallel_attn", default=True), "num_ln_in_parallel_attn"
    if not c.flag("new_decoder_architecture", default=False):
        if parallel and c.size(norms, default=1) != 1:
            raise c.invalid(norms, "write 1, as new_decoder_architecture is false")
        c.ignore(norms)
        return 1 if c.flag("multi_query", default=True) else heads, 1 if parallel else 2
    if not parallel:
        raise c.uncovered("new_decoder_architecture is true and parallel_attn is not, and its class does not run so")
    found = c.size(norms, default=2)
    if found not in {1, 2}:
        raise c.invalid(norms, "write 1 or 2")
    c.ignore("multi_query")
    return c.size("num_kv_heads", default=heads), found


def falcon(c: Fields) -> Traits:
    """Read a Falcon of either kind."""
    hidden, heads = c.size("hidden_size"), c.size("num_attention_heads", "n_head")
    kv_heads, norms = _falcon_attention(c, heads)
    if heads % kv_heads:
        raise c.invalid("num_kv_heads", f"write a divisor of num_attention_heads = {heads}")
    bias = c.flag("bias", default=False)
    return {
        "layers": c.size("num_hidden_layers", "n_layer"),
        "hidden": hidden,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": equal_heads(c, "hidden_size", hidden, heads),
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
