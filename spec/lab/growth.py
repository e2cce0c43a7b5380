"""Steps 1 to 3: attention grows with the square of the length, the cache with the length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from spec.catalog import model
from spec.claims import Outcome
from spec.claims.servers import gigabytes, kv_of
from spec.claims.settings import CHAPTER_WEIGHTS, GIB, text
from spec.lab.step import Step, claim

LENGTHS = (512, 1024, 2048, 4096, 8192)
CONTEXT = 4096
CACHED = {"chapter-7b": 524_288, "llama-3-8b": 131_072, "gemma-7b": 458_752}  # bytes a token, by their configurations
TEN, TWOFOLD, FOURFOLD = 10, 2, 4


def _ratios(values: Sequence[Any]) -> list[Fraction]:
    """Return what each doubling of the length multiplies a value by."""
    return [Fraction(later) / before for before, later in pairwise(values)]


def _listed(values: Sequence[Any], digits: int = 0) -> str:
    return ", ".join(f"{float(value):.{digits}f}" for value in values)


def _slope(values: Sequence[Any]) -> float:
    """Return the slope of the straight line that fits the logarithms of values at the lengths best, for print."""
    xs, ys = [math.log2(n) for n in LENGTHS], [math.log2(value) for value in values]
    middle = sum(xs) / len(xs)
    return sum((x - middle) * y for x, y in zip(xs, ys, strict=True)) / sum((x - middle) ** 2 for x in xs)


def _scores(impl: Any) -> Outcome:
    ratios = _ratios([impl.attention_scores_per_head(context=n) for n in LENGTHS])
    return Outcome(set(ratios) == {4}, f"{_listed(ratios)} times the scores at each doubling from {LENGTHS[0]}")


def _per_layer(impl: Any) -> Outcome:
    head, heads = impl.attention_scores_per_head(context=CONTEXT), model("chapter-7b").quantities()["heads"]
    layer = impl.attention_scores_per_layer(attention_scores_per_head=head, heads=heads)
    return Outcome(
        head == CONTEXT * CONTEXT and layer == heads * CONTEXT * CONTEXT,
        f"{text(head)} scores in a head and {text(layer)} in the {heads} heads of a layer at {CONTEXT:,} tokens",
    )


def _fitted(impl: Any) -> Outcome:
    full = [impl.attention_scores_per_head(context=n) for n in LENGTHS]
    causal = [impl.causal_scores_per_head(context=n) for n in LENGTHS]
    # A doubling that multiplies by r has the slope log2(r), which lies between 1.99 and 2 exactly where r**100 does
    # between the powers of two below. The fitted slope lies between the smallest and the largest of these.
    nearly = all(2**199 < ratio**100 < 2**200 for ratio in _ratios(causal))
    return Outcome(
        set(_ratios(full)) == {4} and nearly,
        f"slope {_slope(full):.4f} for the full matrix and {_slope(causal):.5f} for the causal half",
    )


def _per_token(impl: Any) -> Outcome:
    found = {name: kv_of(impl, name) for name in CACHED}
    return Outcome(found == CACHED, ", ".join(f"{name} {text(value)}" for name, value in found.items()) + " B/token")


def _cache(impl: Any, context: int) -> Any:
    return impl.kv_bytes_per_sequence(context=context, kv_bytes_per_token=kv_of(impl))


def _additive(impl: Any) -> Outcome:
    ratios = _ratios([_cache(impl, n) for n in LENGTHS])
    whole, parts = _cache(impl, 1037), _cache(impl, 1000) + _cache(impl, 37)
    return Outcome(
        set(ratios) == {2} and whole == parts,
        f"{_listed(ratios)} times the cache at each doubling; 1,000 and 37 tokens take {text(parts)} bytes, and 1,037 "
        f"{text(whole)}",
    )


def _two_gib(impl: Any) -> Outcome:
    size = _cache(impl, CONTEXT)
    return Outcome(size == 2**31, f"{text(size)} bytes = {float(Fraction(size) / GIB):g} GiB = {gigabytes(size, 3)}")


def _contrast(impl: Any) -> Outcome:
    [scores] = _ratios([impl.attention_scores_per_head(context=n) for n in (2048, 4096)])
    [cache] = _ratios([_cache(impl, n) for n in (2048, 4096)])
    return Outcome(
        scores == FOURFOLD and cache == TWOFOLD, f"scores {float(scores):g} times, cache {float(cache):g} times"
    )


def _above_weights(impl: Any) -> Outcome:
    tokens = impl.cached_tokens(concurrency=TEN, context=CONTEXT)
    size = impl.kv_bytes_total(cached_tokens=tokens, kv_bytes_per_token=kv_of(impl))
    return Outcome(
        size == 20 * GIB and size > CHAPTER_WEIGHTS,
        f"{float(Fraction(size) / GIB):g} GiB = {gigabytes(size, 3)}, against {gigabytes(CHAPTER_WEIGHTS)} of weights",
    )


STEPS = (
    Step(
        "Attention grows with the square of the length",
        (
            claim(1, "Each doubling of the length makes exactly four times the scores.", _scores),
            claim(2, "A head has a score for each pair of tokens, and each head of a layer has its own.", _per_layer),
            claim(3, "On logarithmic scales the scores lie on a line of slope 2, the causal ones just below.", _fitted),
        ),
    ),
    Step(
        "The cache grows with the length",
        (
            claim(4, "A cached token takes what key-value heads, their width and layers say.", _per_token),
            claim(5, "Twice the tokens take twice the bytes, and parts add up to the whole.", _additive),
            claim(6, "4,096 tokens of the 7B take 2 GiB.", _two_gib),
        ),
        note="Of the three models only the 7B caches as many bytes as its hidden size suggests.",
    ),
    Step(
        "Scores and cache side by side",
        (
            claim(7, "From 2,048 to 4,096 tokens scores grow four times while the cache doubles.", _contrast),
            claim(8, "Ten sequences of 4,096 tokens cache more bytes than the weights of the 7B take.", _above_weights),
        ),
    ),
)
