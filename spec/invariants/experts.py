"""How parameters add up where attention is latent, and where layers hold experts with a router."""

from __future__ import annotations

from typing import Any

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Grid, of
from spec.invariants.parameters import AROUND, part
from spec.solving import Exact

ATTENTION = ("attention_parameters",)
KEYS = ("hidden", "heads", "kv_lora_rank", "qk_nope_dim", "qk_rope_dim", "v_head_dim")
LATENT = of(q.hidden, q.heads, q.q_lora_rank, q.kv_lora_rank, q.qk_nope_dim, q.qk_rope_dim, q.v_head_dim)
EXPERT = of(q.hidden, q.moe_intermediate, q.gated, q.mlp_bias)
MIXED = {
    **of(
        q.hidden, q.vocab, q.tied, q.position_embeddings, q.norms_per_layer, q.norm_vectors, q.lm_head_bias,
        q.attention_parameters, q.feed_forward_parameters, q.dense_layers, q.experts, q.experts_per_token,
        q.shared_experts, q.expert_parameters, q.router_parameters,
    ),
    "routed_layers": Grid(1, 24),
}  # fmt: skip
TOTAL = (*AROUND, "attention_parameters", "feed_forward_parameters", "dense_layers", "experts", "shared_experts",
         "expert_parameters", "router_parameters")  # fmt: skip

PLAIN: dict[str, Exact] = {
    "hidden": 1, "vocab": 1, "tied": 0, "position_embeddings": 0, "norms_per_layer": 0, "norm_vectors": 0,
    "lm_head_bias": 0, "feed_forward_parameters": 1, "dense_layers": 0, "routed_layers": 1, "experts": 1,
    "shared_experts": 0, "router_parameters": 1,
}  # fmt: skip


def more(impl: Any, sizes: dict[str, Exact], name: str) -> Any:
    """Return what one more of something costs in the parameters of latent attention."""
    return impl.attention_parameters(**{**sizes, name: sizes[name] + 1}) - impl.attention_parameters(**sizes)


def layered(shape: dict[str, Exact]) -> dict[str, Exact]:
    """Give the layers of a shape: those with a dense network, then those with experts."""
    return {**shape, "layers": shape["dense_layers"] + shape["routed_layers"]}


def total(impl: Any, **shape: Exact) -> Any:
    """Return all parameters of a model with experts."""
    return impl.parameters(**part(layered(shape), TOTAL))


def active(impl: Any, **shape: Exact) -> Any:
    """Return the parameters that a token meets."""
    names = [name for name in TOTAL if name != "experts"]
    return impl.active_parameters(**part(layered(shape), [*names, "experts_per_token"]))


