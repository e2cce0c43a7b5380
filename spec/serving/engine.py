"""The simulator: iteration by iteration, or many at once where nothing changes in between.

Every decode step gives a token to each decoding request. So the engine counts steps, and notes of each request the
step at which it joined, at which it will be done and at which it needs another block. Between two such steps, or
arrivals, or openings of the gate, all iterations are alike and are taken together; `bulk=False` takes them one by
one, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush

from spec.serving.admission import Admission, OutOfMemory, Rules
from spec.serving.batching import Static
from spec.serving.cache import CacheManager
from spec.serving.host import Host
from spec.serving.request import NANOSECONDS, Job, Request, State
from spec.serving.server import Crash, Run, Server, Tally, WhenFull
from spec.serving.timing import steps_within

Follow = Callable[[Job, int], Iterable[Request]]
Admit = Callable[[CacheManager, Rules], Admission]
Heap = list[tuple[int, int, Job]]


class Engine:
    """One server and the requests that come to it.

    Args:
        server: the server.
        requests: what comes, in any order; ids are unique.
        follow: called with each request that is done and the nanosecond, rounded up; returns what comes after it,
            such as the next turn of a conversation.
        bulk: take many iterations at once.
        admission: builds what lets requests in, from a cache and the rules of the server, if not `Admission`.

    Attributes:
        now, tally: the tick, and what was counted so far.
        cache, host, admission: what holds the caches, and idle ones on the host, if any; who waits and is in flight.
        decoding: the requests that get a token in the next step, in the order of joining.
        jobs: every request that is known, by id.

    Raises:
        ValueError: two requests have the same id.
    """

    def __init__(
        self,
        server: Server,
        requests: Iterable[Request],
        *,
        follow: Follow | None = None,
        bulk: bool = True,
        admission: Admit | None = None,
    ) -> None:
        self.server, self.timing = server, server.timing
        self.scale = server.timing.ticks_per_second // NANOSECONDS
        self.cache = CacheManager(server.blocks, server.block_size)
        self.admission = (admission or Admission)(self.cache, server.rules)
        self.admission.scale = self.scale
        self.gate = server.scheduler.gate()
        self.now, self.tally = 0, Tally()
        self.jobs: dict[int, Job] = {}
        self._follow, self._bulk = follow, bulk
        self._arrivals: Heap = []
        self._prefilling: list[Job] = []
        self._loading: Heap = []  # whose history is on its way back from the host
        self.decoding: dict[Job, None] = {}
        self._steps = 0
        self._cached = 0  # tokens that the decoding requests have cached
        self._ends: Heap = []
        self._fills: Heap = []
        self._swapping = 0  # ticks of moving blocks that the next iteration waits for
        self._swapped = 0  # blocks on the host of requests that had to leave
        self._alerted = False
        self.host = Host(server.host_blocks, server.block_size, self.tally) if server.offload else None
        for request in requests:
            self.expect(request)

    def run(self) -> Run:
        """Serve until nothing more can happen, and return what came of it."""
        while self.step():
            pass
        return self.result()

    def result(self) -> Run:
        """Return what has come of it so far."""
        self.tally.peak_blocks = self.cache.peak
        jobs = tuple(sorted(self.jobs.values(), key=lambda job: job.sort_key))
        return Run(self.timing.ticks_per_second, self.now, jobs, self.tally)

    def step(self) -> bool:
        """Do the next piece of work, or wait for the next arrival; False where nothing more can happen."""
        self._deliver()
        while self._loading and self._loading[0][0] <= self.now:
            self._prefilling.append(heappop(self._loading)[2])
        try:
            self._join()
        except OutOfMemory as found:
            self._crash(found.job)
            return True
        self._watch(0)
        if self._prefilling and self.gate.chunk is None:
            self._prefill()
        elif self._prefilling:
            self._mixed()
        elif self.decoding:
            self._decode()
        else:
            return self._wait()
        return True

    def tokens(self, job: Job) -> int:
        """Return how many tokens of a request in flight are cached now."""
        if job in self.decoding:
            return job.prompt + job.generated + self._steps - job.joined_at - 1
        return job.prefilled

    @property
    def cached(self) -> int:
        """How many tokens are cached of all that decode."""
        return self._cached

    # Requests that come and join

    def expect(self, request: Request) -> Job:
        """Add a request that will come; one whose time is past comes at once.

        Raises:
            ValueError: another request has its id.
        """
        if request.id in self.jobs:
            raise ValueError(f"two requests have the id {request.id}")
        job = self.jobs[request.id] = Job(request, request.arrival * self.scale)
        heappush(self._arrivals, (job.arrival, request.id, job))
        return job

    def _deliver(self) -> None:
        self._arrive()
        for job in self.admission.expire(self.now):
            job.finish = self.now
        self._arrive()

    def _arrive(self) -> None:
        while self._arrivals and self._arrivals[0][0] <= self.now:
            job = heappop(self._arrivals)[2]
            if self.admission.arrive(job):
                self.tally.requests_time += self.now - job.arrival

    def _join(self) -> None:
        if isinstance(self.server.batching, Static):
            if self._batch_is_due(self.server.batching):
                batch = self.server.batching.group(self.admission)
                for job, _ in batch:
                    self.admission.board(job)
                for job, tokens in batch:
                    self.admission.hold(job, tokens)
                    self._let_in(job)
        elif self.gate.is_open(len(self.decoding)):
            room = self._prompt_room()
            while room > 0 and len(self.admission.flight) < self.server.batching.slots:
                admitted = self.admission.admit()
                if admitted is None:
                    break
                room -= self._let_in(admitted)
            if not self._prefilling:
                self.gate.nobody_joined()

    def _batch_is_due(self, batching: Static) -> bool:
        waiting = self.admission.waiting
        if self.admission.flight or not waiting:
            return False
        return len(waiting) >= batching.size or (
            batching.flush is not None and self.now >= waiting[0].arrival + batching.flush * self.scale
        )

    def _prompt_room(self) -> int:
        """Return the prompt tokens that the next iteration takes more."""
        room = self.gate.pass_tokens if self.gate.chunk is None else self.gate.chunk - len(self.decoding)
        return room - sum(map(self._to_prefill, self._prefilling))

    def _let_in(self, job: Job) -> int:
        """Start a request that holds its blocks, and return how many tokens of its prompt are to be worked on."""
        if job.admitted is None:
            job.admitted = self.now
        if job.swapped:
            self._swapping += job.swapped * self.server.swap * self.scale
            self._swapped -= job.swapped
            job.swapped = 0
            self._start_decoding(job, job.prompt + job.generated - 1)
            return 0
        fetched = self.host.exchange(job, self.admission.evicted) if self.host else 0
        job.prefilled = job.reused
        self.tally.reused += job.reused
        if fetched:
            ready = self.now + self.cache.blocks(fetched) * self.server.swap * self.scale
            heappush(self._loading, (ready, job.request.id, job))
            return 0
        self._prefilling.append(job)
        return self._to_prefill(job)

    @staticmethod
    def _to_prefill(job: Job) -> int:
        return job.prompt + job.generated - job.prefilled

    # Work

    def _prefill(self) -> None:
        chunks = [(job.prefilled, self._to_prefill(job)) for job in self._prefilling]
        ticks = self.timing.iteration(0, 0, chunks)
        self.tally.passes += 1
        self._pass("prefill", ticks)
        if self.decoding:
            self.gate.spent(ticks, 0)
        for job, (_, tokens) in zip(self._take_prefilling(), chunks, strict=True):
            self._prefilled(job, tokens)

    def _mixed(self) -> None:
        self._grow(1)
        room = self.gate.chunk - len(self.decoding) if self.gate.chunk else 0
        chunks: list[tuple[Job, int]] = []
        for job in self._prefilling:
            tokens = min(room, self._to_prefill(job))
            if tokens > 0:
                chunks.append((job, tokens))
                room -= tokens
        if not (chunks or self.decoding):
            return
        ticks = self.timing.iteration(
            len(self.decoding), self._cached, [(job.prefilled, tokens) for job, tokens in chunks]
        )
        kind = "decode" if not chunks else "mixed" if self.decoding else "prefill"
        self.tally.passes += not self.decoding
        self._pass(kind, ticks)
        if self.decoding:
            self._advance(1)
        for job, tokens in chunks:
            if tokens == self._to_prefill(job):
                self._prefilling.remove(job)
            self._prefilled(job, tokens)

    def _decode(self) -> None:
        steps = self._alike() if self._bulk else 1
        steps = self._grow(steps)
        if not (steps and self.decoding):
            return
        ticks = self.timing.run(len(self.decoding), self._cached, steps)
        self._pass("decode", ticks)
        self.gate.spent(0, ticks)
        self._advance(steps)

    def _alike(self) -> int:
        """Return how many steps there are until a request is done, one comes, or the gate opens."""
        while self._is_stale(self._ends[0]):
            heappop(self._ends)
        steps = self._ends[0][0] - self._steps
        opens = self.gate.opens_after()
        limits = [] if opens is None else [opens]
        if (comes := self._next_change()) is not None:
            limits.append(comes - self.now - self._swapping)
        if limits and steps > 1:
            steps = steps_within(self.timing, len(self.decoding), self._cached, steps, min(limits))
        return steps

    def _next_change(self) -> int | None:
        """Return when the next one comes or has its history back, or something is due in the queue."""
        times = [heap[0][0] for heap in (self._arrivals, self._loading) if heap]
        if (due := self.admission.next_change()) is not None:
            times.append(due)
        return min(times, default=None)

    def _is_stale(self, end: tuple[int, int, Job]) -> bool:
        return end[2] not in self.decoding or end[2].done_at != end[0]

    def _prefilled(self, job: Job, tokens: int) -> None:
        """Count prompt tokens that were worked on; the last of them gives a token."""
        own = job.request.prompt + job.generated
        before, job.prefilled = job.prefilled, job.prefilled + tokens
        self.tally.prefilled += tokens
        self.tally.prefill_padding += max(0, job.prefilled - max(own, before))
        if job.preemptions:
            self.tally.recomputed += tokens
        if job.prefilled < job.prompt + job.generated:
            return
        job.generated += 1
        if job.first_token is None:
            job.first_token = self.now
        if job.generated == job.output:
            self._finish(job)
        else:
            self._start_decoding(job, job.prefilled)

    def _start_decoding(self, job: Job, cached: int) -> None:
        job.joined_at = self._steps
        job.done_at = self._steps + job.output - job.generated
        room = self.cache.blocks(job.reserved) * self.server.block_size - cached
        job.full_at = self._steps + room
        self.decoding[job] = None
        self._cached += cached
        heappush(self._ends, (job.done_at, job.request.id, job))
        if job.full_at < job.done_at:
            heappush(self._fills, (job.full_at, job.request.id, job))

    def _advance(self, steps: int) -> None:
        """Give every decoding request its tokens, and let those go that are done."""
        size = len(self.decoding)
        self._steps += steps
        self._cached += size * steps
        self.tally.steps += steps
        self.tally.decoded += size * steps
        while self._ends and self._ends[0][0] <= self._steps:
            end = heappop(self._ends)
            if not self._is_stale(end):
                self._stop_decoding(end[2])
                self._finish(end[2])

    def _stop_decoding(self, job: Job) -> None:
        del self.decoding[job]
        job.generated += self._steps - job.joined_at
        self._cached -= job.prompt + job.generated - 1

    def _finish(self, job: Job) -> None:
        job.state, job.finish = State.DONE, self.now
        self.tally.decode_padding += job.output - job.request.output
        if job.request.keep is None:
            self.admission.release(job)
        else:
            tokens = job.prompt + job.generated - 1
            if self.host:
                self.host.note(job.name, tokens)
            self.admission.settle(job, tokens)
        if self._follow:
            for request in self._follow(job, -(-self.now // self.scale)):
                self.expect(request)

    # Memory

    def _grow(self, steps: int) -> int:
        """Give each decoding request the blocks that it needs in so many steps; return for how many there is room.

        Where not even the next step has room, others make it, or the server runs out of memory.
        """
        timed, early = self._steps, 0
        while self._fills and self._fills[0][0] < self._steps + steps:
            at, _, job = self._fills[0]
            if job not in self.decoding or job.full_at != at:
                heappop(self._fills)
            elif (evicted := self.cache.grow(job.name, self.server.block_size)) is not None:
                if self.host:
                    self.host.take_in(evicted)
                heappop(self._fills)
                job.full_at = at + self.server.block_size
                if job.full_at < job.done_at:
                    heappush(self._fills, (job.full_at, job.request.id, job))
                if at != timed:
                    timed, early = at, self._until(at - self._steps)
                self.tally.held_time -= early  # the block is there already, and is not needed before
                self._watch(early)
            elif at > self._steps:
                return at - self._steps
            elif self.server.when_full is WhenFull.CRASH:
                self._crash(job)
                return 0
            else:
                # Never the only one: nobody is let in who would not fit alone.
                self._preempt(next(reversed(self.admission.flight.values())))
                steps = 1  # others decode now, and blocks may have to be moved first
        return steps

    def _preempt(self, job: Job) -> None:
        job.preemptions += 1
        self.tally.preemptions += 1
        if job in self.decoding:
            self._stop_decoding(job)
            if self.server.when_full is WhenFull.SWAP:
                self._swap_out(job)
        elif job in self._prefilling:
            self._prefilling.remove(job)
        else:
            self._loading = [load for load in self._loading if load[2] is not job]
            heapify(self._loading)
        self.admission.put_back(job)

    def _swap_out(self, job: Job) -> None:
        blocks = self.cache.blocks(job.prompt + job.generated - 1)
        if self.server.host_blocks is None or self._swapped + blocks <= self.server.host_blocks:
            job.swapped = blocks
            self._swapped += blocks
            self._swapping += blocks * self.server.swap * self.scale
            self.tally.swapped_blocks += blocks

    def _crash(self, wanted: Job) -> None:
        """Lose all that is in flight, and all caches, and start again."""
        members = list(self.admission.flight.values())
        tokens = self._cached + sum(job.prefilled for job in self._prefilling)
        ids = tuple(job.request.id for job in members)
        self.tally.crashes.append(Crash(self.now, ids, wanted.request.id, tokens))
        for job in members:
            if job in self.decoding:
                self._stop_decoding(job)
            job.state, job.finish = State.LOST, self.now
            self.admission.release(job)
        if self.host:
            self.host.clear()
        self.admission.forget()
        self._prefilling, self._loading, self._ends, self._fills = [], [], [], []
        self._pass("restart", self.server.restart * self.scale)

    def _until(self, steps: int) -> int:
        """Return the ticks until so many steps from now are done, at least 1."""
        return self._swapping + self.timing.run(len(self.decoding), self._cached, steps)

    def _watch(self, later: int) -> None:
        """Note an alert that is raised so many ticks from now, and one that is over."""
        if self.admission.alerting != self._alerted:
            self._alerted = not self._alerted
            if self._alerted:
                self.tally.alerts.append(self.now + later)

    # Time

    def _take_prefilling(self) -> list[Job]:
        taken, self._prefilling = self._prefilling, []
        return taken

    def _pass(self, kind: str, ticks: int) -> None:
        """Let time go by, moves to and from the host first."""
        if self._swapping:
            moved, self._swapping = self._swapping, 0
            self._pass("swap", moved)
        tally = self.tally
        setattr(tally, kind, getattr(tally, kind) + ticks)
        running = len(self.admission.flight)
        tally.requests_time += ticks * (running + len(self.admission.waiting))
        tally.running_time += ticks * running
        tally.held_time += ticks * self.cache.held
        self.now += ticks

    def _wait(self) -> bool:
        """Wait for an arrival, or until somebody loses patience or a batch is due that is not full."""
        comes = self._next_change()
        times = [] if comes is None else [comes]
        batching = self.server.batching
        if isinstance(batching, Static) and batching.flush is not None and self.admission.waiting:
            times.append(self.admission.waiting[0].arrival + batching.flush * self.scale)
        if not times:
            return False
        self._pass("idle", min(times) - self.now)
        return True
