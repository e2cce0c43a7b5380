"""The cache of a session that had to make room: both times in plain arithmetic, and the example of the chapter."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from grader.case import CaseAsk
from grader.menu import Menu
from problems import swap_or_recompute as idle
from tests.problems import plain
from tests.problems.seeds import exercises
from tests.problems.test_misconceptions import agrees

pytestmark = pytest.mark.law

CHAPTER = Menu(
    # The chapter's 7B on an A100 at half of its peak: 12 L H^2 + 2 V H parameters.
    parameters=(6_704_594_944,),
    layers=(32,),
    heads=(32,),
    kv_heads=(32,),
    head_dim=(128,),
    kv_width=("2 B",),
    context=(4096,),
    prompt=(4096,),
    compute=("312 TFLOP/s",),
    achieved_mfu=("0.5",),
    link_bandwidth=("20 GB/s",),
).at(0)


@pytest.mark.differential
def test_both_times_are_what_plain_arithmetic_gives_and_the_shorter_one_is_named() -> None:
    for exercise in exercises("swap-or-recompute"):
        v: dict[str, Any] = {
            given.name: Fraction(given.value) * plain.factor(given.unit)
            for given in (*exercise.givens, *(given for part in exercise.parts for given in part.givens))
        }
        cached = 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"] * v["context"]
        # A token is multiplied with all parameters, and with keys and values of the tokens up to it: half a square.
        flops = 2 * v["prompt"] * (v["parameters"] + v["layers"] * v["heads"] * v["head_dim"] * v["prompt"])
        fetch, again = cached / v["host_bandwidth"], flops / (v["compute"] * v["achieved_mfu"])
        assert v["prompt"] == v["context"]
        assert [Fraction(part.key or 0) / 1000 for part in exercise.parts[:2]] == [fetch, again], exercise.id
        assert exercise.parts[2].key == ("swap" if fetch < again else "recompute"), exercise.id


def test_either_is_faster_about_as_often_as_the_other() -> None:
    labels = Counter(exercise.parts[2].key for exercise in exercises("swap-or-recompute"))
    assert min(labels["swap"], labels["recompute"]) > sum(labels.values()) / 3


@pytest.mark.parametrize(
    ("ask", "key", "slips"),
    [
        (
            idle.fetch,
            "107.374",
            {
                "link-in-bits": "858.993",
                "link-in-GiB": "100",
                "one-layer": "3.355",
                "values-forgotten": "53.687",
                "both-ways": "214.748",
                "answer-in-s": "0.107",
            },
        ),
        (
            idle.again,
            "380.270",
            {
                "full-efficiency": "190.135",
                "one-operation": "204.231",
                "attention-forgotten": "352.077",
                "full-matrix": "408.462",
                "answer-in-s": "0.380",
            },
        ),
    ],
    ids=["fetch", "again"],
)
def test_every_misconception_leads_where_it_was_measured(ask: CaseAsk[Any], key: str, slips: dict[str, str]) -> None:
    """107 ms over 20 GB/s against 380 ms at half of the peak, for 4,096 tokens."""
    assert agrees(str(ask.key(CHAPTER)), key)
    found = {slip.slug: str(slip.value(CHAPTER)) for slip in ask.slips if slip.applies(CHAPTER)}
    assert {name: found.get(name) for name, value in slips.items() if not agrees(found.get(name), value)} == {}


def test_the_cache_of_the_chapter_comes_back_sooner_than_a_prefill_ends() -> None:
    """Not so if the link is taken in bits, or the peak as reached."""
    assert idle.choice.key(CHAPTER) == "swap"
    wrong = {slip.slug: slip.value(CHAPTER) for slip in idle.choice.slips if slip.applies(CHAPTER)}
    assert wrong == {"longer-taken": "recompute", "link-in-bits": "recompute"}
