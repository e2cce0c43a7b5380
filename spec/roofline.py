"""Which side of the roofline decides, and how much of each peak a measured time reaches."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Bound, Identity, Slip, author_order
from spec.phases import ROOFLINE

A_LABEL = "a label says on which side of the ridge something lies, not how far"

with author_order():
    prefill_is_compute_bound = Identity(
        q.prefill_is_compute_bound,
        sympy.Min(1, sympy.floor(q.prefill_flops * q.bandwidth * q.mbu / (q.prefill_bytes * q.compute * q.mfu))),
        not_invertible=dict.fromkeys((q.prefill_flops, q.prefill_bytes, q.compute, q.bandwidth, q.mfu, q.mbu), A_LABEL),
        says="Yes, 1, where the arithmetic of a prefill takes at least as long as its memory traffic; else 0.",
        section="prefill-decode",
        source=ROOFLINE,
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "sides-exchanged",
                "The shorter of the two times was taken to decide.",
                sympy.Min(
                    1, sympy.floor(q.prefill_bytes * q.compute * q.mfu / (q.prefill_flops * q.bandwidth * q.mbu))
                ),
            ),
            Slip(
                "peaks-compared",
                "The peaks were compared; what counts is the share of each that is reached.",
                sympy.Min(1, sympy.floor(q.prefill_flops * q.bandwidth / (q.prefill_bytes * q.compute))),
                unless=sympy.Eq(q.mfu, q.mbu),
            ),
        ],
    )
    decode_is_compute_bound = Identity(
        q.decode_is_compute_bound,
        sympy.Min(1, sympy.floor(q.decode_flops * q.bandwidth * q.mbu / (q.decode_bytes * q.compute * q.mfu))),
        not_invertible=dict.fromkeys((q.decode_flops, q.decode_bytes, q.compute, q.bandwidth, q.mfu, q.mbu), A_LABEL),
        says="Yes, 1, where the arithmetic of a step takes at least as long as its memory traffic; else 0.",
        section="prefill-decode",
        source=ROOFLINE,
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "sides-exchanged",
                "The shorter of the two times was taken to decide.",
                sympy.Min(1, sympy.floor(q.decode_bytes * q.compute * q.mfu / (q.decode_flops * q.bandwidth * q.mbu))),
            ),
            Slip(
                "peaks-compared",
                "The peaks were compared; what counts is the share of each that is reached.",
                sympy.Min(1, sympy.floor(q.decode_flops * q.bandwidth / (q.decode_bytes * q.compute))),
                unless=sympy.Eq(q.mfu, q.mbu),
            ),
        ],
    )

    achieved_mfu = Identity(
        q.achieved_mfu,
        q.prefill_flops / (q.prefill_time * q.compute),
        says="The operations of a prefill over those that its time holds at the peak; above 1 it cannot be.",
        section="prefill-decode",
        source=ROOFLINE,
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "attention-forgotten",
                "Only the matrices were counted; attention works too.",
                q.flops_per_token * q.prompt / (q.prefill_time * q.compute),
            )
        ],
    )
    achieved_mfu_of_decode = Identity(
        q.achieved_mfu,
        q.decode_flops / (q.decode_step_time * q.compute),
        name="achieved_mfu_of_decode",
        says="The operations of a step over those that its time holds at the peak; above 1 it cannot be.",
        section="prefill-decode",
        source=ROOFLINE,
        superseded_by=(q.tensor_parallel,),
    )
    achieved_mbu = Identity(
        q.achieved_mbu,
        q.decode_bytes / (q.decode_step_time * q.bandwidth),
        says="The bytes of a step over those that its time holds at full bandwidth; above 1 it cannot be.",
        section="prefill-decode",
        source=ROOFLINE,
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "cache-unread",
                "Only the weights were read; the cache must be read too.",
                q.weights / (q.decode_step_time * q.bandwidth),
            )
        ],
    )
    achieved_mbu_of_tpot = Identity(
        q.achieved_mbu,
        q.decode_bytes / (q.tpot * q.bandwidth),
        name="achieved_mbu_of_tpot",
        constant="1/token",
        says="The bytes of a step over those that the time per output token holds at full bandwidth.",
        section="prefill-decode",
        source=ROOFLINE,
        superseded_by=(q.tensor_parallel,),
    )
    achieved_mbu_of_prefill = Identity(
        q.achieved_mbu,
        q.prefill_bytes / (q.prefill_time * q.bandwidth),
        name="achieved_mbu_of_prefill",
        says="The bytes of a prefill over those that its time holds at full bandwidth; above 1 it cannot be.",
        section="prefill-decode",
        source=ROOFLINE,
        superseded_by=(q.tensor_parallel,),
    )
    achieved_mfu_of_group = Identity(
        q.achieved_mfu,
        q.prefill_flops_per_gpu / (q.prefill_time * q.compute),
        name="achieved_mfu_of_group",
        says="On a group, each GPU does its part of the operations in that time.",
        section="scaling",
        source=ROOFLINE,
        slips=[
            Slip(
                "operations-not-shared",
                "One GPU was taken to do all operations; the group shares them.",
                q.prefill_flops / (q.prefill_time * q.compute),
                unless=sympy.Eq(q.prefill_flops, q.prefill_flops_per_gpu),
            )
        ],
    )
    achieved_mbu_of_group = Identity(
        q.achieved_mbu,
        q.decode_bytes_per_gpu / (q.decode_step_time * q.bandwidth),
        name="achieved_mbu_of_group",
        says="On a group, each GPU reads its part of the bytes in that time.",
        section="scaling",
        source=ROOFLINE,
        slips=[
            Slip(
                "bytes-not-shared",
                "One GPU was taken to read all bytes; the group shares them.",
                q.decode_bytes / (q.decode_step_time * q.bandwidth),
                unless=sympy.Eq(q.decode_bytes, q.decode_bytes_per_gpu),
            )
        ],
    )
    break_even = Bound(
        "break_even",
        q.prefill_time <= (q.break_even_output - 1) * q.tpot,
        says="From so many output tokens on, the steps after the first token take at least as long as the prefill.",
        section="prefill-decode",
        slips=[
            Slip(
                "first-token-decoded",
                "The first token comes from prefill: one step less.",
                q.prefill_time <= q.break_even_output * q.tpot,
            )
        ],
    )
    decode_flops_per_sequence = Identity(
        q.decode_flops_per_sequence,
        q.flops_per_token + 2 * q.attention_flops_per_pair * q.context,
        constant="token/sequence",
        says="A sequence puts one token through the matrices and scores it against every cached one.",
        section="prefill-decode",
        source=ROOFLINE,
        slips=[
            Slip(
                "attention-forgotten",
                "The attention to the cached tokens was left out.",
                q.flops_per_token,
            )
        ],
    )
    decode_bytes_per_sequence = Identity(
        q.decode_bytes_per_sequence,
        q.context * q.kv_bytes_per_token,
        constant="1/sequence",
        says="A step reads the whole cache of every sequence.",
        section="prefill-decode",
        source=ROOFLINE,
        slips=[
            Slip("one-token-read", "Only the newest token was read; a step reads all of them.", q.kv_bytes_per_token)
        ],
    )
    meets_tpot_target = Bound(
        "meets_tpot_target",
        sympy.Max(
            q.batch * q.decode_flops_per_sequence / (q.compute * q.mfu),
            (q.weights + q.batch * q.decode_bytes_per_sequence) / (q.bandwidth * q.mbu),
        )
        <= q.tpot_target,
        constant="1/token",
        says="A decode step of the whole batch fits the target for the time per output token.",
        section="prefill-decode",
        source=ROOFLINE,
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "weights-unread",
                "Only the caches were read; each step reads the weights too.",
                sympy.Max(
                    q.batch * q.decode_flops_per_sequence / (q.compute * q.mfu),
                    q.batch * q.decode_bytes_per_sequence / (q.bandwidth * q.mbu),
                )
                <= q.tpot_target,
            ),
            Slip(
                "weights-per-sequence",
                "The weights were read once for every sequence; a step reads them once.",
                sympy.Max(
                    q.batch * q.decode_flops_per_sequence / (q.compute * q.mfu),
                    q.batch * (q.weights + q.decode_bytes_per_sequence) / (q.bandwidth * q.mbu),
                )
                <= q.tpot_target,
            ),
            Slip(
                "compute-only",
                "Only the arithmetic was timed; decode waits for memory.",
                q.batch * q.decode_flops_per_sequence / (q.compute * q.mfu) <= q.tpot_target,
            ),
        ],
    )
