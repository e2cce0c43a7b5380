"""Intensities against the ridge, the target for the first token, and the time of a whole answer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Draws, Grid, of
from spec.invariants.roofline import SERVED, prefill_time, step_time
from spec.invariants.work import HEADS, PREFILL, STEP
from spec.solving import Exact, Infeasible

ONE, MILLIONTH = Fraction(1), Fraction(1, 10**6)
ANSWER: Draws = {**of(q.output, q.tpot), "ttft": Grid(HALF, 30, HALF)}
DEMAND: Draws = {
    **of(q.flops_per_token, q.attention_flops_per_pair, q.weights, q.kv_bytes_per_token, q.wait),
    **of(q.compute, q.bandwidth, q.mfu, q.mbu),
}
BARE = {"weights": ONE / 1000, "kv_bytes_per_token": ONE / 1000, "bandwidth": 1000, "mfu": 1, "mbu": 1, "wait": 0}


def longest(impl: Any, target: Exact, **given: Exact) -> Exact:
    """Return the longest prompt within a target where only arithmetic takes time; 0 where there is none."""
    found: Exact | Infeasible = impl.prompt(ttft_target=target, compute=1, **given, **BARE)
    return 0 if isinstance(found, Infeasible) else found


def first_token(impl: Any, prompt: Exact, wait: Exact, **demand: Exact) -> Any:
    """Return the time to the first token by way of the operations and the bytes of its prefill."""
    flops = impl.prefill_flops(
        prompt=prompt,
        flops_per_token=demand["flops_per_token"],
        prefill_attention_flops=demand["attention_flops_per_pair"] * prompt**2,
    )
    moved = impl.prefill_bytes(prompt=prompt, **{n: demand[n] for n in ("weights", "kv_bytes_per_token")})
    machine = {name: demand[name] for name in ("compute", "bandwidth", "mfu", "mbu")}
    return wait + impl.prefill_time(prefill_flops=flops, prefill_bytes=moved, **machine)


pairs = Invariant(
    "attention-per-pair",
    "The attention of a prompt is that of one pair, once for every square of its length.",
    {**HEADS, **of(q.prompt)},
    ("attention_flops_per_pair", "prefill_attention_flops"),
    lambda impl, prompt, **heads: (
        impl.attention_flops_per_pair(**heads) * prompt**2 == impl.prefill_attention_flops(prompt=prompt, **heads)
    ),
)
at_the_ridge = Invariant(
    "ridge-balance",
    "At the ridge, arithmetic at its peak and memory traffic at its peak last equally long.",
    of(q.compute, q.bandwidth),
    ("ridge",),
    lambda impl, compute, bandwidth: impl.ridge(compute=compute, bandwidth=bandwidth) * bandwidth == compute,
)
prefill_per_byte = Invariant(
    "prefill-intensity",
    "The bytes of a prefill, each with the intensity, make its operations.",
    of(q.prefill_flops, q.prefill_bytes),
    ("prefill_intensity",),
    lambda impl, **work: impl.prefill_intensity(**work) * work["prefill_bytes"] == work["prefill_flops"],
)
decode_per_byte = Invariant(
    "decode-intensity",
    "The bytes of a step, each with the intensity, make its operations.",
    of(q.decode_flops, q.decode_bytes),
    ("decode_intensity",),
    lambda impl, **work: impl.decode_intensity(**work) * work["decode_bytes"] == work["decode_flops"],
)
bound_by_arithmetic = Invariant(
    "I57-label",
    "Arithmetic decides how long prefill and a step last exactly where the intensity reaches the ridge.",
    of(q.prefill_flops, q.prefill_bytes, q.compute, q.bandwidth),
    ("prefill_intensity", "decode_intensity", "ridge", "prefill_time", "decode_step_time"),
    lambda impl, prefill_flops, prefill_bytes, **peaks: all(
        (intensity >= impl.ridge(**peaks)) == (time * peaks["compute"] == prefill_flops)
        for intensity, time in [
            (
                impl.prefill_intensity(prefill_flops=prefill_flops, prefill_bytes=prefill_bytes),
                impl.prefill_time(prefill_flops=prefill_flops, prefill_bytes=prefill_bytes, mfu=1, mbu=1, **peaks),
            ),
            (
                impl.decode_intensity(decode_flops=prefill_flops, decode_bytes=prefill_bytes),
                impl.decode_step_time(decode_flops=prefill_flops, decode_bytes=prefill_bytes, mfu=1, mbu=1, **peaks),
            ),
        ]
    ),
)
share_of_the_peak = Invariant(
    "required-mfu",
    "At the rate that a share of the peak carries, that share is what the rate needs.",
    of(q.flops_per_token, q.compute, q.mfu),
    ("required_mfu",),
    lambda impl, flops_per_token, compute, mfu: (
        impl.required_mfu(
            flops_per_token=flops_per_token, compute=compute, prefill_rate=ONE * mfu * compute / flops_per_token
        )
        == mfu
    ),
)
time_and_rate = Invariant(
    "tpot-of-rate",
    "At the decode rate of a sequence, the time per output token brings one token.",
    of(q.decode_step_time),
    ("tpot", "decode_rate"),
    lambda impl, **step: impl.tpot(**step) * impl.decode_rate(**step) == 1,
)
one_token = Invariant(
    "total-time-one-token",
    "An answer of one token is complete with the first token.",
    {**of(q.tpot), "ttft": Grid(HALF, 30, HALF)},
    ("total_time",),
    lambda impl, ttft, tpot: impl.total_time(ttft=ttft, tpot=tpot, output=1) == ttft,
)
each_further_token = Invariant(
    "total-time-further-token",
    "Every further token takes the time per output token.",
    ANSWER,
    ("total_time",),
    lambda impl, output, **times: (
        impl.total_time(output=output + 1, **times) - impl.total_time(output=output, **times) == times["tpot"]
    ),
)
two_phases = Invariant(
    "decode-share-of-time",
    "The share of decode in the whole time is what the first token leaves of it.",
    ANSWER,
    ("decode_share", "total_time"),
    lambda impl, ttft, output, tpot: all(
        impl.decode_share(output=output, tpot=tpot, total_time=total) * total == total - ttft
        for total in [impl.total_time(ttft=ttft, output=output, tpot=tpot)]
    ),
)
prompt_at_decode_pace = Invariant(
    "phase-ratio",
    "A prompt taken at the pace of decode lasts as many prefills as the ratio of the phases says.",
    of(q.tpot, q.prompt, q.prefill_time),
    ("phase_ratio",),
    lambda impl, **phases: impl.phase_ratio(**phases) * phases["prefill_time"] == phases["prompt"] * phases["tpot"],
)
decode_is_longer = Invariant(
    "I71",
    "A lone request with more output than prompt, and no wait, spends at least half of its time in decode.",
    {**SERVED, "prompt": Grid(1, 20), "more": Grid(1, 10)},
    (*PREFILL, *STEP, "prefill_time", "decode_step_time", "tpot", "total_time", "decode_share"),
    lambda impl, prompt, more, **model: all(
        2
        * impl.decode_share(
            output=prompt + more,
            tpot=tpot,
            total_time=impl.total_time(ttft=prefill_time(impl, prompt, **model), output=prompt + more, tpot=tpot),
        )
        >= 1
        for tpot in [impl.tpot(decode_step_time=step_time(impl, 1, prompt, **model))]
    ),
)
target_is_met = Invariant(
    "I69",
    "A target for the first token is met exactly where wait and prefill take no longer, equality included.",
    {**DEMAND, **of(q.prompt, q.ttft_target)},
    ("meets_ttft_target", "prefill_flops", "prefill_bytes", "prefill_time"),
    lambda impl, ttft_target, **demand: all(
        impl.meets_ttft_target(ttft_target=target, **demand) == (first <= target)
        for first in [first_token(impl, **demand)]
        for target in (ttft_target, first, first * (1 - MILLIONTH))
    ),
)
twice_the_target = Invariant(
    "I69-twice",
    "Where arithmetic decides, twice the time allows at most twice the longest prompt and one token.",
    of(q.flops_per_token, q.attention_flops_per_pair, q.ttft_target),
    ("prompt",),
    lambda impl, ttft_target, **work: (
        longest(impl, 2 * ttft_target, **work) <= 2 * longest(impl, ttft_target, **work) + 1
    ),
)
twice_the_prompt = Invariant(
    "I69-linear",
    "Twice the time to the first token allows twice the prompt.",
    {name: Grid(HALF, 4, HALF) for name in ("flops_per_token", "attention_flops_per_pair", "ttft_target")},
    ("prompt",),
    lambda impl, ttft_target, **work: longest(impl, 2 * ttft_target, **work) >= 2 * longest(impl, ttft_target, **work),
    refuted={"flops_per_token": HALF, "attention_flops_per_pair": HALF, "ttft_target": 1},
    why="Attention grows with the square of the prompt, so a longer prompt gets less for the time.",
)
