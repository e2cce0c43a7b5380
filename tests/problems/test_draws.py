"""What every drawn exercise promises, on the first seeds of each family."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import pytest

from grader.amounts import SILENT, digits, spoken
from grader.exercise import NUMERIC as OF_NUMBERS
from grader.exercise import Exercise, Given, Part
from grader.families import family, pose, slugs
from grader.family import Ask, Family
from grader.posing import BLOCK, NONE_IN_A_BLOCK
from tests.problems import plain
from tests.problems.seeds import DRAWN, NUMERIC, PRESETS, SEEDS, exercises, numeric_family

pytestmark = pytest.mark.law

TWICE = 2


def parts(slug: str) -> Iterator[tuple[Exercise, Part]]:
    for exercise in exercises(slug):
        for part in exercise.parts:
            yield exercise, part


def asks(of: Family) -> tuple[Ask, ...]:
    return (*of.parts, *of.inverse)


def number(text: str | None) -> Fraction:
    assert text is not None
    return Fraction(text)


@pytest.mark.parametrize("slug", NUMERIC)
def test_no_slip_lies_within_twice_the_tolerance_of_the_key(slug: str) -> None:
    for exercise, part in parts(slug):
        if part.key is None:
            continue
        key = number(part.key)
        for slip in part.slips:
            if slip.value is None:
                continue
            distance = abs(number(slip.value) - key)
            if slip.slip == "not-rounded":
                assert number(slip.value).denominator != 1, (exercise.id, slip)
            elif part.tolerance.kind == "exact":
                assert distance >= 1, (exercise.id, slip)
            else:
                assert distance > TWICE * number(part.tolerance.value) * abs(key), (exercise.id, slip)


@pytest.mark.parametrize("slug", NUMERIC)
def test_every_draw_has_an_answer_or_deliberately_none(slug: str) -> None:
    for exercise, part in parts(slug):
        if part.key is None:
            assert numeric_family(slug).infeasible, exercise.id
            assert part.reason.endswith("."), exercise.id
            assert part.steps[-1].value is None, exercise.id
        else:
            assert number(part.key) > 0, exercise.id
            assert part.kind != "count" or number(part.key).denominator == 1, exercise.id


@pytest.mark.parametrize("slug", NUMERIC)
def test_an_exact_share_has_no_answer_where_that_is_declared(slug: str) -> None:
    without = sum(any(part.key is None for part in exercise.parts) for exercise in exercises(slug))
    assert without == (SEEDS * NONE_IN_A_BLOCK // BLOCK if numeric_family(slug).infeasible else 0)
    assert 0.15 <= NONE_IN_A_BLOCK / BLOCK <= 0.20


@pytest.mark.differential
@pytest.mark.parametrize("slug", [*NUMERIC, *PRESETS])
def test_the_key_is_what_plain_arithmetic_gives(slug: str) -> None:
    for exercise, part in parts(slug):
        assert plain.key(exercise, part) == (number(part.key) if part.kind in OF_NUMBERS and part.key else part.key), (
            exercise.id
        )


@pytest.mark.differential
@pytest.mark.parametrize("slug", NUMERIC)
def test_floats_give_the_same_key(slug: str) -> None:
    for exercise, part in parts(slug):
        by_floats = plain.key(exercise, part, float)
        if part.key is None or isinstance(by_floats, int):  # none, or rounded by a law to one side
            assert by_floats == (None if part.key is None else number(part.key)), exercise.id
        else:
            assert by_floats == pytest.approx(float(number(part.key)), rel=1e-9), exercise.id


@pytest.mark.parametrize("slug", [*NUMERIC, *PRESETS])
def test_the_worked_chain_ends_at_the_key(slug: str) -> None:
    for exercise, part in parts(slug):
        if not part.steps:  # what no chain answers has an explanation of its own
            assert part.explained, exercise.id
            continue
        last = part.steps[-1]
        assert last.gives == part.asks or part.key is None, exercise.id
        if part.key is not None:
            in_part = number(last.value) * plain.factor(last.unit) / plain.factor(part.unit)
            assert in_part == number(part.key), exercise.id


@pytest.mark.parametrize("slug", NUMERIC)
def test_an_answerable_exercise_has_four_different_wrong_answers(slug: str) -> None:
    for exercise, part in parts(slug):
        if part.key is not None:
            assert len({slip.value for slip in part.slips}) >= 4, exercise.id
        assert len({slip.slip for slip in part.slips}) == len(part.slips), exercise.id


def said(given: Given) -> str:
    return spoken(Fraction(given.value), given.unit)


def text_of(exercise: Exercise) -> str:
    return " ".join([exercise.statement, *(part.question for part in exercise.parts)])


def holds(amount: str, text: str) -> bool:
    return re.search(rf"(?<![\d.,]){re.escape(amount)}(?![\d]|[.,]\d|\w)", text) is not None


@pytest.mark.parametrize("slug", slugs())
def test_the_statement_holds_every_given_with_its_unit(slug: str) -> None:
    for exercise in exercises(slug):
        for given in (*exercise.givens, *(given for part in exercise.parts for given in part.givens)):
            if given.value == "0":
                assert re.search(r"\b(no|not|neglected)\b", exercise.statement), exercise.id
            else:
                assert holds(said(given), text_of(exercise)), (exercise.id, given)


@pytest.mark.parametrize("slug", [*NUMERIC, *PRESETS])
def test_the_statement_holds_no_key(slug: str) -> None:
    for exercise, part in parts(slug):
        if part.key is None:
            continue
        if part.kind == "choice":
            continue
        key = spoken(number(part.key), part.unit) if part.unit else digits(number(part.key))
        if key not in {said(given) for given in exercise.givens}:  # it may equal a given by chance or by design
            assert not holds(key, text_of(exercise)), exercise.id


@pytest.mark.parametrize("slug", slugs())
def test_texts_are_plain_sentences(slug: str) -> None:
    for exercise in exercises(slug):
        for part in exercise.parts:
            assert re.fullmatch(r"[A-Z][^?]*\?", part.question), exercise.id
        for text in (exercise.statement, exercise.convention, text_of(exercise)):
            assert "  " not in text, exercise.id
            assert "{" not in text, exercise.id
            assert not re.search(r" [.,;]|None|Fraction|(?<![\d.,])1 (sequences|tokens|layers|heads|GPUs)\b", text), (
                exercise.id
            )
        assert exercise.statement.endswith("."), exercise.id


@pytest.mark.roundtrip
@pytest.mark.parametrize("slug", slugs())
def test_a_record_is_read_back_as_it_was_written(slug: str) -> None:
    for exercise in exercises(slug):
        assert Exercise.from_json(exercise.to_json()) == exercise


@pytest.mark.parametrize("slug", slugs())
def test_a_seed_poses_the_same_exercise_again(slug: str) -> None:
    for exercise in exercises(slug)[:100]:
        assert pose(slug, exercise.seed).to_json() == exercise.to_json()


@pytest.mark.parametrize("slug", DRAWN)
def test_most_seeds_pose_exercises_of_their_own(slug: str) -> None:
    some = exercises(slug)[:300]  # some families of cases come to an end after a thousand
    texts = {text_of(exercise) for exercise in some}
    assert len(texts) >= 0.6 * min(len(some), family(slug).grid or 1000)


@pytest.mark.parametrize("slug", NUMERIC)
def test_every_direction_is_drawn_with_an_answer(slug: str) -> None:
    of = numeric_family(slug)
    wanted = {(ask.quantity.name, "" if ask.answer_unit in SILENT else ask.answer_unit) for ask in asks(of)}
    drawn = Counter((part.asks, part.unit) for _, part in parts(slug) if part.key is not None)
    assert drawn.keys() == wanted
    assert min(drawn.values()) >= SEEDS / len(wanted) / 4


@pytest.mark.parametrize("slug", [slug for slug in DRAWN if getattr(family(slug), "infeasible", False)])
def test_no_direction_is_given_away_by_having_no_answer(slug: str) -> None:
    drawn = Counter((part.asks, part.key is None) for _, part in parts(slug))
    for name in {name for name, _ in drawn}:
        assert drawn[name, True] <= 0.5 * (drawn[name, True] + drawn[name, False]), name
