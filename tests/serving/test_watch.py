"""Looking at a run: what is seen adds up to what the engine counts, and changes nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous
from spec.serving.engine import Engine
from spec.serving.request import Request
from spec.serving.server import Server
from spec.serving.timing import BySize
from spec.serving.watch import MOST, Lack, Watch
from tests.serving.served import REQUESTS, SERVERS, served, told

pytestmark = pytest.mark.law


def watched(server: Server, requests: list[Request], width: int = 0) -> Watch:
    watch = Watch(Engine(server, requests), width)
    while watch.step():
        pass
    watch.result()
    return watch


@given(SERVERS, REQUESTS, st.integers(0, 9))
def test_the_stretches_add_up_to_the_run(server: Server, requests: list[Request], width: int) -> None:
    watch = watched(server, requests, width)
    run = watch.engine.result()
    tally, stretches = run.tally, watch.stretches
    assert told(run) == told(served(server, requests))
    assert sum(s.ticks for s in stretches) == run.end
    assert sum(s.held for s in stretches) == tally.held_time
    assert sum(s.running for s in stretches) == tally.running_time
    assert sum(s.waiting for s in stretches) == tally.requests_time - tally.running_time
    assert sum(s.preemptions for s in stretches) == tally.preemptions
    assert len(stretches) <= MOST
    assert all(s.ticks == watch.width for s in stretches[:-1])
    assert sum(watch.lacked.values()) == tally.requests_time - tally.running_time
    assert min(watch.lacked.values()) >= 0
    for s in stretches:
        assert s.held <= s.most_held * s.ticks <= server.blocks * s.ticks
        assert s.running <= s.most_running * s.ticks <= server.batching.slots * s.ticks
    if watch.slots_full is not None:
        assert max(s.most_running for s in stretches) == server.batching.slots


def test_what_requests_wait_for_is_told_apart() -> None:
    step = BySize(lambda _: 10)
    four = [Request(n, 0, 2, 8) for n in range(4)]
    slots = watched(Server(step, 100, batching=Continuous(2)), four)
    assert slots.lacked[Lack.SLOTS] > 0 == slots.lacked[Lack.BLOCKS]
    assert slots.slots_full is not None
    blocks = watched(Server(step, 20, batching=Continuous(9)), four)
    assert blocks.lacked[Lack.BLOCKS] > 0 == blocks.lacked[Lack.SLOTS]
    assert blocks.slots_full is None
    kept = Server(step, 50, batching=Continuous(9), rules=Rules(watermark=Fraction(3, 5)))
    assert watched(kept, four).lacked[Lack.BLOCKS] > 0 == watched(Server(step, 50), four).lacked[Lack.BLOCKS]
    crash = watched(Server(step, 9, rules=Rules(Reserve.NONE), restart=50), [Request(0, 0, 2, 8), Request(1, 0, 2, 8)])
    late = watched(Server(step, 9, rules=Rules(Reserve.NONE), restart=500), [*four[:2], Request(5, 100, 1, 1)])
    assert crash.lacked[Lack.RESTART] == 0 < late.lacked[Lack.RESTART]


def test_a_run_that_is_not_over_knows_those_that_have_come() -> None:
    watch = Watch(Engine(Server(BySize(lambda _: 10), 100), [Request(0, 0, 2, 8), Request(1, 10**9, 2, 8)]))
    watch.step()
    assert [job.request.id for job in watch.result().jobs] == [0]
