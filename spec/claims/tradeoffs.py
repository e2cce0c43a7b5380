"""Statements of the trade-offs table."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.definite import missing
from spec.claims.servers import budget, fitting, gigabytes, kv_of, ms, throughput, times
from spec.claims.settings import GB, Serving, percent
from spec.claims.under_load import smaller_batch

SECTION = "trade-offs"
CONTEXTS = (2048, 4096, 8192, 16384, 32768)
CARDS = (1, 2, 4, 8)


def _longer_context(impl: Any) -> Outcome:
    kv, room = kv_of(impl), budget(impl)
    counts = [fitting(impl, c, room, kv) for c in CONTEXTS]
    fewer = all(a > b for a, b in itertools.pairwise(counts))
    before = counts[1]
    overflow = not impl.fits(concurrency=before, context=2 * CONTEXTS[1], kv_bytes_per_token=kv, kv_budget=room)
    shown = ", ".join(f"{n} of {c:,}" for n, c in zip(counts, CONTEXTS, strict=True))
    return Outcome(
        fewer and overflow, f"{shown} tokens; {before} sequences kept unchanged overflow once the limit doubles"
    )


def _larger_batch(impl: Any) -> Outcome:
    server = Serving(impl)
    rates = [throughput(server, b, 4096) for b in (1, 2, 4, 8, 16, 25)]
    steps = [server.decode_step_time(b, 4096) for b in (1, 2, 4, 8, 16, 25)]
    up = all(a < b for values in (rates, steps) for a, b in itertools.pairwise(values))
    return Outcome(
        up,
        f"4,096 tokens, batch 1 to 25: {float(rates[0]):.0f} to {float(rates[-1]):.0f} tok/s, "
        f"a token takes {ms(steps[0])} to {ms(steps[-1])}",
    )


def _uniform_lengths(_: Any) -> Outcome:
    def waste(lengths: tuple[int, ...]) -> Fraction:
        return 1 - Fraction(sum(lengths), len(lengths) * max(lengths))

    uniform, mixed = waste((512,) * 8), waste((128, 256, 384, 512, 512, 768, 1024, 1024))
    return Outcome(uniform == 0, f"padding of 8 equal lengths {percent(uniform)}, of mixed ones {percent(mixed)}")


def _more_memory(impl: Any) -> Outcome:
    kv, rooms = kv_of(impl), [budget(impl, memory * GB) for memory in (40, 80)]
    small, large = (fitting(impl, 4096, room, kv) for room in rooms)
    return Outcome(
        large > small,
        f"40 to 80 GB: {gigabytes(rooms[0])} to {gigabytes(rooms[1])} of cache, "
        f"{times(Fraction(rooms[1], rooms[0]))}; {small} to {large} sequences of 4,096 tokens",
    )


def _replicas(impl: Any) -> Outcome:
    rate = throughput(Serving(impl), 25, 4096)
    prices = [impl.cost_per_token(gpus=g, gpu_price=2, throughput=g * rate) for g in (1, 8)]

    def wait(servers: int) -> Any:
        load = Fraction(9, 10) * servers
        return impl.waiting(servers=servers, offered_load=load) / (servers - load)

    return Outcome(
        prices[0] == prices[1],
        f"8 replicas make {float(8 * rate):.0f} instead of {float(rate):.0f} tok/s at the same price per token; at "
        f"90 % load two queues of 27 slots wait {times(wait(27) / wait(54))} as long as one of 54",
    )


def _tensor_parallelism(impl: Any) -> Outcome:
    weights = Serving(impl, "llama-2-70b").weights
    holding = [n for n in CARDS if not missing(partial(budget, impl, weights=Fraction(weights, n)))]
    held = f"{holding[0]} cards hold it" if holding else f"not even {CARDS[-1]} cards hold it"
    return Outcome(
        bool(holding) and CARDS[0] not in holding,
        f"a 70B takes {gigabytes(weights)}; with the chapter's reserves {held}, of {', '.join(map(str, CARDS))} with "
        "80 GB each",
    )


CLAIMS = (
    Claim(
        "C113",
        SECTION,
        "A longer maximum context leaves fewer sequences and risks running out of memory.",
        _longer_context,
    ),
    Claim("C114", SECTION, "A larger batch gives more throughput and a longer latency.", _larger_batch),
    Claim(
        "C115",
        SECTION,
        "A smaller batch gives a lower latency.",
        smaller_batch,
        assumption="nobody waits: it is the time per token, not the whole latency",
    ),
    Claim("C116", SECTION, "Static batching does for sequences of uniform length.", _uniform_lengths),
    Claim("C117", SECTION, "More GPU memory holds more sequences at once.", _more_memory),
    Claim("C118", SECTION, "Replicas scale throughput and cost linearly.", _replicas),
    Claim(
        "C119",
        SECTION,
        "Tensor parallelism is for a model that one GPU cannot hold.",
        _tensor_parallelism,
        contradicts=("C112",),
    ),
)
