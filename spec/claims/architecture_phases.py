"""Activation memory, prefill against decode, and the first steps of a memory budget (C44 to C57)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.catalog import gpu
from spec.claims import Claim, Outcome
from spec.claims.settings import (
    CHAPTER_ACTIVATIONS,
    CHAPTER_WEIGHTS,
    GB,
    MB,
    MS,
    REALISTIC,
    Serving,
    gigabytes,
    percent,
    rounds_to,
    text,
    within,
)

GPUS = ("v100", "a100-80gb", "rtx-4090", "a100-40gb", "h100", "l4", "l40s")
TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)
PRINTED_STEP, PRINTED_PREFILL = 20 * MS, 50 * MS  # the chapter's example of both phases


def _buffers(impl: Any, batch: int, prompt: int) -> dict[str, Any]:
    """Size the buffers of a forward pass, in bytes: one layer's, and the logits of all positions in fp32."""
    sizes = Serving(impl).sizes
    of = {"batch": batch, "prompt": prompt}
    return {
        "hidden": impl.hidden_activations(**of, hidden=sizes["hidden"], activation_width=2),
        "feed-forward": impl.feed_forward_activations(**of, intermediate=sizes["intermediate"], activation_width=2),
        "logits": impl.logit_bytes(**of, vocab=sizes["vocab"], logit_width=4),
        "scores": impl.score_bytes(**of, heads=sizes["heads"], activation_width=2),
    }


def _listed(buffers: dict[str, Any]) -> str:
    return ", ".join(f"{name} {text(size / Fraction(MB))} MB" for name, size in buffers.items())


def _prefill_activations(impl: Any) -> Outcome:
    once, wider, longer = _buffers(impl, 1, 4_096), _buffers(impl, 2, 4_096), _buffers(impl, 1, 8_192)
    return Outcome(
        general=all(wider[name] == 2 * size for name, size in once.items())
        and all(longer[name] == (4 if name == "scores" else 2) * size for name, size in once.items()),
        computed=f"4,096 tokens: {_listed(once)}; each doubles with the batch and the length, the scores of one layer "
        f"grow to {text(longer['scores'] / Fraction(once['scores']))} times with the length",
    )


def _decode_activations(impl: Any) -> Outcome:
    buffers = {name: size for name, size in _buffers(impl, 25, 1).items() if name != "scores"}
    return Outcome(
        general=sum(buffers.values()) < CHAPTER_ACTIVATIONS / 1000,
        computed=f"one token for each of 25 sequences: {_listed(buffers)}, against {gigabytes(CHAPTER_ACTIVATIONS)} "
        "set aside",
    )


def _share_of_total(impl: Any) -> Outcome:
    memory = gpu("a100-80gb").marketed.base
    low, high = (impl.activations(activation_share_of_total=share, gpu_memory=memory) for share in (TENTH, FIFTH))
    share = impl.activation_share_of_total(activations=CHAPTER_ACTIVATIONS, gpu_memory=memory)
    return Outcome(
        general=within(CHAPTER_ACTIVATIONS, low, high),
        computed=f"{gigabytes(low)} to {gigabytes(high)} of {gigabytes(memory)}; the chapter's 8 GB are "
        f"{percent(share)} of the total",
    )


def _checkpointing(impl: Any) -> Outcome:
    sizes = Serving(impl).sizes
    layer = _buffers(impl, 1, 4_096)["feed-forward"]

    def peak(*, kept_for_backward: int, checkpointing: bool) -> Any:
        return layer * (1 if checkpointing else max(1, kept_for_backward))

    def saved(kept_for_backward: int) -> Any:
        return peak(kept_for_backward=kept_for_backward, checkpointing=False) - peak(
            kept_for_backward=kept_for_backward, checkpointing=True
        )

    return Outcome(
        general=saved(kept_for_backward=0) > 0,
        computed=f"without a backward pass no layer is kept and it saves {text(saved(0))} bytes; training keeps "
        f"{sizes['layers']} layers and saves {gigabytes(saved(sizes['layers']))} "
        f"of {text(layer / Fraction(MB))} MB each",
    )


def _one_matrix(impl: Any) -> Outcome:
    def matrices(layers: int, heads: int) -> Any:
        head = impl.attention_scores_per_head(context=4_096)
        layer = impl.attention_scores_per_layer(attention_scores_per_head=head, heads=heads)
        return Fraction(impl.attention_scores(attention_scores_per_layer=layer, layers=layers), head)

    sizes = Serving(impl).sizes
    count = matrices(sizes["layers"], sizes["heads"])
    return Outcome(
        general=count == 1,
        assuming=matrices(1, 1) == 1,
        computed=f"{text(count)} matrices for {sizes['layers']} layers of {sizes['heads']} heads",
    )


