"""Which faults together give a published number, and whether that is more than chance.

Sets of up to three faults are tried in the order of their plausibility, at most `MOST_SETS` of them and none that is
rarer than one in `RAREST`; slips of one product multiply where they take out different factors. Each set that gives a
new value covers a part of the numbers that somebody might print: twice the half width of the rounding. An explanation
counts only as long as all sets that are at least as plausible, and give a value within a factor of ten of the published
one, cover together no more than a few hundredths of that range. Coarse numbers are allowed more of it, since so few
sets are tried on them: `COVERED` times the root of the width. So two figures are explained only by what is most usual,
and of numbers drawn by chance, of two to four figures, under 2 in 100 are explained (measured by a test).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from grader.amounts import significant
from grader.diagnosing.fault import Fault
from grader.diagnosing.published import Published
from spec.chain import Link, Values
from spec.solving import Exact, Infeasible

MOST_FAULTS = 3
MOST_SETS = 2500
RAREST = 1500  # a set that is rarer than one in so many is no explanation of anything
NEAR = 10  # values within this factor of the published one are what chance is measured on
SLIGHT = Fraction(1, 500)
LEAST_COVERED, MOST_COVERED, COVERED = 0.044, 0.16, 0.88
TIES = 3  # explanations that are rarer than the best by more than this factor are dropped
SHOWN = 6


@dataclass(frozen=True, slots=True)
class Explanation:
    """Faults that together give the published number, and the value they give, in the unit of the quantity."""

    faults: tuple[Fault, ...]
    value: Exact

    @property
    def one_in(self) -> int:
        """How rare the faults are together."""
        return math.prod(fault.one_in for fault in self.faults)

    @property
    def slugs(self) -> frozenset[str]:
        """The names of its faults."""
        return frozenset(fault.slug for fault in self.faults)


class Search:
    """The values that faults of one derivation give; without steps, of one quantity that was looked up."""

    def __init__(self, goal: str, steps: Sequence[Link], values: Values, single: Sequence[Fault]) -> None:
        self.goal, self.steps, self.values = goal, steps, values
        self.single = sorted(single, key=lambda fault: fault.one_in)
        self._chained: dict[tuple[int, ...], Exact | None] = {}

    def explain(self, readings: Sequence[Published], moves: Fraction) -> tuple[Explanation, ...]:
        """Return the explanations of a number that can be read in these ways, the shortest first.

        `moves` is how far the rounding of the givens leaves the right value open.
        """
        slacks = [(r.value, _slack(r, moves)) for r in readings if r.value > 0]
        if not slacks:
            return ()
        width = float(sum(2 * slack / value for value, slack in slacks))
        most = min(max(COVERED * math.sqrt(width), LEAST_COVERED), MOST_COVERED)
        bins: set[int] = set()
        found: list[Explanation] = []
        right = self.value(())
        for chosen in self._sets():
            value = self.value(chosen)
            if value is None or value <= 0 or value == right:
                continue
            if found and math.prod(fault.one_in for fault in chosen) > TIES * found[0].one_in:
                break
            if any(printed < NEAR * value and value < NEAR * printed for printed, _ in slacks):
                bins.add(round(math.log(value) / width) if width else hash(value))
            if not found and len(bins) * width > most:
                break
            if any(abs(printed - value) <= slack for printed, slack in slacks):
                self._keep(found, Explanation(tuple(sorted(chosen, key=_place)), value))
        return tuple(sorted(found[:SHOWN], key=lambda explanation: len(explanation.faults)))

    def _keep(self, found: list[Explanation], explanation: Explanation) -> None:
        """Keep an explanation unless a part of it explains as much, or another says the same."""
        for fault in explanation.faults:
            rest = tuple(other for other in explanation.faults if other is not fault)
            if rest and self.value(rest) == explanation.value:
                return
        if not any(other.slugs <= explanation.slugs for other in found):
            found.append(explanation)

    def _sets(self) -> Iterator[tuple[Fault, ...]]:
        """Give sets of compatible faults, the most plausible first."""
        single, tried = self.single, 0
        heap: list[tuple[int, tuple[int, ...]]] = [(single[0].one_in, (0,))] if single else []
        while heap and tried < MOST_SETS:
            rarity, chosen = heappop(heap)
            if rarity > RAREST:
                return
            after = chosen[-1] + 1
            if after < len(single):
                product = rarity // single[chosen[-1]].one_in * single[after].one_in
                heappush(heap, (product, (*chosen[:-1], after)))
                if len(chosen) < MOST_FAULTS:
                    heappush(heap, (rarity * single[after].one_in, (*chosen, after)))
            faults = tuple(single[i] for i in chosen)
            if sum(len(fault.touches) for fault in faults) == len(frozenset().union(*(f.touches for f in faults))):
                tried += 1
                yield faults

    def value(self, chosen: Sequence[Fault]) -> Exact | None:
        """Return what these faults give, or None where they give nothing."""
        inside = [fault for fault in chosen if fault.factor == 1]
        key = tuple(sorted(id(fault) for fault in inside))
        if key not in self._chained:
            self._chained[key] = self._follow(inside)
        result = self._chained[key]
        for fault in chosen:
            result = None if result is None else result * fault.factor
        return result

    def _follow(self, chosen: Sequence[Fault]) -> Exact | None:
        numbers = {**self.values, **dict(given for fault in chosen for given in fault.givens)}
        rounded = dict(fault.rounds for fault in chosen if fault.rounds is not None)
        numbers |= {name: significant(numbers[name], figures) for name, figures in rounded.items() if name in numbers}
        for i, right in enumerate(self.steps):
            wrong = [fault.link[1] for fault in chosen if fault.link is not None and fault.link[0] == i]
            try:
                result = _step(right, wrong, numbers)
            except (ZeroDivisionError, ValueError):
                return None
            if result is None:
                return None
            numbers[right.gives] = significant(result, rounded[right.gives]) if right.gives in rounded else result
        return numbers[self.goal]


def _place(fault: Fault) -> bool:
    """Put what happened to the result after what happened on the way to it."""
    return fault.factor != 1


def _slack(reading: Published, moves: Fraction) -> Fraction:
    """Return how near a value has to come: slightly rounded givens add to the rounding of the number itself."""
    return reading.half + moves if moves < abs(reading.value) * SLIGHT else max(reading.half, moves)


def _step(right: Link, wrong: Sequence[Link], numbers: Values) -> Exact | None:
    """Follow a step; several slips of one law multiply what each of them changes, or add it where the law is a sum."""
    results = [link.follow(numbers) for link in wrong[:1] or [right]]
    if len(wrong) > 1:
        results = [link.follow(numbers) for link in (right, *wrong)]
    numbered = [result for result in results if not isinstance(result, Infeasible)]
    if len(numbered) < len(results):
        return None
    if len(wrong) < 2:  # noqa: PLR2004  one slip stands for the law itself
        return numbered[0]
    base = Fraction(numbered[0])
    if right.law.right.is_Add:
        return base + sum(Fraction(result) - base for result in numbered[1:])
    product = base
    for result in numbered[1:]:
        product *= Fraction(result) / base
    return product
