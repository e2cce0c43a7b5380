"""Posing: from a family and a seed to a certified exercise.

A draw is kept only if it is solvable or deliberately without an answer, and if no slip lands within twice the
tolerance of the key. What is drawn depends on family, revision and seed alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from typing import TypeVar

from grader.amounts import SILENT, Amount, of_quantity
from grader.directions import Direction, Question, directions
from grader.exercise import NUMERIC, Exercise, Given, Part, SlipValue, Step, Tolerance, exact
from grader.family import Family
from grader.following import follows
from grader.menu import Draw, quantities_by_name
from grader.paths import Values
from grader.slips import Found, Variation
from grader.wording import convention, reason, rendered, story
from spec.laws import Law
from spec.quantities import Quantity
from spec.solving import Exact, Infeasible, whole
from spec.stream import Stream
from spec.units import Unit, unit

P = TypeVar("P")
ATTEMPTS = 5000  # draws before a seed is given up; the certificates show that a few suffice
BLOCK, NONE_IN_A_BLOCK = 100, 17  # of so many seeds in a row so many have no answer, where a family has such cases
SEPARATION = 2  # a slip stays at least this many tolerances away from the key
EDGE = Fraction(1, 10**9)  # a number this close to a whole one, in relation, may be rounded to the wrong side by floats
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

    def exercise(self, slug: str, revision: int, seed: int) -> Exercise:
        """Return it as the exercise of a seed."""
        return Exercise(slug, revision, seed, self.statement, self.givens, self.parts, self.convention)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a question comes to: the result, and every number on the way to it (givens included).

    `unbound` is what it would come to without the requirements of the family, where one of them leaves no answer.
    """

    result: Exact | Infeasible
    numbers: Values
    unbound: Exact | None = None


def size(family: Family) -> int:
    """Return the number of points of the grid: draws of the menu times choices of the unknown."""
    return family.given.size * len(directions(family))


def search(family: Family, slug: str, seed: int) -> tuple[Posed, int]:
    """Find the point of the grid that a seed stands for, and say how many were tried.

    Raises:
        Undrawable: no acceptable point was found.
    """
    stream = Stream(slug, family.revision, seed)
    if family.preset:
        return first_accepted(slug, seed, [attempt(family, 0)])
    feasible = not (family.infeasible and without_answer(slug, family.revision, seed))
    points = size(family)
    tries = (attempt(family, stream.below(points), feasible=feasible) for _ in range(ATTEMPTS))
    return first_accepted(slug, seed, tries)


def first_accepted(slug: str, seed: int, tries: Iterable[P | Rejected]) -> tuple[P, int]:
    """Return the first of many tries for a seed that was not rejected, and how many were tried.

    Raises:
        Undrawable: all were rejected.
    """
    last = ""
    for tried, found in enumerate(tries, 1):
        if not isinstance(found, Rejected):
            return found, tried
        last = found.reason
    raise Undrawable(slug, seed, last)


def without_answer(slug: str, revision: int, seed: int) -> bool:
    """Say whether a seed has no answer: an exact share of a block of seeds, in places that nobody can guess."""
    block, place = divmod(seed, BLOCK)
    stream = Stream(slug, revision, "none", block)
    factor = stream.choice([n for n in range(BLOCK) if gcd(n, BLOCK) == 1])
    return (factor * place + stream.below(BLOCK)) % BLOCK < NONE_IN_A_BLOCK


