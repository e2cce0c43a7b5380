"""Judging one answer of a candidate against the laws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from spec.conformance.answers import Answer, Fault, Nothing, Number, Unsupported
from spec.conformance.asking import Asked, NoPoint, NotWhole, Right, Values
from spec.conformance.candidate import Candidate
from spec.conformance.declared import ROUNDING, known
from spec.solving import Exact, Infeasible, whole

ANOTHER = "gives another answer"
FLOAT_NOISE = Fraction(1, 10**12)  # of the largest amount in a difference
LAST_DIGITS = Fraction(1, 2**50)  # of a float: a few times what storing a number in it changes
EXACT_FLOATS = 2**53  # beyond it a float, and an int that was one, has lost digits


class Skipped(Exception):
    """A question that the candidate does not answer, or that has no answer at this point."""


class Failed(Exception):
    """A question that the candidate did not answer with anything that can be judged; `fault` says what it did."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.words)
        self.fault = fault


@dataclass(frozen=True)
class Reply:
    """One answer beside the right one, both in the quantity's own unit.

    Attributes:
        asked: the question.
        values: what was given.
        got: a number, whether a bound holds, or Nothing.
        right: the right answer.
        wrong: what is wrong with it, as the predicate of a sentence; empty where nothing is.
    """

    asked: Asked
    values: Values
    got: Exact | bool | Nothing
    right: Right
    wrong: str = ""


@dataclass
class Judge:
    """Asks a candidate and judges what it says.

    Attributes:
        candidate: who is asked.
        calls: how often it was asked.
        faults: the functions that gave an answer of no use, with the question; they are not asked again.
    """

    candidate: Candidate
    calls: int = 0
    faults: dict[str, tuple[Fault, Asked, Values]] = field(default_factory=dict)

    def reply(self, asked: Asked, values: Values) -> Reply:
        """Ask at one point.

        Raises:
            Skipped: there is nothing to judge here.
            Failed: the answer is of no use; the function is not asked again.
            Unusable: the candidate is gone.
        """
        if asked.name in self.faults:
            raise Skipped(f"{asked.name} is of no use")
        try:
            right = asked.right(values)
        except NoPoint as error:
            raise Skipped(str(error)) from None
        answer = self._answer(asked, values)
        if isinstance(answer, Unsupported):
            raise Skipped(f"{asked.name} is not supported")
        fault = answer if isinstance(answer, Fault) else _misfit(asked, answer)
        if fault is not None:
            self.faults[asked.name] = fault, asked, values
            raise Failed(fault)
        return self._judged(asked, values, answer, right)

    def _answer(self, asked: Asked, values: Values) -> Answer:
        says = self.candidate.declared
        self.calls += 1
        return self.candidate.call(asked.name, {name: says.passed(name, values[name]) for name in sorted(asked.passed)})

    def _judged(self, asked: Asked, values: Values, answer: Answer, right: Right) -> Reply:
        says = self.candidate.declared
        if isinstance(answer, Nothing | bool):
            got: Exact | bool | Nothing = answer
            wrong = _of_kind(answer, right)
        else:
            assert isinstance(answer, Number)  # noqa: S101  the other kinds are gone
            got = whole(Fraction(answer.value) * says.scale(asked.name)) if asked.steps else bool(answer.value)
            wrong = self._of_number(asked, values, answer, right) if asked.steps else _of_kind(bool(got), right)
        if wrong and any(_agree(got, other, asked) for other in self._nearby(asked, values)):
            wrong = ""
        if wrong and asked.steps and self._within_floats(asked, values, answer, right):
            wrong = ""
        return Reply(asked, values, got, right, wrong)

    def _of_number(self, asked: Asked, values: Values, answer: Number, right: Right) -> str:
        """Say what is wrong with a number."""
        says = self.candidate.declared
        got = Fraction(answer.value) * says.scale(asked.name)
        if isinstance(right, Infeasible | bool):
            if got < 0:
                return "gives a negative number where no value exists; a capacity or an amount is never negative"
            return "gives a number where no value exists"
        close = answer.rounded or (not says.exact and (abs(got) >= EXACT_FLOATS or says.rounds(asked.name)))
        slack = says.slack(asked.name, right) + _noise(asked, values) if close else Fraction(0)
        if asked.counts:
            nearest = round(got)
            if got != nearest and (not close or _fraction(got)):
                return "gives no whole number"
            got = Fraction(nearest)
        return "" if abs(got - right) <= slack else ANOTHER

    def _nearby(self, asked: Asked, values: Values) -> list[Right]:
        """Return what is also right for a candidate that calculates with rounded numbers, beside a step of the law.

        A quotient that is exactly whole may come out just below it; a budget that is just enough may seem too small.
        """
        says = self.candidate.declared
        if says.exact or not (len(asked.steps) > 1 or any(says.blurred(name, values[name]) for name in asked.given)):
            return []
        if asked.steps and not asked.counts and not isinstance(asked.right(values), Infeasible):
            return []
        return list(self._moved(asked, values, ROUNDING))

    def _within_floats(self, asked: Asked, values: Values, answer: Answer, right: Right) -> bool:
        """Say whether an answer is right for givens that differ in the last digits of a float.

        Where nearly equal numbers are subtracted, the digits that are left depend on those; so does whether any value
        is left at all.
        """
        says = self.candidate.declared
        if says.exact or not (isinstance(answer, Nothing) or (isinstance(answer, Number) and answer.rounded)):
            return False
        if (asked.counts or isinstance(answer, Nothing)) and not any(says.blurred(n, values[n]) for n in asked.given):
            return False
        near = [right, *self._moved(asked, values, LAST_DIGITS)]
        found = [Fraction(value) for value in near if not isinstance(value, Infeasible)]
        if isinstance(answer, Nothing):
            return len(found) < len(near) or (asked.counts and any(_fraction(value) for value in found))
        if not found:
            return False
        if len(found) < len(near) and known()[asked.name].domain.low is not None:
            found.append(Fraction(known()[asked.name].domain.low or 0))
        got, slack = Fraction(answer.value) * says.scale(asked.name), says.slack(asked.name, max(found, key=abs))
        return min(found) - slack <= got <= max(found) + slack

    @staticmethod
    def _moved(asked: Asked, values: Values, share: Fraction) -> Iterator[Right]:
        """Give the right answers for givens moved a little, one at a time."""
        for name in asked.given:
            if not known()[name].domain.integer:
                for factor in (1 - share, 1 + share):
                    moved = {**values, name: whole(values[name] * factor)}
                    try:
                        if asked.valid(moved):
                            yield asked.right(moved)
                    except NotWhole as error:
                        if error.value is not None:
                            yield error.value
                    except NoPoint:
                        continue


