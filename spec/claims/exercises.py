"""Statements that the exercises make or presuppose."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.servers import THIRTEEN_BILLION, budget, fitting, gigabytes, kv_of, ms, times, tokens
from spec.claims.settings import GB, GIB, Serving, first, percent

SECTION = "exercises"
STATED_RATE = 50_000  # tokens of prefill per second
TWO_THOUSAND, TEN_THOUSAND = 2000, 10_000


def _longest_context(impl: Any) -> Outcome:
    sequences = 20
    room = budget(impl, weights=THIRTEEN_BILLION, margin=0)

    def context(kv: Any, kv_budget: Any) -> Any:
        return impl.context(kv_budget=kv_budget, kv_bytes_per_token=kv, concurrency=sequences)

    real = kv_of(impl, "llama-2-13b")
    readings = {
        "decimal": context(real, room),
        "binary": context(real, Fraction(room, GB) * GIB),
        "decimal with the margin": context(real, budget(impl, weights=THIRTEEN_BILLION)),
        "with the cache of the 7B": context(kv_of(impl), room),
    }
    shown = ", ".join(f"{tokens:,} {how}" for how, tokens in readings.items())
    answer = readings["decimal"]
    most = fitting(impl, answer, room, real)
    return Outcome(
        len(set(readings.values())) == 1,
        f"{gigabytes(room)} for {sequences} sequences: {shown}",
        assuming=most == sequences and fitting(impl, answer + 1, room, real) < sequences,
    )


def _ttft(impl: Any) -> Outcome:
    waits = [impl.ttft(wait=0, prompt=n, prefill_rate=STATED_RATE) for n in (TWO_THOUSAND, TEN_THOUSAND)]
    server = Serving(impl)
    work = Fraction(server.prefill_flops(TEN_THOUSAND), server.prefill_flops(TWO_THOUSAND))
    return Outcome(
        waits[1] == waits[0] * (TEN_THOUSAND // TWO_THOUSAND),
        f"{ms(waits[0], 0)} and {ms(waits[1], 0)}; the work is {times(work)}, not {TEN_THOUSAND // TWO_THOUSAND}",
    )


def _needed(impl: Any, rate: int) -> Any:
    server = Serving(impl)
    return impl.required_mfu(flops_per_token=server.flops_per_token, prefill_rate=rate, compute=server.rates["compute"])


def _stated_rate(impl: Any) -> Outcome:
    needed, compute = _needed(impl, STATED_RATE), Serving(impl).rates["compute"]
    largest = impl.parameters(
        flops_per_token=impl.flops_per_token(prefill_rate=STATED_RATE, required_mfu=1, compute=compute)
    )
    return Outcome(
        needed <= 1,
        f"a 7B needs {percent(needed)} of the peak; the peak carries {float(largest) / 10**9:.2f} billion parameters",
    )


def _largest_batch(impl: Any) -> Outcome:
    output, rate, target = 100, 50, Fraction(1, 2)
    needed = impl.decode_rate(output=output, latency_target=target)
    server, mean = Serving(impl), 100 + output // 2
    best = impl.decode_rate(decode_step_time=server.decode_step_time(1, mean))
    meets = impl.meets_latency_target(output=output, decode_rate=rate, latency_target=target)
    return Outcome(
        bool(meets),
        f"{output} tokens at {rate} tok/s take {ms(Fraction(output, rate), 0)} at every batch size; {ms(target, 0)} "
        f"needs {float(needed):.0f} tok/s, and a 7B alone on an A100 reaches {float(best):.0f} around {mean} tokens",
    )


def _one_gpu(impl: Any) -> Outcome:
    prompt, output, ttft, rate = 2000, 500, Fraction(1, 5), 50
    arrivals = Fraction(100, 60)
    service = impl.service_time(ttft=ttft, output=output, decode_rate=rate)
    inside = impl.mean_concurrency(arrival_rate=arrivals, service_time=service)
    server = Serving(impl)
    held = impl.sequences_per_gpu(
        kv_budget=budget(impl), kv_bytes_per_token=server.kv_bytes_per_token, prompt=prompt, output=output
    )
    by_memory = impl.gpus(mean_concurrency=inside, sequences_per_gpu=held)
    step = server.decode_step_time(int(inside), prompt + output // 2)

    def left(gpus: int) -> Any:
        share = 1 - arrivals / gpus * ttft
        return share * impl.decode_rate(
            decode_step_time=server.decode_step_time(max(1, int(inside) // gpus), prompt + output // 2)
        )

    by_time = first(lambda gpus: bool(left(gpus) >= rate), high=64)
    return Outcome(
        by_memory == by_time == 1,
        f"{float(inside):.1f} in service, {held} held: {by_memory} GPU by memory; prefill takes "
        f"{percent(arrivals * ttft)} of it and leaves {float(left(1)):.1f} of {float(1 / step):.1f} tok/s: "
        f"{by_time} by time",
    )


def _two_hundred_ms(impl: Any) -> Outcome:
    rate = TWO_THOUSAND * 5
    wait = impl.ttft(wait=0, prompt=TWO_THOUSAND, prefill_rate=rate)
    needed = _needed(impl, rate)
    other = impl.ttft(wait=0, prompt=TWO_THOUSAND, prefill_rate=STATED_RATE)
    return Outcome(
        needed <= 1 and wait == Fraction(1, 5),
        f"{ms(wait, 0)} is {rate:,} tok/s, {percent(needed)} of the peak; at {STATED_RATE:,} tok/s "
        f"it is {ms(other, 0)}",
    )


def _half_an_hour(impl: Any) -> Outcome:
    system, turn, message, reply, window = 200, 290, 104, 512, 8192
    turns = 60
    whole = system + turns * turn
    overflow = first(lambda n: system + (n - 1) * turn + message + reply > window, high=turns)
    windows = fitting(impl, window, budget(impl), kv_of(impl))
    capacity = tokens(impl, budget(impl), kv_of(impl))
    return Outcome(
        whole <= window,
        f"{turns} turns of {turn} tokens after {system}: {whole:,} tokens, over the window at turn {overflow}; "
        f"{capacity:,} tokens of cache hold {windows} full windows",
    )


CLAIMS = (
    Claim(
        "C164",
        SECTION,
        "80 GB less 26 of weights and 8 of activations tell the longest context of 20 sequences of a 13B.",
        _longest_context,
        assumption="the shape of Llama-2-13B, decimal GB and no safety margin",
        contradicts=("C58",),
    ),
    Claim(
        "C165",
        SECTION,
        "At 50,000 tokens a second the first token after 10,000 takes five times as long as after 2,000.",
        _ttft,
    ),
    Claim(
        "C166",
        SECTION,
        "An A100 prefills 50,000 tokens a second.",
        _stated_rate,
        contradicts=("C56", "C82", "C169"),
    ),
    Claim(
        "C167",
        SECTION,
        "Some batch size gives every request 100 tokens at 50 a second within 500 ms.",
        _largest_batch,
    ),
    Claim(
        "C168",
        SECTION,
        "One GPU serves 100 requests a minute of 2,000 + 500 tokens, with 200 ms and 50 tokens a second each.",
        _one_gpu,
    ),
    Claim("C169", SECTION, "2,000 tokens of prompt take 200 ms.", _two_hundred_ms, contradicts=("C166",)),
    Claim("C170", SECTION, "A window of 8K holds a conversation of 30 minutes.", _half_an_hour),
)
