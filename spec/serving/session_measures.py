"""What came of chat sessions under a policy: waits, work done twice, fairness, what was kept, and how they ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from spec.serving.engine import Engine
from spec.serving.metrics import spread
from spec.serving.request import NANOSECONDS, Job, State
from spec.serving.session_desk import Desk
from spec.serving.session_state import PIECE, End, Session, Turn, Work
from spec.serving.timing import Timing
from spec.solving import Exact, whole

AGES = (5, 10, 20, 30)  # minutes that part sessions by age
BAD = (End.CONTEXT, End.KILLED, End.MAX_AGE, End.REFUSED, End.OOM)
PARTS = 10**9  # of a ratio of latencies


@dataclass(frozen=True, slots=True)
class Look:
    """What is cached at a moment.

    Attributes:
        second: when.
        gpu: tokens that the sessions hold on the GPU, bookings included, by age: under 5 minutes, under 10 and so on.
        host: tokens on the host.
        resident: sessions that hold any on the GPU.
        waiting: turns that wait.
    """

    second: Exact
    gpu: tuple[int, ...]
    host: int
    resident: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Played:
    """What one run came to. Turns and shares are measured after the warm-up, the rest over all of the run.

    Attributes:
        ooms: how often memory ran out.
        peak_kv: the most tokens that the cache ever had taken.
        budget: tokens that it has.
        new_waits: seconds from the first message of a session to its first token; one that still waits at the end
            counts with what it has waited, and one that was turned away does not.
        returning_ttfts: the same of the later turns.
        recompute: share of the GPU's time that went into prefills of what had been cached before.
        summarise: share of it that went into summaries: their prefills, and what decode steps took longer for them.
        busy: share of the time in which the GPU worked.
        jain: Jain's index over the sessions of the mean of ideal over actual latency of their turns, where the ideal
            is the turn alone on the server with its history cached; a turn that is not served counts as 0, and so
            does one that was expected by the end and has not come.
        retention: mean over the turns of the share of what was said before that the prompt still had.
        spared: mean over all cuts of the share of what a prompt had that the cut left it; None where nothing was cut.
        ends: sessions by the way they ended.
        queued_at_end: turns that still waited at the end.
        turns: turns that were answered.
        preemptions: how often a turn had to leave once it was let in.
        evictions: how often an idle session lost its cache to make room.
        resident: sessions that held a cache on the GPU, in the mean.
        timeline: looks at the whole run.
    """

    ooms: int
    peak_kv: int
    budget: int
    new_waits: tuple[Exact, ...]
    returning_ttfts: tuple[Exact, ...]
    recompute: Exact
    summarise: Exact
    busy: Exact
    jain: Exact
    retention: Exact
    spared: Exact | None
    ends: dict[End, int]
    queued_at_end: int
    turns: int
    preemptions: int
    evictions: int
    resident: Exact
    timeline: tuple[Look, ...]

    @property
    def new_wait_p99(self) -> Exact | None:
        """Seconds to the first token that 99 % of new sessions do not exceed; None where there were none."""
        return _p99(self.new_waits)

    @property
    def returning_ttft_p99(self) -> Exact | None:
        """The same of the later turns of a session."""
        return _p99(self.returning_ttfts)

    @property
    def bad(self) -> Exact:
        """Share of the sessions that ended badly."""
        return whole(Fraction(sum(self.ends[end] for end in BAD), max(1, sum(self.ends.values()))))


@dataclass(frozen=True, slots=True)
class Mark:
    """Where an engine stood at the end of the warm-up: the tick, and the ticks in which the GPU did nothing."""

    tick: int
    unused: int


def unused(engine: Engine) -> int:
    """Return the ticks in which the GPU did nothing."""
    return engine.tally.idle + engine.tally.restart


def look(desk: Desk, engine: Engine) -> Look:
    """Look at what is cached now."""
    gpu = [0] * (len(AGES) + 1)
    minute = 60 * NANOSECONDS * engine.scale
    for name in engine.cache.resident:
        age = (engine.now - desk.sessions[name].arrival) // minute
        gpu[sum(age >= limit for limit in AGES)] += engine.cache.tokens(name)
    host = sum(engine.host.blocks.values()) * engine.cache.block_size if engine.host else 0
    second = whole(Fraction(engine.now, engine.timing.ticks_per_second))
    return Look(second, tuple(gpu), host, len(engine.cache.resident), waiting_turns(desk))


def waiting_turns(desk: Desk) -> int:
    """Count the turns that wait to be let in, or for a summary to be let in before them."""
    return sum(desk.sessions[job.name].work < Work.AHEAD for job in desk.waiting)


def measured(desk: Desk, engine: Engine, start: Mark, timeline: Sequence[Look]) -> Played:
    """Measure a run that has come to its end.

    Args:
        desk: of the run.
        engine: of the run.
        start: where its counters stood after the warm-up.
        timeline: looks at it.
    """
    tick = Fraction(1, engine.timing.ticks_per_second)
    after = -(-start.tick // engine.scale)
    came = [session for session in desk.sessions.values() if session.turns]
    recent = [(session, [turn for turn in session.turns if turn.arrival >= after]) for session in came]
    waits: tuple[list[Exact], list[Exact]] = ([], [])
    for session in came:
        for number, turn in enumerate(session.turns):
            if turn.arrival >= after and (waited := _waited(session, turn, engine)) is not None:
                waits[number > 0].append(whole(waited * tick))
    kept = [turn.kept for _, turns in recent for turn in turns if turn.kept is not None]
    begun = [job for job in engine.jobs.values() if (job.first_token or -1) >= start.tick]
    again = sum(_again(turn, engine.timing) for _, turns in recent for turn in turns)
    again += sum(_prefill(job, engine.timing) for job in begun if desk.extra.get(job.request.id) is Work.REBUILD)
    summaries = [job for job in begun if desk.extra.get(job.request.id, Work.REBUILD) is not Work.REBUILD]
    ticks = max(1, engine.now - start.tick)
    late = [each for each in timeline if each.second >= start.tick * tick]
    return Played(
        ooms=len(engine.tally.crashes),
        peak_kv=engine.cache.peak * engine.cache.block_size,
        budget=engine.cache.capacity * engine.cache.block_size,
        new_waits=tuple(waits[0]),
        returning_ttfts=tuple(waits[1]),
        recompute=whole(Fraction(again, ticks)),
        summarise=whole(Fraction(sum(_summary(job, engine) for job in summaries), ticks)),
        busy=whole(1 - Fraction(unused(engine) - start.unused, ticks)),
        jain=jain(_served_well(session, turns, engine) for session, turns in recent if turns),
        retention=whole(Fraction(sum(kept), PIECE * len(kept))) if kept else 1,
        spared=whole(Fraction(sum(desk.spared), PIECE * len(desk.spared))) if desk.spared else None,
        ends=_ends(came),
        queued_at_end=waiting_turns(desk),
        turns=sum(turn.job is not None and turn.job.state is State.DONE for session in came for turn in session.turns),
        preemptions=engine.tally.preemptions,
        evictions=desk.evictions,
        resident=whole(Fraction(sum(each.resident for each in late), max(1, len(late)))),
        timeline=tuple(timeline),
    )


def jain(values: Iterable[int]) -> Exact:
    """Return Jain's index of fairness, (sum x)^2 / (n sum x^2): 1 where all are equal, 1/n where one has everything."""
    found = list(values)
    squares = len(found) * sum(value * value for value in found)
    return whole(Fraction(sum(found) ** 2, squares)) if squares else 1


