"""Conversations: turns that follow each other, and what becomes of their history meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous
from spec.serving.engine import Engine
from spec.serving.request import NANOSECONDS, Job, Request
from spec.serving.server import Server, WhenFull
from spec.serving.timing import BySize, Roofline
from tests.serving.served import SERVERS, served, told


def test_the_next_turn_follows_and_finds_its_history() -> None:
    """A conversation of three turns: only what is new is worked on; its cache stays idle while nobody types."""

    def follow(job: Job, now: int) -> list[Request]:
        turn = job.request.id + 1
        history = job.prompt + job.generated - 1
        return [Request(turn, now + 100, history + 6, 5, keep="talk", history=history)] if turn <= 3 else []

    engine = Engine(Server(BySize(lambda _: 1), 100), [Request(1, 0, 10, 5, keep="talk")], follow=follow)
    run = engine.run()
    assert [(job.prompt, job.reused) for job in run.jobs] == [(10, 0), (20, 14), (30, 24)]
    assert run.tally.prefilled == 10 + 6 + 6
    assert engine.cache.resident == ("talk",)
    assert engine.cache.held == 0


def test_what_follows_comes_no_earlier_than_the_answer() -> None:
    """An answer after half a nanosecond is known at the next whole one."""
    told_at: list[int] = []
    server = Server(Roofline(2 * NANOSECONDS, 0, 0, 0, 0, 1), 9)
    run = Engine(server, [Request(1, 0, 1, 1)], follow=lambda _, now: told_at.append(now) or []).run()
    assert (run.end, told_at) == (1, [1])


TALKS = [
    Request(1, 0, 10, 5, keep="a"),
    Request(2, 100, 10, 5, keep="b"),
    Request(3, 200, 20, 5, keep="b", history=14),
    Request(4, 300, 20, 5, keep="a", history=14),
]


def test_a_conversation_whose_cache_was_evicted_is_worked_on_from_its_start() -> None:
    """Two take turns in a cache that holds one of them: who was idle the longest has lost its history."""
    tight, wide = (served(Server(BySize(lambda _: 1), blocks), TALKS) for blocks in (28, 60))
    assert [job.reused for job in wide.jobs] == [0, 0, 14, 14]
    assert [job.reused for job in tight.jobs] == [0, 0, 14, 0]


def test_an_idle_cache_that_moved_to_the_host_comes_back_while_others_go_on() -> None:
    """It takes 14 blocks of 2 ns: the turn waits for 28, and who decodes meanwhile does not."""
    server = Server(BySize(lambda _: 1, lambda _: 3), 28, swap=2, offload=True)
    run = served(server, TALKS)
    assert [job.reused for job in run.jobs] == [0, 0, 14, 14]
    assert [(job.first_token or 0) - job.arrival for job in run.jobs] == [3, 3, 3, 28 + 3]
    assert (run.tally.offloaded, run.tally.fetched, run.tally.swap) == (14 + 24, 14, 0)
    beside = served(replace(server, blocks=31), [*TALKS, Request(5, 300, 1, 2)]).jobs[4]
    assert (beside.first_token, beside.finish) == (303, 304)


@pytest.mark.parametrize(("host", "reused"), [(13, 0), (14, 14)])
def test_a_host_without_room_drops_it(host: int, reused: int) -> None:
    server = Server(BySize(lambda _: 1), 28, swap=2, offload=True, host_blocks=host)
    run = served(server, TALKS)
    assert run.jobs[3].reused == reused
    assert run.tally.offloaded == reused  # and b, which is longer, has no room in either


def test_what_came_back_leaves_its_room_on_the_host_to_others() -> None:
    """Where a lay, b comes in beside c: 14 and 24 of 42 blocks."""
    server = Server(BySize(lambda _: 1), 31, swap=2, offload=True, host_blocks=42)
    talks = [
        *(Request(n, 100 * n, 10, 5, keep=name) for n, name in enumerate("cab")),
        Request(3, 300, 20, 5, keep="b", history=14),
        Request(4, 400, 20, 5, keep="a", history=14),
        Request(5, 500, 20, 5, keep="c", history=14),
    ]
    assert [job.reused for job in served(server, talks).jobs] == [0, 0, 0, 14, 14, 14]


def test_only_what_the_gpu_lacks_comes_back() -> None:
    """A and b begin with the same four blocks: when a comes back, those are still there for b."""
    server = Server(BySize(lambda _: 1), 31, swap=2, offload=True)
    common = [replace(request, chain=("p", "q", "r", "s")) for request in TALKS]
    talks = [
        *common[:2],
        replace(common[2], output=9, max_tokens=9),
        replace(common[3], prompt=15, output=1, max_tokens=1),
    ]
    run = served(server, talks)
    assert (run.jobs[3].reused, run.tally.fetched) == (14, 10)


@pytest.mark.parametrize("offload", [True, False])
def test_who_grows_drives_idle_caches_to_the_host_too(*, offload: bool) -> None:
    """A prompt of 5 fits beside the 14 of a, and its output of 12 does not."""
    rules = Rules(Reserve.PROMPT)
    server = Server(BySize(lambda _: 1), 28, rules=rules, when_full=WhenFull.RECOMPUTE, offload=offload)
    long, back = Request(2, 100, 5, 12), replace(TALKS[3], id=3)
    run = served(server, [TALKS[0], long, back])
    assert run.tally.preemptions == 0
    assert [job.reused for job in run.jobs] == [0, 0, 14 if offload else 0]


def test_a_crash_loses_what_is_on_the_host_and_who_waits_for_it() -> None:
    """A is on its way back when two prompts that nobody checked meet; b, still on the host, is lost as well."""
    server = Server(
        BySize(lambda _: 1), 40, rules=Rules(Reserve.NONE), swap=50, offload=True, restart=9, host_blocks=100
    )
    talks = [
        Request(1, 0, 10, 5, keep="a"),
        Request(2, 100, 10, 5, keep="b"),
        Request(3, 200, 35, 1),
        Request(4, 300, 20, 5, keep="a", history=14),
        Request(5, 310, 30, 1),
        Request(6, 900, 20, 5, keep="b", history=14),
    ]
    run = served(server, talks)
    assert [job.state.value for job in run.jobs] == ["done", "done", "done", "lost", "lost", "done"]
    assert [crash.members for crash in run.tally.crashes] == [(4, 5)]
    assert run.jobs[5].reused == 0


def test_a_cut_history_is_of_no_use_on_the_host_either() -> None:
    server = Server(BySize(lambda _: 1), 28, offload=True)
    cut = [*TALKS[:3], Request(4, 300, 20, 5, keep="a")]
    assert [job.reused for job in served(server, cut).jobs] == [0, 0, 14, 0]


@pytest.mark.differential
@given(SERVERS, st.integers(0, 3), st.data())
def test_conversations_end_alike_one_iteration_at_a_time(server: Server, swap: int, data: st.DataObject) -> None:
    """Turns follow each other with gaps, on servers that keep, evict, move and lose what they have said."""
    assume(isinstance(server.batching, Continuous))
    offload = server.when_full is not WhenFull.SWAP
    server = replace(server, blocks=30, swap=swap, offload=offload, host_blocks=20)
    think = data.draw(st.lists(st.integers(0, 30), min_size=12, max_size=12))
    said = data.draw(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 5)), min_size=12, max_size=12))

    def follow(job: Job, now: int) -> list[Request]:
        number = job.request.id + 3
        history = job.prompt + job.generated - 1
        if number >= 12 or history > 20:
            return []
        new, output = said[number]
        cut = number % 4 == 3
        return [
            Request(
                number,
                now + think[number],
                new if cut else history + new,
                output,
                keep=job.request.keep,
                history=0 if cut else history,
            )
        ]

    first = [Request(n, think[n], *said[n], keep="abc"[n]) for n in range(3)]
    runs = []
    for bulk in (True, False):
        engine = Engine(server, first, follow=follow, bulk=bulk)
        runs.append(told(engine.run()))
        assert engine.cache.held == 0
        assert engine.cache.admitted == engine.cache.used + engine.cache.evicted + engine.cache.freed
    assert runs[0] == runs[1]
