"""How a later part follows from earlier ones: one expression in their letters, all else put in as numbers.

It stands in the record, so that an answer that follows from a wrong one is judged without the laws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from grader.directions import Question
from grader.exercise import exact
from spec import printing
from spec.chain import Link
from spec.solving import Exact


def follows(question: Question, earlier: Iterable[tuple[str, Question]], numbers: Mapping[str, Exact]) -> str:
    """Write the answer of a question as an expression in the letters of earlier ones, each in the unit of its answer.

    `numbers` are the values of givens and steps. The chain is cut at what an earlier part asks for. Empty where the
    question depends on none of them, or where a step on the way has no formula.
    """
    texts = {of.ask.quantity.name: _scaled(letter, 1 / Fraction(of.factor)) for letter, of in earlier}
    asked = question.ask.quantity.name
    texts.pop(asked, None)
    for step in question.steps:
        if step.gives in texts or not step.needs & texts.keys():
            continue
        solved = _solution(step)
        if solved is None or not step.needs <= texts.keys() | numbers.keys():
            return ""
        known = {name: texts.get(name) or exact(numbers[name]) for name in step.needs}
        texts[step.gives] = f"({printing.text(solved, known)})"
    return _scaled(texts[asked], question.factor) if asked in texts else ""


@cache
def _solution(step: Link) -> Any:
    return step.law.solution(step.gives)


def _scaled(text: str, factor: Exact) -> str:
    if factor == 1:
        return text
    over, under = factor.numerator, factor.denominator
    times = f"{text} * {over}" if over != 1 else text
    return f"({times} / {under})" if under != 1 else f"({times})"