def _fraction(value: Fraction) -> bool:
    """Say whether a number is no whole one, not even nearly."""
    return abs(value - round(value)) > ROUNDING * max(Fraction(1), abs(value))


def _misfit(asked: Asked, answer: Answer) -> Fault | None:
    """Find a fault in the kind of answer: a truth value for a number, or a number for a truth value."""
    if asked.steps and isinstance(answer, bool):
        return Fault("type", f"returned {answer} instead of a number")
    if not asked.steps and isinstance(answer, Number) and answer.value not in {0, 1}:
        return Fault("type", f"returned the number {answer.value} instead of True or False")
    if not asked.steps and isinstance(answer, Nothing):
        return Fault("type", f"returned {answer.words} instead of True or False")
    return None


def _of_kind(got: bool | Nothing, right: Right) -> str:  # noqa: FBT001  an answer, not an option
    if isinstance(got, bool):
        return "" if got == right else ANOTHER
    if isinstance(right, Infeasible):
        return ""
    return "gives no value where one exists"


def _agree(got: Exact | bool | Nothing, right: Right, asked: Asked) -> bool:  # noqa: FBT001  as above
    if isinstance(got, Nothing) or isinstance(right, Infeasible):
        return isinstance(got, Nothing) and isinstance(right, Infeasible)
    return round(got) == right if asked.counts else got == right


def _noise(asked: Asked, values: Values) -> Fraction:
    """Return how far a difference may be off that was taken between rounded numbers of the same kind."""
    unit = known()[asked.name].unit
    alike = [Fraction(values[n]) for n in asked.given if known()[n].unit.dimension == unit.dimension]
    return FLOAT_NOISE * sum(alike, Fraction(0))
