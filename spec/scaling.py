"""How many sequences one GPU carries and how many GPUs a load needs."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Bound, Identity, Slip, author_order

with author_order():
    gpu_holds = Bound(
        "gpu_holds",
        q.sequences_per_gpu * (q.prompt + q.output) * q.kv_bytes_per_token <= q.kv_budget,
        constant="GPU/sequence",
        says="One GPU holds the full prompt and output of each of its sequences.",
        section="sizing",
        superseded_by=(q.tensor_parallel,),
        slips=[
            Slip(
                "output-forgotten",
                "Only the prompt was counted; the output tokens are cached too.",
                q.sequences_per_gpu * q.prompt * q.kv_bytes_per_token <= q.kv_budget,
            ),
            Slip(
                "prompt-forgotten",
                "Only the output was counted; the prompt is cached too.",
                q.sequences_per_gpu * q.output * q.kv_bytes_per_token <= q.kv_budget,
            ),
        ],
    )
    carries = Bound(
        "carries",
        q.mean_concurrency < q.gpus * q.sequences_per_gpu,
        says="The GPUs hold more sequences than are in service on average: at equality the queue grows without end.",
        section="scaling",
        not_invertible={q.mean_concurrency: "the bound is strict, so there is no largest value"},
        slips=[Slip("one-gpu-per-sequence", "One GPU was counted for each sequence.", q.mean_concurrency <= q.gpus)],
    )
    weights_per_gpu = Identity(
        q.weights_per_gpu,
        q.weights / q.tensor_parallel,
        constant="GPU",
        says="Tensor parallelism splits the weights evenly.",
        section="scaling",
    )
    all_reduce_payload = Identity(
        q.all_reduce_payload,
        q.batch * q.hidden * q.activation_width,
        constant="1/sequence",
        says="Every sequence sums one hidden vector.",
        section="scaling",
    )
    all_reduce_bytes = Identity(
        q.all_reduce_bytes,
        2 * (q.tensor_parallel - 1) / q.tensor_parallel * q.all_reduce_payload,
        says="A ring sends every byte twice past all but one GPU.",
        section="scaling",
        source="ring all-reduce (Patarasuk and Yuan 2009)",
        slips=[
            Slip(
                "ring-factor-forgotten",
                "The payload was counted once; a ring sends 2 (t - 1) / t of it.",
                q.all_reduce_payload,
            ),
            Slip(
                "whole-payload-per-gpu",
                "The payload was counted once for every GPU.",
                q.tensor_parallel * q.all_reduce_payload,
            ),
        ],
    )
    communication_time = Identity(
        q.communication_time,
        2 * q.layers * (q.link_latency + q.all_reduce_bytes / q.link_bandwidth),
        says="Two all-reduces per layer, each with its latency and its transfer.",
        section="scaling",
        slips=[
            Slip(
                "one-all-reduce",
                "One all-reduce per layer was counted; attention and the feed-forward network each take one.",
                q.layers * (q.link_latency + q.all_reduce_bytes / q.link_bandwidth),
            ),
            Slip(
                "latency-forgotten",
                "The latency of each all-reduce was left out.",
                2 * q.layers * q.all_reduce_bytes / q.link_bandwidth,
                unless=sympy.Eq(q.link_latency, 0),
            ),
        ],
    )
    kv_bytes_per_token_per_gpu = Identity(
        q.kv_bytes_per_token_per_gpu,
        2 * q.layers * sympy.ceiling(q.kv_heads / q.tensor_parallel) * q.head_dim * q.kv_width,
        constant="GPU/token",
        says="The group shares the key-value heads, and no head is split: a GPU has one at least.",
        section="scaling",
        source="tensor parallelism in public serving engines",
        superseded_by=(q.kv_lora_rank, q.scale_width),
        slips=[
            Slip(
                "heads-not-shared",
                "Every GPU was given all key-value heads.",
                2 * q.layers * q.kv_heads * q.head_dim * q.kv_width,
            )
        ],
    )
    slots_bind = Bound(
        "slots_bind",
        q.slots * q.slot_limit_context <= q.token_capacity,
        constant="1/sequence",
        says="Up to this context the tokens of all slots fit, and slots are the limit.",
        section="scaling",
    )
