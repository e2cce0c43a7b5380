"""Words of an exercise: the story and the questions with their numbers, the convention, the reason for no answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from grader.amounts import Amount, natural, spoken
from spec.index import laws
from spec.solving import Infeasible

# Sentences that several stories share; what is asked for is left out of them.
SHAPE = """{% if layers is defined %}{{ model }} has {{ layers }} and a hidden size of {{ hidden }}, with {{ heads }}
for queries and {{ kv_heads }} for keys and values, each of size {{ head_dim }}; a cached element takes {{ kv_width }}.
{% endif %}"""
ONE_GPU = """{% if gpu_memory is defined %}On one {{ gpu }} with {{ gpu_memory }} of memory, the{% else %}The{% endif %}
weights take {{ weights }}
{%- if activations is defined %}, activations are
{% if activations.number %}given {{ activations }}{% else %}neglected{% endif %}
{%- endif %} and
{% if safety_margin.number %}a safety margin of {{ safety_margin }} is kept free
{%- else %}no safety margin is kept
{%- endif %}."""

if TYPE_CHECKING:
    from jinja2 import Template

    from grader.exercise import Part
    from grader.menu import Draw
    from spec.laws import Law


@cache
def _template(text: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    return Environment(undefined=StrictUndefined, autoescape=False).from_string(text)  # noqa: S701  plain text, no markup


def rendered(text: str, draw: Draw, given: Mapping[str, Amount]) -> str:
    """Fill a wording with the names and givens of a draw."""
    if "{" not in text:
        return text
    return _template(text).render(
        model=draw.model.name if draw.model else "", gpu=draw.gpu.name if draw.gpu else "", **given
    )


def story(wording: str, draw: Draw, given: Mapping[str, Amount]) -> str:
    """Return the story as one paragraph."""
    return " ".join(rendered(wording, draw, given).split())


def convention(given: Mapping[str, Amount], parts: Sequence[Part]) -> str:
    """State what the units mean and how a bare number is read."""
    return convention_of([amount.unit.name for amount in given.values()], parts)


def convention_of(given: Sequence[str], parts: Sequence[Part]) -> str:
    """State the same from the units of the givens."""
    units = {p for name in (*given, *(part.unit for part in parts)) for p in name.split("/")}
    sentences = []
    if any(u.endswith("B") for u in units if u != "B"):
        sentences.append("1 GB = 10^9 bytes, 1 GiB = 2^30 bytes.")
    sentences += _bare_numbers(parts)
    sentences += _figures(parts)
    if any(part.kind != "policy" for part in parts):
        sentences.append("If no such value exists, answer: none.")
    return " ".join(sentences)


def _bare_numbers(parts: Sequence[Part]) -> list[str]:
    letters: dict[str, list[str]] = {}
    for part in parts:
        letters.setdefault(part.unit, []).append(part.part)
    return [
        f"A number without a unit is read in {spoken(2, unit).removeprefix('2 ')}{_where(of, parts)}."
        for unit, of in letters.items()
        if unit
    ]


FIGURES = "Give at least three significant figures"
HOW_TO_ANSWER = {
    "count": "Answer with a whole number",
    "number": FIGURES,
    "quantity": FIGURES,
    "choices": "Answer with all that apply, with commas between them",
    "sequence": "Answer in order, with commas between",
    "ranking": "Answer with the best first, > between two and = between equal ones",
}


def _figures(parts: Sequence[Part]) -> list[str]:
    letters: dict[str, list[str]] = {}
    for part in parts:
        exactly = part.tolerance.kind == "exact" and part.kind in {"number", "quantity"}
        how = "Give the exact number" if exactly else HOW_TO_ANSWER.get(part.kind)
        if how:
            letters.setdefault(how, []).append(part.part)
    return [f"{what}{_where(of, parts)}." for what, of in letters.items()]


def _where(letters: Sequence[str], parts: Sequence[Part]) -> str:
    if len(letters) == len(parts):
        return ""
    *first, last = letters
    return f" in parts {', '.join(first)} and {last}" if first else f" in part {last}"


def _condition(law: Law, found: Infeasible) -> str:
    """Write the joint condition of an equation that is broken, in the words of its quantities; empty where none is."""
    broken = [c for c in law.conditions if law.is_identity and found.why == "broken" and c.unit == found.unit]
    if len(broken) != 1:
        return ""
    words = re.sub(r"[a-z_]+", lambda name: f"the {law.symbols[name[0]].says}", broken[0].says)
    return words.replace("<=", "to be at most").replace("<", "to be under").replace(" + ", " plus ")


def reason(found: Infeasible) -> str:
    """Say why no value exists, in one sentence."""
    law = laws()[found.law]
    short = "" if found.deficit is None else f" by {natural(abs(Fraction(found.deficit)), found.unit)}"
    if found.why == "below":
        symbol = law.symbols[found.gives]
        return f"There would be less than nothing: {symbol.says} falls below {symbol.domain.low}{short}."
    if found.why == "above":
        symbol = law.symbols[found.gives]
        return f"There would be too much: {symbol.says} goes over {symbol.domain.high}{short}."
    condition = _condition(law, found)
    if condition:
        return f"This needs {condition}; {'the two are equal' if not found.deficit else f'that is missed{short}'}."
    if found.why == "broken":
        missed = f"; the limit is missed{short} at best" if short else ""
        return f"No value satisfies this: {law.says[:1].lower()}{law.says[1:].rstrip('.')}{missed}."
    if found.why == "not-whole":
        return "The value would be no whole number."
    return "No value is the largest: every one satisfies the conditions."
