"""Amounts with their unit typed out: `80 GB`, `79.15 GiB`, `2039 GB/s`, `312 TFLOP/s`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from spec.units import Unit, UnknownUnit, unit

# A bound on the digits keeps a hostile file from building huge numbers.
_WRITTEN = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?) ?([A-Za-z]+(?:/[A-Za-z]+)*)")


class UnreadableAmount(ValueError):
    """A text is not a number with a known unit; `text` is the text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"{self.text!r} is not a number with a known unit"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its unit, as it was written.

    Attributes:
        text: the written form; `str` gives it back.
        number: the number in `unit`.
        unit: the unit. GB is 10^9 bytes and GiB is 2^30 bytes.
    """

    text: str
    number: Fraction
    unit: Unit

    @property
    def base(self) -> Fraction:
        """The amount in base units: bytes, bytes per second, FLOP per second."""
        return self.number * self.unit.factor

    def __str__(self) -> str:
        return self.text


def amount(text: str) -> Amount:
    """Read an amount from its exact written form.

    Raises:
        UnreadableAmount: there is no number, no unit, or the unit is not in the table (`80 G`, `80 Gb`).
    """
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise UnreadableAmount(text)
    number, name = written.groups()
    try:
        return Amount(text, Fraction(number), unit(name))
    except UnknownUnit:
        raise UnreadableAmount(text) from None