latent_head = Invariant(
    "latent-head",
    "One more latent head adds its rows of queries and keys, of expanded keys and values, and its output columns.",
    LATENT,
    ATTENTION,
    lambda impl, **s: (
        more(impl, s, "heads")
        == s["q_lora_rank"] * (s["qk_nope_dim"] + s["qk_rope_dim"])
        + s["kv_lora_rank"] * (s["qk_nope_dim"] + s["v_head_dim"])
        + s["v_head_dim"] * s["hidden"]
    ),
)
latent_ranks = Invariant(
    "latent-ranks",
    "One more element of a compressed vector adds its way in from the width, its scale in the norm, "
    "and its way out to every head.",
    LATENT,
    ATTENTION,
    lambda impl, **s: (
        more(impl, s, "q_lora_rank") == s["hidden"] + 1 + s["heads"] * (s["qk_nope_dim"] + s["qk_rope_dim"])
        and more(impl, s, "kv_lora_rank") == s["hidden"] + 1 + s["heads"] * (s["qk_nope_dim"] + s["v_head_dim"])
    ),
)
latent_parts_of_a_head = Invariant(
    "latent-parts-of-a-head",
    "A rotary element is expanded for the queries of each head but has one key for all of them; "
    "one without rotation is expanded for both, and a value is expanded and projected back.",
    LATENT,
    ATTENTION,
    lambda impl, **s: (
        more(impl, s, "qk_rope_dim") == s["heads"] * s["q_lora_rank"] + s["hidden"]
        and more(impl, s, "qk_nope_dim") == s["heads"] * (s["q_lora_rank"] + s["kv_lora_rank"])
        and more(impl, s, "v_head_dim") == s["heads"] * (s["kv_lora_rank"] + s["hidden"])
    ),
)
latent_outside_the_ranks = Invariant(
    "latent-outside-ranks",
    "What twice the ranks do not double is the shared rotary key and the output projection.",
    LATENT,
    ATTENTION,
    lambda impl, **s: (
        2 * impl.attention_parameters(**s)
        - impl.attention_parameters(**{**s, "q_lora_rank": 2 * s["q_lora_rank"], "kv_lora_rank": 2 * s["kv_lora_rank"]})
        == s["hidden"] * (s["qk_rope_dim"] + s["heads"] * s["v_head_dim"])
    ),
)
uncompressed_queries = Invariant(
    "latent-queries-uncompressed",
    "Compressing the queries puts two narrow matrices and a norm in the place of one from the width to all heads.",
    LATENT,
    ATTENTION,
    lambda impl, **s: (
        impl.attention_parameters(**s) - impl.attention_parameters(**part(s, KEYS))
        == s["q_lora_rank"] * (s["hidden"] + 1)
        + (s["q_lora_rank"] - s["hidden"]) * s["heads"] * (s["qk_nope_dim"] + s["qk_rope_dim"])
    ),
)
expert_is_a_network = Invariant(
    "expert-is-a-network",
    "An expert has the parameters of a dense network of its inner size.",
    EXPERT,
    ("expert_parameters", "feed_forward_parameters"),
    lambda impl, hidden, moe_intermediate, gated, mlp_bias: (
        impl.expert_parameters(hidden=hidden, moe_intermediate=moe_intermediate, gated=gated, mlp_bias=mlp_bias)
        == impl.feed_forward_parameters(hidden=hidden, intermediate=moe_intermediate, gated=gated, mlp_bias=mlp_bias)
    ),
)
router_row = Invariant(
    "router-row",
    "Every routed expert has a row of the width in the router, and a bias if there is one; nothing else is there.",
    {**of(q.hidden, q.router_bias), "one": Grid(1, 40), "other": Grid(1, 40)},
    ("router_parameters",),
    lambda impl, hidden, router_bias, one, other: (
        impl.router_parameters(hidden=hidden, router_bias=router_bias, experts=one) == one * (hidden + router_bias)
        and impl.router_parameters(hidden=hidden, router_bias=router_bias, experts=one + other)
        == impl.router_parameters(hidden=hidden, router_bias=router_bias, experts=one)
        + impl.router_parameters(hidden=hidden, router_bias=router_bias, experts=other)
    ),
)
dense_without_experts = Invariant(
    "experts-in-no-layer",
    "A model whose layers are all dense has the parameters of a dense model, whatever its experts would be.",
    MIXED,
    ("parameters",),
    lambda impl, **shape: (
        impl.parameters(**part({**layered(shape), "dense_layers": layered(shape)["layers"]}, TOTAL))
        == impl.parameters(**part(layered(shape), [*AROUND, "attention_parameters", "feed_forward_parameters"]))
    ),
)
layer_of_experts = Invariant(
    "experts-for-a-network",
    "A layer of experts in place of a dense one holds all of them, routed and shared, and a router, but no network.",
    MIXED,
    ("parameters",),
    lambda impl, **shape: (
        total(impl, **{**shape, "routed_layers": shape["routed_layers"] + 1})
        - total(impl, **{**shape, "dense_layers": shape["dense_layers"] + 1})
        == (shape["experts"] + shape["shared_experts"]) * shape["expert_parameters"]
        + shape["router_parameters"]
        - shape["feed_forward_parameters"]
    ),
)
met_by_all = Invariant(
    "active-of-all",
    "A token that is sent to every routed expert meets all parameters.",
    MIXED,
    ("active_parameters", "parameters"),
    lambda impl, **shape: active(impl, **{**shape, "experts_per_token": shape["experts"]}) == total(impl, **shape),
)
not_met = Invariant(
    "active-and-idle",
    "What a token does not meet are, in each layer of experts, the routed experts that it is not sent to.",
    MIXED,
    ("active_parameters", "parameters"),
    lambda impl, **shape: (
        total(impl, **shape) - active(impl, **shape)
        == shape["routed_layers"] * (shape["experts"] - shape["experts_per_token"]) * shape["expert_parameters"]
    ),
)
active_is_a_share = Invariant(
    "active-share-false",
    "A token that is sent to half of the experts meets half of the parameters.",
    of(q.expert_parameters, q.experts_per_token, q.attention_parameters),
    ("active_parameters", "parameters"),
    lambda impl, expert_parameters, experts_per_token, attention_parameters: (
        2 * active(impl, **{**PLAIN, "expert_parameters": expert_parameters, "experts_per_token": experts_per_token,
                            "attention_parameters": attention_parameters})
        == total(impl, **{**PLAIN, "expert_parameters": expert_parameters, "experts": 2 * experts_per_token,
                          "attention_parameters": attention_parameters})
    ),
    refuted={"expert_parameters": 1, "experts_per_token": 1, "attention_parameters": 1},
    why="Attention, the embeddings and the router are met by every token.",
)  # fmt: skip
