"""A number with a unit, as people write it: `54 GB`, `$4/h`, `1.2x10^9 B`, `800 GB/s/GPU`, `50 tokens per second`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grader.reading.grammar import read_number
from grader.reading.number import Number, literal, value, written
from grader.reading.unit_reader import NO_UNIT, ReadUnit, read_unit
from spec.units import Dimension


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that was read, with its unit.

    Attributes:
        number: the exact number as typed, before its unit.
        literal: its cleaned digits where it was typed as one literal, otherwise empty.
        unit: the unit as typed.
        at: where the unit begins.
    """

    number: Number
    literal: str
    unit: ReadUnit
    at: int

    def echo(self, locale: str) -> str:
        """Print it so that it reads back the same."""
        digits = self.literal if self.literal and locale == "en" else written(self.number, locale)
        name = self.unit.name(plural=self.number not in {1, -1})
        return f"{digits} {name}" if name else digits


# The common shape, read without the parser; a test holds it to the same readings.
_SIMPLE = re.compile(r"([+-]?)(\d{1,40}(?:\.\d{1,40})?(?:e-?\d{1,2})?)(?!\d)\s*([A-Za-z][A-Za-z/$]*)?", re.ASCII)
_ABOUT = re.compile(r"(?:~|(?:about|approximately|approx\.?|roughly|circa|ca\.)\s)\s*", re.IGNORECASE)
_CURRENCY = re.compile(r"([+-]?)\s*(US\$|\$|USD\s|\u20ac|\u00a3)\s*(?=[\d.])")
_SCIENTIFIC = re.compile(r"([+-]?\d+(?:\.\d*)?)\s*[*xX]\s*10\s*(?:\^|\*\*)\s*\(?([+-]?\d{1,4})\)?", re.ASCII)


def read_quantity(text: str, locale: str, kilobyte: str, asked: Dimension) -> Quantity:
    """Read a number with its unit, or a bare number.

    Raises:
        Unreadable: it is neither, or its unit is unknown, ambiguous, or no unit of any kind.
    """
    simple = _SIMPLE.fullmatch(text)
    if simple and (locale == "en" or "." not in text) and not text.startswith(("0x", "0b", "0B", "0o")):
        sign, digits, name = simple.groups()
        number = value(digits)
        if sign == "-":
            number, digits = -number, f"-{digits}"
        of = read_unit(name, kilobyte, asked, simple.start(3)) if name else NO_UNIT
        return Quantity(number, digits, of, simple.start(3))
    about = _ABOUT.match(text)
    start = about.end() if about else 0
    if currency := _CURRENCY.match(text, start):
        return _money(text, currency, locale, kilobyte, asked)
    number, end = read_number(text, start, locale)
    typed = text[start:end].strip()
    of = read_unit(text[end:], kilobyte, asked, end) if end < len(text) else NO_UNIT
    return Quantity(number, _single_literal(typed, locale), of, end)


def _money(text: str, currency: re.Match[str], locale: str, kilobyte: str, asked: Dimension) -> Quantity:
    """A currency sign before its number: `$4/h` is `4 $/h`."""
    digits, end = literal(text, currency.end(), locale)
    number = value(digits, currency.end())
    if currency.group(1) == "-":
        number, digits = -number, f"-{digits}"
    name = currency.group(2).strip() + text[end:]
    return Quantity(number, digits, read_unit(name, kilobyte, asked, end - len(currency.group(2).strip())), end)


def _single_literal(typed: str, locale: str) -> str:
    """The cleaned literal of a number typed as one, `1.2*10^3` included; otherwise empty."""
    sign = "-" if typed.startswith("-") else ""
    digits = typed.lstrip("+-").lstrip()
    if power := _SCIENTIFIC.fullmatch(typed):
        return f"{power.group(1).lstrip('+')}e{int(power.group(2))}"
    if not digits[:1].isdigit() and digits[:1] not in {".", ","}:
        return ""
    cleaned, end = literal(digits, 0, locale)
    return sign + cleaned if end == len(digits) else ""
