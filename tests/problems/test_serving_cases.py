"""Families about batches, caches and queues: the examples of the chapter, and keys computed again in another way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from grader.executing.batching_makespans import makespans
from grader.executing.eviction_misses import misses
from grader.judging import judge
from problems import batching_counterexample as batching
from problems import eviction_counterexample as eviction
from tests.problems.seeds import exercises

pytestmark = pytest.mark.law


# Examples that are executed


@pytest.mark.parametrize("slug", ["batching-counterexample", "eviction-counterexample"])
def test_the_example_of_each_record_works(slug: str) -> None:
    for exercise in exercises(slug):
        (part,) = exercise.parts
        assert judge(part, part.key or "none").verdict == "correct", exercise.id
        assert judge(part, "none").verdict == ("incorrect" if part.key else "correct"), exercise.id
        assert part.run is not None
        assert len((part.key or "").split(",")) <= int(part.run.setting["most"]), exercise.id


def circumstances(slots: int) -> Iterator[batching.Circumstances]:
    """Give every rule, with limits that leave room for all that is tried."""
    for rule in sorted(set(batching.RULES)):
        base, each = (0, 2) if rule == batching.FLAT else (10, 3 * (rule in {batching.PADDED, batching.SHARES}))
        for least in range(2 * slots + 3) if rule == batching.FLAT else (0,):
            prefills = (1, 5, 10, 30) if rule == batching.PREFILL else (0,)
            for prefill in prefills:
                yield batching.Circumstances(rule, slots, slots + 2, 3, least, base, each, prefill)


@pytest.mark.parametrize("slots", [2, 3])
def test_no_list_does_it_where_none_is_said_to(slots: int) -> None:
    ask = batching.family.ways[0][0]
    for case in circumstances(slots):
        never = ask.key(case) is None
        for size in range(1, slots + (3 if never else 2)):
            for jobs in product(range(1, 4 if size < 5 else 3), repeat=size):
                ours, theirs = makespans(jobs, case.setting)
                assert ours <= theirs, (case, jobs)


def traces(names: str, longest: int) -> Iterator[str]:
    """Give every sequence in which entries come first in the order of their names: all others are these renamed."""
    if longest == 0:
        yield ""
        return
    for start in traces(names, longest - 1):
        known = len(set(start))
        yield from (start + name for name in names[: known + 1])


@pytest.mark.parametrize("blocks", [2, 3])
def test_lru_and_fifo_miss_alike_in_shorter_traces(blocks: int) -> None:
    for first, second in (("lru", "fifo"), ("fifo", "lru")):
        case = eviction.Circumstances(
            eviction.ORDERS, f"{first} {blocks}", f"{second} {blocks}", (1,) * 5, blocks + eviction.SPARE - 1
        )
        assert eviction.family.ways[0][0].key(case) is None
        for trace in traces("abcde", case.most):
            ours, theirs = misses(trace, case.setting)
            assert ours <= theirs, trace


def test_no_shorter_trace_shows_the_anomaly_of_fifo() -> None:
    """Every trace of 11 accesses to five entries, depth first, with the two queues kept along the way."""
    found = []

    def follow(trace: str, small: str, large: str, ahead: int) -> None:
        if ahead > 0:
            found.append(trace)
        if len(trace) == len(eviction.ANOMALY) - 1:
            return
        for name in "abcde"[: len(set(trace)) + 1]:
            missed = (name not in large) - (name not in small)
            then = small if name in small else (small + name)[-3:], large if name in large else (large + name)[-4:]
            follow(trace + name, *then, ahead + missed)

    follow("", "", "", 0)
    assert not found
