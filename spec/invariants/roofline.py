"""The times of prefill and decode: the longer of arithmetic and memory traffic decides."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Draws, Grid, of
from spec.invariants.work import AMOUNT, MODEL, PREFILL, STEP, prefill_work, step_work
from spec.solving import Exact

MACHINE = of(q.compute, q.bandwidth, q.mfu, q.mbu)
SERVED: Draws = {**MODEL, **of(q.compute, q.bandwidth)}
ONE = Fraction(1)
SMALL = {"layers": 1, "heads": 1, "head_dim": 1, "parameters": 1, "kv_bytes_per_token": 1, "bandwidth": 1}


def prefill_time(impl: Any, prompt: Exact, **model: Exact) -> Any:
    """Return the time of a prefill on a machine that reaches its peaks."""
    flops, moved = prefill_work(impl, prompt, **model)
    return impl.prefill_time(prefill_flops=flops, prefill_bytes=moved, **peaks(model))


def step_time(impl: Any, batch: Exact, context: Exact, **model: Exact) -> Any:
    """Return the time of a decode step on a machine that reaches its peaks."""
    flops, moved = step_work(impl, batch, context, **model)
    return impl.decode_step_time(decode_flops=flops, decode_bytes=moved, **peaks(model))


def peaks(model: dict[str, Exact]) -> dict[str, Exact]:
    """Return the machine, its peaks reached in full."""
    return {"compute": model["compute"], "bandwidth": model["bandwidth"], "mfu": 1, "mbu": 1}


splitting_is_cheap = Invariant(
    "I59-false",
    "Two prompts joined take at least the time that they take apart.",
    {"one": Grid(1, 12), "other": Grid(1, 12), "weights": Grid(1, 12), "compute": Grid(1, 12)},
    (*PREFILL, "prefill_time"),
    lambda impl, one, other, **given: (
        prefill_time(impl, one + other, **given, **SMALL)
        >= prefill_time(impl, one, **given, **SMALL) + prefill_time(impl, other, **given, **SMALL)
    ),
    refuted={"one": 1, "other": 1, "weights": 2, "compute": 3},
    why="Short prompts wait for the weights, which are read once for the joined prompt and twice for the two.",
)
prefill_keeps_up = Invariant(
    "I57-prefill",
    "Prefill lasts long enough for its operations and for its bytes at the rates reached, and not longer than both.",
    {**of(q.prefill_flops, q.prefill_bytes), **MACHINE},
    ("prefill_time",),
    lambda impl, **given: all(
        min(time * given["compute"] * given["mfu"] - given["prefill_flops"],
            time * given["bandwidth"] * given["mbu"] - given["prefill_bytes"]) == 0
        for time in [impl.prefill_time(**given)]
    ),
)  # fmt: skip
step_keeps_up = Invariant(
    "I57-decode",
    "A step lasts long enough for its operations and for its bytes at the rates reached, and not longer than both.",
    {**of(q.decode_flops, q.decode_bytes), **MACHINE},
    ("decode_step_time",),
    lambda impl, **given: all(
        min(time * given["compute"] * given["mfu"] - given["decode_flops"],
            time * given["bandwidth"] * given["mbu"] - given["decode_bytes"]) == 0
        for time in [impl.decode_step_time(**given)]
    ),
)  # fmt: skip
same_roofline = Invariant(
    "roofline-alike",
    "Prefill and decode obey the same limits: as much work takes as much time in either.",
    {"flops": AMOUNT, "moved": AMOUNT, **MACHINE},
    ("prefill_time", "decode_step_time"),
    lambda impl, flops, moved, **machine: (
        impl.prefill_time(prefill_flops=flops, prefill_bytes=moved, **machine)
        == impl.decode_step_time(decode_flops=flops, decode_bytes=moved, **machine)
    ),
)
faster_machine = Invariant(
    "I66",
    "A machine so many times faster, in compute and in bandwidth, divides every time by as much.",
    {"flops": AMOUNT, "moved": AMOUNT, **MACHINE, "times": Grid(1, 12)},
    ("prefill_time", "decode_step_time"),
    lambda impl, flops, moved, times, compute, bandwidth, **reached: (
        times
        * impl.prefill_time(
            prefill_flops=flops, prefill_bytes=moved, compute=times * compute, bandwidth=times * bandwidth, **reached
        )
        == impl.prefill_time(prefill_flops=flops, prefill_bytes=moved, compute=compute, bandwidth=bandwidth, **reached)
        and times
        * impl.decode_step_time(
            decode_flops=flops, decode_bytes=moved, compute=times * compute, bandwidth=times * bandwidth, **reached
        )
        == impl.decode_step_time(
            decode_flops=flops, decode_bytes=moved, compute=compute, bandwidth=bandwidth, **reached
        )
    ),
)
peak_and_share = Invariant(
    "peak-and-share",
    "Half of a peak reached is the same machine as a peak of half the height.",
    {"flops": AMOUNT, "moved": AMOUNT, **of(q.compute, q.bandwidth)},
    ("prefill_time",),
    lambda impl, flops, moved, compute, bandwidth: (
        impl.prefill_time(
            prefill_flops=flops, prefill_bytes=moved, compute=compute, bandwidth=bandwidth, mfu=HALF, mbu=HALF
        )
        == impl.prefill_time(
            prefill_flops=flops, prefill_bytes=moved, compute=HALF * compute, bandwidth=HALF * bandwidth, mfu=1, mbu=1
        )
    ),
)
more_takes_longer = Invariant(
    "I60",
    "A longer prompt never makes prefill shorter, and a longer context or a larger batch never makes a step shorter.",
    {**SERVED, "batch": Grid(1, 20), "context": Grid(1, 40), "more": Grid(1, 12)},
    (*PREFILL, *STEP, "prefill_time", "decode_step_time"),
    lambda impl, batch, context, more, **model: (
        prefill_time(impl, context + more, **model) >= prefill_time(impl, context, **model)
        and step_time(impl, batch, context + more, **model) >= step_time(impl, batch, context, **model)
        and step_time(impl, batch + more, context, **model) >= step_time(impl, batch, context, **model)
    ),
)
prefill_doubling = Invariant(
    "I61",
    "Twice the prompt takes at least as long and less than four times as long, "
    "and at least twice once arithmetic decides.",
    {**SERVED, "prompt": Grid(1, 40)},
    (*PREFILL, "prefill_time"),
    lambda impl, prompt, **model: all(
        once <= twice < 4 * once
        and (prefill_work(impl, prompt, **model)[0] < once * model["compute"] or twice >= 2 * once)
        for once, twice in [tuple(prefill_time(impl, times * prompt, **model) for times in (1, 2))]
    ),
)
batching_gain = Invariant(
    "I63",
    "A batch of B has from one to B times the rate of a single sequence, more with every sequence, "
    "and never more than the bandwidth over one cache.",
    {**SERVED, "batch": Grid(1, 20), "context": Grid(1, 40)},
    (*STEP, "decode_step_time"),
    lambda impl, batch, context, **model: all(
        single <= batch * single <= batch * time
        and time <= batch * single
        and (batch + 1) * time >= batch * next_time
        and batch * context * model["kv_bytes_per_token"] <= time * model["bandwidth"]
        for single, time, next_time in [
            tuple(step_time(impl, sequences, context, **model) for sequences in (1, batch, batch + 1))
        ]
    ),
)
batching_gain_formula = Invariant(
    "I63-gain",
    "While memory decides, a batch of B gains B (1 + r) / (1 + B r), where r is one cache over the weights.",
    {**of(q.weights, q.kv_bytes_per_token, q.bandwidth), "batch": Grid(1, 20), "context": Grid(1, 40)},
    ("cached_tokens", "decode_bytes", "decode_step_time"),
    lambda impl, weights, kv_bytes_per_token, bandwidth, batch, context: all(
        batch * times[0] * (1 + batch * ratio) == batch * (1 + ratio) * times[1]
        for ratio in [ONE * context * kv_bytes_per_token / weights]
        for times in [
            [
                impl.decode_step_time(
                    decode_flops=ONE / 100, compute=100, bandwidth=bandwidth, mfu=1, mbu=1,
                    decode_bytes=impl.decode_bytes(
                        weights=weights,
                        cached_tokens=impl.cached_tokens(batch=sequences, context=context),
                        kv_bytes_per_token=kv_bytes_per_token,
                    ),
                )
                for sequences in (1, batch)
            ]
        ]
    ),
)  # fmt: skip
batch_latency = Invariant(
    "I64",
    "A step of a batch lasts at least as long as a step of one sequence, and at most as long as all of them in turn.",
    {**SERVED, "batch": Grid(1, 20), "context": Grid(1, 40)},
    (*STEP, "decode_step_time"),
    lambda impl, batch, context, **model: all(
        single <= time <= batch * single
        for single, time in [tuple(step_time(impl, sequences, context, **model) for sequences in (1, batch))]
    ),
)
phases_apart = Invariant(
    "I65",
    "Without cache and attention, and two bytes per weight, a decoded token takes min(prompt, ridge) times as long as "
    "a prompt token, wherever the ridge is at least one.",
    {**of(q.parameters, q.prompt, q.bandwidth), "ridge": Grid(1, 30, HALF)},
    ("flops_per_token", "prefill_time", "decode_step_time"),
    lambda impl, parameters, prompt, bandwidth, ridge: all(
        prompt * impl.decode_step_time(decode_flops=flops, decode_bytes=2 * parameters, **machine)
        == min(prompt, ridge) * impl.prefill_time(prefill_flops=prompt * flops, prefill_bytes=2 * parameters, **machine)
        for flops in [impl.flops_per_token(parameters=parameters)]
        for machine in [{"compute": ridge * bandwidth, "bandwidth": bandwidth, "mfu": 1, "mbu": 1}]
    ),
)
several_steps = Invariant(
    "I70",
    "Several steps of a growing context take between as many first steps and as many steps at the length reached.",
    {**SERVED, "batch": Grid(1, 6), "context": Grid(1, 20), "steps": Grid(1, 5)},
    (*STEP, "decode_step_time"),
    lambda impl, batch, context, steps, **model: all(
        steps * times[0] <= sum(times[:-1]) <= steps * times[-1]
        for times in [[step_time(impl, batch, context + i, **model) for i in range(steps + 1)]]
    ),
)
