"""How a server divides memory into weights and cache (C29 to C43)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.catalog import gpu, model
from spec.claims import Claim, Outcome
from spec.claims.settings import (
    CHAPTER_ACTIVATIONS,
    CHAPTER_MARGIN,
    CHAPTER_WEIGHTS,
    GB,
    GIB,
    KIB,
    MS,
    Serving,
    first,
    gigabytes,
    kv_budget,
    parameters,
    parameters_approx,
    percent,
    text,
    within,
)

COUNTED = (
    "llama-2-7b",
    "llama-2-13b",
    "opt-6.7b",
    "llama-2-70b",
    "llama-3-8b",
    "mistral-7b-v0.1",
    "falcon-7b",
    "qwen2.5-7b",
    "gemma-7b",
    "mixtral-8x7b",
)
BATCHES = (1, 2, 8, 25)
SLOTS = 256


def _three_parts(impl: Any) -> Outcome:
    memory = gpu("a100-80gb").marketed.base

    def three(margin: int) -> Any:
        return CHAPTER_WEIGHTS + CHAPTER_ACTIVATIONS + kv_budget(impl, margin=margin)

    margin = CHAPTER_MARGIN // GB
    return Outcome(
        general=three(margin) == memory,
        assuming=three(0) == memory,
        computed=f"weights, activations and cache are {gigabytes(three(margin))} of {gigabytes(memory)} "
        f"beside a margin of {margin} GB, {gigabytes(three(0))} without one",
    )


def _growth_of_parts(impl: Any) -> Outcome:
    at, context = Serving(impl), 4_096

    def cache(sequences: int) -> Any:
        return impl.kv_bytes_total(
            cached_tokens=impl.cached_tokens(batch=sequences, context=context), kv_bytes_per_token=at.kv_bytes_per_token
        )

    def activations(batch: int) -> Any:
        return impl.hidden_activations(batch=batch, prompt=context, hidden=at.sizes["hidden"], activation_width=2)

    weights = {at.decode_bytes(batch, context) - cache(batch) for batch in BATCHES}
    return Outcome(
        general=len(weights) == 1
        and all(cache(b) == b * cache(1) and activations(b) == b * activations(1) for b in BATCHES),
        computed=f"from batch 1 to {BATCHES[-1]}: weights "
        f"{' or '.join(text(size / Fraction(GB), 4) for size in weights)} GB, "
        f"cache {text(Fraction(cache(BATCHES[-1])) / cache(1))} and activations "
        f"{text(Fraction(activations(BATCHES[-1])) / activations(1))} times",
    )


def _only_decode_reads_weights(impl: Any) -> Outcome:
    at, prompt = Serving(impl), 1_000
    read = at.prefill_bytes(prompt) - prompt * at.kv_bytes_per_token
    return Outcome(
        general=read == 0,
        computed=f"prefill reads {gigabytes(read, 4)} of weights as well, at least "
        f"{text(read / at.rates['bandwidth'] / MS)} ms",
    )


def _cache_limits_concurrency(impl: Any) -> Outcome:
    at, budget = Serving(impl), kv_budget(impl)

    def cache_binds(context: int) -> bool:
        return bool(impl.within_slots(batch=at.concurrency(budget, context) + 1, slots=SLOTS))

    crossing = first(cache_binds, high=4_096)
    return Outcome(
        general=cache_binds(400),
        assuming=cache_binds(403) and cache_binds(4_096),
        computed=f"with {SLOTS} slots the cache binds from {text(crossing)} tokens a sequence; at 400 tokens "
        f"{text(at.concurrency(budget, 400))} fit, at 4,096 {text(at.concurrency(budget, 4_096))}",
    )


def _one_head_each(name: str) -> bool:
    m = model(name)
    return m.heads == m.kv_heads and m.heads * m.head_dim == m.hidden


def _chapter_like(name: str) -> bool:
    """Say whether a model has the shape that the chapter's rule is for."""
    m = model(name)
    network = Fraction((2 + m.gated) * m.intermediate, 8 * m.hidden)
    return (
        _one_head_each(name)
        and not m.tied
        and m.experts is None
        and within(network, Fraction(98, 100), Fraction(102, 100))
    )


