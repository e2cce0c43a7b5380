"""Find the mistake: a worked solution of another family in which one line follows a wrong law.

The law is replaced by one of its own slips, and the lines after it carry the wrong value on. A mistake is planted only
where it moves the value of its line, and the last value, by more than twice the tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from grader import givens
from grader.amounts import legible, natural, spoken
from grader.exercise import EXACT, Exercise, Explained, Part, Step, Tolerance, WorkedLine, exact
from grader.family import Family
from grader.paths import Values, taken
from grader.posing import ATTEMPTS, Rejected, first_accepted, reach
from grader.solution import derived, formula_text, line_text
from spec.chain import Link
from spec.index import laws
from spec.laws import Law, Slip
from spec.solving import Exact, whole
from spec.stream import Stream
from spec.units import unit

__all__ = ["MistakeFamily", "Plant", "plants"]

SHORTEST = 2  # lines in which a mistake is worth looking for
GENERATION = 2  # raised whenever the way of planting or the wording changes
TOLERANCE = Tolerance("relative", "0.01")
TOLD = "Somebody answers as below: one line follows a wrong law, and the lines after it take its value as it stands."
QUESTION = "Which line is wrong, and what is its right value?"
HOW = "Answer with the number of the line and its right value with the unit, as in 7: 12 GB."
GIGABYTES = "1 GB = 10^9 bytes, 1 GiB = 2^30 bytes. "


@dataclass(frozen=True, slots=True)
class Plant:
    """A mistake in the line `at`: its law with a slip, and the value that every line then has, in the law's unit."""

    at: int
    slip: Slip
    law: Law
    values: tuple[Exact, ...]


