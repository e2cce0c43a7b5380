"""A group of GPUs, each against a GPU that has only that part of the model, and all of them together."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import BUDGET, HALF, Grid, draw_of, of
from spec.solving import Infeasible

NEEDS = of(q.weights_per_gpu, q.activations, q.safety_margin)
LEFT = Grid(0, 30, HALF)
PARTS = of(q.tensor_parallel)
MACHINE = of(q.compute, q.bandwidth, q.mfu, q.mbu)
SHARE = draw_of(q.activation_share_of_remaining)
HEADS = of(q.kv_heads, q.head_dim, q.kv_width)
STACK = {"full": Grid(0, 12), "sliding": Grid(1, 12)}


def same(one: Any, other: Any) -> bool:
    """Say whether two answers are one, a value that does not exist included."""
    if isinstance(one, Infeasible) or isinstance(other, Infeasible):
        return isinstance(one, Infeasible) and isinstance(other, Infeasible) and one.deficit == other.deficit
    return bool(one == other)


budget_of_a_part = Invariant(
    "group-budget",
    "A GPU of a group has the budget of a GPU that serves a model of the size of its part.",
    {**NEEDS, **of(q.gpu_memory)},
    ("kv_budget",),
    lambda impl, weights_per_gpu, gpu_memory, **reserves: all(
        same(
            impl.kv_budget(gpu_memory=memory, weights_per_gpu=weights_per_gpu, **reserves),
            impl.kv_budget(gpu_memory=memory, weights=weights_per_gpu, **reserves),
        )
        for memory in (gpu_memory, gpu_memory + weights_per_gpu + sum(reserves.values()))
    ),
)
budget_by_utilization_of_a_part = Invariant(
    "group-budget-by-utilization",
    "A server that may use a share of the memory has on a GPU of a group what it has with a model of that part alone.",
    {**of(q.weights_per_gpu, q.activations, q.runtime_memory, q.memory_utilization, q.gpu_memory_reported)},
    ("kv_budget",),
    lambda impl, weights_per_gpu, **given: same(
        impl.kv_budget(weights_per_gpu=weights_per_gpu, **given), impl.kv_budget(weights=weights_per_gpu, **given)
    ),
)
reserves_of_a_part = Invariant(
    "group-reserves",
    "On a GPU of a group, reserves as shares of what its weights leave are those of a model of that part alone.",
    {**of(q.weights_per_gpu), "left": LEFT, "share": SHARE},
    ("activations", "safety_margin"),
    lambda impl, weights_per_gpu, left, share: all(
        impl.activations(activation_share_of_remaining=share, **part, **memory)
        == impl.activations(activation_share_of_remaining=share, **whole, **memory)
        and impl.safety_margin(safety_share_of_remaining=share, **part, **memory)
        == impl.safety_margin(safety_share_of_remaining=share, **whole, **memory)
        for part, whole, memory in [
            ({"weights_per_gpu": weights_per_gpu}, {"weights": weights_per_gpu}, {"gpu_memory": weights_per_gpu + left})
        ]
    ),
)  # fmt: skip
equal_budgets = Invariant(
    "group-budgets-add",
    "One GPU alone is a group with its own budget, and one more GPU adds as much.",
    {**PARTS, **of(q.kv_budget)},
    ("kv_budget_of_group",),
    lambda impl, tensor_parallel, kv_budget: (
        impl.kv_budget_of_group(tensor_parallel=1, kv_budget=kv_budget) == kv_budget
        and impl.kv_budget_of_group(tensor_parallel=tensor_parallel + 1, kv_budget=kv_budget)
        - impl.kv_budget_of_group(tensor_parallel=tensor_parallel, kv_budget=kv_budget)
        == kv_budget
    ),
)
latent_on_every_gpu = Invariant(
    "group-latent",
    "Of a latent cache every GPU of a group keeps all.",
    of(q.layers, q.kv_lora_rank, q.qk_rope_dim, q.kv_width),
    ("kv_bytes_per_token_per_gpu", "kv_bytes_per_token"),
    lambda impl, **shape: impl.kv_bytes_per_token_per_gpu(**shape) == impl.kv_bytes_per_token(**shape),
)
layer_of_a_gpu = Invariant(
    "group-layer",
    "The GPU of a group with the most key-value heads caches in a layer what a model with that many does.",
    {**HEADS, **of(q.scale_width), "tensor_parallel": Grid(1, 12)},
    ("kv_bytes_per_layer_per_gpu", "kv_bytes_per_layer"),
    lambda impl, kv_heads, tensor_parallel, **shape: (
        impl.kv_bytes_per_layer_per_gpu(kv_heads=kv_heads, tensor_parallel=tensor_parallel, **shape)
        == impl.kv_bytes_per_layer(kv_heads=-(-kv_heads // tensor_parallel), **shape)
    ),
)
caches_of_a_group = Invariant(
    "group-fits",
    "Caches fit a group, counted in tokens, contexts or blocks, exactly when the part of one GPU fits that GPU alone.",
    {**of(q.concurrency, q.context, q.block_size, q.kv_bytes_per_token), "kv_budget": BUDGET, "tokens": Grid(0, 40)},
    ("holds_tokens_sharded", "fits_sharded", "fits_in_blocks_sharded", "holds_tokens", "fits", "fits_in_blocks",
     "blocks_per_sequence"),
    lambda impl, concurrency, context, block_size, kv_bytes_per_token, kv_budget, tokens: all(
        impl.holds_tokens_sharded(token_capacity=tokens, kv_bytes_per_token_per_gpu=part, kv_budget=budget)
        == impl.holds_tokens(token_capacity=tokens, kv_bytes_per_token=part, kv_budget=budget)
        and impl.fits_sharded(kv_bytes_per_token_per_gpu=part, kv_budget=budget, **held)
        == impl.fits(kv_bytes_per_token=part, kv_budget=budget, **held)
        and impl.fits_in_blocks_sharded(
            kv_bytes_per_token_per_gpu=part, kv_budget=budget, block_size=block_size, **held
        )
        == impl.fits_in_blocks(
            kv_bytes_per_block=block_size * part, kv_budget=budget, block_size=block_size, **held
        )
        for part, held in [(kv_bytes_per_token, {"concurrency": concurrency, "context": context})]
        for budget in (
            kv_budget, part * tokens, part * concurrency * context,
            part * concurrency * block_size * impl.blocks_per_sequence(context=context, block_size=block_size),
        )
    ),
)  # fmt: skip
windows_of_a_group = Invariant(
    "group-fits-window",
    "Caches with sliding layers fit a group exactly when the part of one GPU fits that GPU alone; so do windows.",
    {**of(q.concurrency, q.context, q.sliding_window, q.kv_bytes_per_layer), **STACK, "kv_budget": Grid(0, 40_000)},
    ("fits_mixed_sharded", "fits_mixed", "kv_bytes_per_sequence", "sliding_window"),
    lambda impl, full, sliding, concurrency, kv_bytes_per_layer, kv_budget, **more: all(
        impl.fits_mixed_sharded(
            kv_bytes_per_layer_per_gpu=kv_bytes_per_layer, kv_budget=budget, concurrency=concurrency, **stack, **more
        )
        == impl.fits_mixed(
            kv_bytes_per_layer=kv_bytes_per_layer, kv_budget=budget, concurrency=concurrency, **stack, **more
        )
        for stack in [{"layers": full + sliding, "sliding_layers": sliding}]
        for needed in [concurrency * impl.kv_bytes_per_sequence(kv_bytes_per_layer=kv_bytes_per_layer, **stack, **more)]
        for budget in (kv_budget, needed, max(needed - 1, 0))
    )
    and all(
        same(
            impl.sliding_window(kv_bytes_per_layer_per_gpu=kv_bytes_per_layer, **one),
            impl.sliding_window(kv_bytes_per_layer=kv_bytes_per_layer, **one),
        )
        for one in [{
            "layers": full + sliding, "sliding_layers": sliding, "context": more["context"] + 1, "concurrency": 1,
            "kv_budget": (full * (more["context"] + 1) + sliding * more["context"]) * kv_bytes_per_layer + HALF / 2,
        }]
    ),
)  # fmt: skip
group_in_one_line = Invariant(
    "group-holds",
    "A group holds the model and its caches exactly when, step by step, its part of them fits on each of its GPUs.",
    {
        **of(q.weights, q.layers, q.kv_heads, q.head_dim, q.kv_width, q.cached_tokens),
        **of(q.activations, q.safety_margin),
        "group_size": Grid(1, 12),
        "left": LEFT,
    },
    ("group_holds", "weights_per_gpu", "kv_bytes_per_token_per_gpu", "kv_bytes_per_token"),
    lambda impl, weights, group_size, cached_tokens, left, activations, safety_margin, **shape: all(
        impl.group_holds(
            weights=weights, group_size=group_size, cached_tokens=cached_tokens, gpu_memory=memory,
            activations=activations, safety_margin=safety_margin, kv_heads=shape["kv_heads"],
            kv_bytes_per_token=impl.kv_bytes_per_token(**shape),
        )
        == (memory >= needed)
        for needed in [
            impl.weights_per_gpu(weights=weights, tensor_parallel=group_size)
            + cached_tokens * impl.kv_bytes_per_token_per_gpu(tensor_parallel=group_size, **shape)
            + activations
            + safety_margin
        ]
        for memory in (needed, needed + left + HALF, needed * Fraction(9999, 10_000))
    ),
)  # fmt: skip
work_of_a_group = Invariant(
    "group-work",
    "The GPUs of a group do together what one GPU would do, and each moves what a model of its part would move.",
    {
        **of(q.prefill_flops, q.decode_flops, q.weights_per_gpu, q.kv_bytes_per_token, q.prompt, q.cached_tokens),
        **PARTS,
    },
    (
        "prefill_flops_per_gpu",
        "decode_flops_per_gpu",
        "prefill_bytes_per_gpu",
        "decode_bytes_per_gpu",
        "prefill_bytes",
        "decode_bytes",
    ),
    lambda impl, prefill_flops, decode_flops, weights_per_gpu, kv_bytes_per_token, prompt, cached_tokens, **parts: (
        parts["tensor_parallel"] * impl.prefill_flops_per_gpu(prefill_flops=prefill_flops, **parts) == prefill_flops
        and parts["tensor_parallel"] * impl.decode_flops_per_gpu(decode_flops=decode_flops, **parts) == decode_flops
        and impl.prefill_bytes_per_gpu(
            weights_per_gpu=weights_per_gpu, kv_bytes_per_token_per_gpu=kv_bytes_per_token, prompt=prompt
        )
        == impl.prefill_bytes(weights=weights_per_gpu, kv_bytes_per_token=kv_bytes_per_token, prompt=prompt)
        and impl.decode_bytes_per_gpu(
            weights_per_gpu=weights_per_gpu, kv_bytes_per_token_per_gpu=kv_bytes_per_token, cached_tokens=cached_tokens
        )
        == impl.decode_bytes(
            weights=weights_per_gpu, kv_bytes_per_token=kv_bytes_per_token, cached_tokens=cached_tokens
        )
    ),
)  # fmt: skip
times_of_a_group = Invariant(
    "group-times",
    "A group prefills like a GPU with the work of one of them, and steps like one that waits for the others besides.",
    {**of(q.prefill_flops, q.prefill_bytes, q.communication_time), **MACHINE},
    ("prefill_time", "decode_step_time"),
    lambda impl, prefill_flops, prefill_bytes, communication_time, **machine: (
        impl.prefill_time(prefill_flops_per_gpu=prefill_flops, prefill_bytes_per_gpu=prefill_bytes, **machine)
        == impl.prefill_time(prefill_flops=prefill_flops, prefill_bytes=prefill_bytes, **machine)
        and impl.decode_step_time(
            decode_flops_per_gpu=prefill_flops,
            decode_bytes_per_gpu=prefill_bytes,
            communication_time=communication_time,
            **machine,
        )
        - impl.decode_step_time(decode_flops=prefill_flops, decode_bytes=prefill_bytes, **machine)
        == communication_time
    ),
)
