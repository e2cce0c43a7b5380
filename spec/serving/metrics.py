"""What is said of a run: times to the first token and after it, throughput, waste, and who was not served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from spec.serving.request import Job, State
from spec.serving.server import Run, Server
from spec.solving import Exact, whole


@dataclass(frozen=True, slots=True)
class Spread:
    """How a time spreads over the requests, in seconds, exactly."""

    mean: Exact
    p50: Exact
    p90: Exact
    p95: Exact
    p99: Exact
    largest: Exact


@dataclass(frozen=True, slots=True)
class Metrics:
    """The numbers of a run. Times are seconds, and None where there is nothing to measure; shares lie from 0 to 1.

    Attributes:
        requests, done, refused, lost, unserved: how many came, were served, were turned away, were in flight when
            memory ran out, and still waited at the end.
        wait: from arrival until let in.
        ttft: from arrival to the first token.
        tpot: from the first to the last token, for each token after the first.
        latency: from arrival to the last token.
        seconds: all of the time.
        token_rate: output tokens of served requests per second.
        request_rate: served requests per second.
        concurrency: the mean number in flight.
        occupancy: the share of slots that gave a token, of all slots in all decode steps.
        waste: the share of padding in all tokens that were worked on.
        kv_use: the mean share of the blocks that requests in flight held.
        kv_peak: the share of the blocks taken at most, idle caches included.
        prefill, decode, mixed, swap, restart, idle: shares of the time.
        preemptions, recomputed, alerts, out_of_memory: how often, and how many tokens.
    """

    requests: int
    done: int
    refused: int
    lost: int
    unserved: int
    wait: Spread | None
    ttft: Spread | None
    tpot: Spread | None
    latency: Spread | None
    seconds: Exact
    token_rate: Exact
    request_rate: Exact
    concurrency: Exact
    occupancy: Exact
    waste: Exact
    kv_use: Exact
    kv_peak: Exact
    prefill: Exact
    decode: Exact
    mixed: Exact
    swap: Exact
    restart: Exact
    idle: Exact
    preemptions: int
    recomputed: int
    alerts: int
    out_of_memory: int


def metrics(server: Server, run: Run) -> Metrics:
    """Measure a run of a server."""
    done = [job for job in run.jobs if job.state is State.DONE]
    tally, tick = run.tally, Fraction(1, run.ticks_per_second)
    worked = tally.prefilled + tally.decoded
    kinds = ("prefill", "decode", "mixed", "swap", "restart", "idle")
    return Metrics(
        requests=len(run.jobs),
        done=len(done),
        refused=_count(run.jobs, State.REFUSED),
        lost=_count(run.jobs, State.LOST),
        unserved=_count(run.jobs, State.WAITING),
        wait=spread([_between(job.arrival, job.admitted, tick) for job in done]),
        ttft=spread([_between(job.arrival, job.first_token, tick) for job in done]),
        tpot=spread(
            [
                _between(job.first_token, job.finish, tick) / (job.request.output - 1)
                for job in done
                if job.request.output > 1
            ]
        ),
        latency=spread([_between(job.arrival, job.finish, tick) for job in done]),
        seconds=whole(run.end * tick),
        token_rate=_ratio(sum(job.request.output for job in done), run.end * tick),
        request_rate=_ratio(len(done), run.end * tick),
        concurrency=_ratio(tally.running_time, run.end),
        occupancy=_ratio(tally.decoded - tally.decode_padding, tally.steps * server.batching.slots),
        waste=_ratio(tally.prefill_padding + tally.decode_padding, worked),
        kv_use=_ratio(tally.held_time, run.end * server.blocks),
        kv_peak=whole(Fraction(tally.peak_blocks, server.blocks)),
        **{kind: _ratio(getattr(tally, kind), run.end) for kind in kinds},
        preemptions=tally.preemptions,
        recomputed=tally.recomputed,
        alerts=len(tally.alerts),
        out_of_memory=len(tally.crashes),
    )


def spread(times: Sequence[Exact]) -> Spread | None:
    """Return how times spread; a percentile is the smallest of them that so many do not exceed."""
    if not times:
        return None
    ordered = sorted(times)

    def percentile(percent: int) -> Exact:
        return whole(ordered[-(-percent * len(ordered) // 100) - 1])

    mean = whole(Fraction(sum(ordered)) / len(ordered))
    return Spread(mean, percentile(50), percentile(90), percentile(95), percentile(99), percentile(100))


def _between(start: int | None, end: int | None, tick: Fraction) -> Fraction:
    return ((end or 0) - (start or 0)) * tick


def _count(jobs: Sequence[Job], state: State) -> int:
    return sum(job.state is state for job in jobs)


def _ratio(part: Exact, everything: Exact) -> Exact:
    return whole(Fraction(part) / everything) if everything else 0
