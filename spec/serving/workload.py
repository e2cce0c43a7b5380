"""What comes to a server: requests drawn from a seed, at a rate that may jump and climb."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from spec.serving.draws import Lengths, exponential
from spec.serving.request import NANOSECONDS, Job, Request
from spec.solving import Exact
from spec.stream import Stream

FINE = 2**53  # parts of the chance with which an arrival is kept


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of time in which the rate goes evenly from one value to another.

    Attributes:
        seconds: how long it lasts.
        rate: requests per second at its start.
        to: requests per second at its end; `rate` unless given.
    """

    seconds: Exact
    rate: Exact
    to: Exact | None = None

    def __post_init__(self) -> None:
        if self.seconds <= 0 or min(self.rate, self.end) < 0:
            raise ValueError("a phase lasts more than 0 seconds, at a rate of at least 0")

    @property
    def end(self) -> Exact:
        """Requests per second at its end."""
        return self.rate if self.to is None else self.to

    def at(self, nanoseconds: int) -> Fraction:
        """Return the rate so long after its start."""
        return self.rate + (self.end - self.rate) * Fraction(nanoseconds, NANOSECONDS) / self.seconds


@dataclass(frozen=True, slots=True)
class Workload:
    """Poisson arrivals with lengths from two distributions.

    The seed decides all of it. Arrivals, prompts and outputs are drawn apart, so that a change of one distribution
    leaves the others as they were.

    Attributes:
        phases: how the rate goes over time.
        prompt: tokens of the prompts.
        output: tokens of the outputs.
        max_tokens: the limit that each request states, and at which outputs are cut; its own output unless given.
        prefix: tokens that all prompts begin with, such as a system prompt; they come before those of `prompt`.
        block_size: tokens of a block, in which a common prefix can be shared.
    """

    phases: tuple[Phase, ...]
    prompt: Lengths
    output: Lengths
    max_tokens: int = 0
    prefix: int = 0
    block_size: int = 1

    def requests(self, seed: int, count: int | None = None) -> list[Request]:
        """Draw all requests of the phases, or the first `count` of them."""
        prompts, outputs = (
            lengths.draw(Stream("workload", name, seed))
            for name, lengths in (("prompt", self.prompt), ("output", self.output))
        )
        chain: tuple[Hashable, ...] = tuple(("prefix", n) for n in range(self.prefix // self.block_size))
        return [
            Request(
                number, arrival, self.prefix + prompt, min(output, self.max_tokens or output), self.max_tokens, chain
            )
            for number, (arrival, prompt, output) in enumerate(
                zip(islice(self.arrivals(seed), count), prompts, outputs, strict=False)
            )
        ]

    def arrivals(self, seed: int) -> Iterator[int]:
        """Give the nanosecond of each arrival: drawn at the highest rate of a phase, and kept as often as is due."""
        stream, start = Stream("workload", "arrivals", seed), 0
        for phase in self.phases:
            length = int(phase.seconds * NANOSECONDS)
            highest, steady = Fraction(max(phase.rate, phase.end)), phase.rate == phase.end
            now = 0 if highest else length
            while now < length:
                now += exponential(stream, NANOSECONDS / highest)
                if now < length and stream.below(FINE) < (FINE if steady else phase.at(now) / highest * FINE):
                    yield start + now
            start += length


def bursts(calm: Exact, burst: Exact, every: Exact, length: Exact, count: int) -> tuple[Phase, ...]:
    """Return phases of a calm rate that a burst interrupts `every` so many seconds for `length` seconds."""
    return (Phase(every - length, calm), Phase(length, burst)) * count


def clients(requests: Iterable[Request], count: int) -> tuple[list[Request], Callable[[Job, int], list[Request]]]:
    """Let so many clients send requests, each the next one as soon as its last one is answered.

    Returns the requests that are sent at the start, and what an `Engine` calls with each answer (`follow`). Times of
    arrival are not used. A client whose request is lost or turned away sends no other.
    """
    following = iter(requests)
    first = [replace(request, arrival=0) for request in islice(following, count)]

    def follow(_job: Job, now: int) -> list[Request]:
        return [replace(request, arrival=now) for request in islice(following, 1)]

    return first, follow
