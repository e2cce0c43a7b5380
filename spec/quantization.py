"""What a stored number takes when groups of them share a scale, and the caches that are stored in this way."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Identity, Slip, author_order

BLOCKS = "block formats of public engines: a scale, and sometimes a zero point, for every group"

with author_order():
    weight_bits_with_scales = Identity(
        q.weight_bits,
        q.stored_weight_bits + q.weight_group_bits / q.weight_group,
        name="weight_bits_with_scales",
        says="A weight takes its own bits and its part of what its group keeps once.",
        section="model-weights",
        source=BLOCKS,
        slips=[
            Slip(
                "scales-forgotten",
                "The scales of the groups were left out.",
                q.stored_weight_bits,
                unless=sympy.Eq(q.weight_group_bits, 0),
            ),
            Slip(
                "scale-for-each",
                "A scale was counted for every weight; a group shares one.",
                q.stored_weight_bits + q.weight_group_bits,
                unless=sympy.Eq(q.weight_group_bits, 0),
            ),
        ],
    )
    kv_width_with_scales = Identity(
        q.kv_width,
        (q.stored_kv_bits + q.kv_group_bits / q.kv_group) / 8,
        name="kv_width_with_scales",
        constant="B/bit",
        says="A cached element takes its own bits and its part of what its group keeps once; eight bits make a byte.",
        section="kv-cache",
        source=BLOCKS,
        slips=[
            Slip(
                "scales-forgotten",
                "The scales of the groups were left out.",
                q.stored_kv_bits / 8,
                unless=sympy.Eq(q.kv_group_bits, 0),
            ),
        ],
    )
    kv_bytes_per_layer_latent_scaled = Identity(
        q.kv_bytes_per_layer,
        q.kv_lora_rank * q.kv_width + q.latent_scale_width + q.qk_rope_dim * q.rope_width,
        name="kv_bytes_per_layer_latent_scaled",
        constant="1/token",
        says="A quantised latent cache keeps scales beside the compressed vector, and the rotary key at its own width.",
        section="kv-cache",
        source="quantised latent caches of public serving engines",
        slips=[
            Slip(
                "one-width",
                "The rotary key was taken at the width of the compressed vector.",
                (q.kv_lora_rank + q.qk_rope_dim) * q.kv_width,
            )
        ],
    )
    kv_bytes_per_token_of_layers = Identity(
        q.kv_bytes_per_token,
        q.layers * q.kv_bytes_per_layer,
        name="kv_bytes_per_token_of_layers",
        says="Every layer keeps its own cache of a token.",
        section="kv-cache",
        slips=[
            Slip(
                "layers-forgotten",
                "One layer was counted; every layer keeps its own keys and values.",
                q.kv_bytes_per_layer,
                unless=sympy.Eq(q.layers, 1),
            )
        ],
    )
    kv_bytes_per_token_per_gpu_of_layers = Identity(
        q.kv_bytes_per_token_per_gpu,
        q.layers * q.kv_bytes_per_layer_per_gpu,
        name="kv_bytes_per_token_per_gpu_of_layers",
        says="On every GPU of a group, every layer keeps its part of the cache of a token.",
        section="scaling",
    )
