"""The numbers of a run: they follow from what happened to each request."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous, Static
from spec.serving.metrics import Spread, metrics, spread
from spec.serving.padding import padding_waste
from spec.serving.request import NANOSECONDS, Request
from spec.serving.scheduler import PrefillFirst
from spec.serving.server import Server
from spec.serving.timing import BySize
from tests.serving.served import REQUESTS, SERVERS, served

pytestmark = pytest.mark.law


@given(SERVERS, REQUESTS)
def test_shares_and_counts_add_up(server: Server, requests: list[Request]) -> None:
    run = served(server, requests)
    found = metrics(server, run)
    assert found.done + found.refused + found.lost + found.unserved == found.requests == len(requests)
    assert found.prefill + found.decode + found.mixed + found.swap + found.restart + found.idle == (run.end > 0)
    assert 0 <= found.kv_use <= found.kv_peak <= 1
    assert 0 <= found.occupancy <= 1
    assert 0 <= found.waste < 1
    assert 0 <= found.concurrency <= server.batching.slots
    if found.ttft and found.latency and found.wait:
        assert found.wait.p99 <= found.ttft.p99 <= found.latency.p99


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=300))
def test_a_percentile_is_a_time_that_so_many_do_not_exceed(times: list[int]) -> None:
    found = spread(times)
    assert found is not None
    for share, value in ((50, found.p50), (90, found.p90), (95, found.p95), (99, found.p99), (100, found.largest)):
        assert value in times
        assert 100 * sum(time <= value for time in times) >= share * len(times)
        assert 100 * sum(time < value for time in times) < share * len(times)
    assert found.mean * len(times) == sum(times)


def test_nothing_has_no_spread() -> None:
    assert spread([]) is None


@given(st.lists(st.integers(2, 40), min_size=1, max_size=12))
def test_the_waste_of_a_static_batch_is_that_of_its_padding(lengths: list[int]) -> None:
    """The closed form, where every prompt is as long and all the rest is decode."""
    requests = [Request(n, 0, 1, length) for n, length in enumerate(lengths)]
    run = served(Server(BySize(lambda _: 1), 10**4, batching=Static(12, 0)), requests)
    assert Fraction(run.tally.decode_padding, run.tally.decoded) == padding_waste([n - 1 for n in lengths])
    found = metrics(Server(BySize(lambda _: 1), 10**4, batching=Static(12, 0)), run)
    assert found.waste == Fraction(run.tally.decode_padding, run.tally.decoded + len(lengths))
    assert found.occupancy == Fraction(sum(lengths) - len(lengths), 12 * (max(lengths) - 1))
    prompts = [Request(n, 0, length, 1) for n, length in enumerate(lengths)]
    server = Server(BySize(lambda _: 1), 10**4, batching=Static(12, 0))
    assert metrics(server, served(server, prompts)).waste == padding_waste(lengths)


def test_a_small_run_by_hand() -> None:
    """Two requests, one slot, a prefill of 2 s and steps of 1 s: the second waits for 4 s."""
    second = NANOSECONDS
    server = Server(BySize(lambda _: second, lambda _: 2 * second), 10, 1, Continuous(1), PrefillFirst())
    found = metrics(server, served(server, [Request(1, 0, 2, 3), Request(2, 0, 2, 3)]))
    assert found.wait == Spread(2, 0, 4, 4, 4, 4)
    assert found.ttft == Spread(4, 2, 6, 6, 6, 6)
    assert found.tpot == Spread(1, 1, 1, 1, 1, 1)
    assert found.latency == Spread(6, 4, 8, 8, 8, 8)
    assert (found.seconds, found.token_rate, found.request_rate) == (8, Fraction(6, 8), Fraction(2, 8))
    assert (found.concurrency, found.occupancy, found.kv_use) == (1, 1, Fraction(1, 2))
    assert (found.prefill, found.decode) == (Fraction(1, 2), Fraction(1, 2))


def test_what_went_wrong_is_counted() -> None:
    server = Server(BySize(lambda _: 1), 10, rules=Rules(Reserve.PROMPT, 1), restart=7)
    found = metrics(server, served(server, [Request(n, 0, 4, 5) for n in range(5)]))
    assert (found.refused, found.out_of_memory, found.lost, found.done, found.alerts) == (4, 0, 0, 1, 0)
    found = metrics(server, served(server, [Request(1, 0, 4, 5), Request(2, 1, 4, 5)]))
    assert (found.out_of_memory, found.lost, found.alerts) == (1, 2, 1)
