"""A number as somebody published it: its value, and how far its last printed digit leaves it open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from grader.calc.givens import LONGEST, UnreadableValue, WrongDimension, measures, unit_words
from grader.feedback import sentence
from grader.judging import Finding
from grader.reading.number import figures
from grader.reading.quantity import read_quantity
from grader.reading.text import Unreadable, plain
from spec.quantities import Quantity
from spec.solving import Exact
from spec.units import unit

BILLIONS = re.compile(r"(\d)\s*([KMBT])\b")  # of parameters: `7B`, `350M`
EXPONENTS = {"K": 3, "M": 6, "B": 9, "T": 12}
SLOPPY = re.compile(r"\dKB|\sKB")
EXACT_FIGURES = 3  # a whole number of so many figures is taken as it stands; more of them may be rounded


@dataclass(frozen=True, slots=True)
class Published:
    """`value` and the half width of its rounding, both in the unit of the quantity; `unit` is the unit as printed."""

    value: Fraction
    half: Fraction
    unit: str


def read_published(quantity: Quantity, text: str) -> tuple[Published, ...]:
    """Read a published number: `4.59 GB`, `~523,000 tokens`, `2.6MB per token`, `7B` parameters.

    A bare number is in the quantity's unit. `KB` is read both ways, 1000 bytes first.

    Raises:
        Unusable: it is no number, or measures something else.
    """
    typed = plain(text.strip(), LONGEST).text if len(text) <= LONGEST else text
    if quantity.unit == unit("parameter"):
        typed = BILLIONS.sub(lambda m: f"{m[1]}e{EXPONENTS[m[2]]}", typed)
    conventions = ("si", "binary") if SLOPPY.search(typed) else ("si",)
    return tuple(_read(quantity, typed, kilobyte) for kilobyte in conventions)


def _read(quantity: Quantity, text: str, kilobyte: str) -> Published:
    try:
        read = read_quantity(plain(text, LONGEST).text, "en", kilobyte, quantity.unit.dimension)
    except Unreadable as complaint:
        finding = Finding(complaint.why, complaint.about, complaint.at)
        raise UnreadableValue(quantity.name, text, sentence(finding)) from None
    if read.unit.given and (read.unit.foreign or not measures(read.unit, quantity)):
        raise WrongDimension(quantity, text, unit_words(read.unit), ())
    factor = read.unit.factor / quantity.unit.factor if read.unit.given else Fraction(1)
    name = read.unit.name() if read.unit.given else quantity.unit.name
    return Published(read.number * factor, half_digit(read.literal) * abs(factor), name)


def typed_as(quantity: Quantity, text: str) -> tuple[Fraction, str]:
    """Return how far a typed given is left open by its last digit, in the unit of its quantity, and its typed unit.

    Only a decimal point shows that a given was rounded; a whole number is taken as it stands.
    """
    try:
        read = read_quantity(plain(text.strip(), LONGEST).text, "en", "si", quantity.unit.dimension)
    except Unreadable:
        return Fraction(0), quantity.unit.name  # a word such as `yes`
    if not read.unit.given:
        return Fraction(0), quantity.unit.name
    factor = read.unit.factor / quantity.unit.factor
    return (half_digit(read.literal) * factor if "." in read.literal else Fraction(0)), read.unit.name()


def half_digit(literal: str) -> Fraction:
    """Return half of the last digit that was meant: of `4.59` 0.005, of `523000` 500, of `4096` 1/2."""
    if not literal:
        return Fraction(0)
    typed = figures(literal)
    rounded_off = 0 if typed.most <= EXACT_FIGURES or typed.least == typed.most else typed.most - typed.least
    return Fraction(1, 2) * Fraction(10) ** (rounded_off - typed.decimals)


def relative(value: Exact, half: Exact) -> Fraction:
    """Return a half width relative to its value; 1 for a zero."""
    return Fraction(half) / abs(Fraction(value)) if value else Fraction(1)
