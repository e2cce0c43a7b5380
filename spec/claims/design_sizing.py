"""Statements of the design section on sizing by concurrency and on the time to first token."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.settings import (
    CHAPTER_ACTIVATIONS,
    CHAPTER_MARGIN,
    GB,
    MS,
    PEAK,
    REALISTIC,
    Serving,
    kv_budget,
    percent,
    text,
    yes,
)

ARRIVALS, SERVICE = 10, 5  # requests per second and seconds, as the chapter has them
TARGETS = Fraction(1, 2), Fraction(1)  # seconds to the first token
PRINTED_CONCURRENCY, PRINTED_TOKENS = 50, 100_000
HUNDREDS = range(100, 1000)
ACCEPTED_LOSS = Fraction(1, 100)


def prompt_limit(serving: Serving, target: Any, share_of_compute: Fraction = Fraction(1)) -> Any:
    """Return the longest prompt whose prefill meets a target, on some multiple of one GPU."""
    sizes, rates = serving.sizes, serving.rates
    return serving.impl.prompt(
        ttft_target=target,
        wait=0,
        flops_per_token=serving.flops_per_token,
        attention_flops_per_pair=serving.impl.attention_flops_per_pair(
            layers=sizes["layers"], heads=sizes["heads"], head_dim=sizes["head_dim"]
        ),
        weights=serving.weights,
        kv_bytes_per_token=serving.kv_bytes_per_token,
        compute=rates["compute"] * share_of_compute,
        bandwidth=rates["bandwidth"] * share_of_compute,
        mfu=serving.mfu,
        mbu=serving.mbu,
    )


def _in_service(impl: Any) -> Any:
    return impl.mean_concurrency(arrival_rate=ARRIVALS, service_time=SERVICE)


def _by_concurrency(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    rate = impl.prefill_rate(required_mfu=1, flops_per_token=serving.flops_per_token, compute=serving.rates["compute"])
    held = serving.fits(budget, int(_in_service(impl)), 2048)
    long, short = ARRIVALS * 4000, ARRIVALS * 1000
    return Outcome(
        held and long <= rate,
        f"50 sequences of 2,048 fit: {yes(held)}; prefill reaches at most {text(rate)} tokens/s, and 10 requests/s of "
        f"4,000 tokens need {text(long)}, of 1,000 {text(short)}",
        held and short <= rate,
    )


def _fifty(impl: Any) -> Outcome:
    found = _in_service(impl)
    return Outcome(bool(found == PRINTED_CONCURRENCY), f"10/s x 5 s = {text(found)} in service on average")


def _hundred_thousand(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    tokens = [impl.cached_tokens(concurrency=50, context=c) for c in (2000, 2048)]
    sizes = [impl.kv_bytes_total(cached_tokens=t, kv_bytes_per_token=serving.kv_bytes_per_token) for t in tokens]
    spare = serving.token_capacity(budget) - tokens[1]
    return Outcome(
        tokens[0] == PRINTED_TOKENS and all(size <= budget for size in sizes),
        f"{text(tokens[0])} tokens = {text(Fraction(sizes[0]) / GB)} GB; with 2,048 each {text(tokens[1])} = "
        f"{text(Fraction(sizes[1]) / GB, 4)} GB, {text(spare)} tokens to spare",
    )


def _capacity(impl: Any) -> Outcome:
    load = _in_service(impl)
    lost = impl.blocking(servers=50, offered_load=load)
    enough = impl.servers(blocking=ACCEPTED_LOSS, offered_load=load)
    carried = impl.carries(mean_concurrency=load, gpus=1, sequences_per_gpu=50)
    above = 1 - math.exp(-load) * float(sum(Fraction(load**n, math.factorial(n)) for n in range(51)))
    return Outcome(
        lost <= ACCEPTED_LOSS,
        f"with 50 slots {percent(lost)} are lost, or a queue has an end: {yes(carried)}; more than 50 are there "
        f"{round(100 * above)} % of the time; {text(enough)} slots lose under 1 %",
    )


def _little(impl: Any) -> Outcome:
    traces = [
        [(0, 5), (1, 2), (1, 9), (4, 6)],
        [(0, 1), (3, 4)],
        [(2 * i, 2 * i + 3 + i % 4) for i in range(50)],
    ]
    exact = True
    for trace in traces:
        horizon = max(end for _, end in trace)
        area = sum(sum(start <= t < end for start, end in trace) for t in range(horizon))
        stay = Fraction(sum(end - start for start, end in trace), len(trace))
        found = impl.mean_concurrency(arrival_rate=Fraction(len(trace), horizon), service_time=stay)
        exact &= bool(found == Fraction(area, horizon))
    return Outcome(exact, f"the mean number in service, counted step by step, is rate x stay in {len(traces)} traces")


def _is_prefill(impl: Any) -> Outcome:
    serving = Serving(impl, **REALISTIC)
    prefill = serving.prefill_time(2000)
    rate = Fraction(2000) / prefill
    empty, queued = (impl.ttft(wait=wait, prompt=2000, prefill_rate=rate) for wait in (0, 1))
    return Outcome(
        bool(queued == prefill),
        f"2,000 tokens: prefill {text(prefill / MS)} ms, first token after {text(empty / MS)} ms without a queue and "
        f"{text(queued / MS)} ms after one second of it",
        bool(empty == prefill),
    )


def _linear(impl: Any) -> Outcome:
    serving = Serving(impl, **PEAK)

    def doubled(prompt: int) -> Fraction:
        return Fraction(serving.prefill_time(2 * prompt)) / Fraction(serving.prefill_time(prompt))

    lengths = (512, 1024, 2048, 4096)
    ratios = [doubled(n) for n in lengths]

    def proportional(ratio: Fraction) -> bool:
        return abs(ratio / 2 - 1) <= Fraction(1, 10)

    return Outcome(
        all(map(proportional, [doubled(50), *ratios])),
        f"50 to 100 tokens takes {text(doubled(50))} times as long; doubling {', '.join(map(text, lengths))} tokens "
        f"takes {', '.join(map(text, ratios))} times, and 8,192 {text(doubled(8192))}",
        all(map(proportional, ratios)),
    )


def _by_model(impl: Any) -> Outcome:
    small, middle, large = (Serving(impl, f"llama-2-{size}") for size in ("7b", "13b", "70b"))
    times = [Fraction(m.prefill_time(1000)) / small.prefill_time(1000) for m in (middle, large)]
    sizes = [Fraction(m.parameters) / small.parameters for m in (middle, large)]
    return Outcome(
        all(abs(time / size - 1) < Fraction(1, 50) for time, size in zip(times, sizes, strict=True)),
        f"13B over 7B: {text(times[0], 4)} in time, {text(sizes[0], 4)} in parameters; 70B over 7B: "
        f"{text(times[1], 4)} and {text(sizes[1], 4)}",
    )


def _four_thousand(impl: Any) -> Outcome:
    peak, usual = Serving(impl, **PEAK), Serving(impl, **REALISTIC)
    at_peak, at_half = peak.prefill_time(4000), usual.prefill_time(4000)
    third = Serving(impl, mfu=Fraction(35, 100), mbu=Fraction(4, 5)).prefill_time(4000)
    needed = [at_peak / target for target in TARGETS]
    limits = [prompt_limit(usual, target) for target in TARGETS]
    low, high = TARGETS
    return Outcome(
        all(low <= time <= high for time in (at_peak, at_half)),
        f"4,000 tokens take {text(at_peak)} s at MFU 1, {text(at_half)} s at .5 and {text(third)} s at .35; the budget "
        f"is met exactly at MFU {text(needed[0])} and {text(needed[1])}; at MFU .5 it allows {text(limits[0])} to "
        f"{text(limits[1])} tokens",
        low <= third <= high,
    )


def _hundreds(impl: Any) -> Outcome:
    serving = Serving(impl, "llama-2-70b", mfu=Fraction(35, 100), mbu=Fraction(4, 5))
    reserves = CHAPTER_ACTIVATIONS + CHAPTER_MARGIN
    gpus = next((n for n in (1, 2, 4) if serving.weights < n * (80 * GB - reserves)), 8)
    one = [prompt_limit(serving, target) for target in TARGETS]
    two, four = ([prompt_limit(serving, target, n * Fraction(4, 5)) for target in TARGETS] for n in (2, 4))
    return Outcome(
        all(n in HUNDREDS for n in four),
        f"{text(Fraction(serving.weights) / GB)} GB of weights take {gpus} GPUs; at MFU .35 one GPU's rate allows "
        f"{text(one[0])} to {text(one[1])} tokens, two at 80 % scaling {text(two[0])} to {text(two[1])} and four "
        f"{text(four[0])} to {text(four[1])}: the limit is in the hundreds only on fewer GPUs than hold the model",
        all(n in HUNDREDS for n in one),
    )


def _three_options(impl: Any) -> Outcome:
    target, prompt = TARGETS[0], 8000
    slow, fast = (Serving(impl, gpu_name=name, **REALISTIC) for name in ("a100-80gb", "H100-SXM5-80GB"))
    late, met = slow.prefill_time(prompt), fast.prefill_time(prompt)
    cached = late - slow.prefill_time(prompt // 2)
    return Outcome(
        not (late > target and (met <= target or cached <= target)),
        f"8,000 tokens take {text(late)} s on an A100; a faster GPU takes {text(met)} s, and with the first half "
        f"already cached the rest takes {text(cached)} s: neither is among the three",
    )


CLAIMS = (
    Claim(
        "C73",
        "sizing",
        "A server is sized by concurrent sequences and not by requests per second.",
        _by_concurrency,
        "the prompts arrive no faster than prefill processes them",
    ),
    Claim("C74", "sizing", "10 requests per second of 5 seconds each are 50 at once.", _fifty),
    Claim("C75", "sizing", "50 sequences of 2K need cache for 100K tokens.", _hundred_thousand),
    Claim("C76", "sizing", "A capacity for 50 sequences is what that load needs.", _capacity),
    Claim("C77", "sizing", "Concurrency is the arrival rate times the service time.", _little),
    Claim(
        "C78",
        "ttft",
        "The time to first token is the latency of prefill.",
        _is_prefill,
        "no request waits",
        ("C94", "C105"),
    ),
    Claim(
        "C79",
        "ttft",
        "Twice the prompt takes twice the time to the first token.",
        _linear,
        "the prompt has 154 to about 10,000 tokens",
        ("C49", "C144"),
    ),
    Claim("C80", "ttft", "A model that is twice as large takes twice the time to the first token.", _by_model),
    Claim(
        "C81",
        "ttft",
        "Interactive use should budget 500 ms to 1 s for the first token.",
        unchecked="it is a choice of what users should wait for",
    ),
    Claim(
        "C82",
        "ttft",
        "On an A100 that budget allows a 7B model about 4,000 tokens of prompt.",
        _four_thousand,
        "prefill reaches an MFU of 19 to 37 %",
        ("C166",),
    ),
    Claim(
        "C83",
        "ttft",
        "For a 70B model it allows hundreds of tokens.",
        _hundreds,
        "the model runs at the rate of one A100, which cannot hold it, and an MFU of about .35",
    ),
    Claim(
        "C84",
        "ttft",
        "A prompt over the budget leaves three options: a smaller model, more latency or a shorter prompt.",
        _three_options,
    ),
)
