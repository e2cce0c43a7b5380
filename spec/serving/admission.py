"""Who is let in: what a request must be given before it may start, how many may wait, and who is turned away."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import islice
from math import ceil

from spec.serving.cache import CacheManager, Chain, Evicted
from spec.serving.request import Job, Request, State


class Reserve(StrEnum):
    """What a request is given when it is let in."""

    TURN = "turn"  # its prompt and all that it may generate: then it never lacks a block
    PROMPT = "prompt"  # its prompt, if there is room for that: what it generates must find room later
    NONE = "none"  # its prompt, whether or not there is room


@dataclass(frozen=True, slots=True)
class Rules:
    """How a server admits.

    Attributes:
        reserve: what a request is given when it is let in.
        queue: the most requests that wait; the next one is turned away (503). None is no limit.
        retry_after: nanoseconds after which one that was turned away may come again, more than 0.
        patience: nanoseconds after which one that still waits to be let in for the first time is turned away, too.
            None is no limit.
        alert: the share of the blocks in flight at which an alert is raised.
        watermark: the share of the blocks that stays free when a request is let in beside others.
        backfill: later requests pass one that does not fit.
    """

    reserve: Reserve = Reserve.TURN
    queue: int | None = None
    retry_after: int = 10**9
    alert: Fraction = Fraction(9, 10)
    watermark: Fraction = Fraction(0)
    backfill: bool = False
    patience: int | None = None

    def __post_init__(self) -> None:
        if self.retry_after < 1:
            raise ValueError(f"retry_after is {self.retry_after}; it must be at least 1 nanosecond")
        if not (0 < self.alert <= 1 and 0 <= self.watermark < 1):
            raise ValueError("alert lies over 0 and up to 1, and watermark from 0 to under 1")
        if self.queue is not None and self.queue < 0:
            raise ValueError(f"queue is {self.queue}; it must be at least 0, or None for no limit")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience is {self.patience}; it must be at least 1 nanosecond, or None for no limit")


class OutOfMemory(Exception):
    """A request was let in with no room for its prompt; `job` is that request."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.job = job


