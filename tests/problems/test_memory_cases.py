"""The families on where memory goes, beside what every family is held to."""

from __future__ import annotations

import pytest

from tests.problems.examples.memory import SHARES, TARGET
from tests.problems.test_misconceptions import example

pytestmark = pytest.mark.law


@pytest.mark.parametrize(
    ("activations", "margin", "end"),
    [("60 %", "40 %", "to be under 1; the two are equal."), ("75 %", "40 %", "to be under 1; that is missed by 0.15.")],
)
def test_shares_that_leave_nothing_are_named(activations: str, margin: str, end: str) -> None:
    given = {**TARGET, "activation_share_of_remaining": (activations,), "safety_share_of_total": (margin,)}
    part = example("needed-memory", "gpu_memory", given).part("a")
    assert part.key is None
    assert part.reason.startswith("This needs the activation reserve as a share of what the weights leave plus")
    assert part.reason.endswith(end)


def test_weights_larger_than_the_gpu_are_named() -> None:
    part = example("needed-memory", "concurrency", {**TARGET, **SHARES, "weights": ("84.5 GB",)}).part("a")
    assert part.reason == "This needs the weights to be at most the memory of one GPU; that is missed by 4.5 GB."


def test_nothing_left_is_an_answer() -> None:
    given = {"gpu_memory": ("80 GB",), "weights": ("68 GB",), "activation_share_of_total": ("10 %",)}
    part = example("memory-shares", "kv_budget", {**given, "safety_share_of_total": ("5 %",)}).part("a")
    assert part.key == "0"
