"""Who of many chat sessions is served, keeps its cache, is trimmed or is ended: a policy at the engine's queue.

The engine does the work. The desk asks it for turns, summaries and prefills ahead, each a request under the name of
its session, and acts whenever the engine asks who may come in, or tells that a request is done.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from heapq import heappop, heappush
from math import ceil
from typing import TYPE_CHECKING

from spec.serving.admission import Admission, Rules
from spec.serving.cache import CacheManager, Evicted
from spec.serving.request import NANOSECONDS, Job, Request, State
from spec.serving.session_policy import MARGIN, Book, Context, Kill, Order, SessionPolicy, Victim, When
from spec.serving.session_state import PIECE, Due, End, Event, Session, Turn, Work
from spec.serving.session_workload import Circumstances, Said, Script

if TYPE_CHECKING:
    from fractions import Fraction

    from spec.serving.engine import Engine

STANDS_FOR = 10  # tokens of text that a token of a summary carries at most


class Desk(Admission):
    """Admission by a policy.

    Args:
        cache: of the engine.
        rules: of the server; the policy decides over them.
        policy: the policy.
        circumstances: what it has to cope with.

    Attributes:
        sessions: all that came or will come, by number.
        open: those that were let in and have not ended.
        evictions: how often one lost its cache to make room.
        spared: by cut, the share of what a prompt had of the conversation that the cut left it, in parts of `PIECE`;
            what a summary stands for counts half.
        extra: what was asked of the engine besides turns, by the id of the request.
    """

    def __init__(self, cache: CacheManager, rules: Rules, policy: SessionPolicy, circumstances: Circumstances) -> None:
        super().__init__(cache, rules)
        cache.choose, cache.grow_evicts = self._victim, False
        self.policy, self.circumstances = policy, circumstances
        self.sessions: dict[Hashable, Session] = {}
        self.open = self.evictions = 0
        self.spared: list[int] = []
        self.extra: dict[int, Work] = {}
        self._engine: Engine
        self._now = self._requests = 0
        self._events: list[Event] = []
        self._changed = False  # something has, since nobody could be let in
        self._stays = policy.evict is Victim.NONE or (policy.window_hold and policy.reserve is not Book.NONE)
        self._shared = circumstances.system // cache.block_size if circumstances.shared_prefix else 0
        self._most_for_later = cache.capacity - ceil(policy.headroom * cache.capacity)
        self._most_beside_new = int(policy.watermark * cache.capacity)

    def serve(self, engine: Engine, scripts: list[Script]) -> None:
        """Begin: the engine whose desk this is, and the users that will come."""
        self._engine = engine
        for script in scripts:
            session = self.sessions[script.number] = Session(script, script.arrival * self.scale)
            self._at(session.arrival, Due.MESSAGE, session)

    def look_at(self, tick: int) -> None:
        """Let no iterations be taken together across this tick."""
        self._at(tick, Due.LOOK, None)

    # What the engine asks

    def arrive(self, job: Job) -> bool:
        """Let a request wait in its place; False where its session has ended meanwhile, or where it never fits."""
        self.arrived += 1
        session = self.sessions[job.name]
        if job.state is State.CANCELLED:
            self.refused += 1
            return False
        if self.policy.reserve is not Book.NONE and self.cache.blocks(self.tokens(job)) > self.cache.capacity:
            job.reason = "never fits"
            self._refuse(job)
            self._close(session, End.REFUSED)
            return False
        self.waiting.insert(bisect_right(self.waiting, self._place(job), key=self._place), job)
        self._changed = True
        return True

    def tokens(self, job: Job) -> int:
        """Return the tokens that a request books, or is given where nothing is booked."""
        if self.policy.reserve is Book.WINDOW:
            return max(self.circumstances.window, job.prompt + job.request.max_tokens)
        return job.prompt + (job.request.max_tokens if self.policy.reserve is Book.TURN else 0)

    def admit(self) -> Job | None:
        """Let the next one in that the policy lets in.

        One that waits keeps out all behind it, but for those it shares no rule with: a session that holds a booking
        passes, one that a limit on new sessions keeps out lets others pass, and one that the headroom keeps out lets
        new sessions pass.

        Raises:
            OutOfMemory: nothing is booked beforehand, and there was no room.
        """
        if not self._changed:
            return None
        for job in self._candidates():
            session = self.sessions[job.name]
            tokens = self.tokens(job)
            if self._is_kept_out(session, job, tokens):
                continue
            if not self._makes_room(session, job, tokens):
                break
            session.stamp += 1
            self.open += not session.let_in
            session.let_in = True
            self.enter(job, tokens)
            return job
        self._changed = False
        return None

    def release(self, job: Job, *, keep: bool = False) -> None:
        """Take back what a request in flight holds."""
        self._changed = True
        if not keep:
            self._unbook(self.sessions[job.name])
        super().release(job, keep=keep)

    def settle(self, job: Job, tokens: int) -> None:
        """Go on with a session whose request is done, or end it."""
        self.release(job, keep=True)
        session, now = self.sessions[job.name], job.finish or 0
        self._now, session.job = now, None
        if not session.booked and self._stays:
            self.cache.pin(job.name)
            session.booked = True
        if not (self.policy.window_hold and session.booked and self.policy.reserve is not Book.NONE):
            self.cache.reserve(job.name, tokens)
        session.cached = tokens
        if session.work is Work.TURN:
            self._answered(session)
        elif session.work is not Work.REBUILD:
            self._trim(session, *self._fitting(session, session.message))
        if session.end is not End.OPEN:
            return
        if session.aged:
            self._close(session, End.MAX_AGE)
        elif session.message is not None:
            self._say(session)
        elif session.work is Work.AHEAD:
            self._ask(session, Work.REBUILD, self._history(session), 1)
        else:
            self._rest(session)

    def forget(self) -> None:
        """Lose all caches, and the sessions that were in flight; of summaries ahead only these are lost."""
        for session in self.sessions.values():
            self._unbook(session)
            if session.job is not None and session.job.state is State.LOST:
                session.job = None
                if session.work < Work.AHEAD:
                    self._close(session, End.OOM)
                elif session.message is not None:
                    self._say(session)
        super().forget()

    def next_change(self) -> int | None:
        """Return the tick of the next event; None where there is none."""
        while self._events and self._is_stale(self._events[0]):
            heappop(self._events)
        return self._events[0].tick if self._events else None

    def expire(self, now: int) -> list[Job]:
        """Let happen what is due by this tick. Those that leave the queue for it know the time themselves."""
        self._now = now
        while (tick := self.next_change()) is not None and tick <= now:
            event = heappop(self._events)
            session = event.session
            if session is None:
                continue
            if event.due is Due.MESSAGE:
                self._hear(session, tick)
            elif event.due is Due.IMPATIENT:
                self._close(session, End.REFUSED)
            elif event.due is Due.IDLE:
                self._evict(session)
            elif session.in_flight:
                session.aged = True
            else:
                self._close(session, End.MAX_AGE)
        return []

    # Events

    def _at(self, tick: int, due: Due, session: Session | None) -> None:
        self._requests += 1
        stamp = 0 if session is None else session.stamp
        heappush(self._events, Event(tick, self._requests, due, session, stamp))

    def _is_stale(self, event: Event) -> bool:
        session = event.session
        if session is None:
            return False
        moved = event.due in {Due.IDLE, Due.IMPATIENT} and event.stamp != session.stamp
        return moved or session.end is not End.OPEN or (event.due is Due.AGED and session.aged)

    def _after(self, seconds: Fraction) -> int:
        """Return the ticks of so many seconds: whole nanoseconds, and at least one."""
        return ceil(seconds * NANOSECONDS) * self.scale

    # A conversation

    def _history(self, session: Session) -> int:
        return self.circumstances.system + session.summary + session.raw

    def _hear(self, session: Session, tick: int) -> None:
        """Take a message."""
        session.message = session.saying
        session.turns.append(Turn(tick // self.scale, 0, None))
        session.stamp += 1
        if not session.let_in:
            if self.policy.max_age_s is not None:
                self._at(tick + self._after(self.policy.max_age_s), Due.AGED, session)
            if self.policy.queue_timeout_s is not None:
                self._at(tick + self._after(self.policy.queue_timeout_s), Due.IMPATIENT, session)
        if session.job is not None and not session.in_flight:
            self._withdraw(session)  # a summary ahead that comes too late
        if session.job is None:
            self._say(session)

    def _say(self, session: Session) -> None:
        """Ask for the answer to the message, or for a summary before it."""
        message = session.message
        if message is None:
            return
        limit = self.circumstances.reply_limit
        if self._history(session) + message.message + limit > self.policy.context_limit:
            if self.policy.context is Context.NONE:
                self._close(session, End.CONTEXT)
                return
            kept, summary = self._fitting(session, message)
            if kept < session.raw and summary:
                self._summarise(session, Work.SUMMARY, summary)
                return
            if kept < session.raw or summary < session.summary:
                self._trim(session, kept, summary)
        turn, history = session.turns[-1], self._history(session)
        turn.fresh = message.message + (1 if session.said else history)
        if session.said:
            turn.kept = (2 * session.raw + session.covered) * PIECE // (2 * session.said)
        session.message = None
        turn.job = self._ask(session, Work.TURN, history + message.message, message.reply, limit, turn.arrival)

    def _fitting(self, session: Session, message: Said | None) -> tuple[int, int]:
        """Return the tokens as they were said and those of a summary that stay, beside a message in the window."""
        system, limit = self.circumstances.system, self.circumstances.reply_limit
        said = MARGIN - limit if message is None else message.message
        room = max(0, self.circumstances.window - system - said - limit)
        summary = min(self.policy.summary, room) if self.policy.context is Context.SUMMARISE else 0
        return min(max(0, self.policy.keep - system), room - summary, session.raw), summary

    def _summarise(self, session: Session, work: Work, tokens: int) -> None:
        arrival = None if work is Work.AHEAD else session.turns[-1].arrival
        self._ask(session, work, min(self._history(session), self.circumstances.window - tokens), tokens, 0, arrival)

    def _trim(self, session: Session, kept: int, summary: int) -> None:
        """Cut the history down; what its cache has is of no use any more."""
        had = 2 * session.raw + session.covered
        session.raw, session.summary = kept, summary
        session.covered = min(session.said - kept, STANDS_FOR * summary)
        if had:
            self.spared.append((2 * session.raw + session.covered) * PIECE // had)
        session.cached = 0
        if not (self.policy.window_hold and session.booked):
            self._free(session)
        elif self._engine.host:
            self._engine.host.drop(session.script.number)

    def _answered(self, session: Session) -> None:
        """Note an answer, and when the user will go on. A slow server does not shorten a conversation."""
        turn = session.saying
        session.raw += turn.message + turn.reply
        session.said += turn.message + turn.reply
        following = next(session.ahead, None)
        if following is None:
            self._close(session, End.DONE)
            return
        session.saying = following
        self._at((-(-self._now // self.scale) + turn.think) * self.scale, Due.MESSAGE, session)

    def _rest(self, session: Session) -> None:
        """Leave a session idle, or use the time."""
        policy = self.policy
        full = self._history(session) + MARGIN > policy.context_limit
        if policy.context is Context.SUMMARISE and policy.summarise_when is When.IDLE and full:
            kept, summary = self._fitting(session, None)
            if kept < session.raw and summary:
                self._summarise(session, Work.AHEAD, summary)
        if policy.idle_ttl_s is not None:
            self._at(self._now + self._after(policy.idle_ttl_s), Due.IDLE, session)

    def _ask(
        self, session: Session, work: Work, prompt: int, output: int, limit: int = 0, arrival: int | None = None
    ) -> Job:
        self._requests += 1
        name = session.script.number
        chain = [("system", n) for n in range(self._shared)]
        came = -(-self._now // self.scale) if arrival is None else arrival
        request = Request(self._requests, came, prompt, output, limit, chain, name, min(session.cached, prompt - 1))
        if work is not Work.TURN:
            self.extra[request.id] = work
        session.job, session.work = self._engine.expect(request), work
        return session.job

    # Ends

    def _close(self, session: Session, end: End) -> None:
        """End a session that is not in flight; it holds nothing any more."""
        session.end, session.message = end, None
        self.open -= session.let_in
        self._withdraw(session)
        self._free(session)
        self._changed = True

    def _withdraw(self, session: Session) -> None:
        """Take back what it asked for and was not let in for."""
        job, session.job = session.job, None
        if job is not None and job.state is State.WAITING:
            if job in self.waiting:
                self.cancel(job)
            job.state, job.finish = State.CANCELLED, self._now

    def _free(self, session: Session) -> None:
        """Let its caches go, here and on the host."""
        name = session.script.number
        self._unbook(session)
        if name in self.cache:
            self.cache.free(name)
            self._changed = True
        if self._engine.host:
            self._engine.host.drop(name)

    def _unbook(self, session: Session) -> None:
        if session.booked:
            session.booked, self._changed = False, True
            self.cache.unpin(session.script.number)

    def _evict(self, session: Session) -> None:
        """Send the cache of an idle session away."""
        name = session.script.number
        self._unbook(session)
        if name in self.cache and not session.in_flight:
            self.cache.free(name)
            self._changed = True
            if self._engine.host and session.cached:
                self._engine.host.take_in((name,))

    def _victim(self, idle: Evicted) -> Hashable:
        """Pick the idle cache that goes next."""
        self.evictions += 1
        if self.policy.evict is Victim.LARGEST:
            return max(idle, key=self.cache.tokens)
        if self.policy.evict is Victim.CHEAPEST:
            return min(idle, key=self.cache.tokens)
        if self.policy.evict is Victim.OLDEST_SESSION:
            return min(idle, key=lambda name: self.sessions[name].arrival)
        return idle[0]

    # Who comes in

    def _place(self, job: Job) -> tuple[int, ...]:
        """Return what decides the place in the queue: smaller comes first."""
        session, order = self.sessions[job.name], self.policy.order
        first = 0
        if order is Order.SHORTEST_FIRST:
            first = job.prompt
        elif order is not Order.FCFS:
            first = session.let_in is (order is Order.NEW_FIRST)
        return session.work >= Work.AHEAD, first, *job.sort_key

    def _candidates(self) -> list[Job]:
        """List those that wait in the order in which they may come in: those whose booking is enough before all."""
        waiting = list(self.waiting)
        if not self._stays:
            return waiting
        return sorted(waiting, key=lambda job: not self._has_booked(job))

    def _has_booked(self, job: Job) -> bool:
        return self.sessions[job.name].booked and self.tokens(job) <= self.cache.tokens(job.name)

    def _is_kept_out(self, session: Session, job: Job, tokens: int) -> bool:
        """Say whether a rule that does not hold for all keeps it out."""
        blocks, policy = self.cache.blocks(tokens), self.policy
        if not session.let_in:
            if policy.session_cap is not None and self.open >= policy.session_cap:
                return True
            crowded = policy.watermark < 1 and self.cache.held + blocks > self._most_beside_new
            return crowded and policy.reserve is not Book.NONE and self.cache.held > 0
        if not policy.headroom or policy.reserve is Book.NONE or self._has_booked(job):
            return False
        others = self.cache.held
        if session.booked:
            others -= self.cache.blocks(self.cache.tokens(job.name))
        return others > 0 and others + blocks > self._most_for_later

    def _makes_room(self, session: Session, job: Job, tokens: int) -> bool:
        """Say whether there is room for it, ending idle sessions for it where the policy does."""
        if self.policy.reserve is Book.NONE:
            return True
        chain = self._chain(job)
        if self.cache.fits(job.name, tokens, chain):
            return True
        if self.policy.kill is Kill.NONE:
            return False
        booked = [each for each in self.sessions.values() if each.booked and not each.in_flight and each is not session]
        room = sum(self.cache.blocks(self.cache.tokens(each.script.number)) for each in booked)
        own = self.cache.blocks(self.cache.tokens(job.name)) if session.booked else 0
        if self.cache.blocks(tokens) - own > self.cache.available + room:
            return False
        for each in sorted(booked, key=lambda each: (each.user_waits, each.arrival)):
            self._close(each, End.KILLED)
            if self.cache.fits(job.name, tokens, chain):
                return True
        return False