def _same_prefill_time(impl: Any) -> Outcome:
    ratios = {}
    for name in GPUS:
        at = Serving(impl, gpu_name=name)
        ratios[name] = at.prefill_time(1_000) / at.prefill_time(100)
    half_more = Fraction(3, 2)

    def overhead(at: Serving) -> Any:
        return (at.prefill_time(1_000) - half_more * at.prefill_time(100)) / (half_more - 1)

    at = Serving(impl, **REALISTIC)
    long, short = at.prefill_time(1_000), at.prefill_time(100)
    return Outcome(
        general=all(ratio <= half_more for ratio in ratios.values()),
        computed=", ".join(f"{name} {text(ratio)}" for name, ratio in ratios.items())
        + f" times; {text(long / short)} on an A100-80 with MFU .5 and MBU .8, where 1.5 times takes "
        f"{text(overhead(at) / MS)} ms of fixed overhead, and {text(overhead(Serving(impl)) / MS)} ms at its peak",
    )


def _read_per_token(impl: Any) -> Outcome:
    at = Serving(impl, weights_given=CHAPTER_WEIGHTS)
    read = at.decode_bytes(1, 4_096)
    cache = read - CHAPTER_WEIGHTS
    rates = {name: gpu(name).quantities()["bandwidth"] for name in ("a100-80gb", "a100-40gb")}
    times = {name: read / rate for name, rate in rates.items()}
    return Outcome(
        general=rounds_to(cache, 2, GB) and rounds_to(read, 16, GB),
        computed=f"{gigabytes(read, 5)}: "
        + ", ".join(
            f"{text(time / MS)} ms = {text(impl.decode_rate(decode_step_time=time))} tokens/s on {name}"
            for name, time in times.items()
        ),
    )


def _read_grows(impl: Any) -> Outcome:
    at, context = Serving(impl), 4_096
    added = {at.decode_bytes(1, length + 1) - at.decode_bytes(1, length) for length in (1, 1_000, context)}
    time = at.decode_step_time(1, context + 1) - at.decode_step_time(1, context)
    return Outcome(
        general=added == {at.kv_bytes_per_token} and min(added) > 0,
        computed=f"{' or '.join(text(size) for size in sorted(added))} bytes and {text(time / MS * 1000)} us more for "
        "each token of a sequence",
    )


def _attention_linear(impl: Any) -> Outcome:
    at = Serving(impl)

    def attention(context: int) -> Any:
        return at.decode_flops(1, context) - at.flops_per_token

    lengths = (1, 512, 4_096)
    return Outcome(
        general=all(attention(2 * length) == 2 * attention(length) for length in lengths),
        computed=f"twice the context takes {text(Fraction(attention(8_192)) / attention(4_096))} times the FLOPs of "
        f"attention, {percent(Fraction(attention(4_096)) / at.decode_flops(1, 4_096))} of a step at 4,096 tokens",
    )


def _bytes_of_output(impl: Any) -> Outcome:
    at = Serving(impl, weights_given=CHAPTER_WEIGHTS)
    produced = {
        "token id": 4,
        "new cache": at.kv_bytes_per_token,
        "logits in fp16": impl.logit_bytes(batch=1, prompt=1, vocab=at.sizes["vocab"], logit_width=2),
    }
    hundreds = (100, 999)
    return Outcome(
        general=any(within(size, *hundreds) for size in produced.values()),
        computed=f"{gigabytes(at.decode_bytes(1, 4_096))} are read for "
        + ", ".join(f"{name} {text(size)} bytes" for name, size in produced.items()),
    )


