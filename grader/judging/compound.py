"""Several slips at once: what explains a wrong answer that no slip of the record gives alone.

A learner uses a wrong law in one step, misreads a unit, rounds to the wrong side: two of these together are searched
for as for a published number (`grader.diagnosing.search`), with the same rule against hits of chance: the more ways to
go wrong there are, the more figures an answer must have before one of them is named. The laws are loaded for it, so it
is tried only on answers that nothing else explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.exercise import Exercise, Part
from grader.judging.judgement import INCORRECT, Diagnosis, Judgement

if TYPE_CHECKING:
    from grader.diagnosing.fault import Fault
    from grader.diagnosing.search import Explanation, Search
    from spec.chain import Link
    from spec.solving import Exact

USUAL = 20  # a slip is one in so many; two are one in 400, and three are too rare to be named
FIGURES = 3  # a number of fewer has no zeros that only fill it up
TOGETHER = "+"  # between the names of slips that are made together
UNTOLD = frozenset({"times-a-group", "one-of-a-group"})  # published numbers leave the GPUs open; a story does not
TOLD = frozenset({"sign", "separator", "truncated", "coarse"})  # findings that say enough


def explained(exercise: Exercise, part: Part, judged: Judgement) -> Judgement:
    """Add the slips that together give a wrong answer, if they are known."""
    if judged.verdict != INCORRECT or judged.diagnoses or judged.value is None or part.key is None:
        return judged
    if not part.steps or judged.value <= 0 or any(finding.code in TOLD for finding in judged.findings):
        return judged
    from grader.diagnosing.published import Published

    typed = _literal(judged.reading)
    found: tuple[Explanation, ...] = ()
    for last in _last_digits(typed):
        for search, factor in _searches(exercise, part):
            value = Fraction(judged.value) * factor
            half = abs(value * last / Fraction(typed)) / 2
            found = found or search.explain([Published(value, half, part.unit, half)], Fraction(0))
    return replace(judged, diagnoses=tuple(_diagnosis(explanation.faults) for explanation in found))


def _diagnosis(faults: Sequence[Fault]) -> Diagnosis:
    return Diagnosis(TOGETHER.join(fault.slug for fault in faults), " ".join(fault.sentence for fault in faults))


def _last_digits(typed: str) -> list[Fraction]:
    """Return the place of the last digit of a number, and that of its last digit before zeros that may fill it up."""
    if not typed or not Fraction(typed):
        return []
    last = Fraction(1, 10 ** len(typed.partition(".")[2]))
    zeros = 0 if "." in typed else len(typed) - len(typed.rstrip("0"))
    return [last, last * 10**zeros] if zeros and len(typed) - zeros >= FIGURES else [last]


def _literal(reading: str) -> str:
    """Return the digits of an answer that is one number with a unit; empty where it is more than that."""
    first = reading.partition(" ")[0]
    return first if first.replace(".", "", 1).isdigit() else ""


def _searches(exercise: Exercise, part: Part) -> Iterator[tuple[Search, Exact]]:
    """Give the searches for what goes wrong: among the slips of an exercise, then among those of published numbers.

    With each comes how many units of its quantity one of the answer is.
    """
    from grader.diagnosing.faults import faults
    from grader.diagnosing.search import Search
    from grader.menu import quantities_by_name

    search, factor = _search(exercise, part)
    yield search, factor
    units = {given.name: given.unit for given in (*exercise.givens, *part.givens)}
    goal = quantities_by_name()[part.asks]
    published = [
        fault
        for fault in faults(goal, search.steps, search.values, units, part.unit or goal.unit.name)
        if fault.slug not in UNTOLD
    ]
    yield Search(part.asks, search.steps, search.values, published), factor


def _search(exercise: Exercise, part: Part) -> tuple[Search, Exact]:
    """Return the search among the slips of an exercise."""
    from grader.diagnosing.search import Search
    from grader.givens import values
    from grader.menu import quantities_by_name
    from spec.chain import Link
    from spec.index import laws
    from spec.solving import whole
    from spec.units import unit

    known = quantities_by_name()
    done = [step for step in part.steps if step.gives]
    steps = [Link(laws()[step.law], step.gives) for step in done]
    every = values(exercise, part) | {step.gives: whole(Fraction(step.value or 0)) for step in done}
    asked = part.unit or known[part.asks].unit.name
    single = list(_faults(steps, every, {given.name: given.unit for given in (*exercise.givens, *part.givens)}, asked))
    return Search(part.asks, steps, every, single), whole(unit(asked).factor / known[part.asks].unit.factor)


def _faults(
    steps: Sequence[Link], values: Mapping[str, Exact], units: Mapping[str, str], asked: str
) -> Iterator[Fault]:
    """Give what a learner can do wrong: in a law, in reading a unit, in rounding, in the unit of the answer."""
    from grader.diagnosing.fault import all_in_place, scaled
    from grader.diagnosing.faults import of_laws, of_wrong_side
    from grader.slips import misreadings, other_units

    yield from (replace(fault, one_in=USUAL) for fault in of_laws(steps, values))
    yield from (replace(fault, one_in=USUAL) for fault in of_wrong_side(steps, values))
    needed = frozenset().union(*(step.needs for step in steps))
    for read in misreadings(needed, units, asked):
        off = {name: values[name] * factor for name, factor in read.factors.items()}
        yield all_in_place(read.slug, read.sentence, USUAL, off)
    for read in other_units(asked):
        yield scaled(read.slug, read.sentence, USUAL, {"answer"}, read.factors["answer"])
