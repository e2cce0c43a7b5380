"""What fits into the KV budget: tokens, sequences, contexts, and whole blocks."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Among, Grid, of
from spec.solving import Infeasible

AMOUNTS = Grid(HALF, 30, HALF)
RESERVES = Grid(0, 30, HALF)
ONE = Fraction(1)

tokens_fill = Invariant(
    "tokens-fill",
    "The tokens that fit are a whole number, take no more than the budget, and one more would.",
    of(q.kv_budget, q.kv_bytes_per_token),
    ("token_capacity",),
    lambda impl, kv_budget, kv_bytes_per_token: all(
        held % 1 == 0 and held * kv_bytes_per_token <= kv_budget < (held + 1) * kv_bytes_per_token
        for held in [impl.token_capacity(kv_budget=kv_budget, kv_bytes_per_token=kv_bytes_per_token)]
    ),
)
sequences_fill = Invariant(
    "I14",
    "The sequences that fit take no more than the budget, and one more would; their number is never negative.",
    of(q.kv_budget, q.context, q.kv_bytes_per_token),
    ("concurrency",),
    lambda impl, kv_budget, context, kv_bytes_per_token: all(
        held >= 0 and held * context * kv_bytes_per_token <= kv_budget < (held + 1) * context * kv_bytes_per_token
        for held in [impl.concurrency(kv_budget=kv_budget, context=context, kv_bytes_per_token=kv_bytes_per_token)]
    ),
)
several_contexts = Invariant(
    "I15",
    "Contexts j times as long leave the number of sequences divided by j, rounded down.",
    {**of(q.kv_budget, q.kv_bytes_per_token), "context": Grid(1, 12), "times": Grid(1, 8)},
    ("concurrency",),
    lambda impl, kv_budget, context, kv_bytes_per_token, times: (
        impl.concurrency(kv_budget=kv_budget, context=times * context, kv_bytes_per_token=kv_bytes_per_token)
        == impl.concurrency(kv_budget=kv_budget, context=context, kv_bytes_per_token=kv_bytes_per_token) // times
    ),
)
nearly_halves = Invariant(
    "I16",
    "Twice the context halves the sequences, up to the one that an odd number loses.",
    {**of(q.kv_budget, q.kv_bytes_per_token), "context": Grid(1, 12)},
    ("concurrency",),
    lambda impl, kv_budget, context, kv_bytes_per_token: (
        impl.concurrency(kv_budget=kv_budget, context=context, kv_bytes_per_token=kv_bytes_per_token)
        - 2 * impl.concurrency(kv_budget=kv_budget, context=2 * context, kv_bytes_per_token=kv_bytes_per_token)
        in {0, 1}
    ),
)
exactly_halves = Invariant(
    "I16-false",
    "Twice the context exactly halves the sequences.",
    {"kv_budget": Grid(0, 60), "context": Grid(1, 12), "kv_bytes_per_token": Grid(1, 6)},
    ("concurrency",),
    lambda impl, kv_budget, context, kv_bytes_per_token: (
        2 * impl.concurrency(kv_budget=kv_budget, context=2 * context, kv_bytes_per_token=kv_bytes_per_token)
        == impl.concurrency(kv_budget=kv_budget, context=context, kv_bytes_per_token=kv_bytes_per_token)
    ),
    refuted={"kv_budget": 1, "context": 1, "kv_bytes_per_token": 1},
    why="Whole sequences only: an odd number loses one more, as 27 becomes 13.",
)
longest_context = Invariant(
    "context-fills",
    "The longest context of so many sequences fits, and one token more does not; "
    "where not even one token fits there is none.",
    {**of(q.kv_budget, q.kv_bytes_per_token), "concurrency": Grid(1, 40)},
    ("context",),
    lambda impl, kv_budget, concurrency, kv_bytes_per_token: all(
        isinstance(longest, Infeasible)
        if kv_budget < concurrency * kv_bytes_per_token
        else longest % 1 == 0
        and concurrency * longest * kv_bytes_per_token <= kv_budget < concurrency * (longest + 1) * kv_bytes_per_token
        for longest in [
            impl.context(kv_budget=kv_budget, concurrency=concurrency, kv_bytes_per_token=kv_bytes_per_token)
        ]
    ),
)
budget_needed = Invariant(
    "budget-needed",
    "The smallest budget for some sequences is what they cache together, whether counted as sequences or as tokens.",
    of(q.concurrency, q.context, q.kv_bytes_per_token),
    ("kv_budget", "kv_bytes_total"),
    lambda impl, concurrency, context, kv_bytes_per_token: (
        impl.kv_budget(concurrency=concurrency, context=context, kv_bytes_per_token=kv_bytes_per_token)
        == impl.kv_budget(token_capacity=concurrency * context, kv_bytes_per_token=kv_bytes_per_token)
        == impl.kv_bytes_total(cached_tokens=concurrency * context, kv_bytes_per_token=kv_bytes_per_token)
    ),
)
sequences_share_tokens = Invariant(
    "sequences-share-tokens",
    "As many sequences fit as whole contexts fit into the tokens that the budget holds.",
    of(q.kv_budget, q.context, q.kv_bytes_per_token),
    ("concurrency", "token_capacity"),
    lambda impl, kv_budget, context, kv_bytes_per_token: (
        impl.concurrency(kv_budget=kv_budget, context=context, kv_bytes_per_token=kv_bytes_per_token)
        == impl.token_capacity(kv_budget=kv_budget, kv_bytes_per_token=kv_bytes_per_token) // context
    ),
)
double_memory = Invariant(
    "I19",
    "With fixed overheads, twice the memory holds at least twice the tokens.",
    {"overhead": AMOUNTS, "left": RESERVES, **of(q.kv_bytes_per_token)},
    ("kv_budget", "token_capacity"),
    lambda impl, overhead, left, kv_bytes_per_token: (
        impl.token_capacity(
            kv_budget=impl.kv_budget(
                gpu_memory=2 * (overhead + left), weights=overhead, activations=0, safety_margin=0
            ),
            kv_bytes_per_token=kv_bytes_per_token,
        )
        >= 2
        * impl.token_capacity(
            kv_budget=impl.kv_budget(gpu_memory=overhead + left, weights=overhead, activations=0, safety_margin=0),
            kv_bytes_per_token=kv_bytes_per_token,
        )
    ),
)
exactly_double = Invariant(
    "double-memory-double-tokens",
    "Twice the memory holds exactly twice the tokens.",
    {"weights": Grid(1, 20), "left": Grid(0, 20)},
    ("kv_budget", "token_capacity"),
    lambda impl, weights, left: (
        impl.token_capacity(
            kv_budget=impl.kv_budget(gpu_memory=2 * (weights + left), weights=weights, activations=0, safety_margin=0),
            kv_bytes_per_token=1,
        )
        == 2
        * impl.token_capacity(
            kv_budget=impl.kv_budget(gpu_memory=weights + left, weights=weights, activations=0, safety_margin=0),
            kv_bytes_per_token=1,
        )
    ),
    refuted={"weights": 1, "left": 0},
    why="The weights do not double, so the cache more than doubles.",
)
same_unit = Invariant(
    "I97",
    "Measuring budget and cache in another unit changes no count.",
    {**of(q.kv_budget, q.context, q.kv_bytes_per_token), "unit": Among((8, 1000, 1024, Fraction(1, 8)))},
    ("concurrency", "token_capacity"),
    lambda impl, kv_budget, context, kv_bytes_per_token, unit: (
        impl.concurrency(kv_budget=unit * kv_budget, context=context, kv_bytes_per_token=unit * kv_bytes_per_token)
        == impl.concurrency(kv_budget=kv_budget, context=context, kv_bytes_per_token=kv_bytes_per_token)
        and impl.token_capacity(kv_budget=unit * kv_budget, kv_bytes_per_token=unit * kv_bytes_per_token)
        == impl.token_capacity(kv_budget=kv_budget, kv_bytes_per_token=kv_bytes_per_token)
    ),
)
model_change = Invariant(
    "I86",
    "Changing model or memory changes the longest context in proportion, up to flooring.",
    {
        **{name: Grid(100, 2400, HALF) for name in ("budget", "other_budget")},
        **{name: Grid(HALF, 8, HALF) for name in ("cache", "other_cache")},
        "concurrency": Grid(1, 12),
    },
    ("context",),
    lambda impl, budget, other_budget, cache, other_cache, concurrency: all(
        abs(
            impl.context(kv_budget=other_budget, kv_bytes_per_token=other_cache, concurrency=concurrency)
            - ratio * impl.context(kv_budget=budget, kv_bytes_per_token=cache, concurrency=concurrency)
        )
        < 1 + ratio
        for ratio in [(ONE * other_budget / budget) * (ONE * cache / other_cache)]
    ),
)
half_the_weights = Invariant(
    "quantised-weights-shrink-the-cache",
    "Weights of half the bits make room for twice the sequences.",
    {"gpu_memory": Grid(1, 40), "parameters": Grid(1, 20)},
    ("weights", "kv_budget", "concurrency"),
    lambda impl, gpu_memory, parameters: all(
        isinstance(full, Infeasible)
        or impl.concurrency(kv_budget=halved, context=1, kv_bytes_per_token=1)
        == 2 * impl.concurrency(kv_budget=full, context=1, kv_bytes_per_token=1)
        for full, halved in [
            tuple(
                impl.kv_budget(
                    gpu_memory=gpu_memory,
                    weights=impl.weights(parameters=parameters, weight_bits=bits),
                    activations=0,
                    safety_margin=0,
                )
                for bits in (16, 8)
            )
        ]
    ),
    refuted={"gpu_memory": 2, "parameters": 1},
    why="The cache keeps its own width; only what the weights gave up is gained.",
)
paged_fill = Invariant(
    "paged-fill",
    "Counted in whole blocks, the sequences that fit take no more than the budget, and one more would.",
    of(q.kv_budget, q.context, q.block_size, q.kv_bytes_per_block),
    ("concurrency", "blocks_per_sequence"),
    lambda impl, kv_budget, context, block_size, kv_bytes_per_block: all(
        held * blocks * kv_bytes_per_block <= kv_budget < (held + 1) * blocks * kv_bytes_per_block
        for blocks in [impl.blocks_per_sequence(context=context, block_size=block_size)]
        for held in [
            impl.concurrency(
                kv_budget=kv_budget, context=context, block_size=block_size, kv_bytes_per_block=kv_bytes_per_block
            )
        ]
    ),
)
paged_below = Invariant(
    "I21",
    "Whole blocks never hold more sequences than tokens without blocks, and as many where a block is one token.",
    of(q.kv_budget, q.context, q.block_size, q.kv_bytes_per_token),
    ("concurrency", "kv_bytes_per_block"),
    lambda impl, kv_budget, context, block_size, kv_bytes_per_token: all(
        paged <= free if size > 1 else paged == free
        for free in [impl.concurrency(kv_budget=kv_budget, context=context, kv_bytes_per_token=kv_bytes_per_token)]
        for size in {1, block_size}
        for paged in [
            impl.concurrency(
                kv_budget=kv_budget,
                context=context,
                block_size=size,
                kv_bytes_per_block=impl.kv_bytes_per_block(block_size=size, kv_bytes_per_token=kv_bytes_per_token),
            )
        ]
    ),
)
paged_halving = Invariant(
    "I22",
    "In whole blocks, twice the context leaves at least half of the sequences, rounded down.",
    of(q.kv_budget, q.context, q.block_size, q.kv_bytes_per_block),
    ("concurrency",),
    lambda impl, context, **rest: (
        impl.concurrency(context=2 * context, **rest) >= impl.concurrency(context=context, **rest) // 2
    ),
)
paged_halving_exact = Invariant(
    "I22-false",
    "In whole blocks, twice the context leaves half of the sequences, rounded down.",
    {"kv_budget": Grid(0, 20), "context": Grid(1, 12), "block_size": Grid(1, 12)},
    ("concurrency",),
    lambda impl, context, **rest: (
        impl.concurrency(context=2 * context, kv_bytes_per_block=1, **rest)
        == impl.concurrency(context=context, kv_bytes_per_block=1, **rest) // 2
    ),
    refuted={"kv_budget": 1, "context": 1, "block_size": 2},
    why="The longer context may use the empty part of a block, so more may stay.",
)
paged_context = Invariant(
    "paged-context",
    "The longest context in whole blocks fills its last block, fits, and a block more does not.",
    {**of(q.kv_budget, q.block_size, q.kv_bytes_per_block), "concurrency": Grid(1, 20)},
    ("context",),
    lambda impl, kv_budget, concurrency, block_size, kv_bytes_per_block: all(
        isinstance(longest, Infeasible)
        if kv_budget < concurrency * kv_bytes_per_block
        else longest % block_size == 0
        and concurrency * (longest // block_size) * kv_bytes_per_block
        <= kv_budget
        < concurrency * (longest // block_size + 1) * kv_bytes_per_block
        for longest in [
            impl.context(
                kv_budget=kv_budget,
                concurrency=concurrency,
                block_size=block_size,
                kv_bytes_per_block=kv_bytes_per_block,
            )
        ]
    ),
)
tokens_of_blocks = Invariant(
    "tokens-in-blocks",
    "The tokens that fit in blocks are those of whole blocks, of which one more would not fit.",
    {**of(q.block_size, q.kv_bytes_per_block), "kv_budget": Grid(0, 2400, HALF)},
    ("token_capacity",),
    lambda impl, block_size, kv_bytes_per_block, kv_budget: all(
        held % block_size == 0
        and held * kv_bytes_per_block <= kv_budget * block_size < (held + block_size) * kv_bytes_per_block
        for held in [
            impl.token_capacity(kv_budget=kv_budget, block_size=block_size, kv_bytes_per_block=kv_bytes_per_block)
        ]
    ),
)
blocks_of_tokens = Invariant(
    "tokens-need-blocks",
    "Tokens fit a budget in blocks exactly when the blocks of a sequence of that many tokens do.",
    {**of(q.block_size, q.kv_bytes_per_block, q.kv_budget), "tokens": Grid(1, 40)},
    ("holds_tokens_in_blocks", "blocks_per_sequence"),
    lambda impl, tokens, block_size, kv_bytes_per_block, kv_budget: all(
        impl.holds_tokens_in_blocks(
            token_capacity=tokens, block_size=block_size, kv_bytes_per_block=kv_bytes_per_block, kv_budget=budget
        )
        == (budget >= needed)
        for needed in [impl.blocks_per_sequence(context=tokens, block_size=block_size) * kv_bytes_per_block]
        for budget in (kv_budget, needed, needed * HALF)
    ),
)