class Admission:
    """The queue of a server and the way from there into its cache.

    Attributes:
        scale: ticks of a nanosecond.
        waiting: who waits, first come first.
        flight: who is in, by the name of the cache, in the order of being let in.
        evicted: names of the idle caches that made room for the last one let in.
        arrived, refused, cancelled, admitted, released, returned: how many ever came, were turned away, left the
            queue unserved, were let in, left, and had to go back to the queue for others. At any time
            arrived + returned == refused + cancelled + admitted + waiting, and admitted == released + in flight.
    """

    def __init__(self, cache: CacheManager, rules: Rules) -> None:
        self.cache, self.rules = cache, rules
        self.scale = 1
        self.waiting: deque[Job] = deque()
        self.flight: dict[Hashable, Job] = {}
        self.evicted: Evicted = ()
        self.arrived = self.refused = self.cancelled = self.admitted = self.released = self.returned = 0
        self._kept_free, self._alert_at = (ceil(share * cache.capacity) for share in (rules.watermark, rules.alert))

    def arrive(self, job: Job) -> bool:
        """Let a request wait; False turns it away, with a reason and, where waiting would help, a time to retry.

        One that could never finish is turned away at once: it would wait for ever, and all behind it. A server that
        checks nothing cannot know. A cache kept under its name that is no history of it is let go.
        """
        self.arrived += 1
        if not job.request.history and job.name in self.cache and job.name not in self.flight:
            self.cache.free(job.name)
        if self.rules.reserve is not Reserve.NONE and self.needed_blocks(job) > self.cache.capacity:
            job.reason = "never fits"
        elif self.rules.queue is not None and len(self.waiting) >= self.rules.queue:
            job.reason, job.retry_after = "queue full", self.rules.retry_after
        else:
            self.waiting.append(job)
            return True
        self._refuse(job)
        return False

    def turn_away(self, arrived_until: int) -> list[Job]:
        """Refuse all that came until then and were never let in; they lost patience."""
        late = []
        for job in self.waiting:
            if job.arrival > arrived_until:
                break  # those that had to leave stand before all others, and the others in the order of arrival
            if job.admitted is None:
                late.append(job)
        for job in late:
            self.waiting.remove(job)
            job.reason, job.retry_after = "waited too long", self.rules.retry_after
            self._refuse(job)
        return late

    def next_change(self) -> int | None:
        """Return the tick at which somebody will lose patience; None is never."""
        if self.rules.patience is None:
            return None
        first = next((job for job in self.waiting if job.admitted is None), None)
        return None if first is None else first.arrival + self.rules.patience * self.scale

    def expire(self, now: int) -> list[Job]:
        """Do what is due by this tick, and return those that leave the queue for it."""
        return [] if self.rules.patience is None else self.turn_away(now - self.rules.patience * self.scale)

    def _refuse(self, job: Job) -> None:
        job.state = State.REFUSED
        self.refused += 1

    def needed_blocks(self, job: Job) -> int:
        """Return the blocks that a request takes in the end, at most."""
        return self.cache.blocks(job.prompt + job.request.max_tokens)

    def tokens(self, job: Job) -> int:
        """Return the tokens that a request is given when it is let in."""
        if self.rules.reserve is Reserve.TURN:
            return job.prompt + job.request.max_tokens
        return job.prompt + job.generated

    def admit(self) -> Job | None:
        """Let the next request in that may come: reserve its blocks and pin them. None may come where it is None.

        The watermark counts only beside others in flight: alone, a request that has to wait would wait for ever.

        Raises:
            OutOfMemory: no room is asked for beforehand, and there was none.
        """
        for job in islice(self.waiting, None if self.rules.backfill else 1):
            if self.rules.reserve is Reserve.NONE or self._fits(job):
                self.enter(job, self.tokens(job))
                return job
        return None

    def enter(self, job: Job, tokens: int) -> None:
        """Move a request from the queue into the cache, with room for so many tokens.

        Raises:
            OutOfMemory: there is no room; it counts as in flight all the same.
            ValueError: another request of that name is in flight.
        """
        self.board(job)
        self.hold(job, tokens)

    def board(self, job: Job) -> None:
        """Take a request out of the queue; it is in flight, and holds nothing yet.

        Raises:
            ValueError: another request of that name is in flight.
        """
        if job.name in self.flight:
            raise ValueError(f"two requests named {job.name!r} are in flight at once")
        self.waiting.remove(job)
        self.admitted += 1
        self.flight[job.name] = job
        job.state = State.RUNNING

    def hold(self, job: Job, tokens: int) -> None:
        """Reserve and pin room for so many tokens of a request in flight.

        Raises:
            OutOfMemory: there is no room.
        """
        job.reserved, job.reused = tokens, self._here(job)
        evicted = self.cache.reserve(job.name, tokens, self._chain(job))
        if job.name in self.cache:  # also where there is no room for more than its history
            self.cache.pin(job.name)
        if evicted is None:
            raise OutOfMemory(job)
        self.evicted = evicted

    def release(self, job: Job, *, keep: bool = False) -> None:
        """Take back what a request in flight holds; with `keep` its cache stays under its name, idle."""
        self.released += 1
        del self.flight[job.name]
        if job.name in self.cache:
            self.cache.unpin(job.name)
            if not keep:
                self.cache.free(job.name)

    def settle(self, job: Job, tokens: int) -> None:
        """Take back what a request holds that is done; its cache stays under its name, idle, with so many tokens."""
        self.release(job, keep=True)
        self.cache.reserve(job.name, tokens)

    def forget(self) -> None:
        """Lose all caches; nothing is in flight."""
        for name in self.cache.resident:
            self.cache.free(name)

    def put_back(self, job: Job) -> None:
        """Take back what a request in flight holds, and let it wait before all others."""
        self.release(job)
        self.returned += 1
        job.state = State.WAITING
        self.waiting.appendleft(job)

    def cancel(self, job: Job) -> None:
        """Forget a request, waiting or in flight: nobody wants its answer any more."""
        if job.state is State.RUNNING:
            self.release(job)
        else:
            self.waiting.remove(job)
            self.cancelled += 1
        job.state = State.CANCELLED

    @property
    def alerting(self) -> bool:
        """Say whether the blocks in flight have reached the share for an alert; equality has."""
        return self.cache.held >= self._alert_at

    def _fits(self, job: Job) -> bool:
        tokens = self.tokens(job)
        if not self.cache.fits(job.name, tokens, self._chain(job)):
            return False
        # What it shares with others counts here too, so that the watermark errs on the side of room.
        free = self._kept_free if self.flight else 0
        return not free or self.cache.blocks(tokens) + free <= self.cache.available

    def _chain(self, job: Job) -> Chain:
        return job.request.chain[: job.request.prompt // self.cache.block_size]

    def _here(self, job: Job) -> int:
        """Count the leading tokens that are cached; the last one is always worked on, since it gives the next."""
        kept = min(job.request.history, self.cache.tokens(job.name)) if job.name in self.cache else 0
        return min(max(kept, self.cache.shared(self._chain(job))), job.prompt - 1)


def let_in(sizes: Sequence[int], budget: int, *, backfill: bool = True) -> tuple[int, ...]:
    """Return which are let in, by place, of requests that are there at once and reserve so many tokens each.

    Raises:
        ValueError: the budget is no whole number of at least 1, or a size none of at least 2, for prompt and output.
    """
    admission = Admission(CacheManager(budget), Rules(backfill=backfill))
    for place, size in enumerate(sizes):
        # What is reserved is all that counts here, so that one token of it may stand for the output.
        admission.arrive(Job(Request(place, 0, size - 1, 1), 0))
    places = []
    while (job := admission.admit()) is not None:
        places.append(job.request.id)
    return tuple(places)
