"""Statements of the interview answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.catalog import model
from spec.claims import Claim, Outcome
from spec.claims.servers import (
    THIRTY_TWO_K,
    TWO_K,
    budget,
    compute_share,
    fitting,
    gigabytes,
    kv_of,
    realistic,
    times,
    tokens,
)
from spec.claims.settings import GB, Serving, first, percent
from spec.claims.under_load import fewer_sequences

SECTION = "answers"
SHORT, LONG, VERY_LONG = 4096, 8192, 16384
DOUBLED = LONG // SHORT


def _scores_per_layer(impl: Any) -> Outcome:
    head = impl.attention_scores_per_head(context=SHORT)
    layer = impl.attention_scores_per_layer(heads=model("chapter-7b").heads, attention_scores_per_head=head)
    return Outcome(layer == head, f"{head:,} per head, {layer:,} per layer: {layer // head} times as many")


def _attention_memory(impl: Any) -> Outcome:
    sizes = model("chapter-7b")

    def scores(n: int) -> Any:
        return impl.score_bytes(activation_width=2, batch=1, heads=sizes.heads, prompt=n)

    def rows(n: int) -> Any:
        return impl.hidden_activations(activation_width=2, batch=1, hidden=sizes.hidden, prompt=n)

    quadratic = Fraction(scores(LONG), scores(SHORT)) == DOUBLED**2
    return Outcome(
        quadratic and Fraction(rows(LONG), rows(SHORT)) == DOUBLED**2,
        f"stored scores of a layer take {gigabytes(scores(SHORT), 2)} at 4,096 and {gigabytes(scores(LONG), 1)} at "
        f"8,192 tokens; a fused kernel keeps its result, {gigabytes(rows(SHORT), 3)} and {gigabytes(rows(LONG), 3)}",
        assuming=quadratic,
    )


def _attention_share(impl: Any, prompt: int) -> Any:
    server = Serving(impl)
    work = impl.prefill_attention_flops(prompt=prompt, **{n: server.sizes[n] for n in ("layers", "heads", "head_dim")})
    return Fraction(work, server.prefill_flops(prompt)), work


def _attention_compute(impl: Any) -> Outcome:
    shares = {n: _attention_share(impl, n)[0] for n in (SHORT, LONG, THIRTY_TWO_K)}
    ratio = Fraction(_attention_share(impl, LONG)[1], _attention_share(impl, SHORT)[1])
    shown = ", ".join(f"{percent(s)} at {n:,}" for n, s in shares.items())
    return Outcome(
        ratio == DOUBLED**2, f"attention takes {times(ratio, 0)} the work; of a prefill it is {shown} tokens"
    )


def _quadruple(impl: Any) -> Outcome:
    server = Serving(impl)
    kv, room = server.kv_bytes_per_token, budget(impl)
    cache = [impl.kv_bytes_per_sequence(context=c, kv_bytes_per_token=kv) for c in (SHORT, LONG)]
    counts = [fitting(impl, c, room, kv) for c in (SHORT, LONG)]
    ratios = {
        "cache": Fraction(cache[1], cache[0]),
        "prefill work": Fraction(server.prefill_flops(LONG), server.prefill_flops(SHORT)),
        "prefill time": server.prefill_time(LONG) / server.prefill_time(SHORT),
        "decode step": server.decode_step_time(1, LONG) / server.decode_step_time(1, SHORT),
    }
    full = server.decode_step_time(counts[1], LONG) / server.decode_step_time(counts[0], SHORT)
    shown = ", ".join(f"{name} {times(ratio)}" for name, ratio in ratios.items())
    return Outcome(
        min(ratios.values()) >= DOUBLED**2,
        f"4,096 to 8,192: {shown} alone and {times(full)} with each batch full; sequences {counts[0]} to {counts[1]}",
    )


def _fleet(impl: Any) -> Outcome:
    kv, room = kv_of(impl), budget(impl)
    counts = [fitting(impl, c, room, kv) for c in (SHORT, VERY_LONG)]
    full = impl.fits(concurrency=counts[0], context=VERY_LONG, kv_bytes_per_token=kv, kv_budget=room)
    return Outcome(
        counts[1] == 0,
        f"a GPU that holds {counts[0]} sequences of 4,096 tokens holds {counts[1]} of 16,384",
        assuming=not full,
    )


def _worse_than_linear(impl: Any) -> Outcome:
    server = Serving(impl)
    kv = server.kv_bytes_per_token
    cache = [impl.kv_bytes_per_sequence(context=c, kv_bytes_per_token=kv) for c in (SHORT, VERY_LONG)]
    memory, linear = Fraction(cache[1], cache[0]), Fraction(VERY_LONG, SHORT)
    prefill = server.prefill_time(VERY_LONG) / server.prefill_time(SHORT)
    return Outcome(
        memory > linear and prefill > linear,
        f"4,096 to 16,384: cache {times(memory)}, prefill {times(prefill)}",
        assuming=prefill > linear,
    )


def _same_speed(impl: Any) -> Outcome:
    server = Serving(impl)

    def slowdown(batch: int) -> Any:
        return server.decode_step_time(batch, 2000) / server.decode_step_time(batch, 200)

    small = Fraction(11, 10)
    return Outcome(
        slowdown(16) < small,
        f"2,000 against 200 tokens, each in a batch of its own: {times(slowdown(1))} alone, {times(slowdown(8))} by 8, "
        f"{times(slowdown(16))} by 16; a shared batch steps as one",
        assuming=slowdown(1) < small,
    )


def _no_slowdown(impl: Any) -> Outcome:
    def slowdown(batch: int, name: str = "chapter-7b") -> Any:
        server = Serving(impl, name)
        return server.decode_step_time(batch, 2050) / server.decode_step_time(batch, 150)

    shown = ", ".join(f"{times(slowdown(b))} at batch {b}" for b in (1, 8, 16, 25))
    return Outcome(
        all(slowdown(b) == 1 for b in (1, 8, 16)),
        f"2,000 against 100 tokens of prompt: {shown}; Llama-3-8B {times(slowdown(16, 'llama-3-8b'))} at 16",
    )


def _memory_bound(impl: Any) -> Outcome:
    kv, room = kv_of(impl), budget(impl)
    capacity, slots, brief = tokens(impl, room, kv), 64, 200
    held = impl.cached_tokens(batch=slots, context=brief)
    queued = not impl.within_slots(batch=slots + 1, slots=slots)
    count = fitting(impl, SHORT, room, kv)
    used = Fraction(count * SHORT, capacity)
    refused = not impl.fits(concurrency=count + 1, context=SHORT, kv_bytes_per_token=kv, kv_budget=room)
    almost = Fraction(9, 10)
    return Outcome(
        not queued or Fraction(held, capacity) >= almost,
        f"{slots} slots of {brief} tokens queue the next request with {percent(Fraction(held, capacity))} of the cache "
        f"used; {count} of 4,096 use {percent(used)}",
        assuming=used >= almost and refused,
    )


def _forty_per_cent(impl: Any) -> Outcome:
    server, stated = Serving(impl), Fraction(2, 5)
    share = compute_share(server, 25, SHORT)
    needed = {
        c: first(lambda batch, c=c: bool(compute_share(server, batch, c) >= stated))  # type: ignore[misc]
        for c in (1, 128, 256)
    }
    shown = ", ".join(f"{batch} at {c}" for c, batch in needed.items())
    return Outcome(
        share >= stated,
        f"25 sequences of 4,096 tokens use {percent(share)} of the compute; 40 % takes a batch of {shown} tokens",
    )


def _nothing_starts(impl: Any) -> Outcome:
    kv, room = kv_of(impl), budget(impl)
    capacity = tokens(impl, room, kv)
    left = capacity - (9 * capacity) // 10
    more = left // SHORT
    starts = impl.fits(concurrency=1, context=SHORT, kv_bytes_per_token=kv, kv_budget=left * kv)
    larger = impl.fits(concurrency=1, context=left + 1, kv_bytes_per_token=kv, kv_budget=left * kv)
    return Outcome(
        not starts,
        f"at 90 % {left:,} of {capacity:,} tokens are free, so {more} more sequences of 4,096 start; only a request "
        "that needs more than the free tenth is refused",
        assuming=not larger,
    )


def _exact_halves(impl: Any) -> Outcome:
    kv = kv_of(impl)
    binary = Fraction(budget(impl), GB) * 2**30
    pairs = [tuple(fitting(impl, c, room, kv) for c in (SHORT, LONG)) for room in (budget(impl), binary)]
    shown = " and ".join(f"{a} to {b}" for a, b in pairs)
    return Outcome(all(a == 2 * b for a, b in pairs), f"4,096 to 8,192 tokens: {shown}; the rest is rounded down")


def _mixed_pool(impl: Any) -> Outcome:
    server = realistic(impl)
    kv, room = server.kv_bytes_per_token, budget(impl)
    brief, lengthy = (fitting(impl, c, room, kv) for c in (TWO_K, THIRTY_TWO_K))
    taken = impl.kv_bytes_per_sequence(context=THIRTY_TWO_K, kv_bytes_per_token=kv)
    left = fitting(impl, TWO_K, room - lengthy * taken, kv)
    stall, usual = server.prefill_time(THIRTY_TWO_K), server.prefill_time(TWO_K)
    return Outcome(
        left < brief and stall > usual,
        f"{lengthy} sequences of 32K leave room for {left} instead of {brief} of 2K; each takes {gigabytes(taken, 1)} "
        f"and its prefill {float(stall):.2f} s against {float(usual):.2f} s",
    )


CLAIMS = (
    Claim("C141", SECTION, "A 4K context has 16 million attention scores in each layer.", _scores_per_layer),
    Claim(
        "C142",
        SECTION,
        "The memory of attention grows with the square of the length.",
        _attention_memory,
        assumption="the scores are stored; a fused kernel does not store them",
    ),
    Claim("C143", SECTION, "The compute of attention grows with the square of the length.", _attention_compute),
    Claim(
        "C144",
        SECTION,
        "Twice the context takes four times the resources.",
        _quadruple,
        contradicts=("C42", "C43", "C79", "C154"),
    ),
    Claim(
        "C145",
        SECTION,
        "Context length is the most important parameter of capacity planning.",
        unchecked="it ranks parameters without a measure to rank them by",
    ),
    Claim(
        "C146",
        SECTION,
        "A fleet sized for contexts of 4K cannot serve 16K.",
        _fleet,
        assumption="as many sequences as before, near a full cache",
    ),
    Claim(
        "C147",
        SECTION,
        "What a longer context takes grows faster than its length.",
        _worse_than_linear,
        assumption="prefill is meant; the cache grows exactly with the length",
    ),
    Claim(
        "C148",
        SECTION,
        "Generation is as fast after a long prompt as after a short one.",
        _same_speed,
        assumption="both share one batch, or the caches of a batch are small against the weights",
        contradicts=("C135",),
    ),
    Claim(
        "C149",
        SECTION,
        "A prompt of 2,000 tokens does not slow the 100 tokens that follow.",
        _no_slowdown,
        contradicts=("C135",),
    ),
    Claim(
        "C150",
        SECTION,
        "A queue at 40 % utilisation means that memory is the bottleneck.",
        _memory_bound,
        assumption="the cache is at least 90 % full",
    ),
    Claim("C151", SECTION, "Compute is 40 % used because decode needs one token a step.", _forty_per_cent),
    Claim(
        "C152",
        SECTION,
        "Once the cache is 90 % full no request can start.",
        _nothing_starts,
        assumption="a request reserves more than what is left",
    ),
    Claim(
        "C153",
        SECTION,
        "Such a queue calls for fewer sequences or more memory, and not for compute.",
        fewer_sequences,
        contradicts=("C26",),
    ),
    Claim(
        "C154",
        SECTION,
        "Twice the context halves the number of sequences exactly.",
        _exact_halves,
        contradicts=("C63", "C64", "C144"),
    ),
    Claim("C155", SECTION, "Sequences of 32K starve those of 2K on the same GPUs.", _mixed_pool),
)
