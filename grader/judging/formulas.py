"""Judging formulas: the same function or not, and the smallest values that tell them apart."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from grader.exercise import Part
from grader.judging.judgement import (
    CORRECT,
    FULL,
    HALF,
    INCORRECT,
    PARTIAL,
    ZERO,
    Diagnosis,
    Finding,
    Judgement,
    located,
    value_given,
    without_value,
)
from grader.reading import compare
from grader.reading.absence import says_no_value
from grader.reading.faces import Faces, faces
from grader.reading.grammar import read_formula
from grader.reading.latex import without_latex
from grader.reading.number import written
from grader.reading.text import Unreadable, plain

LONGEST = 2000
LONGEST_SHOWN = 20


def judge_formula(part: Part, typed: str) -> Judgement:
    """Judge an expression in the symbols of the part.

    Raises:
        Unreadable: it is none.
    """
    if says_no_value(typed):
        return without_value(part, typed)
    text = plain(typed, LONGEST)
    try:
        text = without_latex(text)
        return _formula(part, text.text, typed)
    except Unreadable as complaint:
        raise located(complaint, text) from None


def _formula(part: Part, text: str, typed: str) -> Judgement:
    symbols_of = tuple(part.symbols) or _symbols_of_key(part.key or "")
    domains = compare.domains(symbols_of, part.symbols)
    formula = read_formula(text, symbols_of, (*part.names, part.asks) if part.names else ())
    reading = _short(str(formula), text)
    if part.key is None:
        return value_given(part, reading, typed)
    key = compare.reference(part.key, symbols_of, domains)
    if formula.order and not key.formula.order:
        raise Unreadable("order-not-asked", 0)
    findings = [Finding("ambiguous-division", {"reading": reading})] if formula.ambiguous else []
    if formula.constant and not key.formula.constant:
        return Judgement(INCORRECT, ZERO, reading, (), (Finding("number-for-formula"),), typed)
    yours = compare.Values(formula, domains)
    point = compare.differing_point(key, yours)
    if point is None:
        return Judgement(CORRECT, FULL, reading, typed=typed)
    if key.formula.order and (grows := compare.growth(key, yours)):
        return Judgement(PARTIAL, HALF, reading, (), (Finding(grows), *findings), typed)
    diagnoses = tuple(
        Diagnosis(s.slip, s.sentence)
        for s in part.slips
        if s.value is not None and compare.same(compare.reference(s.value, symbols_of, domains), yours)
    )
    if symbols_of:
        findings.append(_counterexample(compare.counterexample(key, yours, point)))
        findings += [] if diagnoses else _where_right(faces(key, yours))  # a slip says it better
    return Judgement(INCORRECT, ZERO, reading, diagnoses, tuple(findings), typed)


def _short(echo: str, text: str) -> str:
    """The echo, or the text itself where the echo would be too long to be read back."""
    return echo if len(echo) <= LONGEST else text


def _counterexample(found: compare.Counterexample) -> Finding:
    assignment = ", ".join(f"{name} = {written(value)}" for name, value in found.assignment)
    about = {"assignment": assignment, "yours": shown(found.yours), "right": shown(found.right)}
    return Finding("counterexample", about)


def _where_right(agree: Faces) -> list[Finding]:
    code = "right-only-where" if agree.only else "right-where"
    return [Finding(code, {"faces": " or ".join(agree.found)})] if agree.found else []


def shown(value: compare.Value) -> str:
    """A value in text; a long one is rounded."""
    if isinstance(value, str) or value is None:
        return "no value"
    if not isinstance(value, tuple):
        text = written(value)
        if len(text) <= LONGEST_SHOWN:
            return text
    decimal = value[0] if isinstance(value, tuple) else Decimal(value.numerator) / Decimal(value.denominator)
    rounded = f"{decimal:.6g}"
    return rounded if Decimal(rounded) == decimal else f"about {rounded}"


@lru_cache(maxsize=512)
def _symbols_of_key(key: str) -> tuple[str, ...]:
    """The names of a key that are not called: its symbols, in order of appearance."""
    names = re.findall(r"[A-Za-z_\u0370-\u03ff]\w*(?!\w|\s*\()", key)
    return tuple(dict.fromkeys(names))
