"""Shapes that several architectures share: how sizes, windows and experts are spelled in a config.json."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from spec.catalog.config_fields import FULL, SLIDING, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spec.catalog.config_fields import Fields

Traits = dict[str, Any]

NOTHING: Mapping[str, int] = MappingProxyType({})
# Where key heads are not written, every query head has its own.
HEAD_EACH: Mapping[str, int] = MappingProxyType({})


def sizes(c: Fields, *, tied: bool, usual: Mapping[str, int] = NOTHING) -> Traits:
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


def decoder(c: Fields, *, tied: bool, usual: Mapping[str, int] = NOTHING) -> Traits:
    """Return the sizes that most architectures spell alike."""
    found = sizes(c, tied=tied, usual=usual)
    if "head_dim" in usual and "head_dim" in c.said and c.said["head_dim"] is None:
        raise c.invalid("head_dim", "write the size of one head, as null and silence mean different sizes")
    if "head_dim" in usual or c.said.get("head_dim") is not None:
        return found | {"head_dim": c.size("head_dim", default=usual.get("head_dim"))}
    return found | {"head_dim": c.default("head_dim", equal_heads(c, "hidden_size", found["hidden"], found["heads"]))}


def equal_heads(c: Fields, name: str, hidden: int, heads: int) -> int:
    """Return the size of heads that together span the hidden size, whose field is `name`."""
    if hidden % heads:
        raise c.invalid(name, f"write a multiple of the {heads} attention heads")
    return hidden // heads


def spanning(c: Fields, found: Traits) -> int:
    """Return the head size of an architecture that leaves no choice of it."""
    return c.fixed("head_dim", equal_heads(c, "hidden_size", found["hidden"], found["heads"]))


# Sliding windows


def every_layer_slides(c: Fields, layers: int, default: int | None = None) -> Traits:
    """Read a window of all layers; null means that none slides."""
    window = c.optional("sliding_window", default)
    kind, kinds = FULL if window is None else SLIDING, c.layer_kinds(layers, (FULL, SLIDING))
    if kinds is not None and set(kinds) != {kind}:
        raise c.invalid("layer_types", f"write {kind} for every layer, as sliding_window is {shown(window)}")
    return {} if window is None else {"sliding_window": window, "sliding_layers": layers}


def some_layers_slide(c: Fields, layers: int, usual: int, default: int) -> Traits:
    """Read the kinds of the layers; where they are not listed, `usual` of them slide."""
    kinds = c.layer_kinds(layers, (FULL, SLIDING))
    count = usual if kinds is None else kinds.count(SLIDING)
    if kinds is None:
        c.default("layer_types", f"{usual} of {layers} layers slide")
    window = c.optional("sliding_window", default)
    if count and window is None:
        raise c.invalid("sliding_window", "write the tokens that a sliding layer keeps")
    return {"sliding_window": window, "sliding_layers": count} if count else {}


def late_layers_slide(c: Fields, layers: int) -> Traits:
    """Read a window that has a switch, and that the first layers never have."""
    if not c.flag("use_sliding_window", default=False):
        c.ignore("sliding_window", "max_window_layers")
        kinds = c.layer_kinds(layers, (FULL, SLIDING))
        if kinds is not None and SLIDING in kinds:
            raise c.invalid("use_sliding_window", f"write true, as layer_types has {SLIDING}")
        return {}
    first = c.size("max_window_layers", default=28, least=0)
    return some_layers_slide(c, layers, max(layers - first, 0), 4096)


# Experts


def experts(c: Fields, number: str, inner: str = "moe_intermediate_size") -> Traits:
    """Read routed experts: the fields of their number and of their inner size differ between architectures."""
    other = "num_experts" if number == "num_local_experts" else "num_local_experts"  # transformers writes either
    routed, picked = c.size(number, other), c.size("num_experts_per_tok")
    if picked > routed:
        raise c.invalid("num_experts_per_tok", f"write at most {number} = {routed}")
    return {"experts": routed, "experts_per_token": picked, "moe_intermediate": c.size(inner)}


def beside_routed(c: Fields, layers: int) -> Traits:
    """Read shared experts, and the leading layers that have none."""
    dense = c.size("first_k_dense_replace", least=0)
    if dense > layers:
        raise c.invalid("first_k_dense_replace", f"write at most num_hidden_layers = {layers}")
    if "n_shared_experts" not in c.said:
        raise c.invalid("n_shared_experts", "write their number, or null where the model has none")
    return {"shared_experts": c.optional("n_shared_experts", least=0) or 0, "dense_layers": dense}


def every_layer_has_experts(c: Fields) -> None:
    """Refuse dense layers between those with experts."""
    if c.size("decoder_sparse_step", default=1) != 1:
        raise c.uncovered("decoder_sparse_step puts dense layers between those with experts")
    if c.said.get("mlp_only_layers"):
        raise c.uncovered("mlp_only_layers makes single layers dense")
