"""What a simulated server does under load: the same requests under other schedules, and where its time goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from spec.claims import Outcome
from spec.claims.servers import ms, realistic
from spec.claims.settings import percent, text
from spec.claims.simulated import measured, room_of, timing_of
from spec.serving.batching import Continuous
from spec.serving.draws import Fixed, Uniform
from spec.serving.metrics import Metrics
from spec.serving.scheduler import DecodeFirst, PrefillFirst, ReservedShare, Scheduler
from spec.serving.server import Server
from spec.serving.workload import Phase, Workload

SEED, REQUESTS = 1, 200
SLOTS = 25
PROMPT, OUTPUTS = 500, 500  # tokens of a prompt, and of the longest output
RATES = 3, 5  # requests a second
TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)
LITTLE = Fraction(9, 10)  # what is left of a throughput that falls a little
ENDLESS = 10**6  # seconds: longer than any run
DOCUMENT, ANSWER, NOTE = 3840, 256, 64
SATURATED, BUSY = 100, (Fraction(60, 100), Fraction(70, 100))


def _server(impl: Any, scheduler: Scheduler, slots: int = SLOTS) -> Server:
    at = realistic(impl)
    return Server(timing_of(at), room_of(at), batching=Continuous(slots), scheduler=scheduler)


def _chat(impl: Any, rate: int, scheduler: Scheduler) -> Metrics:
    requests = Workload((Phase(ENDLESS, rate),), Fixed(PROMPT), Uniform(1, OUTPUTS), max_tokens=OUTPUTS)
    return measured(_server(impl, scheduler), requests.requests(SEED, REQUESTS))


def _prefill_loads(impl: Any) -> dict[int, Any]:
    """Return the share of the time that prefill needs, by the rate."""
    prefill = realistic(impl).prefill_time(PROMPT)
    return {rate: impl.mean_concurrency(arrival_rate=rate, service_time=prefill) for rate in RATES}


def reserved_share(impl: Any) -> Outcome:
    """Compare the throughput with a share of the time for prefill, and where nobody joins until all have decoded."""
    rows, little = [], True
    for rate in RATES:
        runs = [_chat(impl, rate, each) for each in (DecodeFirst(), ReservedShare(FIFTH), ReservedShare(TENTH))]
        without, fifth, tenth = (run.token_rate for run in runs)
        little = little and LITTLE * without <= fifth < without
        rows.append(
            f"at {rate} requests/s {float(without):,.0f} tok/s where all decode first, {float(fifth):,.0f} with a "
            f"fifth of the time for prefill and {float(tenth):,.0f} with a tenth"
        )
    needed = " and ".join(percent(load) for load in _prefill_loads(impl).values())
    return Outcome(little, f"{'; '.join(rows)}; prefill needs {needed} of the time")


def bounded_first_token(impl: Any) -> Outcome:
    """Compare the times to the first token with a share of the time for prefill, and where all decode first."""
    prefill, loads = realistic(impl).prefill_time(PROMPT), _prefill_loads(impl)
    waits, rows = {}, []
    for rate in RATES:
        runs = [_chat(impl, rate, each) for each in (DecodeFirst(), ReservedShare(FIFTH), ReservedShare(TENTH))]
        waits[rate] = [run.ttft.p50 for run in runs if run.ttft]
        without, fifth, tenth = (text(wait) for wait in waits[rate])
        rows.append(
            f"at {rate} requests/s prefill needs {percent(loads[rate])} of the time, and half wait over {without} s "
            f"where all decode first, {fifth} s with a fifth of the time for prefill and {tenth} s with a tenth"
        )
    return Outcome(
        all(max(shares) < without for without, *shares in waits.values()),
        f"prefill of {PROMPT} tokens takes {ms(prefill, 1)}; {'; '.join(rows)}",
        all(waits[rate][1] < waits[rate][0] for rate in RATES if loads[rate] < FIFTH) and loads[RATES[0]] < FIFTH,
    )


def _shares(impl: Any, output: int) -> Iterator[Fraction]:
    """Give the share of decode in the busy time at two loads of what the server carries of documents and outputs."""
    server = _server(impl, PrefillFirst())

    def requests(rate: Any, count: int) -> Any:
        return Workload((Phase(ENDLESS, rate),), Fixed(DOCUMENT), Fixed(output)).requests(SEED, count)

    most = measured(server, requests(ENDLESS, SATURATED)).request_rate
    for share in BUSY:
        found = measured(server, requests(share * most, REQUESTS))
        yield Fraction(found.decode) / (found.decode + found.prefill)


def mostly_decode(impl: Any) -> Outcome:
    """Measure how much of its busy time a server decodes at 60 to 70 % of what it carries."""
    long, short = (list(_shares(impl, output)) for output in (ANSWER, NOTE))
    half = Fraction(1, 2)
    shown = [" and ".join(percent(share) for share in shares) for shares in (long, short)]
    return Outcome(
        min(*long, *short) > half,
        f"of the busy time at 60 and 70 % of what a server carries, decode is {shown[0]} after prompts of "
        f"{text(DOCUMENT)} tokens with outputs of {ANSWER}, {shown[1]} with outputs of {NOTE}",
        min(long) > half,
    )


def smaller_batch(impl: Any) -> Outcome:
    """Measure latencies with few slots and with more, at a rate that one slot does not carry."""
    server, prompt, output = realistic(impl), 300, 200
    service = server.prefill_time(prompt) + (output - 1) * server.decode_step_time(1, prompt + output // 2)
    load = impl.mean_concurrency(arrival_rate=1, service_time=service)
    requests = Workload((Phase(ENDLESS, 1),), Fixed(prompt), Fixed(output)).requests(SEED, REQUESTS)
    runs = {slots: measured(_server(impl, PrefillFirst(), slots), requests) for slots in (1, 2, 8)}
    latencies = [run.latency.mean for run in runs.values() if run.latency]
    token = [run.tpot.mean for run in runs.values() if run.tpot]
    shown = ", ".join(f"{text(time)} s with {slots}" for slots, time in zip(runs, latencies, strict=True))
    return Outcome(
        latencies == sorted(latencies),
        f"1 request/s of {prompt} + {output} tokens loads one slot {float(load):.2f} times; the mean of {REQUESTS} "
        f"requests takes {shown} slots, and a token after the first {ms(token[0])} with 1 and {ms(token[-1])} with 8",
        token[0] < token[-1],
    )


def fewer_sequences(impl: Any) -> Outcome:
    """Try what is advised on a server whose cache is full: fewer sequences, more memory and more compute."""
    at, rate = realistic(impl), Fraction(13, 10)
    requests = Workload((Phase(ENDLESS, rate),), Fixed(DOCUMENT), Fixed(ANSWER)).requests(SEED, REQUESTS)
    timing, quicker, room = timing_of(at), timing_of(replace(at, mfu=2 * at.mfu)), room_of(at)
    tried = {
        "nothing changed": Server(timing, room),
        "12 sequences": Server(timing, room, batching=Continuous(12)),
        "6 sequences": Server(timing, room, batching=Continuous(6)),
        "twice the memory": Server(timing, 2 * room),
        "twice the compute": Server(quicker, room),
    }
    waits = [run.ttft.p99 for run in (measured(server, requests) for server in tried.values()) if run.ttft]
    before, twelve, six, memory, compute = waits
    return Outcome(
        max(six, twelve, memory) < before <= compute,
        f"99 % of the first tokens of {text(DOCUMENT)} + {ANSWER} tokens at {text(rate)}/s come within "
        + ", ".join(f"{text(wait)} s with {name}" for name, wait in zip(tried, waits, strict=True)),
    )
