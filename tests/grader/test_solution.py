"""Hints and worked solutions: what they tell, and what they must not give away."""

from __future__ import annotations

import pytest

from grader.exercise import Exercise
from grader.families import pose
from grader.solution import answer, hints, lines
from tests.problems.seeds import NUMERIC as DERIVED
from tests.problems.seeds import numeric_family

SEEDS = range(60)


def asking(slug: str, *, wanted: bool) -> list[Exercise]:
    """The exercises of a family with an answer, or without one."""
    posed = [pose(slug, seed) for seed in SEEDS]
    return [e for e in posed if (e.parts[0].key is not None) == wanted]


@pytest.mark.law
@pytest.mark.parametrize("slug", [slug for slug in DERIVED if numeric_family(slug).infeasible])
def test_hints_do_not_tell_whether_there_is_an_answer(slug: str) -> None:
    def shapes(exercises: list[Exercise]) -> set[tuple[str, tuple[str, ...]]]:
        return {(e.parts[0].asks, tuple(step.law for step in e.parts[0].steps)) for e in exercises}

    with_answer, without = shapes(asking(slug, wanted=True)), shapes(asking(slug, wanted=False))
    assert without
    assert without <= with_answer


@pytest.mark.law
@pytest.mark.parametrize("slug", DERIVED)
def test_a_solution_ends_in_the_answer_or_where_there_is_none(slug: str) -> None:
    for seed in SEEDS:
        exercise = pose(slug, seed)
        part = exercise.parts[0]
        last = lines(exercise, part)[-1]
        if part.key is None:
            assert answer(part) == "none"
            assert "short by" in last.text or "no value" in last.text
        else:
            assert last.law == part.steps[-1].law
            assert "None" not in last.text + last.latex
        assert len(hints(exercise, part)) == 3


def test_a_requirement_is_a_line_of_its_own() -> None:
    exercise = pose("exercise-3", 0)
    assert [line.text for line in lines(exercise, exercise.parts[0])] == [
        "100 tokens / 50 tokens/s <= 500 ms: it is short by 1.5 s"
    ]
