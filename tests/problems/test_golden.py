"""A seed poses the same exercise for ever: the digests of the first ones are frozen."""

from __future__ import annotations

import copy

import pytest

from grader.families import slugs
from tests.problems import golden

pytestmark = pytest.mark.law


@pytest.mark.parametrize("slug", slugs())
def test_exercises_are_what_they_were(slug: str) -> None:
    assert golden.faults(slug, golden.frozen()) == []


def test_no_family_has_gone() -> None:
    assert sorted(golden.frozen()) == slugs()


def test_a_changed_exercise_asks_for_a_new_revision() -> None:
    changed = copy.deepcopy(golden.frozen())
    changed["ttft"]["digests"][3] = "0" * 64
    (fault,) = golden.faults("ttft", changed)
    assert "ttft/3" in fault
    assert "raises its `revision`" in fault


def test_a_new_revision_is_frozen_before_it_counts() -> None:
    changed = copy.deepcopy(golden.frozen())
    changed["ttft"]["revision"] += 1
    (fault,) = golden.faults("ttft", changed)
    assert "not frozen" in fault
