"""Hints and worked solutions: what they tell, and what they must not give away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

import pytest

from grader.exercise import Exercise, Part
from grader.families import MISTAKE, family, pose, slugs
from grader.family import Family
from grader.judging import CORRECT, judge
from grader.solution import Line, answer, hints, lines
from tests.problems.seeds import exercises

NUMERIC = frozenset({"count", "number", "quantity"})
SEEDS = range(60)
DERIVED = [slug for slug in slugs() if not family(slug).preset and isinstance(family(slug), Family)]
# `used` and `p/q` are numbers of their own; digits in a name such as `L40S` or `H2` are none.
NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)")
ROUNDING = Fraction(1, 10**3)  # of a value that is printed to four figures or more


def asking(slug: str, *, wanted: bool) -> list[Exercise]:
    """The exercises of a family with an answer, or without one."""
    posed = [pose(slug, seed) for seed in SEEDS]
    return [e for e in posed if (e.parts[0].key is not None) == wanted]


def posed(slug: str) -> Sequence[Exercise]:
    """The exercises of a family; of mistakes fewer, as their solutions are those of other families."""
    return [pose(slug, seed) for seed in SEEDS] if slug.endswith(MISTAKE) else exercises(slug)


def numbers(text: str) -> set[Fraction]:
    return {Fraction(found.replace(",", "")) for found in NUMBER.findall(text)}


@pytest.mark.law
@pytest.mark.parametrize("slug", [slug for slug in DERIVED if family(slug).infeasible])
def test_hints_do_not_tell_whether_there_is_an_answer(slug: str) -> None:
    def shapes(exercises: list[Exercise]) -> set[tuple[str, tuple[str, ...]]]:
        return {(e.parts[0].asks, tuple(step.law for step in e.parts[0].steps)) for e in exercises}

    with_answer, without = shapes(asking(slug, wanted=True)), shapes(asking(slug, wanted=False))
    assert without
    assert without <= with_answer


def ends_in_the_key(part: Part, last: Line) -> bool:
    """Say whether the last line ends in what is judged right: in the unit that is asked for where it has one."""
    if part.kind not in NUMERIC:
        return True
    said = last.text.rpartition(" = ")[2].rstrip(".")
    if judge(part, said).verdict == CORRECT:
        return True
    found = numbers(said)
    return any(abs(number - Fraction(part.key or 0)) <= ROUNDING * abs(Fraction(part.key or 0)) for number in found)


@pytest.mark.law
@pytest.mark.parametrize("slug", slugs())
def test_a_worked_solution_of_every_family_names_its_laws_and_ends_in_the_key(slug: str) -> None:
    for exercise in posed(slug):
        for part in exercise.parts:
            worked = lines(exercise, part)
            assert worked, exercise.id
            for line in worked:
                assert line.law, exercise.id
                assert line.says.endswith("."), (exercise.id, line)
                assert line.text, exercise.id
                assert "None" not in line.text + line.latex, exercise.id
            if part.key is not None:
                assert ends_in_the_key(part, worked[-1]), (exercise.id, part.part, part.key, part.unit, worked[-1].text)
            elif part.steps:
                assert answer(part) == "none"
                assert "short by" in worked[-1].text or "no value" in worked[-1].text, exercise.id


@pytest.mark.law
@pytest.mark.parametrize("slug", slugs())
def test_three_hints_of_every_family_come_closer_and_none_says_the_key(slug: str) -> None:
    for exercise in posed(slug):
        for part in exercise.parts:
            told = hints(exercise, part)
            assert len(told) == 3, exercise.id
            assert len(set(told)) == 3, exercise.id
            assert all(told), exercise.id
            given = {Fraction(g.value) for g in (*exercise.givens, *part.givens)}
            if part.steps:
                assert numbers(told[0]) <= {Fraction(0), Fraction(1), Fraction(2)}, (exercise.id, told[0])
                assert " = " in told[1] or "<" in told[1], exercise.id
                assert numbers(told[2]) & given, exercise.id
            if part.steps and part.key is not None:  # those of cases are held to it where they are tested
                printed = given | numbers(told[1]) | numbers(exercise.statement) | numbers(part.question)
                assert Fraction(part.key) in printed or Fraction(part.key) not in numbers(" ".join(told)), exercise.id


@pytest.mark.law
@pytest.mark.parametrize("slug", DERIVED)
def test_a_derivation_ends_with_the_law_of_its_last_step(slug: str) -> None:
    for exercise in exercises(slug)[:60]:
        for part in exercise.parts:
            if part.key is not None:
                assert lines(exercise, part)[-1].law == part.steps[-1].law


def test_a_requirement_is_a_line_of_its_own() -> None:
    exercise = pose("exercise-3", 0)
    assert [line.text for line in lines(exercise, exercise.parts[0])] == [
        "100 tokens / 50 tokens/s <= 500 ms: it is short by 1.5 s"
    ]


def test_an_answer_in_another_unit_than_its_law_is_converted_in_the_last_line() -> None:
    exercise = next(e for e in exercises("littles-law") if e.parts[0].unit == "request/min")
    text = lines(exercise, exercise.parts[0])[-1].text
    assert re.search(r"= [\d.]+ requests?/s = [\d.,]+ requests?/min$", text), text


def test_the_answer_to_a_mistake_is_its_line_and_the_right_value() -> None:
    part = pose("max-context-mistake", 0).parts[0]
    assert re.fullmatch(r"\d+: [\d./]+( \S+)?", answer(part))
    assert judge(part, answer(part)).verdict == CORRECT


def test_a_formula_is_explained_by_its_law_and_what_is_said_here() -> None:
    exercise = pose("parameter-formula", 3)
    part = exercise.parts[0]
    assert [line.text.rpartition(" = ")[2] for line in lines(exercise, part)][-1] == part.key
    assert part.key not in " ".join(hints(exercise, part))
