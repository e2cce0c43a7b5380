"""The longest context at a given pace: in plain arithmetic, and the step of the chapter turned round."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from grader.menu import Menu
from problems import decode_context as paced
from tests.problems import plain
from tests.problems.plain.phases import last, step
from tests.problems.seeds import exercises

pytestmark = pytest.mark.law

# A step of the chapter's 7B on an A100 at its whole bandwidth, one sequence: 126.3 tokens/s at 4,096 tokens.
SECONDS = Fraction(31_538_054, 3_982_421_875)
LIMIT = "8 ms/token"
CHAPTER: dict[str, Any] = {
    "parameters": (7 * 10**9,),
    "weights": ("14 GB",),
    "layers": (32,),
    "heads": (32,),
    "head_dim": (128,),
    "kv_bytes_per_token": (524_288,),
    "batch": (1,),
    "compute": ("312 TFLOP/s",),
    "bandwidth": ("2.039 TB/s",),
    "mfu": ("1",),
    "mbu": ("1",),
}


def in_time(v: dict[str, Any], context: int) -> bool:
    return bool(step({**v, "context": context}, v["batch"]) <= v["tpot_target"])


@pytest.mark.differential
def test_the_context_is_the_last_one_that_plain_arithmetic_lets_through() -> None:
    for exercise in exercises("decode-context"):
        v: dict[str, Any] = {g.name: Fraction(g.value) * plain.factor(g.unit) for g in exercise.givens}
        found = last(partial(in_time, v))
        assert exercise.parts[0].key == (None if found is None else str(found)), exercise.id


def test_the_step_of_the_chapter_allows_the_context_that_it_took() -> None:
    """126.3 tokens/s at 4,096 tokens leave 4,409 tokens in 8 ms, and none in the 6.8 ms that the weights take."""
    case = Menu(**CHAPTER, tpot_target=(LIMIT,)).at(0)
    assert paced.longest({**paced.GIVEN.values(case), "tpot_target": SECONDS}) == 4096
    assert paced.key(case) == 4409
    wrong = {each.slug: each.value(case) for each in paced.ask.slips if each.applies(case)}
    assert wrong["weights-unread"] == 31_112
    assert wrong["compute-only"] == int((Fraction(8, 1000) * 312 * 10**12 - 14 * 10**9) / (4 * 32 * 4096))
    assert wrong["weights-in-GiB"] == 2440
    assert wrong["one-layer-cached"] == 141_113
    assert wrong["rounded-up"] == 4410
    assert paced.key(Menu(**CHAPTER, tpot_target=("6.8 ms/token",)).at(0)) is None
