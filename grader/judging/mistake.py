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
)
from grader.judging.numbers import judge_number
from grader.reading.absence import says_no_value
from grader.reading.text import Unreadable

LONGEST = 200
_LINE = re.compile(
    r"\(?(?:(?:line|step|row|no\.?|number)\s*)?\(?#?(\d{1,2})\s*(?:[):;\u2192=]|[,.](?!\d)|[-=]+>|\s-(?=\s)|(?=\s|$))\s*",
    re.IGNORECASE | re.ASCII,
)
_BECOMES = re.compile(
    r"(?:(?:it|its|the|right|correct|value|that|this|would|has|to|is|be|should|must|equals?|gives?|actually)\b[:,]?\s*)+",
    re.IGNORECASE,
)
_NAMED = re.compile(r"[A-Za-z_]\w*\s*=\s*(?=[\d.+$(-])")


def judge_mistake(part: Part, typed: str) -> Judgement:
    """Judge a line and its right value: half for the line, half for the value.

    Raises:
        Unreadable: it is no line with a value.
    """
    if len(typed) > LONGEST:
        raise Unreadable("too-long", about={"limit": str(LONGEST)})
    if not typed:
        raise Unreadable("blank")
    found = _LINE.match(typed)
    if found is None or not 1 <= int(found[1]) <= len(part.worked):
        if says_no_value(typed):
            return Judgement(INCORRECT, ZERO, "none", findings=(Finding("a-line-is-wrong"),), typed=typed)
        raise Unreadable("no-line", found.start(1) if found else 0, {"lines": str(len(part.worked))})
    line, start = int(found[1]), found.end()
    for words in (_BECOMES, _NAMED):
        if said := words.match(typed, start):
            start = said.end()
    if start == len(typed):
        raise Unreadable("value-of-line", start, {"line": str(line)})
    return _judged(part, typed, line, start)


def _judged(part: Part, typed: str, line: int, start: int) -> Judgement:
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
        value = judge_number(asked, typed[start:])
    except Unreadable as complaint:
        at = complaint.at + start if complaint.at >= 0 else -1
        raise Unreadable(complaint.why, at, complaint.about) from None
    reading = f"{line}: {value.reading}"
    if str(line) != part.key:
        code = "line-stands" if of.shown == of.key else "line-follows"
        return Judgement(INCORRECT, ZERO, reading, (), (Finding(code, {"line": str(line)}),), typed)
    if value.verdict == CORRECT:
        return Judgement(CORRECT, FULL, reading, typed=typed)
    unchanged = judge_number(replace(asked, key=of.shown), typed[start:]).verdict == CORRECT
    findings = (Finding("value-as-shown" if unchanged else "value-of-line-wrong", {"line": str(line)}), *value.findings)
    return Judgement(PARTIAL, HALF, reading, (), findings, typed)
