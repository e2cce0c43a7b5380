"""What a simulated server is made of, and what it counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous, Static
from spec.serving.request import Job
from spec.serving.scheduler import Chunked, PrefillFirst, Scheduler
from spec.serving.timing import Timing


class WhenFull(StrEnum):
    """What happens when a request in flight needs a block and there is none."""

    CRASH = "crash"  # out of memory: all that is in flight is lost, and the server starts again
    RECOMPUTE = "recompute"  # the last one let in leaves, and its cache is worked out again later
    SWAP = "swap"  # the last one let in leaves, and its cache waits in the memory of the host


@dataclass(frozen=True, slots=True)
class Server:
    """A server to simulate. All times are nanoseconds.

    Attributes:
        timing: how long an iteration takes.
        blocks: blocks of cache.
        block_size: tokens of a block.
        batching: how a batch is put together.
        scheduler: prefill or decode first, for continuous batching.
        rules: who is let in.
        when_full: what happens when a request in flight finds no block.
        restart: how long the server is away after it ran out of memory.
        swap: how long moving one block to or from the host takes; nothing else is done meanwhile.
        host_blocks: blocks that the host has room for; where that is full, the cache is worked out again.
        offload: idle caches that are evicted move to the host, too, those used longest ago making room there. One
            comes back with the next turn, which waits for it while the others go on.
    """

    timing: Timing
    blocks: int
    block_size: int = 1
    batching: Static | Continuous = field(default_factory=lambda: Continuous(256))
    scheduler: Scheduler = field(default_factory=PrefillFirst)
    rules: Rules = field(default_factory=Rules)
    when_full: WhenFull = WhenFull.CRASH
    restart: int = 30 * 10**9
    swap: int = 0
    host_blocks: int | None = None
    offload: bool = False

    def __post_init__(self) -> None:
        preempts = self.when_full is not WhenFull.CRASH
        if preempts and self.rules.reserve is Reserve.NONE:
            raise ValueError("a server that makes room by preemption must check for room: reserve a prompt or a turn")
        if isinstance(self.batching, Static) and (preempts or isinstance(self.scheduler, Chunked)):
            raise ValueError("a static batch is neither preempted nor worked on in chunks")
        if min(self.restart, self.swap) < 0:
            raise ValueError("restart and swap take at least 0 nanoseconds")
        if self.host_blocks is not None and self.host_blocks < self.offload:
            raise ValueError("a host has at least 0 blocks, and at least 1 where idle caches move there")
        if self.offload and (isinstance(self.batching, Static) or self.when_full is WhenFull.SWAP):
            raise ValueError(
                "idle caches move to the host beside continuous batches only, and not beside those in flight"
            )


class Crash(NamedTuple):
    """The server ran out of memory.

    Attributes:
        tick: when.
        members: ids of the requests in flight, all lost, in the order of being let in.
        wanted: id of the one that found no block.
        tokens: tokens that they had cached.
    """

    tick: int
    members: tuple[int, ...]
    wanted: int
    tokens: int


@dataclass(slots=True)
class Tally:
    """What the engine counts while it runs; times are ticks.

    Attributes:
        prefill, decode, mixed, swap, restart, idle: time that went to each. Together they are all of the time.
        passes: iterations that worked on prompts only.
        steps: iterations that gave a token to each decoding request.
        decoded: tokens of those steps, padding included.
        decode_padding: of these, tokens of requests in a padded batch that had all theirs.
        prefilled: prompt tokens that were worked on, padding and those worked on again included.
        prefill_padding: of these, padding.
        recomputed: of these, tokens worked on after their request had had to leave.
        reused: prompt tokens that were cached already.
        preemptions: how often a request had to leave.
        swapped_blocks: blocks of requests in flight moved to the host.
        offloaded: tokens of idle caches moved to the host.
        fetched: tokens that came back from there with a turn.
        requests_time, running_time, held_time: the number of requests here, of those in flight, and of the blocks
            that these hold, each added up over the time.
        peak_blocks: the most blocks ever taken.
        alerts: when an alert was raised.
        crashes: when the server ran out of memory, and with whom.
    """

    prefill: int = 0
    decode: int = 0
    mixed: int = 0
    swap: int = 0
    restart: int = 0
    idle: int = 0
    passes: int = 0
    steps: int = 0
    decoded: int = 0
    decode_padding: int = 0
    prefilled: int = 0
    prefill_padding: int = 0
    recomputed: int = 0
    reused: int = 0
    preemptions: int = 0
    swapped_blocks: int = 0
    offloaded: int = 0
    fetched: int = 0
    requests_time: int = 0
    running_time: int = 0
    held_time: int = 0
    peak_blocks: int = 0
    alerts: list[int] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All of the time."""
        return self.prefill + self.decode + self.mixed + self.swap + self.restart + self.idle


@dataclass(frozen=True, slots=True)
class Run:
    """What a run ended with.

    Attributes:
        ticks_per_second: what a tick is.
        end: the last tick.
        jobs: every request that came, by arrival and id.
        tally: what was counted.
    """

    ticks_per_second: int
    end: int
    jobs: tuple[Job, ...]
    tally: Tally
