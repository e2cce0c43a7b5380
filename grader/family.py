"""Families: what is asked, by which laws, from which menu, in which words.

A family names its unknown and its laws; the chain between them is found, and with it the key, the slips, the hints
and the worked solution. A file in `problems/` that holds a `family` is the whole registration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.exercise import EXACT, Exercise, Tolerance
from grader.formula import FormulaFamily, Trait
from grader.menu import Choice, Draw, Menu, weights_in_gb
from grader.wording import ONE_GPU, SHAPE
from spec.laws import Law
from spec.quantities import Quantity
from spec.solving import Exact
from spec.units import Unit, unit

if TYPE_CHECKING:
    from grader.posing import Rejected

__all__ = [
    "EXACT",
    "FINE",
    "ONE_GPU",
    "SHAPE",
    "Ask",
    "Draw",
    "Family",
    "FormulaFamily",
    "Menu",
    "OwnSlip",
    "Trait",
    "weights_in_gb",
]

RELATIVE = Tolerance("relative", "0.01")
FINE = Tolerance("relative", "0.005")  # what three significant figures need


def _every_point(draw: Draw) -> bool:  # noqa: ARG001  the signature of `keep`
    return True


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: the quantity asked for, the sentence, the unit of the answer.

    Attributes:
        quantity: what is asked for.
        question: a Jinja2 template over the givens.
        unit: the unit of the answer, the quantity's own where it is empty.
        tolerance: exact for whole numbers and 1 % otherwise.
        hides: quantities that nobody knows while this is asked.
        at: givens that hold for this question alone.
    """

    quantity: Quantity
    question: str
    unit: str = ""
    tolerance: Tolerance | None = None
    hides: tuple[Quantity, ...] = ()
    at: Mapping[Quantity, Choice] = field(default_factory=dict)

    @property
    def answer_unit(self) -> str:
        """The unit of the answer."""
        return self.unit or self.quantity.unit.name

    @property
    def in_unit(self) -> Unit:
        """The same as a unit."""
        return unit(self.answer_unit)

    @property
    def judged_to(self) -> Tolerance:
        """The tolerance of the answer."""
        return self.tolerance or (EXACT if self.quantity.domain.integer else RELATIVE)

    @property
    def kind(self) -> str:
        """The kind of answer: `count`, `number` or `quantity`."""
        if self.quantity.domain.integer:
            return "count"
        return "number" if self.answer_unit == "1" else "quantity"


@dataclass(frozen=True, slots=True)
class OwnSlip:
    """A slip that belongs to one family.

    `value` takes the givens and every step as fractions, each in the unit of its quantity, and returns the wrong answer
    in the unit of the quantity asked for, or None where it does not apply. `asks` limits it to one unknown.
    """

    slug: str
    sentence: str
    value: Callable[[Mapping[str, Fraction]], Exact | None]
    asks: Quantity | None = None


@dataclass(frozen=True, eq=False)
class Family:
    """A family of exercises.

    Attributes:
        asks: the unknown, or several unknowns as parts `a`, `b`, ...
        by: the laws that lead there.
        given: the menu.
        wording: the story, a Jinja2 template that may name `model`, `gpu` and any given.
        objective: the learning objective it trains.
        section: the chapter section.
        revision: raised whenever wording, menu or a used catalogue value changes.
        inverse: other quantities of the same laws that may be the unknown instead. Where the menu holds the first
            ask's own quantity, that is what they are found from; else what the first ask gives is.
        also: quantities printed though the chain does not need them.
        slips: slips of this family alone.
        masked: slips that one side of a roofline hides: where the other side decides they change nothing, and are left
            out.
        requires: bounds that must hold for any answer to exist, wherever all of their quantities are known.
        infeasible: some points of the menu have no answer, and a share of the draws is taken from them.
        keep: says whether a point makes a sensible story.
        preset: an exercise printed in the chapter: one point, no certificate.
    """

    asks: Ask | tuple[Ask, ...]
    by: tuple[Law, ...]
    given: Menu
    wording: str
    objective: str
    section: str
    revision: int = 1
    inverse: tuple[Ask, ...] = ()
    also: tuple[Quantity, ...] = ()
    slips: tuple[OwnSlip, ...] = ()
    masked: frozenset[str] = frozenset()
    requires: tuple[Law, ...] = ()
    infeasible: bool = False
    keep: Callable[[Draw], bool] = _every_point
    preset: bool = False

    @property
    def parts(self) -> tuple[Ask, ...]:
        """The questions of the forward direction."""
        return self.asks if isinstance(self.asks, tuple) else (self.asks,)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of answer it asks for."""
        return tuple(dict.fromkeys(ask.kind for ask in (*self.parts, *self.inverse)))

    @property
    def grid(self) -> int:
        """The number of points: draws of the menu times choices of the unknown."""
        from grader.posing import size

        return size(self)

    def pose(self, slug: str, seed: int) -> Exercise:
        """Draw the exercise of a seed; see `grader.posing.search`."""
        return self.search(slug, seed)[0]

    def search(self, slug: str, seed: int) -> tuple[Exercise, int]:
        """Draw the exercise of a seed, and say how many points were tried."""
        from grader.posing import search

        found, tried = search(self, slug, seed)
        return found.exercise(slug, self.revision, seed), tried

    def outcome(self, slug: str, point: int) -> tuple[Exercise | Rejected, list[str]]:
        """Make the exercise at one point of the grid, or say why it makes none; with the names of its slips."""
        from grader.directions import directions
        from grader.posing import Rejected, attempt

        ways = directions(self)
        names = [slip.slug for question in ways[point % len(ways)].questions for slip in question.slips]
        found = attempt(self, point)
        return (found if isinstance(found, Rejected) else found.exercise(slug, self.revision, point)), names
