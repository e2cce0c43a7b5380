"""Posing: from a family and a seed to a certified exercise.

A draw is kept only if it is solvable or deliberately without an answer, and if no slip lands within twice the
tolerance of the key. What is drawn depends on family, revision and seed alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from grader.amounts import Amount, of_quantity
from grader.directions import Direction, Question, directions
from grader.exercise import Exercise, Given, Part, SlipValue, Step, Tolerance, exact
from grader.family import Ask, Family
from grader.menu import Draw, quantities_by_name
from grader.slips import Found
from grader.stream import Stream
from grader.wording import convention, reason, rendered, story
from spec.chain import follow
from spec.solving import Exact, Infeasible

ATTEMPTS = 5000  # draws before a seed is given up; the certificates show that a few suffice
INFEASIBLE_PERCENT = 17
SEPARATION = 2  # a slip stays at least this many tolerances away from the key
FIGURES_OF_A_GIVEN = 7  # a given that is computed must be exact within so many figures


class Undrawable(LookupError):
    """No point of a family's grid makes an acceptable exercise for this seed; `reason` is the last one's."""

    def __init__(self, slug: str, seed: int, reason: str) -> None:
        super().__init__(slug, seed, reason)
        self.slug, self.seed, self.reason = slug, seed, reason


@dataclass(frozen=True, slots=True)
class Rejected:
    """A point of the grid that makes no good exercise, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Posed:
    """The parts of an exercise at one point of the grid."""

    statement: str
    givens: tuple[Given, ...]
    parts: tuple[Part, ...]
    convention: str

    @property
    def feasible(self) -> bool:
        """Say whether every part has an answer."""
        return all(part.key is not None for part in self.parts)


def size(family: Family) -> int:
    """Return the number of points of the grid: draws of the menu times choices of the unknown."""
    return family.given.size * len(directions(family))


def pose(family: Family, slug: str, seed: int) -> Exercise:
    """Draw the exercise of a seed.

    Raises:
        Undrawable: no acceptable point was found.
    """
    last = ""
    stream = Stream(slug, family.revision, seed)
    feasible = not family.infeasible or stream.below(100) >= INFEASIBLE_PERCENT
    for _ in range(1 if family.preset else ATTEMPTS):
        found = attempt(
            family, 0 if family.preset else stream.below(size(family)), feasible=None if family.preset else feasible
        )
        if isinstance(found, Posed):
            return Exercise(slug, family.revision, seed, found.statement, found.givens, found.parts, found.convention)
        last = found.reason
    raise Undrawable(slug, seed, last)


def attempt(family: Family, point: int, *, feasible: bool | None = None) -> Posed | Rejected:
    """Make the exercise at one point of the grid, or say why it makes none.

    `feasible` asks for a point with an answer (True) or without one (False).
    """
    index, which = divmod(point, len(directions(family)))
    direction, draw = directions(family)[which], family.given.at(index)
    if not family.keep(draw):
        return Rejected("outside the story")
    amounts = _with_target(direction, draw)
    if isinstance(amounts, Rejected):
        return amounts
    values = {name: amount.in_unit_of(quantities_by_name()[name]) for name, amount in amounts.items()}
    answers = [_answer(family, question, values) for question in direction.questions]
    if feasible is not None and feasible != all(
        isinstance(found[q.ask.quantity.name], int | Fraction)
        for q, found in zip(direction.questions, answers, strict=True)
    ):
        return Rejected("has an answer" if not feasible else "has no answer")
    given = {name: amounts[name] for name in direction.printed}
    parts = []
    for letter, question, found in zip("abcdefgh", direction.questions, answers, strict=False):
        part = _part(letter, question, found, given, exempt=family.preset)
        if isinstance(part, Rejected):
            return part
        parts.append(replace(part, question=rendered(question.ask.question, draw, given)))
    return Posed(
        story(family.wording, draw, given),
        tuple(_given(name, amount) for name, amount in given.items()),
        tuple(_with_other_answers(parts)),
        convention(given, parts),
    )