def attempt(family: Family, point: int, *, feasible: bool | None = None) -> Posed | Rejected:
    """Make the exercise at one point of the grid, or say why it makes none.

    `feasible` asks for a point with an answer (True) or without one (False).
    """
    ways = directions(family)
    index, which = divmod(point, len(ways))
    direction, draw = ways[which], family.given.at(index)
    if not family.keep(draw):
        return Rejected("outside the story")
    amounts, values = draw.amounts, draw.values
    if direction.target is not None:
        target = _target(direction, draw)
        if isinstance(target, Rejected):
            return target
        name = direction.target.quantity.name
        amounts, values = amounts | {name: target[0]}, values | {name: target[1]}
    known = {name: values[name] for name in direction.pool if name in values}
    answers = [_answer(family, question, known) for question in direction.questions]
    if feasible is not None and feasible == any(isinstance(answer.result, Infeasible) for answer in answers):
        return Rejected("has no answer" if feasible else "has an answer")
    given = {name: amounts[name] for name in direction.printed}
    parts = []
    asked = list(zip("abcdefgh", direction.questions, strict=False))
    for place, ((letter, question), answer) in enumerate(zip(asked, answers, strict=True)):
        part = _part(family, letter, question, answer)
        if isinstance(part, Rejected):
            return part
        own = {name: written for name, (written, _) in question.at.items()}
        text = rendered(question.ask.question, draw, given | own)
        parts.append(replace(part, question=text, follows=follows(question, asked[:place], answer.numbers)))
    return Posed(
        story(family.wording, draw, given),
        tuple(_given(name, amount) for name, amount in given.items()),
        tuple(with_other_answers(parts)),
        convention(given, parts),
    )


def _target(direction: Direction, draw: Draw) -> tuple[Amount, Exact] | Rejected:
    """Compute what the forward problem gives, which is a given here: as printed, and in the unit of its quantity."""
    if direction.forward is None or direction.target is None:
        raise ValueError("this direction has no target")
    value = direction.forward.end(draw.values)
    if value is None:
        return Rejected("the forward problem has no answer")
    given = of_quantity(value, direction.target.quantity, direction.target.answer_unit)
    written = exact(given.number)
    if "/" in written or ("." in written and len(written.replace(".", "").lstrip("0")) > FIGURES_OF_A_GIVEN):
        return Rejected("a computed given would have to be rounded")
    return given, value


def _answer(family: Family, question: Question, known: Values) -> _Answer:
    goal = question.ask.quantity.name
    numbers = known | {name: value for name, (_, value) in question.at.items()}
    missed: Infeasible | None = None
    for step in question.steps:
        if step.needs <= numbers.keys():
            value = step.follow({name: numbers[name] for name in step.needs})
            if isinstance(value, Infeasible):
                missed = missed or value
            else:
                numbers[step.gives] = value
    for law in family.requires:
        if law.symbols.keys() <= numbers.keys():
            givens = {name: numbers[name] for name in law.symbols}
            if not law(**givens):
                missed = Infeasible(law.name, goal, "broken", -law.room(**givens), law.right_unit)
    if missed is None and goal in numbers:
        return _Answer(numbers[goal], numbers)
    unbound = numbers.pop(goal, None)
    return _Answer(missed or Infeasible(family.requires[0].name, goal, "unbounded"), numbers, unbound)


def _part(family: Family, letter: str, question: Question, answer: _Answer) -> Part | Rejected:
    ask, result, exempt = question.ask, answer.result, family.preset
    key = None if isinstance(result, Infeasible) else whole(result * question.factor)
    if key == 0 and not exempt:
        return Rejected("the answer is zero")
    within = 0 if key is None else reach(key, ask.judged_to, 1 if exempt else SEPARATION)
    slips = []
    for slip in question.slips:
        if not slip.applies(answer.numbers):
            continue
        value = _in_asked(slip.value(answer.numbers), question)
        if slip.slug in family.masked and value in {key, _in_asked(answer.unbound, question)} - {None}:
            continue
        if key is None:
            if value is not None:
                slips.append(SlipValue(slip.slug, slip.sentence, exact(value)))
        elif not lands(slip, value, key, within):
            slips.append(SlipValue(slip.slug, slip.sentence, None if value is None else exact(value)))
        elif not exempt:
            return Rejected(f"{slip.slug} lands on the key")
    return Part(
        part=letter,
        asks=ask.quantity.name,
        question="",
        kind=ask.kind,
        key=None if key is None else exact(key),
        unit="" if ask.answer_unit in SILENT else ask.answer_unit,
        tolerance=ask.judged_to,
        unit_in_question=True,
        zero_is_none=question.capacity,
        names=(ask.quantity.symbol, ask.quantity.name),
        also=also_said_in(ask.quantity, ask.in_unit),
        slips=tuple(slips),
        reason=reason(result) if isinstance(result, Infeasible) else "",
        steps=tuple(_steps(family, question, answer)),
        givens=tuple(_given(name, written) for name, (written, _) in question.at.items()),
    )


