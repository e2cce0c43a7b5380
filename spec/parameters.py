"""How many parameters a decoder has: by the rule of thumb and by its structure."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Identity, Slip, author_order

with author_order():
    parameters_approx = Identity(
        q.parameters_approx,
        12 * q.layers * q.hidden**2 + 2 * q.vocab * q.hidden,
        says="Twelve H-by-H blocks per layer (four for attention, eight feed-forward) and two embeddings.",
        section="model-weights",
        slips=[
            Slip(
                "attention-only",
                "Only the four attention projections were counted; the feed-forward network adds 8 H^2 per layer.",
                4 * q.layers * q.hidden**2 + 2 * q.vocab * q.hidden,
            ),
            Slip(
                "feed-forward-only",
                "Only the feed-forward network was counted; the attention projections add 4 H^2 per layer.",
                8 * q.layers * q.hidden**2 + 2 * q.vocab * q.hidden,
            ),
            Slip("embeddings-forgotten", "The embedding matrices (2 V H) were left out.", 12 * q.layers * q.hidden**2),
            Slip(
                "one-embedding",
                "One V-by-H matrix was counted; the embedding and the output head make two.",
                12 * q.layers * q.hidden**2 + q.vocab * q.hidden,
            ),
            Slip(
                "gated-four-h",
                "A third feed-forward matrix was added at the full inner size of 4 H: 16 H^2 per layer.",
                16 * q.layers * q.hidden**2 + 2 * q.vocab * q.hidden,
            ),
            Slip(
                "hidden-not-squared",
                "The hidden size was not squared: each matrix is H by H.",
                12 * q.layers * q.hidden + 2 * q.vocab * q.hidden,
            ),
            Slip(
                "exponent-on-layers",
                "The square stands on the layers instead of on the hidden size.",
                12 * q.layers**2 * q.hidden + 2 * q.vocab * q.hidden,
            ),
        ],
    )

    attention_parameters = Identity(
        q.attention_parameters,
        (2 * q.heads + 2 * q.kv_heads) * q.head_dim * q.hidden
        + q.qkv_bias * (q.heads + 2 * q.kv_heads) * q.head_dim
        + q.o_bias * q.hidden
        + q.qk_norm * 2 * q.head_dim
        + q.attention_sinks * q.heads,
        says="Attention projects to queries, keys and values, and back.",
        superseded_by=(q.kv_lora_rank,),
        section="model-weights",
        slips=[
            Slip(
                "all-heads-have-keys",
                "Keys and values were given one head per query head; grouped attention shares them.",
                4 * q.heads * q.head_dim * q.hidden
                + q.qkv_bias * 3 * q.heads * q.head_dim
                + q.o_bias * q.hidden
                + q.qk_norm * 2 * q.head_dim
                + q.attention_sinks * q.heads,
                unless=sympy.Eq(q.heads, q.kv_heads),
            ),
        ],
    )
    feed_forward_parameters = Identity(
        q.feed_forward_parameters,
        (2 + q.gated) * q.hidden * q.intermediate + q.mlp_bias * ((1 + q.gated) * q.intermediate + q.hidden),
        says="The feed-forward network goes up to its inner size and down again, gated by a third matrix or not.",
        section="model-weights",
        slips=[
            Slip(
                "gate-forgotten",
                "The gating matrix of the feed-forward network was left out.",
                2 * q.hidden * q.intermediate + q.mlp_bias * (q.intermediate + q.hidden),
                unless=sympy.Eq(q.gated, 0),
            ),
        ],
    )
    embeddings = (2 - q.tied) * q.vocab * q.hidden
    positions = q.position_embeddings * q.hidden
    norms = q.norms_per_layer * q.norm_vectors * q.hidden
    last = q.norm_vectors * q.hidden + q.lm_head_bias * q.vocab
    blocks = q.attention_parameters + q.feed_forward_parameters
    parameters = Identity(
        q.parameters,
        embeddings + positions + q.layers * (blocks + norms) + last,
        says="A dense decoder: embeddings, then layers of attention and a feed-forward network with their norms.",
        section="model-weights",
        source="structure of decoders as in their public definitions",
        superseded_by=(q.experts,),
        slips=[
            Slip(
                "norms-forgotten",
                "The norm vectors were left out.",
                embeddings + positions + q.layers * blocks + q.lm_head_bias * q.vocab,
                unless=sympy.Eq(q.norm_vectors, 0),
            ),
            Slip(
                "embeddings-forgotten",
                "The embedding and output matrices were left out.",
                positions + q.layers * (blocks + norms) + last,
            ),
            Slip(
                "layers-only",
                "Only the matrices of the layers were counted: embeddings, output head and norms were left out.",
                q.layers * blocks,
            ),
            Slip(
                "one-embedding",
                "One V-by-H matrix was counted; the embedding and the output head make two.",
                q.vocab * q.hidden + positions + q.layers * (blocks + norms) + last,
                unless=sympy.Eq(q.tied, 1),
            ),
            Slip(
                "attention-only",
                "Only the attention projections were counted; the feed-forward network has matrices too.",
                embeddings + positions + q.layers * (q.attention_parameters + norms) + last,
            ),
            Slip(
                "feed-forward-only",
                "Only the feed-forward network was counted; attention has projections too.",
                embeddings + positions + q.layers * (q.feed_forward_parameters + norms) + last,
            ),
            Slip(
                "tied-counted-twice",
                "The shared embedding matrix was counted twice.",
                2 * q.vocab * q.hidden + positions + q.layers * (blocks + norms) + last,
                unless=sympy.Eq(q.tied, 0),
            ),
        ],
    )
