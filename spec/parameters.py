"""How many parameters a decoder has: by the rule of thumb and by its structure."""

from __future__ import annotations

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

    attention_matrices = (2 * q.heads + 2 * q.kv_heads) * q.head_dim * q.hidden
    feed_forward_matrices = (2 + q.gated) * q.hidden * q.intermediate
    projection_biases = q.qkv_bias * (q.heads + 2 * q.kv_heads) * q.head_dim
    layer = attention_matrices + feed_forward_matrices + projection_biases
    norms = 2 * q.hidden
    embeddings = (2 - q.tied) * q.vocab * q.hidden
    parameters = Identity(
        q.parameters,
        embeddings + q.layers * (layer + norms) + q.hidden,
        says="All matrices and vectors of a dense decoder: embeddings, attention, feed-forward network, norm scales.",
        section="model-weights",
        source="structure of Llama-style decoders as in their public definitions",
        slips=[
            Slip(
                "norms-forgotten",
                "The norm vectors (two per layer and a last one) were left out.",
                embeddings + q.layers * layer,
            ),
            Slip(
                "embeddings-forgotten",
                "The embedding and output matrices were left out.",
                q.layers * (layer + norms) + q.hidden,
            ),
            Slip(
                "all-heads-have-keys",
                "Keys and values were given one head per query head; grouped attention shares them.",
                embeddings
                + q.layers
                * (
                    4 * q.heads * q.head_dim * q.hidden
                    + feed_forward_matrices
                    + q.qkv_bias * 3 * q.heads * q.head_dim
                    + 2 * q.hidden
                )
                + q.hidden,
            ),
            Slip(
                "tied-counted-twice",
                "The shared embedding matrix was counted twice.",
                2 * q.vocab * q.hidden + q.layers * (layer + norms) + q.hidden,
            ),
        ],
    )
