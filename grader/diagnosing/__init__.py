"""Diagnosing a published number: is it right, and if not, which step went wrong?

An explanation is a set of up to three faults that reproduces the number within its printed rounding. It counts only if
it is not the kind of hit that chance gives: the rarer its faults together, the more figures the number must have. With
faults of one in a, b and c, and a number whose rounding covers the share w of its value, an explanation is kept where
a * b * c * w <= `CHANCE`, which keeps false explanations of random numbers under 2 in 100 (measured by a test).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from grader.amounts import significant
from grader.calc.calculation import Derivation, derived
from grader.diagnosing.faults import Fault, faults
from grader.diagnosing.published import Published, read_published, relative
from spec.catalog import GPU, Model
from spec.chain import Link, follow
from spec.quantities import Quantity
from spec.solving import Exact, Infeasible

__all__ = ["Diagnosis", "Explanation", "Published", "diagnose", "read_published"]

MOST_FAULTS = 3
CHANCE = Fraction(1, 6)
TIES = 3  # of explanations with as few faults, those less plausible than the best by more than this factor are dropped


@dataclass(frozen=True, slots=True)
class Explanation:
    """Faults that together give the published number, and the value they give, in the unit of the quantity."""

    faults: tuple[Fault, ...]
    value: Exact

    @property
    def one_in(self) -> int:
        """How rare the faults are together."""
        product = 1
        for fault in self.faults:
            product *= fault.one_in
        return product


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a published number is.

    Attributes:
        quantity: what it measures.
        right: the right value, or why there is none.
        is_right: the number agrees with it, within its own rounding and that of what it was made from.
        explanations: the shortest sets of faults that give it, the most plausible first; empty if none is known.
    """

    quantity: Quantity
    right: Exact | Infeasible
    is_right: bool
    explanations: tuple[Explanation, ...] = ()


def diagnose(
    readings: Sequence[Published],
    quantity: Quantity,
    given: Mapping[str, Exact],
    halves: Mapping[str, Fraction],
    units: Mapping[str, str],
    model: Model | None = None,
    gpu: GPU | None = None,
) -> Diagnosis:
    """Judge a published number and explain a wrong one.

    `readings` are the ways to read the number, of which one that is right is enough. `given` are exact values, `halves`
    how far the last typed digit of each leaves it open, `units` the units they were typed in.

    Raises:
        Unusable: the quantity does not follow from what is given.
    """
    found = derived(quantity, given, model, gpu)
    steps, values = found.steps, found.values
    right = follow(steps, values)[quantity.name] if steps else values[quantity.name]
    if isinstance(right, Infeasible):
        return Diagnosis(quantity, right, is_right=False)
    moves = _slack(found, quantity.name, right, halves)
    if any(abs(published.value - right) <= published.half + moves for published in readings):
        return Diagnosis(quantity, right, is_right=True)
    published = readings[0]
    slack = published.half + moves
    every = {n: v for n, v in follow(steps, values).items() if not isinstance(v, Infeasible)} | found.known
    single = faults(steps, every, units, published.unit)
    width = 2 * relative(published.value, slack)
    explanations = _explain(published, slack, width, steps, values, single)
    return Diagnosis(quantity, right, is_right=False, explanations=explanations)


def _slack(found: Derivation, name: str, right: Exact, halves: Mapping[str, Fraction]) -> Fraction:
    """Add up how far the result moves when each rounded given moves by half its last digit."""
    total = Fraction(0)
    for given, half in halves.items():
        if half and given in found.values:
            moved = follow(found.steps, {**found.values, given: found.values[given] + half})[name]
            total += 0 if isinstance(moved, Infeasible) else abs(Fraction(moved) - right)
    return total


def _explain(
    published: Published,
    slack: Fraction,
    width: Fraction,
    steps: Sequence[Link],
    values: Mapping[str, Exact],
    single: Sequence[Fault],
) -> tuple[Explanation, ...]:
    for size in range(1, MOST_FAULTS + 1):
        found = [
            Explanation(chosen, value)
            for chosen in _plausible(single, size, width)
            if (value := _value(chosen, steps, values)) is not None and abs(published.value - value) <= slack
        ]
        if found:
            best = min(explanation.one_in for explanation in found)
            tied = [explanation for explanation in found if explanation.one_in <= TIES * best]
            return tuple(sorted(tied, key=lambda explanation: explanation.one_in))
    return ()


def _plausible(single: Sequence[Fault], size: int, width: Fraction) -> Iterator[tuple[Fault, ...]]:
    limit = CHANCE / width if width else None
    for chosen in combinations(single, size):
        if len({fault.touches for fault in chosen}) == size and (
            limit is None or Explanation(chosen, 0).one_in <= limit
        ):
            yield chosen


def _value(chosen: Sequence[Fault], steps: Sequence[Link], values: Mapping[str, Exact]) -> Exact | None:
    wrong = {fault.link[0]: fault.link[1] for fault in chosen if fault.link is not None}
    rounded = dict(fault.rounds for fault in chosen if fault.rounds is not None)
    numbers = {**values, **dict(fault.given for fault in chosen if fault.given is not None)}
    numbers |= {name: significant(numbers[name], figures) for name, figures in rounded.items() if name in numbers}
    result: Exact = 0
    for i, right in enumerate(steps):
        step = wrong.get(i, right)
        try:
            found = step.follow(numbers)
        except (ZeroDivisionError, ValueError):
            return None
        if isinstance(found, Infeasible):
            return None
        result = significant(found, rounded[step.gives]) if step.gives in rounded else found
        numbers[step.gives] = result
    for fault in chosen:
        result *= fault.factor
    return result
