"""How many attention scores a prompt costs: per head, per layer and in all."""

from __future__ import annotations

from spec import quantities as q
from spec.laws import Identity, Slip, author_order

with author_order():
    attention_scores_per_head = Identity(
        q.attention_scores_per_head,
        q.context**2,
        constant="1/token^2",
        says="Every token is scored against every token: an n-by-n matrix.",
        section="attention",
        slips=[
            Slip(
                "linear", "The count was taken as linear in the length; the matrix has n rows and n columns.", q.context
            ),
            Slip(
                "pairs-without-self",
                "Each pair was counted once and no token with itself.",
                q.context * (q.context - 1) / 2,
            ),
        ],
    )
    causal_scores_per_head = Identity(
        q.causal_scores_per_head,
        q.context * (q.context + 1) / 2,
        constant="1/token^2",
        says="In a decoder a token is scored against itself and the tokens before it.",
        section="attention",
        slips=[
            Slip("full-matrix", "The full matrix was counted; later tokens are masked.", q.context**2),
            Slip("pairs-without-self", "A token is also scored against itself.", q.context * (q.context - 1) / 2),
        ],
    )
    attention_scores_per_layer = Identity(
        q.attention_scores_per_layer,
        q.heads * q.attention_scores_per_head,
        says="Every head has its own matrix.",
        section="attention",
        slips=[
            Slip("heads-forgotten", "One head was counted; every head has its own scores.", q.attention_scores_per_head)
        ],
    )
    attention_scores = Identity(
        q.attention_scores,
        q.layers * q.attention_scores_per_layer,
        says="Every layer has its own heads.",
        section="attention",
        slips=[Slip("layers-forgotten", "One layer was counted.", q.attention_scores_per_layer)],
    )
