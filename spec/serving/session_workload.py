"""Chat sessions that come to a server: when, for how long, what is said, and on what machine they meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import count, islice
from typing import NamedTuple

from spec.serving.draws import Lognormal, Uniform, exponential
from spec.serving.request import NANOSECONDS
from spec.serving.session_policy import WINDOW
from spec.serving.workload import Phase, Workload
from spec.solving import Exact
from spec.stream import Stream

MINUTE = 60  # seconds
MESSAGE = Lognormal(40, Fraction(4, 5), 5, 400)
PASTE, PASTES_IN_100 = Uniform(800, 2500), 3
REPLY_MEDIAN, REPLY_SIGMA, REPLY_LEAST = 160, Fraction(3, 5), 10
THINK_LEAST, THINK_MEAN = 3 * NANOSECONDS, Fraction(22 * NANOSECONDS)
RECENT = 4096  # users that are not drawn again for another policy
EXPECTED = NANOSECONDS // 40  # a token: what a user plans with
LONG, SHORT = 30 * MINUTE, Uniform(2 * MINUTE * NANOSECONDS, 6 * MINUTE * NANOSECONDS)


@dataclass(frozen=True)
class Circumstances:
    """What a policy has to cope with.

    Attributes:
        model, gpu: of the catalogue, by name.
        per_minute: sessions that come in a minute, over 0.
        window: tokens of the longest context of the model.
        reply_limit: the longest reply in tokens.
        system: tokens of the system prompt, with which every history begins.
        shared_prefix: the cache of the system prompt is there once for all sessions.
        seconds: how long the server is looked at.
        warm_up: seconds from the start that are not measured.
        host_bytes: memory of the host for caches.
        host_rate: bytes per second between the GPU and the host.
        restart: seconds that the server is away after it ran out of memory.
    """

    model: str = "chapter-7b"
    gpu: str = "a100-80gb"
    per_minute: Exact = Fraction(11, 5)
    window: int = WINDOW
    reply_limit: int = 512
    system: int = 200
    shared_prefix: bool = False
    seconds: int = 5400
    warm_up: int = 1800
    host_bytes: int = 64 * 10**9
    host_rate: int = 20 * 10**9
    restart: int = 30

    def __post_init__(self) -> None:
        if self.window < self.system + PASTE.high + self.reply_limit:
            raise ValueError(f"a window of {self.window} tokens does not hold the longest message and its reply")
        if not (self.per_minute > 0 and 0 <= self.warm_up < self.seconds and min(self.host_bytes, self.restart) >= 0):
            raise ValueError("sessions come at a rate over 0, and are measured for some time")
        if self.reply_limit < REPLY_LEAST or min(self.system, self.host_rate) < 1:
            raise ValueError(f"a reply may have {REPLY_LEAST} tokens, and a system prompt and a second some")


class Said(NamedTuple):
    """A message and the reply to it.

    Attributes:
        message: tokens of the message.
        reply: tokens of the reply.
        think: nanoseconds from the reply to the next message.
        due: nanoseconds after the first message at which this one is expected.
    """

    message: int
    reply: int
    think: int
    due: int


@dataclass(frozen=True, slots=True)
class Script:
    """A user.

    Attributes:
        number: counts the users by their time of coming.
        arrival: the nanosecond of the first message.
        turns: what is said.
    """

    number: int
    arrival: int
    turns: Iterable[Said]


class Conversation:
    """What is said, drawn when somebody comes to it, and kept for the next one who does."""

    def __init__(self, source: Iterator[Said]) -> None:
        self._source, self._drawn = source, list[Said]()

    def __iter__(self) -> Iterator[Said]:
        for place in count():
            if place == len(self._drawn):
                self._drawn += islice(self._source, 1)
            if place == len(self._drawn):
                return
            yield self._drawn[place]


def scripts(circumstances: Circumstances, seed: int) -> list[Script]:
    """Draw all users of a seed. What each one says depends on the seed and its number alone, not on the policy."""
    minute = Fraction(circumstances.per_minute) / MINUTE
    arrivals = Workload((Phase(circumstances.seconds, minute),), MESSAGE, MESSAGE).arrivals(seed)
    return [Script(number, arrival, turns(circumstances, seed, number)) for number, arrival in enumerate(arrivals)]


def turns(circumstances: Circumstances, seed: int, number: int) -> Iterable[Said]:
    """Give what a user says and what is answered: as much as the conversation has time for at the expected pace."""
    return _conversation(circumstances.reply_limit, seed, number)


@lru_cache(RECENT)
def _conversation(reply_limit: int, seed: int, number: int) -> Conversation:
    return Conversation(_drawn(reply_limit, seed, number))


def _drawn(reply_limit: int, seed: int, number: int) -> Iterator[Said]:
    def stream(name: str) -> Stream:
        return Stream("sessions", name, seed, number)

    length, paste, think = stream("length"), stream("paste"), stream("think")
    messages, pastes = MESSAGE.draw(stream("message")), PASTE.draw(paste)
    replies = Lognormal(REPLY_MEDIAN, REPLY_SIGMA, REPLY_LEAST, reply_limit).draw(stream("reply"))
    duration, due = next(SHORT.draw(length)) if length.below(2) else LONG * NANOSECONDS, 0
    while due <= duration:
        is_paste = paste.below(100) < PASTES_IN_100
        said = Said(
            next(pastes if is_paste else messages), next(replies), THINK_LEAST + exponential(think, THINK_MEAN), due
        )
        yield said
        due += said.reply * EXPECTED + said.think
