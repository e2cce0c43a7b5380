"""Statements of the code walkthrough."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec import catalog
from spec.claims import Claim, Outcome
from spec.claims.definite import missing
from spec.claims.servers import budget, fitting, gigabytes, kv_of, mean_step, ms, times, tokens
from spec.claims.settings import CHAPTER_WEIGHTS, GB, Serving, percent

SECTION = "code"
DRAMATIC = 100


def _hidden_for_heads(impl: Any) -> Outcome:
    dense = [m for m in catalog.models().values() if m.attention != "MLA"]
    right = {
        m.name: kv_of(impl, m.name) == impl.kv_bytes_per_token_approx(layers=m.layers, hidden=m.hidden, kv_width=2)
        for m in dense
    }
    multi_head = [m.name for m in dense if m.kv_heads * m.head_dim == m.hidden]
    return Outcome(
        all(right.values()),
        f"right for {sum(right.values())} of {len(dense)} models of the catalogue, "
        f"and for {sum(right[n] for n in multi_head)} of {len(multi_head)} whose key-value heads span the hidden size",
        assuming=all(right[n] for n in multi_head),
    )


def _one_width(impl: Any) -> Outcome:
    weights = impl.weights(parameters=7 * GB, weight_bits=4)
    room = budget(impl, weights=weights)
    stated, real = kv_of(impl, "chapter-7b", Fraction(4, 8)), kv_of(impl)
    counts = [fitting(impl, 4096, room, kv) for kv in (stated, real)]
    return Outcome(
        stated == real,
        f"4-bit weights: {int(stated):,} instead of {int(real):,} B/token, "
        f"{counts[0]} instead of {counts[1]} sequences",
    )


def _available(impl: Any) -> Outcome:
    kv = kv_of(impl)
    code, prose = budget(impl, margin=0), budget(impl)
    counts = [fitting(impl, 4096, room, kv) for room in (code, prose)]
    plain = 80 * GB - 14 * GB - 8 * GB
    return Outcome(
        prose == plain,
        f"{gigabytes(code)} and {counts[0]} sequences without the margin, {gigabytes(prose)} and {counts[1]} with it",
        assuming=code == plain,
    )


def _floor(impl: Any) -> Outcome:
    big = Serving(impl, "llama-2-70b")
    wide = impl.kv_bytes_per_token_approx(layers=big.sizes["layers"], hidden=big.sizes["hidden"], kv_width=2)
    left = 80 * GB - big.weights - 8 * GB
    floors = [left // (4096 * kv) for kv in (wide, big.kv_bytes_per_token)]
    none = missing(lambda: budget(impl, weights=big.weights, margin=0))
    return Outcome(
        none is None,
        f"a 70B on 80 GB: {floors[0]} sequences ({floors[1]} with its grouped heads), where the answer is that it "
        f"lacks {gigabytes(-left)}",
    )


def _average_length(impl: Any) -> Outcome:
    kv, room = kv_of(impl), budget(impl)
    capacity, short, long = tokens(impl, room, kv), 100, 4000
    count = fitting(impl, (short + long) // 2, room, kv)

    def holds(sequences: Any) -> bool:
        return bool(impl.fits(concurrency=sequences, context=long, kv_bytes_per_token=kv, kv_budget=room))

    reserved = fitting(impl, long, room, kv)
    return Outcome(
        holds(count),
        f"{short} to {long} tokens: the average admits {count}, which hold up to {count * long:,} of {capacity:,} "
        f"tokens; reserving {long} each admits {reserved}",
        assuming=holds(reserved),
    )


def _label(impl: Any) -> Outcome:
    server = Serving(impl)
    compute, bandwidth = server.rates["compute"], server.rates["bandwidth"]

    def label(n: int) -> str:
        return "compute" if server.prefill_flops(n) / (compute * server.prefill_time(n)) > Fraction(1, 2) else "memory"

    def bound(n: int) -> str:
        return "compute" if server.prefill_flops(n) / compute >= server.prefill_bytes(n) / bandwidth else "memory"

    wrong = [n for n in range(1, 257) if label(n) != bound(n)]
    read = Serving(impl, weights_given=CHAPTER_WEIGHTS).decode_bytes(1, 4096)
    used = read / (Fraction(20, 1000) * bandwidth)
    agree = not wrong and used > Fraction(1, 2)
    span = f"prompts of {wrong[0]} to {wrong[-1]} tokens are labelled compute and wait for memory; " if wrong else ""
    return Outcome(agree, f"{span}20 ms a token uses {percent(used)} of the bandwidth, labelled compute")


def _demonstration(impl: Any) -> Outcome:
    server, n = Serving(impl), 1000
    prefill, fixed = server.prefill_time(n), server.decode_step_time(1, n)
    growing = mean_step(server, n, 2 * n - 1)
    ratios = [impl.phase_ratio(tpot=t, prompt=n, prefill_time=prefill) for t in (growing, fixed)]
    return Outcome(
        min(ratios) > DRAMATIC,
        f"{ms(growing, 3)} per token and {times(ratios[0], 1)} with a growing context, "
        f"{ms(fixed, 3)} and {times(ratios[1], 1)} at {n} tokens",
    )


def _ratio(impl: Any) -> Outcome:
    server, n = Serving(impl), 1000
    prefill, tpot = server.prefill_time(n), server.decode_step_time(1, n)
    ratio = impl.phase_ratio(tpot=tpot, prompt=n, prefill_time=prefill)
    return Outcome(
        ratio == tpot / (prefill / n) and ratio > 1,
        f"{ms(tpot, 3)} over {ms(prefill / n, 4)}: {times(ratio, 1)}, a slowdown of decode",
    )


CLAIMS = (
    Claim(
        "C120",
        SECTION,
        "The cache of one token is 2 x layers x hidden size x bytes.",
        _hidden_for_heads,
        assumption="multi-head attention whose heads span the hidden size",
    ),
    Claim(
        "C121",
        SECTION,
        "A cached element is as wide as a weight, whatever the width of the weights.",
        _one_width,
        contradicts=("C158",),
    ),
    Claim(
        "C122",
        SECTION,
        "The memory for the cache is the GPU's memory less weights and activations.",
        _available,
        assumption="no safety margin is kept",
        contradicts=("C59",),
    ),
    Claim("C123", SECTION, "The quotient rounded down is the number of sequences, whatever the model.", _floor),
    Claim(
        "C124",
        SECTION,
        "The number of sequences follows from their average length.",
        _average_length,
        assumption="admission reserves the longest length of each sequence elsewhere",
    ),
    Claim(
        "C125",
        SECTION,
        "A phase is bound by what it uses more than half of, and else by the other.",
        _label,
        contradicts=("C21", "C24"),
    ),
    Claim("C126", SECTION, "1,000 tokens of prefill and of decode show the asymmetry.", _demonstration),
    Claim("C127", SECTION, "The ratio is decode time over prefill time for one token.", _ratio),
)