def _ten_to_hundred(impl: Any) -> Outcome:
    prompt, output, slower = 1_000, 1_000, (10, 100)

    def ratio(at: Serving) -> Any:
        tpot = at.decode_step_time(1, prompt + output // 2)
        return impl.phase_ratio(prompt=prompt, prefill_time=at.prefill_time(prompt), tpot=tpot)

    ratios = {name: ratio(Serving(impl, gpu_name=name)) for name in GPUS}
    short = [Serving(impl).phase_ratio(length) for length in slower]
    return Outcome(
        general=all(within(value, *slower) for value in ratios.values()),
        assuming=all(within(value, *slower) for value in short),
        computed="1,000 tokens after 1,000: "
        + ", ".join(f"{name} {text(value)}" for name, value in ratios.items())
        + f" times; {text(ratio(Serving(impl, **REALISTIC)))} on an A100-80 with MFU .5 and MBU .8; "
        f"{text(short[0])} and {text(short[1])} for prompts of {slower[0]} and {slower[1]} tokens",
    )


def _fifty_a_second(impl: Any) -> Outcome:
    step = impl.decode_step_time(decode_rate=50)
    read = Serving(impl, weights_given=CHAPTER_WEIGHTS).decode_bytes(1, 4_096)
    rates = {name: gpu(name).quantities()["bandwidth"] for name in ("a100-80gb", "a100-40gb")}
    shares = {name: read / step / rate for name, rate in rates.items()}
    return Outcome(
        general=step == PRINTED_STEP and all(share <= 1 for share in shares.values()),
        computed=f"{text(step / MS)} ms a token, with 4,096 tokens of context a bandwidth utilisation of "
        + ", ".join(f"{percent(share)} on {name}" for name, share in shares.items()),
    )


def _forty_times(impl: Any) -> Outcome:
    def ratio(prompt: int) -> Any:
        return impl.phase_ratio(prompt=prompt, prefill_time=PRINTED_PREFILL, tpot=PRINTED_STEP)

    forty, at = 40, Serving(impl)
    return Outcome(
        general=ratio(1_000) == forty,
        assuming=ratio(100) == forty,
        computed=f"{text(ratio(100))} times for a prompt of 100 tokens in 50 ms, {text(ratio(1_000))} for 1,000; the "
        f"roofline takes {text(at.prefill_time(100) / MS)} ms for 100",
    )


def _share_of_remaining(impl: Any) -> Outcome:
    of = {"gpu_memory": gpu("a100-80gb").marketed.base, "weights": CHAPTER_WEIGHTS}
    low, high = (impl.activations(activation_share_of_remaining=share, **of) for share in (TENTH, FIFTH))
    share = impl.activation_share_of_remaining(activations=CHAPTER_ACTIVATIONS, **of)
    return Outcome(
        general=within(share, TENTH, FIFTH),
        computed=f"{gigabytes(low)} to {gigabytes(high)} of what the weights leave; the chapter's 8 GB are "
        f"{percent(share)} of it",
    )


CLAIMS = (
    Claim(
        "C44",
        "activation-memory",
        "The activations of prefill grow with batch and length.",
        _prefill_activations,
    ),
    Claim(
        "C45",
        "activation-memory",
        "The activations of decode are small.",
        _decode_activations,
    ),
    Claim(
        "C46",
        "activation-memory",
        "Set aside 10 to 20 % of GPU memory for activations.",
        _share_of_total,
        contradicts=("C57",),
    ),
    Claim(
        "C47",
        "activation-memory",
        "How much depends on activation checkpointing, among others.",
        _checkpointing,
    ),
    Claim(
        "C48",
        "prefill-decode",
        "The attention matrix of a prompt is computed once.",
        _one_matrix,
        "a model of one layer with one head",
    ),
    Claim(
        "C49",
        "prefill-decode",
        "The prefill of 1,000 tokens takes about as long as that of 100.",
        _same_prefill_time,
        contradicts=("C13", "C79", "C134"),
    ),
    Claim(
        "C50",
        "prefill-decode",
        "Each token reads 14 GB of weights and, with a context of 4K, 2 GB of cache.",
        _read_per_token,
    ),
    Claim("C51", "prefill-decode", "What is read of the cache grows with every token.", _read_grows),
    Claim("C52", "prefill-decode", "Attention of one new token is linear in the context.", _attention_linear),
    Claim(
        "C53",
        "prefill-decode",
        "Decode reads gigabytes to give a few hundred bytes.",
        _bytes_of_output,
    ),
    Claim(
        "C54",
        "prefill-decode",
        "Decode is 10 to 100 times slower for each token than prefill.",
        _ten_to_hundred,
        "prompts of 10 to 100 tokens",
        contradicts=("C133",),
    ),
    Claim("C55", "prefill-decode", "Decode at 50 tokens a second takes 20 ms a token.", _fifty_a_second),
    Claim(
        "C56",
        "prefill-decode",
        "20 ms a token is 40 times slower than a prefill of 50 ms.",
        _forty_times,
        "a prompt of 100 tokens",
        contradicts=("C166",),
    ),
    Claim(
        "C57",
        "memory-budgeting",
        "Set aside 10 to 20 % of what the weights leave for activations.",
        _share_of_remaining,
        contradicts=("C46",),
    ),
)
