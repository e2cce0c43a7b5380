"""One copy of the model on a group of GPUs: what each of them keeps, and what the group holds and takes."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.kv_cache import CAPPED, OF_THE_MODEL, UNEVEN, tokens_of_layers
from spec.laws import Bound, Identity, Slip, author_order
from spec.phases import ROOFLINE

SPLIT = "tensor parallelism in public serving engines"

with author_order():
    kv_budget_sharded = Identity(
        q.kv_budget,
        q.gpu_memory - q.weights_per_gpu - q.activations - q.safety_margin,
        name="kv_budget_sharded",
        says="On each GPU of a group only its part of the weights comes off, beside activations and safety margin.",
        section="scaling",
        source=SPLIT,
        superseded_by=(q.memory_utilization,),
        slips=[
            Slip(
                "weights-not-shared",
                "Every GPU was given all weights; the group shares them.",
                q.gpu_memory - q.weights - q.activations - q.safety_margin,
                unless=sympy.Eq(q.weights, q.weights_per_gpu),
            ),
            Slip(
                "reserves-forgotten",
                "Neither the activation reserve nor the safety margin was taken off.",
                q.gpu_memory - q.weights_per_gpu,
                unless=sympy.Eq(q.activations + q.safety_margin, 0),
            ),
        ],
    )
    kv_budget_by_utilization_sharded = Identity(
        q.kv_budget,
        q.memory_utilization * q.gpu_memory_reported - q.weights_per_gpu - q.activations - q.runtime_memory,
        name="kv_budget_by_utilization_sharded",
        says="On each GPU of a group the server takes a share of the reported memory, and its part of the weights "
        "and the rest of its needs come off that.",
        section="scaling",
        source="memory profiling of public serving engines",
    )
    activations_of_remaining_sharded = Identity(
        q.activations,
        q.activation_share_of_remaining * (q.gpu_memory - q.weights_per_gpu),
        name="activations_of_remaining_sharded",
        where=[q.weights_per_gpu <= q.gpu_memory],
        says="On each GPU of a group the activation reserve is a share of what its part of the weights leaves.",
        section="scaling",
    )
    safety_of_remaining_sharded = Identity(
        q.safety_margin,
        q.safety_share_of_remaining * (q.gpu_memory - q.weights_per_gpu),
        name="safety_of_remaining_sharded",
        where=[q.weights_per_gpu <= q.gpu_memory],
        says="On each GPU of a group the safety margin is a share of what its part of the weights leaves.",
        section="scaling",
    )
    kv_budget_of_group = Identity(
        q.kv_budget_of_group,
        q.tensor_parallel * q.kv_budget,
        constant="1/GPU",
        says="The GPUs of a group have equal budgets.",
        section="scaling",
        slips=[
            Slip(
                "one-gpu",
                "The budget of one GPU was given for all of them.",
                q.kv_budget,
                unless=sympy.Eq(q.tensor_parallel, 1),
            )
        ],
    )

    kv_bytes_per_token_per_gpu_latent = Identity(
        q.kv_bytes_per_token_per_gpu,
        q.layers * (q.kv_lora_rank + q.qk_rope_dim) * q.kv_width,
        name="kv_bytes_per_token_per_gpu_latent",
        constant="1/token",
        says="The heads share one compressed vector, so every GPU of a group keeps all of it.",
        section="scaling",
        source=SPLIT,
        slips=[
            Slip(
                "latent-shared",
                "The compressed vector was shared out among the GPUs; each of them needs all of it.",
                q.layers * (q.kv_lora_rank + q.qk_rope_dim) * q.kv_width / q.tensor_parallel,
                unless=sympy.Eq(q.tensor_parallel, 1),
            )
        ],
    )
    kv_bytes_per_layer_per_gpu = Identity(
        q.kv_bytes_per_layer_per_gpu,
        2 * sympy.ceiling(q.kv_heads / q.tensor_parallel) * (q.head_dim * q.kv_width + q.scale_width),
        constant="GPU/token",
        says="A key and a value, with their scales, for every key-value head that the GPU has; it has one at least.",
        section="scaling",
        source=SPLIT,
        superseded_by=(q.kv_lora_rank,),
    )
    holds_tokens_sharded = Bound(
        "holds_tokens_sharded",
        q.token_capacity * q.kv_bytes_per_token_per_gpu <= q.kv_budget,
        says="Every GPU of a group keeps its part of all cached tokens, so the group holds what one of them does.",
        section="scaling",
        source=SPLIT,
        superseded_by=(q.sliding_window,),
        slips=[
            Slip(
                "cache-not-shared",
                "Every GPU was given the whole cache of a token; each keeps the heads it has.",
                q.token_capacity * q.kv_bytes_per_token <= q.kv_budget,
                unless=sympy.Eq(q.kv_bytes_per_token, q.kv_bytes_per_token_per_gpu),
            )
        ],
    )
    fits_sharded = Bound(
        "fits_sharded",
        q.concurrency * q.context * q.kv_bytes_per_token_per_gpu <= q.kv_budget,
        constant="1/sequence",
        says="On every GPU of a group its part of all caches fits the budget.",
        section="scaling",
        source=SPLIT,
        superseded_by=(q.sliding_window,),
        slips=[
            Slip(
                "cache-not-shared",
                "Every GPU was given the whole cache of a token; each keeps the heads it has.",
                q.concurrency * q.context * q.kv_bytes_per_token <= q.kv_budget,
                unless=sympy.Eq(q.kv_bytes_per_token, q.kv_bytes_per_token_per_gpu),
            )
        ],
    )
    fits_in_blocks_sharded = Bound(
        "fits_in_blocks_sharded",
        q.concurrency * (q.block_size * sympy.ceiling(q.context / q.block_size)) * q.kv_bytes_per_token_per_gpu
        <= q.kv_budget,
        constant="1/sequence",
        both_ways={q.block_size: UNEVEN},
        not_invertible={q.block_size: UNEVEN},
        says="On every GPU of a group its part of the whole blocks of all sequences fits the budget.",
        section="scaling",
        source=SPLIT,
        superseded_by=(q.sliding_window,),
    )
    fits_mixed_sharded = Bound(
        "fits_mixed_sharded",
        q.concurrency * (tokens_of_layers * q.kv_bytes_per_layer_per_gpu) <= q.kv_budget,
        constant="1/sequence",
        where=[q.sliding_layers <= q.layers],
        both_ways={q.sliding_layers: CAPPED},
        not_invertible=dict.fromkeys((q.layers, q.sliding_layers), OF_THE_MODEL),
        says="On every GPU of a group its part of all caches fits when some layers keep only a window.",
        section="scaling",
        source=SPLIT,
    )
    cache_of_gpu = q.cached_tokens * q.kv_bytes_per_token * (sympy.ceiling(q.kv_heads / q.group_size) / q.kv_heads)
    group_holds = Bound(
        "group_holds",
        q.weights / q.group_size + cache_of_gpu + q.activations + q.safety_margin <= q.gpu_memory,
        not_invertible={q.kv_heads: OF_THE_MODEL},
        both_ways={q.kv_heads: "heads that the group does not divide evenly leave some GPUs with fewer"},
        says="On every GPU of a group its part of the weights and of all caches fits beside its reserves.",
        section="scaling",
        source=SPLIT,
        superseded_by=(q.sliding_window, q.kv_lora_rank, q.memory_utilization, q.tensor_parallel),
        slips=[
            Slip(
                "cache-forgotten",
                "Only the weights were counted; the group must hold the caches too.",
                q.weights / q.group_size + q.activations + q.safety_margin <= q.gpu_memory,
            )
        ],
    )

    prefill_flops_per_gpu = Identity(
        q.prefill_flops_per_gpu,
        q.prefill_flops / q.tensor_parallel,
        constant="GPU",
        says="Tensor parallelism splits the operations of a prefill evenly.",
        section="scaling",
    )
    prefill_bytes_per_gpu = Identity(
        q.prefill_bytes_per_gpu,
        q.weights_per_gpu + q.prompt * q.kv_bytes_per_token_per_gpu,
        says="Each GPU reads its part of the weights and writes its part of the cache of the prompt.",
        section="scaling",
    )
    prefill_time_sharded = Identity(
        q.prefill_time,
        sympy.Max(
            q.prefill_flops_per_gpu / (q.compute * q.mfu),
            q.prefill_bytes_per_gpu / (q.bandwidth * q.mbu),
        ),
        name="prefill_time_sharded",
        says="On a group, prefill takes at least the longer of the arithmetic and the traffic of one GPU; "
        "what they tell each other comes on top.",
        section="scaling",
        source=ROOFLINE,
    )
    decode_flops_per_gpu = Identity(
        q.decode_flops_per_gpu,
        q.decode_flops / q.tensor_parallel,
        constant="GPU",
        says="Tensor parallelism splits the operations of a step evenly.",
        section="scaling",
    )
    decode_bytes_per_gpu = Identity(
        q.decode_bytes_per_gpu,
        q.weights_per_gpu + q.cached_tokens * q.kv_bytes_per_token_per_gpu,
        says="Each GPU reads its part of the weights and its part of the cache.",
        section="scaling",
        superseded_by=(q.experts,),
    )
    decode_step_time_sharded = Identity(
        q.decode_step_time,
        sympy.Max(
            q.decode_flops_per_gpu / (q.compute * q.mfu),
            q.decode_bytes_per_gpu / (q.bandwidth * q.mbu),
        )
        + q.communication_time,
        name="decode_step_time_sharded",
        says="On a group, a step takes the longer of the arithmetic and the traffic of one GPU, "
        "and then what they tell each other.",
        section="scaling",
        source=ROOFLINE,
        slips=[
            Slip(
                "communication-forgotten",
                "What the GPUs tell each other was left out.",
                sympy.Max(
                    q.decode_flops_per_gpu / (q.compute * q.mfu),
                    q.decode_bytes_per_gpu / (q.bandwidth * q.mbu),
                ),
                unless=sympy.Eq(q.communication_time, 0),
            )
        ],
    )
