"""The exercises that the tests look at: each family's first seeds, posed once for all tests."""

from __future__ import annotations

import os
from functools import cache

from grader.case import CaseFamily
from grader.exercise import Exercise
from grader.families import MISTAKE, family, pose, slugs
from grader.family import Family

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
SEEDS = 2000 if DEEP else 300

DRAWN = [slug for slug in slugs() if not family(slug).preset]
PRESETS = [slug for slug in slugs() if family(slug).preset]
NUMERIC = [slug for slug in DRAWN if isinstance(family(slug), Family)]
CASES = [slug for slug in DRAWN if isinstance(family(slug), CaseFamily)]


@cache
def exercises(slug: str) -> tuple[Exercise, ...]:
    """Pose the first seeds; fewer where a mistake is hidden, since the other family promises the rest."""
    return tuple(pose(slug, seed) for seed in range(SEEDS // 5 if slug.endswith(MISTAKE) else SEEDS))


def numeric_family(slug: str) -> Family:
    found = family(slug)
    assert isinstance(found, Family)
    return found
