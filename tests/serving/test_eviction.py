"""Traces replayed: conservation, inclusion, and a plain list that does the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.serving.eviction import replay

pytestmark = pytest.mark.law

TRACES = st.lists(st.tuples(st.sampled_from("abcde"), st.integers(1, 4)), max_size=20)


def by_hand(trace: list[tuple[str, int]], capacity: int) -> tuple[list[str], list[str]]:
    """Return what is evicted and what is left, from a list of entries, the one used longest ago first."""
    held: list[tuple[str, int]] = []
    evicted: list[str] = []
    for name, blocks in trace:
        others = [entry for entry in held if entry[0] != name]
        if blocks > capacity:
            continue
        while sum(size for _, size in others) + blocks > capacity:
            evicted.append(others.pop(0)[0])
        held = [*others, (name, blocks)]
    return evicted, [name for name, _ in held]


@pytest.mark.differential
@given(TRACES, st.integers(1, 9))
def test_the_least_recently_used_go_first(trace: list[tuple[str, int]], capacity: int) -> None:
    found = replay(trace, capacity)
    evicted, left = by_hand(trace, capacity)
    assert (list(found.evicted), list(found.resident)) == (evicted, left)
    assert found.refused == tuple(name for name, blocks in trace if blocks > capacity)


@given(trace=TRACES, capacity=st.integers(1, 9), refreshed=st.booleans())
def test_every_access_hits_or_misses(trace: list[tuple[str, int]], capacity: int, *, refreshed: bool) -> None:
    found = replay(trace, capacity, refreshed=refreshed)
    assert found.hits + found.misses == len(trace)
    assert found.peak <= capacity
    assert len(set(found.resident)) == len(found.resident)


@given(st.lists(st.sampled_from("abcdef"), max_size=20), st.integers(1, 6))
def test_more_room_never_costs_a_miss_under_lru(names: list[str], capacity: int) -> None:
    """I35."""
    trace = [(name, 1) for name in names]
    assert replay(trace, capacity + 1).misses <= replay(trace, capacity).misses


def test_more_room_may_cost_misses_under_fifo_or_where_a_large_entry_is_refused() -> None:
    """Belady's anomaly, and a1 b3 a1 with two blocks or three (I35)."""
    trace = [(name, 1) for name in "abcdabeabcde"]
    assert [replay(trace, blocks, refreshed=False).misses for blocks in (3, 4)] == [9, 10]
    mixed = [("a", 1), ("b", 3), ("a", 1)]
    assert [replay(mixed, blocks).misses for blocks in (2, 3)] == [2, 3]


def test_first_in_goes_first_however_often_it_is_used() -> None:
    trace = [(name, 1) for name in "abaac"]
    assert replay(trace, 2, refreshed=False).evicted == ("a",)
    assert replay(trace, 2).evicted == ("b",)
