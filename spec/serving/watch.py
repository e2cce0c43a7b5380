"""Looking at a server while it runs: how full, how many in flight and how many waiting, and for what.

The engine counts areas under these over the time. What is seen of a stretch of time is the difference of two counts,
so that the stretches add up to the whole run, whether its iterations are taken one by one or many at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil

from spec.serving.engine import Engine
from spec.serving.server import Run

MOST = 256  # stretches; where there would be more, two become one
FINEST = 10**6  # nanoseconds of the first stretches


class Lack(StrEnum):
    """What requests wait for."""

    SLOTS = "slots"  # all slots are in flight
    BLOCKS = "blocks"  # the first that waits finds no room for its cache
    RESTART = "restart"  # the server is away
    TURN = "turn"  # none of these: the iteration, the batch or the scheduler does not let it join yet


@dataclass(slots=True)
class Stretch:
    """Some time of a run. Areas are ticks times blocks or requests.

    Attributes:
        ticks: how long it is, as far as it was seen.
        held, waiting, running: areas of the blocks in flight, and of the requests that wait and are in flight.
        most_held, most_waiting, most_running: the most blocks and requests of a piece of work in it, on average.
        preemptions: how often a request had to leave.
    """

    ticks: int = 0
    held: int = 0
    waiting: int = 0
    running: int = 0
    most_held: int = 0
    most_waiting: int = 0
    most_running: int = 0
    preemptions: int = 0

    def add(self, other: Stretch) -> None:
        """Take in another stretch."""
        self.ticks += other.ticks
        self.held += other.held
        self.waiting += other.waiting
        self.running += other.running
        self.preemptions += other.preemptions
        self.most_held = max(self.most_held, other.most_held)
        self.most_waiting = max(self.most_waiting, other.most_waiting)
        self.most_running = max(self.most_running, other.most_running)

    def cut(self, ticks: int) -> Stretch:
        """Take off its first ticks, with their share of what is spread evenly."""
        held, waiting, running = (area * ticks // self.ticks for area in (self.held, self.waiting, self.running))
        self.ticks -= ticks
        self.held, self.waiting, self.running = self.held - held, self.waiting - waiting, self.running - running
        return Stretch(ticks, held, waiting, running, self.most_held, self.most_waiting, self.most_running)


@dataclass(slots=True)
class Watch:
    """Runs an engine and looks at it after every piece of work.

    Attributes:
        engine: the engine.
        width: ticks of a stretch.
        stretches: the run so far, cut into stretches of that width; whole once `result` has been asked for.
        slots_full: the tick at which all slots were in flight for the first time; None is never.
        lacked: area of the requests that waited, by what for; whole as `stretches` are.
    """

    engine: Engine
    width: int = 0
    stretches: list[Stretch] = field(default_factory=lambda: [Stretch()])
    slots_full: int | None = None
    lacked: dict[Lack, int] = field(default_factory=lambda: dict.fromkeys(Lack, 0))
    _start: int = 0
    _last: Stretch = field(default_factory=Stretch)
    _lack: Lack = Lack.TURN

    def __post_init__(self) -> None:
        self.width = self.width or FINEST * self.engine.scale

    def step(self) -> bool:
        """Let the engine do its next piece of work; False where nothing more can happen."""
        start, before, restarted = self.engine.now, self._counts(), self.engine.tally.restart
        more = self.engine.step()
        ticks = self.engine.now - start
        held, waiting, running, preemptions = (new - old for new, old in zip(self._counts(), before, strict=True))
        # The engine counts those that came during a piece of work when it is over.
        queue = ticks * len(self.engine.admission.waiting)
        self._last.waiting += waiting - queue
        if not ticks:
            self._last.preemptions += preemptions
            return more
        self._flush()
        self._start, self._last = start, Stretch(ticks, held, queue, running, preemptions=preemptions)
        full = running >= ticks * self.engine.server.batching.slots
        if full and self.slots_full is None:
            self.slots_full = start
        self._lack = Lack.RESTART if self.engine.tally.restart > restarted else Lack.SLOTS if full else self._room()
        return more

    def result(self) -> Run:
        """Return what has come of it so far, of the requests that have come so far."""
        self._flush()
        run = self.engine.result()
        return Run(run.ticks_per_second, run.end, tuple(j for j in run.jobs if j.arrival <= run.end), run.tally)

    def _counts(self) -> tuple[int, int, int, int]:
        tally = self.engine.tally
        return tally.held_time, tally.requests_time - tally.running_time, tally.running_time, tally.preemptions

    def _room(self) -> Lack:
        admission, server = self.engine.admission, self.engine.server
        if not admission.waiting:
            return Lack.TURN
        needed = admission.cache.blocks(admission.tokens(admission.waiting[0]))
        needed += ceil(server.rules.watermark * server.blocks)
        return Lack.BLOCKS if -(-self._last.held // self._last.ticks) + needed > server.blocks else Lack.TURN

    def _flush(self) -> None:
        """Share the last piece of work out over the stretches that it lies in."""
        at, left, self._last = self._start, self._last, Stretch()
        self.lacked[self._lack] += left.waiting
        if left.ticks:
            left.most_held, left.most_waiting, left.most_running = (
                -(-area // left.ticks) for area in (left.held, left.waiting, left.running)
            )
        while at + left.ticks > MOST * self.width:
            self._halve()
        while at + left.ticks > (border := (at // self.width + 1) * self.width):
            part = left.cut(border - at)
            self._at(at // self.width).add(part)
            at = border
        self._at(at // self.width if left.ticks else len(self.stretches) - 1).add(left)
        self._start = at + left.ticks

    def _at(self, number: int) -> Stretch:
        while len(self.stretches) <= number:
            self.stretches.append(Stretch())
        return self.stretches[number]

    def _halve(self) -> None:
        self.width *= 2
        for number in range(0, len(self.stretches) - 1, 2):
            self.stretches[number].add(self.stretches[number + 1])
        self.stretches = self.stretches[::2]
