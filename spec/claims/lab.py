"""Statements of the hands-on lab."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.servers import kv_of, mean_step, ms, realistic, throughput, times
from spec.claims.settings import Serving, first, percent
from spec.claims.simulated import in_steps
from spec.serving.batching import Continuous, Static
from spec.serving.cache import CacheManager

SECTION = "lab"
HUNDRED, DOUBLE, EIGHT = 100, 2, 8
GAIN = Fraction(46, 10)
LENGTHS = (128, 256, 512, 1024, 384, 768, 640, 384)  # a batch of eight whose padding is exactly half of the work


def _doubling(impl: Any) -> Outcome:
    def ratio(function: Any, n: int, **others: Any) -> Any:
        return Fraction(function(context=2 * n, **others), function(context=n, **others))

    kv = kv_of(impl)
    scores = [ratio(impl.attention_scores_per_head, n) for n in (512, 1024, 2048, 4096)]
    caches = [ratio(impl.kv_bytes_per_sequence, n, kv_bytes_per_token=kv) for n in (512, 1024, 2048, 4096)]
    causal = ratio(impl.causal_scores_per_head, 512)
    return Outcome(
        set(scores) == {4} and set(caches) == {2},
        f"scores {times(scores[-1], 0)}, cache {times(caches[-1], 0)}; causal scores {times(causal, 3)} at 512 tokens",
    )


def _misses(keys: Iterable[str], capacity: int) -> int:
    cache = CacheManager(capacity)
    for key in keys:
        cache.reserve(key, 1)
    return cache.misses


def _eviction(_: Any) -> Outcome:
    cache = CacheManager(16384)
    for key in "abcda":
        cache.reserve(key, 4096)
    evicted = cache.reserve("e", 5000) or ()
    monotone = all(_misses(keys, 2) >= _misses(keys, 3) for keys in itertools.product("abcd", repeat=5))
    return Outcome(
        cache.resident == ("d", "a", "e") and evicted == ("b", "c") and monotone,
        f"a refreshed, e put: {' then '.join(map(str, evicted))} leave, {', '.join(map(str, cache.resident))} stay; "
        f"on all {4**5:,} traces of 5 puts a larger cache misses no more",
    )


def _padding(impl: Any) -> Outcome:
    tally = in_steps(Static(len(LENGTHS)), LENGTHS).tally
    waste = impl.padding_waste(mean_length=Fraction(sum(LENGTHS), len(LENGTHS)), longest_length=max(LENGTHS))
    return Outcome(
        Fraction(tally.decode_padding, tally.decoded) == waste == Fraction(1, 2),
        f"{tally.decode_padding:,} of {tally.decoded:,} token slots are padding: {percent(waste)}",
    )


def _continuous(_: Any) -> Outcome:
    jobs, slots = LENGTHS * 8, 8
    continuous, static = (in_steps(batching, jobs) for batching in (Continuous(slots), Static(slots)))
    used, padded = (Fraction(sum(jobs), slots * run.end) for run in (continuous, static))
    freed = sorted(job.finish or 0 for job in continuous.jobs)[:-slots]
    started = sorted(job.admitted or 0 for job in continuous.jobs)[slots:]
    return Outcome(
        used > Fraction(9, 10) > padded and started == freed,
        f"64 sequences in {slots} slots: {percent(used)} of {continuous.end:,} steps used, and each slot filled again "
        f"when it comes free; static {percent(padded)} of {static.end:,}",
    )


def _bounds(impl: Any) -> Outcome:
    server, n = Serving(impl), 1000
    compute, bandwidth = server.rates["compute"], server.rates["bandwidth"]
    prefill, step = server.prefill_time(n), server.decode_step_time(1, n)
    shares = [
        server.prefill_flops(n) / (compute * prefill),
        server.prefill_bytes(n) / (bandwidth * prefill),
        server.decode_flops(1, n) / (compute * step),
        server.decode_bytes(1, n) / (bandwidth * step),
    ]
    shown = [f"{float(share):.4f}" for share in shares]
    return Outcome(
        shares[0] > shares[1] and shares[3] > shares[2],
        f"shares of compute and bandwidth: prefill {shown[0]} and {shown[1]}, decode {shown[2]} and {shown[3]}",
    )


def _asymmetry(impl: Any) -> Outcome:
    def ratio(server: Serving) -> Any:
        n = 1000
        tpot = mean_step(server, n, 2 * n - 1)
        return impl.phase_ratio(tpot=tpot, prompt=n, prefill_time=server.prefill_time(n))

    peak, lower = ratio(Serving(impl)), ratio(realistic(impl))
    return Outcome(
        peak > HUNDRED and lower > HUNDRED,
        f"{times(peak, 1)} at the peak rates, {times(lower, 1)} at half the compute and four fifths of the bandwidth",
        assuming=peak > HUNDRED,
    )


def _linear_ttft(impl: Any) -> Outcome:
    server = Serving(impl)

    def doubling(n: int) -> Any:
        return server.prefill_time(2 * n) / server.prefill_time(n)

    def about_linear(lengths: Iterable[int]) -> bool:
        return all(DOUBLE <= doubling(n) <= Fraction(11, 5) for n in lengths)

    ridge = first(lambda n: bool(server.prefill_time(n + 1) > server.prefill_bytes(n + 1) / server.rates["bandwidth"]))
    long = (512, 1024, 2048, 4096)
    return Outcome(
        about_linear((16, 64, *long)),
        f"doubling gives {times(doubling(16), 3)} at 16, {times(doubling(512), 3)} at 512 and "
        f"{times(doubling(4096), 3)} at 4,096 tokens; flat below {ridge + 1}",
        assuming=about_linear((ridge + 1, *long)),
    )


def _longer_decode(impl: Any) -> Outcome:
    server = Serving(impl)
    steps = [server.decode_step_time(1, c) for c in (1024, 2048, 4096, 8192)]
    slope = server.decode_step_time(1, 1025) - steps[0]
    return Outcome(
        all(a < b for a, b in itertools.pairwise(steps)),
        f"8,192 against 1,024 tokens: {times(steps[-1] / steps[0], 3)}; "
        f"{ms(1000 * slope, 3)[:-3]} us more for every token",
    )


def _gain(impl: Any, context: int, model_name: str = "chapter-7b") -> tuple[Any, Any]:
    server = Serving(impl, model_name)
    share = impl.cache_to_weights(context=context, kv_bytes_per_token=server.kv_bytes_per_token, weights=server.weights)
    return impl.batching_gain(batch=EIGHT, cache_to_weights=share), share


def _batch_of_eight(impl: Any) -> Outcome:
    gains = {c: _gain(impl, c)[0] for c in (512, 1024, 3072, 8192)}
    grouped = _gain(impl, 3072, "llama-3-8b")[0]
    limit = impl.batching_limit(cache_to_weights=_gain(impl, 3072)[1])

    def rounds(gain: Any) -> bool:
        return bool(Fraction(round(10 * gain), 10) == GAIN)

    shown = ", ".join(f"{times(g)} at {c:,}" for c, g in gains.items())
    return Outcome(
        all(map(rounds, gains.values())) and rounds(grouped),
        f"{shown}; Llama-3-8B {times(grouped)} at 3,072, where no batch of the 7B gains more than {times(limit, 1)}",
        assuming=rounds(gains[3072]),
    )


def _its_latency(impl: Any) -> Outcome:
    server, (gain, share) = Serving(impl), _gain(impl, 3072)
    factor = impl.latency_factor(batch=EIGHT, cache_to_weights=share)
    rates = [throughput(server, batch, 3072) for batch in (1, EIGHT)]
    return Outcome(
        factor > 1 and factor * gain == EIGHT and rates[1] / rates[0] == gain,
        f"{times(gain)} the throughput at {times(factor)} the time per token: product {times(gain * factor, 0)}; "
        f"{float(rates[0]):.1f} to {float(rates[1]):.1f} tok/s",
    )


def _total(impl: Any) -> Outcome:
    server, prompt, output = Serving(impl), 512, 256
    prefill = server.prefill_time(prompt)
    steps = (output - 1) * mean_step(server, prompt + 1, prompt + output - 1)
    total = impl.total_time(ttft=prefill, output=output, tpot=steps / (output - 1))
    return Outcome(
        total == prefill + steps and impl.total_time(ttft=prefill, output=1, tpot=1) == prefill,
        f"{ms(prefill)} + {ms(steps)} of {output - 1} steps = {ms(total)}; the first token comes from prefill",
    )


def _decode_dominates(impl: Any) -> Outcome:
    server = Serving(impl)

    def share(prompt: int, output: int) -> Any:
        tpot = server.decode_step_time(1, prompt + output // 2)
        total = impl.total_time(ttft=server.prefill_time(prompt), output=output, tpot=tpot)
        return impl.decode_share(output=output, total_time=total, tpot=tpot)

    def even(prompt: int) -> int:
        return first(lambda output: bool(share(prompt, output) > Fraction(1, 2)), high=2**20)

    prompts = (256, 1024, 4096)
    shown = ", ".join(f"{even(p)} at {p:,}" for p in prompts)
    return Outcome(
        all(share(n, n + 1) > Fraction(1, 2) for n in (16, 64, *prompts)),
        f"decode already takes more than half from so many output tokens: {shown} of prompt",
    )


CLAIMS = (
    Claim("C128", SECTION, "Twice the length is four times the scores and twice the cache.", _doubling),
    Claim(
        "C129",
        SECTION,
        "A full cache evicts what was used least recently.",
        _eviction,
        contradicts=("C89", "C91"),
    ),
    Claim("C130", SECTION, "Padding wastes half of the compute in the test case.", _padding),
    Claim("C131", SECTION, "Continuous batching keeps utilisation high by filling slots as they free.", _continuous),
    Claim("C132", SECTION, "Prefill is bound by compute and decode by memory.", _bounds),
    Claim(
        "C133",
        SECTION,
        "Decode takes over 100 times as long per token as prefill.",
        _asymmetry,
        assumption="prefill and decode reach equal shares of the peak rates",
        contradicts=("C54",),
    ),
    Claim(
        "C134",
        SECTION,
        "Twice the context takes twice the time to the first token.",
        _linear_ttft,
        assumption="prompts above the ridge and below about 10,000 tokens",
        contradicts=("C49",),
    ),
    Claim("C135", SECTION, "Longer contexts slow decode.", _longer_decode, contradicts=("C148", "C149")),
    Claim(
        "C136",
        SECTION,
        "Eight times the batch gives 4.6 times the throughput.",
        _batch_of_eight,
        assumption="contexts near 3,000 tokens and multi-head attention",
    ),
    Claim("C137", SECTION, "The larger batch gives every request a longer latency.", _its_latency),
    Claim("C138", SECTION, "Generation takes the time of prefill and that of decode.", _total),
    Claim(
        "C139",
        SECTION,
        "The lab runs thirteen steps and thirty-eight checks in 30 seconds, of some 600 lines.",
        unchecked="it describes a program, not serving",
    ),
    Claim("C140", SECTION, "Decode dominates when the output is longer than the input.", _decode_dominates),
)
