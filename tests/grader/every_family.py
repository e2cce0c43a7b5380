"""A sheet with something of every kind and of many families on it, for the tests of formats."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from grader.exercise import Exercise, Part
from grader.families import family, pose, slugs
from grader.posing import Undrawable
from grader.sets import Entry, Item, Sheet, writer
from grader.solution import answer

TITLE = r'Week 1: <memory> & "cost" -- $5, 50 %, a_b, #1, \x, ~^{}, [y](z), `k`, *m*, //n'
NAME = r"O'Brien, <b>Zoë</b> \end{document} ## $x$ 100% a_b -- ,, `c` ]]> #let x = 1; [z]: *n*"
FIRST_SEED = 10**15 + 1  # long enough to be found where it should not stand
CHOICE = Exercise(
    "choice", 1, FIRST_SEED, "1. Some options follow. # None is markup.", (),
    (
        Part("a", "batch", "- Which?", "choice", "*c* & <d>", options=("a", "[b]", "*c* & <d>", "1. e", "[f]" * 20)),
        Part("b", "batch", "+ And?", "choice", None, options=("5 %", "$6$"), reason="*None* <b>costs</b> 50 % & a_b."),
    ),
)  # fmt: skip


@cache
def first_of_each() -> tuple[Exercise, ...]:
    """Give the first exercise of every family."""
    return tuple(next(_of(slug)) for slug in slugs())


@cache
def sampled() -> tuple[str, ...]:
    """Give the first family of each kind of answer, and every fifth: more of one kind look the same."""
    seen: set[str] = set()
    chosen = []
    for number, exercise in enumerate(first_of_each()):
        kinds = {part.kind for part in exercise.parts}
        if number % 5 == 0 or kinds - seen:
            chosen.append(exercise.family)
        seen |= kinds
    return tuple(chosen)


@cache
def exercises() -> tuple[Exercise, ...]:
    """Give the first exercise of the sampled families, their first one without a value, and one with options."""
    return (*(exercise for slug in sampled() for exercise in _of(slug)), CHOICE)


def _of(slug: str) -> Iterator[Exercise]:
    if family(slug).preset:
        yield pose(slug, 0)
        return
    wanted = {True, False}
    for seed in range(FIRST_SEED, FIRST_SEED + 60):
        try:
            exercise = pose(slug, seed)
        except Undrawable:
            continue
        has_value = all(part.key is not None for part in exercise.parts)
        if has_value in wanted:
            wanted.remove(has_value)
            yield exercise


def judged_by(name: str) -> list[str]:
    """Give the sampled families that a format can judge."""
    kinds = {e.family: {part.kind for part in e.parts} for e in first_of_each()}
    return [slug for slug in sampled() if not kinds[slug] & writer(name).refuses]


def hidden(exercise: Exercise) -> set[str]:
    """Give what no sheet may say: seed, family, slips, reasons, and answers that the exercise does not itself print."""
    shown = " ".join(
        [exercise.statement, exercise.convention, *(p.question for p in exercise.parts)]
        + [option for part in exercise.parts for option in part.options]
        + [f"{given.value} {given.unit}" for given in exercise.givens]
    )
    found = {f"{exercise.family}@", str(exercise.seed) if exercise.seed else ""}
    for part in exercise.parts:
        found |= {part.reason, *(slip.sentence for slip in part.slips)}
        found |= {slip.slip for slip in part.slips if slip.slip not in shown}  # it may be a word of the story
        found |= {text for text in (answer(part), part.key or "") if len(text) > 3 and text not in shown}
    return found - {"", "none"}


def sheet(title: str = TITLE, name: str = NAME, student: str = "K7Q2-9XMD") -> Sheet:
    """Give a sheet with all of them."""
    entries = (Entry.of(n, Item(e.family, e.seed, 1, Fraction(5, 2)), e) for n, e in enumerate(exercises(), 1))
    return Sheet(title, student, tuple(entries), name)
