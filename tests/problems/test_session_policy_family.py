"""The design exercise: what it draws, tells, and holds as an example of a right answer."""

from __future__ import annotations

import os
from fractions import Fraction

import pytest

from grader.executing.session_policy import judged
from grader.executing.session_policy.reading import read_answer
from grader.executing.session_policy.running import circumstances
from grader.executing.session_policy.scoring import COMPONENTS
from grader.exercise import Exercise
from problems.session_policy import PLACES, family
from spec.serving.session_workload import Circumstances
from spec.serving.sessions import SIMPLIFICATIONS

pytestmark = pytest.mark.law

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
SLUG = "session-policy"


def exercises(count: int) -> list[Exercise]:
    return [family.pose(SLUG, seed) for seed in range(count)]


def under(exercise: Exercise) -> Circumstances:
    run = exercise.parts[0].run
    assert run is not None
    return circumstances(run.setting)


def of_place(place: int) -> Exercise:
    wanted = (PLACES[place].model, PLACES[place].gpu, PLACES[place].window)
    return next(e for e in exercises(60) if (under(e).model, under(e).gpu, under(e).window) == wanted)


def test_every_place_and_rate_lies_in_its_band_and_is_told() -> None:
    met = set()
    for exercise in exercises(100):
        at = under(exercise)
        place = next(p for p in PLACES if (p.model, p.gpu, p.window) == (at.model, at.gpu, at.window))
        met.add(place)
        assert Fraction(place.low, 100) <= at.per_minute <= Fraction(place.high, 100)
        for told in (f"{at.window:,} tokens", f"{float(at.per_minute):g} sessions", f"of {at.system} tokens"):
            assert told in exercise.statement, (exercise.id, told)
    assert met == set(PLACES)


def test_the_statement_tells_how_it_is_scored_and_what_is_left_out() -> None:
    (exercise,) = exercises(1)
    assert all(part.says in exercise.statement for part in COMPONENTS)
    assert all(f"up to {part.points} points" in exercise.statement for part in COMPONENTS)
    assert all(sentence in exercise.statement for sentence in SIMPLIFICATIONS)
    assert "none" not in exercise.convention
    assert len(exercise.rubric) == 6


def test_the_example_of_a_right_answer_is_read_and_foretells_all() -> None:
    for exercise in exercises(40):
        answer = read_answer(exercise.parts[0].key or "", under(exercise).window)
        assert len(answer.predictions) == 3


@pytest.mark.parametrize("place", range(len(PLACES)) if DEEP else [0])
def test_the_reference_policy_does_well_and_neither_the_default_nor_the_host_alone_does(place: int) -> None:
    (part,) = of_place(place).parts
    reference = judged(part, part.key or "")
    assert reference.graded is not None
    assert reference.graded.points >= 85
    assert reference.score >= Fraction(85, 100)
    if DEEP:
        for lesser in ("{}", '{"evict_to": "host"}'):
            found = judged(part, lesser)
            assert found.graded is not None
            assert found.graded.points < 85, lesser