def _rule_of_parameters(impl: Any) -> Outcome:
    errors = {name: parameters_approx(impl, name) / Fraction(parameters(impl, name)) - 1 for name in COUNTED}
    tenth, hundredth = Fraction(1, 10), Fraction(1, 100)
    return Outcome(
        general=all(abs(error) <= tenth for error in errors.values()),
        assuming=all(abs(error) <= hundredth for name, error in errors.items() if _chapter_like(name)),
        computed="error " + ", ".join(f"{name} {percent(error)}" for name, error in errors.items()),
    )


def _twelve(impl: Any) -> Outcome:
    sizes = model("chapter-7b").quantities()
    hidden = sizes["hidden"]

    def network(intermediate: int, gated: int) -> Fraction:
        count = impl.feed_forward_parameters(hidden=hidden, intermediate=intermediate, gated=gated, mlp_bias=0)
        return Fraction(count) / hidden**2

    attention = Fraction(
        impl.attention_parameters(
            **{name: sizes[name] for name in ("hidden", "heads", "kv_heads", "head_dim")},
            attention_sinks=0,
            qk_norm=0,
            o_bias=0,
            qkv_bias=0,
        )
    ) / (hidden**2)
    plain = network(4 * hidden, 0)
    return Outcome(
        general=attention + plain == impl.parameters_approx(layers=1, hidden=1, vocab=1) - 2,
        computed=f"{text(attention)} + {text(plain)} = {text(attention + plain)} H^2 a layer; gated with 11,008 "
        f"(Llama-2-7B) {text(attention + network(11_008, 1), 6)}",
    )


def _fourteen_gigabytes(impl: Any) -> Outcome:
    nominal = impl.weights(parameters=7 * 10**9, weight_bits=16)
    own, llama = Serving(impl).weights, Serving(impl, "llama-2-7b").weights
    return Outcome(
        general=nominal == 14 * GB and within(Fraction(nominal) / own, Fraction(95, 100), Fraction(105, 100)),
        computed=", ".join(
            f"{name} {gigabytes(size, 4)} = {text(size / Fraction(GIB), 4)} GiB"
            for name, size in (("7e9", nominal), ("the chapter's sizes", own), ("Llama-2-7B", llama))
        ),
    )


def _fixed_weights(impl: Any) -> Outcome:
    at = Serving(impl)
    read = {
        at.decode_bytes(batch, context) - batch * context * at.kv_bytes_per_token
        for batch in BATCHES
        for context in (1, 1_000, 8_192)
    }
    return Outcome(
        general=read == {at.weights},
        computed=f"{' or '.join(text(size) for size in sorted(read))} bytes at every batch from 1 to {BATCHES[-1]} and "
        "every length from 1 to 8,192",
    )


def _rule_of_cache(impl: Any) -> Outcome:
    def rule(name: str) -> Fraction:
        sizes = model(name).quantities()
        approx = impl.kv_bytes_per_token_approx(layers=sizes["layers"], hidden=sizes["hidden"], kv_width=2)
        return Fraction(approx, Serving(impl, name).kv_bytes_per_token)

    factors = {name: rule(name) for name in COUNTED}
    return Outcome(
        general=all(factor == 1 for factor in factors.values()),
        assuming=all(factor == 1 for name, factor in factors.items() if _one_head_each(name)),
        computed="the rule over the truth: " + ", ".join(f"{name} {text(factor)}" for name, factor in factors.items()),
    )


def _chapter_cache(impl: Any, tokens: int) -> Any:
    per_token = impl.kv_bytes_per_token_approx(layers=32, hidden=4_096, kv_width=2)
    return impl.kv_bytes_per_sequence(context=tokens, kv_bytes_per_token=per_token)


def _kilobytes(impl: Any) -> Outcome:
    size = _chapter_cache(impl, 1)
    return Outcome(
        general=size == 512 * 1000,
        assuming=size == 512 * KIB,
        computed=f"{text(size)} bytes = {text(size / Fraction(KIB))} KiB = {text(size / Fraction(1000), 4)} kB",
    )


def _gigabytes(impl: Any) -> Outcome:
    size = _chapter_cache(impl, 4_096)
    return Outcome(
        general=size == 2 * GB,
        assuming=size == 2 * GIB,
        computed=f"{text(size)} bytes = {text(size / Fraction(GIB))} GiB = {gigabytes(size, 4)}",
    )


