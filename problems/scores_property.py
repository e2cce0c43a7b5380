"""What every right count of attention scores has in common: quadratic in the length, causal or not."""

from grader.property import Clause, Named, PropertyFamily, Setting
from spec import quantities as q
from spec.attention import (
    attention_scores,
    attention_scores_per_head,
    attention_scores_per_layer,
    causal_scores_per_head,
)

causal = attention_scores_per_layer.composed(causal_scores_per_head.changed(left=q.attention_scores_per_head))
full = attention_scores_per_layer.composed(attention_scores_per_head)
every_layer = attention_scores.composed(full)

family = PropertyFamily(
    settings=(
        Setting(
            "Every token attends to every token of the context.",
            (
                Named(
                    "scores",
                    "the attention scores of one sequence",
                    every_layer,
                    q.attention_scores,
                    (q.context, q.heads, q.layers),
                    ("L * (n_h * c) * c",),
                ),
            ),
            "scores(2*c) == 4*scores(c)",
            (
                Clause(
                    "scores(2*c, n_h=3*n_h, L=5*L) == 60*scores(c)",
                    "Twice the context has four times the scores; heads and layers count in proportion.",
                ),
            ),
        ),
        Setting(
            "With causal attention a token attends to itself and to those before it; without, to all of them.",
            (
                Named(
                    "causal",
                    "the causal attention scores of one layer",
                    causal,
                    q.attention_scores_per_layer,
                    (q.context, q.heads),
                    ("n_h * (c^2 + c) / 2",),
                ),
                Named(
                    "full",
                    "the scores of one layer without a mask",
                    full,
                    q.attention_scores_per_layer,
                    (q.context, q.heads),
                    ("(n_h * c) * c",),
                ),
            ),
            "causal(1) <= full(1)",
            (Clause("causal(c + 1) + causal(c) == full(c + 1)", "Two triangles of pairs make a square."),),
        ),
    ),
    objective="attention-scores",
    section="attention",
)
