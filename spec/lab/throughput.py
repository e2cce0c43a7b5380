"""Steps 12 and 13: what a larger batch gains and costs, and what a whole request takes."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from spec.claims import Outcome
from spec.claims.servers import mean_step, ms, throughput, times
from spec.claims.settings import Serving, first, rounds_to
from spec.claims.simulated import room_of, timing_of
from spec.lab.step import Step, claim
from spec.serving.engine import Engine
from spec.serving.request import Request
from spec.serving.server import Server

BATCH, CONTEXT = 8, 3072
PROMPT, OUTPUT = 512, 256
PROMPTS = tuple(2**power for power in range(4, 13))
EVEN = {256: 3, 1024: 8, 4096: 26}  # output tokens by the prompt after which they take as long, computed apart
SHORT, SHARE = range(16, 513), 85
TWO, MANY = 2, 2**16


def _gain(impl: Any) -> Outcome:
    server = Serving(impl)
    one, many = (throughput(server, batch, CONTEXT) for batch in (1, BATCH))
    return Outcome(
        rounds_to(many / one, 46, Fraction(1, 10)),
        f"{float(one):.1f} to {float(many):.1f} tok/s: {times(many / one, 3)}",
    )


def _cost(impl: Any) -> Outcome:
    server = Serving(impl)
    one, many = (server.decode_step_time(batch, CONTEXT) for batch in (1, BATCH))
    return Outcome(
        rounds_to(many / one, 175, Fraction(1, 100)), f"{ms(one)} to {ms(many)} a token: {times(many / one, 3)}"
    )


def _trade(impl: Any) -> Outcome:
    server = Serving(impl)
    share = impl.cache_to_weights(context=CONTEXT, kv_bytes_per_token=server.kv_bytes_per_token, weights=server.weights)
    by_law = impl.batching_gain(batch=BATCH, cache_to_weights=share)
    gain = throughput(server, BATCH, CONTEXT) / throughput(server, 1, CONTEXT)
    slower = server.decode_step_time(BATCH, CONTEXT) / server.decode_step_time(1, CONTEXT)
    return Outcome(
        gain * slower == BATCH and gain == by_law,
        f"{times(gain, 3)} and {times(slower, 3)} make {float(gain * slower):g}; a cache of {float(share):.4f} of the "
        f"weights gives {times(by_law, 3)} by the law",
    )


def _request(impl: Any) -> Outcome:
    server = Serving(impl)
    prefill, tpot = server.prefill_time(PROMPT), mean_step(server, PROMPT, PROMPT + OUTPUT - 2)
    total = impl.total_time(ttft=prefill, output=OUTPUT, tpot=tpot)
    run = Engine(Server(timing_of(server), room_of(server)), [Request(0, 0, PROMPT, OUTPUT)]).run()
    took = Fraction(run.end, run.ticks_per_second)
    return Outcome(
        total == took == prefill + (OUTPUT - 1) * tpot,
        f"{ms(prefill)} and {OUTPUT - 1} steps of {ms((OUTPUT - 1) * tpot)} in all; {ms(total)} by the law, {ms(took)} "
        "when run",
    )


def _dominates(impl: Any) -> Outcome:
    server = Serving(impl)

    def enough(prompt: int, output: int) -> bool:
        """Say whether the steps of an output, which grow with it, take at least as long as the prefill."""
        if output < TWO:
            return False
        tpot = mean_step(server, prompt, prompt + output - 2)
        return bool(impl.break_even_output(prefill_time=server.prefill_time(prompt), tpot=tpot) <= output)

    evens = {n: first(partial(enough, n), high=MANY) for n in EVEN}
    beyond = max((n for n in SHORT if not enough(n, n // SHARE)), default=0)
    shown = ", ".join(f"{even} after {n:,}" for n, even in evens.items())
    return Outcome(
        evens == EVEN and all(enough(n, n) for n in PROMPTS),
        f"from so many output tokens: {shown}; an 85th of the prompt is enough for all of {beyond + 1} to {SHORT[-1]}",
    )


STEPS = (
    Step(
        "A larger batch",
        (
            claim(34, "Eight sequences of 3,072 tokens make 4.6 times the tokens of one.", _gain),
            claim(35, "Each token of those eight takes 1.75 times as long.", _cost),
            claim(36, "Gain times slowdown is the batch, and the gain is what cache and weights say.", _trade),
        ),
        note="The gain of 4.6 belongs to contexts near 3,000 tokens and to multi-head attention.",
    ),
    Step(
        "A whole request",
        (
            claim(37, "The time of a request is its prefill and a step for each further token.", _request),
            claim(38, "Decode takes longer than prefill long before the output is as long as the prompt.", _dominates),
        ),
        note="The prompt of 256 tokens is one of the few shorter ones for which an 85th is enough too.",
    ),
)
