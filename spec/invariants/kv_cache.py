"""What one token, one sequence and a set of sequences cache, and what whole blocks add."""

from __future__ import annotations

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Among, Grid, of

TOKEN = ("kv_bytes_per_token",)
RULE = ("kv_bytes_per_token_approx",)
HEADS = of(q.layers, q.kv_heads, q.head_dim, q.kv_width)
LAYER = ("kv_bytes_per_layer",)
SEQUENCE = ("kv_bytes_per_sequence",)
STACK = {"full": Grid(0, 24), "sliding": Grid(1, 24)}  # layers of a model, of which some slide
LATENT = of(q.layers, q.kv_lora_rank, q.qk_rope_dim, q.kv_width)

key_and_value = Invariant(
    "kv-key-and-value",
    "In one layer, a head of a single element keeps one key element and one value element of every token.",
    of(q.kv_width),
    TOKEN,
    lambda impl, kv_width: (
        impl.kv_bytes_per_token(layers=1, kv_heads=1, head_dim=1, kv_width=kv_width) == kv_width + kv_width
    ),
)
parts_add = Invariant(
    "kv-parts-add",
    "Layers, key-value heads and elements of a head each cache on their own: splitting any of them changes nothing.",
    {**HEADS, "more": Grid(1, 12), "part": Among((0, 1, 2))},
    TOKEN,
    lambda impl, more, part, **shape: all(
        impl.kv_bytes_per_token(**{**shape, name: shape[name] + more})
        == impl.kv_bytes_per_token(**shape) + impl.kv_bytes_per_token(**{**shape, name: more})
        for name in [("layers", "kv_heads", "head_dim")[part]]
    ),
)
twice_the_width = Invariant(
    "kv-width",
    "Elements of twice the width take twice the bytes.",
    HEADS,
    TOKEN,
    lambda impl, **shape: (
        impl.kv_bytes_per_token(**{**shape, "kv_width": 2 * shape["kv_width"]}) == 2 * impl.kv_bytes_per_token(**shape)
    ),
)
sharing_heads = Invariant(
    "I10",
    "When each key-value head serves a group of query heads, the cache shrinks by the size of the group.",
    {**of(q.layers, q.kv_heads, q.head_dim, q.kv_width), "group": Grid(1, 12)},
    (*TOKEN, *RULE),
    lambda impl, layers, kv_heads, head_dim, kv_width, group: (
        group * impl.kv_bytes_per_token(layers=layers, kv_heads=kv_heads, head_dim=head_dim, kv_width=kv_width)
        == impl.kv_bytes_per_token_approx(layers=layers, hidden=group * kv_heads * head_dim, kv_width=kv_width)
    ),
)
hidden_bounds_cache = Invariant(
    "I10-false",
    "The rule 2 L H b never undercounts the cache of a token.",
    of(q.hidden, q.kv_heads, q.head_dim),
    (*TOKEN, *RULE),
    lambda impl, hidden, kv_heads, head_dim: (
        impl.kv_bytes_per_token(layers=1, kv_heads=kv_heads, head_dim=head_dim, kv_width=1)
        <= impl.kv_bytes_per_token_approx(layers=1, hidden=hidden, kv_width=1)
    ),
    refuted={"hidden": 1, "kv_heads": 1, "head_dim": 2},
    why="Heads may together be wider than the hidden size, as in Gemma-7B.",
)
deep_and_narrow = Invariant(
    "I11",
    "Four times the layers at half the width keep the matrices but cache twice as much.",
    {**of(q.layers, q.kv_width), "half": Grid(1, 40)},
    RULE,
    lambda impl, layers, kv_width, half: (
        impl.kv_bytes_per_token_approx(layers=4 * layers, hidden=half, kv_width=kv_width)
        == 2 * impl.kv_bytes_per_token_approx(layers=layers, hidden=2 * half, kv_width=kv_width)
    ),
)
latent_element = Invariant(
    "latent-element",
    "One more element of the compressed vector or of the rotary key adds one element per layer, "
    "for it serves as key and as value.",
    {**LATENT, "part": Among((0, 1))},
    TOKEN,
    lambda impl, part, **shape: all(
        impl.kv_bytes_per_token(**{**shape, name: shape[name] + 1}) - impl.kv_bytes_per_token(**shape)
        == shape["layers"] * shape["kv_width"]
        for name in [("kv_lora_rank", "qk_rope_dim")[part]]
    ),
)
latent_is_half = Invariant(
    "latent-is-half",
    "A latent cache as wide as all key-value heads together takes half of what they take.",
    of(q.layers, q.kv_lora_rank, q.qk_rope_dim, q.kv_width),
    TOKEN,
    lambda impl, layers, kv_lora_rank, qk_rope_dim, kv_width: (
        2
        * impl.kv_bytes_per_token(layers=layers, kv_lora_rank=kv_lora_rank, qk_rope_dim=qk_rope_dim, kv_width=kv_width)
        == impl.kv_bytes_per_token(layers=layers, kv_heads=1, head_dim=kv_lora_rank + qk_rope_dim, kv_width=kv_width)
    ),
)
latent_layers_add = Invariant(
    "latent-layers-add",
    "Layers cache their compressed vectors on their own.",
    {**LATENT, "more": Grid(1, 12)},
    TOKEN,
    lambda impl, more, **shape: (
        impl.kv_bytes_per_token(**{**shape, "layers": shape["layers"] + more})
        == impl.kv_bytes_per_token(**shape) + impl.kv_bytes_per_token(**{**shape, "layers": more})
    ),
)
tokens_add = Invariant(
    "I09",
    "Two parts of a context cache together what the whole context caches.",
    {**of(q.kv_bytes_per_token), "one": Grid(1, 40), "other": Grid(1, 40)},
    ("kv_bytes_per_sequence",),
    lambda impl, kv_bytes_per_token, one, other: (
        impl.kv_bytes_per_sequence(context=one + other, kv_bytes_per_token=kv_bytes_per_token)
        == impl.kv_bytes_per_sequence(context=one, kv_bytes_per_token=kv_bytes_per_token)
        + impl.kv_bytes_per_sequence(context=other, kv_bytes_per_token=kv_bytes_per_token)
    ),
)
one_token = Invariant(
    "kv-one-token",
    "A context of one token caches what a token caches.",
    of(q.kv_bytes_per_token),
    ("kv_bytes_per_sequence",),
    lambda impl, kv_bytes_per_token: (
        impl.kv_bytes_per_sequence(context=1, kv_bytes_per_token=kv_bytes_per_token) == kv_bytes_per_token
    ),
)
nothing_cached = Invariant(
    "I09-zero",
    "No tokens cache nothing, and one more token adds its own bytes.",
    of(q.cached_tokens, q.kv_bytes_per_token),
    ("kv_bytes_total",),
    lambda impl, cached_tokens, kv_bytes_per_token: (
        impl.kv_bytes_total(cached_tokens=0, kv_bytes_per_token=kv_bytes_per_token) == 0
        and impl.kv_bytes_total(cached_tokens=cached_tokens + 1, kv_bytes_per_token=kv_bytes_per_token)
        - impl.kv_bytes_total(cached_tokens=cached_tokens, kv_bytes_per_token=kv_bytes_per_token)
        == kv_bytes_per_token
    ),
)
set_of_sequences = Invariant(
    "kv-set-of-sequences",
    "Equal sequences cache together as often what one of them caches.",
    of(q.concurrency, q.context, q.kv_bytes_per_token),
    ("cached_tokens", "kv_bytes_total", "kv_bytes_per_sequence"),
    lambda impl, concurrency, context, kv_bytes_per_token: (
        impl.kv_bytes_total(
            cached_tokens=impl.cached_tokens(concurrency=concurrency, context=context),
            kv_bytes_per_token=kv_bytes_per_token,
        )
        == concurrency * impl.kv_bytes_per_sequence(context=context, kv_bytes_per_token=kv_bytes_per_token)
    ),
)
sequences_add = Invariant(
    "tokens-of-sequences-add",
    "One more sequence adds the tokens of its context.",
    of(q.concurrency, q.context),
    ("cached_tokens",),
    lambda impl, concurrency, context: (
        impl.cached_tokens(concurrency=0, context=context) == 0
        and impl.cached_tokens(concurrency=concurrency + 1, context=context)
        - impl.cached_tokens(concurrency=concurrency, context=context)
        == context
    ),
)
batch_is_concurrency = Invariant(
    "tokens-of-a-batch",
    "A batch caches what as many sequences cache, for every sequence has its own cache.",
    of(q.batch, q.context),
    ("cached_tokens",),
    lambda impl, batch, context: (
        impl.cached_tokens(batch=batch, context=context) == impl.cached_tokens(concurrency=batch, context=context)
    ),
)
blocks_cover = Invariant(
    "I12",
    "The blocks of a sequence hold it, and less than one block of them is empty.",
    of(q.context, q.block_size),
    ("blocks_per_sequence",),
    lambda impl, context, block_size: (
        context <= block_size * impl.blocks_per_sequence(context=context, block_size=block_size) < context + block_size
    ),
)
blocks_nearly_add = Invariant(
    "I13",
    "Two parts of a context take at most one block more than the whole, and never fewer.",
    {**of(q.block_size), "one": Grid(1, 40), "other": Grid(1, 40)},
    ("blocks_per_sequence",),
    lambda impl, block_size, one, other: (
        impl.blocks_per_sequence(context=one + other, block_size=block_size)
        <= impl.blocks_per_sequence(context=one, block_size=block_size)
        + impl.blocks_per_sequence(context=other, block_size=block_size)
        <= impl.blocks_per_sequence(context=one + other, block_size=block_size) + 1
    ),
)
blocks_add = Invariant(
    "I13-false",
    "Two parts of a context take together the blocks of the whole.",
    {**of(q.block_size), "one": Grid(1, 40), "other": Grid(1, 40)},
    ("blocks_per_sequence",),
    lambda impl, block_size, one, other: (
        impl.blocks_per_sequence(context=one, block_size=block_size)
        + impl.blocks_per_sequence(context=other, block_size=block_size)
        == impl.blocks_per_sequence(context=one + other, block_size=block_size)
    ),
    refuted={"block_size": 2, "one": 1, "other": 1},
    why="Each part may leave its own last block partly empty.",
)
block_of_tokens = Invariant(
    "block-bytes",
    "A block caches what a sequence of its number of tokens caches.",
    of(q.block_size, q.kv_bytes_per_token),
    ("kv_bytes_per_block", "kv_bytes_per_sequence"),
    lambda impl, block_size, kv_bytes_per_token: (
        impl.kv_bytes_per_block(block_size=block_size, kv_bytes_per_token=kv_bytes_per_token)
        == impl.kv_bytes_per_sequence(context=block_size, kv_bytes_per_token=kv_bytes_per_token)
    ),
)

