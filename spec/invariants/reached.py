"""The label of the roofline and the shares reached, against the two times themselves."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Grid, of

MACHINE = of(q.compute, q.bandwidth, q.mfu, q.mbu)
PREFILL = ("prefill_is_compute_bound", "prefill_time")
DECODE = ("decode_is_compute_bound", "decode_step_time")
ONE = Fraction(1)
SMALL = Grid(HALF, 30, HALF)

label = Invariant(
    "I57",
    "What is called bound by compute lasts exactly as long as its arithmetic, and everything else lasts longer; "
    "at equal times compute decides.",
    {**of(q.prefill_flops, q.prefill_bytes), **MACHINE},
    (*PREFILL, *DECODE),
    lambda impl, prefill_flops, prefill_bytes, **machine: all(
        (called in {0, 1}) and (called == 1) == (time * machine["compute"] * machine["mfu"] == flops)
        for flops in (
            prefill_flops,
            ONE * prefill_bytes * machine["compute"] * machine["mfu"] / (machine["bandwidth"] * machine["mbu"]),
        )
        for called, time in (
            (
                impl.prefill_is_compute_bound(prefill_flops=flops, prefill_bytes=prefill_bytes, **machine),
                impl.prefill_time(prefill_flops=flops, prefill_bytes=prefill_bytes, **machine),
            ),
            (
                impl.decode_is_compute_bound(decode_flops=flops, decode_bytes=prefill_bytes, **machine),
                impl.decode_step_time(decode_flops=flops, decode_bytes=prefill_bytes, **machine),
            ),
        )
    ),
)
label_by_utilization = Invariant(
    "label-by-half-false",
    "A step that reaches more than half of the bandwidth is not bound by compute.",
    {"flops": Grid(1, 6), "moved": Grid(1, 6), "compute": Grid(1, 6), "bandwidth": Grid(1, 6)},
    (*DECODE, "achieved_mbu"),
    lambda impl, flops, moved, compute, bandwidth: (
        2
        * impl.achieved_mbu(
            decode_bytes=moved,
            bandwidth=bandwidth,
            decode_step_time=impl.decode_step_time(
                decode_flops=flops, decode_bytes=moved, compute=compute, bandwidth=bandwidth, mfu=1, mbu=1
            ),
        )
        <= 1
        or impl.decode_is_compute_bound(
            decode_flops=flops, decode_bytes=moved, compute=compute, bandwidth=bandwidth, mfu=1, mbu=1
        )
        == 0
    ),
    refuted={"flops": 1, "moved": 1, "compute": 1, "bandwidth": 1},
    why="Both sides may be near their peaks; the longer of the two times decides, not a share.",
)
shares_reached = Invariant(
    "reached-in-time",
    "A time at the shares reached holds exactly the operations, and exactly the bytes.",
    {"flops": SMALL, "moved": SMALL, "time": SMALL, **of(q.compute, q.bandwidth)},
    ("achieved_mfu", "achieved_mbu"),
    lambda impl, flops, moved, time, compute, bandwidth: (
        impl.achieved_mfu(prefill_flops=flops, prefill_time=time, compute=compute) * time * compute == flops
        and impl.achieved_mfu(decode_flops=flops, decode_step_time=time, compute=compute) * time * compute == flops
        and impl.achieved_mbu(decode_bytes=moved, decode_step_time=time, bandwidth=bandwidth) * time * bandwidth
        == moved
        and impl.achieved_mbu(prefill_bytes=moved, prefill_time=time, bandwidth=bandwidth) * time * bandwidth == moved
        and impl.achieved_mbu(decode_bytes=moved, tpot=time, bandwidth=bandwidth) * time * bandwidth == moved
        and impl.achieved_mfu(prefill_flops_per_gpu=flops, prefill_time=time, compute=compute) * time * compute == flops
        and impl.achieved_mbu(decode_bytes_per_gpu=moved, decode_step_time=time, bandwidth=bandwidth) * time * bandwidth
        == moved
    ),
)
one_share_is_reached = Invariant(
    "reached-in-full",
    "By the roofline, the share assumed is the share reached on the side that decides, and no more on the other.",
    {**of(q.prefill_flops, q.prefill_bytes), **MACHINE},
    ("achieved_mfu", "achieved_mbu", "prefill_time"),
    lambda impl, prefill_flops, prefill_bytes, compute, bandwidth, mfu, mbu: all(
        max(
            ONE * impl.achieved_mfu(prefill_flops=prefill_flops, prefill_time=time, compute=compute) / mfu,
            ONE * impl.achieved_mbu(prefill_bytes=prefill_bytes, prefill_time=time, bandwidth=bandwidth) / mbu,
        )
        == 1
        for time in [
            impl.prefill_time(
                prefill_flops=prefill_flops, prefill_bytes=prefill_bytes, compute=compute, bandwidth=bandwidth,
                mfu=mfu, mbu=mbu,
            )
        ]
    ),
)  # fmt: skip
evenly_spent = Invariant(
    "break-even",
    "At the output that breaks even the steps after the first token last as long as the prefill, and one token less "
    "would not do.",
    {"prefill_time": SMALL, **of(q.tpot)},
    ("break_even_output", "break_even"),
    lambda impl, prefill_time, tpot: all(
        (found - 2) * tpot < prefill_time <= (found - 1) * tpot
        and impl.break_even(prefill_time=(found - 1) * tpot, tpot=tpot, break_even_output=found)
        for found in [impl.break_even_output(prefill_time=prefill_time, tpot=tpot)]
    ),
)
met_by_steps = Invariant(
    "break-even-met",
    "An output breaks even exactly when the steps after its first token last at least as long as the prefill.",
    {"prefill_time": SMALL, **of(q.tpot, q.break_even_output)},
    ("break_even",),
    lambda impl, prefill_time, tpot, break_even_output: all(
        impl.break_even(prefill_time=time, tpot=tpot, break_even_output=break_even_output)
        == (time <= break_even_output * tpot - tpot)
        for time in (prefill_time, (break_even_output - 1) * tpot, break_even_output * tpot)
        if time > 0
    ),
)
each_sequence = Invariant(
    "step-by-sequences",
    "What each sequence adds to a step, its operations and the cache it reads, makes the whole step.",
    of(q.flops_per_token, q.layers, q.heads, q.head_dim, q.context, q.batch, q.kv_bytes_per_token, q.weights),
    (
        "decode_flops_per_sequence",
        "decode_bytes_per_sequence",
        "attention_flops_per_pair",
        "decode_matrix_flops",
        "decode_attention_flops",
        "decode_flops",
        "decode_bytes",
    ),
    lambda impl, flops_per_token, layers, heads, head_dim, context, batch, kv_bytes_per_token, weights: (
        batch
        * impl.decode_flops_per_sequence(
            flops_per_token=flops_per_token,
            attention_flops_per_pair=impl.attention_flops_per_pair(layers=layers, heads=heads, head_dim=head_dim),
            context=context,
        )
        == impl.decode_flops(
            decode_matrix_flops=impl.decode_matrix_flops(batch=batch, flops_per_token=flops_per_token),
            decode_attention_flops=impl.decode_attention_flops(
                layers=layers, heads=heads, head_dim=head_dim, cached_tokens=batch * context
            ),
        )
        and weights + batch * impl.decode_bytes_per_sequence(context=context, kv_bytes_per_token=kv_bytes_per_token)
        == impl.decode_bytes(weights=weights, cached_tokens=batch * context, kv_bytes_per_token=kv_bytes_per_token)
    ),
)
pace_is_met = Invariant(
    "tpot-target",
    "A target for the time per token is met exactly where a step of the whole batch takes no longer.",
    {**of(q.decode_flops_per_sequence, q.decode_bytes_per_sequence, q.weights, q.batch, q.tpot_target), **MACHINE},
    ("meets_tpot_target", "decode_step_time"),
    lambda impl, decode_flops_per_sequence, decode_bytes_per_sequence, weights, batch, tpot_target, **machine: all(
        impl.meets_tpot_target(
            decode_flops_per_sequence=decode_flops_per_sequence,
            decode_bytes_per_sequence=decode_bytes_per_sequence,
            weights=weights,
            batch=batch,
            tpot_target=target,
            **machine,
        )
        == (step <= target)
        for step in [
            impl.decode_step_time(
                decode_flops=batch * decode_flops_per_sequence,
                decode_bytes=weights + batch * decode_bytes_per_sequence,
                **machine,
            )
        ]
        for target in (tpot_target, step, step * (1 - Fraction(1, 10**6)))
    ),
)
