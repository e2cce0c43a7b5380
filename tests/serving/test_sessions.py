"""Chat sessions under any policy: what holds at every moment of a run, and what sets one policy apart from another."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec.serving.engine import Engine
from spec.serving.request import NANOSECONDS, Job, State
from spec.serving.session_desk import Desk
from spec.serving.session_measures import jain
from spec.serving.session_policy import (
    Book,
    Context,
    Kill,
    Order,
    PolicyRefused,
    SessionPolicy,
    Tier,
    Victim,
    When,
)
from spec.serving.session_state import End, Session, Work
from spec.serving.session_workload import Circumstances, scripts
from spec.serving.sessions import machine, opened, play
from tests.serving.frozen_sessions import POLICIES
from tests.serving.policies import policies

pytestmark = pytest.mark.law
SOME = settings(max_examples=300 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 25)
# A window of 4K and twelve sessions a minute, on a card that holds six windows.
SMALL = Circumstances(gpu="a100-40gb", per_minute=12, window=4096, seconds=150, warm_up=30, host_bytes=8 * 10**9)
# On one that holds two and a half, and is slow, all that can happen does within minutes.
TIGHT = replace(SMALL, model="phi-3-mini", gpu="l4", seconds=300)
CIRCUMSTANCES = st.builds(
    lambda shared, host, rate: replace(TIGHT, shared_prefix=shared, host_bytes=host * 10**9, per_minute=rate),
    st.booleans(),
    st.integers(0, 4),
    st.integers(6, 30),
)
SHORT_TIMES = st.one_of(st.none(), st.none(), st.none(), st.integers(1, 90).map(Fraction))
HASTY: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("idle_ttl_s", "max_age_s", "queue_timeout_s"), SHORT_TIMES),
    "session_cap": st.one_of(st.none(), st.none(), st.integers(1, 40)),
}


def drawn(**given_fields: st.SearchStrategy[Any]) -> st.SearchStrategy[SessionPolicy]:
    return policies(SMALL.window, **HASTY, **given_fields)


def steps(engine: Engine, until: int) -> Iterator[int]:
    """Let an engine work up to a second, and stop after each piece of work."""
    until *= NANOSECONDS * engine.scale
    while engine.now < until and engine.step():
        yield engine.now


class Holds:
    """What holds at every moment."""

    def __init__(self, engine: Engine, desk: Desk, policy: SessionPolicy) -> None:
        self.engine, self.desk, self.policy = engine, desk, policy
        self.ended: dict[int, End] = {}

    def check(self) -> None:
        cache, desk, host = self.engine.cache, self.desk, self.engine.host
        assert cache.used <= cache.capacity
        assert cache.admitted == cache.used + cache.evicted + cache.freed
        assert desk.arrived == desk.refused + desk.cancelled + desk.admitted + len(desk.waiting)
        assert desk.admitted == desk.released + len(desk.flight)
        on_host = host.blocks if host else {}
        assert sum(on_host.values()) <= (self.engine.server.host_blocks or 0)
        resident = set(cache.resident)
        for name, job in desk.flight.items():
            assert name in resident, "a turn in flight lost its cache"
            assert cache.tokens(name) >= min(job.reserved, self.engine.tokens(job))
            assert job.prompt + job.request.max_tokens <= desk.circumstances.window
        assert all(desk.sessions[job.name].job is job for job in desk.waiting), "a session waits twice"
        ahead = [desk.sessions[job.name] for job in desk.waiting if desk.sessions[job.name].work >= Work.AHEAD]
        assert all(session.message is None for session in ahead), "a user waits for what nobody waits for"
        self.check_order([job for job in desk.waiting if desk.sessions[job.name].work < Work.AHEAD])
        for number, session in desk.sessions.items():
            self.check_session(session, number in resident, number in on_host)
        let_in = [each for each in desk.sessions.values() if each.let_in and each.end is End.OPEN]
        assert desk.open == len(let_in)
        if self.policy.session_cap is not None:
            assert desk.open <= self.policy.session_cap

    def check_order(self, waiting: list[Job]) -> None:
        """Users wait in the order of the policy, and in that of their coming where it says no more."""
        new = [not self.desk.sessions[job.name].let_in for job in waiting]
        first: list[int] = {
            Order.FCFS: [0] * len(waiting),
            Order.NEW_FIRST: [int(not each) for each in new],
            Order.RETURNING_FIRST: list(map(int, new)),
            Order.SHORTEST_FIRST: [job.prompt for job in waiting],
        }[self.policy.order]
        places = [(number, job.arrival) for number, job in zip(first, waiting, strict=True)]
        assert places == sorted(places)

    def check_session(self, session: Session, on_gpu: bool, on_host: bool) -> None:  # noqa: FBT001  a row of facts
        number = session.script.number
        was = self.ended.get(number, End.OPEN)
        assert was in {End.OPEN, session.end}, "a session ended twice"
        self.ended[number] = session.end
        if session.end is not End.OPEN:
            assert (on_gpu, on_host, session.booked, session.in_flight) == (False,) * 4
        if not (session.cached or session.in_flight or (session.booked and self.policy.window_hold)):
            assert (on_gpu, on_host) == (False, False), "a cache that is of no use any more is kept"
        if on_gpu and not session.in_flight and not (session.booked and self.policy.window_hold):
            assert self.engine.cache.tokens(number) == session.cached
        if self.policy.context is not Context.SUMMARISE:
            assert session.summary == session.covered == 0
        assert session.raw + session.covered <= session.said or session.end is not End.OPEN
        assert len(session.turns) <= 1 or session.let_in

    def check_times(self) -> None:
        """Limits that are times hold up to the piece of work that is being done."""
        policy, second = self.policy, NANOSECONDS * self.engine.scale
        for session in self.desk.sessions.values():
            if session.end is End.OPEN and not session.in_flight and session.turns and policy.max_age_s is not None:
                assert self.engine.now - session.arrival <= ceil(policy.max_age_s * second)
            if not session.let_in and session.turns and policy.queue_timeout_s and session.end is End.OPEN:
                assert self.engine.now - session.arrival <= ceil(policy.queue_timeout_s * second)


@SOME
@given(drawn(), CIRCUMSTANCES, st.integers(0, 99))
def test_under_any_policy_nothing_is_lost_or_held_twice(
    policy: SessionPolicy, around: Circumstances, seed: int
) -> None:
    engine, desk = opened(policy, around, seed)
    holds = Holds(engine, desk, policy)
    for _ in steps(engine, around.seconds):
        holds.check()
        engine._deliver()  # noqa: SLF001  so that what is due by now has happened
        holds.check_times()
    ends = Counter(session.end for session in desk.sessions.values())
    if policy.context is not Context.NONE:
        assert not ends[End.CONTEXT]
    if policy.kill == "none":
        assert not ends[End.KILLED]
    if policy.evict is Victim.NONE:
        assert not desk.evictions
    assert bool(ends[End.OOM]) <= bool(engine.tally.crashes)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "policy",
    [
        *POLICIES.values(),
        SessionPolicy(
            evict_to=Tier.HOST, idle_ttl_s=Fraction(2), context_limit=4096, keep=1000, max_age_s=Fraction(90)
        ),
        SessionPolicy(
            Book.WINDOW, context=Context.SUMMARISE, context_limit=1500, keep=300, summary=99, summarise_when=When.IDLE
        ),
        SessionPolicy(evict=Victim.CHEAPEST, context_limit=4096, keep=3072, order=Order.RETURNING_FIRST),
        SessionPolicy(Book.TURN, window_hold=True, kill=Kill.OLDEST, evict_to=Tier.HOST, context_limit=4096, keep=99),
    ],
)
def test_nothing_is_lost_or_held_twice_where_it_is_most_likely(policy: SessionPolicy, seed: int) -> None:
    engine, desk = opened(policy, TIGHT, seed)
    holds = Holds(engine, desk, policy)
    for _ in steps(engine, TIGHT.seconds):
        holds.check()


@SOME
@given(drawn(reserve=st.sampled_from([Book.TURN, Book.WINDOW])), CIRCUMSTANCES, st.integers(0, 99))
def test_who_books_a_turn_never_runs_out_of_memory(policy: SessionPolicy, around: Circumstances, seed: int) -> None:
    played = play(policy, around, seed)
    assert played.ooms == 0
    assert played.ends[End.OOM] == 0
    assert played.peak_kv <= played.budget


@pytest.mark.differential
@SOME
@given(drawn(), CIRCUMSTANCES, st.integers(0, 99))
def test_one_iteration_at_a_time_comes_to_the_same(policy: SessionPolicy, around: Circumstances, seed: int) -> None:
    around = replace(around, seconds=70, warm_up=20)
    assert play(policy, around, seed) == play(policy, around, seed, bulk=False)


@SOME
@given(drawn(), CIRCUMSTANCES, st.integers(0, 99))
def test_what_is_measured_lies_where_it_can(policy: SessionPolicy, around: Circumstances, seed: int) -> None:
    played = play(policy, around, seed)
    came = sum(around.seconds * NANOSECONDS >= script.arrival for script in scripts(around, seed))
    unheard = came - sum(played.ends.values())  # those who come in the last piece of work, such as a restart
    assert 0 <= unheard <= (came if played.ooms else 1)
    for share in (played.recompute, played.summarise, played.busy, played.jain, played.retention, played.bad):
        assert 0 <= share <= 1
    assert played.recompute + played.summarise <= played.busy
    assert played.spared is None or 0 <= played.spared < 1
    assert all(waited >= 0 for waited in played.new_waits + played.returning_ttfts)
    if not played.ooms:
        assert all(sum(look.gpu) <= played.budget + look.resident * around.system for look in played.timeline)


def test_a_longer_window_than_the_model_has_is_refused() -> None:
    with pytest.raises(PolicyRefused):
        opened(SessionPolicy(), replace(SMALL, window=4096), 1)


def finished(policy: SessionPolicy, around: Circumstances, seed: int) -> tuple[Engine, Desk]:
    engine, desk = opened(policy, around, seed)
    for _ in steps(engine, around.seconds):
        pass
    return engine, desk


def answered(desk: Desk) -> list[tuple[Session, int, Job]]:
    """List the turns that were answered: the session, the number of the turn, and its request."""
    return [
        (session, number, turn.job)
        for session in desk.sessions.values()
        for number, turn in enumerate(session.turns)
        if turn.job is not None and turn.job.state is State.DONE
    ]


ALONE = 4  # a seed whose second user comes late
LONELY = Circumstances(per_minute=Fraction(1, 40), seconds=5400, warm_up=0)


@pytest.mark.differential
def test_alone_and_untrimmed_every_time_is_that_of_the_closed_form() -> None:
    """With the history cached only the message, and the last token of the reply before it, are worked on."""
    policy = SessionPolicy(context=Context.NONE)
    timing, (first, second) = machine(LONELY.model, LONELY.gpu).timing, scripts(LONELY, ALONE)[:2]
    engine, desk = finished(policy, replace(LONELY, seconds=second.arrival // NANOSECONDS), ALONE)
    session = desk.sessions[0]
    history, lines, turns = LONELY.system, list(first.turns), answered(desk)
    assert len(turns) > 10
    for (_, number, job), said in zip(turns, lines, strict=False):
        fresh = said.message + (1 if number else history)
        prompt = history + said.message
        assert job.prompt == prompt
        assert (job.first_token or 0) - job.arrival == timing.iteration(0, 0, [(prompt - fresh, fresh)])
        assert (job.finish or 0) - (job.first_token or 0) == timing.run(1, prompt, said.reply - 1)
        history = prompt + said.reply
    assert session.raw == session.said
    assert engine.tally.crashes == []


def test_with_room_for_all_nothing_is_worked_on_twice() -> None:
    around = replace(SMALL, gpu="h200", per_minute=4)
    played = play(SessionPolicy(context=Context.SLIDE, context_limit=4096, keep=2048), around, 3)
    assert (played.evictions, played.recompute, played.retention, played.bad) == (0, 0, 1, 0)


@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize(("shared", "reused"), [(False, 0), (True, 192)])
def test_a_cut_history_is_worked_on_anew_but_for_the_shared_system_prompt(
    *, shared: bool, reused: int, hold: bool
) -> None:
    policy = SessionPolicy(window_hold=hold, context_limit=1500, keep=400)
    _, desk = finished(policy, replace(SMALL, gpu="h200", per_minute=4, seconds=400, shared_prefix=shared), 1)
    cut = [
        (job, turn)
        for session in desk.sessions.values()
        for before, turn in zip(session.turns, session.turns[1:], strict=False)
        if (job := turn.job) is not None and before.job is not None and job.prompt - turn.fresh < before.job.prompt
    ]
    assert len(cut) > 10
    assert {job.reused for job, _ in cut if job.state is State.DONE} == {reused}
    assert all(job.prompt - turn.fresh + 1 == 400 for job, turn in cut if job.prompt < 1500)


def test_what_a_cut_leaves_is_measured_in_the_mean() -> None:
    around = replace(SMALL, gpu="h200", per_minute=4, seconds=400)
    keeps = (SMALL.system, 600, 1200)
    cut = [play(SessionPolicy(context_limit=2500, keep=keep), around, 3).spared for keep in keeps]
    whole, few = 2500 - 512, 3 * 50  # before a cut, and what messages differ by
    for keep, spared in zip(keeps, cut, strict=True):
        assert spared is not None
        assert abs(spared - Fraction(keep - SMALL.system, whole - SMALL.system)) < Fraction(few, whole)
    summed = SessionPolicy(context=Context.SUMMARISE, context_limit=2500, keep=SMALL.system, summary=100)
    assert Fraction(1, 6) < (play(summed, around, 3).spared or 0) < Fraction(1, 2)
    assert play(SessionPolicy(context=Context.NONE, context_limit=4096, keep=0), around, 3).spared is None


def test_the_host_brings_back_what_dropping_works_on_again() -> None:
    drop = SessionPolicy(context_limit=4096, keep=2048, idle_ttl_s=Fraction(1, 10**4))
    around = replace(SMALL, per_minute=6, seconds=300)
    dropped, moved = (play(replace(drop, evict_to=tier), around, 1) for tier in (Tier.DROP, Tier.HOST))
    assert dropped.recompute > 2 * moved.recompute
    assert max(look.host for look in moved.timeline) > 0 == max(look.host for look in dropped.timeline)


def test_a_summary_ahead_spares_the_user_the_wait_for_it() -> None:
    inline = SessionPolicy(context=Context.SUMMARISE, context_limit=3000, keep=1000, summary=300)
    around = replace(SMALL, gpu="h200", per_minute=6, seconds=600, warm_up=100)
    slow, fast = (play(replace(inline, summarise_when=when), around, 1) for when in When)
    assert min(slow.summarise, fast.summarise) > 0
    waited = [sum(each > 1 for each in one.returning_ttfts) for one in (slow, fast)]
    assert waited[0] > 2 * waited[1]
    assert slow.summarise > 3 * play(replace(inline, summary=10), around, 1).summarise
    _, desk = finished(replace(inline, summarise_when=When.IDLE), around, 1)
    done = Counter(desk.extra.values())
    assert 2 * done[Work.REBUILD] > done[Work.AHEAD] > 10
    dull = play(replace(inline, context=Context.SLIDE), around, 1)
    assert fast.retention > dull.retention


def test_a_booking_that_is_held_keeps_the_others_out() -> None:
    pinned = SessionPolicy(reserve=Book.WINDOW, window_hold=True, context_limit=4096, keep=2048)
    engine, desk = opened(pinned, replace(SMALL, per_minute=30), 1)
    windows = engine.cache.capacity // engine.cache.blocks(SMALL.window)
    assert windows == 6
    for _ in steps(engine, SMALL.seconds):
        assert desk.open <= windows
        assert desk.evictions == 0


def test_the_oldest_idle_session_is_ended_where_nothing_else_makes_room() -> None:
    """Each one that is ended is older than all that are left idle then, but for those whose user waits."""
    policy = SessionPolicy(evict=Victim.NONE, kill=Kill.OLDEST, context_limit=4096, keep=2048)
    engine, desk = opened(policy, TIGHT, 1)
    killed: list[Session] = []
    for _ in steps(engine, TIGHT.seconds):
        new = [each for each in desk.sessions.values() if each.end is End.KILLED and each not in killed]
        left = [each for each in desk.sessions.values() if each.booked and not each.in_flight]
        if new and left and not any(each.user_waits for each in (*new, *left)):
            assert max(each.arrival for each in new) < min(each.arrival for each in left)
        killed += new
    assert len(killed) > 3
    assert play(replace(policy, kill=Kill.NONE), TIGHT, 1).turns < play(policy, TIGHT, 1).turns


def test_a_session_that_holds_its_booking_passes_all_that_wait() -> None:
    """Behind the new sessions, who wait for its booking, it would wait for ever."""
    pinned = SessionPolicy(Book.WINDOW, window_hold=True, context_limit=4096, keep=2048, order=Order.NEW_FIRST)
    played = play(pinned, replace(SMALL, per_minute=30, warm_up=0), 1)
    assert played.queued_at_end > 20
    assert max(played.returning_ttfts) < 2
    assert len(played.new_waits) == sum(played.ends.values()), "one that still waits counts with its wait so far"


@pytest.mark.parametrize("evict", [Victim.LRU, Victim.LARGEST, Victim.CHEAPEST, Victim.OLDEST_SESSION])
def test_the_cache_that_goes_first_is_the_one_of_the_policy(evict: Victim) -> None:
    engine, desk = opened(SessionPolicy(evict=evict, context_limit=4096, keep=2048), TIGHT, 1)
    cache, seen = engine.cache, 0
    choose = cache.choose

    def rank(name: Hashable) -> int:
        if evict is Victim.LRU:
            return cache.resident.index(name)
        if evict is Victim.OLDEST_SESSION:
            return desk.sessions[name].arrival
        return -cache.tokens(name) if evict is Victim.LARGEST else cache.tokens(name)

    def watched(idle: tuple[Hashable, ...]) -> Hashable:
        nonlocal seen
        assert choose is not None
        name = choose(idle)
        assert rank(name) == min(map(rank, idle))
        seen += len(idle) > 1
        return name

    cache.choose = watched
    for _ in steps(engine, TIGHT.seconds):
        pass
    assert seen > 3


def test_a_turn_that_outgrows_its_booking_takes_free_blocks_only() -> None:
    """Memory runs out beside idle caches that could have made room."""
    engine, _ = finished(SessionPolicy(Book.PROMPT, context_limit=4096, keep=2048), TIGHT, 1)
    budget = engine.cache.capacity * engine.cache.block_size
    assert min(crash.tokens for crash in engine.tally.crashes) < budget * 3 // 4


def test_without_caches_each_prompt_is_worked_on_again_but_for_what_is_new() -> None:
    stateless = SessionPolicy(context=Context.NONE, idle_ttl_s=Fraction(1, 10**4))
    (_, second), timing = scripts(LONELY, ALONE)[:2], machine(LONELY.model, LONELY.gpu).timing
    around = replace(LONELY, seconds=second.arrival // NANOSECONDS)
    _, desk = finished(stateless, around, ALONE)
    worked = sum(
        timing.iteration(0, 0, [(0, job.prompt)]) - timing.iteration(0, 0, [(job.prompt - turn.fresh, turn.fresh)])
        for turn in desk.sessions[0].turns
        if (job := turn.job) is not None and turn.kept is not None
    )
    assert play(stateless, around, ALONE).recompute == Fraction(worked, around.seconds * timing.ticks_per_second)


def test_sessions_that_are_ended_early_are_not_served_fairly() -> None:
    around = replace(SMALL, gpu="h200", per_minute=4, seconds=600)
    plain = SessionPolicy(context_limit=4096, keep=2048)
    kept, ended = (play(each, around, 1) for each in (plain, replace(plain, max_age_s=Fraction(100))))
    assert ended.jain < Fraction(9, 10) < kept.jain


def test_headroom_is_for_first_turns_and_the_watermark_against_them() -> None:
    around = replace(SMALL, per_minute=20, seconds=300)
    plain = SessionPolicy(context_limit=4096, keep=2048)
    base, room, mark = (
        play(each, around, 1)
        for each in (plain, replace(plain, headroom=Fraction(1, 3)), replace(plain, watermark=Fraction(1, 2)))
    )
    assert (room.new_wait_p99 or 0) < (base.new_wait_p99 or 0) < (mark.new_wait_p99 or 0)
    assert (mark.returning_ttft_p99 or 0) < (base.returning_ttft_p99 or 0) < (room.returning_ttft_p99 or 0)


def test_a_summary_ahead_that_memory_runs_out_on_costs_no_session() -> None:
    """The users of sessions whose summary is written ahead are typing; those who wait for an answer are lost."""
    policy = SessionPolicy(
        Book.NONE, evict=Victim.NONE, context=Context.SUMMARISE, context_limit=2000, keep=500, summary=300,
        summarise_when=When.IDLE,
    )  # fmt: skip
    engine, desk = opened(policy, replace(SMALL, per_minute=40), 1)
    spared = 0
    for _ in steps(engine, SMALL.seconds):
        for crash in engine.tally.crashes:
            for member in crash.members:
                name = engine.jobs[member].name
                ahead = desk.extra.get(member, Work.TURN) >= Work.AHEAD
                assert (desk.sessions[name].end is End.OOM) is not ahead
                spared += ahead
        engine.tally.crashes.clear()
    assert spared


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=9))
def test_jains_index_lies_between_one_of_all_and_one(values: list[int]) -> None:
    assert Fraction(1, len(values)) <= jain(values) <= 1
    assert jain([7] * len(values)) == 1
    assert jain([*[0] * len(values), 1]) == Fraction(1, len(values) + 1)
