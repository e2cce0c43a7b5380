"""The core concepts: attention, cache, prefill, decode, batch and intensity (C15 to C28)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.settings import (
    CHAPTER_WEIGHTS,
    REALISTIC,
    Serving,
    first,
    parameters_approx,
    percent,
    text,
    within,
)

GPUS = ("v100", "a100-80gb", "a100-40gb", "t4", "h200", "h100", "l4", "l40s")
HUGE_BATCH = 10**9
DRAMATIC = 10  # times slower, the least that the chapter gives for it


def _compute_bound_prefill(at: Serving, prompt: int) -> bool:
    compute, bandwidth = at.rates["compute"], at.rates["bandwidth"]
    return bool(at.prefill_flops(prompt) / compute >= at.prefill_bytes(prompt) / bandwidth)


def _memory_bound_decode(at: Serving, batch: int, context: int) -> bool:
    compute, bandwidth = at.rates["compute"], at.rates["bandwidth"]
    return bool(at.decode_bytes(batch, context) / bandwidth >= at.decode_flops(batch, context) / compute)


def _prefill_intensity(at: Serving, prompt: int) -> Any:
    return at.impl.prefill_intensity(prefill_flops=at.prefill_flops(prompt), prefill_bytes=at.prefill_bytes(prompt))


def _decode_intensity(at: Serving, batch: int, context: int) -> Any:
    return at.impl.decode_intensity(
        decode_flops=at.decode_flops(batch, context), decode_bytes=at.decode_bytes(batch, context)
    )


def _identical_layers(impl: Any) -> Outcome:
    hidden, vocab = 4_096, 32_000

    def count(layers: int) -> Any:
        return impl.parameters_approx(layers=layers, hidden=hidden, vocab=vocab)

    shared = 2 * vocab * hidden
    return Outcome(
        general=count(20) + count(12) - shared == count(32) == parameters_approx(impl, "chapter-7b"),
        computed=f"20 and 12 layers without the embeddings of one: {text(count(20) + count(12) - shared)} parameters, "
        f"as 32 layers: {text(count(32))}",
    )


def _every_pair(impl: Any) -> Outcome:
    every, earlier = (
        impl.attention_scores_per_head(context=4_096),
        impl.causal_scores_per_head(context=4_096),
    )
    return Outcome(
        general=every == earlier,
        computed=f"a decoder takes {text(earlier)} of {text(every)} pairs at 4,096 tokens",
    )


def _quadratic(impl: Any) -> Outcome:
    lengths = (512, 1_024, 2_048, 4_096)

    def growth(law: Any) -> list[Fraction]:
        return [Fraction(law(context=2 * length)) / law(context=length) for length in lengths]

    full, causal = growth(impl.attention_scores_per_head), growth(impl.causal_scores_per_head)
    return Outcome(
        general=all(ratio == 2**2 for ratio in full) and all(within(r, Fraction(399, 100), 4) for r in causal),
        computed=f"twice the length takes {text(full[0])} times the scores, {text(causal[0], 5)} to "
        f"{text(causal[-1], 5)} times where only earlier tokens count",
    )


def _cache_saves_work(impl: Any) -> Outcome:
    at, prompt, output = Serving(impl), 1_000, 1_000
    lengths = range(prompt + 1, prompt + output + 1)
    without = sum(at.prefill_flops(length) for length in lengths)
    with_cache = at.prefill_flops(prompt) + sum(at.decode_flops(1, length) for length in lengths)
    return Outcome(
        general=without > with_cache,
        computed=f"{text(Fraction(without) / with_cache)} times the FLOPs without a cache, for 1,000 tokens of prompt "
        "and 1,000 of output",
    )


def _linear_cache(impl: Any) -> Outcome:
    at, first_part, second_part, block = Serving(impl), 1_000, 3_096, 16

    def bytes_of(context: int) -> Any:
        return impl.kv_bytes_per_sequence(context=context, kv_bytes_per_token=at.kv_bytes_per_token)

    def blocks(context: int) -> Any:
        return impl.blocks_per_sequence(context=context, block_size=block)

    both = first_part + second_part
    return Outcome(
        general=bytes_of(both) == bytes_of(first_part) + bytes_of(second_part),
        computed=f"{text(bytes_of(first_part))} + {text(bytes_of(second_part))} = {text(bytes_of(both))} bytes; "
        f"in pages of {block} tokens {text(blocks(first_part))} + {text(blocks(second_part))} "
        f"against {text(blocks(both))}",
    )


def _cache_dominates(impl: Any) -> Outcome:
    at, grouped = Serving(impl, weights_given=CHAPTER_WEIGHTS), Serving(impl, "llama-3-8b")

    def dominates(model: Serving, tokens: int) -> bool:
        return bool(
            impl.kv_bytes_total(cached_tokens=tokens, kv_bytes_per_token=model.kv_bytes_per_token) > model.weights
        )

    needed = [first(partial(dominates, model)) for model in (at, grouped)]
    return Outcome(
        general=dominates(at, 8_192),
        assuming=dominates(at, 26_703) and dominates(grouped, 122_533),
        computed=f"the cache passes the weights at {text(needed[0])} tokens in all (7B), "
        f"{text(needed[1])} (Llama-3-8B)",
    )


def _prefill_compute_bound(impl: Any) -> Outcome:
    smallest = {name: first(partial(_compute_bound_prefill, Serving(impl, gpu_name=name))) for name in GPUS}
    at = Serving(impl)
    return Outcome(
        general=_compute_bound_prefill(at, 100),
        assuming=_compute_bound_prefill(at, 154),
        computed="smallest compute-bound prompt: " + ", ".join(f"{n} {text(prompt)}" for n, prompt in smallest.items()),
    )


def _ttft_is_prefill(impl: Any) -> Outcome:
    at, prompt = Serving(impl, **REALISTIC), 4_096
    prefill = at.prefill_time(prompt)

    def ttft(wait: Fraction | int) -> Any:
        return impl.ttft(wait=wait, prompt=prompt, prefill_rate=Fraction(prompt) / prefill)

    return Outcome(
        general=ttft(4) == prefill,
        assuming=ttft(0) == prefill,
        computed=f"{text(prefill, 2)} s for 4,096 tokens with nobody ahead, {text(ttft(4))} s behind a wait of 4 s",
    )


def _reads_everything(impl: Any) -> Outcome:
    at, context = Serving(impl), 4_096
    cache = impl.kv_bytes_per_sequence(context=context, kv_bytes_per_token=at.kv_bytes_per_token)
    return Outcome(
        general=all(at.decode_bytes(batch, context) == at.weights + batch * cache for batch in (1, 8, 25)),
        computed=f"one step reads {text(at.decode_bytes(1, context))} bytes for one sequence, "
        f"{text(at.decode_bytes(25, context))} for 25: {text(at.decode_bytes(25, context) / Fraction(25))} a token",
    )


def _decode_memory_bound(impl: Any) -> Outcome:
    def always(at: Serving, context: int) -> bool:
        return _memory_bound_decode(at, HUGE_BATCH, context)

    at, grouped = Serving(impl), Serving(impl, "llama-3-8b")
    shortest = [first(partial(always, model)) for model in (at, grouped)]
    return Outcome(
        general=_memory_bound_decode(at, 256, 1),
        assuming=always(at, 169) and _memory_bound_decode(at, 1, 1),
        computed=f"intensity {text(_decode_intensity(at, 1, 4_096))} at batch 1, below "
        f"{text(_decode_intensity(at, HUGE_BATCH, 4_096))} at any batch with 4,096 tokens; "
        f"memory-bound at any batch from {text(shortest[0])} tokens (7B), {text(shortest[1])} (Llama-3-8B); "
        f"batch 256 with 1 token reaches {text(_decode_intensity(at, 256, 1))} against a ridge of {text(at.ridge)}, "
        "because it uses each weight 256 times and reads hardly any cache: short contexts in large batches are why the "
        "statement needs an assumption",
    )


def _decode_slower(impl: Any) -> Outcome:
    at, prompt, output, batch = Serving(impl), 1_000, 1_000, 25

    def ratio(sequences: int) -> Any:
        tpot = at.decode_step_time(sequences, prompt + output // 2)
        return impl.phase_ratio(prompt=prompt, prefill_time=at.prefill_time(prompt), tpot=tpot)

    alone, together = ratio(1), ratio(batch)
    return Outcome(
        general=together >= alone >= DRAMATIC,
        computed=f"1,000 tokens after 1,000 take {text(alone, 4)} times as long per sequence, {text(together / batch)} "
        f"times for each token of a batch of {batch}",
    )


def _batch_price(impl: Any) -> Outcome:
    at = Serving(impl)
    rising = True
    for context in (128, 4_096):
        steps = [at.decode_step_time(batch, context) for batch in range(1, 26)]
        rates = [impl.throughput(batch=batch, decode_step_time=step) for batch, step in enumerate(steps, 1)]
        rising &= all(a < b for a, b in pairwise(rates)) and all(a <= b for a, b in pairwise(steps))
    price = [at.decode_step_time(8, c) / at.decode_step_time(1, c) - 1 for c in (128, 4_096)]
    return Outcome(
        general=rising,
        computed=f"throughput and step time rise with every batch from 1 to 25; "
        f"batch 8 takes {percent(price[0], 2)} longer at 128 tokens, {percent(price[1], 2)} at 4,096",
    )


def _intensity_decides(impl: Any) -> Outcome:
    agree = True
    for name in GPUS:
        at = Serving(impl, gpu_name=name)
        agree &= all(
            (_prefill_intensity(at, prompt) >= at.ridge) == _compute_bound_prefill(at, prompt)
            for prompt in (10, 100, 154, 300, 1_000)
        )
        agree &= all(
            (_decode_intensity(at, batch, context) <= at.ridge) == _memory_bound_decode(at, batch, context)
            for batch, context in ((1, 4_096), (256, 1), (25, 100))
        )
    return Outcome(
        general=agree,
        computed="both tests agree; FLOPs per byte at the ridge: "
        + ", ".join(f"{name} {text(Serving(impl, gpu_name=name).ridge)}" for name in GPUS),
    )


def _intensity_of_phases(impl: Any) -> Outcome:
    at = Serving(impl)

    def split(prompt: int) -> bool:
        return bool(_prefill_intensity(at, prompt) > at.ridge > _decode_intensity(at, 1, prompt))

    return Outcome(
        general=split(10),
        assuming=split(154) and split(1_000),
        computed=f"prefill {text(_prefill_intensity(at, 1_000))} FLOPs per byte at 1,000 tokens, "
        f"{text(_prefill_intensity(at, 10))} at 10; decode {text(_decode_intensity(at, 1, 1_000))}; ridge "
        f"{text(at.ridge)}: a short prompt lies below it, as decode does, so the statement needs an assumption",
    )


CLAIMS = (
    Claim(
        "C15",
        "concepts",
        "All layers of a transformer are alike: attention and a feed-forward network.",
        _identical_layers,
    ),
    Claim("C16", "concepts", "Attention lets each token meet every other token.", _every_pair),
    Claim(
        "C17",
        "concepts",
        "Attention over n tokens has n x n scores, so its work grows with the square of n.",
        _quadratic,
    ),
    Claim(
        "C18", "concepts", "Keeping keys and values saves computing them again for every new token.", _cache_saves_work
    ),
    Claim("C19", "concepts", "Every token of a sequence adds as much to the cache.", _linear_cache),
    Claim(
        "C20",
        "concepts",
        "With long contexts the cache takes most of GPU memory.",
        _cache_dominates,
        "26,703 tokens or more in all sequences together for the chapter's 7B, 122,533 for Llama-3-8B",
    ),
    Claim(
        "C21",
        "concepts",
        "Prefill works on all prompt tokens at once and is therefore compute-bound.",
        _prefill_compute_bound,
        "prompts above the GPU's ridge: 154 tokens on an A100-80",
    ),
    Claim(
        "C22",
        "concepts",
        "The time to first token is the time of the prefill.",
        _ttft_is_prefill,
        "no request waits ahead of it",
        contradicts=("C94", "C105"),
    ),
    Claim(
        "C23",
        "concepts",
        "Every decode step reads all weights and the whole cache.",
        _reads_everything,
    ),
    Claim(
        "C24",
        "concepts",
        "Decode is memory-bound.",
        _decode_memory_bound,
        "contexts of 169 tokens or more (7B), where no batch is large enough to make it compute-bound",
    ),
    Claim("C25", "concepts", "A token takes far longer to generate than to prefill.", _decode_slower),
    Claim("C26", "concepts", "Larger batches raise throughput and cost latency.", _batch_price),
    Claim(
        "C27",
        "concepts",
        "Work of an intensity above the ridge is compute-bound, below it memory-bound.",
        _intensity_decides,
    ),
    Claim(
        "C28",
        "concepts",
        "Prefill has a high intensity, decode a low one.",
        _intensity_of_phases,
        "prompts above the ridge",
    ),
)