@dataclass(frozen=True, eq=False)
class MistakeFamily:
    """The family that hides mistakes in the solutions of another one, which is called `slug_of`."""

    of: Family
    slug_of: str
    preset: bool = False
    infeasible: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of answer it asks for."""
        return ("mistake",)

    @property
    def objective(self) -> str:
        """That of the other family."""
        return self.of.objective

    @property
    def section(self) -> str:
        """That of the other family."""
        return self.of.section

    @property
    def revision(self) -> int:
        """It changes with that of the other family, and with the way of planting."""
        return 1000 * (GENERATION - 1) + self.of.revision

    @property
    def grid(self) -> None:
        """Mistakes are drawn, not listed."""
        return

    def pose(self, slug: str, seed: int) -> Exercise:
        """Draw the exercise of a seed."""
        return self.search(slug, seed)[0]

    def search(self, slug: str, seed: int) -> tuple[Exercise, int]:
        """Draw the exercise of a seed, and say how many points were tried.

        Raises:
            Undrawable: no solution was found in which a mistake can be planted.
        """
        stream = Stream(slug, self.revision, seed)
        return first_accepted(slug, seed, (self._drawn(slug, seed, stream) for _ in range(ATTEMPTS)))

    def outcome(self, slug: str, point: int) -> tuple[Exercise | Rejected, list[str]]:
        """Make the exercise of one draw of a sample, or say why it makes none."""
        return self._drawn(slug, point, Stream(slug, self.revision, "sample", point)), []

    def _drawn(self, slug: str, seed: int, stream: Stream) -> Exercise | Rejected:
        base = self.of.outcome(self.slug_of, stream.below(self.of.grid))[0]
        if isinstance(base, Rejected):
            return base
        if any(part.key is None for part in base.parts):
            return Rejected("has no answer")
        part = max(base.parts, key=lambda part: len(part.steps))
        if len(part.steps) < SHORTEST or any(not step.gives for step in part.steps):
            return Rejected("a single line")
        found = list(plants(base, part))
        if not found:
            return Rejected("no mistake to plant")
        return planted(base, part, stream.choice(found), (slug, self.revision, seed))


def plants(exercise: Exercise, part: Part) -> Iterator[Plant]:
    """Give every mistake that can be planted in the solution of a part that has an answer."""
    known = givens.values(exercise, part)
    before: list[Exact] = []
    for at, step in enumerate(part.steps):
        law = laws()[step.law]
        for slip in law.slips:
            wrong = law.with_slip(slip)
            if step.gives in wrong.symbols and Link(wrong, step.gives).needs <= known.keys() and slip.applies(known):
                values = (*before, *_followed(part.steps, at, wrong, known))
                if len(values) == len(part.steps) and _apart(part.steps, at, values):
                    yield Plant(at, slip, wrong, values)
        right = _printed(Link(law, step.gives), step, known)
        if right is None or (_kind(step) == "count" and right != _number(step)):
            return  # the count that follows from what is printed is another one than that of the exact values
        known[step.gives] = right
        before.append(right)


def _number(step: Step) -> Exact:
    return whole(Fraction(step.value or 0))


def _followed(steps: Sequence[Step], at: int, wrong: Law, known: Values) -> Iterator[Exact]:
    """Give the value of every line from a wrong one on; it ends at a line that has none."""
    values = dict(known)
    for place, step in enumerate(steps[at:], at):
        value = _printed(Link(wrong if place == at else laws()[step.law], step.gives), step, values)
        if value is None or value <= 0 or value not in laws()[step.law].symbols[step.gives].domain:
            return
        values[step.gives] = value
        yield value


def _printed(link: Link, step: Step, known: Values) -> Exact | None:
    """Return what a line gives, as it is printed, so that whoever goes on with it finds the next line right."""
    value = taken(link, {name: known[name] for name in link.needs})
    if value is None:
        return None
    number, name = legible(value, step.unit)
    return whole(Fraction(number) * unit(name).factor / unit(step.unit).factor)


def _apart(steps: Sequence[Step], at: int, values: Sequence[Exact]) -> bool:
    """Say whether a wrong law moves its own line and the last one far enough to be told."""
    keys = {i: _number(steps[i]) for i in (at, -1)}
    return all(abs(Fraction(values[i]) - key) > reach(key, _told_to(steps[i])) for i, key in keys.items())


def _told_to(step: Step) -> Tolerance:
    return EXACT if _kind(step) == "count" else TOLERANCE


def _kind(step: Step) -> str:
    quantity = laws()[step.law].symbols[step.gives]
    if quantity.domain.integer:
        return "count"
    return "number" if step.unit == "1" else "quantity"


def planted(base: Exercise, part: Part, plant: Plant, address: tuple[str, int, int]) -> Exercise:
    """Return the exercise that shows a solution with a mistake."""
    slug, revision, seed = address
    wrong, right = part.steps[plant.at], derived(base, part)
    shown = _shown(base, part, plant)
    value = natural(_number(wrong), wrong.unit)
    asked = Part(
        part="a",
        asks="mistake",
        question=QUESTION,
        kind="mistake",
        key=str(plant.at + 1),
        tolerance=TOLERANCE,
        options=tuple(f"({number}) {text}" for number, text in enumerate(shown, 1)),
        reason=plant.slip.sentence,
        worked=tuple(_worked(step, value) for step, value in zip(part.steps, plant.values, strict=True)),
        hints=(
            "Take each line on its own: given the values of the lines before it, is it the right law?",
            "What the lines should say: " + " ".join(line.says for line in right),
            "The laws: " + "; ".join(formula_text(laws()[step.law], step.gives) for step in part.steps) + ".",
        ),
        explained=(
            *(Explained(line.law, line.says, line.text, line.latex) for line in right),
            Explained(wrong.law, plant.slip.sentence, f"Line {plant.at + 1} is wrong; its right value is {value}"),
        ),
    )
    return Exercise(
        slug,
        revision,
        seed,
        f"{base.statement} {part.question} {TOLD}",
        (*base.givens, *part.givens),
        (asked,),
        (GIGABYTES if GIGABYTES.strip() in base.convention else "") + HOW,
    )


def _worked(step: Step, shown: Exact) -> WorkedLine:
    return WorkedLine(exact(_number(step)), exact(shown), "" if step.unit == "1" else step.unit, _kind(step))


def _shown(base: Exercise, part: Part, plant: Plant) -> list[str]:
    """Write the lines as somebody makes them who makes this mistake."""
    values = {g.name: spoken(Fraction(g.value), g.unit) for g in (*base.givens, *part.givens)}
    texts = []
    for place, (step, value) in enumerate(zip(part.steps, plant.values, strict=True)):
        law = plant.law if place == plant.at else laws()[step.law]
        made = replace(step, value=exact(value))
        texts.append(line_text(law, made, values))
        values[step.gives] = natural(Fraction(value), step.unit)
    return texts
