"""An answer after its runs: points, predictions, and what the learner is shown of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.executing.session_policy.predictions import Prediction, earned
from grader.executing.session_policy.scoring import POINTS, Loss, Measures, Scored, losses, mean
from spec.solving import Exact

FORETELLING = Fraction(1, 5)  # of the score: what the predictions earn at most
PLACES = 1000  # parts of a score that are kept
EXCELLENT, FAILED = Fraction(9, 10), Fraction(2, 5)  # scores from which an answer is right, and below which it is wrong


@dataclass(frozen=True, slots=True)
class Timeline:
    """Tokens in the cache over the time, by the age of their session.

    Attributes:
        seconds: all of the time; the columns part it evenly.
        ages: what the rows are called, the youngest first.
        held: tokens, by row and column.
        budget: tokens that the cache holds.
    """

    seconds: Exact
    ages: tuple[str, ...]
    held: tuple[tuple[int, ...], ...]
    budget: int


@dataclass(frozen=True, slots=True)
class Ran:
    """One run: what was measured, the points for it, the cache over the time, sessions by how they ended."""

    measures: Measures
    scored: Scored
    timeline: Timeline
    ends: dict[str, int]


@dataclass(frozen=True, slots=True)
class Graded:
    """An answer after its runs.

    Attributes:
        reading: the answer as it was understood.
        runs: one for each seed.
        predictions: what was foretold beside what was measured.
        unseen: whether these are the runs that count, and not those for practice.
    """

    reading: str
    runs: tuple[Ran, ...]
    predictions: tuple[Prediction, ...]
    unseen: bool

    @property
    def scored(self) -> tuple[Scored, ...]:
        """The points of the runs."""
        return tuple(run.scored for run in self.runs)

    @property
    def points(self) -> Fraction:
        """The points of the policy, from 0 to 100: the mean of its runs."""
        return mean(self.scored)

    @property
    def score(self) -> Fraction:
        """The score of the answer, from 0 to 1."""
        whole = (1 - FORETELLING) * self.points / POINTS + FORETELLING * earned(self.predictions)
        return Fraction(int(PLACES * whole), PLACES)

    @property
    def losses(self) -> list[Loss]:
        """What cost points, the most first."""
        return losses(self.scored)

    def over(self, name: str) -> Fraction | None:
        """Return the mean of a measure over the runs; None where one of them has none."""
        return average([getattr(run.measures, name) for run in self.runs])


def average(values: Sequence[Exact | None]) -> Fraction | None:
    """Return the mean; None where one value is missing."""
    known = [Fraction(value) for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if len(known) == len(values) else None
