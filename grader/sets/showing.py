"""What the templates of all formats ask of an exercise, beside the texts in its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from grader.amounts import natural
from grader.exercise import NUMERIC, Exercise, Part
from grader.solution import about

EXAMPLES = frozenset({"counterexample", "invariant", "policy"})  # kinds whose key is one right answer of many
ON_A_LINE = 60  # characters of options that are read at a glance


def paragraphs(exercise: Exercise) -> list[str]:
    """Return the statement; the rules of a policy make several paragraphs of it."""
    if all(part.kind != "policy" for part in exercise.parts):
        return [exercise.statement]
    from grader.executing.session_policy.rules import paragraphs as parted

    return parted(exercise.statement)


def form(part: Part) -> list[str]:
    """Return the lines of the file that is to be filled in; none where the answer is no file."""
    if part.kind != "policy":
        return []
    from grader.executing.session_policy import template

    return template(part).rstrip().splitlines()


def on_a_line(part: Part) -> bool:
    """Say whether the options are short enough to stand on one line, with commas between."""
    return len(", ".join(part.options)) <= ON_A_LINE and not any("," in option for option in part.options)


def mistakes(part: Part) -> list[tuple[str, str]]:
    """Return what is known to go wrong: what is answered then, and a sentence on it."""
    found = [(_value(part, slip.value), slip.sentence) for slip in part.slips]
    wrong = [(f"{f.name} = {mutant.expression}", mutant.sentence) for f in part.functions for mutant in f.mutants]
    return found + wrong


def _value(part: Part, value: str | None) -> str:
    if value is None:
        return "none"
    return natural(Fraction(value), part.unit or "1") if part.kind in NUMERIC else value


FILTERS: Mapping[str, Callable[..., Any]] = {
    "about": about,
    "form": form,
    "mistakes": mistakes,
    "on_a_line": on_a_line,
    "paragraphs": paragraphs,
    "is_example": lambda part: part.kind in EXAMPLES,
}
