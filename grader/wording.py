"""Words of an exercise: the story and the questions with their numbers, the convention, the reason for no answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from grader.amounts import Amount, natural, spoken
from spec.index import laws
from spec.solving import Infeasible

if TYPE_CHECKING:
    from jinja2 import Template

    from grader.exercise import Part
    from grader.menu import Draw


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


def convention(given: Mapping[str, Amount], parts: Iterable[Part]) -> str:
    """State what the units mean and how a bare number is read."""
    units = {p for amount in given.values() for p in amount.unit.name.split("/")} | {
        p for part in parts for p in part.unit.split("/")
    }
    sentences = []
    if any(u.endswith("B") for u in units if u != "B"):
        sentences.append("1 GB = 10^9 bytes, 1 GiB = 2^30 bytes.")
    for part in parts:
        which = "" if part.part == "a" else f" in part {part.part}"
        if part.unit:
            sentences.append(f"A number without a unit{which} is read in {spoken(2, part.unit).removeprefix('2 ')}.")
    exactly = all(part.kind == "count" for part in parts)
    sentences.append("Answer with a whole number." if exactly else "Give at least three significant figures.")
    sentences.append("If no such value exists, answer: none.")
    return " ".join(sentences)


def reason(found: Infeasible) -> str:
    """Say why no value exists, in one sentence."""
    law = laws()[found.law]
    short = "" if found.deficit is None else f" by {natural(abs(Fraction(found.deficit)), found.unit)}"
    if found.why == "below":
        symbol = law.symbols[found.gives]
        return f"There would be less than nothing: {symbol.says} falls below {symbol.domain.low}{short}."
    if found.why == "broken":
        return f"No value satisfies this: {law.says.rstrip('.').lower()}; the limit is missed{short} at best."
    return "The value would be no whole number."
