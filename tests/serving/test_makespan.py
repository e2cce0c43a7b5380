"""Makespans against the closed forms, and the examples that the families build on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.serving.batching import Continuous, Static
from spec.serving.makespan import makespan, served

pytestmark = pytest.mark.law

JOBS = st.lists(st.integers(1, 12), min_size=1, max_size=14)
SLOTS = st.integers(1, 5)


@given(JOBS, SLOTS)
def test_static_batches_take_the_longest_of_each_and_a_pass(jobs: list[int], slots: int) -> None:
    longest = [max(jobs[start : start + slots]) for start in range(0, len(jobs), slots)]
    assert makespan(jobs, Static(slots, 0)) == sum(longest)
    assert makespan(jobs, Static(slots, 0), lambda _: 3, 7) == 3 * sum(longest) + 7 * len(longest)


@given(JOBS, st.integers(0, 5))
def test_with_a_slot_for_each_job_the_longest_decides(jobs: list[int], more: int) -> None:
    for batching in (Continuous(len(jobs) + more), Static(len(jobs) + more, 0)):
        assert makespan(jobs, batching) == max(jobs)


@given(JOBS, SLOTS)
def test_every_step_of_every_job_is_decoded_once(jobs: list[int], slots: int) -> None:
    run = served(jobs, Continuous(slots))
    assert run.tally.decoded == sum(jobs)
    assert [job.request.output - 1 for job in run.jobs] == jobs


def test_a_job_has_a_step() -> None:
    with pytest.raises(ValueError, match="at least one step"):
        makespan([1, 0], Continuous(1))
