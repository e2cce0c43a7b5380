"""Each known misconception of a family, on its worked example, is one of the slips and leads where it was measured.

The examples are those of the chapter's exercises and of the families built on them; every value was worked out by
hand. Each example becomes a family of a single point, exempt from the certificate as presets are.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from grader.exercise import Exercise
from grader.family import Ask, Menu
from spec import quantities as q
from tests.problems.examples import examples
from tests.problems.examples.chapter import LLAMA_2_7B, ONE_A100
from tests.problems.seeds import numeric_family

pytestmark = pytest.mark.law

EXAMPLES = examples()


def example(slug: str, asks: str, given: dict[str, Any]) -> Exercise:
    of = numeric_family(slug)
    asked: Ask = next(ask for ask in (*of.parts, *of.inverse) if ask.quantity.name == asks)
    point = replace(of, asks=asked, inverse=(), given=Menu(**given), keep=lambda draw: bool(draw.values), preset=True)
    return point.pose(slug, 0)


def agrees(found: str | None, wanted: str) -> bool:
    if found is None:
        return False
    places = len(wanted.partition(".")[2])
    return abs(Fraction(found) - Fraction(wanted)) <= (Fraction(1, 2 * 10**places) if places else 0)


@pytest.mark.parametrize(
    ("slug", "asks", "given", "key", "slips"),
    EXAMPLES,
    ids=[f"{row[0]}-{row[1]}-{n}" for n, row in enumerate(EXAMPLES)],
)
def test_every_misconception_leads_where_it_was_measured(
    slug: str, asks: str, given: dict[str, Any], key: str | None, slips: dict[str, str]
) -> None:
    part = example(slug, asks, given).part("a")
    found = {slip.slip: slip.value for slip in part.slips}
    assert part.key == key
    assert {name: found.get(name) for name, value in slips.items() if not agrees(found.get(name), value)} == {}


def test_capacity_equal_to_the_mean_is_too_little() -> None:
    # 120 a minute for 10 s are 20 in service; at 10 on a GPU, two GPUs would be full for ever.
    given = {
        **ONE_A100,
        "gpu_memory": ("40 GB",),
        "kv_bytes_per_token": (524_288,),
        "arrival_rate": ("120 request/min",),
        "prompt": (2000,),
        "output": (500,),
        "ttft": ("0 s",),
        "decode_rate": (50,),
    }
    part = example("gpu-count", "gpus", given).part("a")
    assert {step.gives: step.value for step in part.steps}["mean_concurrency"] == "20"
    assert {step.gives: step.value for step in part.steps}["sequences_per_gpu"] == "10"
    assert part.key == "3"


def test_the_hidden_size_is_no_measure_of_the_cache_where_heads_span_more() -> None:
    gemma = {"layers": (28,), "hidden": (3072,), "heads": (16,), "kv_heads": (16,), "head_dim": (256,)}
    part = example("kv-per-token", "kv_bytes_per_token", {**gemma, "weight_bits": (16,), "kv_width": ("2 B",)}).part(
        "a"
    )
    assert part.key == "458752"
    assert {slip.slip: slip.value for slip in part.slips}["hidden-for-kv-width"] == "344064"


def test_weights_larger_than_the_gpu_leave_no_answer() -> None:
    given = {**LLAMA_2_7B, **ONE_A100, "weights": ("138 GB",), "context": (4096,), "kv_width": ("2 B",)}
    part = example("max-concurrency", "concurrency", given).part("a")
    assert part.key is None
    assert part.zero_is_none
    assert "70 GB" in part.reason
    assert q.concurrency.symbol in part.names