def _in_asked(value: Found, question: Question) -> Exact | None:
    return None if value is None else whole(value * question.factor)


def reach(key: Exact, tolerance: Tolerance, times: int = SEPARATION) -> Exact:
    """Return how far from a key a value may be marked right, within so many tolerances.

    An exact key is reached from under one away: people may round to it.
    """
    return 1 - EDGE if tolerance.kind == "exact" else times * Fraction(tolerance.value) * abs(Fraction(key))


def lands(slip: Variation, value: Exact | None, key: Exact, within: Exact) -> bool:
    """Say whether a slip may be marked right.

    The right number before it is rounded may be only if it is so close to a whole one that a float misses it.
    """
    if value is None:
        return False
    if slip.unrounded:
        return -EDGE * value <= value - round(value) <= EDGE * value
    return -within <= value - key <= within


def also_said_in(quantity: Quantity, asked: Unit) -> tuple[str, ...]:
    """Name the units in which people say the same as in the unit of the answer."""
    return tuple(u for u in (quantity.unit.name, *quantity.also) if not unit(u).same_dimension(asked))


def _steps(family: Family, question: Question, answer: _Answer) -> list[Step]:
    """Write down the requirements and the chain; behind the step that has no value, its laws alone."""
    known = answer.numbers.keys()
    steps = [
        _requirement(law, answer)
        for law in family.requires
        if question.ask.quantity.name not in law.symbols and law.symbols.keys() <= known
    ]
    missed = answer.result if isinstance(answer.result, Infeasible) else None
    for link in question.steps:
        value = answer.numbers.get(link.gives)
        name = link.law.symbols[link.gives].unit.name
        if value is not None:
            steps.append(Step(link.law.name, link.gives, exact(value), name))
        elif missed and (missed.law, missed.gives) == (link.law.name, link.gives):
            deficit = None if missed.deficit is None else exact(missed.deficit)
            steps.append(Step(missed.law, missed.gives, None, missed.unit, deficit))
        else:
            steps.append(Step(link.law.name, link.gives, None, name))
    return steps


def _requirement(law: Law, answer: _Answer) -> Step:
    room = law.room(**{name: answer.numbers[name] for name in law.symbols})
    if law(**{name: answer.numbers[name] for name in law.symbols}):
        return Step(law.name, "", exact(room), law.right_unit)
    return Step(law.name, "", None, law.right_unit, exact(-room))


def _given(name: str, amount: Amount) -> Given:
    quantity = quantities_by_name()[name]
    return Given(name, quantity.symbol, exact(amount.number), amount.unit.name, quantity.says)


def with_other_answers(parts: list[Part]) -> list[Part]:
    """Add to each part the answers of the others as slips, where they are in the same unit and do not stand there."""
    named = [(p.part, p.key, p.unit) for p in parts if p.key is not None and p.kind in NUMERIC]
    return [
        part
        if part.kind not in NUMERIC
        else replace(
            part,
            slips=(
                *part.slips,
                *(
                    SlipValue(f"answer-of-part-{letter}", f"That is the answer to part {letter}.", key)
                    for letter, key, unit in named
                    if letter != part.part
                    and unit == part.unit
                    and all(slip.slip != f"answer-of-part-{letter}" for slip in part.slips)
                    and (part.key is None or not _near(Fraction(key), part))
                ),
            ),
        )
        for part in parts
    ]


def _near(value: Fraction, part: Part) -> bool:
    key = Fraction(part.key or 0)
    return abs(value - key) <= reach(key, part.tolerance)
