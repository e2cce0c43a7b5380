"""What fits where some layers keep only a window, in whole blocks and for whole requests."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Grid, of

STACK = {"full": Grid(0, 12), "sliding": Grid(1, 12)}
NEARLY = Fraction(999, 1000)
LARGE = Grid(0, 40_000)

mixed_blocks_fit = Invariant(
    "window-fits-in-blocks",
    "Whole blocks of sequences with sliding layers fit a budget exactly when as many times those of one do; "
    "so do windows.",
    {**of(q.concurrency, q.context, q.sliding_window, q.block_size, q.kv_bytes_per_layer), **STACK, "kv_budget": LARGE},
    ("fits_mixed_in_blocks", "kv_bytes_per_sequence"),
    lambda impl, full, sliding, concurrency, kv_budget, **more: all(
        impl.fits_mixed_in_blocks(concurrency=concurrency, kv_budget=budget, **stack, **more) == (budget >= needed)
        for stack in [{"layers": full + sliding, "sliding_layers": sliding}]
        for needed in [concurrency * impl.kv_bytes_per_sequence(**stack, **more)]
        for budget in (kv_budget, needed, needed * NEARLY)
    ),
)
longest_window_in_blocks = Invariant(
    "window-longest-in-blocks",
    "In whole blocks, a budget for one block of the sliding layers less than the full ones have allows just as much.",
    {**of(q.block_size, q.kv_bytes_per_layer), **STACK, "blocks": Grid(1, 12)},
    ("sliding_window",),
    lambda impl, full, sliding, block_size, kv_bytes_per_layer, blocks: (
        impl.sliding_window(
            layers=full + sliding, sliding_layers=sliding, concurrency=1, block_size=block_size,
            context=(blocks + 1) * block_size, kv_bytes_per_layer=kv_bytes_per_layer,
            kv_budget=(full * (blocks + 1) + sliding * blocks + HALF) * block_size * kv_bytes_per_layer,
        )
        == blocks * block_size
    ),
)  # fmt: skip
sequences_together = Invariant(
    "kv-of-sequences",
    "No sequence caches nothing, and one more adds its own cache.",
    of(q.concurrency, q.kv_bytes_per_sequence),
    ("kv_bytes_total",),
    lambda impl, concurrency, kv_bytes_per_sequence: (
        impl.kv_bytes_total(concurrency=0, kv_bytes_per_sequence=kv_bytes_per_sequence) == 0
        and impl.kv_bytes_total(concurrency=concurrency + 1, kv_bytes_per_sequence=kv_bytes_per_sequence)
        - impl.kv_bytes_total(concurrency=concurrency, kv_bytes_per_sequence=kv_bytes_per_sequence)
        == kv_bytes_per_sequence
    ),
)
blocks_together = Invariant(
    "kv-of-blocks",
    "A sequence of one block caches that block, and one more block adds its bytes.",
    of(q.blocks_per_sequence, q.kv_bytes_per_block),
    ("kv_bytes_per_sequence",),
    lambda impl, blocks_per_sequence, kv_bytes_per_block: (
        impl.kv_bytes_per_sequence(blocks_per_sequence=1, kv_bytes_per_block=kv_bytes_per_block) == kv_bytes_per_block
        and impl.kv_bytes_per_sequence(
            blocks_per_sequence=blocks_per_sequence + 1, kv_bytes_per_block=kv_bytes_per_block
        )
        - impl.kv_bytes_per_sequence(blocks_per_sequence=blocks_per_sequence, kv_bytes_per_block=kv_bytes_per_block)
        == kv_bytes_per_block
    ),
)
mixed_requests_fit = Invariant(
    "window-gpu-holds",
    "A GPU holds requests with sliding layers exactly when it holds as many sequences of prompt and output together.",
    {
        **of(q.sequences_per_gpu, q.prompt, q.output, q.sliding_window, q.kv_bytes_per_layer),
        **STACK,
        "kv_budget": LARGE,
    },
    ("gpu_holds_mixed", "kv_bytes_per_sequence"),
    lambda impl, full, sliding, sequences_per_gpu, prompt, output, kv_budget, **more: all(
        impl.gpu_holds_mixed(
            sequences_per_gpu=sequences_per_gpu, prompt=prompt, output=output, kv_budget=budget, **stack, **more
        )
        == (budget >= needed)
        for stack in [{"layers": full + sliding, "sliding_layers": sliding}]
        for needed in [sequences_per_gpu * impl.kv_bytes_per_sequence(context=prompt + output, **stack, **more)]
        for budget in (kv_budget, needed, needed * NEARLY)
    ),
)
longest_window_of_requests = Invariant(
    "window-longest-of-requests",
    "A budget that holds a window of requests, and one more token of it in part, allows that window and no longer one.",
    {**of(q.sliding_window, q.kv_bytes_per_layer, q.output), **STACK, "beyond": Grid(1, 24)},
    ("sliding_window", "kv_bytes_per_sequence"),
    lambda impl, full, sliding, sliding_window, output, beyond, kv_bytes_per_layer: all(
        impl.sliding_window(
            **stack, prompt=sliding_window + beyond, output=output, sequences_per_gpu=1,
            kv_budget=impl.kv_bytes_per_sequence(
                **stack, context=sliding_window + beyond + output, sliding_window=sliding_window
            )
            + HALF * sliding * kv_bytes_per_layer,
        )
        == sliding_window
        for stack in [{
            "layers": full + sliding, "sliding_layers": sliding, "kv_bytes_per_layer": kv_bytes_per_layer,
        }]
    ),
)  # fmt: skip
