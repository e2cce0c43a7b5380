"""What the chapter tells of two pools of one model, before and after their repair (C1 to C11)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from spec.catalog import gpu
from spec.claims import Claim, Outcome
from spec.claims.replayed import attribution, back_to_40
from spec.claims.settings import (
    CHAPTER_ACTIVATIONS,
    CHAPTER_WEIGHTS,
    PEAK,
    REALISTIC,
    Efficiency,
    Serving,
    first,
    gigabytes,
    kv_budget,
    percent,
    text,
)

# Documents of a queue in their order, in tokens: each alone fits either card, and the first of them together do not.
QUEUE = (
    5_000,
    1_377,
    8_000,
    12_000,
    2_000,
    6_000,
    3_000,
    9_000,
    4_000,
    1_500,
    7_000,
    2_500,
    5_500,
    10_000,
    3_500,
    6_500,
)
LONGEST_OUTPUT = 256


def _mix(impl: Any) -> Outcome:
    def prefill_share(prompt: int, output: int, batch: int, efficiency: Efficiency) -> Fraction:
        at = Serving(impl, **efficiency)
        prefill = batch * at.prefill_time(prompt)
        return Fraction(prefill / (prefill + output * at.decode_step_time(batch, prompt + output // 2)))

    half = Fraction(1, 2)
    chat = [prefill_share(200, 400, batch, PEAK) for batch in (1, 12)]
    summary = [prefill_share(6_000, 200, batch, PEAK) for batch in (1, 3, 12)]
    large = prefill_share(6_000, 200, 12, REALISTIC)
    return Outcome(
        general=max(chat) < half < min(summary),
        assuming=max(chat) < half < large,
        computed=f"share of GPU time in prefill: chat {percent(chat[0], 2)} (batch 1) and {percent(chat[1], 2)} (12); "
        f"summaries {', '.join(percent(share, 2) for share in summary)} at batch 1, 3, 12 at peak, "
        f"{percent(large, 2)} at batch 12 with MFU .5 and MBU .8",
    )


def _chat_pool(impl: Any) -> Outcome:
    def budget(gpu_name: str) -> Any:
        return impl.kv_budget(
            gpu_memory_reported=gpu(gpu_name).marketed.base,
            memory_utilization=Fraction(2, 5),
            weights=CHAPTER_WEIGHTS,
            activations=0,
            runtime_memory=0,
        )

    at, small, large = Serving(impl), budget("a100-40gb"), budget("a100-80gb")
    prefill = Serving(impl, gpu_name="a100-40gb", **REALISTIC).prefill_time(200)
    return Outcome(
        general=at.fits(small, 1, 4_096) and prefill < 1,
        assuming=at.fits(large, 1, 4_096) and prefill < 1,
        computed=f"40 % leaves {text(at.token_capacity(small))} tokens of cache on a 40 GB card, "
        f"{text(at.token_capacity(large))} on an 80 GB card; "
        f"a prompt of 200 tokens takes {text(1000 * prefill)} ms",
    )


def _summary_pool(impl: Any) -> Outcome:
    memory = gpu("a100-80gb").marketed.base
    used = CHAPTER_WEIGHTS + CHAPTER_ACTIVATIONS + kv_budget(impl)
    return Outcome(
        general=used == Fraction(95, 100) * memory,
        computed=f"weights, activations and cache are {gigabytes(used)} of {gigabytes(memory)}: "
        f"{percent(used / memory)}",
    )


def _long_documents(impl: Any) -> Outcome:
    at, budget = Serving(impl), kv_budget(impl, "a100-40gb")
    together = first(lambda count: not at.fits(budget, count, 6_000))
    return Outcome(
        general=not at.fits(budget, 1, 6_001),
        assuming=not at.fits(budget, 5, 6_000),
        computed=f"{text(at.token_capacity(budget))} tokens fit a 40 GB card; "
        f"documents of 6,000 overflow it from {together} at once",
    )


def _more_memory(impl: Any) -> Outcome:
    at = Serving(impl)
    small, large = kv_budget(impl, "a100-40gb"), kv_budget(impl)

    def breaks(context: int, batch: int) -> bool:
        return not at.fits(large, batch, context)

    needed = first(lambda context: breaks(context, 5))
    batches = {context: first(partial(breaks, context)) for context in (8_000, 5_000)}
    broke = not at.fits(small, 5, 6_000)
    return Outcome(
        general=broke and not at.fits(large, 5, 6_000),
        assuming=broke and not at.fits(large, 13, 8_000) and not at.fits(large, 21, 5_000),
        computed=f"{text(at.token_capacity(large) / Fraction(at.token_capacity(small)))} times the tokens: "
        f"the batch of 5 that broke at 6,000 breaks from {text(needed)} tokens; "
        f"a batch breaks from {batches[8_000]} documents of 8,000 and {batches[5_000]} of 5,000",
    )


def _uncorrelated(impl: Any) -> Outcome:
    at, budget = Serving(impl), kv_budget(impl)
    capacity = at.token_capacity(budget)
    padded, unpadded = 16 * 8_000, 15 * 5_000 + 8_000
    return Outcome(
        general=at.fits(budget, 12, 8_000) and at.fits(budget, 16, 5_000) and not at.fits(budget, 16, 8_000),
        computed=f"of {text(capacity)} tokens, 12 x 8,000 = {12 * 8_000:,} and 16 x 5,000 = {16 * 5_000:,} fit; "
        f"15 x 5,000 beside one 8,000 pads to {padded:,} and fails (unpadded {unpadded:,})",
    )


def _combination(impl: Any) -> Outcome:
    at, budget = Serving(impl), kv_budget(impl)
    each_alone = all(at.fits(budget, 1, length) for length in QUEUE)
    together = at.fits(budget, len(QUEUE), max(QUEUE))
    return Outcome(
        general=each_alone and not together,
        computed=f"{text(at.token_capacity(budget))} tokens hold each of {len(QUEUE)} documents, up to {max(QUEUE):,}; "
        f"padded together they take {len(QUEUE) * max(QUEUE):,}, and the one of {min(QUEUE):,} is lost with them",
    )


def _full_batch(_: Any) -> Outcome:
    documents, batch, rate, timeout = 600, 16, Fraction(1, 5), 20

    def started(*, partial_batches: bool) -> int:
        return documents if partial_batches else documents // batch * batch

    return Outcome(
        general=started(partial_batches=False) == documents,
        assuming=started(partial_batches=True) == documents,
        computed=f"of {documents} documents in batches of {batch}, {documents - started(partial_batches=False)} never "
        f"start; at {text(rate)}/s a batch takes {text((batch - 1) / rate)} s to fill, and a time-out of {timeout} s "
        f"starts one of about {text(rate * timeout + 1)}",
    )


def _joins_if_it_fits(impl: Any) -> Outcome:
    at, budget = Serving(impl), kv_budget(impl, "a100-40gb")
    prompt = 6_000
    by_prompt = at.concurrency(budget, prompt)
    reserved = impl.sequences_per_gpu(
        prompt=prompt, output=LONGEST_OUTPUT * 4, kv_budget=budget, kv_bytes_per_token=at.kv_bytes_per_token
    )
    final = prompt + LONGEST_OUTPUT * 4
    return Outcome(
        general=at.fits(budget, by_prompt, final),
        assuming=at.fits(budget, reserved, final),
        computed=f"prompts of {prompt:,} admit {text(by_prompt)}, which grow to {text(by_prompt * final)} of "
        f"{text(at.token_capacity(budget))} tokens with outputs of {LONGEST_OUTPUT * 4:,}; reserving both admits "
        f"{text(reserved)}",
    )


CLAIMS = (
    Claim(
        "C1",
        "story",
        "Chat has short prompts and long outputs and is bound by latency; summaries have long prompts and short "
        "outputs and are bound by throughput, the work of prefill.",
        _mix,
        "summaries run in large batches at MFU .5 and MBU .8",
    ),
    Claim(
        "C2",
        "story",
        "The chat pool uses 40 % of GPU memory and answers in under a second.",
        _chat_pool,
        "80 GB cards; a 40 GB card would be nearly idle, without room for one sequence of 4,096 tokens",
    ),
    Claim("C3", "story", "The summary pool uses 95 % of GPU memory.", _summary_pool),
    Claim(
        "C4",
        "story",
        "Documents above 6,000 tokens sometimes ran out of memory.",
        _long_documents,
        "five or more of them are in memory at once",
    ),
    Claim(
        "C5",
        "story",
        "Going from 40 GB to 80 GB did not end the failures.",
        _more_memory,
        "the batch grew too, to 13 documents of 8,000 tokens or 21 of 5,000",
    ),
    Claim(
        "C6",
        "story",
        "Some documents of 8,000 tokens succeed while some of 5,000 fail.",
        _uncorrelated,
    ),
    Claim("C7", "story", "Documents fail for being together, not for being too long.", _combination),
    Claim(
        "C8",
        "story",
        "Static batching collects requests until a batch is full and then runs it.",
        _full_batch,
        "a time-out starts a batch that does not fill",
    ),
    Claim(
        "C9",
        "story",
        "Continuous batching was the cure for running out of memory.",
        attribution,
    ),
    Claim(
        "C10",
        "story",
        "A sequence joined only when its cache would fit.",
        _joins_if_it_fits,
        "its cache means the prompt and the longest output",
    ),
    Claim("C11", "story", "Back on 40 GB cards, nothing ran out of memory any more.", back_to_40),
)