def _ten_sequences(impl: Any) -> Outcome:
    one, ten = _chapter_cache(impl, 4_096), _chapter_cache(impl, 10 * 4_096)
    return Outcome(
        general=one == 20 * GB,
        assuming=ten == 20 * GIB,
        computed=f"each takes {text(one / Fraction(GIB))} GiB; ten take {text(ten / Fraction(GIB))} GiB = "
        f"{gigabytes(ten, 4)} in total",
    )


def _more_than_weights(impl: Any) -> Outcome:
    ten = _chapter_cache(impl, 10 * 4_096)
    return Outcome(
        general=ten > CHAPTER_WEIGHTS,
        computed=f"{gigabytes(ten, 4)} of cache against {gigabytes(CHAPTER_WEIGHTS)} of weights",
    )


def _double_context(impl: Any) -> Outcome:
    lengths = (1, 1_000, 4_096, 8_192)
    ratios = {Fraction(_chapter_cache(impl, 2 * n)) / _chapter_cache(impl, n) for n in lengths}
    return Outcome(
        general=ratios == {2},
        computed=f"{' or '.join(text(ratio) for ratio in ratios)} times from {lengths[0]} to {lengths[-1]:,} tokens",
    )


def _half_the_sequences(impl: Any) -> Outcome:
    at, contexts = Serving(impl), (100, 333, 1_000, 2_048, 4_096, 5_000, 8_192)
    budgets = {"GB": kv_budget(impl), "GiB": kv_budget(impl, unit=GIB)}
    pairs = [
        (at.concurrency(budget, context), at.concurrency(budget, 2 * context))
        for budget in budgets.values()
        for context in contexts
    ]
    return Outcome(
        general=all(2 * half == whole for whole, half in pairs),
        assuming=all(half == whole // 2 for whole, half in pairs),
        computed="4,096 to 8,192 tokens: "
        + ", ".join(
            f"{text(at.concurrency(budget, 4_096))} to {text(at.concurrency(budget, 8_192))} with {unit}"
            for unit, budget in budgets.items()
        ),
    )


CLAIMS = (
    Claim(
        "C29",
        "architecture",
        "GPU memory has three parts: weights, cache and activations.",
        _three_parts,
        "no safety margin, and nothing for the runtime",
        contradicts=("C59",),
    ),
    Claim(
        "C30",
        "architecture",
        "Weights are fixed, the cache grows with the sequences, activations grow with the batch.",
        _growth_of_parts,
    ),
    Claim(
        "C31", "architecture", "Only decode reads the weights (as the diagram draws it).", _only_decode_reads_weights
    ),
    Claim(
        "C32",
        "architecture",
        "The cache is what limits how many sequences run at once.",
        _cache_limits_concurrency,
        "contexts longer than the tokens that fit divided by the slots, and no tighter latency target",
    ),
    Claim(
        "C33",
        "model-weights",
        "A model has about 12 L H^2 + 2 V H parameters.",
        _rule_of_parameters,
        "one key-value head for each head, heads that make up the hidden size, a feed-forward network of 8 H^2, "
        "an output head of its own, and no experts",
    ),
    Claim(
        "C34",
        "model-weights",
        "The 12 is four H x H projections and two H x 4H matrices.",
        _twelve,
    ),
    Claim("C35", "model-weights", "A 7B model in fp16 takes about 14 GB.", _fourteen_gigabytes),
    Claim("C36", "model-weights", "Weights depend neither on batch nor on length.", _fixed_weights),
    Claim(
        "C37",
        "kv-cache",
        "A token takes 2 x L x H x bytes of cache.",
        _rule_of_cache,
        "one key-value head for each head, and heads that make up the hidden size",
    ),
    Claim("C38", "kv-cache", "L = 32 and H = 4,096 in fp16 take 512 KB a token.", _kilobytes, "KB is read as KiB"),
    Claim("C39", "kv-cache", "A context of 4,096 tokens takes 2 GB.", _gigabytes, "GB is read as GiB"),
    Claim(
        "C40",
        "kv-cache",
        "Ten sequences of 4K tokens take 20 GB each.",
        _ten_sequences,
        "all ten together, and GB is read as GiB",
    ),
    Claim("C41", "kv-cache", "The cache of ten such sequences is larger than the weights.", _more_than_weights),
    Claim("C42", "kv-cache", "Twice the context takes twice the cache.", _double_context),
    Claim(
        "C43",
        "kv-cache",
        "Twice the context leaves half the sequences.",
        _half_the_sequences,
        "halves are rounded down",
    ),
)
