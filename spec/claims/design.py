"""Statements of the design section on the memory budget: what is taken off, what is left and what that holds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.catalog import gpu
from spec.claims import Claim, Outcome
from spec.claims.settings import (
    CHAPTER_ACTIVATIONS,
    CHAPTER_MARGIN,
    CHAPTER_WEIGHTS,
    GB,
    GIB,
    Serving,
    kv_budget,
    percent,
    text,
)

MEMORY = 80 * GB
PRINTED_CAPACITY, PRINTED_ROUNDING = 108_000, 500
MARGIN_SHARES = Fraction(5, 100), Fraction(10, 100)
ACTIVATION_SHARES = Fraction(10, 100), Fraction(20, 100)
SECTION = "memory-budgeting"


def _gb(size: Any) -> str:
    return text(Fraction(size) / GB, 4)


def _budget_spread(impl: Any) -> tuple[list[Any], list[int], list[int]]:
    """Budgets, tokens and 4K sequences over every base that the two shares may have."""
    serving, left = Serving(impl), MEMORY - CHAPTER_WEIGHTS
    budgets = []
    for a in ACTIVATION_SHARES:
        for activations in (a * MEMORY, a * left):
            for s in MARGIN_SHARES:
                for margin in (s * MEMORY, s * left, s * (left - activations)):
                    budget = impl.kv_budget(
                        gpu_memory=MEMORY, weights=CHAPTER_WEIGHTS, activations=activations, safety_margin=margin
                    )
                    budgets.append(budget)
    tokens = [serving.token_capacity(b) for b in budgets]
    return budgets, tokens, [serving.concurrency(b, 4096) for b in budgets]


def _margin(impl: Any) -> Outcome:
    total = impl.safety_share_of_total(safety_margin=CHAPTER_MARGIN, gpu_memory=MEMORY)
    remaining = impl.safety_share_of_remaining(safety_margin=CHAPTER_MARGIN, gpu_memory=MEMORY, weights=CHAPTER_WEIGHTS)
    after = Fraction(CHAPTER_MARGIN, MEMORY - CHAPTER_WEIGHTS - CHAPTER_ACTIVATIONS)
    low, high = MARGIN_SHARES
    budgets, tokens, sequences = _budget_spread(impl)
    return Outcome(
        all(low <= share <= high for share in (total, remaining, after)),
        f"4 GB are {percent(total)} of the GPU, {percent(remaining)} of what the weights leave, {percent(after)} of "
        f"what is left after activations; over all bases KV {_gb(min(budgets))}-{_gb(max(budgets))} GB, "
        f"{text(min(tokens))}-{text(max(tokens))} tokens, {min(sequences)}-{max(sequences)} sequences of 4K",
    )


def _parts(impl: Any) -> Outcome:
    left = kv_budget(impl)
    total = left + CHAPTER_WEIGHTS + CHAPTER_ACTIVATIONS + CHAPTER_MARGIN
    return Outcome(
        bool(total == MEMORY),
        f"weights 14 + activations 8 + margin 4 + KV {_gb(left)} = {_gb(total)} GB",
    )


def _tokens(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    tokens, k = serving.token_capacity(budget), serving.kv_bytes_per_token
    return Outcome(
        bool(tokens == budget // k),
        f"{text(budget)} B / {text(k)} B = {text(Fraction(budget) / k, 7)}, so {text(tokens)} whole tokens",
    )


def _subtraction(impl: Any) -> Outcome:
    left = kv_budget(impl)
    return Outcome(bool(left == 54 * GB), f"80 - 14 - 8 - 4 = {_gb(left)} GB")


def _capacity(impl: Any) -> Outcome:
    serving = Serving(impl)
    binary, decimal = serving.kv_bytes_per_token, 512 * 1000
    budgets = kv_budget(impl), kv_budget(impl, unit=GIB)
    found = [impl.token_capacity(kv_budget=b, kv_bytes_per_token=k) for b in budgets for k in (binary, decimal)]
    halves = budgets[0] / Fraction(10**6) / Fraction(1, 2)
    return Outcome(
        any(abs(tokens - PRINTED_CAPACITY) <= PRINTED_ROUNDING for tokens in found),
        f"GB/KiB {text(found[0])}, GB/kB {text(found[1])}, GiB/KiB {text(found[2])}, GiB/kB {text(found[3])} tokens; "
        f"54,000 MB over half a MB, with 1,000 and 1,024 mixed, is {text(halves)}",
    )


def _sequences(impl: Any, context: int, printed: int) -> Outcome:
    serving = Serving(impl)
    decimal = serving.concurrency(kv_budget(impl), context)
    binary = serving.concurrency(kv_budget(impl, unit=GIB), context)
    reported = gpu("a100-80gb").quantities()["gpu_memory_reported"]
    real = impl.kv_budget(
        gpu_memory=reported,
        weights=CHAPTER_WEIGHTS,
        activations=CHAPTER_ACTIVATIONS,
        safety_margin=CHAPTER_MARGIN,
    )
    return Outcome(
        bool(decimal == printed),
        f"54 GB hold {text(decimal)}, 54 GiB hold {text(binary)}; a card that reports {text(reported / GIB, 4)} GiB "
        f"holds {text(serving.concurrency(real, context))}",
        bool(binary == printed),
    )


def _trade(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    lengths = [512 * 2**i for i in range(6)]
    counts = [serving.concurrency(budget, c) for c in lengths]
    limits = [
        impl.context(concurrency=n, kv_budget=budget, kv_bytes_per_token=serving.kv_bytes_per_token) for n in counts
    ]
    capacity = serving.token_capacity(budget)
    return Outcome(
        all(n * c <= capacity < (n + 1) * c for n, c in zip(counts, lengths, strict=True))
        and all(n * most <= capacity < n * (most + 1) for n, most in zip(counts, limits, strict=True)),
        f"contexts {', '.join(text(c) for c in lengths)} leave {', '.join(text(n) for n in counts)} sequences of "
        f"{text(capacity)} tokens",
    )


CLAIMS = (
    Claim("C58", SECTION, "A safety margin of 5-10 % is kept.", _margin),
    Claim(
        "C59",
        SECTION,
        "What weights, activations and the margin leave is the KV budget.",
        _parts,
        contradicts=("C29", "C122"),
    ),
    Claim("C60", SECTION, "The KV budget over the KV bytes of a token is the number of tokens.", _tokens),
    Claim(
        "C61", SECTION, "Of 80 GB, 14 GB of weights, 8 GB of activations and 4 GB of margin leave 54 GB.", _subtraction
    ),
    Claim("C62", SECTION, "54 GB at 512 KB a token hold 108,000 tokens.", _capacity, contradicts=("C63",)),
    Claim(
        "C63",
        SECTION,
        "That holds 27 sequences of 4K.",
        lambda impl: _sequences(impl, 4096, 27),
        "GB are read as GiB",
        ("C62",),
    ),
    Claim(
        "C64",
        SECTION,
        "That holds 13 sequences of 8K.",
        lambda impl: _sequences(impl, 8192, 13),
        "GB are read as GiB",
    ),
    Claim("C65", SECTION, "Longer contexts mean fewer sequences, one for one in tokens.", _trade),
)
