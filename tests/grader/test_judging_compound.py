"""Two slips at once: named where the figures of an answer allow it, and hardly ever on numbers drawn by chance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import pytest

from grader.amounts import significant
from grader.diagnosing.fault import Fault
from grader.exercise import Exercise, Part, exact
from grader.families import family
from grader.feedback import message
from grader.judging import CORRECT, INCORRECT, judge
from grader.judging.compound import TOGETHER, _search, explained
from spec.stream import Stream

pytestmark = pytest.mark.law

FAMILIES = ("max-context", "kv-per-token", "littles-law", "needed-memory")
SEEDS = range(6)
FIGURES = 4


def numeric(slug: str) -> Iterator[tuple[Exercise, Part]]:
    for seed in SEEDS:
        exercise = family(slug).pose(slug, seed)
        yield from ((exercise, part) for part in exercise.parts if part.key is not None)


def typed(part: Part, value: Fraction) -> str:
    if part.kind == "count":
        return str(round(value))
    return exact(value if part.tolerance.kind == "exact" else significant(value, FIGURES))


def pairs(exercise: Exercise, part: Part) -> Iterator[tuple[tuple[Fault, Fault], Fraction]]:
    """Give pairs of slips that touch different things, and where they lead together; not where one of them leads."""
    search, factor = _search(exercise, part)
    alone = {search.value([fault]) for fault in search.single}
    for pair in combinations(search.single, 2):
        value = search.value(pair)
        if not pair[0].touches & pair[1].touches and value is not None and value > 0 and value not in alone:
            yield pair, Fraction(value) / factor


@pytest.mark.parametrize("slug", FAMILIES)
def test_two_slips_are_named_where_the_answer_has_figures_enough(slug: str) -> None:
    seen = named = 0
    for exercise, part in numeric(slug):
        for pair, value in list(pairs(exercise, part))[::3]:
            text = typed(part, value)
            judged = judge(part, text)
            if judged.verdict == CORRECT or judged.diagnoses or len(text.replace(".", "").strip("0")) < FIGURES:
                continue
            seen += 1
            told = [set(d.slip.split(TOGETHER)) for d in explained(exercise, part, judged).diagnoses]
            named += {fault.slug for fault in pair} in told
    assert named >= 0.9 * seen > 0, (named, seen)


def test_numbers_drawn_by_chance_are_hardly_ever_explained() -> None:
    stream, seen, named = Stream("wrong answers"), 0, 0
    for slug in FAMILIES:
        for exercise, part in numeric(slug):
            for _ in range(8):
                value = Fraction(part.key or 0) * Fraction(100 + stream.below(9900), 1000)
                judged = judge(part, typed(part, value))
                if judged.verdict == INCORRECT and not judged.diagnoses:
                    seen += 1
                    named += bool(explained(exercise, part, judged).diagnoses)
    assert seen > 100
    assert named <= 0.02 * seen


def test_it_says_both() -> None:
    exercise = family("max-context").pose("max-context", 10)
    part = exercise.parts[0]
    judged = explained(exercise, part, judge(part, "64958"))
    assert [d.slip for d in judged.diagnoses] == ["margin-forgotten+values-forgotten"]
    assert "The safety margin was not taken off. The factor 2 is missing" in message(judged, part)


@pytest.mark.parametrize("typed", ["31389", "62779", "none", "0", "-64958", "what"])
def test_what_is_right_or_told_already_stays_as_it_is(typed: str) -> None:
    exercise = family("max-context").pose("max-context", 10)
    judged = judge(exercise.parts[0], typed)
    assert explained(exercise, exercise.parts[0], judged) is judged
