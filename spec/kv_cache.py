"""The cache of one request as engines keep it: full and sliding layers, with scales, in tokens or in whole blocks."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Bound, Identity, Slip, author_order

ENGINES = "paged caches with sliding windows, as in public serving engines"
CAPPED = "a sliding layer keeps no more than a full one, which the tree alone does not tell"
OF_THE_MODEL = "the layers belong to the model, and are not what a budget leaves free"
UNEVEN = "larger blocks waste more at some lengths and less at others"

with author_order():
    kv_bytes_per_layer = Identity(
        q.kv_bytes_per_layer,
        2 * q.kv_heads * (q.head_dim * q.kv_width + q.scale_width),
        constant="1/token",
        says="A key and a value for every key-value head, each with its scale where the cache is quantised.",
        section="kv-cache",
        superseded_by=(q.kv_lora_rank,),
        slips=[
            Slip(
                "values-forgotten",
                "The factor 2 is missing: a key and a value are kept.",
                q.kv_heads * (q.head_dim * q.kv_width + q.scale_width),
            ),
            Slip(
                "scales-forgotten",
                "The scales of a quantised cache were left out.",
                2 * q.kv_heads * q.head_dim * q.kv_width,
                unless=sympy.Eq(q.scale_width, 0),
            ),
        ],
    )
    kv_bytes_per_layer_latent = Identity(
        q.kv_bytes_per_layer,
        (q.kv_lora_rank + q.qk_rope_dim) * q.kv_width,
        name="kv_bytes_per_layer_latent",
        constant="1/token",
        says="Latent attention keeps one compressed vector and one rotary key.",
        section="kv-cache",
        superseded_by=(q.rope_width,),
        source="DeepSeek-V2 technical report, multi-head latent attention",
    )

    kept = sympy.Min(q.context, q.sliding_window)
    tokens_of_layers = (q.layers - q.sliding_layers) * q.context + q.sliding_layers * kept
    kv_bytes_per_sequence_mixed = Identity(
        q.kv_bytes_per_sequence,
        tokens_of_layers * q.kv_bytes_per_layer,
        name="kv_bytes_per_sequence_mixed",
        where=[q.sliding_layers <= q.layers],
        both_ways={q.sliding_layers: CAPPED},
        says="Full layers keep every token, sliding layers the last ones of their window.",
        section="kv-cache",
        source=ENGINES,
        slips=[
            Slip(
                "window-ignored",
                "The sliding window was ignored: those layers keep only its tokens.",
                q.layers * q.context * q.kv_bytes_per_layer,
                unless=sympy.Eq(q.sliding_layers, 0),
            ),
            Slip(
                "window-on-all-layers",
                "The window was applied to every layer; the full ones keep all tokens.",
                q.layers * kept * q.kv_bytes_per_layer,
                unless=sympy.Eq(q.sliding_layers, q.layers),
            ),
        ],
    )
    fits_mixed = Bound(
        "fits_mixed",
        q.concurrency * (tokens_of_layers * q.kv_bytes_per_layer) <= q.kv_budget,
        constant="1/sequence",
        where=[q.sliding_layers <= q.layers],
        both_ways={q.sliding_layers: CAPPED},
        not_invertible=dict.fromkeys((q.layers, q.sliding_layers), OF_THE_MODEL),
        says="The caches of all sequences fit the budget when some layers keep only a window.",
        section="memory-budgeting",
        superseded_by=(q.tensor_parallel,),
        source=ENGINES,
        slips=[
            Slip(
                "window-ignored",
                "The sliding window was ignored: those layers keep only its tokens.",
                q.concurrency * (q.layers * q.context * q.kv_bytes_per_layer) <= q.kv_budget,
                unless=sympy.Eq(q.sliding_layers, 0),
            ),
        ],
    )

    whole = q.block_size * sympy.ceiling(q.context / q.block_size)
    windowed = q.block_size * sympy.ceiling(kept / q.block_size)
    kv_bytes_per_sequence_in_blocks = Identity(
        q.kv_bytes_per_sequence,
        ((q.layers - q.sliding_layers) * whole + q.sliding_layers * windowed) * q.kv_bytes_per_layer,
        name="kv_bytes_per_sequence_in_blocks",
        where=[q.sliding_layers <= q.layers],
        both_ways={q.sliding_layers: CAPPED, q.block_size: UNEVEN},
        says="Full and sliding layers keep their tokens in whole blocks.",
        section="kv-cache",
        source=ENGINES,
        slips=[
            Slip(
                "last-block-dropped",
                "Whole blocks are kept; the last one was counted in part.",
                tokens_of_layers * q.kv_bytes_per_layer,
                unless=sympy.Eq(q.block_size, 1),
            ),
        ],
    )
    fits_mixed_in_blocks = Bound(
        "fits_mixed_in_blocks",
        q.concurrency * (((q.layers - q.sliding_layers) * whole + q.sliding_layers * windowed) * q.kv_bytes_per_layer)
        <= q.kv_budget,
        constant="1/sequence",
        where=[q.sliding_layers <= q.layers],
        both_ways={q.sliding_layers: CAPPED, q.block_size: UNEVEN},
        not_invertible={**dict.fromkeys((q.layers, q.sliding_layers), OF_THE_MODEL), q.block_size: UNEVEN},
        says="The whole blocks of all sequences fit the budget when some layers keep only a window.",
        section="memory-budgeting",
        source=ENGINES,
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "last-block-dropped",
                "Whole blocks are kept; the last one was counted in part.",
                q.concurrency * (tokens_of_layers * q.kv_bytes_per_layer) <= q.kv_budget,
                unless=sympy.Eq(q.block_size, 1),
            ),
        ],
    )
    kv_bytes_of_sequences = Identity(
        q.kv_bytes_total,
        q.concurrency * q.kv_bytes_per_sequence,
        name="kv_bytes_of_sequences",
        constant="1/sequence",
        says="Equal sequences cache together as often what one of them caches.",
        section="kv-cache",
        slips=[Slip("one-sequence", "The cache of one sequence was given for all of them.", q.kv_bytes_per_sequence)],
    )
    request = q.prompt + q.output
    gpu_holds_mixed = Bound(
        "gpu_holds_mixed",
        q.sequences_per_gpu
        * (
            ((q.layers - q.sliding_layers) * request + q.sliding_layers * sympy.Min(request, q.sliding_window))
            * q.kv_bytes_per_layer
        )
        <= q.kv_budget,
        constant="GPU/sequence",
        where=[q.sliding_layers <= q.layers],
        both_ways={q.sliding_layers: CAPPED},
        not_invertible=dict.fromkeys((q.layers, q.sliding_layers), OF_THE_MODEL),
        says="One GPU holds the full prompt and output of each of its sequences when some layers keep only a window.",
        section="sizing",
        source=ENGINES,
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "window-ignored",
                "The sliding window was ignored: those layers keep only its tokens.",
                q.sequences_per_gpu * (q.layers * request * q.kv_bytes_per_layer) <= q.kv_budget,
                unless=sympy.Eq(q.sliding_layers, 0),
            ),
        ],
    )
