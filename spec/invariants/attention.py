"""How attention scores grow with the length of a prompt, and over heads and layers."""

from __future__ import annotations

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Grid, of

FULL = ("attention_scores_per_head",)
CAUSAL = ("causal_scores_per_head",)
LENGTH = of(q.context)

doubling_full = Invariant(
    "I23",
    "Twice the context takes four times the scores.",
    LENGTH,
    FULL,
    lambda impl, context: (
        impl.attention_scores_per_head(context=2 * context) == 4 * impl.attention_scores_per_head(context=context)
    ),
)
doubling_causal = Invariant(
    "I23-causal",
    "Twice the context takes 2 (2n + 1) / (n + 1) times the causal scores: from three times up to short of four.",
    LENGTH,
    CAUSAL,
    lambda impl, context: (
        impl.causal_scores_per_head(context=2 * context) * (context + 1)
        == impl.causal_scores_per_head(context=context) * 2 * (2 * context + 1)
        and 3 * impl.causal_scores_per_head(context=context)
        <= impl.causal_scores_per_head(context=2 * context)
        < 4 * impl.causal_scores_per_head(context=context)
    ),
)
second_difference = Invariant(
    "I24",
    "Each further token adds two scores more than the token before it added.",
    LENGTH,
    FULL,
    lambda impl, context: (
        impl.attention_scores_per_head(context=context + 2) - impl.attention_scores_per_head(context=context + 1)
        == impl.attention_scores_per_head(context=context + 1) - impl.attention_scores_per_head(context=context) + 2
    ),
)
token_by_token = Invariant(
    "I25",
    "Decoding token by token, each scored against itself and all before it, does exactly the causal work.",
    LENGTH,
    CAUSAL,
    lambda impl, context: (
        impl.causal_scores_per_head(context=1) == 1
        and impl.causal_scores_per_head(context=context + 1) - impl.causal_scores_per_head(context=context)
        == context + 1
    ),
)
two_triangles = Invariant(
    "scores-two-triangles",
    "The full matrix is the causal triangle and the triangle of the pairs it leaves out.",
    LENGTH,
    (*FULL, *CAUSAL),
    lambda impl, context: (
        impl.attention_scores_per_head(context=context + 1)
        == impl.causal_scores_per_head(context=context + 1) + impl.causal_scores_per_head(context=context)
    ),
)
causal_is_half = Invariant(
    "causal-is-half",
    "Causal attention takes half the scores of full attention.",
    LENGTH,
    (*FULL, *CAUSAL),
    lambda impl, context: (
        2 * impl.causal_scores_per_head(context=context) == impl.attention_scores_per_head(context=context)
    ),
    refuted={"context": 1},
    why="The diagonal stays: a token is scored against itself.",
)
causal_quadruples = Invariant(
    "causal-is-four-times",
    "Twice the context takes four times the causal scores.",
    LENGTH,
    CAUSAL,
    lambda impl, context: (
        impl.causal_scores_per_head(context=2 * context) == 4 * impl.causal_scores_per_head(context=context)
    ),
    refuted={"context": 1},
    why="It stays short of four times; it is three times at one token.",
)
heads_add = Invariant(
    "scores-heads",
    "One head has the scores of a head, and every further head adds as many.",
    of(q.heads, q.attention_scores_per_head),
    ("attention_scores_per_layer",),
    lambda impl, heads, attention_scores_per_head: (
        impl.attention_scores_per_layer(heads=1, attention_scores_per_head=attention_scores_per_head)
        == attention_scores_per_head
        == impl.attention_scores_per_layer(heads=heads + 1, attention_scores_per_head=attention_scores_per_head)
        - impl.attention_scores_per_layer(heads=heads, attention_scores_per_head=attention_scores_per_head)
    ),
)
layers_add = Invariant(
    "scores-layers",
    "One layer has the scores of a layer, and every further layer adds as many.",
    of(q.layers, q.attention_scores_per_layer),
    ("attention_scores",),
    lambda impl, layers, attention_scores_per_layer: (
        impl.attention_scores(layers=1, attention_scores_per_layer=attention_scores_per_layer)
        == attention_scores_per_layer
        == impl.attention_scores(layers=layers + 1, attention_scores_per_layer=attention_scores_per_layer)
        - impl.attention_scores(layers=layers, attention_scores_per_layer=attention_scores_per_layer)
    ),
)
contrast = Invariant(
    "scores-against-cache",
    "Twice the context takes four times the scores but only twice the cache.",
    of(q.context, q.kv_bytes_per_token),
    (*FULL, "kv_bytes_per_sequence"),
    lambda impl, context, kv_bytes_per_token: (
        impl.attention_scores_per_head(context=2 * context) == 4 * impl.attention_scores_per_head(context=context)
        and impl.kv_bytes_per_sequence(context=2 * context, kv_bytes_per_token=kv_bytes_per_token)
        == 2 * impl.kv_bytes_per_sequence(context=context, kv_bytes_per_token=kv_bytes_per_token)
    ),
)
scores_add = Invariant(
    "scores-add",
    "Two prompts apart take together the scores of both joined.",
    {"one": Grid(1, 40), "other": Grid(1, 40)},
    FULL,
    lambda impl, one, other: (
        impl.attention_scores_per_head(context=one) + impl.attention_scores_per_head(context=other)
        == impl.attention_scores_per_head(context=one + other)
    ),
    refuted={"one": 1, "other": 1},
    why="Joined, every token of the one is also scored against every token of the other.",
)
