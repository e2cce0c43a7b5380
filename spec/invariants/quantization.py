"""Numbers that share scales, and the caches stored in this way."""

from __future__ import annotations

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import of

ALONE = of(q.stored_weight_bits, q.stored_kv_bits, q.weight_group_bits, q.kv_group_bits)
GROUPS = of(q.weight_group, q.kv_group)
LATENT = of(q.kv_lora_rank, q.qk_rope_dim, q.kv_width)

a_whole_group = Invariant(
    "group-of-numbers",
    "The numbers of a group take together their own bits and, once, what the group keeps; eight bits are a byte.",
    {**ALONE, **GROUPS},
    ("weight_bits", "kv_width"),
    lambda impl, stored_weight_bits, stored_kv_bits, weight_group_bits, kv_group_bits, weight_group, kv_group: (
        weight_group
        * impl.weight_bits(
            stored_weight_bits=stored_weight_bits, weight_group_bits=weight_group_bits, weight_group=weight_group
        )
        == weight_group * stored_weight_bits + weight_group_bits
        and 8 * kv_group * impl.kv_width(stored_kv_bits=stored_kv_bits, kv_group_bits=kv_group_bits, kv_group=kv_group)
        == kv_group * stored_kv_bits + kv_group_bits
    ),
)
latent_without_scales = Invariant(
    "latent-scales",
    "A latent cache of one width without scales is the plain one, and scales and a wider rotary key come on top.",
    {**LATENT, **of(q.latent_scale_width, q.rope_width)},
    ("kv_bytes_per_layer",),
    lambda impl, kv_lora_rank, qk_rope_dim, kv_width, latent_scale_width, rope_width: all(
        impl.kv_bytes_per_layer(**shape, latent_scale_width=0, rope_width=kv_width) == impl.kv_bytes_per_layer(**shape)
        and impl.kv_bytes_per_layer(**shape, latent_scale_width=latent_scale_width, rope_width=kv_width + rope_width)
        - impl.kv_bytes_per_layer(**shape)
        == latent_scale_width + qk_rope_dim * rope_width
        for shape in [{"kv_lora_rank": kv_lora_rank, "qk_rope_dim": qk_rope_dim, "kv_width": kv_width}]
    ),
)
layers_together = Invariant(
    "kv-of-layers",
    "One layer caches what a layer caches, on one GPU or on each of a group, and one more layer adds as much.",
    of(q.layers, q.kv_bytes_per_layer),
    ("kv_bytes_per_token", "kv_bytes_per_token_per_gpu"),
    lambda impl, layers, kv_bytes_per_layer: all(
        function(layers=1, **layer) == kv_bytes_per_layer
        and function(layers=layers + 1, **layer) - function(layers=layers, **layer) == kv_bytes_per_layer
        for function, layer in (
            (impl.kv_bytes_per_token, {"kv_bytes_per_layer": kv_bytes_per_layer}),
            (impl.kv_bytes_per_token_per_gpu, {"kv_bytes_per_layer_per_gpu": kv_bytes_per_layer}),
        )
    ),
)
