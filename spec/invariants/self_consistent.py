"""Load that slows itself: prefills take time from decode, and every sequence in service slows the others."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Draws, Grid, of

ONE = Fraction(1)
LEFT = of(q.bandwidth, q.mbu, q.prefill_load)
STABLE: Draws = {  # so few and so short that the slope stays under 1
    "arrival_rate": Grid(ONE / 12, ONE / 2, ONE / 12),
    "output": Grid(1, 4),
    "cache_step_time": Grid(ONE / 24, ONE / 4, ONE / 24),
}

prefills_in_progress = Invariant(
    "prefill-load-little",
    "The share of time in prefill is the mean number of prefills in progress.",
    {name: Grid(ONE / 12, ONE * 11 / 12, ONE / 12) for name in ("arrival_rate", "prefill_time")},
    ("prefill_load", "mean_concurrency"),
    lambda impl, arrival_rate, prefill_time: (
        impl.prefill_load(arrival_rate=arrival_rate, prefill_time=prefill_time)
        == impl.mean_concurrency(arrival_rate=arrival_rate, service_time=prefill_time)
    ),
)
weights_in_what_is_left = Invariant(
    "weights-between-prefills",
    "The part of a step that prefills leave is enough to read the weights at the bandwidth reached, and no longer.",
    {**of(q.weights), **LEFT},
    ("weights_step_time",),
    lambda impl, weights, bandwidth, mbu, prefill_load: (
        impl.weights_step_time(weights=weights, bandwidth=bandwidth, mbu=mbu, prefill_load=prefill_load)
        * (1 - prefill_load)
        * bandwidth
        * mbu
        == weights
    ),
)
cache_against_weights = Invariant(
    "cache-between-prefills",
    "To read the cache of a sequence takes as much of the time to read the weights as it is of their bytes.",
    {**of(q.weights, q.context, q.kv_bytes_per_token), **LEFT},
    ("cache_step_time", "cache_to_weights", "weights_step_time"),
    lambda impl, weights, context, kv_bytes_per_token, **left: (
        impl.cache_step_time(context=context, kv_bytes_per_token=kv_bytes_per_token, **left)
        == impl.cache_to_weights(context=context, kv_bytes_per_token=kv_bytes_per_token, weights=weights)
        * impl.weights_step_time(weights=weights, **left)
    ),
)
a_step_for_every_token = Invariant(
    "decode-alone-steps",
    "Alone, an answer of one token takes one reading of the weights, and every further token one more.",
    of(q.output, q.weights_step_time),
    ("decode_time_alone",),
    lambda impl, output, weights_step_time: (
        impl.decode_time_alone(output=1, weights_step_time=weights_step_time)
        == weights_step_time
        == impl.decode_time_alone(output=output + 1, weights_step_time=weights_step_time)
        - impl.decode_time_alone(output=output, weights_step_time=weights_step_time)
    ),
)
slope_is_little = Invariant(
    "load-slope-little",
    "A sequence in service causes as many more as arrive in the time that it adds to the steps of one answer.",
    STABLE,
    ("load_slope", "mean_concurrency"),
    lambda impl, arrival_rate, output, cache_step_time: (
        impl.load_slope(arrival_rate=arrival_rate, output=output, cache_step_time=cache_step_time)
        == impl.mean_concurrency(arrival_rate=arrival_rate, service_time=output * cache_step_time)
    ),
)
both_agree = Invariant(
    "I74",
    "At the self-consistent concurrency, Little's law with decode as slow as it makes it gives that concurrency.",
    {**STABLE, **of(q.prefill_time, q.decode_time_alone)},
    ("self_consistent_concurrency", "load_slope", "mean_concurrency"),
    lambda impl, prefill_time, decode_time_alone, **load: all(
        impl.mean_concurrency(
            arrival_rate=load["arrival_rate"],
            service_time=prefill_time + decode_time_alone + found * load["output"] * load["cache_step_time"],
        )
        == found
        for found in [
            impl.self_consistent_concurrency(
                arrival_rate=load["arrival_rate"],
                prefill_time=prefill_time,
                decode_time_alone=decode_time_alone,
                load_slope=impl.load_slope(**load),
            )
        ]
    ),
)
load_scales = Invariant(
    "I74-linear",
    "Twice the arrivals keep twice as many sequences in service.",
    {
        "arrival_rate": Grid(ONE / 12, ONE / 4, ONE / 12),
        "output": Grid(1, 3),
        "cache_step_time": Grid(ONE / 24, ONE / 8, ONE / 24),
    },
    ("self_consistent_concurrency", "load_slope"),
    lambda impl, arrival_rate, **answer: all(
        twice == 2 * once
        for once, twice in [
            tuple(
                impl.self_consistent_concurrency(
                    arrival_rate=times * arrival_rate,
                    prefill_time=1,
                    decode_time_alone=1,
                    load_slope=impl.load_slope(arrival_rate=times * arrival_rate, **answer),
                )
                for times in (1, 2)
            )
        ]
    ),
    refuted={"arrival_rate": ONE / 12, "output": 1, "cache_step_time": ONE / 24},
    why="More sequences in a step slow all of them, so that each stays longer.",
)
