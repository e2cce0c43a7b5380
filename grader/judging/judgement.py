"""What became of one answer: the record that judging gives and feedback puts into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from grader.exercise import NUMERIC, Part
from grader.reading.number import Number
from grader.reading.text import Plain, Unreadable

CORRECT, PARTIAL, INCORRECT, INVALID = "correct", "partial", "incorrect", "invalid"
ZERO, HALF, FULL = Fraction(0), Fraction(1, 2), Fraction(1)
CARRIED = frozenset({"carried", "carried-several"})  # findings of an answer that follows from wrong ones


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A slip whose value is the answer, with the sentence the record keeps for the learner."""

    slip: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was noticed: a code, what its sentence needs, and the column in the typed text (-1: none)."""

    code: str
    about: Mapping[str, str] = field(default_factory=dict)
    at: int = -1


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one answer.

    Attributes:
        verdict: `correct`, `partial`, `incorrect` or `invalid`; an invalid answer uses up no attempt.
        score: from 0 to 1.
        reading: the answer as it was understood; judged again, it gives the same. Empty where nothing was.
        diagnoses: the slips that give this answer.
        findings: what else was noticed.
        typed: the text that was judged, outer whitespace removed.
        value: the number that was read, in the unit of the part.
    """

    verdict: str
    score: Fraction
    reading: str = ""
    diagnoses: tuple[Diagnosis, ...] = ()
    findings: tuple[Finding, ...] = ()
    typed: str = ""
    value: Number | None = None


def without_value(part: Part, typed: str) -> Judgement:
    """The answer that no such value exists."""
    if part.key is None or (part.zero_is_none and part.key == "0"):
        return Judgement(CORRECT, FULL, "none", typed=typed)
    diagnoses = tuple(Diagnosis(s.slip, s.sentence) for s in part.slips if s.value is None)
    code = "value-exists" if part.kind in NUMERIC else "one-exists"
    return Judgement(INCORRECT, ZERO, "none", diagnoses, (Finding(code),), typed)


def value_given(
    part: Part, reading: str, typed: str, value: Number | None = None, diagnoses: tuple[Diagnosis, ...] = ()
) -> Judgement:
    """A value where none exists, with the slips that lead to it all the same."""
    findings = (Finding("no-value", {"reason": part.reason}),)
    return Judgement(INCORRECT, ZERO, reading, diagnoses, findings, typed, value)


def located(complaint: Unreadable, text: Plain) -> Unreadable:
    """The same complaint at the column of the text as typed."""
    return Unreadable(complaint.why, text.column(complaint.at), complaint.about)


def is_carried(judged: Judgement) -> bool:
    """Say whether an answer counts because it follows from a wrong one; see `grader.judging.carried`."""
    return any(finding.code in CARRIED for finding in judged.findings)
