"""Statements of the interview answers about throughput without more GPUs, model sizes and batching."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.definite import missing
from spec.claims.servers import (
    THIRTEEN_BILLION,
    THIRTY_TWO_K,
    TWO_K,
    budget,
    fitting,
    gigabytes,
    kv_of,
    ms,
    throughput,
    times,
    tokens,
)
from spec.claims.settings import CHAPTER_ACTIVATIONS, CHAPTER_MARGIN, CHAPTER_WEIGHTS, GB, Serving, percent

SECTION = "answers"
SHORT = 4096


def _until_memory_is_full(impl: Any) -> Outcome:
    server = Serving(impl)
    full = fitting(impl, SHORT, budget(impl), server.kv_bytes_per_token)
    # A wrong law may let billions fit: every batch up to a hundred, and some above it.
    batches = [*range(1, min(full, 100)), *(full // 2**i for i in range(10, 0, -1) if full > 100 * 2**i), full]
    rates = [throughput(server, b, SHORT) for b in batches]
    share = impl.cache_to_weights(context=SHORT, kv_bytes_per_token=server.kv_bytes_per_token, weights=server.weights)
    return Outcome(
        all(a < b for a, b in itertools.pairwise(rates)),
        f"{float(rates[0]):.0f} to {float(rates[-1]):.0f} tok/s up to {full} of 4,096 tokens, "
        f"{times(rates[-1] / rates[0])} of at most {times(impl.batching_limit(cache_to_weights=share))}",
    )


def _three_ways(impl: Any) -> Outcome:
    room = budget(impl)
    full, half = (fitting(impl, SHORT, room, kv_of(impl, width=width)) for width in (2, 1))
    grouped = fitting(impl, SHORT, room, kv_of(impl, "llama-3-8b"))
    return Outcome(
        half <= full and grouped <= full,
        f"one byte a cached element alone brings {full} sequences to {half}, grouped heads bring them to {grouped}",
    )


def _four_bits(impl: Any) -> Outcome:
    kv, quarter = kv_of(impl), CHAPTER_WEIGHTS // 4
    pairs = {80: [fitting(impl, SHORT, budget(impl, weights=w), kv) for w in (CHAPTER_WEIGHTS, quarter)]}
    for memory in (40, 24):
        rooms = [
            impl.kv_budget(
                gpu_memory=memory * GB,
                weights=w,
                activation_share_of_remaining=Fraction(12, 100),
                safety_share_of_total=Fraction(5, 100),
            )
            for w in (CHAPTER_WEIGHTS, quarter)
        ]
        pairs[memory] = [fitting(impl, SHORT, room, kv) for room in rooms]
    rates = [throughput(Serving(impl, weights_given=w), 1, SHORT) for w in (CHAPTER_WEIGHTS, quarter)]
    shown = ", ".join(f"{a} to {b} on {memory} GB" for memory, (a, b) in pairs.items())
    return Outcome(
        all(b > a for a, b in pairs.values()),
        f"sequences of 4,096 tokens: {shown}; one alone {float(rates[0]):.0f} to {float(rates[1]):.0f} tok/s",
    )


def _own_pool(impl: Any) -> Outcome:
    server, batch = Serving(impl), 16
    cached = impl.cached_tokens(batch=batch, context=TWO_K) + THIRTY_TWO_K
    moved = impl.decode_bytes(
        cached_tokens=cached, kv_bytes_per_token=server.kv_bytes_per_token, weights=server.weights
    )
    alone, mixed = server.decode_step_time(batch, TWO_K), moved / server.rates["bandwidth"]
    return Outcome(
        mixed > alone,
        f"one sequence of 32K among {batch} of 2K slows every step from {ms(alone, 1)} to {ms(mixed, 1)}",
    )


def _full_rate(impl: Any, name: str, weights: int) -> tuple[Any, Any, Any]:
    server = Serving(impl, name, weights_given=weights)
    batch = fitting(impl, SHORT, budget(impl, weights=weights), server.kv_bytes_per_token)
    return throughput(server, 1, SHORT), throughput(server, batch, SHORT), batch


def _smaller_model(impl: Any) -> Outcome:
    alone, best, _ = _full_rate(impl, "chapter-7b", CHAPTER_WEIGHTS)
    _, larger, batch = _full_rate(impl, "llama-2-13b", THIRTEEN_BILLION)
    return Outcome(
        alone > larger,
        f"at 4,096 tokens a 7B makes {float(best):.0f} tok/s at its best and {float(alone):.0f} alone, a 13B "
        f"{float(larger):.0f} by {batch}: the 7B wins above {percent(larger / best)} of its best",
        assuming=best > larger,
    )


def _doubled_cost(impl: Any) -> Outcome:
    small, large = (
        _full_rate(impl, *row) for row in (("chapter-7b", CHAPTER_WEIGHTS), ("llama-2-13b", THIRTEEN_BILLION))
    )
    weights = Fraction(THIRTEEN_BILLION, CHAPTER_WEIGHTS)
    cache = Fraction(kv_of(impl, "llama-2-13b"), kv_of(impl))
    alone, full = small[0] / large[0], small[1] / large[1]
    near = all(abs(ratio - 2) <= Fraction(1, 5) for ratio in (weights, alone, full))
    return Outcome(
        near,
        f"weights {times(weights)}, a token alone {times(alone)}, in a full batch {times(full)}, each within a tenth "
        f"of twice, which is what 'about' is taken for; the cache alone grows {times(cache)}",
    )


def _sixteen_gb(impl: Any) -> Outcome:
    kv = kv_of(impl)
    bare = impl.kv_budget(gpu_memory=16 * GB, weights=CHAPTER_WEIGHTS, activations=0, safety_margin=0)
    held, count = tokens(impl, bare, kv), fitting(impl, SHORT, bare, kv)
    none = missing(lambda: budget(impl, 16 * GB))
    lacking = gigabytes(none.deficit) if none is not None and none.deficit else "nothing"
    return Outcome(
        count <= 1,
        f"{gigabytes(bare)} left hold {held:,} tokens and {count} sequences of 4,096; reserves of "
        f"{gigabytes(CHAPTER_ACTIVATIONS + CHAPTER_MARGIN)} lack {lacking}",
    )


def _variable_lengths(_: Any) -> Outcome:
    low, high = 100, 4000

    def waste(batch: int) -> Fraction:
        longest = low + Fraction((high - low) * batch, batch + 1)  # the mean of the largest of so many uniform lengths
        return 1 - Fraction(low + high, 2) / longest

    shown = ", ".join(f"{percent(waste(b))} at batch {b}" for b in (2, 8, 64))
    return Outcome(
        waste(2) > 0 and waste(8) > Fraction(1, 4),
        f"lengths spread evenly over {low} to {high} tokens: static batching pads {shown}; continuous pads nothing",
    )


CLAIMS = (
    Claim("C156", SECTION, "A larger batch helps until memory is full.", _until_memory_is_full),
    Claim(
        "C157",
        SECTION,
        "Batch size, quantised weights and routing are the ways to throughput without more GPUs.",
        _three_ways,
    ),
    Claim("C158", SECTION, "Weights of 4 bits allow larger batches.", _four_bits, contradicts=("C121",)),
    Claim("C159", SECTION, "Long contexts in a pool of their own keep the batches of short ones fast.", _own_pool),
    Claim(
        "C160",
        SECTION,
        "A smaller model has more throughput than a larger one that is served perfectly.",
        _smaller_model,
        assumption="the smaller model is served near its own best",
    ),
    Claim("C161", SECTION, "13B instead of 7B parameters about doubles the cost of inference.", _doubled_cost),
    Claim(
        "C162",
        SECTION,
        "A 7B on 16 GB cannot serve several requests of 4K at once.",
        _sixteen_gb,
    ),
    Claim("C163", SECTION, "Lengths of 100 to 4,000 tokens call for continuous batching.", _variable_lengths),
)
