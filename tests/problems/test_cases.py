"""What every family of cases promises, on its first seeds, and how the machinery behind them keeps it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from grader.amounts import digits
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, written
from grader.exercise import NUMERIC, Exercise, Part
from grader.families import family
from grader.posing import BLOCK, NONE_IN_A_BLOCK, Undrawable, reach
from grader.reading.choice import labels_of
from tests.problems.seeds import CASES, SEEDS, exercises

pytestmark = pytest.mark.law

LEVELS = 3


def of(slug: str) -> CaseFamily[Any]:
    found = family(slug)
    assert isinstance(found, CaseFamily)
    return found


def parts(slug: str) -> list[tuple[Exercise, Part]]:
    return [(exercise, part) for exercise in exercises(slug) for part in exercise.parts]


@pytest.mark.parametrize("slug", CASES)
def test_no_slip_says_the_same_as_the_key(slug: str) -> None:
    for exercise, part in parts(slug):
        for slip in part.slips:
            if part.key is None or slip.value is None:
                continue
            if part.kind in NUMERIC:
                key = Fraction(part.key)
                assert abs(Fraction(slip.value) - key) > reach(key, part.tolerance), (exercise.id, slip)
            elif part.kind == "choices":
                assert set(labels_of(slip.value)) != set(labels_of(part.key)), (exercise.id, slip)
            else:
                assert slip.value != part.key, (exercise.id, slip)


@pytest.mark.parametrize("slug", CASES)
def test_a_numeric_question_has_four_different_wrong_answers(slug: str) -> None:
    for exercise, part in parts(slug):
        assert len({slip.slip for slip in part.slips}) == len(part.slips), exercise.id
        if part.key is not None and part.kind in NUMERIC:
            assert len({slip.value for slip in part.slips}) >= 4, exercise.id


@pytest.mark.parametrize("slug", CASES)
def test_an_exact_share_has_no_answer_where_that_is_declared(slug: str) -> None:
    without = sum(any(part.key is None for part in exercise.parts) for exercise in exercises(slug))
    assert without == (SEEDS * NONE_IN_A_BLOCK // BLOCK if of(slug).infeasible else 0)
    for exercise, part in parts(slug):
        assert (part.key is None) == bool(part.reason), exercise.id


@pytest.mark.parametrize("slug", CASES)
def test_every_way_is_drawn(slug: str) -> None:
    drawn = [tuple(part.asks for part in exercise.parts) for exercise in exercises(slug)]
    wanted = [tuple(ask.asks for ask in asks) for asks in of(slug).ways]
    assert set(drawn) == set(wanted)
    assert min(drawn.count(way) for way in wanted) >= SEEDS / len(wanted) / 4


@pytest.mark.parametrize("slug", CASES)
def test_hints_lead_and_the_solution_ends_with_the_key(slug: str) -> None:
    for exercise, part in parts(slug):
        assert len(part.hints) == LEVELS, exercise.id
        assert part.explained, exercise.id
        if part.key is not None and part.kind in NUMERIC:
            key = digits(Fraction(part.key))
            number = rf"(?<![\d.,]){re.escape(key)}(?![\d]|[.,]\d)"
            assert part.explained[-1].text.find("=") >= 0, exercise.id
            shown = f"{exercise.statement} {part.question}"
            if Fraction(part.key) > 2 and not re.search(number, shown):  # a 1 or 2 stands in many a formula
                assert not any(re.search(number, hint) for hint in part.hints), exercise.id
        elif part.key is not None and part.kind in {"choice", "choices", "sequence", "ranking"}:
            last = part.explained[-1].text
            assert all(label in last for label in re.split(r"[,>=]", part.key.replace(" ", ""))), exercise.id


def drawn(**changes: Any) -> CaseFamily[int]:
    ask: dict[str, Any] = {
        "asks": "batch",
        "question": lambda _: "How many?",
        "kind": "count",
        "key": lambda n: n,
        "slips": (CaseSlip("one-more", "One more.", lambda n: n + 1),),
        "hints": lambda _: ("a", "b", "c"),
        "explained": lambda n: (Explained("rule", "It is so.", f"n = {n}"),),
        "reason": lambda _: "There is none.",
        "least": 1,
    }
    standard: dict[str, Any] = {
        "draw": lambda stream: stream.below(50),
        "statement": lambda _: "There are some.",
        "objective": "batching",
        "section": "batching",
    }
    of_family = {k: v for k, v in changes.items() if k in {"infeasible", "keep"}}
    of_ask = {k: v for k, v in changes.items() if k not in of_family}
    return CaseFamily(**standard, ways=((CaseAsk(**(ask | of_ask)),),), **of_family)


def test_a_case_on_which_a_slip_is_right_is_not_drawn() -> None:
    family_ = drawn(slips=(CaseSlip("even", "Made even.", lambda n: n + n % 2),))
    keys = [family_.pose("f", seed).parts[0].key for seed in range(200)]
    assert {int(key or 0) % 2 for key in keys} == {1}


def test_a_family_whose_slips_are_always_right_is_given_up() -> None:
    with pytest.raises(Undrawable, match="same lands on the key"):
        drawn(slips=(CaseSlip("same", "The same.", lambda n: n),)).pose("f", 0)


def test_too_few_wrong_answers_are_not_enough() -> None:
    with pytest.raises(Undrawable, match="too few different wrong answers"):
        drawn(least=2).pose("f", 0)


def test_a_share_is_drawn_without_an_answer() -> None:
    family_ = drawn(key=lambda n: n if n < 40 else None, infeasible=True)
    without = [e for e in (family_.pose("f", seed) for seed in range(BLOCK)) if e.parts[0].key is None]
    assert len(without) == NONE_IN_A_BLOCK
    assert without[0].parts[0].reason == "There is none."


def test_a_sample_is_the_same_each_time() -> None:
    assert [drawn().outcome("f", n)[0] for n in range(20)] == [drawn().outcome("f", n)[0] for n in range(20)]


def test_answers_are_written_as_records_keep_them() -> None:
    assert [written(a) for a in (None, "a", ("a", "b"), 3, Fraction(1, 2))] == [None, "a", "a,b", "3", "0.5"]
