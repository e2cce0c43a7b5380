"""Questions about a point of a menu that laws answer, where the answer is no number of a chain alone.

A label beside a number, the smaller of two limits, the first length at which something changes: the chain leads up to
it, and the family says what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from grader import solution
from grader.amounts import Amount, significant, spoken
from grader.case import CaseSlip
from grader.exercise import EXACT, Exercise, Explained, Given, Part, Step, exact
from grader.menu import Draw
from spec.chain import Link, chain, follow
from spec.laws import Law
from spec.quantities import Quantity
from spec.solving import Exact, Infeasible

Values = Mapping[str, Fraction]
Wrong = Callable[[Values], Exact | str | None]


@dataclass(frozen=True, eq=False)
class Reckoning:
    """What is given of a draw, and what laws make of it.

    Attributes:
        given: the quantities that are printed.
        finds: the quantities on the way, in order.
        by: the laws.
    """

    given: tuple[Quantity, ...]
    finds: tuple[Quantity, ...]
    by: tuple[Law, ...]

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The steps from what is given to everything that is found."""
        known = {quantity.name for quantity in self.given}
        steps: list[Link] = []
        for quantity in self.finds:
            for link in chain(quantity.name, known, self.by):
                steps.append(link)
                known.add(link.gives)
        return tuple(steps)

    def values(self, draw: Draw) -> dict[str, Fraction]:
        """Return what is given and what is found, in the units of the quantities; without steps that have no value."""
        known = {quantity.name: draw.values[quantity.name] for quantity in self.given}
        found = follow(self.links, known)
        return {name: Fraction(value) for name, value in found.items() if not isinstance(value, Infeasible)}

    def givens(self, draw: Draw, *names: Quantity) -> tuple[Given, ...]:
        """Return some of what is printed, as a record keeps it; all of it where none is named."""
        return tuple(_given(quantity, draw.amounts[quantity.name]) for quantity in names or self.given)

    def lines(self, draw: Draw, *more: Explained) -> tuple[Explained, ...]:
        """Return the steps with their numbers, and what the family adds."""
        shown = solution.lines(*self._shown(draw))
        return (*(Explained(line.law, line.says, line.text, line.latex) for line in shown), *more)

    def hints(self, draw: Draw, *rules: str) -> tuple[str, str, str]:
        """Return three hints: what is needed, how it goes, and the numbers; `rules` end the first two."""
        first, second, third = solution.hints(*self._shown(draw)) if self.links else ("", "", "Put in the numbers.")
        return f"{first} {rules[0]}".strip(), f"{second} {rules[-1]}".strip(), third

    def slip(self, slug: str, sentence: str, value: Wrong, key: Wrong | None = None) -> CaseSlip[Draw]:
        """Make a misconception from what it makes of the values; it is none where it leads nowhere, or to `key`."""

        def found(draw: Draw) -> Exact | str | None:
            values = self.values(draw)
            try:
                wrong = value(values)
            except ZeroDivisionError:
                return None
            return None if key is not None and wrong == key(values) else wrong

        return CaseSlip(slug, sentence, found, lambda draw: found(draw) is not None)

    def _shown(self, draw: Draw) -> tuple[Exercise, Part]:
        values = self.values(draw)
        steps = tuple(
            Step(link.law.name, link.gives, exact(values[link.gives]), link.law.symbols[link.gives].unit.name)
            for link in self.links
        )
        part = Part("a", "", "", "number", None, tolerance=EXACT, steps=steps)
        return Exercise("", 1, 0, "", self.givens(draw), (part,)), part


def _given(quantity: Quantity, amount: Amount) -> Given:
    return Given(quantity.name, quantity.symbol, exact(amount.number), amount.unit.name, quantity.says)


def model_of(draw: Draw) -> str:
    """Name the model of a draw."""
    return draw.model.name if draw.model else ""


def gpu_of(draw: Draw) -> str:
    """Name the GPU of a draw."""
    return draw.gpu.name if draw.gpu else ""


def shown(number: Exact | None, unit: str, figures: int = 5) -> str:
    """Print a result for reading, rounded where it takes more figures; `none` where there is none."""
    if number is None:
        return "none"
    return spoken(number if number.denominator == 1 else significant(number, figures), unit)
