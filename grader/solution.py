"""The worked solution and the hints of a part: from its derivation and the laws, or as they were written when drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from grader.amounts import natural, rounded, spoken
from grader.exercise import NUMERIC, Exercise, Part, Step
from spec import printing
from spec.index import laws
from spec.laws import Law

FIGURES = 6  # of an answer that is no decimal number
NO_HINT = "There is no hint for this question; the worked solution says more."


@dataclass(frozen=True, slots=True)
class Line:
    """One step of a solution: the law's name and sentence, the step with its numbers in plain text and in LaTeX."""

    law: str
    says: str
    text: str
    latex: str


def answer(part: Part) -> str:
    """Return the key as people write it: `2807 tokens`, `none`, a formula, `3: 12 GB` for a line with a mistake."""
    if part.key is None:
        return "none"
    if part.kind == "mistake":
        line = part.worked[int(part.key) - 1]
        return f"{part.key}: {spoken(Fraction(line.key), line.unit or '1').replace(',', '')}"
    if not part.unit:
        return part.key
    return spoken(Fraction(part.key), part.unit).replace(",", "")


def about(part: Part) -> str:
    """Return the key to a few figures where it is no decimal number: `about 78.5246 ms`; empty where it is one."""
    if part.key is None or part.kind not in NUMERIC or "/" not in part.key:
        return ""
    return f"about {natural(Fraction(part.key), part.unit or '1')}"


def lines(exercise: Exercise, part: Part) -> list[Line]:
    """Return the worked solution; where there is an answer, its last line ends in it, in the unit that is asked for."""
    if part.explained:
        return [Line(line.law, line.says, line.text, line.latex) for line in part.explained]
    found = derived(exercise, part)
    if found and part.key is not None and part.steps[-1].gives == part.asks:
        key = Fraction(part.key)
        in_figures = Fraction(rounded(key, FIGURES).replace(",", "")) if "/" in part.key else key
        ending = spoken(in_figures, part.unit or "1")
        if not found[-1].text.endswith(f"= {ending}"):
            tex = printing.tex_amount(ending)
            found[-1] = replace(found[-1], text=f"{found[-1].text} = {ending}", latex=f"{found[-1].latex} = {tex}")
    return found


def derived(exercise: Exercise, part: Part) -> list[Line]:
    """Return the derivation with its numbers, each value in the unit in which it is easily read."""
    values = {g.name: spoken(Fraction(g.value), g.unit) for g in (*exercise.givens, *part.givens)}
    found = []
    for step in part.steps:
        law = laws()[step.law]
        result = _result(step)
        found.append(Line(law.name, law.says, _text(law, step, values, result), _latex(law, step, values, result)))
        if step.value is None:
            break  # what follows has no value either
        values[step.gives] = result
    return found


def formula_text(law: Law, gives: str) -> str:
    """Write a law solved for a quantity."""
    return _formula(law, gives)


def line_text(law: Law, step: Step, values: Mapping[str, str]) -> str:
    """Write a step by a law, which may be a wrong one, with the numbers it is taken with."""
    return _text(law, step, values, _result(step))


def hints(exercise: Exercise, part: Part) -> list[str]:
    """Return the hints, from which law is needed to the formulas and then to the numbers in them.

    None of them says what the answer is, nor whether there is one.
    """
    if part.hints or not part.steps:
        return list(part.hints) or [NO_HINT]
    values = {g.name: spoken(Fraction(g.value), g.unit) for g in (*exercise.givens, *part.givens)}
    known = {step.gives for step in part.steps}
    named = [(laws()[step.law], step.gives) for step in part.steps]
    return [
        "What is needed: " + " ".join(law.says for law, _ in named),
        "The laws: " + "; ".join(_formula(law, gives) for law, gives in named) + ".",
        "With the numbers: "
        + "; ".join(_formula(law, gives, {n: v for n, v in values.items() if n not in known}) for law, gives in named)
        + ".",
    ]


def _formula(law: Law, gives: str, values: Mapping[str, str] | None = None) -> str:
    solved = _solved(law, gives)
    if solved is None:
        written = law.text(dict(values) if values else None)
        left = law.left.name if law.is_identity else ""
        return written.replace(left, values[left], 1) if values and left in values else written
    return f"{gives} = {printing.text(solved, dict(values) if values else None)}"


def _solved(law: Law, gives: str) -> Any:
    """Return a law solved for a quantity; None where it is solved by search, or is a requirement without it."""
    return law.solution(gives) if gives in law.symbols else None


def _result(step: Step) -> str:
    if step.value is None:
        return "no value"
    return natural(Fraction(step.value), step.unit)


def _text(law: Law, step: Step, values: Mapping[str, str], result: str) -> str:
    if not step.gives:
        return f"{law.text(dict(values))}: {'it holds' if step.value is not None else _short(step)}"
    if step.value is None:
        return f"{_formula(law, step.gives, values)}: {_short(step)}"
    if _solved(law, step.gives) is None:
        return f"{_formula(law, step.gives, values)}: {step.gives} = {result}"
    return f"{_formula(law, step.gives)} = {_right(_formula(law, step.gives, values))} = {result}"


def _right(equation: str) -> str:
    return equation.partition(" = ")[2]


def _short(step: Step) -> str:
    if step.deficit is None:
        return "no value satisfies it"
    return f"it is short by {natural(abs(Fraction(step.deficit)), step.unit)}"


def _latex(law: Law, step: Step, values: Mapping[str, str], result: str) -> str:
    solved = _solved(law, step.gives)
    if step.gives not in law.symbols:
        return law.latex(dict(values))
    letter = law.symbols[step.gives].tex
    if solved is None:
        return rf"{law.latex(dict(values))} \Rightarrow {letter} = {printing.tex_amount(result)}"
    numbers = printing.latex(solved, dict(values))
    end = r"\text{no value}" if step.value is None else printing.tex_amount(result)
    return rf"{letter} = {printing.latex(solved)} = {numbers} = {end}"
