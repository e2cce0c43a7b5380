"""Several GPUs for one copy of the model: what each of them holds, and what they tell each other."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Grid, of

ONE = Fraction(1)
HEADS = of(q.layers, q.kv_heads, q.head_dim, q.kv_width)
RING = of(q.tensor_parallel, q.all_reduce_payload)
LINK = of(q.link_latency, q.all_reduce_bytes, q.link_bandwidth)

weights_together = Invariant(
    "weights-of-a-group",
    "The GPUs of a group hold the weights together, once.",
    of(q.weights, q.tensor_parallel),
    ("weights_per_gpu",),
    lambda impl, weights, tensor_parallel: (
        impl.weights_per_gpu(weights=weights, tensor_parallel=tensor_parallel) * tensor_parallel == weights
    ),
)
group_against_replicas = Invariant(
    "I88",
    "A group has more room for caches than as many replicas: all copies of the weights but one.",
    {**of(q.weights, q.tensor_parallel), "spare": Grid(ONE / 2, 30, ONE / 2)},
    ("weights_per_gpu", "kv_budget"),
    lambda impl, weights, tensor_parallel, spare: all(
        tensor_parallel * (impl.kv_budget(weights=share, **gpu) - impl.kv_budget(weights=weights, **gpu))
        == (tensor_parallel - 1) * weights
        for share in [impl.weights_per_gpu(weights=weights, tensor_parallel=tensor_parallel)]
        for gpu in [{"gpu_memory": weights + spare, "activations": 0, "safety_margin": 0}]
    ),
)
heads_whole = Invariant(
    "kv-heads-of-a-group",
    "The GPU of a group with the most key-value heads caches as much as a model with that many: no head is split.",
    {**HEADS, "tensor_parallel": Grid(1, 12)},
    ("kv_bytes_per_token_per_gpu", "kv_bytes_per_token"),
    lambda impl, kv_heads, tensor_parallel, **shape: (
        impl.kv_bytes_per_token_per_gpu(kv_heads=kv_heads, tensor_parallel=tensor_parallel, **shape)
        == impl.kv_bytes_per_token(kv_heads=-(-kv_heads // tensor_parallel), **shape)
    ),
)
one_vector_each = Invariant(
    "all-reduce-vectors",
    "An all-reduce of one sequence and one element sums one activation, and sequences and elements each add theirs.",
    of(q.batch, q.hidden, q.activation_width),
    ("all_reduce_payload",),
    lambda impl, batch, hidden, activation_width: (
        impl.all_reduce_payload(batch=1, hidden=1, activation_width=activation_width) == activation_width
        and impl.all_reduce_payload(batch=batch + 1, hidden=hidden, activation_width=activation_width)
        - impl.all_reduce_payload(batch=batch, hidden=hidden, activation_width=activation_width)
        == impl.all_reduce_payload(batch=1, hidden=hidden, activation_width=activation_width)
        and impl.all_reduce_payload(batch=batch, hidden=hidden + 1, activation_width=activation_width)
        - impl.all_reduce_payload(batch=batch, hidden=hidden, activation_width=activation_width)
        == impl.all_reduce_payload(batch=batch, hidden=1, activation_width=activation_width)
    ),
)
ring_parts = Invariant(
    "I89-parts",
    "What a GPU sends in a ring, and twice its own part of the payload, is twice the payload.",
    RING,
    ("all_reduce_bytes",),
    lambda impl, tensor_parallel, all_reduce_payload: (
        impl.all_reduce_bytes(tensor_parallel=tensor_parallel, all_reduce_payload=all_reduce_payload)
        + ONE * 2 * all_reduce_payload / tensor_parallel
        == 2 * all_reduce_payload
    ),
)
ring_range = Invariant(
    "I89",
    "A GPU alone sends nothing, one of more GPUs sends more, and none sends twice the payload.",
    RING,
    ("all_reduce_bytes",),
    lambda impl, tensor_parallel, **payload: (
        impl.all_reduce_bytes(tensor_parallel=1, **payload) == 0
        and impl.all_reduce_bytes(tensor_parallel=tensor_parallel, **payload)
        < impl.all_reduce_bytes(tensor_parallel=tensor_parallel + 1, **payload)
        < 2 * payload["all_reduce_payload"]
    ),
)
two_per_layer = Invariant(
    "communication-two-per-layer",
    "Each layer waits twice, for the latency and for the transfer of an all-reduce.",
    {**of(q.layers), **LINK},
    ("communication_time",),
    lambda impl, layers, **link: (
        impl.communication_time(layers=layers + 1, **link) - impl.communication_time(layers=layers, **link)
        == impl.communication_time(layers=1, **link)
        and impl.communication_time(layers=1, **{**link, "all_reduce_bytes": 0}) == link["link_latency"] * 2
        and impl.communication_time(layers=1, **{**link, "link_latency": 0}) * link["link_bandwidth"]
        == link["all_reduce_bytes"] * 2
        and impl.communication_time(layers=1, **link)
        == impl.communication_time(layers=1, **{**link, "link_latency": 0})
        + impl.communication_time(layers=1, **{**link, "all_reduce_bytes": 0})
    ),
)
slots_or_memory = Invariant(
    "I87",
    "Slots are the limit exactly where memory holds at least as many sequences of that context.",
    of(q.slots, q.slot_limit_context, q.token_capacity),
    ("slots_bind",),
    lambda impl, slots, slot_limit_context, token_capacity: all(
        impl.slots_bind(slots=slots, slot_limit_context=slot_limit_context, token_capacity=tokens)
        == (tokens // slot_limit_context >= slots)
        for tokens in (token_capacity, slots * slot_limit_context, slots * slot_limit_context - 1)
    ),
)
group_is_faster = Invariant(
    "ring-constant",
    "A larger group sends no more per GPU, since each of them has a smaller part.",
    {"tensor_parallel": Grid(1, 8), "all_reduce_payload": Grid(ONE / 2, 4, ONE / 2)},
    ("all_reduce_bytes",),
    lambda impl, tensor_parallel, **payload: (
        impl.all_reduce_bytes(tensor_parallel=tensor_parallel + 1, **payload)
        <= impl.all_reduce_bytes(tensor_parallel=tensor_parallel, **payload)
    ),
    refuted={"tensor_parallel": 1, "all_reduce_payload": ONE / 2},
    why="The parts get smaller, but each passes more GPUs: the bytes grow towards twice the payload.",
)
