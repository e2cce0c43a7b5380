"""Families about batches, caches and queues: the examples of the chapter, and keys computed again in another way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from grader.case import CaseAsk
from grader.executing.batching_makespans import makespans
from grader.executing.eviction_misses import misses
from grader.judging import judge
from problems import batching_counterexample as batching
from problems import eviction_counterexample as eviction
from problems import makespan as batches
from problems import padding_waste as padding
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


def value(ask: CaseAsk[Any], case: object, slug: str) -> object:
    """Give what one misconception makes of a case."""
    (found,) = [slip for slip in ask.slips if slip.slug == slug]
    return found.value(case)


# Padding


def test_the_batch_of_the_chapter_is_mostly_padding() -> None:
    """F25: 100, 300, 400 and 1,200 tokens."""
    case = padding.Batch(((1, 100), (1, 300), (1, 400), (1, 1200)), Fraction(1, 2), Fraction(1, 2))
    ask = padding.WASTE
    assert ask.key(case) == Fraction(7, 12)
    wrong = {
        "padding-to-useful": Fraction(7, 5),
        "useful-for-waste": Fraction(5, 12),
        "shortest-for-mean": Fraction(11, 12),
        "median-for-mean": Fraction(17, 24),
        "one-sequence-less": Fraction(4, 9),
    }
    assert {slug: value(ask, case, slug) for slug in wrong} == wrong


def test_the_shares_that_are_given_are_those_of_the_batch_with_the_new_sequence() -> None:
    """Every length up to far above the longest is tried."""
    for exercise in exercises("padding-waste"):
        (part,) = exercise.parts
        groups = re.findall(r"(\d+) sequences? of ([\d,]+) tokens", exercise.statement)
        lengths = [int(length.replace(",", "")) for count, length in groups for _ in range(int(count))]
        if part.asks == "padding_waste":
            assert Fraction(part.key or 0) == 1 - Fraction(sum(lengths), len(lengths) * max(lengths)), exercise.id
            continue
        number = re.search(r"and (\S+)( %)? of all", part.question)
        assert number
        share = Fraction(number[1]) / (100 if number[2] else 1)
        tried = range(1, max(lengths)) if part.asks == "length" else range(max(lengths) + 1, 10_000)
        size, total = len(lengths) + 1, sum(lengths)
        useful, of = (1 - share).as_integer_ratio()
        longest = max(lengths)
        fit = [n for n in tried if size * max(longest, n) * useful == (total + n) * of]
        assert [str(n) for n in fit] == ([part.key] if part.key else []), exercise.id


# Static and continuous batching


def test_the_jobs_of_the_chapter_on_three_places() -> None:
    """F26: 5, 2, 8, 1, 4, 3, 6 and 2 steps."""
    case = batches.Queue((5, 2, 8, 1, 4, 3, 6, 2), 3, batches.AS_LISTED, 13)
    assert (batches.STATIC.key(case), batches.CONTINUOUS.key(case), batches.RATIO.key(case)) == (
        18,
        13,
        Fraction(18, 13),
    )
    wrong = {"shared-evenly": 11, "static": 18, "longest-alone": 8, "longest-first": 11, "static-other-order": 14}
    assert {slug: value(batches.CONTINUOUS, case, slug) for slug in wrong} == wrong
    assert value(batches.CONTINUOUS, case, "static-shortest-first") == 15
    assert batches.FEWEST_SLOTS.key(case) == 3


def test_sorted_static_batches_can_win() -> None:
    """I50: (1, 2, 1, 2) on two places."""
    case = batches.Queue((1, 2, 1, 2), 2, batches.LONGEST_FIRST, 4)
    assert (batches.STATIC.key(case), batches.CONTINUOUS.key(case)) == (3, 4)


def places(jobs: Sequence[int], slots: int) -> int:
    """List scheduling: each job to the place that is free first."""
    free = [0] * slots
    for job in jobs:
        free[free.index(min(free))] += job
    return max(free)


def test_the_makespans_are_those_of_list_scheduling() -> None:
    for exercise in exercises("makespan"):
        listed = re.search(r"they take ([\d, ]+) decode steps", exercise.statement)
        assert listed
        jobs = [int(job) for job in listed[1].split(", ")]
        key = [part.key for part in exercise.parts]
        first = re.search(r"(?:batches of|no more than) (\d+)", exercise.parts[0].question)
        assert first
        number = int(first[1])
        if len(key) == 1:
            fewest = [n for n in range(1, len(jobs) + 1) if places(jobs, n) <= number]
            assert key == [str(fewest[0]) if fewest else None], exercise.id
            continue
        cut = sorted(jobs, reverse=True) if "longest job first" in exercise.statement else jobs
        static = sum(max(cut[start : start + number]) for start in range(0, len(cut), number))
        assert [int(k or 0) for k in key[:2]] == [static, places(jobs, number)], exercise.id
        assert Fraction(key[2] or 0) == Fraction(static, places(jobs, number)), exercise.id
