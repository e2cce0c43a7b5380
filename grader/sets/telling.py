"""Whether an exercise prints the answer to another one: then they do not stand on one sheet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import digits
from grader.exercise import NUMERIC, Exercise
from grader.givens import shown

LEAST_DIGITS = 5  # of a number that nobody takes for chance
LEAST_FIGURES = 4  # of one that may be printed with another prefix: 57,344 B as 57.344 kB
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of an exercise: those that it prints, and those that answer it."""

    printed: frozenset[str]
    keys: frozenset[str]

    @classmethod
    def of(cls, exercise: Exercise) -> Numbers:
        """Collect them."""
        texts = [exercise.statement, *(part.question for part in exercise.parts)]
        texts += [shown(given) for given in exercise.givens]
        texts += [shown(given) for part in exercise.parts for given in part.givens]
        keys = [digits(Fraction(part.key)) for part in exercise.parts if part.key is not None and part.kind in NUMERIC]
        return cls(long_numbers(" ".join(texts)), long_numbers(" ".join(keys)))

    def tells(self, other: Numbers) -> bool:
        """Say whether one of the two prints an answer to the other."""
        return not (self.keys.isdisjoint(other.printed) and other.keys.isdisjoint(self.printed))


def long_numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text that are long enough to tell something, however their digits are set apart."""
    plain = {number.replace(",", "").replace(".", "") for number in NUMBER.findall(text)}
    whole = {number for number in plain if len(number) >= LEAST_DIGITS}
    return frozenset(whole | {figures for n in plain if len(figures := n.strip("0")) >= LEAST_FIGURES})
