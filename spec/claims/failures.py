"""Statements of the failure section: running out of cache, prefill that starves and a model that caches more."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.design_batching import continuous_ends
from spec.claims.replayed import combination
from spec.claims.settings import (
    CHAPTER_ACTIVATIONS,
    CHAPTER_MARGIN,
    CHAPTER_WEIGHTS,
    GB,
    KIB,
    REALISTIC,
    Serving,
    kv_budget,
    percent,
    text,
    yes,
)
from spec.claims.under_load import bounded_first_token, reserved_share

SECTION = "failures"
MEMORY = 80 * GB
WORKLOAD = 4096  # tokens of each sequence
LONG = 8192  # tokens of the longest sequence
ALERT = Fraction(9, 10)
RESTART = 30  # seconds until a server answers again
LOADED = 25  # sequences of a full batch
PROMPT, OUTPUT, LIMIT = 500, 150, 512  # tokens of a chat request, and the most it may generate
OUTPUTS = 500  # tokens of the longest outputs
SEVEN_B = "falcon-7b", "qwen2.5-7b", "mistral-7b-v0.1", "gemma-7b", "llama-2-7b"


def _gb(size: Any) -> str:
    return text(Fraction(size) / GB)


def _fits_tokens(impl: Any, tokens: int) -> bool:
    return Serving(impl).fits(kv_budget(impl), 1, tokens)


def _sum(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    alone, together = (serving.fits(budget, n, 8192) for n in (1, 13))
    total = impl.kv_bytes_total(cached_tokens=13 * 8192, kv_bytes_per_token=serving.kv_bytes_per_token)
    return Outcome(
        alone and not together,
        f"13 sequences of 8,192 tokens take {_gb(total)} of {_gb(budget)} GB, and one fits: {yes(alone)}",
    )


def _alert(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    level = ALERT * budget
    left = serving.token_capacity(budget) - serving.token_capacity(level)
    used = level + CHAPTER_WEIGHTS
    with_activations = used + CHAPTER_ACTIVATIONS
    return Outcome(
        left >= LONG,
        f"90 % are {_gb(level)} GB = {text(serving.token_capacity(level))} tokens, with {text(left)} to come; the GPU "
        f"is then {percent(used / MEMORY)} full, {percent(with_activations / MEMORY)} with activations",
    )


def _longest(impl: Any) -> Outcome:
    batches = [1000, 1000, 1000, 8000], [7000, 7000, 7000, 8000]
    own = [sum(batch) for batch in batches]
    padded = [impl.cached_tokens(concurrency=len(batch), context=max(batch)) for batch in batches]
    return Outcome(
        own[0] == own[1],
        f"two batches of 4 with longest 8,000 hold {text(own[0])} and {text(own[1])} tokens, padded {text(padded[0])} "
        f"and {text(padded[1])}",
        padded == [len(batch) * max(batch) for batch in batches],
    )


def _rejecting(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    admitted = rejected = 0
    for size in [6000, 8000, 4096, 12_000, 500] * 8:
        if _fits_tokens(impl, admitted + size):
            admitted += size
        else:
            rejected += 1
    return Outcome(
        rejected > 0 and admitted <= serving.token_capacity(budget),
        f"of 40 requests {rejected} are turned away, and the {text(admitted)} tokens of the others stay within "
        f"{text(serving.token_capacity(budget))}",
    )


def _recovery(impl: Any) -> Outcome:
    serving = Serving(impl, **REALISTIC)
    one = serving.prefill_time(WORKLOAD)
    again = LOADED * one
    later = OUTPUTS * serving.decode_step_time(LOADED, WORKLOAD)
    return Outcome(
        bool(RESTART + again > later),
        f"a crash loses {LOADED} requests of 4,096 tokens for {RESTART} s of restart and {text(again)} s of prefill; a "
        f"request that is shed waits at most {text(later)} s for {OUTPUTS} tokens of another",
    )


def _reservation(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    number = serving.concurrency(budget, PROMPT + LIMIT)
    reserved, used = number * (PROMPT + LIMIT), number * (PROMPT + OUTPUT)
    sizes = serving.sizes
    flight = {"batch": LOADED, "prompt": 4096}
    needed = (
        impl.logit_bytes(**flight, vocab=sizes["vocab"], logit_width=4)
        + impl.hidden_activations(**flight, hidden=sizes["hidden"], activation_width=2)
        + impl.feed_forward_activations(**flight, intermediate=sizes["intermediate"], activation_width=2)
    )
    spare = CHAPTER_ACTIVATIONS + CHAPTER_MARGIN
    safe = used <= reserved and serving.fits(budget, number, PROMPT + LIMIT)
    return Outcome(
        safe and needed <= spare,
        f"{text(number)} requests of {PROMPT} + {OUTPUT} use {percent(Fraction(used, reserved))} of what {PROMPT} + "
        f"{LIMIT} reserve, {percent(Fraction(PROMPT + OUTPUT, PROMPT + 4096))} with a limit of 4,096; activations of "
        f"{LOADED} prompts at once take {_gb(needed)} of {_gb(spare)} GB of reserve and margin",
        safe,
    )


def _release(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    held = serving.concurrency(budget, WORKLOAD)
    free, released = (serving.token_capacity(budget) - n * WORKLOAD for n in (held, held - 1))
    refused = not _fits_tokens(impl, (held + 1) * WORKLOAD)
    again = _fits_tokens(impl, (held - 1) * WORKLOAD + WORKLOAD)
    return Outcome(
        refused and again and free < WORKLOAD <= released,
        f"{held} reservations of 4,096 leave {text(free)} tokens, too few for another: {yes(refused)}; with one "
        f"released {text(released)} are free and it fits: {yes(again)}",
    )


def _prevention(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    by_prompt, reserved = (serving.concurrency(budget, tokens) for tokens in (PROMPT, PROMPT + LIMIT))
    return Outcome(
        serving.fits(budget, by_prompt, PROMPT + LIMIT),
        f"admitted by their prompt alone, {by_prompt} requests of {PROMPT} + {LIMIT} grow to "
        f"{text(by_prompt * (PROMPT + LIMIT))} tokens of {text(serving.token_capacity(budget))}; {reserved} with a "
        "reservation stay within it",
        serving.fits(budget, reserved, PROMPT + LIMIT),
    )


def _carried(impl: Any, rate: int) -> tuple[bool, Any]:
    """Whether 25 slots carry so many requests a second of 500 + 500 tokens, and how long the longest holds its slot."""
    serving = Serving(impl, **REALISTIC)
    generation = OUTPUTS * serving.decode_step_time(LOADED, PROMPT + OUTPUTS)
    stay = serving.prefill_time(PROMPT) + generation
    load = impl.mean_concurrency(arrival_rate=rate, service_time=stay)
    return bool(impl.carries(mean_concurrency=load, gpus=1, sequences_per_gpu=LOADED)), generation


def _starvation(impl: Any) -> Outcome:
    (calm, longest), (busy, _) = _carried(impl, 1), _carried(impl, 5)
    return Outcome(
        not calm,
        f"outputs of at most {OUTPUTS} tokens free a slot within {text(longest)} s; 25 slots carry 1 request/s: "
        f"{yes(calm)}, 5 requests/s: {yes(busy)}",
        not busy,
    )


def _seems_free(impl: Any) -> Outcome:
    serving = Serving(impl)
    busy = [
        Fraction(serving.decode_flops(LOADED, c)) / serving.rates["compute"] / serving.decode_step_time(LOADED, c)
        for c in (1, 4096)
    ]
    return Outcome(
        all(share < Fraction(1, 4) for share in busy),
        f"a decode step of 25 sequences uses {percent(busy[0])} of the arithmetic at a context of 1 and "
        f"{percent(busy[1])} at 4,096, though the GPU is busy all the time",
    )


def _never_empty(impl: Any) -> Outcome:
    outputs = [3, 5, 2, 4, 1, 5, 3, 2]
    ends, longest = continuous_ends(impl, outputs, 2, lambda _: 1), max(outputs)
    freed = sum(end <= 2 * longest for end in ends)
    return Outcome(
        freed == 0,
        f"finite outputs end: of 8 jobs on 2 slots {freed} have left their slot after {2 * longest} steps, none later "
        f"than {longest} steps after it took it",
    )


def _own_budget(impl: Any, name: str) -> Any:
    return impl.kv_budget(
        gpu_memory=MEMORY,
        weights=Serving(impl, name).weights,
        activations=CHAPTER_ACTIVATIONS,
        safety_margin=CHAPTER_MARGIN,
    )


def _longest_context(impl: Any, name: str, concurrency: int) -> Any:
    k = Serving(impl, name).kv_bytes_per_token
    return impl.context(concurrency=concurrency, kv_budget=_own_budget(impl, name), kv_bytes_per_token=k)


def _upgrade(impl: Any) -> Outcome:
    limits = {name: _longest_context(impl, name, LOADED) for name in SEVEN_B}
    before, after = (_longest_context(impl, name, LOADED + 1) for name in ("mistral-7b-v0.1", "llama-2-7b"))
    return Outcome(
        after < WORKLOAD <= before,
        f"25 sequences may have {text(limits['mistral-7b-v0.1'])} tokens each on Mistral-7B and "
        f"{text(limits['llama-2-7b'])} on Llama-2-7B (Gemma-7B {text(limits['gemma-7b'])}, Qwen2.5-7B "
        f"{text(limits['qwen2.5-7b'])}); 26 may have {text(before)} and {text(after)}",
    )


def _same_size(impl: Any) -> Outcome:
    caches = [Fraction(Serving(impl, name).kv_bytes_per_token) for name in SEVEN_B]
    counts = [Serving(impl, name).parameters for name in SEVEN_B]
    return Outcome(
        max(caches) > min(caches) and max(counts) < 2 * min(counts),
        f"{_billions(min(counts))}-{_billions(max(counts))} parameters keep "
        f"{', '.join(text(k / KIB) for k in caches)} KiB a token: {text(max(caches) / min(caches))}x",
    )


def _billions(count: Any) -> str:
    return f"{text(Fraction(count) / 10**9)} B"


def _deeper(impl: Any) -> Outcome:
    wide, deep, shared = ((32, 4096, 32, 128), (64, 2896, 16, 181), (64, 2896, 4, 181))
    caches = [
        impl.kv_bytes_per_token(layers=layers, kv_heads=heads, head_dim=size, kv_width=2)
        for layers, _, heads, size in (wide, deep, shared)
    ]
    blocks = [
        impl.parameters_approx(layers=layers, hidden=hidden, vocab=1) - 2 * hidden
        for layers, hidden, _, _ in (wide, deep)
    ]
    ratio = Fraction(caches[1], caches[0])
    return Outcome(
        all(cache > caches[0] for cache in caches[1:]),
        f"64 layers of 2,896 have {_billions(blocks[1])} parameters, 32 of 4,096 {_billions(blocks[0])}; they cache "
        f"{text(caches[1])} B a token, {text(ratio, 4)}x, but {text(caches[2])} B with a key for four heads",
        bool(caches[1] > caches[0]),
    )


def _metadata(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    k, capacity = serving.kv_bytes_per_token, serving.token_capacity(budget)
    numbers = (1, 8, 25, 64)
    limits = [impl.context(concurrency=n, kv_budget=budget, kv_bytes_per_token=k) for n in numbers]
    return Outcome(
        all(limit == capacity // n for n, limit in zip(numbers, limits, strict=True)),
        f"{text(k)} B a token give {', '.join(text(c) for c in limits)} tokens for {', '.join(map(text, numbers))} "
        "sequences",
    )


def _smaller(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    shorter = impl.context(concurrency=26, kv_budget=budget, kv_bytes_per_token=serving.kv_bytes_per_token)
    failing, fewer = serving.fits(budget, 26, 4096), serving.fits(budget, 25, 4096)
    return Outcome(
        not failing and fewer and serving.fits(budget, 26, shorter),
        f"26 sequences of 4,096 do not fit; 25 do, and 26 of {text(shorter)} do",
    )


CLAIMS = (
    Claim("C85", SECTION, "Running out of cache depends only loosely on the size of a request.", combination),
    Claim("C86", SECTION, "It happens when the caches of all requests together exceed the memory.", _sum),
    Claim("C87", SECTION, "An alert belongs at about 90 % of the KV budget.", _alert),
    Claim(
        "C88",
        SECTION,
        "The longest context of the batch should be watched.",
        _longest,
        "batches are static and padded to it",
    ),
    Claim(
        "C89",
        SECTION,
        "When the budget is used up, new requests are refused with a 503 and a hint to retry.",
        _rejecting,
        contradicts=("C129",),
    ),
    Claim("C90", SECTION, "Recovering from running out of memory costs more than shedding a request.", _recovery),
    Claim(
        "C91",
        SECTION,
        "Reserving prompt and max_tokens at admission prevents running out of memory.",
        _reservation,
        "activations stay within their reserve",
        ("C129",),
    ),
    Claim("C92", SECTION, "The reservation is released when the request completes.", _release),
    Claim(
        "C93",
        SECTION,
        "Continuous batching that tracks the memory of every sequence prevents it.",
        _prevention,
        "the tracked memory includes a reservation for the output",
    ),
    Claim(
        "C94",
        SECTION,
        "New requests may starve: they queue without end and the time to first token has no bound.",
        _starvation,
        "the load is more than the server carries, or outputs have no end",
        ("C22", "C78"),
    ),
    Claim("C95", SECTION, "Meanwhile the GPU seems to have capacity to spare.", _seems_free),
    Claim(
        "C96", SECTION, "They starve because no slot of the batch ever comes free.", _never_empty, contradicts=("C69",)
    ),
    Claim(
        "C97",
        SECTION,
        "A share of the batch reserved for prefill bounds the time to first token.",
        bounded_first_token,
        "the share is larger than the load of prefill, and the KV cache has room",
    ),
    Claim("C98", SECTION, "That costs a little decode throughput.", reserved_share),
    Claim("C99", SECTION, "After a change of model a workload of the same context can fail.", _upgrade),
    Claim("C100", SECTION, "Models with the same number of parameters need different amounts of cache.", _same_size),
    Claim(
        "C101",
        SECTION,
        "More layers of a smaller hidden size cache more per token.",
        _deeper,
        "every attention head has its own keys and values",
    ),
    Claim("C102", SECTION, "KV bytes per token belong with the model; they give the longest context.", _metadata),
    Claim("C103", SECTION, "A smaller batch or a shorter longest context makes room.", _smaller),
)
