"""How long an iteration takes, in whole ticks: by the roofline laws, or by the size of the batch alone.

A tick is the largest part of a nanosecond in which every time of the model is a whole number. So nothing is rounded:
times are those of the laws, and many steps at once take exactly as long as one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Protocol

from spec.serving.request import NANOSECONDS

if TYPE_CHECKING:
    from spec.solving import Exact  # loads SymPy, which a judge does without

Chunks = Sequence[tuple[int, int]]  # (tokens before, tokens worked on) for each prompt of an iteration


class Timing(Protocol):
    """What the engine asks of a time model. `cached` counts the tokens that the decoding requests read."""

    @property
    def ticks_per_second(self) -> int:
        """A multiple of 10^9."""

    def iteration(self, decoding: int, cached: int, chunks: Chunks) -> int:
        """Return the ticks of one iteration: a token for each decoding request, and chunks of prompts."""

    def run(self, decoding: int, cached: int, steps: int) -> int:
        """Return the ticks of several decode steps, over which each request caches one more token a step."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """The longer of arithmetic and memory traffic, as in `phases.prefill_time` and `phases.decode_step_time`.

    A step that does both reads the weights once. Build it with `roofline`.

    Attributes:
        ticks_per_second: a multiple of 10^9.
        token: ticks of arithmetic for a token through the matrices.
        pair: ticks of arithmetic for half a pair of tokens in attention.
        weights: ticks to read the weights.
        cache: ticks to read or write the cache of a token.
        overhead: ticks that every iteration takes besides.
    """

    ticks_per_second: int
    token: int
    pair: int
    weights: int
    cache: int
    overhead: int = 0

    def iteration(self, decoding: int, cached: int, chunks: Chunks) -> int:
        """Return the ticks of one iteration; none where there is nothing to do."""
        new, seen, pairs = decoding, cached, 2 * cached
        for before, tokens in chunks:
            new += tokens
            seen += before + tokens
            pairs += tokens * (2 * before + tokens)
        if not new:
            return 0
        return max(self.token * new + self.pair * pairs, self.weights + self.cache * seen) + self.overhead

    def run(self, decoding: int, cached: int, steps: int) -> int:
        """Return the ticks of several decode steps, summed piece by piece of the roof."""
        if not decoding:
            return 0
        work, more_work = self.token * decoding + 2 * self.pair * cached, 2 * self.pair * decoding
        traffic, more_traffic = self.weights + self.cache * cached, self.cache * decoding
        # The two lines cross at most once: `first` steps lie before that.
        ahead, gaining = traffic - work, more_traffic - more_work
        traffic_first = ahead > 0 or (ahead == 0 and gaining >= 0)
        first = steps
        if ahead * gaining < 0:
            first = min(steps, -(-abs(ahead) // abs(gaining)))
        lines = [(work, more_work), (traffic, more_traffic)]
        start, then = lines[traffic_first], lines[not traffic_first]
        return _series(*start, 0, first) + _series(*then, first, steps) + self.overhead * steps


@dataclass(frozen=True, slots=True)
class BySize:
    """Every step takes what the number of its sequences says, and every prefill pass what the number of prompts says.

    Attributes:
        step: nanoseconds of a decode step, by the sequences in it.
        prefill: nanoseconds that a pass takes longer for the prompts in it, by their number.
    """

    step: Callable[[int], int]
    prefill: Callable[[int], int] = lambda _: 0
    ticks_per_second: int = NANOSECONDS

    def iteration(self, decoding: int, _cached: int, chunks: Chunks) -> int:
        """Return the ticks of one iteration."""
        return (self.step(decoding) if decoding else 0) + (self.prefill(len(chunks)) if chunks else 0)

    def run(self, decoding: int, _cached: int, steps: int) -> int:
        """Return the ticks of several decode steps."""
        return self.step(decoding) * steps if decoding else 0


def roofline(
    *,
    weights: Exact,
    kv_bytes_per_token: Exact,
    flops_per_token: Exact,
    attention_flops_per_pair: Exact,
    compute: Exact,
    bandwidth: Exact,
    mfu: Exact = 1,
    mbu: Exact = 1,
    overhead: Exact = 0,
) -> Roofline:
    """Build the time model of a model on a GPU from quantities of the laws, in their units.

    Args:
        weights: bytes of weights that every iteration reads.
        kv_bytes_per_token: bytes of cache of a token.
        flops_per_token: arithmetic of the matrices for a token.
        attention_flops_per_pair: arithmetic of causal attention for each square of the prompt.
        compute: peak FLOP per second.
        bandwidth: peak bytes per second.
        mfu: share of the compute that is reached.
        mbu: share of the bandwidth that is reached.
        overhead: seconds that every iteration takes besides.
    """
    work, traffic = Fraction(compute) * mfu, Fraction(bandwidth) * mbu
    seconds = {
        "token": flops_per_token / work,
        "pair": attention_flops_per_pair / work,
        "weights": weights / traffic,
        "cache": kv_bytes_per_token / traffic,
        "overhead": Fraction(overhead),
    }
    ticks = lcm(NANOSECONDS, *(part.denominator for part in seconds.values()))
    return Roofline(ticks, **{name: int(part * ticks) for name, part in seconds.items()})


def steps_within(timing: Timing, decoding: int, cached: int, most: int, ticks: int) -> int:
    """Return how many decode steps it takes to last at least so many ticks, or `most` where fewer do not."""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if timing.run(decoding, cached, middle) >= ticks:
            high = middle
        else:
            low = middle + 1
    return low


def _series(first: int, more: int, start: int, end: int) -> int:
    return first * (end - start) + more * (end * (end - 1) - start * (start - 1)) // 2
