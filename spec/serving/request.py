"""A request as it arrives, and what becomes of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum

NANOSECONDS = 10**9  # in a second: what every time that is given is counted in


class State(StrEnum):
    """Where a request is. It ends done, refused, lost or cancelled, and is never in two of these."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"  # turned away when it came, or from the queue: nothing was spent on it
    LOST = "lost"  # in flight when the server ran out of memory
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt and what is asked of it.

    Attributes:
        id: unique; it decides between requests that arrive together.
        arrival: nanoseconds from the start.
        prompt: tokens of the prompt, at least 1.
        output: tokens that will be generated, at least 1; the server learns it when the last one is there.
        max_tokens: the most tokens that may be generated, which the server knows; `output` unless given.
        chain: keys of the full blocks of the prompt that others may have too (`CacheManager`).
        keep: the name under which its cache stays when it is done, such as that of a conversation.
        history: leading tokens of the prompt that the cache of that name holds, if it is still there.
    """

    id: int
    arrival: int
    prompt: int
    output: int
    max_tokens: int = 0
    chain: Sequence[Hashable] = ()
    keep: Hashable = None
    history: int = 0

    def __post_init__(self) -> None:
        if not self.max_tokens:
            object.__setattr__(self, "max_tokens", self.output)
        if min(self.prompt, self.output) < 1 or min(self.arrival, self.history) < 0:
            raise ValueError(f"request {self.id} has a prompt or an output of less than 1 token, or a time before 0")
        if self.max_tokens < self.output:
            raise ValueError(f"request {self.id} has {self.output} tokens of output, over its limit {self.max_tokens}")
        if self.history >= self.prompt:
            raise ValueError(f"request {self.id} has {self.history} tokens of history in a prompt of {self.prompt}")


class Job:
    """What becomes of a request. Times are ticks of the engine that serves it; None is not yet.

    Attributes:
        request: as it arrived.
        state: where it is.
        prompt, output: its tokens as they are worked on: in a padded batch, those of the longest.
        arrival, admitted, first_token: when it came, was first let in, and gave its first token.
        finish: when it left, with its last token, lost or after waiting too long.
        generated: tokens given so far.
        reserved: tokens that its cache was given when it was last let in.
        reused: tokens of its prompt that were in the cache already, so that nobody had to work on them.
        preemptions: how often it had to leave for others.
        reason: why it was refused.
        retry_after: nanoseconds after which a refused one may try again; None where that is no use.
    """

    __slots__ = (
        "admitted",
        "arrival",
        "done_at",
        "finish",
        "first_token",
        "full_at",
        "generated",
        "joined_at",
        "order",
        "output",
        "preemptions",
        "prefilled",
        "prompt",
        "reason",
        "request",
        "reserved",
        "retry_after",
        "reused",
        "state",
        "swapped",
    )

    def __init__(self, request: Request, arrival: int) -> None:
        self.request = request
        self.state = State.WAITING
        self.prompt, self.output = request.prompt, request.output
        self.arrival = arrival
        self.admitted: int | None = None
        self.first_token: int | None = None
        self.finish: int | None = None
        self.generated = self.reserved = self.reused = self.preemptions = 0
        self.reason = ""
        self.retry_after: int | None = None
        # What the engine keeps of a running job, in decode steps since it started; see `Engine`.
        self.order = self.joined_at = self.done_at = self.full_at = self.prefilled = self.swapped = 0

    @property
    def name(self) -> Hashable:
        """The name of its cache."""
        return self.request.id if self.request.keep is None else self.request.keep

    @property
    def sort_key(self) -> tuple[int, int]:
        """Earlier arrivals come first, and the smaller id of two that arrive together."""
        return self.arrival, self.request.id
