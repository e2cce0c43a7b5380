"""A sheet with something of every family on it, for the tests of formats."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from grader.exercise import Exercise, Part
from grader.families import family, pose, slugs
from grader.posing import Undrawable
from grader.sets import Entry, Item, Sheet

TITLE = r'Week 1: <memory> & "cost" -- $5, 50 %, a_b, #1, \x, ~^{}, [y](z), `k`, *m*, //n'
NAME = r"O'Brien, <b>Zoë</b> \end{document} ## $x$ 100% a_b -- ,, `c` ]]> #let x = 1; [z]: *n*"
CHOICE = Exercise(
    "choice", 1, 5, "1. Some options follow. # None is markup.", (),
    (Part("a", "batch", "- Which?", "choice", "b", options=("a", "[b]", "*c* & <d>", "1. e")),),
)  # fmt: skip


@cache
def exercises() -> tuple[Exercise, ...]:
    """Give every family's first exercise, its first one without a value, and one with options."""
    return (*(exercise for slug in slugs() for exercise in _of(slug)), CHOICE)


def _of(slug: str) -> Iterator[Exercise]:
    if family(slug).preset:
        yield pose(slug, 0)
        return
    wanted = {True, False}
    for seed in range(1, 60):
        try:
            exercise = pose(slug, seed)
        except Undrawable:
            continue
        has_value = all(part.key is not None for part in exercise.parts)
        if has_value in wanted:
            wanted.remove(has_value)
            yield exercise


def sheet(title: str = TITLE, name: str = NAME, student: str = "K7Q2-9XMD") -> Sheet:
    """Give a sheet with all of them."""
    entries = (Entry.of(n, Item(e.family, e.seed, 1, Fraction(5, 2)), e) for n, e in enumerate(exercises(), 1))
    return Sheet(title, student, tuple(entries), name)
