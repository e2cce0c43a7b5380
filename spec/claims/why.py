"""Why the chapter wants a model of serving at all (C12 to C14)."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.settings import Serving, percent, rounds_to, text

CHAPTER_PROMPTS = (1_000, 4_096, 8_192, 16_384)


def _tripled(impl: Any) -> Outcome:
    at = Serving(impl)

    def ratio(prompt: int) -> Fraction:
        attention = impl.prefill_attention_flops(
            prompt=prompt, **{name: at.sizes[name] for name in ("layers", "heads", "head_dim")}
        )
        return Fraction(
            impl.prefill_cost_ratio(
                prompt=prompt, flops_per_token=at.flops_per_token, prefill_attention_flops=attention
            )
        )

    # The ratio is 3 where both terms are equal: 2 P n = 2 L H n^2.
    equal = round(Fraction(at.parameters, at.sizes["layers"] * at.sizes["hidden"]))
    ratios = [ratio(prompt) for prompt in CHAPTER_PROMPTS]
    return Outcome(
        general=all(rounds_to(value, 3) for value in ratios),
        assuming=abs(ratio(equal) - 3) < Fraction(1, 1000),
        computed=", ".join(
            f"{text(value)} at {prompt:,}" for prompt, value in zip(CHAPTER_PROMPTS, ratios, strict=True)
        )
        + f"; 3 at {equal:,} tokens",
    )


def _longer_costs_more(impl: Any) -> Outcome:
    at = Serving(impl)
    prompts = (1, 50, 51, 100, 101, 153, 154, 1_000, 4_096)
    times = [at.prefill_time(prompt) for prompt in prompts]
    return Outcome(
        general=all(a < b for a, b in pairwise(times)),
        computed=f"each of {len(prompts)} prompts from 1 to {prompts[-1]:,} tokens takes longer than the one before: "
        f"{percent(at.prefill_time(100) / at.prefill_time(50) - 1, 1)} more for 100 than for 50, "
        f"{text(at.prefill_time(2_000) / at.prefill_time(1_000))} times for 2,000 against 1,000",
    )


CLAIMS = (
    Claim(
        "C12",
        "why",
        "The cost of inference tripled when the mean prompt doubled.",
        _tripled,
        "prompts near 51,000 tokens, where attention costs as much as the matrices",
    ),
    Claim(
        "C13",
        "why",
        "A longer prompt costs more before any output appears.",
        _longer_costs_more,
        contradicts=("C49",),
    ),
    Claim(
        "C14",
        "why",
        "A simulation without the arithmetic of the network shows what decides how production behaves.",
        unchecked="it is the aim that the other statements are checked for",
    ),
)
