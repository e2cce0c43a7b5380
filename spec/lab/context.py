"""Steps 10 and 11: what a longer context does to the first token, and to those after it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from spec.claims import Outcome
from spec.claims.servers import ms, times
from spec.claims.settings import Serving, rounds_to
from spec.claims.simulated import room_of, timing_of
from spec.lab.step import Step, claim
from spec.serving.batching import Continuous
from spec.serving.engine import Engine
from spec.serving.request import Request
from spec.serving.server import Server

PROMPTS = range(512, 8193, 512)
DOUBLED = (512, 1024, 2048, 4096)
STRAIGHT = Fraction(995, 1000)
DOUBLE, MORE, MOST = Fraction(2), Fraction(21, 10), Fraction(22, 10)
FIVE, FLAT = 5, Fraction(1005, 1000)
CONTEXTS = (1, *range(64, 8193, 64))
SHORT, LONG, OUTPUT = 100, 2000, 100
HUNDREDTH = Fraction(1, 100)


def _straightness(xs: Sequence[int], ys: Sequence[Any]) -> Fraction:
    """Return the share of the variance that the best straight line explains (R squared), exactly."""
    middle, height = Fraction(sum(xs), len(xs)), Fraction(sum(ys)) / len(ys)
    along = sum((x - middle) * (y - height) for x, y in zip(xs, ys, strict=True))
    spreads = [sum((value - mean) ** 2 for value in values) for values, mean in ((xs, middle), (ys, height))]
    return Fraction(along) ** 2 / (Fraction(spreads[0]) * spreads[1])


def _about_linear(impl: Any) -> Outcome:
    server = Serving(impl)
    found = [impl.ttft(wait=0, prefill_time=server.prefill_time(n)) for n in PROMPTS]
    straight = _straightness(PROMPTS, found)
    return Outcome(
        all(a < b for a, b in pairwise(found)) and straight > STRAIGHT,
        f"R squared {float(straight):.5f} from {ms(found[0])} at {PROMPTS[0]} to {ms(found[-1], 1)} at "
        f"{PROMPTS[-1]:,} tokens",
    )


def _doubled(impl: Any) -> Outcome:
    server = Serving(impl)
    ratios = [server.prefill_time(2 * n) / server.prefill_time(n) for n in DOUBLED]
    return Outcome(
        all(DOUBLE <= ratio <= MOST for ratio in ratios) and ratios[-1] > MORE,
        ", ".join(times(ratio, 3) for ratio in ratios) + f" from {DOUBLED[0]} on",
    )


def _flat(impl: Any) -> Outcome:
    server = Serving(impl)
    above, below = (server.prefill_time(a) / server.prefill_time(b) for a, b in ((1000, 100), (100, 50)))
    return Outcome(
        above > FIVE and below < FLAT, f"1,000 against 100 tokens {times(above, 3)}, 100 against 50 {times(below, 5)}"
    )


def _slower(impl: Any) -> Outcome:
    server = Serving(impl)
    steps = [server.decode_step_time(1, c) for c in CONTEXTS]
    return Outcome(
        all(a < b for a, b in pairwise(steps)),
        f"{ms(steps[0], 3)} behind {CONTEXTS[0]} token, {ms(steps[-1], 3)} behind {CONTEXTS[-1]:,}, longer at each of "
        f"{len(CONTEXTS)} contexts",
    )


def _by_a_token(impl: Any) -> Outcome:
    server = Serving(impl)
    token = Fraction(server.kv_bytes_per_token) / server.rates["bandwidth"]
    slopes = {server.decode_step_time(1, c + 1) - server.decode_step_time(1, c) for c in (1, 1000, 8191)}
    whole = server.decode_step_time(1, 8192) / server.decode_step_time(1, 1024)
    return Outcome(
        slopes == {token},
        f"{float(10**6 * token):.5f} us a token, the time to read its cache; 8,192 against 1,024 tokens "
        f"{times(whole, 3)}",
    )


def _simulated(server: Serving, prompt: int, batch: int) -> Fraction:
    """Return the seconds of the decode steps of a batch, as the simulator runs them once all prompts are there."""
    simulated = Server(timing_of(server), room_of(server), batching=Continuous(batch))
    run = Engine(simulated, [Request(n, 0, prompt, OUTPUT + 1) for n in range(batch)]).run()
    return Fraction(run.tally.decode, run.ticks_per_second)


def _behind_a_prompt(impl: Any) -> Outcome:
    server = Serving(impl)
    found, agree = {}, True
    for batch in (1, 16):
        by_law = [
            sum(server.decode_step_time(batch, prompt + made) for made in range(OUTPUT)) for prompt in (LONG, SHORT)
        ]
        agree = agree and by_law == [_simulated(server, prompt, batch) for prompt in (LONG, SHORT)]
        found[batch] = Fraction(by_law[0]) / by_law[1]
    return Outcome(
        agree and rounds_to(found[1], 107, HUNDREDTH) and rounds_to(found[16], 209, HUNDREDTH),
        f"{times(found[1], 3)} alone and {times(found[16], 3)} in a batch of 16, by the laws and "
        f"{'as much' if agree else 'not as much'} when run",
    )


STEPS = (
    Step(
        "The time to the first token",
        (
            claim(28, "The time to the first token grows with the prompt, nearly on a straight line.", _about_linear),
            claim(
                29, "A doubled prompt takes two to 2.2 times as long, and the longest over 2.1: attention.", _doubled
            ),
            claim(
                30,
                "A prompt of 1,000 takes over five times as long as one of 100, and that hardly longer than 50.",
                _flat,
            ),
        ),
    ),
    Step(
        "The tokens after it",
        (
            claim(31, "A longer context makes every step longer.", _slower),
            claim(32, "A cached token adds the time that reading it takes.", _by_a_token),
            claim(
                33,
                "After 2,000 tokens instead of 100 a step takes 1.07 times as long, by sixteen 2.09.",
                _behind_a_prompt,
            ),
        ),
    ),
)
