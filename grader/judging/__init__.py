"""The one judge: an exercise record and a text in, a judgement out.

It knows the record only, imports neither SymPy nor a template engine, takes milliseconds and raises on no text.
What it finds are codes with fields; `grader.feedback` puts them into words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from grader.exercise import NUMERIC, Part
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
from grader.judging.numbers import judge_number
from grader.reading.absence import complaint_code
from grader.reading.text import Unreadable

__all__ = ["CORRECT", "INCORRECT", "INVALID", "PARTIAL", "Diagnosis", "Finding", "Judgement", "judge"]

# Complaints that a word such as `nan` or `n/a` explains better.
_BY_WORD = frozenset({"no-number", "unknown-symbol", "unknown-unit", "unknown-label", "character", "other-digits"})
_SHOWN = 2000


def judge(part: Part, text: str) -> Judgement:
    """Judge a text as an answer to a part.

    Raises:
        ValueError: the record asks for a kind of answer that this judge does not know. No text makes it raise.
    """
    typed = text.strip()
    of_kind = _judge_of(part.kind)
    try:
        return of_kind(part, typed)
    except Unreadable as complaint:
        return _invalid(complaint, typed)


@cache
def _judge_of(kind: str) -> Callable[[Part, str], Judgement]:
    """Return the judge of a kind of answer; those of other kinds than numbers are loaded when first needed."""
    if kind in NUMERIC:
        return judge_number
    if kind in {"choice", "choices", "sequence"}:
        from grader.judging import labels

        return {"choice": labels.judge_choice, "choices": labels.judge_choices}.get(kind, labels.judge_sequence)
    if kind == "expression":
        from grader.judging.formulas import judge_formula as found
    elif kind == "ranking":
        from grader.judging.ranking import judge_ranking as found
    elif kind in {"counterexample", "policy"}:
        from grader.judging.executed import judge_executed as found
    elif kind == "mistake":
        from grader.judging.mistake import judge_mistake as found
    elif kind == "invariant":
        from grader.judging.invariants import judge_invariant as found
    else:
        raise ValueError(f"unknown kind of answer: {kind}")
    return found


def _invalid(complaint: Unreadable, typed: str) -> Judgement:
    code = complaint.why
    if code in _BY_WORD:
        code = complaint_code(typed) or code
    return Judgement(INVALID, ZERO, findings=(Finding(code, complaint.about, complaint.at),), typed=typed[:_SHOWN])
