"""Where GPU memory goes: weights, the KV cache, the partition and what fits."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Bound, Identity, Slip, author_order

with author_order():
    weights = Identity(
        q.weights,
        q.parameters * q.weight_bits / 8,
        constant="B/bit",
        says="Every parameter takes its bit width; eight bits make a byte.",
        section="model-weights",
        slips=[
            Slip("bits-as-bytes", "The bit width was used as a number of bytes.", q.parameters * q.weight_bits),
            Slip(
                "fp32-assumed",
                "Four bytes per parameter were assumed.",
                q.parameters * 4,
                unless=sympy.Eq(q.weight_bits, 32),
            ),
            Slip(
                "one-byte-assumed",
                "One byte per parameter was assumed.",
                q.parameters,
                unless=sympy.Eq(q.weight_bits, 8),
            ),
        ],
    )

    kv_bytes_per_token = Identity(
        q.kv_bytes_per_token,
        2 * q.layers * q.kv_heads * q.head_dim * q.kv_width,
        constant="1/token",
        says="One key and one value vector per layer, for every token kept.",
        section="kv-cache",
        superseded_by=(q.kv_lora_rank, q.scale_width),
        slips=[
            Slip(
                "values-forgotten",
                "The factor 2 is missing: a key and a value are kept.",
                q.layers * q.kv_heads * q.head_dim * q.kv_width,
            ),
            Slip(
                "hidden-for-kv-width",
                "The hidden size was used where kv_heads x head_dim belongs.",
                2 * q.layers * q.hidden * q.kv_width,
                unless=sympy.Eq(q.hidden, q.kv_heads * q.head_dim),
            ),
            Slip(
                "query-heads-for-kv-heads",
                "The query heads were counted; only the key-value heads are cached.",
                2 * q.layers * q.heads * q.head_dim * q.kv_width,
                unless=sympy.Eq(q.heads, q.kv_heads),
            ),
            Slip(
                "layers-forgotten",
                "One layer was counted; every layer keeps its own keys and values.",
                2 * q.kv_heads * q.head_dim * q.kv_width,
                unless=sympy.Eq(q.layers, 1),
            ),
            Slip(
                "one-head",
                "One key-value head was counted; every one of them is cached.",
                2 * q.layers * q.head_dim * q.kv_width,
                unless=sympy.Eq(q.kv_heads, 1),
            ),
            Slip(
                "queries-cached",
                "Queries were counted too; only keys and values are kept.",
                3 * q.layers * q.kv_heads * q.head_dim * q.kv_width,
            ),
            Slip(
                "projections-cached",
                "All four projections of attention were counted; only keys and values are kept.",
                4 * q.layers * q.kv_heads * q.head_dim * q.kv_width,
            ),
            Slip(
                "bits-for-bytes",
                "The element width was taken in bits.",
                2 * q.layers * q.kv_heads * q.head_dim * (8 * q.kv_width),
            ),
            Slip(
                "weight-width-for-kv",
                "The width of a weight was used for a cached element.",
                2 * q.layers * q.kv_heads * q.head_dim * (q.weight_bits / 8),
                unless=sympy.Eq(q.weight_bits, 8 * q.kv_width),
            ),
        ],
    )

    kv_bytes_per_token_approx = Identity(
        q.kv_bytes_per_token_approx,
        2 * q.layers * q.hidden * q.kv_width,
        constant="1/token",
        says="The special case in which all heads have keys and values and together span the hidden size.",
        section="kv-cache",
        slips=[
            Slip(
                "values-forgotten",
                "The factor 2 is missing: a key and a value are kept.",
                q.layers * q.hidden * q.kv_width,
            )
        ],
    )

    kv_bytes_per_token_latent = Identity(
        q.kv_bytes_per_token,
        q.layers * (q.kv_lora_rank + q.qk_rope_dim) * q.kv_width,
        name="kv_bytes_per_token_latent",
        constant="1/token",
        says="Latent attention keeps one compressed vector and one rotary key per layer: no factor 2 and no heads.",
        section="kv-cache",
        superseded_by=(q.rope_width,),
        source="DeepSeek-V2 technical report, multi-head latent attention",
        slips=[
            Slip(
                "values-counted",
                "A factor 2 was applied; the compressed vector serves keys and values at once.",
                2 * q.layers * (q.kv_lora_rank + q.qk_rope_dim) * q.kv_width,
            ),
            Slip(
                "latent-as-heads",
                "Keys and values of all heads were counted; the cache keeps one compressed vector instead.",
                2 * q.layers * q.heads * q.head_dim * q.kv_width,
            ),
            Slip(
                "hidden-for-latent",
                "Keys and values of the hidden size were counted; the cache keeps one compressed vector instead.",
                2 * q.layers * q.hidden * q.kv_width,
            ),
        ],
    )

    kv_bytes_per_sequence = Identity(
        q.kv_bytes_per_sequence,
        q.context * q.kv_bytes_per_token,
        says="A sequence caches every token of its context.",
        section="kv-cache",
        superseded_by=(q.sliding_window,),
        slips=[Slip("one-token", "The cache of one token was given for the whole context.", q.kv_bytes_per_token)],
    )

    kv_bytes_total = Identity(
        q.kv_bytes_total,
        q.cached_tokens * q.kv_bytes_per_token,
        says="A set of sequences caches the sum of their tokens.",
        section="kv-cache",
        superseded_by=(q.sliding_window,),
    )

    cached_tokens = Identity(
        q.cached_tokens,
        q.concurrency * q.context,
        constant="1/sequence",
        says="Sequences of equal context keep their number times that context.",
        section="kv-cache",
        slips=[Slip("longest-only", "One sequence was counted instead of all of them.", q.context)],
    )

    kv_budget = Identity(
        q.kv_budget,
        q.gpu_memory - q.weights - q.activations - q.safety_margin,
        says="Weights, activations and the safety margin come off the GPU's memory; the KV cache gets the rest.",
        section="memory-budgeting",
        superseded_by=(q.memory_utilization, q.tensor_parallel),
        slips=[
            Slip(
                "margin-forgotten",
                "The safety margin was not taken off.",
                q.gpu_memory - q.weights - q.activations,
                unless=sympy.Eq(q.safety_margin, 0),
            ),
            Slip(
                "activations-forgotten",
                "The activation reserve was not taken off.",
                q.gpu_memory - q.weights - q.safety_margin,
                unless=sympy.Eq(q.activations, 0),
            ),
            Slip(
                "reserves-forgotten",
                "Neither the activation reserve nor the safety margin was taken off.",
                q.gpu_memory - q.weights,
                unless=sympy.Eq(q.activations * q.safety_margin, 0),  # else one of them alone
            ),
            Slip(
                "weights-forgotten", "The weights were not taken off.", q.gpu_memory - q.activations - q.safety_margin
            ),
        ],
    )

    activations_of_total = Identity(
        q.activations,
        q.activation_share_of_total * q.gpu_memory,
        name="activations_of_total",
        says="The activation reserve is a share of the GPU's whole memory.",
        section="activation-memory",
    )
    activations_of_remaining = Identity(
        q.activations,
        q.activation_share_of_remaining * (q.gpu_memory - q.weights),
        name="activations_of_remaining",
        where=[q.weights <= q.gpu_memory],
        says="The activation reserve is a share of what the weights leave.",
        section="memory-budgeting",
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "share-of-total",
                "The share was taken of the GPU's whole memory instead of what the weights leave.",
                q.activation_share_of_remaining * q.gpu_memory,
            )
        ],
    )
    safety_of_total = Identity(
        q.safety_margin,
        q.safety_share_of_total * q.gpu_memory,
        name="safety_of_total",
        says="The safety margin is a share of the GPU's whole memory.",
        section="memory-budgeting",
    )
    safety_of_remaining = Identity(
        q.safety_margin,
        q.safety_share_of_remaining * (q.gpu_memory - q.weights),
        name="safety_of_remaining",
        where=[q.weights <= q.gpu_memory],
        says="The safety margin is a share of what the weights leave.",
        section="memory-budgeting",
        superseded_by=(q.tensor_parallel,),
    )
    kv_budget_by_shares = Identity(
        q.kv_budget,
        q.gpu_memory
        - q.weights
        - q.activation_share_of_remaining * (q.gpu_memory - q.weights)
        - q.safety_share_of_total * q.gpu_memory,
        name="kv_budget_by_shares",
        where=[q.weights <= q.gpu_memory, q.activation_share_of_remaining + q.safety_share_of_total < 1],
        says="The partition in one line: activations a share of what the weights leave, the margin of the whole.",
        section="memory-budgeting",
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "both-of-total",
                "Both shares were taken of the whole memory.",
                q.gpu_memory
                - q.weights
                - q.activation_share_of_remaining * q.gpu_memory
                - q.safety_share_of_total * q.gpu_memory,
            ),
            Slip(
                "both-of-remaining",
                "Both shares were taken of what the weights leave.",
                q.gpu_memory
                - q.weights
                - (q.activation_share_of_remaining + q.safety_share_of_total) * (q.gpu_memory - q.weights),
            ),
            Slip(
                "margin-forgotten",
                "The safety margin was not taken off.",
                q.gpu_memory - q.weights - q.activation_share_of_remaining * (q.gpu_memory - q.weights),
            ),
        ],
    )

    kv_share = Identity(
        q.kv_share,
        q.kv_budget / q.gpu_memory,
        says="What is left for the KV cache, as a share of the GPU's whole memory.",
        section="memory-budgeting",
        superseded_by=(q.tensor_parallel,),
    )

    holds_tokens = Bound(
        "holds_tokens",
        q.token_capacity * q.kv_bytes_per_token <= q.kv_budget,
        says="All cached tokens together fit the KV budget.",
        section="memory-budgeting",
        superseded_by=(q.sliding_window, q.tensor_parallel),
    )

    fits = Bound(
        "fits",
        q.concurrency * q.context * q.kv_bytes_per_token <= q.kv_budget,
        constant="1/sequence",
        says="All caches together fit the budget.",
        section="memory-budgeting",
        superseded_by=(q.sliding_window, q.tensor_parallel),
        slips=[
            Slip(
                "all-sequences-as-one",
                "The tokens of all sequences together were given for one of them.",
                q.context * q.kv_bytes_per_token <= q.kv_budget,
            ),
            Slip(
                "context-forgotten",
                "One token per sequence was counted instead of its context.",
                q.concurrency * q.kv_bytes_per_token <= q.kv_budget,
            ),
        ],
    )

    blocks_per_sequence = Identity(
        q.blocks_per_sequence,
        sympy.ceiling(q.context / q.block_size),
        constant="1",
        says="A sequence takes whole blocks: the last one may be part empty.",
        section="kv-cache",
        source="paged attention as in public serving engines",
        slips=[
            Slip(
                "last-block-dropped",
                "The partly filled last block was not counted.",
                sympy.floor(q.context / q.block_size),
            )
        ],
    )
    kv_bytes_per_block = Identity(
        q.kv_bytes_per_block,
        q.block_size * q.kv_bytes_per_token,
        says="A block holds a fixed number of tokens.",
        section="kv-cache",
        source="paged attention as in public serving engines",
    )
    fits_in_blocks = Bound(
        "fits_in_blocks",
        q.concurrency * sympy.ceiling(q.context / q.block_size) * q.kv_bytes_per_block <= q.kv_budget,
        constant="1/sequence",
        says="All caches fit the budget when each sequence takes whole blocks.",
        section="kv-cache",
        superseded_by=(q.sliding_window, q.tensor_parallel),
        source="paged attention as in public serving engines",
        slips=[
            Slip(
                "last-block-dropped",
                "The partly filled last block was not counted.",
                q.concurrency * sympy.floor(q.context / q.block_size) * q.kv_bytes_per_block <= q.kv_budget,
            )
        ],
    )
    kv_bytes_per_sequence_of_blocks = Identity(
        q.kv_bytes_per_sequence,
        q.blocks_per_sequence * q.kv_bytes_per_block,
        name="kv_bytes_per_sequence_of_blocks",
        says="A sequence takes the bytes of all its blocks, full or not.",
        section="kv-cache",
        source="paged attention as in public serving engines",
        superseded_by=(q.sliding_window,),
    )
    holds_tokens_in_blocks = Bound(
        "holds_tokens_in_blocks",
        sympy.ceiling(q.token_capacity / q.block_size) * q.kv_bytes_per_block <= q.kv_budget,
        not_invertible={q.block_size: "a block has its number of tokens; the bytes of one would change with it"},
        says="The budget holds whole blocks only, and the tokens of these.",
        section="kv-cache",
        source="paged attention as in public serving engines",
        superseded_by=(q.sliding_window, q.tensor_parallel),
        slips=[
            Slip(
                "last-block-dropped",
                "The partly filled last block was not counted.",
                sympy.floor(q.token_capacity / q.block_size) * q.kv_bytes_per_block <= q.kv_budget,
            )
        ],
    )
