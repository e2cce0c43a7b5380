"""What a token meets of a model with experts: its operations, and the weights that a step reads at least."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Identity, Slip, author_order

with author_order():
    active_parameters_of_dense = Identity(
        q.active_parameters,
        q.parameters,
        name="active_parameters_of_dense",
        not_invertible={q.parameters: "what one token meets does not tell what is stored"},
        says="Without experts every token meets all parameters.",
        section="model-weights",
        superseded_by=(q.experts,),
    )
    flops_per_token_active = Identity(
        q.flops_per_token,
        2 * q.active_parameters,
        name="flops_per_token_active",
        constant="FLOP/token",
        says="Every parameter that a token meets is multiplied once and added once.",
        section="prefill-decode",
        slips=[
            Slip(
                "all-experts-work",
                "All experts were counted; a token meets only some of them.",
                2 * q.parameters,
                unless=sympy.Eq(q.parameters, q.active_parameters),
            )
        ],
    )
    active_weights = Identity(
        q.active_weights,
        q.active_parameters * q.weight_bits / 8,
        constant="B/bit",
        says="Every parameter that a token meets takes its bit width.",
        section="model-weights",
        slips=[
            Slip("bits-as-bytes", "The bit width was used as a number of bytes.", q.active_parameters * q.weight_bits)
        ],
    )
    decode_bytes_active = Identity(
        q.decode_bytes,
        q.active_weights + q.cached_tokens * q.kv_bytes_per_token,
        name="decode_bytes_active",
        says="With experts, a step reads at least the weights that one token meets: just these for one sequence, "
        "for more of them every expert that any of their tokens is sent to, at most all.",
        section="prefill-decode",
        slips=[
            Slip(
                "all-experts-read",
                "All weights were read; one sequence reads only the experts that its token is sent to.",
                q.weights + q.cached_tokens * q.kv_bytes_per_token,
                unless=sympy.Eq(q.weights, q.active_weights),
            )
        ],
    )
    active_weights_per_gpu = Identity(
        q.active_weights_per_gpu,
        q.active_weights / q.tensor_parallel,
        constant="GPU",
        says="Tensor parallelism splits every expert evenly.",
        section="scaling",
    )
    decode_bytes_per_gpu_active = Identity(
        q.decode_bytes_per_gpu,
        q.active_weights_per_gpu + q.cached_tokens * q.kv_bytes_per_token_per_gpu,
        name="decode_bytes_per_gpu_active",
        says="With experts, each GPU reads at least its part of the weights that one token meets, and of the cache.",
        section="scaling",
    )
