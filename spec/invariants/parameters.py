"""How parameters add up: by the rule of thumb, by the structure, and where the two meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Among, Draws, Grid, of
from spec.solving import Exact

RULE = ("parameters_approx",)
COUNT = ("attention_parameters", "feed_forward_parameters", "parameters")
BOTH = (*COUNT, "parameters_approx")
SIZES = of(q.layers, q.hidden, q.vocab)
SHAPE: Draws = {
    **of(
        q.layers, q.hidden, q.vocab, q.heads, q.kv_heads, q.head_dim, q.intermediate, q.gated, q.tied, q.qkv_bias,
        q.o_bias, q.mlp_bias, q.lm_head_bias, q.qk_norm, q.norm_vectors, q.attention_sinks,
    ),
    "norms_per_layer": Grid(0, 4),
    "position_embeddings": Grid(0, 64),
}  # fmt: skip
MATRICES_ONLY = {
    **dict.fromkeys(["tied", "qkv_bias", "o_bias", "mlp_bias", "lm_head_bias", "qk_norm", "attention_sinks"], 0),
    **dict.fromkeys(["norm_vectors", "norms_per_layer", "position_embeddings"], 0),
}


ATTENTION = ("hidden", "heads", "kv_heads", "head_dim", "qkv_bias", "o_bias", "qk_norm", "attention_sinks")
FEED_FORWARD = ("hidden", "intermediate", "gated", "mlp_bias")
AROUND = (
    *("layers", "hidden", "vocab", "tied", "position_embeddings", "norms_per_layer", "norm_vectors", "lm_head_bias"),
)


def part(shape: Mapping[str, Exact], names: Iterable[str]) -> dict[str, Exact]:
    """Return some sizes of a shape."""
    return {name: shape[name] for name in names}


def count(impl: Any, **shape: Exact) -> Any:
    """Return the parameters of a dense model, put together from its attention and its feed-forward network."""
    return impl.parameters(
        **part(shape, AROUND),
        attention_parameters=impl.attention_parameters(**part(shape, ATTENTION)),
        feed_forward_parameters=impl.feed_forward_parameters(**part(shape, FEED_FORWARD)),
    )


def moved(impl: Any, shape: dict[str, Exact], name: str) -> Any:
    """Return what one more of something costs in parameters; for a flag, what setting it costs."""
    start = 0 if name in SHAPE and isinstance(SHAPE[name], Among) else shape[name]
    return count(impl, **{**shape, name: start + 1}) - count(impl, **{**shape, name: start})


layers_add = Invariant(
    "I01",
    "Two stacks of layers on the same embeddings have the parameters of both, less one pair of embedding matrices.",
    {**of(q.hidden, q.vocab), "one": Grid(1, 40), "other": Grid(1, 40)},
    RULE,
    lambda impl, hidden, vocab, one, other: (
        impl.parameters_approx(layers=one + other, hidden=hidden, vocab=vocab)
        == impl.parameters_approx(layers=one, hidden=hidden, vocab=vocab)
        + impl.parameters_approx(layers=other, hidden=hidden, vocab=vocab)
        - 2 * vocab * hidden
    ),
)
every_size_counts = Invariant(
    "I02",
    "One more layer, one more element of width and one more word each add parameters.",
    SIZES,
    RULE,
    lambda impl, **sizes: all(
        impl.parameters_approx(**{**sizes, name: sizes[name] + 1}) > impl.parameters_approx(**sizes) for name in sizes
    ),
)
twice_as_wide = Invariant(
    "I03",
    "Twice the width is short of four times the parameters by two embedding matrices of the doubled width.",
    SIZES,
    RULE,
    lambda impl, layers, hidden, vocab: (
        impl.parameters_approx(layers=layers, hidden=2 * hidden, vocab=vocab)
        == 4 * impl.parameters_approx(layers=layers, hidden=hidden, vocab=vocab) - 4 * vocab * hidden
    ),
)
wider_between = Invariant(
    "I03b",
    "Twice the width makes more than twice and less than four times the parameters.",
    SIZES,
    RULE,
    lambda impl, layers, hidden, vocab: (
        2 * impl.parameters_approx(layers=layers, hidden=hidden, vocab=vocab)
        < impl.parameters_approx(layers=layers, hidden=2 * hidden, vocab=vocab)
        < 4 * impl.parameters_approx(layers=layers, hidden=hidden, vocab=vocab)
    ),
)
layer_of_twelve = Invariant(
    "rule-layer",
    "One more layer adds twelve square matrices: four of attention and eight of the feed-forward network.",
    SIZES,
    RULE,
    lambda impl, layers, hidden, vocab: (
        impl.parameters_approx(layers=layers + 1, hidden=hidden, vocab=vocab)
        - impl.parameters_approx(layers=layers, hidden=hidden, vocab=vocab)
        == (4 + 8) * hidden**2
    ),
)
rule_is_structure = Invariant(
    "I04",
    "The rule of thumb counts exactly the matrices of full attention and an ungated network four times as wide.",
    of(q.layers, q.vocab, q.heads, q.head_dim),
    BOTH,
    lambda impl, layers, vocab, heads, head_dim: (
        count(
            impl,
            layers=layers, vocab=vocab, heads=heads, kv_heads=heads, head_dim=head_dim, hidden=heads * head_dim,
            intermediate=4 * heads * head_dim, gated=0, **MATRICES_ONLY,
        )
        == impl.parameters_approx(layers=layers, hidden=heads * head_dim, vocab=vocab)
    ),
)  # fmt: skip
gated_at_eight_thirds = Invariant(
    "I05",
    "A gated network of inner size 8 H / 3 has as many parameters as an ungated one of 4 H.",
    of(q.layers, q.vocab, q.heads, q.head_dim),
    BOTH,
    lambda impl, layers, vocab, heads, head_dim: (
        count(
            impl,
            layers=layers, vocab=vocab, heads=3 * heads, kv_heads=3 * heads, head_dim=head_dim,
            hidden=3 * heads * head_dim, intermediate=8 * heads * head_dim, gated=1, **MATRICES_ONLY,
        )
        == impl.parameters_approx(layers=layers, hidden=3 * heads * head_dim, vocab=vocab)
    ),
)  # fmt: skip
rule_from_above = Invariant(
    "I06",
    "With heads that share keys and an ungated network four times as wide, the matrices number at most the rule.",
    {**of(q.layers, q.vocab, q.kv_heads, q.head_dim), "group": Grid(1, 8)},
    BOTH,
    lambda impl, layers, vocab, kv_heads, head_dim, group: (
        count(
            impl,
            layers=layers, vocab=vocab, heads=group * kv_heads, kv_heads=kv_heads, head_dim=head_dim,
            hidden=group * kv_heads * head_dim, intermediate=4 * group * kv_heads * head_dim, gated=0, **MATRICES_ONLY,
        )
        <= impl.parameters_approx(layers=layers, hidden=group * kv_heads * head_dim, vocab=vocab)
    ),
)  # fmt: skip
query_head = Invariant(
    "count-query-head",
    "One more query head adds, in each layer, its query rows and output columns, and its query bias and sink if any.",
    SHAPE,
    COUNT,
    lambda impl, **shape: (
        moved(impl, shape, "heads")
        == shape["layers"] * (shape["head_dim"] * (2 * shape["hidden"] + shape["qkv_bias"]) + shape["attention_sinks"])
    ),
)
kv_head = Invariant(
    "count-kv-head",
    "One more key-value head adds, in each layer, its key and its value rows, each with a bias if there is one.",
    SHAPE,
    COUNT,
    lambda impl, **shape: (
        moved(impl, shape, "kv_heads")
        == shape["layers"] * shape["head_dim"] * 2 * (shape["hidden"] + shape["qkv_bias"])
    ),
)
inner_unit = Invariant(
    "count-inner-unit",
    "One more inner unit adds, in each layer, a vector of the width to each feed-forward matrix, "
    "and a bias to each of those that lead to it.",
    SHAPE,
    COUNT,
    lambda impl, **shape: (
        moved(impl, shape, "intermediate")
        == shape["layers"] * ((2 + shape["gated"]) * shape["hidden"] + shape["mlp_bias"] * (1 + shape["gated"]))
    ),
)
gate = Invariant(
    "count-gate",
    "Gating the feed-forward network adds one matrix per layer, with its bias if there is one.",
    SHAPE,
    COUNT,
    lambda impl, **shape: (
        moved(impl, shape, "gated") == shape["layers"] * shape["intermediate"] * (shape["hidden"] + shape["mlp_bias"])
    ),
)
shared_embedding = Invariant(
    "count-tied",
    "Sharing the embedding with the output head saves one matrix.",
    SHAPE,
    COUNT,
    lambda impl, **shape: moved(impl, shape, "tied") == -shape["vocab"] * shape["hidden"],
)
word = Invariant(
    "count-word",
    "One more word adds a row to the embedding and, unless shared, one to the output head, and a bias if it has one.",
    SHAPE,
    COUNT,
    lambda impl, **shape: moved(impl, shape, "vocab") == (2 - shape["tied"]) * shape["hidden"] + shape["lm_head_bias"],
)
position = Invariant(
    "count-position",
    "One more learned position adds one row of the width.",
    SHAPE,
    COUNT,
    lambda impl, **shape: moved(impl, shape, "position_embeddings") == shape["hidden"],
)
projection_biases = Invariant(
    "count-qkv-bias",
    "Biases on the projections add one number per row of queries, keys and values.",
    SHAPE,
    COUNT,
    lambda impl, **shape: (
        moved(impl, shape, "qkv_bias") == shape["layers"] * shape["head_dim"] * (shape["heads"] + 2 * shape["kv_heads"])
    ),
)
output_bias = Invariant(
    "count-o-bias",
    "A bias on the attention output adds one vector of the width per layer.",
    SHAPE,
    COUNT,
    lambda impl, **shape: moved(impl, shape, "o_bias") == shape["layers"] * shape["hidden"],
)
feed_forward_biases = Invariant(
    "count-mlp-bias",
    "Biases on the feed-forward matrices add, per layer, one vector for each: inner size in, width out.",
    SHAPE,
    COUNT,
    lambda impl, **shape: (
        moved(impl, shape, "mlp_bias")
        == shape["layers"] * ((1 + shape["gated"]) * shape["intermediate"] + shape["hidden"])
    ),
)
output_head_bias = Invariant(
    "count-lm-head-bias",
    "A bias on the output head adds one number per word.",
    SHAPE,
    COUNT,
    lambda impl, **shape: moved(impl, shape, "lm_head_bias") == shape["vocab"],
)
normed_queries = Invariant(
    "count-qk-norm",
    "Norming queries and keys adds one scale of a head's size for each of the two, per layer.",
    SHAPE,
    COUNT,
    lambda impl, **shape: moved(impl, shape, "qk_norm") == shape["layers"] * 2 * shape["head_dim"],
)
sinks = Invariant(
    "count-sinks",
    "Learned sinks add one score for each query head, per layer.",
    SHAPE,
    COUNT,
    lambda impl, **shape: moved(impl, shape, "attention_sinks") == shape["layers"] * shape["heads"],
)
layer_norm = Invariant(
    "count-norm",
    "One more norm in every layer adds its vectors of the width to each layer.",
    SHAPE,
    COUNT,
    lambda impl, **shape: (
        moved(impl, shape, "norms_per_layer") == shape["layers"] * shape["norm_vectors"] * shape["hidden"]
    ),
)
norm_vector = Invariant(
    "count-norm-vector",
    "One more vector in a norm adds the width once for every norm of the layers and once for the last one.",
    SHAPE,
    COUNT,
    lambda impl, **shape: (
        moved(impl, shape, "norm_vectors") == (shape["layers"] * shape["norms_per_layer"] + 1) * shape["hidden"]
    ),
)
outside_the_layers = Invariant(
    "count-outside-layers",
    "What twice the layers do not double is the embeddings, the positions, the last norm and the output bias.",
    SHAPE,
    COUNT,
    lambda impl, **shape: (
        2 * count(impl, **shape) - count(impl, **{**shape, "layers": 2 * shape["layers"]})
        == (2 - shape["tied"]) * shape["vocab"] * shape["hidden"]
        + (shape["position_embeddings"] + shape["norm_vectors"]) * shape["hidden"]
        + shape["lm_head_bias"] * shape["vocab"]
    ),
)
width_quadruples = Invariant(
    "wide-is-four-times",
    "Twice the width makes four times the parameters.",
    of(q.layers, q.hidden, q.vocab),
    RULE,
    lambda impl, layers, hidden, vocab: (
        impl.parameters_approx(layers=layers, hidden=2 * hidden, vocab=vocab)
        == 4 * impl.parameters_approx(layers=layers, hidden=hidden, vocab=vocab)
    ),
    refuted={"layers": 1, "hidden": 1, "vocab": 1},
    why="The embeddings only double.",
)
rule_always_above = Invariant(
    "rule-bounds-any-network",
    "The rule of thumb never undercounts the matrices, however wide the feed-forward network.",
    {**of(q.layers, q.hidden, q.vocab), "intermediate": Grid(1, 40)},
    BOTH,
    lambda impl, layers, hidden, vocab, intermediate: (
        count(
            impl,
            layers=layers, vocab=vocab, heads=1, kv_heads=1, head_dim=hidden, hidden=hidden,
            intermediate=intermediate, gated=0, **MATRICES_ONLY,
        )
        <= impl.parameters_approx(layers=layers, hidden=hidden, vocab=vocab)
    ),
    refuted={"layers": 1, "hidden": 1, "vocab": 1, "intermediate": 5},
    why="It counts an inner size of four times the width; many models have more.",
    also=("I06-false",),
)  # fmt: skip
rule_above_norms = Invariant(
    "rule-bounds-vectors-too",
    "The rule of thumb never undercounts a model of its own shape, norms included.",
    of(q.layers, q.hidden, q.vocab),
    BOTH,
    lambda impl, layers, hidden, vocab: (
        count(
            impl,
            layers=layers, vocab=vocab, heads=1, kv_heads=1, head_dim=hidden, hidden=hidden, intermediate=4 * hidden,
            gated=0, **{**MATRICES_ONLY, "norm_vectors": 1, "norms_per_layer": 2},
        )
        <= impl.parameters_approx(layers=layers, hidden=hidden, vocab=vocab)
    ),
    refuted={"layers": 1, "hidden": 1, "vocab": 1},
    why="It counts matrices only; norms and biases come on top.",
    also=("I06-false",),
)  # fmt: skip