def _with_target(direction: Direction, draw: Draw) -> dict[str, Amount] | Rejected:
    target = direction.target
    if target is None:
        return draw.amounts
    values = {name: amount.in_unit_of(quantities_by_name()[name]) for name, amount in draw.amounts.items()}
    result = follow(direction.forward, values)[target.quantity.name]
    if isinstance(result, Infeasible):
        return Rejected("the forward problem has no answer")
    given = of_quantity(result, target.quantity, target.answer_unit)
    written = exact(given.number)
    if "/" in written or ("." in written and len(written.replace(".", "").lstrip("0")) > FIGURES_OF_A_GIVEN):
        return Rejected("a computed given would have to be rounded")
    return draw.amounts | {target.quantity.name: given}


def _answer(family: Family, question: Question, values: dict[str, Exact]) -> dict[str, Exact | Infeasible]:
    name = question.ask.quantity.name
    known = {n: v for n, v in values.items() if n != name}
    found = follow(question.steps, known)
    for law in family.requires:
        givens = {n: known[n] for n in law.symbols}
        if not law(**givens):
            found[name] = Infeasible(law.name, name, "broken", -law.room(**givens), law.right_unit)
    return found


def _part(
    letter: str, question: Question, found: dict[str, Exact | Infeasible], given: dict[str, Amount], *, exempt: bool
) -> Part | Rejected:
    ask = question.ask
    result = found[ask.quantity.name]
    numbers = {n: v for n, v in found.items() if not isinstance(v, Infeasible)}
    key = None if isinstance(result, Infeasible) else of_quantity(result, ask.quantity, ask.answer_unit).number
    if key == 0 and not exempt:
        return Rejected("the answer is zero")
    slips = []
    for slip in question.slips:
        if not slip.applies(numbers):
            continue
        value = _in_asked(slip.value(numbers, given), ask)
        if key is not None and near(value, key, ask.judged_to):
            if not exempt:
                return Rejected(f"{slip.slug} lands on the key")
            continue
        if key is not None or value is not None:
            slips.append(SlipValue(slip.slug, slip.sentence, None if value is None else exact(value)))
    return Part(
        part=letter,
        asks=ask.quantity.name,
        question="",
        kind=ask.kind,
        key=None if key is None else exact(key),
        unit="" if ask.answer_unit == "1" else ask.answer_unit,
        tolerance=ask.judged_to,
        unit_in_question=True,
        zero_is_none=_is_capacity(question),
        names=(ask.quantity.symbol, ask.quantity.name),
        slips=tuple(slips),
        reason=reason(result) if isinstance(result, Infeasible) else "",
        steps=tuple(_steps(question, found)),
    )


def _is_capacity(question: Question) -> bool:
    """A count that is the largest one allowed: where none fits, zero says the same."""
    if not question.steps or question.ask.kind != "count":
        return False
    last = question.steps[-1]
    return not last.law.is_identity and last.law.senses[last.gives] == -1


def _in_asked(value: Found, ask: Ask) -> Exact | None:
    return None if value is None else of_quantity(value, ask.quantity, ask.answer_unit).number


def near(value: Exact | None, key: Exact, tolerance: Tolerance) -> bool:
    """Say whether a value lies within twice the tolerance of a key."""
    if value is None or tolerance.kind == "exact":
        return value == key
    return abs(Fraction(value - key)) <= SEPARATION * Fraction(tolerance.value) * abs(Fraction(key))


def _steps(question: Question, found: dict[str, Exact | Infeasible]) -> list[Step]:
    steps = []
    for link in question.steps:
        value = found.get(link.gives)
        name = link.law.symbols[link.gives].unit.name
        if isinstance(value, Infeasible):
            deficit = None if value.deficit is None else exact(value.deficit)
            steps.append(Step(value.law, link.gives, None, value.unit, deficit))
            break
        if value is not None:
            steps.append(Step(link.law.name, link.gives, exact(value), name))
    return steps


def _given(name: str, amount: Amount) -> Given:
    quantity = quantities_by_name()[name]
    return Given(name, quantity.symbol, exact(amount.number), amount.unit.name, quantity.says)


def _with_other_answers(parts: list[Part]) -> list[Part]:
    """Add to each part the answers of the others as slips, where they are in the same unit."""
    named = [(p.part, p.key, p.unit) for p in parts if p.key is not None]
    return [
        replace(
            part,
            slips=(
                *part.slips,
                *(
                    SlipValue(f"answer-of-part-{letter}", f"That is the answer to part {letter}.", key)
                    for letter, key, unit in named
                    if letter != part.part and unit == part.unit and key != part.key
                ),
            ),
        )
        for part in parts
    ]
