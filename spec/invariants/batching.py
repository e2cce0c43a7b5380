"""What a batch gains and costs: the weights are read once for all of it, each cache for one sequence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Grid, of
from spec.invariants.roofline import SERVED, step_time
from spec.invariants.work import STEP
from spec.solving import Exact

ONE = Fraction(1)
READ = of(q.weights, q.context, q.kv_bytes_per_token)
BATCH = of(q.batch, q.cache_to_weights)


def step_bytes(impl: Any, batch: Exact, **given: Exact) -> Any:
    """Return the bytes that one step of a batch moves."""
    cached = impl.cached_tokens(batch=batch, context=given["context"])
    rest = {name: given[name] for name in ("weights", "kv_bytes_per_token")}
    return impl.decode_bytes(cached_tokens=cached, **rest)


cache_against_weights = Invariant(
    "cache-to-weights",
    "The share that one sequence adds to a step, taken of the weights, is the cache of that sequence.",
    READ,
    ("cache_to_weights", "kv_bytes_per_sequence"),
    lambda impl, weights, **sequence: (
        impl.cache_to_weights(weights=weights, **sequence) * weights == impl.kv_bytes_per_sequence(**sequence)
    ),
)
gain_in_bytes = Invariant(
    "I63-bytes",
    "The gain of a batch is the bytes that its sequences read one by one over those that they read together.",
    {**READ, **of(q.batch)},
    ("batching_gain", "cache_to_weights", "cached_tokens", "decode_bytes"),
    lambda impl, batch, **read: (
        impl.batching_gain(batch=batch, cache_to_weights=impl.cache_to_weights(**read))
        * step_bytes(impl, batch, **read)
        == batch * step_bytes(impl, 1, **read)
    ),
)
latency_in_bytes = Invariant(
    "I64-bytes",
    "The step of a batch is longer than that of one sequence by as much as it reads more.",
    {**READ, **of(q.batch)},
    ("latency_factor", "cache_to_weights", "cached_tokens", "decode_bytes"),
    lambda impl, batch, **read: (
        impl.latency_factor(batch=batch, cache_to_weights=impl.cache_to_weights(**read)) * step_bytes(impl, 1, **read)
        == step_bytes(impl, batch, **read)
    ),
)
gain_times_latency = Invariant(
    "gain-times-latency",
    "What a batch gains in tokens and loses in time are, multiplied, its sequences.",
    BATCH,
    ("batching_gain", "latency_factor"),
    lambda impl, batch, **share: (
        impl.batching_gain(batch=batch, **share) * impl.latency_factor(batch=batch, **share) == batch
    ),
)
alone = Invariant(
    "batch-of-one",
    "A batch of one gains nothing and loses nothing.",
    of(q.cache_to_weights),
    ("batching_gain", "latency_factor"),
    lambda impl, **share: impl.batching_gain(batch=1, **share) == impl.latency_factor(batch=1, **share) == 1,
)
never_reached = Invariant(
    "I63-limit",
    "No batch gains as much as the limit.",
    BATCH,
    ("batching_gain", "batching_limit"),
    lambda impl, batch, **share: impl.batching_gain(batch=batch, **share) < impl.batching_limit(**share),
)
half_of_the_limit = Invariant(
    "batching-half-limit",
    "A batch whose caches are as large as the weights reaches half of the limit.",
    of(q.batch),
    ("batching_gain", "batching_limit"),
    lambda impl, batch: (
        2 * impl.batching_gain(batch=batch, cache_to_weights=ONE / batch)
        == impl.batching_limit(cache_to_weights=ONE / batch)
    ),
)
every_sequence_its_rate = Invariant(
    "throughput-of-rates",
    "The tokens of a batch are those of its sequences, each at its own rate.",
    of(q.batch, q.decode_step_time),
    ("throughput", "decode_rate"),
    lambda impl, batch, decode_step_time: (
        impl.throughput(batch=batch, decode_step_time=decode_step_time)
        == batch * impl.decode_rate(decode_step_time=decode_step_time)
    ),
)
one_token_per_step = Invariant(
    "decode-rate-one",
    "In the time of one step a sequence gets one token.",
    of(q.decode_step_time),
    ("decode_rate",),
    lambda impl, decode_step_time: impl.decode_rate(decode_step_time=decode_step_time) * decode_step_time == 1,
)
both_grow = Invariant(
    "I92",
    "Without a queue a larger batch never makes fewer tokens a second, and never shortens a step.",
    {**SERVED, "batch": Grid(1, 20), "context": Grid(1, 40)},
    (*STEP, "decode_step_time", "throughput"),
    lambda impl, batch, context, **model: all(
        after >= before
        and impl.throughput(batch=batch + 1, decode_step_time=after)
        >= impl.throughput(batch=batch, decode_step_time=before)
        for before, after in [tuple(step_time(impl, batch + more, context, **model) for more in (0, 1))]
    ),
)
gain_is_the_batch = Invariant(
    "I63-linear",
    "A batch of B makes B times the tokens of one sequence.",
    {"batch": Grid(1, 8), "cache_to_weights": Grid(ONE / 2, 4, ONE / 2)},
    ("batching_gain",),
    lambda impl, batch, **share: impl.batching_gain(batch=batch, **share) == batch,
    refuted={"batch": 2, "cache_to_weights": ONE / 2},
    why="Only the weights are shared; every sequence adds a cache to read.",
)
free_latency = Invariant(
    "I64-free",
    "While decode waits for memory, more sequences in a batch do not slow it down.",
    {"batch": Grid(1, 8), "cache_to_weights": Grid(ONE / 2, 4, ONE / 2)},
    ("latency_factor",),
    lambda impl, batch, **share: impl.latency_factor(batch=batch, **share) == 1,
    refuted={"batch": 2, "cache_to_weights": ONE / 2},
    why="Each of them brings a cache that the step must read.",
)
