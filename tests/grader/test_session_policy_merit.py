"""Which policies are better: the samples of the chapter's design exercise keep their order of merit.

A prototype on another engine ranked them; its scores stand in the data file beside the policies.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from grader.executing.session_policy.running import GRADING, RUNS, measures, seeds
from grader.executing.session_policy.scoring import score
from spec.serving.session_policy import policy_from
from spec.serving.session_workload import Circumstances
from spec.serving.sessions import play

pytestmark = pytest.mark.law

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
SAMPLES = tomllib.loads((Path(__file__).parents[1] / "data" / "session_policies.toml").read_text(encoding="utf-8"))
TIERS = (
    ("S6",),
    ("X10",),
    ("X6", "S5"),
    ("X5",),
    ("X8", "X9", "S4", "X1", "X7"),
    ("X4", "S3"),
    ("X3", "X2", "S1", "S2", "X11"),
)
# One run each, so that it takes seconds: the reference, what trimming alone buys, LRU alone, and the cheap tricks.
FEW = ("S6", "S5", "S4", "X4", "S2")
TRICKS = {"X2": 20, "X3": 40, "X11": 40, "X4": 60, "S2": 40, "wipe": 40, "sum up": 40}  # the most that each may earn
# The reference, but that a cut leaves nothing, or a summary of next to nothing.
WIPING = {
    "wipe": {"keep": 0},
    "sum up": {"context": "summarise", "summarise_when": "idle", "keep": 0, "summary": 100},
}
SEED = 21


def points(name: str, seed: int) -> Fraction:
    values = SAMPLES["S6"]["policy"] | WIPING[name] if name in WIPING else SAMPLES[name]["policy"]
    return score(measures(play(policy_from(values), Circumstances(), seed))).total


@pytest.fixture(scope="module")
def earned() -> dict[str, Fraction]:
    return {name: points(name, SEED) for name in {*FEW, *TRICKS}}


def test_the_tiers_name_every_sample_once() -> None:
    assert sorted(name for tier in TIERS for name in tier) == sorted(SAMPLES)
    ranked = [SAMPLES[name]["expected"]["score"] for tier in TIERS for name in tier]
    assert all(after <= before + 4 for before, after in pairwise(ranked))


def test_a_better_idea_earns_more(earned: dict[str, Fraction]) -> None:
    assert all(earned[better] > earned[worse] for better, worse in pairwise(FEW))


@pytest.mark.parametrize("name", TRICKS)
def test_who_forgets_refuses_kills_or_crashes_earns_little(earned: dict[str, Fraction], name: str) -> None:
    assert earned[name] <= TRICKS[name]


def spread(name: str) -> tuple[Fraction, Fraction, Fraction]:
    """Give the lowest, the mean and the highest score of a sample over the runs of an exercise."""
    found = [points(name, seed) for seed in seeds("merit", GRADING)]
    return min(found), sum(found, Fraction(0)) / RUNS, max(found)


@pytest.mark.slow
@pytest.mark.skipif(not DEEP, reason="minutes; runs under make deep")
def test_all_samples_keep_their_order_within_their_spread() -> None:
    found = {name: spread(name) for name in SAMPLES}
    for place, tier in enumerate(TIERS):
        for better, worse in pairs(tier, TIERS[place + 1 :]):
            assert found[better][2] >= found[worse][0], (better, worse)
        for better, worse in pairs(tier, TIERS[place + 2 :]):
            assert found[better][1] > found[worse][1], (better, worse)


def pairs(tier: tuple[str, ...], lower: tuple[tuple[str, ...], ...]) -> Iterator[tuple[str, str]]:
    return ((better, worse) for better in tier for under in lower for worse in under)
