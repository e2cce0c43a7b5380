"""The partition as servers state it, and the buffers that a forward pass takes."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Grid, of
from spec.solving import Infeasible

ONE = Fraction(1)
TAKEN = of(q.weights, q.activations, q.runtime_memory)
LEFT = Grid(0, 30, HALF)
IN_FLIGHT = of(q.batch, q.prompt, q.hidden, q.activation_width)

used_memory_is_the_share = Invariant(
    "utilization-partition",
    "Weights, activations, runtime and KV cache together are exactly the share of the memory that the server may use.",
    {**TAKEN, **of(q.memory_utilization), "left": LEFT},
    ("kv_budget",),
    lambda impl, memory_utilization, left, **taken: (
        impl.kv_budget(
            gpu_memory_reported=ONE * (sum(taken.values()) + left) / memory_utilization,
            memory_utilization=memory_utilization,
            **taken,
        )
        == left
    ),
)
no_room_in_the_share = Invariant(
    "utilization-none",
    "A server finds no room for a KV cache exactly when its other needs exceed the share that it may use.",
    {**TAKEN, **of(q.memory_utilization, q.gpu_memory_reported)},
    ("kv_budget",),
    lambda impl, memory_utilization, gpu_memory_reported, **taken: (
        isinstance(
            impl.kv_budget(memory_utilization=memory_utilization, gpu_memory_reported=gpu_memory_reported, **taken),
            Infeasible,
        )
        == (sum(taken.values()) > memory_utilization * gpu_memory_reported)
    ),
)
all_of_the_memory = Invariant(
    "utilization-of-all",
    "A server that may use all of the memory leaves to the cache what a partition with the runtime as margin leaves.",
    {**TAKEN, "left": LEFT},
    ("kv_budget",),
    lambda impl, weights, activations, runtime_memory, left: (
        impl.kv_budget(
            gpu_memory_reported=weights + activations + runtime_memory + left, memory_utilization=1,
            weights=weights, activations=activations, runtime_memory=runtime_memory,
        )
        == impl.kv_budget(
            gpu_memory=weights + activations + runtime_memory + left,
            weights=weights, activations=activations, safety_margin=runtime_memory,
        )
    ),
)  # fmt: skip
share_of_what_weights_leave = Invariant(
    "utilization-of-free-false",
    "The share that a server may use is a share of what the weights leave.",
    {**of(q.weights, q.memory_utilization), "left": Grid(1, 30)},
    ("kv_budget",),
    lambda impl, weights, memory_utilization, left: (
        impl.kv_budget(
            gpu_memory_reported=ONE * (weights + left) / memory_utilization, memory_utilization=memory_utilization,
            weights=weights, activations=0, runtime_memory=0,
        )
        == memory_utilization * (ONE * (weights + left) / memory_utilization - weights)
    ),
    refuted={"weights": HALF, "memory_utilization": HALF / 6, "left": 1},
    why="It is a share of the whole memory, so the weights come off it in full.",
)  # fmt: skip
one_vector = Invariant(
    "activations-vector",
    "A single token in flight keeps one vector of the width, and every further one as much.",
    IN_FLIGHT,
    ("hidden_activations",),
    lambda impl, batch, prompt, hidden, activation_width: (
        impl.hidden_activations(batch=batch, prompt=prompt, hidden=hidden, activation_width=activation_width)
        == batch * prompt * impl.hidden_activations(batch=1, prompt=1, hidden=hidden, activation_width=activation_width)
        and impl.hidden_activations(batch=1, prompt=1, hidden=hidden, activation_width=activation_width)
        == hidden * activation_width
    ),
)
inner_vector = Invariant(
    "activations-inner-vector",
    "The feed-forward network keeps of every token what a hidden state of its inner size would.",
    of(q.batch, q.prompt, q.intermediate, q.activation_width),
    ("feed_forward_activations", "hidden_activations"),
    lambda impl, intermediate, **flight: (
        impl.feed_forward_activations(**flight, intermediate=intermediate)
        == impl.hidden_activations(**flight, hidden=intermediate)
    ),
)
logits = Invariant(
    "logits-of-positions",
    "Logits take what hidden states as wide as the vocabulary would take, in the width of a logit.",
    of(q.batch, q.prompt, q.vocab, q.logit_width),
    ("hidden_activations", "logit_bytes"),
    lambda impl, batch, prompt, vocab, logit_width: (
        impl.logit_bytes(batch=batch, prompt=prompt, vocab=vocab, logit_width=logit_width)
        == impl.hidden_activations(batch=batch, prompt=prompt, hidden=vocab, activation_width=logit_width)
    ),
)
written_scores = Invariant(
    "scores-written-out",
    "Scores that are written out take the width of an activation each, for every sequence and every head.",
    of(q.batch, q.heads, q.prompt, q.activation_width),
    ("attention_scores_per_head", "attention_scores_per_layer", "score_bytes"),
    lambda impl, batch, heads, prompt, activation_width: (
        impl.score_bytes(batch=batch, heads=heads, prompt=prompt, activation_width=activation_width)
        == batch
        * activation_width
        * impl.attention_scores_per_layer(
            heads=heads, attention_scores_per_head=impl.attention_scores_per_head(context=prompt)
        )
    ),
)
