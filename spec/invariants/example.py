"""What a worked number is: one call, its givens and the right answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spec.solving import Exact, Infeasible

GB, KIB = 10**9, 2**10
Values = dict[str, Exact]


@dataclass(frozen=True, slots=True)
class Worked:
    """One example.

    Attributes:
        gives: the function that is called.
        given: its keywords.
        answer: the right answer, None where no value exists.
        source: where the example comes from.
    """

    gives: str
    given: Values
    answer: Exact | None
    source: str

    def holds(self, impl: Any) -> bool:
        """Say whether an implementation gives the answer."""
        value = getattr(impl, self.gives)(**self.given)
        return self.answer is None if isinstance(value, Infeasible) else bool(value == self.answer)
