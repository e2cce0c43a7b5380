"""Judging what was found wrong in a worked solution: the line, and its right value."""

from __future__ import annotations

import re
from dataclasses import replace

from grader.exercise import EXACT, Part
from grader.judging.judgement import (
    CORRECT,
    FULL,
    HALF,
    INCORRECT,
    PARTIAL,
    ZERO,
    Finding,
    Judgement,
    located,
)
from grader.judging.numbers import judge_number
from grader.reading.absence import says_no_value
from grader.reading.text import Unreadable, plain

LONGEST = 200
_WORDS = r"(?:(?:the|wrong|line|step|row|equation|eq\.?|no\.?|nr\.?|number)\s*[:=]?\s*)*"
_BEHIND = r"(?:\s*(?:[-=]*>|[:;=|]|,(?!\d)|-+)\s*|(?<=[)\].])\s*|\s+|$)"
_LINE = re.compile(
    rf"\(?{_WORDS}[(\[#]*(\d{{1,2}})(?:[)\]]|\.(?!\d))*{_BEHIND}",
    re.IGNORECASE | re.ASCII,
)
_BECOMES = re.compile(
    r"(?:(?:it|its|the|right|wrong|incorrect|correct|value|that|this|would|has|have|to|is|be|read|with|and|should|must"
    r"|ought|equals?|gives?|actually)\b[:;,=]?\s*)+",
    re.IGNORECASE,
)
_NAMED = re.compile(r"[A-Za-z_]\w*\s*=\s*(?=[\d.+$(-])")


def judge_mistake(part: Part, typed: str) -> Judgement:
    """Judge a line and its right value: half for the line, half for the value.

    Raises:
        Unreadable: it is no line with a value.
    """
    text = plain(typed, LONGEST)
    try:
        return _read(part, text.text, typed)
    except Unreadable as complaint:
        raise located(complaint, text) from None


def _read(part: Part, text: str, typed: str) -> Judgement:
    found = _LINE.match(text)
    if found is None or not 1 <= int(found[1]) <= len(part.worked):
        if says_no_value(text):
            return Judgement(INCORRECT, ZERO, "none", findings=(Finding("a-line-is-wrong"),), typed=typed)
        raise Unreadable("no-line", found.start(1) if found else 0, {"lines": str(len(part.worked))})
    line, start = int(found[1]), found.end()
    for words in (_BECOMES, _NAMED):
        if said := words.match(text, start):
            start = said.end()
    if start == len(text):
        raise Unreadable("value-of-line", start, {"line": str(line)})
    return _judged(part, text, line, start, typed)


def _judged(part: Part, text: str, line: int, start: int, typed: str) -> Judgement:
    of = part.worked[line - 1]
    asked = Part(
        part=part.part,
        asks=part.asks,
        question="",
        kind=of.kind,
        key=of.key,
        unit=of.unit,
        tolerance=EXACT if of.kind == "count" else part.tolerance,
        unit_in_question=of.kind == "count",
    )
    try:
        value = judge_number(asked, text[start:])
    except Unreadable as complaint:
        raise complaint.moved(start) from None
    reading = f"{line}: {value.reading}"
    if str(line) != part.key:
        code = "line-stands" if of.shown == of.key else "line-follows"
        return Judgement(INCORRECT, ZERO, reading, (), (Finding(code, {"line": str(line)}),), typed)
    if value.verdict == CORRECT:
        return Judgement(CORRECT, FULL, reading, typed=typed)
    unchanged = judge_number(replace(asked, key=of.shown), text[start:]).verdict == CORRECT
    findings = (Finding("value-as-shown" if unchanged else "value-of-line-wrong", {"line": str(line)}), *value.findings)
    return Judgement(PARTIAL, HALF, reading, (), findings, typed)
