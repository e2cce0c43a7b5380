"""The parameter count of a described architecture, as a formula (F01)."""

from grader.family import FormulaFamily, Trait
from spec import quantities as q
from spec.parameters import attention_parameters, feed_forward_parameters, parameters

VOCABULARIES = (32_000, 50_257, 65_024, 128_256, 152_064, 256_000)
LEFT_OUT = (
    *(q.norm_vectors, q.qk_norm, q.attention_sinks, q.position_embeddings),
    *(q.qkv_bias, q.o_bias, q.mlp_bias, q.lm_head_bias),
)
SPAN_HIDDEN = {q.heads: q.hidden / q.head_dim}


def embeddings(size: str, means: dict[q.Quantity, int]) -> tuple[Trait, Trait]:
    """Separate or shared embedding matrices over one vocabulary."""
    return (
        Trait(
            f"The embedding and the output head are separate matrices over a vocabulary of {size}.", {q.tied: 0} | means
        ),
        Trait(f"The output head reuses the embedding matrix, over a vocabulary of {size}.", {q.tied: 1} | means),
    )


family = FormulaFamily(
    law=parameters.composed(attention_parameters, feed_forward_parameters),
    always=dict.fromkeys(LEFT_OUT, 0),
    traits=(
        (*embeddings("V", {}), *(trait for v in VOCABULARIES for trait in embeddings(f"{v:,}", {q.vocab: v}))),
        (
            Trait(
                "The feed-forward network is two matrices of inner size 4H.", {q.gated: 0, q.intermediate: 4 * q.hidden}
            ),
            Trait("The feed-forward network is two matrices of inner size I.", {q.gated: 0}),
            Trait("The feed-forward network is gated: three matrices of inner size I.", {q.gated: 1}),
            Trait(
                "The feed-forward network is gated: three matrices of inner size 4H.",
                {q.gated: 1, q.intermediate: 4 * q.hidden},
            ),
        ),
        (
            Trait(
                "The heads together span H, and each has its own key and value head.",
                {q.kv_heads: q.heads} | SPAN_HIDDEN,
            ),
            *(
                Trait(
                    f"The query heads together span H; every {n} of them share one key and value head.",
                    {q.kv_heads: q.heads / n} | SPAN_HIDDEN,
                )
                for n in (2, 4, 8)
            ),
            *(
                Trait(
                    f"The query heads together span H; all of them share one key and value head of size {n}.",
                    {q.kv_heads: 1} | SPAN_HIDDEN | {q.head_dim: n},
                )
                for n in (64, 128)
            ),
        ),
    ),
    opening="A decoder has L layers and hidden size H.",
    closing="Count the matrices only: no biases, no norms.",
    objective="parameter-count",
    section="model-weights",
    revision=3,
)
