"""The checks, over the first seeds of a family."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Any

from grader.amounts import digits, spoken
from grader.case import LEAST, CaseFamily
from grader.certify import order
from grader.exercise import NUMERIC, Exercise, Part
from grader.families import Poses
from grader.family import Family
from grader.linting.lack import Lack
from grader.posing import Rejected, Undrawable

SEEDS = 120
POINTS = 400  # whose rejections are counted
MOST_POINTS = 200  # that a seed may try
FEWEST_POINTS = 2000  # of a grid
DIFFERENT = Fraction(6, 10)  # of the seeds
WIDEST, NARROWEST = Fraction(24, 1000), Fraction(5, 1000)  # of a tolerance: K against Ki, and three figures
RARELY = Fraction(1, 50)  # of the points: more without an answer are a case of their own
ENOUGH = 100  # seeds by which every direction is met
ON_THE_KEY = Fraction(2, 10)  # of the points: a slip that says the same more often is none
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SIZES = re.compile(r"\d (?:[KMGT]i?B)\b")
PREFIXES_TOLD = "10^9"


@dataclass(slots=True)
class Sample:
    """What the first seeds of a family pose, and why points of it are rejected."""

    exercises: list[Exercise] = field(default_factory=list)
    most_tried: int = 0
    undrawable: Undrawable | None = None
    rejected: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0  # points without an answer, of all that make an exercise
    made: int = 0

    @property
    def parts(self) -> Iterator[tuple[Exercise, Part]]:
        """Give every part with its exercise."""
        return ((exercise, part) for exercise in self.exercises for part in exercise.parts)


def lacks(slug: str, family: Poses, says: str, seeds: int = SEEDS) -> list[Lack]:
    """Return what a family lacks, each thing once."""
    found = [*_of_the_file(slug, family, says), *_of_the_menu(family)]
    try:
        sample = _sample(slug, family, seeds)
    except Exception as error:  # noqa: BLE001  whatever an author's functions raise is told like all else
        return [*found, _raised(error)]
    checks = (_of_drawing, _of_tolerances, _of_slips, _of_own_slips, _of_answers, _of_words, _of_givens, _of_help)
    for check in checks:
        found += check(family, sample)
    return list({_alike(lack): lack for lack in reversed(found)}.values())[::-1]


def _alike(lack: Lack) -> tuple[str, ...]:
    """Return what two lacks have in common of which one is told: all but the exercise in which it was seen."""
    return (lack.code, *(value for name, value in lack.about.items() if name not in {"id", "slips"}))


def _sample(slug: str, family: Poses, seeds: int) -> Sample:
    sample = Sample()
    for seed in range(1 if family.preset else seeds):
        try:
            exercise, tried = family.search(slug, seed)
        except Undrawable as error:
            sample.undrawable = error
            break
        sample.exercises.append(exercise)
        sample.most_tried = max(sample.most_tried, tried)
    if not family.preset:
        points = range(POINTS) if family.grid is None else islice(order(family.grid), POINTS)
        for point in points:
            outcome = family.outcome(slug, point)[0]
            if isinstance(outcome, Rejected):
                sample.rejected[outcome.reason] += 1
            else:
                sample.made += 1
                sample.unanswered += any(part.key is None for part in outcome.parts)
    return sample


def _raised(error: Exception) -> Lack:
    from jinja2 import UndefinedError

    from spec.chain import NoDerivation
    from spec.units import UnknownUnit

    if isinstance(error, UndefinedError):
        return Lack.of("undefined", why=error.message)
    if isinstance(error, NoDerivation):
        return Lack.of("no-derivation", goal=error.goal, missing=", ".join(error.missing) or "a law that gives it")
    if isinstance(error, UnknownUnit):
        return Lack.of("unit", why=error)
    if isinstance(error, AttributeError) and isinstance(error.obj, float):
        return Lack.of("float", value=error.obj)
    return Lack.of("raises", why=f"{type(error).__name__}: {error}")


def _of_the_file(slug: str, family: Poses, says: str) -> Iterator[Lack]:
    from grader.practising.objectives import OBJECTIVES, objective
    from spec.index import laws

    if not SLUG.fullmatch(slug):
        yield Lack.of("file-name", slug=slug)
    if not says.endswith("."):
        yield Lack("no-docstring")
    if family.revision < 1:
        yield Lack.of("revision", revision=family.revision)
    if objective(family.objective) is None:
        known = sorted(name for each in OBJECTIVES for name in each.covers)
        yield Lack.of("objective", name=family.objective, known=", ".join(known))
    sections = sorted({law.section for law in laws().values()} | {"exercises"})
    if family.section not in sections:
        yield Lack.of("section", name=family.section, known=", ".join(sections))


def _of_the_menu(family: Poses) -> Iterator[Lack]:
    if not isinstance(family, Family):
        return
    from grader.menu import entry, quantities_by_name

    spoken_of = {name for law in (*family.by, *family.requires) for name in law.symbols}
    for ask in (*family.parts, *family.inverse):
        if ask.quantity.name not in spoken_of and not family.requires:
            yield Lack.of("no-derivation", goal=ask.quantity.name, missing="a law that speaks of it")
    if not family.preset and family.given.size * len((*family.parts, *family.inverse)) < FEWEST_POINTS:
        yield Lack.of("small-grid", size=family.given.size, wanted=FEWEST_POINTS)
    for name, choices in family.given.choices.items():
        quantity = quantities_by_name()[name]
        for choice in choices:
            try:
                value = entry(name, choice)[1]
            except ValueError as error:
                yield Lack.of("menu-unit", name=name, choice=choice, why=error)
                continue
            if value not in quantity.domain:
                yield Lack.of("menu-domain", name=name, choice=choice, domain=quantity.domain)


def _of_drawing(family: Poses, sample: Sample) -> Iterator[Lack]:
    if sample.undrawable is not None:
        yield Lack.of("undrawable", seed=sample.undrawable.seed, why=sample.undrawable.reason)
        return
    if family.preset:
        return
    if sample.most_tried > MOST_POINTS:
        yield Lack.of("many-tried", tried=sample.most_tried, wanted=MOST_POINTS)
    texts = {_text(exercise) for exercise in sample.exercises}
    if len(texts) < DIFFERENT * min(len(sample.exercises), family.grid or len(sample.exercises)):
        yield Lack.of("few-different", different=len(texts), of=len(sample.exercises))
    for reason, count in sample.rejected.items():
        name, _, rest = reason.partition(" ")
        if rest == "lands on the key" and count > ON_THE_KEY * POINTS:
            yield Lack.of("on-the-key", slip=name, share=f"{100 * count // POINTS} %")
    yield from _of_directions(family, sample)


def _of_directions(family: Poses, sample: Sample) -> Iterator[Lack]:
    if isinstance(family, Family):
        wanted = {ask.quantity.name for ask in (*family.parts, *family.inverse)}
    elif isinstance(family, CaseFamily):
        wanted = {ask.asks for way in family.ways for ask in way}
    else:
        return
    if len(sample.exercises) < ENOUGH:
        return
    answered = {part.asks for _, part in sample.parts if part.key is not None}
    for name in sorted(wanted - answered):
        yield Lack.of("never-asked", name=name)


def _of_tolerances(family: Poses, sample: Sample) -> Iterator[Lack]:  # noqa: ARG001  one face for all checks
    for _, part in sample.parts:
        if part.tolerance.kind == "relative" and part.kind in NUMERIC:
            value = Fraction(part.tolerance.value)
            if value >= WIDEST:
                yield Lack.of("wide", part=part.asks, tolerance=part.tolerance.value, limit=digits(WIDEST))
            elif value < NARROWEST:
                yield Lack.of("narrow", part=part.asks, tolerance=part.tolerance.value, limit=digits(NARROWEST))


def _of_slips(family: Poses, sample: Sample) -> Iterator[Lack]:
    for exercise, part in sample.parts:
        names = Counter(slip.slip for slip in part.slips)
        for name, count in names.items():
            if count > 1:
                yield Lack.of("slip-twice", slip=name)
            if not SLUG.fullmatch(name.replace("GiB", "gib").replace("GB", "gb").lower()):
                yield Lack.of("slip-name", slip=name)
        for slip in part.slips:
            if not re.fullmatch(r"[A-Z0-9].*\.", slip.sentence, re.DOTALL):
                yield Lack.of("slip-sentence", slip=slip.slip)
        different = len({slip.value for slip in part.slips})
        if part.kind in NUMERIC and part.key is not None and different < LEAST and not family.preset:
            yield Lack.of("few-slips", part=part.asks, id=exercise.id, slips=different, wanted=LEAST)
            return


def _of_own_slips(family: Poses, sample: Sample) -> Iterator[Lack]:
    if not isinstance(family, Family) or len(sample.exercises) < ENOUGH:
        return
    met = {slip.slip for _, part in sample.parts for slip in part.slips}
    for own in family.slips:
        if own.slug not in met:
            yield Lack.of("slip-never", slip=own.slug, seeds=len(sample.exercises))


def _of_answers(family: Poses, sample: Sample) -> Iterator[Lack]:
    declared = bool(getattr(family, "infeasible", False)) or family.preset
    if not declared and sample.unanswered > RARELY * sample.made:
        yield Lack.of("not-declared", share=f"{100 * sample.unanswered // sample.made} %")
    for exercise, part in sample.parts:
        if part.key is None and not part.reason.endswith("."):
            yield Lack.of("no-reason", id=exercise.id)
            return


def _of_words(family: Poses, sample: Sample) -> Iterator[Lack]:  # noqa: ARG001  as above
    for exercise in sample.exercises:
        if not exercise.statement.endswith((".", "?")):
            yield Lack.of("statement-end", id=exercise.id)
        if re.search(r"  | [.,;]|\{\{|None\b|Fraction\(", _text(exercise)):
            yield Lack.of("typography", id=exercise.id)
        if SIZES.search(_text(exercise)) and PREFIXES_TOLD not in exercise.convention:
            yield Lack.of("no-convention", id=exercise.id)
        for part in exercise.parts:
            if not re.fullmatch(r"[A-Z].*[?.]", part.question, re.DOTALL):
                yield Lack.of("question", id=exercise.id, part=part.part)
            if part.kind in NUMERIC and part.key is not None and _told(exercise, part):
                yield Lack.of("key-told", id=exercise.id)
                return


def _told(exercise: Exercise, part: Part) -> bool:
    """Say whether a text gives the key away, which is no given that equals it."""
    key = spoken(Fraction(part.key or 0), part.unit) if part.unit else digits(Fraction(part.key or 0))
    givens = {spoken(Fraction(given.value), given.unit) for given in (*exercise.givens, *part.givens)}
    return key not in givens and len(key) > LEAST and _holds(key, _text(exercise))


def _of_givens(family: Poses, sample: Sample) -> Iterator[Lack]:
    for exercise in sample.exercises:
        for given in (*exercise.givens, *(given for part in exercise.parts for given in part.givens)):
            if given.value != "0" and not _holds(spoken(Fraction(given.value), given.unit), _text(exercise)):
                yield Lack.of("given-not-told", name=given.name, id=exercise.id)
    if isinstance(family, Family) and not family.preset:
        told = {given.name for exercise in sample.exercises for given in exercise.givens}
        told |= {part.asks for _, part in sample.parts} | {g.name for _, part in sample.parts for g in part.givens}
        source = " ".join([family.wording, *(ask.question for ask in (*family.parts, *family.inverse))])
        for name in family.given.choices:
            if name not in told and not re.search(rf"\b{name}\b", source):
                yield Lack.of("not-used", name=name)


def _of_help(family: Poses, sample: Sample) -> Iterator[Lack]:  # noqa: ARG001  as above
    from grader.solution import hints, lines

    levels = 3
    for exercise, part in sample.parts:
        found: Sequence[Any] = hints(exercise, part)
        if len(found) != levels and part.kind != "expression":
            yield Lack.of("hints", id=exercise.id, given=len(found), wanted=levels)
            return
        if not lines(exercise, part) and part.kind != "expression":
            yield Lack.of("no-solution", id=exercise.id)
            return


def _text(exercise: Exercise) -> str:
    return " ".join([exercise.statement, *(part.question for part in exercise.parts)])


def _holds(amount: str, text: str) -> bool:
    return re.search(rf"(?<![\d.,]){re.escape(amount)}(?![\d]|[.,]\d|\w)", text) is not None
