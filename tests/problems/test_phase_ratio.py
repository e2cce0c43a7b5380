"""How much longer a decoded token can take than one of the prompt: never longer than physics allows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.problems import plain
from tests.problems.seeds import exercises

pytestmark = pytest.mark.law

RIDGE = 300


def test_no_step_takes_longer_than_a_prefill_that_reads_the_weights_too() -> None:
    """And from the ridge of a GPU on, a prefill takes longer with every token: the ratio stays under it."""
    for exercise in exercises("phase-ratio"):
        (part,) = exercise.parts
        v: dict[str, Any] = {given.name: Fraction(given.value) * plain.factor(given.unit) for given in exercise.givens}
        v[part.asks] = Fraction(part.key or 0) * plain.factor(part.unit)
        assert v["phase_ratio"] <= min(v["prompt"], RIDGE), exercise.id
        assert 1 / v["decode_rate"] <= v["prefill_time"], exercise.id
