"""The numbers of both sides of each conflict between statements."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.catalog import gpu
from spec.claims.servers import (
    THIRTY_TWO_K,
    TWO_K,
    budget,
    compute_share,
    fitting,
    gigabytes,
    kv_of,
    ms,
    realistic,
    throughput,
    times,
    tokens,
)
from spec.claims.settings import CHAPTER_WEIGHTS, GB, GIB, REALISTIC, Serving, first, kv_budget, percent

SHORT, LONG = 4096, 8192


def _counts(impl: Any, room: Any) -> str:
    kv = kv_of(impl)
    held, pair = tokens(impl, room, kv), [fitting(impl, c, room, kv) for c in (SHORT, LONG)]
    return f"{held:,} tokens, {pair[0]} and {pair[1]} sequences"


def mixed_units(impl: Any) -> str:
    """Tokens and sequences of the example in GB, in GiB and on a card as its driver reports it."""
    reported = gpu("a100-80gb").quantities()["gpu_memory_reported"]
    sides = {"GB": kv_budget(impl), "GiB": kv_budget(impl, unit=GIB), "a card as reported": budget(impl, reported)}
    stated = 54 * 1000 * 2
    return f"stated {stated:,} tokens and 27 x 4,096 = {27 * SHORT:,}; " + "; ".join(
        f"{name}: {_counts(impl, room)}" for name, room in sides.items()
    )


def flat_or_linear(impl: Any) -> str:
    """How prefill grows below and above the ridge."""
    peak, usual = Serving(impl), realistic(impl)
    ratios = [s.prefill_time(1000) / s.prefill_time(100) for s in (peak, usual)]
    below = peak.prefill_time(100) / peak.prefill_time(50)
    edge = first(
        lambda n: bool(peak.prefill_flops(n) / peak.rates["compute"] >= peak.prefill_bytes(n) / peak.rates["bandwidth"])
    )
    return (
        f"1,000 against 100 tokens: {times(ratios[0])} at the peak, {times(ratios[1], 1)} at {_usual()}; "
        f"100 against 50: {times(below, 3)}; flat below {edge}"
    )


def _usual() -> str:
    return f"{float(REALISTIC['mfu'])} of compute and {float(REALISTIC['mbu'])} of bandwidth"


def doubled_context(impl: Any) -> str:
    """What twice the context does to cache, prefill and sequences."""
    server, kv = Serving(impl), kv_of(impl)
    cache = [impl.kv_bytes_per_sequence(context=c, kv_bytes_per_token=kv) for c in (SHORT, LONG)]
    prefill = server.prefill_time(LONG) / server.prefill_time(SHORT)
    counts = [[fitting(impl, c, kv_budget(impl, unit=unit), kv) for c in (SHORT, LONG)] for unit in (GB, GIB)]
    shown = ", ".join(f"{a} to {b}" for a, b in counts)
    return f"cache {times(Fraction(cache[1], cache[0]))}, prefill {times(prefill)}, sequences {shown}"


def prompt_and_speed(impl: Any) -> str:
    """How a longer prompt slows decode at several batch sizes."""
    server = Serving(impl)
    ratios = {b: server.decode_step_time(b, 2050) / server.decode_step_time(b, 150) for b in (1, 16, 25)}
    return "2,000 against 100 tokens of prompt: " + ", ".join(f"{times(r)} at batch {b}" for b, r in ratios.items())


def asymmetry(impl: Any) -> str:
    """Decode against prefill per token, at the peak and below."""
    server, usual = Serving(impl), realistic(impl)
    ratios = [
        impl.phase_ratio(prompt=1000, prefill_time=s.prefill_time(1000), tpot=s.decode_step_time(1, 1500))
        for s in (server, usual)
    ]
    prompt = 40 * Fraction(50, 20)
    return (
        f"{times(ratios[0], 1)} at the peak, {times(ratios[1], 1)} at {_usual()}; 40x of 20 ms a token needs 50 ms "
        f"for {int(prompt)} tokens, which take {ms(server.prefill_time(int(prompt)), 1)}"
    )


def prefill_rates(impl: Any) -> str:
    """The share of the peak that each stated rate needs."""
    server = Serving(impl)
    rates = {"exercise 2": 50_000, "4,000 tokens in 0.5 s": 8000, "exercise 4": 10_000, "40x": 2000}
    needed = {
        name: impl.required_mfu(
            flops_per_token=server.flops_per_token, prefill_rate=rate, compute=server.rates["compute"]
        )
        for name, rate in rates.items()
    }
    return ", ".join(f"{name} {rates[name]:,} tok/s = MFU {float(mfu):.2f}" for name, mfu in needed.items())


def no_batch(impl: Any) -> str:
    """The rate that the target needs, and the best there is."""
    needed = impl.decode_rate(output=100, latency_target=Fraction(1, 2))
    best = impl.decode_rate(decode_step_time=Serving(impl).decode_step_time(1, 150))
    return (
        f"100 tokens at 50 tok/s take {ms(Fraction(100, 50), 0)}; 500 ms needs {float(needed):.0f} tok/s and one "
        f"sequence gets at most {float(best):.0f} around 150 tokens"
    )


def memory_or_time(impl: Any) -> str:
    """What memory holds, and what time leaves."""
    service = impl.service_time(ttft=Fraction(1, 5), output=500, decode_rate=50)
    arrivals = Fraction(100, 60)
    inside = impl.mean_concurrency(arrival_rate=arrivals, service_time=service)
    held = impl.sequences_per_gpu(kv_budget=budget(impl), kv_bytes_per_token=kv_of(impl), prompt=2000, output=500)
    rest = 1 - arrivals / 5
    left = rest * impl.decode_rate(decode_step_time=Serving(impl).decode_step_time(int(inside), 2250))
    return (
        f"{float(inside):.1f} in service of {held} that fit; prefill takes {percent(1 - rest)}, "
        f"which leaves {float(left):.1f} of the 50 tok/s"
    )


def fewer(impl: Any) -> str:
    """Throughput by the number of sequences."""
    rates = {n: throughput(realistic(impl), n, SHORT) for n in (5, 12, 25)}
    return "4,096 tokens: " + ", ".join(f"{float(rate):.0f} tok/s by {n} sequences" for n, rate in rates.items())


def admission(impl: Any) -> str:
    """What each rule of admission can grow to."""
    room, kv = budget(impl, 40 * GB), kv_of(impl)
    capacity, slots, document = tokens(impl, room, kv), 16, 6000
    prompt, most = 500, 256
    by_prompt, reserved = (fitting(impl, length, room, kv) for length in (prompt, prompt + most))
    return (
        f"40 GB hold {capacity:,} tokens: {slots} documents of {document:,} ask for {slots * document:,} under "
        f"either batching; of requests of {prompt} + {most}, admission by prompt takes {by_prompt}, which grow to "
        f"{by_prompt * (prompt + most):,}, and a reservation {reserved}, {reserved * (prompt + most):,} at most"
    )


def padded(impl: Any) -> str:
    """Padded batches, old and new, on both cards."""
    kv, longest = kv_of(impl), 12_000
    held = {memory: tokens(impl, budget(impl, memory * GB), kv) for memory in (40, 80)}
    needs = {batch: batch * longest for batch in (4, 16)}
    return "; ".join(
        f"a padded batch of {batch} takes up to {need:,} tokens: "
        + ", ".join(f"{'fits' if need <= have else 'overflows'} {memory} GB" for memory, have in held.items())
        for batch, need in needs.items()
    )


def labels(impl: Any) -> str:
    """What 20 ms a token uses of both peak rates."""
    server = Serving(impl, weights_given=CHAPTER_WEIGHTS)
    used = server.decode_bytes(1, SHORT) / (Fraction(20, 1000) * server.rates["bandwidth"])
    share = compute_share(server, 1, SHORT)
    return f"50 tok/s use {percent(used)} of the bandwidth: labelled compute, where compute is {percent(share)} used"


def widths(impl: Any) -> str:
    """Sequences with a cache of the width of the weights, and without."""
    room = budget(impl, weights=impl.weights(parameters=7 * GB, weight_bits=4))
    counts = [fitting(impl, SHORT, room, kv_of(impl, width=width)) for width in (Fraction(1, 2), 2)]
    return f"4-bit weights: {counts[0]} sequences if the cache shrinks too, {counts[1]} if it stays at 16 bits"


def margin(impl: Any) -> str:
    """The budget with and without the margin, and a negative one."""
    kv, code, prose = kv_of(impl), budget(impl, margin=0), budget(impl)
    counts = [fitting(impl, SHORT, room, kv) for room in (code, prose)]
    big = Serving(impl, "llama-2-70b")
    left = 80 * GB - big.weights - 8 * GB
    wide = impl.kv_bytes_per_token_approx(layers=big.sizes["layers"], hidden=big.sizes["hidden"], kv_width=2)
    return (
        f"{gigabytes(code)} and {counts[0]} by the code, {gigabytes(prose)} and {counts[1]} by the text; "
        f"a 70B gives {left // (SHORT * wide)} sequences by the code, {left // (SHORT * big.kv_bytes_per_token)} with "
        "its grouped heads"
    )


def order(impl: Any) -> str:
    """The contexts at which slots and cache change places."""
    held = tokens(impl, budget(impl), kv_of(impl))
    shown = " and ".join(f"{held // slots:,} tokens with {slots} slots" for slots in (256, 64))
    return f"slots run out first below contexts of {shown}, the cache above"


def two_pools(impl: Any) -> str:
    """What is in flight and what is idle."""
    held = tokens(impl, budget(impl), kv_of(impl))
    running = 20 * SHORT
    return (
        f"of {held:,} tokens {running:,} in flight are needed until they finish: evicting them destroys work; "
        f"{held - running:,} of idle sessions can be dropped"
    )


def mean_or_capacity(impl: Any) -> str:
    """The mean, and the slots that rarely refuse."""
    load = impl.mean_concurrency(arrival_rate=10, service_time=5)
    lost = impl.blocking(servers=int(load), offered_load=load)
    enough = first(lambda n: bool(impl.blocking(servers=n, offered_load=load) <= Fraction(1, 100)), high=200)
    return f"the mean is {load}; {load} slots turn away {percent(lost)}, and {enough} turn away at most 1 %"


def reserved_share(impl: Any) -> str:
    """The share of time that prefill needs."""
    prefill = realistic(impl).prefill_time(500)
    needs = {rate: rate * prefill for rate in (3, 5)}
    shown = ", ".join(f"{rate}/s need {percent(share)}" for rate, share in needs.items())
    return (
        f"prompts of 500 tokens take {ms(prefill, 0)}: {shown} of the time; a smaller reserve does not bound the wait"
    )


def bases(impl: Any) -> str:
    """The budget over all readings of the two shares."""
    memory, weights = 80 * GB, CHAPTER_WEIGHTS
    rest = memory - weights
    rooms = [
        impl.kv_budget(gpu_memory=memory, weights=weights, activations=a, safety_margin=s)
        for a_share, s_share in ((Fraction(1, 10), Fraction(1, 20)), (Fraction(1, 5), Fraction(1, 10)))
        for a_base in (memory, rest)
        for a in (a_share * a_base,)
        for s in (s_share * memory, s_share * rest, s_share * (rest - a))
    ]
    least, most = min(rooms), max(rooms)
    kv = kv_of(impl)
    return (
        f"{gigabytes(least, 1)} to {gigabytes(most, 2)} of cache, {tokens(impl, least, kv):,} to "
        f"{tokens(impl, most, kv):,} tokens, {fitting(impl, SHORT, least, kv)} to "
        f"{fitting(impl, SHORT, most, kv)} sequences"
    )


def per_head(impl: Any) -> str:
    """Scores per head and per layer."""
    head = impl.attention_scores_per_head(context=SHORT)
    layer = impl.attention_scores_per_layer(attention_scores_per_head=head, heads=Serving(impl).sizes["heads"])
    return f"{head:,} scores per head, {layer:,} per layer"


def wait(impl: Any) -> str:
    """The first token with and without a queue."""
    prefill = realistic(impl).prefill_time(SHORT)
    rate = Fraction(SHORT) / prefill
    alone, queued = (impl.ttft(wait=wait, prompt=SHORT, prefill_rate=rate) for wait in (0, 10 * prefill))
    return f"a prompt of 4,096 tokens: {ms(alone, 0)} alone, {ms(queued, 0)} behind ten others, with the same prefill"


def tripled(impl: Any) -> str:
    """The cost of twice the prompt."""
    server = Serving(impl)

    def ratio(n: int) -> Any:
        attention = impl.prefill_attention_flops(
            prompt=n, **{name: server.sizes[name] for name in ("layers", "heads", "head_dim")}
        )
        return impl.prefill_cost_ratio(
            flops_per_token=server.flops_per_token, prompt=n, prefill_attention_flops=attention
        )

    tripled_cost = 3
    triple = first(lambda n: bool(ratio(n) >= tripled_cost), high=10**6)
    shown = ", ".join(f"{times(ratio(n))} at {n:,}" for n in (1024, TWO_K, LONG, THIRTY_TWO_K))
    return f"twice the prompt: {shown} tokens; three times from {triple:,}"
