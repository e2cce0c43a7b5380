"""The one judge: an exercise record and a text in, a judgement out.

It knows the record only, imports neither SymPy nor a template engine, takes milliseconds and raises on no text.
What it finds are codes with fields; `grader.feedback` puts them into words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grader.exercise import Part
from grader.judging.formulas import judge_formula
from grader.judging.judgement import (
    CORRECT,
    INCORRECT,
    INVALID,
    PARTIAL,
    ZERO,
    Diagnosis,
    Finding,
    Judgement,
)
from grader.judging.labels import judge_choice, judge_choices, judge_sequence
from grader.judging.numbers import judge_number
from grader.reading.absence import complaint_code
from grader.reading.text import Unreadable

__all__ = ["CORRECT", "INCORRECT", "INVALID", "PARTIAL", "Diagnosis", "Finding", "Judgement", "judge"]

_JUDGES: Mapping[str, Callable[[Part, str], Judgement]] = {
    "count": judge_number,
    "number": judge_number,
    "quantity": judge_number,
    "expression": judge_formula,
    "choice": judge_choice,
    "choices": judge_choices,
    "sequence": judge_sequence,
}
# Complaints that a word such as `nan` or `n/a` explains better.
_BY_WORD = frozenset({"no-number", "unknown-symbol", "unknown-unit", "unknown-label", "character", "other-digits"})
_SHOWN = 2000


def judge(part: Part, text: str) -> Judgement:
    """Judge a text as an answer to a part.

    Raises:
        ValueError: the record asks for a kind of answer that this judge does not know. No text makes it raise.
    """
    typed = text.strip()
    of_kind = _JUDGES.get(part.kind)
    if of_kind is None:
        raise ValueError(f"unknown kind of answer: {part.kind}")
    try:
        return of_kind(part, typed)
    except Unreadable as complaint:
        return _invalid(complaint, typed)


def _invalid(complaint: Unreadable, typed: str) -> Judgement:
    code = complaint.why
    if code in _BY_WORD:
        code = complaint_code(typed) or code
    return Judgement(INVALID, ZERO, findings=(Finding(code, complaint.about, complaint.at),), typed=typed[:_SHOWN])
