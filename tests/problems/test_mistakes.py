"""Exercises that hide a mistake: what is planted, and how the line that is found wrong is judged."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.amounts import natural
from grader.certify import order
from grader.exercise import Exercise, Part
from grader.families import MISTAKE, family, mistakes_in, slugs
from grader.family import Family
from grader.feedback import message
from grader.judging import CORRECT, INCORRECT, INVALID, PARTIAL, judge
from grader.mistake import MistakeFamily, plants
from grader.posing import EDGE, Undrawable
from spec.chain import Link
from spec.index import laws
from spec.solving import Infeasible
from tests.problems.seeds import NUMERIC, exercises, numeric_family

pytestmark = pytest.mark.law

HIDDEN = [slug for slug in slugs() if slug.endswith(MISTAKE)]


def parts(slug: str) -> list[tuple[Exercise, Part]]:
    return [(exercise, exercise.parts[0]) for exercise in exercises(slug)]


def value(part: Part, line: int) -> str:
    of = part.worked[line - 1]
    return natural(Fraction(of.key), of.unit or "1")


def test_every_family_with_a_chain_has_one_that_hides_mistakes() -> None:
    for slug in NUMERIC:
        try:
            mistakes_in(slug).pose(slug, 0)
        except Undrawable:
            assert f"{slug}{MISTAKE}" not in HIDDEN, slug
        else:
            assert f"{slug}{MISTAKE}" in HIDDEN, f"run `python -m grader.certify {slug}{MISTAKE}`"


@pytest.mark.parametrize("slug", HIDDEN)
def test_one_line_follows_a_wrong_law_and_moves_the_last_value(slug: str) -> None:
    for exercise, part in parts(slug):
        wrong = int(part.key or 0)
        assert len(part.worked) == len(part.options) >= 2, exercise.id
        for number, of in enumerate(part.worked, 1):
            key, shown = Fraction(of.key), Fraction(of.shown)
            far = abs(shown - key) > (1 - EDGE if of.kind == "count" else Fraction(2, 100) * key)
            assert number > wrong or far == (number == wrong), exercise.id
        assert far, exercise.id


@pytest.mark.parametrize("slug", [slug.removesuffix(MISTAKE) for slug in HIDDEN])
def test_each_other_line_is_right_with_the_values_before_it(slug: str) -> None:
    of = numeric_family(slug)
    seen = 0
    for point in islice(order(of.grid), 100):
        base = of.outcome(slug, point)[0]
        if not isinstance(base, Exercise):
            continue
        for part in base.parts:
            if part.key is None or not all(step.gives for step in part.steps):
                continue
            for plant in plants(base, part):
                seen += 1
                known = dict(zip([step.gives for step in part.steps], plant.values, strict=True))
                for place, step in enumerate(part.steps):
                    link = Link(laws()[step.law], step.gives)
                    if link.needs <= known.keys() and not any(g.name in link.needs for g in base.givens):
                        given_value = link.follow({name: known[name] for name in link.needs})
                        assert not isinstance(given_value, Infeasible)
                        agrees = natural(given_value, step.unit) == natural(known[step.gives], step.unit)
                        assert agrees == (place != plant.at), (base.id, plant.slip.slug)
    assert seen


@pytest.mark.parametrize("slug", HIDDEN)
def test_the_wrong_line_with_its_right_value_is_correct_and_nothing_else(slug: str) -> None:
    for exercise, part in parts(slug)[:40]:
        wrong = int(part.key or 0)
        for line in range(1, len(part.worked) + 1):
            judgement = judge(part, f"{line}: {value(part, line)}")
            assert judgement.verdict == (CORRECT if line == wrong else INCORRECT), exercise.id
        of = part.worked[wrong - 1]
        shown = judge(part, f"{wrong}: {natural(Fraction(of.shown), of.unit or '1')}")
        assert (shown.verdict, shown.score) == (PARTIAL, Fraction(1, 2)), exercise.id
        assert "it shows" in message(shown, part), exercise.id


@pytest.mark.parametrize("slug", HIDDEN)
def test_neither_the_lines_nor_the_hints_tell_which_is_wrong(slug: str) -> None:
    for exercise, part in parts(slug)[:40]:
        told = " ".join([exercise.statement, exercise.convention, *part.hints])
        assert part.reason not in told, exercise.id
        assert not re.search(r"[Ll]ine \d", told), exercise.id
        assert len(part.hints) == 3, exercise.id
        assert part.explained[-1].text.endswith(value(part, int(part.key or 0))), exercise.id


PART = next(part for _, part in parts("max-context-mistake") if len(part.worked) == 3 and part.worked[0].unit == "B")
RIGHT = value(PART, int(PART.key or 0))


@pytest.mark.parametrize(
    "shape",
    [
        "{n}: {v}", "{n}, {v}", "{n} {v}", "({n}) {v}", "line {n}: {v}", "Line {n} is {v}", "line {n} should be {v}",
        "{n} -> {v}", "{n}\u2192{v}", "{n}. {v}", "{n} - {v}", "step {n}; its right value is {v}", "#{n} = {v}",
        "{n}) kv_budget = {v}", "  {n}:{v}  ", "row {n}: about {v}", "({n}): {v}", "[{n}] {v}", "{n}.) {v}",
        "{n} \u2013 {v}", "{n}\u2014{v}", "{n} -{v}", "{n} => {v}", "line no. {n}: {v}", "line: {n}, value: {v}",
        "line {n} is wrong: it should be {v}", "\uff08{n}\uff09\uff1a{v}", "{n} | {v}",
    ],
)  # fmt: skip
def test_a_line_and_a_value_may_be_written_in_many_ways(shape: str) -> None:
    judgement = judge(PART, shape.format(n=PART.key, v=RIGHT))
    assert judgement.verdict == CORRECT
    again = judge(PART, judgement.reading)
    assert (again.verdict, again.reading) == (CORRECT, judgement.reading)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("", "empty"),
        (RIGHT, "Begin with the number"),
        ("2,540 tokens", "Begin with the number"),
        ("9: 3 GB", "from 1 to 3"),
        ("0: 3 GB", "from 1 to 3"),
        ("1", "right value of line 1"),
        ("1: 3 quux", "no unit"),
        ("1: 8.9", "unit is missing"),
        ("1" * 300, "too long"),
    ],
)
def test_what_is_no_such_answer_is_not_judged(typed: str, told: str) -> None:
    judgement = judge(PART, typed)
    assert judgement.verdict == INVALID
    assert told in message(judgement, PART)


def test_that_no_line_is_wrong_is_an_answer() -> None:
    assert judge(PART, "none").verdict == INCORRECT


@pytest.mark.fuzz
@given(st.text(alphabet="0123456789 .,:;=()-+>GBline\u2192", max_size=30))
def test_no_text_makes_it_raise(typed: str) -> None:
    judgement = judge(PART, typed)
    if judgement.verdict != INVALID:
        assert judge(PART, judgement.reading).score == judgement.score


def test_what_it_hides_in_comes_from_the_other_family() -> None:
    of = family("max-context-mistake")
    assert isinstance(of, MistakeFamily)
    assert isinstance(of.of, Family)
    assert (of.objective, of.section, of.kinds) == (of.of.objective, of.of.section, ("mistake",))


def test_one_without_laws_hides_none() -> None:
    with pytest.raises(TypeError, match="parameter-formula has no chains"):
        mistakes_in("parameter-formula")
