"""The family of makespans: the example of the chapter, and its keys by list scheduling without the simulator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.case import CaseAsk
from grader.exercise import Exercise
from grader.judging import judge
from problems import makespan as family
from tests.problems.seeds import exercises

pytestmark = pytest.mark.law

QUEUES = st.tuples(st.lists(st.integers(1, 12), min_size=2, max_size=16).map(tuple), st.integers(2, 8))


def value(ask: CaseAsk[family.Queue], case: family.Queue, slug: str) -> object:
    (found,) = [slip for slip in ask.slips if slip.slug == slug]
    return found.value(case)


def places(jobs: Sequence[int], slots: int) -> list[int]:
    """List scheduling, each job to the place that is free first: when each of them ends."""
    free, ends = [0] * slots, []
    for job in jobs:
        place = free.index(min(free))
        free[place] += job
        ends.append(free[place])
    return ends


def batches(jobs: Sequence[int], slots: int) -> list[int]:
    """Static batches: when each of them ends."""
    ends = [0]
    for start in range(0, len(jobs), slots):
        ends.append(ends[-1] + max(jobs[start : start + slots]))
    return ends


def orders(jobs: Sequence[int]) -> dict[str, list[int]]:
    return {"as-listed": [*jobs], "longest-first": sorted(jobs)[::-1], "shortest-first": sorted(jobs)}


def test_the_jobs_of_the_chapter_on_three_places() -> None:
    """F26: 5, 2, 8, 1, 4, 3, 6 and 2 steps."""
    case = family.Queue((5, 2, 8, 1, 4, 3, 6, 2), 3, family.AS_LISTED, 13)
    asks = (family.STATIC, family.CONTINUOUS, family.RATIO, family.FEWEST_SLOTS, family.ORDER, family.ORDERED)
    assert [ask.key(case) for ask in asks] == [18, 13, Fraction(18, 13), 3, "longest-first", 11]
    wrong = {"shared-evenly": 11, "static": 18, "longest-alone": 8, "longest-first": 11, "static-other-order": 14}
    assert {slug: value(family.CONTINUOUS, case, slug) for slug in wrong} == wrong
    assert value(family.CONTINUOUS, case, "static-shortest-first") == 15
    wrong = {"as-listed": 13, "shortest-first": 14, "other-policy": 14, "longest-alone": 8, "one-by-one": 31}
    assert {slug: value(family.ORDERED, case, slug) for slug in wrong} == wrong
    assert value(family.ORDER, case, "mean-wait") == "shortest-first"


def test_sorted_static_batches_can_win() -> None:
    """I50: (1, 2, 1, 2) on two places."""
    case = family.Queue((1, 2, 1, 2), 2, family.LONGEST_FIRST, 4)
    assert (family.STATIC.key(case), family.CONTINUOUS.key(case), family.RATIO.key(case)) == (3, 4, Fraction(3, 4))
    assert value(family.RATIO, case, "inverted") == Fraction(4, 3)
    assert value(family.RATIO, case, "share-saved") == Fraction(1, 4)
    assert value(family.RATIO, case, "excess") == Fraction(1, 3)
    assert value(family.RATIO, case, "difference") == 1


def test_the_listed_order_can_win() -> None:
    """3 and 3 beside 2, 2 and 2: longest first, one place gets 3, 2 and 2."""
    case = family.Queue((3, 2, 2, 3, 2), 2, family.AS_LISTED, 6)
    assert (family.ORDER.key(case), family.ORDERED.key(case)) == ("as-listed", 6)
    assert value(family.ORDER, case, "rule-of-thumb") == "longest-first"
    assert value(family.ORDERED, case, "longest-first") == 7


def jobs_of(exercise: Exercise) -> tuple[int, ...]:
    listed = re.search(r"they take ([\d, ]+) decode steps", exercise.statement)
    assert listed
    jobs = tuple(int(job) for job in listed[1].split(", "))
    assert exercise.statement.startswith(f"{len(jobs)} jobs ")
    return jobs


def number_in(exercise: Exercise) -> int:
    found = re.search(r"(?:batches of|batching of|no more than) (\d+)", exercise.parts[0].question)
    assert found
    return int(found[1])


@pytest.mark.differential
def test_the_makespans_are_those_of_list_scheduling() -> None:
    seen: Counter[str] = Counter()
    for exercise in exercises("makespan"):
        if exercise.parts[0].asks == "static_makespan":
            jobs, slots, key = jobs_of(exercise), number_in(exercise), [part.key or "" for part in exercise.parts]
            is_sorted = "the longest job first" in exercise.parts[0].question
            static = batches(orders(jobs)["longest-first" if is_sorted else "as-listed"], slots)[-1]
            continuous = max(places(jobs, slots))
            assert [Fraction(k) for k in key] == [static, continuous, Fraction(static, continuous)], exercise.id
            assert is_sorted or static >= continuous, exercise.id
            assert ("waste less" in exercise.parts[2].explained[-1].says) == (static < continuous), exercise.id
            seen["static wins" if static < continuous else "continuous wins"] += 1
    assert set(seen) == {"static wins", "continuous wins"}


@pytest.mark.differential
def test_the_fewest_places_are_found_by_trying_all() -> None:
    for exercise in exercises("makespan"):
        if exercise.parts[0].asks == "slots":
            jobs, limit = jobs_of(exercise), number_in(exercise)
            fewest = [n for n in range(1, len(jobs) + 1) if max(places(jobs, n)) <= limit]
            assert exercise.parts[0].key == (str(fewest[0]) if fewest else None), exercise.id


def test_most_limits_can_be_kept() -> None:
    keys = [part.key for exercise in exercises("makespan") for part in exercise.parts if part.asks == "slots"]
    assert 10 * keys.count(None) <= 4 * len(keys)


@pytest.mark.differential
def test_one_order_alone_is_the_right_one() -> None:
    seen = set()
    for exercise in exercises("makespan"):
        if exercise.parts[0].asks == "order":
            (first, second), slots = exercise.parts, number_in(exercise)
            static, most = "static batching" in first.question, "the most steps" in first.question
            jobs = orders(jobs_of(exercise))
            ends = {order: max((batches if static else places)(jobs[order], slots)) for order in jobs}
            right = (max if most else min)(ends.values())
            assert [order for order in ends if ends[order] == right] == [first.key], exercise.id
            assert second.key == str(right), exercise.id
            seen.add((static, most, first.key))
            for slip in first.slips:
                assert judge(first, str(slip.value).replace("-", " ")).verdict == "incorrect", exercise.id
            assert judge(first, str(first.key).replace("-", " ").capitalize()).verdict == "correct", exercise.id
    usual = {(static, sought == family.MOST, order) for (static, sought), order in family.USUAL.items()}
    unusual = {(False, False, "as-listed"), (False, True, "as-listed"), (True, True, "shortest-first")}
    assert seen == usual | unusual


def test_jobs_and_places_are_as_many_as_the_chapter_has() -> None:
    posed = exercises("makespan")
    assert {len(jobs_of(exercise)) for exercise in posed} == set(range(4, 33))
    assert {number_in(exercise) for exercise in posed if exercise.parts[0].asks != "slots"} == set(range(2, 9))


@given(QUEUES)
def test_what_the_solutions_say_of_sorted_orders(queue: tuple[tuple[int, ...], int]) -> None:
    """No order of static batches ends before longest first, and shortest first never does under any policy.

    Shortest first has the least mean wait, as its slip says.
    """
    jobs, slots = queue
    by = orders(jobs)
    for schedule in (places, batches):
        ends = {order: max(schedule(by[order], slots)) for order in by}
        assert ends["longest-first"] <= ends["shortest-first"]
        if schedule is batches:
            assert ends["longest-first"] <= ends["as-listed"]
    assert max(places(by["shortest-first"], slots)) == max(batches(by["longest-first"], slots))
    waits = {o: sum(places(by[o], slots)) - sum(jobs) for o in by}
    starts = {o: sum(batches(by[o], slots)[place // slots] for place in range(len(jobs))) for o in by}
    assert min(waits.values()) == waits["shortest-first"]
    assert min(starts.values()) == starts["shortest-first"]
