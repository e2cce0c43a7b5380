"""Traces replayed: conservation, inclusion, and a plain list that does the same."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.serving.eviction import replay

pytestmark = pytest.mark.law

TRACES = st.lists(st.tuples(st.sampled_from("abcde"), st.integers(1, 4)), max_size=20)
PINNED = st.frozensets(st.sampled_from("abcde"), max_size=3)


def by_hand(
    trace: list[tuple[str, int]], capacity: int, pinned: frozenset[str] = frozenset()
) -> tuple[list[str], list[str], list[str]]:
    """Return what is evicted, left and refused, from a list of entries, the one used longest ago first."""
    held: list[tuple[str, int]] = []
    evicted: list[str] = []
    refused: list[str] = []
    for name, blocks in trace:
        others = [entry for entry in held if entry[0] != name]
        if blocks + sum(size for other, size in others if other in pinned) > capacity:
            refused.append(name)
            continue
        while sum(size for _, size in others) + blocks > capacity:
            first = next(entry for entry in others if entry[0] not in pinned)
            others.remove(first)
            evicted.append(first[0])
        held = [*others, (name, blocks)]
    return evicted, [name for name, _ in held], refused


@pytest.mark.differential
@given(TRACES, st.integers(1, 9))
def test_the_least_recently_used_go_first(trace: list[tuple[str, int]], capacity: int) -> None:
    found = replay(trace, capacity)
    evicted, left, refused = by_hand(trace, capacity)
    assert (list(found.evicted), list(found.resident), list(found.refused)) == (evicted, left, refused)
    assert found.refused == tuple(name for name, blocks in trace if blocks > capacity)


@pytest.mark.differential
@given(TRACES, st.integers(1, 9), PINNED)
def test_pinned_entries_are_passed_over(trace: list[tuple[str, int]], capacity: int, pinned: frozenset[str]) -> None:
    found = replay(trace, capacity, pinned=pinned)
    evicted, left, refused = by_hand(trace, capacity, pinned)
    assert (list(found.evicted), sorted(found.resident), list(found.refused)) == (evicted, sorted(left), refused)
    idle = [name for name in left if name not in pinned]
    assert list(found.resident[: len(idle)]) == idle


@given(trace=TRACES, capacity=st.integers(1, 9), pinned=PINNED, refreshed=st.booleans())
def test_a_pinned_entry_is_never_evicted_once_it_is_there(
    trace: list[tuple[str, int]], capacity: int, pinned: frozenset[str], *, refreshed: bool
) -> None:
    ends = [replay(trace[:end], capacity, refreshed=refreshed, pinned=pinned) for end in range(len(trace) + 1)]
    for before, after in pairwise(ends):
        assert pinned.intersection(before.resident) <= set(after.resident)
    assert pinned.isdisjoint(ends[-1].evicted)
    assert ends[-1].peak <= capacity


@given(trace=TRACES, capacity=st.integers(1, 9), refreshed=st.booleans())
def test_pins_of_entries_that_never_come_change_nothing(
    trace: list[tuple[str, int]], capacity: int, *, refreshed: bool
) -> None:
    pinned = replay(trace, capacity, refreshed=refreshed, pinned=frozenset("xyz"))
    assert pinned == replay(trace, capacity, refreshed=refreshed)


def test_what_finds_no_room_beside_the_pinned_is_refused_and_costs_nobody_a_place() -> None:
    found = replay([("a", 3), ("b", 1), ("c", 2), ("b", 1)], 4, pinned=frozenset("a"))
    assert (found.hits, found.misses, found.evicted, found.resident, found.refused) == (1, 3, (), ("b", "a"), ("c",))


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


@given(TRACES, st.integers(1, 15), PINNED)
def test_more_room_never_costs_a_miss_where_nothing_is_refused(
    trace: list[tuple[str, int]], capacity: int, pinned: frozenset[str]
) -> None:
    """I35 for entries of all sizes, growing, shrinking and pinned: the larger cache holds all that the smaller does."""
    less, more = (replay(trace, blocks, pinned=pinned) for blocks in (capacity, capacity + 1))
    if not less.refused:
        assert not more.refused
        assert more.misses <= less.misses
        assert set(less.resident) <= set(more.resident)


def test_more_room_may_cost_misses_under_fifo_or_where_a_large_entry_is_refused() -> None:
    """Belady's anomaly; a1 b3 a1 with two blocks or three (I35), and the same with a pinned entry beside them."""
    trace = [(name, 1) for name in "abcdabeabcde"]
    assert [replay(trace, blocks, refreshed=False).misses for blocks in (3, 4)] == [9, 10]
    mixed = [("a", 1), ("b", 3), ("a", 1)]
    assert [replay(mixed, blocks).misses for blocks in (2, 3)] == [2, 3]
    beside = [("p", 2), *mixed]
    assert [replay(beside, blocks, pinned=frozenset("p")).misses for blocks in (4, 5)] == [3, 4]


def test_first_in_goes_first_however_often_it_is_used() -> None:
    trace = [(name, 1) for name in "abaac"]
    assert replay(trace, 2, refreshed=False).evicted == ("a",)
    assert replay(trace, 2).evicted == ("b",)
