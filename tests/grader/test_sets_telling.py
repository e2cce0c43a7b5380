"""No exercise stands on a sheet where another one prints its answer."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from grader.families import pose
from grader.sets import Item, ProblemSet, Secret, sheet
from grader.sets.draws import Allotment, first_draws, places
from grader.sets.telling import Numbers, long_numbers

ASKED = ProblemSet("t", (Item("kv-per-token", None, 6, Fraction(1)), Item("max-context", None, 3, Fraction(1))))


def told(numbers: list[Numbers]) -> bool:
    return any(one.tells(other) for one, other in combinations(numbers, 2))


@pytest.mark.law
def test_no_exercise_of_a_class_is_told_by_its_neighbour_on_the_sheet() -> None:
    secret = Secret(b"a secret of the course")
    spots = places(ASKED, secret)
    allotment, offered = Allotment("t", secret, spots), 0
    for student in map(str, range(40)):
        first = first_draws("t", secret, spots, student)
        allotment.add(student, first)
        by_chance, given = (
            [Numbers.of(pose(p.item.family, d.seed)) for p, d in zip(spots, draws, strict=True)]
            for draws in (first, allotment.draws[student])
        )
        assert not told(given)
        offered += told(by_chance)
    assert offered, "chance has to offer such a sheet, or nothing is tried here"


@pytest.mark.law
@pytest.mark.parametrize("title", [f"Week {n}" for n in range(12)])
def test_nor_is_one_of_the_sheet_for_everybody(title: str) -> None:
    drawn = sheet(ProblemSet(title, ASKED.items))
    assert not told([Numbers.of(entry.exercise) for entry in drawn.entries])


def test_a_number_tells_whatever_its_prefix_and_the_marks_between_its_digits() -> None:
    shows = Numbers(long_numbers("57.344 kB"), frozenset())
    hides = Numbers(frozenset(), long_numbers("57,344"))
    assert shows.tells(hides)
    assert hides.tells(shows)
    assert not hides.tells(Numbers(long_numbers("4,096 tokens and 57,345 B"), frozenset()))


def test_short_numbers_tell_nothing() -> None:
    assert long_numbers("16 sequences, 32 layers, 80 GB, 128, 4,000 tokens") == frozenset()
    assert long_numbers("4,096 and 160,000") == {"4096", "160000"}
