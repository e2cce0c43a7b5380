"""Formulas on paper: the LaTeX of the laws, made ready for what sets it."""

from __future__ import annotations

import re
from collections.abc import Callable

from grader.exercise import Given
from spec.quantities import quantities

WORDS = re.compile(r"\\(text|mathrm|operatorname)\{([^{}]*)\}")
_RELATION = re.compile(r" (?=(?:=|<|\\le|\\Rightarrow) )")


def letter(given: Given) -> str:
    """Return the letter of a given in LaTeX, as the laws print it."""
    quantity = quantities().get(given.name)
    return quantity.tex if quantity is not None else rf"\text{{{given.symbol}}}"


def clauses(latex: str) -> list[str]:
    """Cut a formula before each of its relations: a chain of equations may go on in the next line there."""
    return _RELATION.split(latex)


def with_words(latex: str, write: Callable[[str, str], str]) -> str:
    r"""Replace each upright word: `write` gets its command, such as `text` for `\text{GB}`, and the word as it is."""
    return WORDS.sub(lambda found: write(found[1], found[2]), latex)