layer_of_a_token = Invariant(
    "kv-layer",
    "Without scales, one layer caches of a token what a model of one layer caches.",
    of(q.kv_heads, q.head_dim, q.kv_width),
    (*LAYER, *TOKEN),
    lambda impl, **shape: impl.kv_bytes_per_layer(**shape, scale_width=0) == impl.kv_bytes_per_token(**shape, layers=1),
)
scales = Invariant(
    "kv-scales",
    "Scales add their width once for the key and once for the value of every key-value head.",
    of(q.kv_heads, q.head_dim, q.kv_width, q.scale_width),
    LAYER,
    lambda impl, scale_width, **shape: (
        impl.kv_bytes_per_layer(**shape, scale_width=scale_width) - impl.kv_bytes_per_layer(**shape, scale_width=0)
        == shape["kv_heads"] * (scale_width + scale_width)
    ),
)
latent_layer = Invariant(
    "kv-latent-layer",
    "One layer of latent attention caches of a token what a model of one such layer caches.",
    of(q.kv_lora_rank, q.qk_rope_dim, q.kv_width),
    (*LAYER, *TOKEN),
    lambda impl, **shape: impl.kv_bytes_per_layer(**shape) == impl.kv_bytes_per_token(**shape, layers=1),
)
no_sliding_layer = Invariant(
    "window-in-no-layer",
    "Where no layer slides, a sequence caches every token of its context in every layer, whatever the window.",
    of(q.layers, q.context, q.sliding_window, q.kv_bytes_per_layer),
    SEQUENCE,
    lambda impl, layers, context, sliding_window, kv_bytes_per_layer: (
        impl.kv_bytes_per_sequence(
            layers=layers, sliding_layers=0, context=context, sliding_window=sliding_window,
            kv_bytes_per_layer=kv_bytes_per_layer,
        )
        == impl.kv_bytes_per_sequence(context=context, kv_bytes_per_token=layers * kv_bytes_per_layer)
    ),
)  # fmt: skip
one_more_slides = Invariant(
    "window-in-one-more-layer",
    "When one more layer slides, the tokens before its window leave the cache, and none if the context is shorter.",
    {**of(q.context, q.sliding_window, q.kv_bytes_per_layer), **STACK},
    SEQUENCE,
    lambda impl, full, sliding, context, **more: (
        impl.kv_bytes_per_sequence(layers=full + sliding, sliding_layers=sliding - 1, context=context, **more)
        - impl.kv_bytes_per_sequence(layers=full + sliding, sliding_layers=sliding, context=context, **more)
        == max(context - more["sliding_window"], 0) * more["kv_bytes_per_layer"]
    ),
)
a_window_that_is_too_long = Invariant(
    "window-longer-than-context",
    "A window longer than the context changes nothing.",
    {**of(q.context, q.sliding_window, q.kv_bytes_per_layer), **STACK},
    SEQUENCE,
    lambda impl, full, sliding, context, sliding_window, kv_bytes_per_layer: (
        impl.kv_bytes_per_sequence(
            layers=full + sliding, sliding_layers=sliding, context=context, sliding_window=context + sliding_window,
            kv_bytes_per_layer=kv_bytes_per_layer,
        )
        == impl.kv_bytes_per_sequence(context=context, kv_bytes_per_token=(full + sliding) * kv_bytes_per_layer)
    ),
)  # fmt: skip
constant_beyond_the_window = Invariant(
    "window-caps-false",
    "Beyond the window a longer context caches no more.",
    {**of(q.sliding_window), "full": Grid(0, 4), "beyond": Grid(0, 40)},
    SEQUENCE,
    lambda impl, sliding_window, full, beyond: (
        impl.kv_bytes_per_sequence(
            layers=full + 1, sliding_layers=1, context=sliding_window + beyond, sliding_window=sliding_window,
            kv_bytes_per_layer=1,
        )
        == impl.kv_bytes_per_sequence(
            layers=full + 1, sliding_layers=1, context=sliding_window, sliding_window=sliding_window,
            kv_bytes_per_layer=1,
        )
    ),
    refuted={"sliding_window": 1, "full": 1, "beyond": 1},
    why="Full layers between the sliding ones keep every token.",
)  # fmt: skip
rounded_up = Invariant(
    "window-in-blocks",
    "In whole blocks a sequence caches what one does whose context and window are rounded up to whole blocks.",
    {**of(q.context, q.sliding_window, q.block_size, q.kv_bytes_per_layer), **STACK},
    ("blocks_per_sequence", *SEQUENCE),
    lambda impl, full, sliding, context, sliding_window, block_size, kv_bytes_per_layer: (
        impl.kv_bytes_per_sequence(
            layers=full + sliding, sliding_layers=sliding, context=context, sliding_window=sliding_window,
            block_size=block_size, kv_bytes_per_layer=kv_bytes_per_layer,
        )
        == impl.kv_bytes_per_sequence(
            layers=full + sliding, sliding_layers=sliding, kv_bytes_per_layer=kv_bytes_per_layer,
            context=block_size * impl.blocks_per_sequence(context=context, block_size=block_size),
            sliding_window=block_size * impl.blocks_per_sequence(context=sliding_window, block_size=block_size),
        )
    ),
)  # fmt: skip
mixed_sequences_fit = Invariant(
    "window-fits",
    "Sequences with sliding layers fit a budget exactly when as many times the cache of one of them does.",
    {**of(q.concurrency, q.context, q.sliding_window, q.kv_bytes_per_layer), **STACK, "kv_budget": Grid(0, 40_000)},
    ("fits_mixed", *SEQUENCE),
    lambda impl, full, sliding, concurrency, kv_budget, **more: all(
        impl.fits_mixed(
            layers=full + sliding, sliding_layers=sliding, concurrency=concurrency, kv_budget=budget, **more
        )
        == (budget >= needed)
        for needed in [concurrency * impl.kv_bytes_per_sequence(layers=full + sliding, sliding_layers=sliding, **more)]
        for budget in (kv_budget, needed, max(needed - 1, 0))
    ),
)
longest_window = Invariant(
    "window-longest",
    "A budget that holds a window, and one more token of it in part, allows that window and no longer one.",
    {**of(q.sliding_window, q.kv_bytes_per_layer), **STACK, "sequences": Grid(1, 12), "beyond": Grid(1, 24)},
    ("sliding_window", *SEQUENCE),
    lambda impl, full, sliding, sequences, sliding_window, beyond, kv_bytes_per_layer: all(
        impl.sliding_window(
            **shape,
            concurrency=sequences,
            kv_budget=sequences * impl.kv_bytes_per_sequence(**shape, sliding_window=sliding_window)
            + part * sequences * sliding * kv_bytes_per_layer,
        )
        == sliding_window
        for part in (0, HALF)
        for shape in [{
            "layers": full + sliding, "sliding_layers": sliding, "context": sliding_window + beyond,
            "kv_bytes_per_layer": kv_bytes_per_layer,
        }]
    ),
)  # fmt: skip