def _p99(values: Sequence[Exact]) -> Exact | None:
    found = spread(values)
    return None if found is None else found.p99


def _ends(sessions: Iterable[Session]) -> dict[End, int]:
    counted = Counter(session.end for session in sessions)
    return {end: counted[end] for end in End}


def _waited(session: Session, turn: Turn, engine: Engine) -> int | None:
    """Return the ticks until the first token; so far where it may still come, None where it never will."""
    if turn.job is not None and turn.job.first_token is not None:
        return turn.job.first_token - turn.arrival * engine.scale
    return engine.now - turn.arrival * engine.scale if session.end is End.OPEN else None


def _again(turn: Turn, timing: Timing) -> int:
    """Return the ticks in which the prefill of a turn worked on what had been worked on before."""
    job = turn.job
    if job is None or job.first_token is None:
        return 0
    worked = job.prompt - job.reused
    if worked <= turn.fresh:
        return 0
    alone = timing.iteration(0, 0, [(job.prompt - turn.fresh, turn.fresh)])
    return timing.iteration(0, 0, [(job.reused, worked)]) - alone


def _prefill(job: Job, timing: Timing) -> int:
    return timing.iteration(0, 0, [(job.reused, job.prompt - job.reused)])


def _summary(job: Job, engine: Engine) -> int:
    """Return the ticks of a summary: its prefill, and what steps take longer for it that read the weights anyway."""
    generated = engine.tokens(job) - job.prompt + 1 if job in engine.decoding else job.generated
    timing, steps = engine.timing, generated - 1
    return _prefill(job, timing) + timing.run(2, 2 * job.prompt, steps) - timing.run(1, job.prompt, steps)


def _served_well(session: Session, turns: Sequence[Turn], engine: Engine) -> int:
    """Return the mean ideal over actual latency of turns, in parts of `PARTS`; those in flight do not count.

    Turns that are not served count as 0, and so do those that were expected by now and have not come.
    """
    ratios = []
    for turn in turns:
        job = turn.job
        if job is None or job.state is not State.RUNNING:
            ratios.append(_ratio(turn, job, engine) if job is not None and job.state is State.DONE else 0)
    count = len(ratios) + _late(session, engine)
    return sum(ratios) // count if count else PARTS


def _late(session: Session, engine: Engine) -> int:
    """Count the messages that were expected by now and have not come."""
    if session.end is End.DONE:
        return 0
    last = session.turns[-1].job
    answered = last is not None and last.state is State.DONE  # what comes next is no turn yet
    ahead = chain([session.saying] if answered else [], session.ahead)
    return sum(session.arrival + turn.due * engine.scale <= engine.now for turn in ahead)


def _ratio(turn: Turn, job: Job, engine: Engine) -> int:
    timing = engine.timing
    ideal = timing.iteration(0, 0, [(job.prompt - turn.fresh, turn.fresh)])
    ideal += timing.run(1, job.prompt, job.output - 1)
    return ideal * PARTS // max(1, (job.finish or 0) - turn.arrival * engine.scale)
