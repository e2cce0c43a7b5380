"""The tolerance that a set gives to an exercise in place of its family's. What is drawn for an id stays the same."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from grader.amounts import rounded
from grader.exercise import Exercise, Part, Tolerance, exact
from grader.families import family, pose
from grader.posing import SEPARATION, Undrawable

FINEST = Fraction(1, 200)  # three significant figures, which statements ask for, may lie so far from the value
TOO_WIDE = Fraction(24, 1000)  # K and Ki could not be told apart
BY_SET = "set"
SEEDS_TRIED = 30


class Reaches(ValueError):
    """A tolerance of a set that would mark a known slip right, in an exercise that is given out already or by seed."""

    def __init__(self, exercise: str, slip: str, tolerance: str, under: Fraction) -> None:
        super().__init__(exercise, slip, tolerance, under)
        self.exercise, self.slip, self.tolerance, self.under = exercise, slip, tolerance, under

    def __str__(self) -> str:
        near = f"The tolerance {self.tolerance} comes too close to a slip of {self.exercise}, {self.slip}"
        return f"{near}; stay under {rounded(self.under)}."


def applies(part: Part) -> bool:
    """Return whether a part is judged to a tolerance at all; counts, exact numbers, formulas and choices are not."""
    return part.kind in {"number", "quantity"} and part.tolerance.kind == "relative"


def with_tolerance(exercise: Exercise, tolerance: Fraction | None) -> Exercise:
    """Return an exercise that is judged to another tolerance, and says so in its record.

    Raises:
        Reaches: a slip lies too close to the key for that.
    """
    if tolerance is None:
        return exercise
    found = nearest(exercise)
    if found is not None and found[0] <= tolerance:
        raise Reaches(exercise.id, found[1], exact(tolerance), found[0])
    given = Tolerance("relative", exact(tolerance))
    parts = [replace(p, tolerance=given, tolerance_of=BY_SET) if applies(p) else p for p in exercise.parts]
    return replace(exercise, parts=tuple(parts))


def fits(slug: str) -> bool:
    """Return whether a family asks for anything that is judged to a tolerance, but for what is rare."""
    for seed in [0] if family(slug).preset else range(1, SEEDS_TRIED):
        with suppress(Undrawable):
            if any(map(applies, pose(slug, seed).parts)):
                return True
    return False


def reached(exercise: Exercise, tolerance: Fraction | None) -> str:
    """Return the name of a slip that lies as close to its key as no drawn one may; empty where there is none."""
    if tolerance is None:
        return ""
    found = nearest(exercise)
    return found[1] if found is not None and found[0] <= tolerance else ""


def nearest(exercise: Exercise) -> tuple[Fraction, str] | None:
    """Return the tolerance from which a slip lies too close to its key, and its name; None where none ever does.

    What the chapter prints is exempt from the distance of drawn exercises, here as where it is posed; its slips are
    never marked right.
    """
    times = 1 if family(exercise.family).preset else SEPARATION
    return min(
        (
            (abs(Fraction(slip.value) - key) / (times * abs(key)), slip.slip)
            for part in filter(applies, exercise.parts)
            if part.key is not None and (key := Fraction(part.key))
            for slip in part.slips
            if slip.value is not None
        ),
        default=None,
    )
