"""How a later part follows from earlier ones: expressions in their letters, all else put in as numbers.

They stand in the record, so that an answer that follows from a wrong one is judged without the laws.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import sympy

from grader.directions import Question
from grader.exercise import exact
from spec import printing
from spec.chain import Link
from spec.solving import Exact


def follows(
    question: Question, earlier: Sequence[tuple[str, Question]], numbers: Mapping[str, Exact]
) -> tuple[str, ...]:
    """Write the answer of a question as expressions in the letters of earlier ones, each in the unit of its answer.

    `numbers` are the values of givens and steps. The chain is cut at what an earlier part asks for. What one asks for
    may lie beside the chain, such as how many tokens a budget holds; its law then leads back to what lies on it and is
    asked too: a second way. Empty where nothing depends on an earlier part, or a step on the way has no formula.
    """
    asked = question.ask.quantity.name
    texts = {of.ask.quantity.name: _scaled(letter, 1 / Fraction(of.factor)) for letter, of in earlier}
    texts.pop(asked, None)
    chain = {step.gives: step for step in question.steps}
    on_the_way = _from_cut_to_goal(chain, asked, texts.keys())
    ways = [_way(question, texts, numbers)]
    for _, of in earlier:
        name = of.ask.quantity.name
        if name in on_the_way or name not in texts or not of.steps:
            continue
        law = of.steps[-1].law
        for back in sorted(law.symbols.keys() & on_the_way & texts.keys()):
            text = _solved(Link(law, back), {name: texts[name]}, numbers)
            if text and not _solution(Link(law, back)).atoms(sympy.floor, sympy.ceiling):
                ways.append(_way(question, {**texts, back: text}, numbers))
    return tuple(dict.fromkeys(filter(None, ways)))


def _from_cut_to_goal(chain: Mapping[str, Link], goal: str, cut: Collection[str]) -> set[str]:
    found, todo = set(), [goal]
    while todo:
        name = todo.pop()
        found.add(name)
        if name in chain and (name == goal or name not in cut):
            todo += chain[name].needs - found
    return found


def _way(question: Question, earlier: Mapping[str, str], numbers: Mapping[str, Exact]) -> str:
    texts, asked = dict(earlier), question.ask.quantity.name
    for step in question.steps:
        if step.gives not in texts and step.needs & texts.keys():
            texts[step.gives] = _solved(step, texts, numbers)
            if not texts[step.gives]:
                return ""
    return _scaled(texts[asked], question.factor) if asked in texts else ""


def _solved(step: Link, texts: Mapping[str, str], numbers: Mapping[str, Exact]) -> str:
    """Write one step with texts and numbers in it; empty where it has no formula, or something has no value."""
    solved = _solution(step)
    if solved is None or not step.needs <= texts.keys() | numbers.keys():
        return ""
    return f"({printing.text(solved, {name: texts.get(name) or exact(numbers[name]) for name in step.needs})})"


@cache
def _solution(step: Link) -> Any:
    return step.law.solution(step.gives)


def _scaled(text: str, factor: Exact) -> str:
    over, under = factor.numerator, factor.denominator
    times = f"({text} * {over})" if over != 1 else text
    return f"({times} / {under})" if under != 1 else times
