"""The engine: what holds on every run of every server, and where the closed forms say what must come out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous, Static
from spec.serving.engine import Engine
from spec.serving.request import NANOSECONDS, Job, Request, State
from spec.serving.scheduler import Chunked, DecodeFirst, PrefillFirst, ReservedShare
from spec.serving.server import Server, WhenFull
from spec.serving.timing import BySize, Roofline
from tests.serving.served import (
    PREEMPTING,
    REQUESTS,
    SERVERS,
    chapter_server,
    continuous,
    served,
    timing_of,
    told,
)

MORE = settings(max_examples=2 * settings().max_examples)


@pytest.mark.differential
@MORE
@given(SERVERS, REQUESTS)
def test_many_iterations_at_once_are_those_one_by_one(server: Server, requests: list[Request]) -> None:
    assert told(served(server, requests)) == told(served(server, requests, bulk=False))


@pytest.mark.law
@MORE
@given(SERVERS, REQUESTS)
def test_littles_law_holds_on_the_path(server: Server, requests: list[Request]) -> None:
    """The number here, added up over the time, is the time of each one here, added up over the requests."""
    run = served(server, requests)
    stays = sum(
        (run.end if job.finish is None else job.finish) - job.arrival
        for job in run.jobs
        if job.state is not State.REFUSED or job.finish is not None
    )
    assert run.tally.requests_time == stays


@pytest.mark.law
@MORE
@given(SERVERS, REQUESTS)
def test_all_time_is_accounted_for_and_everybody_ends_somewhere(server: Server, requests: list[Request]) -> None:
    engine = Engine(server, requests)
    run = engine.run()
    assert run.tally.total == run.end
    ended = {job.request.id: job.state for job in run.jobs}
    assert len(ended) == len(requests)
    assert set(ended.values()) <= {State.DONE, State.REFUSED, State.LOST, State.WAITING}
    lost = [member for crash in run.tally.crashes for member in crash.members]
    assert sorted(lost) == sorted(number for number, state in ended.items() if state is State.LOST)
    assert all(crash.wanted in crash.members for crash in run.tally.crashes)
    if State.WAITING in ended.values():
        assert isinstance(server.batching, Static), "somebody waits for ever"
        assert server.batching.flush is None
    assert engine.cache.used == 0
    assert not engine.admission.flight
    assert engine.cache.admitted == engine.cache.evicted + engine.cache.freed


@pytest.mark.law
@MORE
@given(SERVERS, REQUESTS)
def test_times_of_a_request_are_in_order_and_its_tokens_complete(server: Server, requests: list[Request]) -> None:
    run = served(server, requests)
    for job in run.jobs:
        if job.state is State.DONE:
            assert job.admitted is not None
            assert job.first_token is not None
            assert job.finish is not None
            assert job.arrival <= job.admitted <= job.first_token <= job.finish
            assert job.generated == job.output >= job.request.output
            if server.rules.reserve is Reserve.TURN:
                assert 0 < job.prompt + job.generated - 1 <= job.reserved
    done = [job.request for job in run.jobs if job.state is State.DONE]
    if not run.tally.crashes and not run.tally.preemptions and len(done) == len(run.jobs):
        tally = run.tally
        assert tally.decoded - tally.decode_padding == sum(request.output - 1 for request in done)
        assert tally.prefilled + tally.reused - tally.prefill_padding == sum(request.prompt for request in done)


@pytest.mark.law
@MORE
@given(SERVERS, REQUESTS)
def test_blocks_are_held_by_those_in_flight_and_by_nobody_else(server: Server, requests: list[Request]) -> None:
    """After every iteration, under preemption, crashes and shared prefixes: no block leaks, none is freed twice."""
    engine = Engine(server, requests, bulk=False)
    while engine.step():
        cache, flight = engine.cache, engine.admission.flight
        assert cache.resident == tuple(flight)
        assert cache.held == cache.used <= cache.capacity
        assert cache.used <= sum(cache.blocks(cache.tokens(name)) for name in flight)
        assert engine.cached == sum(map(engine.tokens, engine.decoding))
        for name, job in flight.items():
            given = cache.blocks(cache.tokens(name))
            assert given == max(cache.blocks(job.reserved), cache.blocks(max(1, engine.tokens(job))))
        assert cache.admitted == cache.used + cache.evicted + cache.freed
        assert len(flight) <= server.batching.slots
        if server.host_blocks is not None:
            assert sum(job.swapped for job in engine.admission.waiting) <= server.host_blocks


@pytest.mark.law
@MORE
@given(continuous(WhenFull.CRASH, Reserve.TURN), REQUESTS)
def test_a_reserved_turn_never_runs_out_of_memory(server: Server, requests: list[Request]) -> None:
    tally = served(server, requests).tally
    assert (tally.crashes, tally.preemptions, tally.restart) == ([], 0, 0)


@pytest.mark.law
@MORE
@given(PREEMPTING, REQUESTS)
def test_making_room_by_preemption_loses_nobody(server: Server, requests: list[Request]) -> None:
    run = served(server, requests)
    assert all(job.state in {State.DONE, State.REFUSED} for job in run.jobs)
    assert run.tally.preemptions == sum(job.preemptions for job in run.jobs)
    if server.when_full is WhenFull.RECOMPUTE:
        assert run.tally.swapped_blocks == run.tally.swap == 0


class Queue(deque[Job]):
    """Counts how many of those that wait are looked at."""

    seen = 0

    def __iter__(self) -> Iterator[Job]:
        for job in super().__iter__():
            self.seen += 1
            yield job


@pytest.mark.law
@pytest.mark.parametrize("when_full", [WhenFull.RECOMPUTE, WhenFull.SWAP])
def test_a_step_looks_at_no_more_of_the_queue_than_it_lets_in(when_full: WhenFull) -> None:
    """So that a long queue costs nothing: ten times the requests take ten times as long."""
    rules = Rules(Reserve.PROMPT)
    server = Server(BySize(lambda _: 1), 40, 1, Continuous(4), rules=rules, when_full=when_full, host_blocks=30)
    engine = Engine(server, [Request(n, 0, 5, 12) for n in range(200)])
    engine.admission.waiting = queue = Queue()
    before, more = 0, True
    while more:
        more = engine.step()
        assert queue.seen - before <= server.batching.slots + 1
        before = queue.seen
    assert engine.tally.preemptions


@pytest.mark.law
@given(SERVERS, REQUESTS, st.randoms(use_true_random=False))
def test_the_order_of_the_list_is_irrelevant(server: Server, requests: list[Request], random: object) -> None:
    shuffled = list(requests)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert told(served(server, shuffled)) == told(served(server, requests))


@pytest.mark.law
@given(continuous(WhenFull.CRASH, *Reserve) | PREEMPTING, REQUESTS, st.integers(2, 5))
def test_a_server_that_is_twice_as_slow_serves_half_the_load_alike(
    server: Server, requests: list[Request], factor: int
) -> None:
    """Every time, those that are given too, grows by the factor; nothing else changes."""
    assume(isinstance(server.timing, Roofline))
    timing = server.timing
    slower = Roofline(
        timing.ticks_per_second,
        *(factor * part for part in (timing.token, timing.pair, timing.weights, timing.cache, timing.overhead)),
    )
    later = [replace(request, arrival=factor * request.arrival) for request in requests]
    patience = server.rules.patience and factor * server.rules.patience
    server, rules = replace(server, timing=timing), replace(server.rules, patience=patience)
    given = {"restart": factor * server.restart, "swap": factor * server.swap, "rules": rules}
    slow = served(replace(server, timing=slower, **given), later)
    run = served(server, requests)
    assert slow.end == factor * run.end
    assert [job.finish and job.finish / factor for job in slow.jobs] == [job.finish for job in run.jobs]
    assert slow.tally.decoded == run.tally.decoded


@pytest.mark.differential
@given(st.integers(1, 9000), st.integers(1, 600))
def test_one_request_alone_takes_what_the_laws_say(prompt: int, output: int) -> None:
    """A prefill and a step for each token after the first, each with one more token in the cache."""
    chapter = chapter_server()
    run = served(Server(timing_of(chapter), prompt + output), [Request(1, 5, prompt, output)])
    job = run.jobs[0]
    assert job.first_token is not None
    assert job.finish is not None
    ttft = Fraction(job.first_token - job.arrival, run.ticks_per_second)
    assert ttft == chapter.impl.ttft(wait=0, prompt=prompt, prefill_rate=prompt / chapter.prefill_time(prompt))
    # The step grows by one law on either side of its ridge, so a few steps stand for all of them.
    steps = [chapter.decode_step_time(1, prompt + n) for n in range(min(output - 1, 3))]
    if output <= len(steps) + 1:
        assert Fraction(job.finish - job.first_token, run.ticks_per_second) == sum(steps)
    else:
        low, high = steps[0], chapter.decode_step_time(1, prompt + output)
        assert low <= Fraction(job.finish - job.first_token, run.ticks_per_second * (output - 1)) <= high


@pytest.mark.law
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 9), st.integers(0, 40), st.sampled_from(Reserve))
def test_one_request_alone_takes_the_blocks_of_its_tokens(
    prompt: int, output: int, size: int, more: int, reserve: Reserve
) -> None:
    """The last token is given out and never cached; what was reserved is taken from the start."""
    server = Server(BySize(lambda _: 1), 200, size, rules=Rules(reserve))
    cached = prompt + output - 1
    reserved = prompt + output + more if reserve is Reserve.TURN else prompt
    peak = served(server, [Request(1, 0, prompt, output, output + more)]).tally.peak_blocks
    assert peak == -(-max(cached, reserved) // size)


def test_a_prompt_that_waits_gets_its_first_token_after_the_wait_and_its_prefill() -> None:
    """Two prompts at once, one pass each: the second waits for the first (I67)."""
    timing = BySize(lambda _: 1, lambda count: 10 * count)
    run = served(Server(timing, 100), [Request(1, 0, 5, 1), Request(2, 3, 5, 1)])
    assert [job.first_token for job in run.jobs] == [10, 20]
    both = served(Server(timing, 100, scheduler=PrefillFirst(10)), [Request(1, 0, 5, 1), Request(2, 0, 5, 1)])
    assert [job.first_token for job in both.jobs] == [20, 20]


CROWD = [Request(n, 0, 6, 12) for n in range(4)]


def test_who_came_last_leaves_first_and_comes_back_first() -> None:
    """Two of three fit to the end: the third leaves once, and works its prompt and its tokens out again."""
    server = Server(BySize(lambda _: 1), 40, rules=Rules(Reserve.PROMPT), when_full=WhenFull.RECOMPUTE)
    run = served(server, CROWD[:3])
    assert [job.preemptions for job in run.jobs] == [0, 0, 1]
    assert run.tally.recomputed == 6 + 8
    assert [(job.admitted, job.first_token) for job in run.jobs] == [(0, 0)] * 3


def test_swapping_moves_blocks_to_the_host_and_back_instead() -> None:
    server = Server(BySize(lambda _: 1), 40, rules=Rules(Reserve.PROMPT), when_full=WhenFull.SWAP, swap=5)
    run = served(server, CROWD[:3])
    assert (run.tally.preemptions, run.tally.swapped_blocks, run.tally.recomputed) == (1, 13, 0)
    assert run.tally.swap == 2 * 5 * 13
    full = served(replace(server, host_blocks=12), CROWD[:3])
    assert (full.tally.swapped_blocks, full.tally.recomputed) == (0, 14)


@pytest.mark.differential
@given(arrival=st.integers(0, 250), backfill=st.booleans())
def test_who_comes_while_blocks_are_moved_joins_at_the_same_step(*, arrival: int, backfill: bool) -> None:
    rules = Rules(Reserve.PROMPT, backfill=backfill)
    server = Server(BySize(lambda _: 1), 40, rules=rules, when_full=WhenFull.SWAP, swap=5)
    crowd = [*CROWD[:3], Request(9, arrival, 1, 3)]
    assert told(served(server, crowd)) == told(served(server, crowd, bulk=False))


def test_a_watermark_lets_fewer_in_and_so_fewer_have_to_leave() -> None:
    server = Server(BySize(lambda _: 1), 40, rules=Rules(Reserve.PROMPT), when_full=WhenFull.RECOMPUTE)
    held = replace(server, rules=Rules(Reserve.PROMPT, watermark=Fraction(6, 10)))
    assert served(held, CROWD).tally.preemptions < served(server, CROWD).tally.preemptions


def test_a_prompt_alone_is_no_reservation() -> None:
    """Two requests of 40 that grow to 60 meet in 100: both are lost, where a reserved turn serves both (I82)."""
    pair = [Request(n, 0, 40, 21) for n in (1, 2)]
    server = Server(BySize(lambda _: 1), 100, rules=Rules(Reserve.PROMPT), restart=7)
    run = served(server, pair)
    assert [crash.members for crash in run.tally.crashes] == [(1, 2)]
    assert run.tally.crashes[0].tokens == 100
    assert run.tally.restart == 7
    assert all(job.state is State.DONE for job in served(replace(server, rules=Rules()), pair).jobs)


def test_a_request_that_can_never_fit_does_not_hold_up_the_others() -> None:
    run = served(Server(BySize(lambda _: 1), 10), [Request(1, 0, 10, 1), Request(2, 0, 9, 1)])
    assert [(job.state, job.reason, job.retry_after) for job in run.jobs] == [
        (State.REFUSED, "never fits", None),
        (State.DONE, "", None),
    ]


@pytest.mark.law
@given(st.integers(1, 8), st.integers(1, 60), st.integers(1, 40), st.integers(1, 9))
def test_a_share_leaves_decode_the_rest(tenths: int, prefill: int, more: int, step: int) -> None:
    """With prompts always waiting, decode gets 1 - f of the time, but for the last debt (I85)."""
    share = Fraction(tenths, 10)
    prompts = [Request(n, 0, 1, 1) for n in range(1, 20 + more)]
    server = Server(
        BySize(lambda _: step, lambda _: prefill), 10**7, scheduler=ReservedShare(share), batching=Continuous(2)
    )
    engine = Engine(server, [Request(0, 0, 1, 10**6), *prompts])
    engine.step()  # the long one starts
    while engine.admission.waiting:
        engine.step()
    tally = engine.tally
    competing = tally.prefill - prefill + tally.decode
    assert abs(tally.decode - (1 - share) * competing) <= (1 - share) * prefill + step


@pytest.mark.parametrize("bulk", [True, False])
def test_a_share_is_not_saved_up_while_nobody_waits(*, bulk: bool) -> None:
    """After a hundred steps alone two prompts of 10 come; with half of the time, the second one starts at 120."""
    server = Server(BySize(lambda _: 1, lambda _: 10), 10**4, scheduler=ReservedShare(Fraction(1, 2)))
    crowd = [Request(0, 0, 1, 1000), Request(1, 100, 1, 1), Request(2, 100, 1, 1)]
    run = served(server, crowd, bulk=bulk)
    assert [job.first_token for job in run.jobs] == [10, 110, 130]


def test_a_share_is_not_spent_on_prompts_that_hold_up_nobody() -> None:
    server = Server(BySize(lambda _: 1, lambda _: 10), 10**4, scheduler=ReservedShare(Fraction(1, 10)))
    run = served(server, [Request(0, 0, 1, 1000), Request(1, 11, 1, 1), Request(2, 12, 1, 1)])
    assert [job.first_token for job in run.jobs] == [10, 21, 121]


def queued(share: Fraction, arrivals: int) -> int:
    """Return how long the last of many waited for its first token: one prompt of 4 every 30, beside a long output."""
    server = Server(BySize(lambda _: 1, lambda _: 4), 10**6, scheduler=ReservedShare(share), batching=Continuous(9))
    long, last = Request(0, 0, 1, 10**5), [Request(n, 10 + 30 * n, 1, 1) for n in range(1, arrivals)]
    job = served(server, [long, *last]).jobs[-1]
    assert job.first_token is not None
    return job.first_token - job.arrival


@pytest.mark.law
def test_a_share_bounds_the_wait_only_above_the_load_of_prefill() -> None:
    """Prefill takes 4 of 30: a tenth is too little, and waits grow with every arrival; a fifth is enough (I83)."""
    assert queued(Fraction(1, 10), 400) > 1.9 * queued(Fraction(1, 10), 200) > 1000
    assert queued(Fraction(1, 5), 400) == queued(Fraction(1, 5), 200) < 30


def test_decode_first_fills_the_batch_and_then_drains_it() -> None:
    """Three prompts of 10 first, one by one; who comes while they decode waits for the last of them."""
    crowd = [Request(1, 0, 1, 9), Request(2, 0, 1, 3), Request(3, 12, 1, 3), Request(4, 33, 1, 1)]
    server = Server(BySize(lambda _: 1, lambda _: 10), 10**4, scheduler=DecodeFirst(), batching=Continuous(4))
    run = served(server, crowd)
    assert [job.first_token for job in run.jobs] == [10, 20, 30, 48]
    assert [job.finish for job in run.jobs] == [38, 32, 32, 48]


@pytest.mark.law
@given(REQUESTS, st.integers(1, 5), st.integers(0, 9), st.integers(1, 4))
def test_decode_first_holds_up_the_first_in_line_by_one_drain(
    requests: list[Request], step: int, prefill: int, slots: int
) -> None:
    """From when it is first in line: the prefill of the one before, and the rest of what is decoding (I84)."""
    server = Server(
        BySize(lambda _: step, lambda count: prefill * count),
        10**4,
        scheduler=DecodeFirst(),
        batching=Continuous(slots),
    )
    run = served(server, requests)
    longest = max((request.output for request in requests), default=1)
    before: Job | None = None
    for job in run.jobs:
        assert job.admitted is not None
        since = max(job.arrival, before.admitted or 0) if before else job.arrival
        assert job.admitted - since <= prefill + step * (longest - 1) + (0 if before else prefill)
        before = job


@pytest.mark.law
@given(st.integers(1, 40), st.integers(1, 64), st.integers(1, 9))
def test_chunks_of_a_prompt_that_is_alone_are_as_many_as_it_takes(prompt: int, tokens: int, output: int) -> None:
    server = Server(BySize(lambda _: 1, lambda _: 1), 10**4, scheduler=Chunked(tokens))
    run = served(server, [Request(1, 0, prompt, output)])
    assert run.tally.passes == -(-prompt // tokens)
    assert run.end == run.tally.passes + output - 1


def test_the_tokens_of_an_iteration_are_shared_by_the_prompts() -> None:
    """Eight tokens take all of a prompt of 6 and 2 of the next; the other 4 come after that."""
    server = Server(Roofline(NANOSECONDS, 1, 0, 0, 0), 100, scheduler=Chunked(8))
    run = served(server, [Request(1, 0, 6, 1), Request(2, 0, 6, 1)])
    assert [job.first_token for job in run.jobs] == [8, 12]


def test_nobody_is_let_in_before_an_iteration_has_tokens_for_it() -> None:
    server = Server(Roofline(NANOSECONDS, 1, 0, 0, 0), 100, scheduler=Chunked(8))
    run = served(server, [Request(1, 0, 20, 1), Request(2, 0, 6, 1)])
    assert [(job.admitted, job.first_token) for job in run.jobs] == [(0, 24), (16, 26)]


def test_chunks_never_hold_up_those_that_decode() -> None:
    """Prefill first stops the one that decodes for all of a prompt; chunks go along with its tokens."""
    timing = Roofline(NANOSECONDS, 1, 0, 10, 0)
    requests = [Request(1, 0, 1, 30), Request(2, 12, 500, 1)]
    first, chunked = (
        served(Server(timing, 10**4, scheduler=scheduler), requests) for scheduler in (PrefillFirst(), Chunked(50))
    )
    assert first.jobs[0].finish == 10 + 29 * 10 + 500
    assert chunked.jobs[0].finish == 10 + 29 * 10 + 10 * 40 + 11 - 10 + 0 * 50


def test_who_waits_too_long_is_turned_away_and_who_had_to_leave_is_not() -> None:
    server = Server(BySize(lambda _: 1), 9, rules=Rules(patience=7, retry_after=3))
    run = served(server, [Request(1, 0, 1, 8), Request(2, 1, 1, 5), Request(3, 1, 1, 5), Request(4, 2, 1, 2)])
    assert [(job.state.value, job.finish) for job in run.jobs] == [
        ("done", 7),
        ("done", 11),
        ("refused", 8),
        ("done", 9),
    ]
    assert (run.jobs[2].reason, run.jobs[2].retry_after) == ("waited too long", 3)
    crowded = Server(BySize(lambda _: 1), 40, rules=Rules(Reserve.PROMPT, patience=1), when_full=WhenFull.RECOMPUTE)
    assert {job.state for job in served(crowded, CROWD[:3]).jobs} == {State.DONE}


def test_ids_are_unique() -> None:
    with pytest.raises(ValueError, match="two requests have the id 1"):
        Engine(Server(BySize(lambda _: 1), 9), [Request(1, 0, 1, 1), Request(1, 0, 1, 1)])


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"when_full": WhenFull.SWAP, "rules": Rules(Reserve.NONE)}, "check for room"),
        ({"when_full": WhenFull.SWAP, "batching": Static(2)}, "static"),
        ({"scheduler": Chunked(9), "batching": Static(2)}, "static"),
        ({"restart": -1}, "at least 0"),
        ({"host_blocks": -1}, "at least 0 blocks"),
        ({"host_blocks": 0, "offload": True}, "at least 1"),
        ({"offload": True, "batching": Static(2)}, "idle caches"),
        ({"offload": True, "when_full": WhenFull.SWAP, "rules": Rules(Reserve.PROMPT)}, "idle caches"),
    ],
)
def test_servers_that_make_no_sense_are_refused(values: dict[str, object], names: str) -> None:
    with pytest.raises(ValueError, match=names):
        Server(BySize(lambda _: 1), 9, **values)  # type: ignore[arg-type]
