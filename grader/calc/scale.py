"""Choosing the unit a number is read best in: `80 GB`, `2.039 TB/s`, `312 TFLOP/s`, `12.5 ms`."""

from __future__ import annotations

from fractions import Fraction

from grader.amounts import rounded, spoken
from spec.solving import Exact
from spec.units import SI, TABLE

FIGURES = 6
LARGE = tuple(reversed(SI.items()))
SMALL = (("ms", Fraction(1, 10**3)), ("us", Fraction(1, 10**6)))


def scaled(number: Exact, unit: str) -> tuple[Exact, str]:
    """Return the same amount in the largest decimal unit that keeps it over one; seconds also in smaller ones."""
    first, slash, rest = unit.partition("/")
    size = abs(Fraction(number))
    if first in {"B", "FLOP"}:
        for prefix, factor in LARGE:
            if size >= factor and prefix + first in TABLE:
                return Fraction(number) / factor, prefix + first + slash + rest
    if unit == "s" and 0 < size < 1:
        name, part = next((small for small in SMALL if size >= small[1]), SMALL[-1])
        return Fraction(number) / part, name
    return number, unit


def readable(number: Exact, unit: str) -> str:
    """Print an amount in that unit, exact where it is short and else to six figures."""
    value, name = scaled(number, unit)
    if Fraction(value).denominator == 1:
        return spoken(value, name)
    _, _, of = spoken(2, name).partition(" ")
    return f"{rounded(value, FIGURES)} {of}".rstrip()
