"""The exercises printed in the chapter have the answers that follow from what they print."""

from __future__ import annotations

import pytest

from grader.exercise import Exercise
from grader.families import pose
from grader.solution import answer, hints, lines
from tests.problems.seeds import PRESETS

pytestmark = pytest.mark.law

ANSWERS = {
    "exercise-1": {"a": "2807 tokens"},
    "exercise-2": {"a": "40 ms", "b": "200 ms"},
    "exercise-3": {"a": "none"},
    "exercise-4": {"a": "17 sequences", "b": "41 sequences", "c": "1 GPU"},
}


def preset(slug: str) -> Exercise:
    return pose(slug, 0)


def slips(exercise: Exercise, part: str) -> dict[str, str | None]:
    return {slip.slip: slip.value for slip in exercise.part(part).slips}


def test_every_preset_is_answered_here() -> None:
    assert sorted(ANSWERS) == PRESETS


@pytest.mark.parametrize("slug", PRESETS)
def test_the_answers(slug: str) -> None:
    assert {part.part: answer(part) for part in preset(slug).parts} == ANSWERS[slug]


@pytest.mark.parametrize("slug", PRESETS)
def test_a_seed_changes_nothing_but_its_own_number(slug: str) -> None:
    one, other = pose(slug, 1), pose(slug, 2)
    assert (one.statement, one.givens, one.parts) == (other.statement, other.givens, other.parts)


def test_exercise_1_keeps_no_margin_and_names_the_tempting_one() -> None:
    exercise = preset("exercise-1")
    assert "no safety margin" in exercise.statement
    assert slips(exercise, "a")["margin-added"] == "2563"


def test_exercise_2_has_a_prompt_for_each_part() -> None:
    exercise = preset("exercise-2")
    assert [(given.name, given.value) for part in exercise.parts for given in part.givens] == [
        ("prompt", "2000"),
        ("prompt", "10000"),
    ]
    assert "prompt" not in {given.name for given in exercise.givens}
    assert slips(exercise, "b")["answer-of-part-a"] == "40"
    assert "2,000 tokens / 50,000 tokens/s = 40 ms" in lines(exercise, exercise.part("a"))[0].text
    assert "10,000 tokens / 50,000 tokens/s = 200 ms" in lines(exercise, exercise.part("b"))[0].text


def test_exercise_3_has_no_batch_and_lists_the_tempting_ones() -> None:
    exercise = preset("exercise-3")
    part = exercise.part("a")
    assert part.zero_is_none
    assert "1.5 s" in part.reason
    assert {"25", "2", "10", "1", "0.2", "5000"} <= set(slips(exercise, "a").values())
    assert "slots" not in {given.name for given in exercise.givens}
    assert "100 tokens / 50 tokens/s" in lines(exercise, part)[0].text
    assert all(hints(exercise, part))


def test_exercise_4_names_memory_as_what_binds() -> None:
    exercise = preset("exercise-4")
    assert "memory alone" in exercise.part("c").question
    assert slips(exercise, "a")["arrival-rate-in-s"] == "1020"
    assert slips(exercise, "b")["output-forgotten"] == "51"
    assert "1" not in slips(exercise, "c").values()
