"""Statements that the chapter makes in passing: in comments of its code, in symptoms and in advice (C171 to C177)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.servers import gigabytes, ms, realistic, throughput
from spec.claims.settings import CHAPTER_ACTIVATIONS, Serving, percent, text

CONTEXT = 4096
FULL, DRAINED = 25, (12, 6)  # sequences of a full batch, and of one that drains
PROMPT = 500  # tokens of a chat request
LIGHT, HEAVY = 5, 25  # requests a second


def _attention_anew(impl: Any) -> Outcome:
    server = Serving(impl)
    work = {n: server.decode_flops(1, n) - server.flops_per_token for n in (1, CONTEXT)}
    return Outcome(
        work[CONTEXT] <= work[1],
        f"keys and values are kept, but every step computes attention over all of them: {text(work[1])} FLOPs at a "
        f"context of 1 and {text(work[CONTEXT])} at {CONTEXT:,}, "
        f"{percent(Fraction(work[CONTEXT]) / server.decode_flops(1, CONTEXT))} of the step",
    )


def _activations(impl: Any, batch: int, prompt: int) -> Any:
    sizes = Serving(impl).sizes
    of = {"batch": batch, "prompt": prompt}
    return (
        impl.hidden_activations(**of, hidden=sizes["hidden"], activation_width=2)
        + impl.feed_forward_activations(**of, intermediate=sizes["intermediate"], activation_width=2)
        + impl.logit_bytes(**of, vocab=sizes["vocab"], logit_width=4)
    )


def _fixed_costs(impl: Any) -> Outcome:
    one, all_at_once = _activations(impl, 1, CONTEXT), _activations(impl, FULL, CONTEXT)
    return Outcome(
        one == all_at_once,
        f"the prefill of one prompt of {CONTEXT:,} tokens takes {gigabytes(one, 2)} and that of {FULL} at once "
        f"{gigabytes(all_at_once, 1)}, against {gigabytes(CHAPTER_ACTIVATIONS)} that are set aside whatever runs",
        assuming=one <= CHAPTER_ACTIVATIONS,
    )


def _high_throughput(impl: Any) -> Outcome:
    server = Serving(impl)
    rates = {batch: throughput(server, batch, CONTEXT) for batch in (FULL, *DRAINED)}
    shown = " and ".join(f"{float(rates[batch]):.0f} by {batch}" for batch in DRAINED)
    high = Fraction(9, 10) * rates[FULL]
    return Outcome(
        all(rates[batch] >= high for batch in DRAINED),
        f"{FULL} sequences of {CONTEXT:,} tokens make {float(rates[FULL]):.0f} tok/s; where nothing is prefilled those "
        f"that finish are not replaced, and it falls to {shown}",
        assuming=rates[FULL] == max(rates.values()),
    )


def _alert_on_prefill(impl: Any) -> Outcome:
    prefill, wait, limit = realistic(impl).prefill_time(CONTEXT), 10, 1
    after = impl.ttft(wait=wait, prompt=CONTEXT, prefill_rate=Fraction(CONTEXT) / prefill)
    return Outcome(
        after - wait > limit,
        f"behind a wait of {wait} s the prefill of {CONTEXT:,} tokens still takes {ms(after - wait, 0)}, which no "
        f"alert at {limit} s notices, and the first token comes after {ms(after, 0)}",
        assuming=after > limit,
    )


def _guarantee(impl: Any) -> Outcome:
    prefill = realistic(impl).prefill_time(PROMPT)
    loads = {rate: impl.mean_concurrency(arrival_rate=rate, service_time=prefill) for rate in (LIGHT, HEAVY)}
    return Outcome(
        loads[HEAVY] < 1,
        f"prompts of {PROMPT} tokens take {ms(prefill, 1)} each: at {LIGHT}/s that is {percent(loads[LIGHT])} of the "
        f"time, at {HEAVY}/s {percent(loads[HEAVY])}, and from 100 % the queue grows under every schedule",
        assuming=loads[LIGHT] < 1,
    )


CLAIMS = (
    Claim(
        "C171",
        "code",
        "With cached keys and values a model generates without computing attention again.",
        _attention_anew,
        contradicts=("C52",),
    ),
    Claim(
        "C172",
        "code",
        "Activations are a fixed cost, as the weights are.",
        _fixed_costs,
        "no more is prefilled at once than the reserve covers",
        ("C30",),
    ),
    Claim(
        "C173",
        "failures",
        "While new requests starve, throughput is high.",
        _high_throughput,
        "the batch stays full although nothing new is prefilled",
    ),
    Claim(
        "C174",
        "failures",
        "Alerts on percentiles of the prefill latency notice that requests starve.",
        _alert_on_prefill,
        "the latency counts from the arrival, with the wait",
    ),
    Claim(
        "C175",
        "failures",
        "Prefill can be scheduled so that a target for the first token is guaranteed.",
        _guarantee,
        "the load stays below what the server carries",
    ),
    Claim(
        "C176",
        "story",
        "The logs did not tell which documents were too long together.",
        unchecked="nobody has these logs",
    ),
    Claim(
        "C177",
        "scaling",
        "The overhead of continuous batching grows with the batch until it takes no more sequences.",
        unchecked="no law here gives the time that a scheduler itself takes",
    ),
)
