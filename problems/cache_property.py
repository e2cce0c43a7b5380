"""What every right size of a KV cache has in common: it is proportional to the context and to every dimension."""

from grader.property import Clause, Named, PropertyFamily, Setting
from spec import quantities as q
from spec.memory import (
    kv_bytes_per_sequence,
    kv_bytes_per_token,
    kv_bytes_per_token_approx,
    kv_bytes_per_token_latent,
)

ALL_HEADS = kv_bytes_per_token_approx.changed(left=q.kv_bytes_per_token, slips=kv_bytes_per_token_approx.slips)
GIVES = "the bytes that the KV cache of one sequence takes"

family = PropertyFamily(
    settings=(
        Setting(
            "In a decoder several query heads share one key-value head.",
            (
                Named(
                    "kv",
                    GIVES,
                    kv_bytes_per_sequence.composed(kv_bytes_per_token),
                    q.kv_bytes_per_sequence,
                    (q.context, q.layers, q.kv_heads, q.head_dim, q.kv_width),
                    ("L * (n_kv * d_h + n_kv * d_h) * b * c",),
                ),
            ),
            "kv(c + x) == kv(c) + kv(x)",
            (
                Clause(
                    "kv(2*c, L=3*L, n_kv=5*n_kv, d_h=7*d_h, b=11*b) == 2310*kv(c)",
                    "The cache grows in proportion to each of its arguments.",
                ),
                Clause(
                    "kv(c, L=1, n_kv=1, d_h=1, b=1) == 2*c",
                    "One head of one element in one layer keeps a key and a value of every token.",
                ),
            ),
        ),
        Setting(
            "In a decoder every query head has its own key-value head, and together they span the hidden size.",
            (
                Named(
                    "kv",
                    GIVES,
                    kv_bytes_per_sequence.composed(ALL_HEADS),
                    q.kv_bytes_per_sequence,
                    (q.context, q.layers, q.hidden, q.kv_width),
                    ("L * H * b * (c + c)",),
                ),
            ),
            "kv(c + x) == kv(c) + kv(x)",
            (
                Clause(
                    "kv(2*c, L=3*L, H=5*H, b=7*b) == 210*kv(c)",
                    "The cache grows in proportion to each of its arguments.",
                ),
                Clause(
                    "kv(c, L=1, H=1, b=1) == 2*c", "One element in one layer keeps a key and a value of every token."
                ),
            ),
        ),
        Setting(
            "A decoder caches a compressed vector and a rotary key per token and layer, for keys and values at once.",
            (
                Named(
                    "kv",
                    GIVES,
                    kv_bytes_per_sequence.composed(kv_bytes_per_token_latent),
                    q.kv_bytes_per_sequence,
                    (q.context, q.layers, q.kv_lora_rank, q.qk_rope_dim, q.kv_width),
                    ("c * L * r_kv * b + c * L * d_rope * b",),
                ),
            ),
            "kv(c + x) == kv(c) + kv(x)",
            (
                Clause(
                    "kv(2*c, L=3*L, b=5*b, r_kv=7*r_kv, d_rope=7*d_rope) == 210*kv(c)",
                    "The cache grows in proportion to context, layers and width, and to both vectors together.",
                ),
                Clause(
                    "kv(c, L=1, b=1, r_kv=2, d_rope=1) == 3*c",
                    "Two elements of the one vector and one of the other are three, and none is kept twice.",
                ),
            ),
        ),
    ),
    objective="kv-cache-size",
    section="kv-cache",
)
