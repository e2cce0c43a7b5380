"""What the learner foretells of a policy, and what that earns: by distance from what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from spec.solving import Exact

CLOSE = Fraction(1, 10)  # of the measured value: within it a prediction earns all
FACTOR = 2  # within it a prediction earns half


@dataclass(frozen=True, slots=True)
class Foretold:
    """One number that may be foretold: its key in the file, what it is, and its unit."""

    name: str
    says: str
    unit: str


FORETOLD = (
    Foretold("overflow_turn", "turn at which a session outgrows context_limit, in the mean over those that do", ""),
    Foretold("resident_sessions", "sessions with a cache on the GPU at once, in the mean", ""),
    Foretold("new_wait_p99_s", "p99 wait of new sessions for their first token", "s"),
)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A number foretold and the one measured; None where there is none.

    Attributes:
        of: what was to be foretold.
        said: what was foretold.
        measured: what came.
    """

    of: Foretold
    said: Fraction | None
    measured: Exact | None

    @property
    def earned(self) -> Fraction:
        """The share it earns: all within a tenth, half within a factor of two, else nothing."""
        if self.said is None or self.measured is None:
            return Fraction(0)
        if abs(self.said - self.measured) <= CLOSE * self.measured:
            return Fraction(1)
        return Fraction(self.measured <= FACTOR * self.said and self.said <= FACTOR * self.measured, 2)


def compared(said: Mapping[str, Fraction], measured: Mapping[str, Exact | None]) -> tuple[Prediction, ...]:
    """Put what was foretold beside what was measured."""
    return tuple(Prediction(each, said.get(each.name), measured.get(each.name)) for each in FORETOLD)


def earned(predictions: tuple[Prediction, ...]) -> Fraction:
    """Return the share that all of them earn together."""
    return sum((each.earned for each in predictions), Fraction(0)) / len(predictions)
