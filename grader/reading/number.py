"""Literals: separators by locale, typed figures, exact values, and the exact printing of a value.

A literal becomes a cleaned text first (`108 000` is `108000`, `1,2e3` in French is `1.2e3`), then a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from grader.reading.text import Unreadable

Number = int | Fraction

BITS = 2048
"""The most bits of a numerator or denominator: about 600 digits, far above any answer and cheap to compute with."""

LONGEST_EXPONENT = 600
PLAIN_DIGITS = 21
LEADING_ZEROS = 5
UNIT_LETTERS = "A-Za-z$%\u03bc\u00b0\u00a2\u20ac\u00a3\u00a5\u2030\u03a9"

_PER_UNIT = rf"1 ?(?:/ ?[{UNIT_LETTERS}(]|per\b)"
# One run of digits and separators, well grouped or not. ` 1/s` after a number is the unit `1/s`, not a group.
BLOBS: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(
        rf"\.?\d+(?:[.,'_]\d+|[ ](?!{_PER_UNIT})\d+)*(?:\.(?![.\d]))?", re.ASCII
    ),
    "fr": re.compile(
        rf"[.,]?\d+(?:[.,'_]\d+|[ ](?!{_PER_UNIT})\d+)*(?:,(?![,\d]))?", re.ASCII
    ),
}  # fmt: skip
GROUPED: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(r"(?:[1-9]\d{0,2}([,' _])\d{3}(?:\1\d{3})*|\d+)(?:\.\d*)?|\.\d+", re.ASCII),
    "fr": re.compile(r"(?:[1-9]\d{0,2}([.' _])\d{3}(?:\1\d{3})*|\d+)(?:,\d*)?|,\d+", re.ASCII),
}
EXPONENT = re.compile(r"[ ]?[eE][ ]?([+-]?)[ ]?(\d+)(\.\d)?", re.ASCII)
OTHER_BASE = re.compile(r"0[xXbBoO][0-9A-Fa-f]+\b", re.ASCII)
VULGAR = "\u00bc-\u00be\u2150-\u215e\u2189"


@dataclass(frozen=True, slots=True)
class Figures:
    """How exactly a literal was typed: significant figures between `least` and `most`, and decimals.

    A bare `1200` may mean two, three or four figures.
    """

    least: int
    most: int
    decimals: int


def literal(text: str, at: int, locale: str) -> tuple[str, int]:
    """Read the literal at `at`: its cleaned text and the position after it.

    Raises:
        Unreadable: the digits are not grouped as this locale groups them, or stand in another base.
    """
    if match := OTHER_BASE.match(text, at):
        raise Unreadable("other-base", at, {"text": match.group()})
    blob = BLOBS[locale].match(text, at)
    if blob is None:
        raise Unreadable("character", at, {"text": text[at : at + 1]})
    end, digits = blob.end(), blob.group()
    if not digits.isdigit():
        digits = _clean(digits, text, at, end, locale)
    exponent = EXPONENT.match(text, end)
    if exponent is None:
        return digits, end
    sign, power, fraction = exponent.groups()
    if fraction:
        raise Unreadable("fractional-exponent", exponent.start(2))
    return f"{digits}e{'-' if sign == '-' else ''}{power}", exponent.end()


def _clean(digits: str, text: str, at: int, end: int, locale: str) -> str:
    if not GROUPED[locale].fullmatch(digits):
        raise _ungrouped(digits, text[end : end + 2].lstrip(), at, locale)
    for separator in ", '_" if locale == "en" else ". '_":
        digits = digits.replace(separator, "")
    return digits.replace(",", ".")


def _ungrouped(digits: str, after: str, at: int, locale: str) -> Unreadable:
    """Say what is wrong with a run of digits and separators that is no number in this locale."""
    if " " in digits and after.startswith("/"):
        return Unreadable("mixed-number", at, {"text": digits})
    if " " in digits:
        return Unreadable("two-numbers", at, {"text": digits})
    mark, code = (",", "decimal-comma") if locale == "en" else (".", "decimal-point")
    other = "." if locale == "en" else ","
    whole, found, rest = digits.rpartition(mark)
    foreign = found and mark not in whole and other not in rest and len(rest) != len("000")
    if foreign or (mark in digits and GROUPED["fr" if locale == "en" else "en"].fullmatch(digits)):
        return Unreadable(code, at, {"text": digits})
    return Unreadable("grouping", at, {"text": digits})


def value(cleaned: str, at: int = -1) -> Number:
    """The exact value of a cleaned literal: `54`, `0.5`, `.5`, `1.2e-3`.

    Raises:
        Unreadable: `too-large`: an exponent beyond anything that is measured.
    """
    mantissa, _, power = cleaned.partition("e")
    whole, _, decimals = mantissa.partition(".")
    digits = whole + decimals
    if len(digits) > LONGEST_EXPONENT or len(power) > len("-0000"):
        raise Unreadable("too-large", at)
    shift = int(power or 0) - len(decimals)
    if abs(shift) > LONGEST_EXPONENT:
        raise Unreadable("too-large", at)
    if shift >= 0:
        whole_number: int = int(digits) * 10**shift
        return whole_number
    return simplest(Fraction(int(digits), 10**-shift))


def simplest(number: Number) -> Number:
    """An integer where the value is one: integers compute several times faster."""
    return number.numerator if number.denominator == 1 else number


def figures(cleaned: str) -> Figures:
    """Count the figures of a cleaned literal as they were typed; zeros appended after the point count."""
    mantissa, _, power = cleaned.lstrip("-").partition("e")
    whole, point, decimals = mantissa.partition(".")
    significant = (whole + decimals).lstrip("0")
    most = max(1, len(significant))
    least = most if point else max(1, len(significant.rstrip("0")))
    return Figures(least, most, len(decimals) - int(power or 0))


def written(number: Number, locale: str = "en") -> str:
    """Print an exact value so that it reads back the same: `108000`, `0.5`, `1.05e-33`, `1/3`."""
    over, under = abs(number.numerator), number.denominator
    places = _places(under)
    if places is None:
        return f"{number.numerator}/{under}"
    digits = str(over * 10**places // under)
    significant = digits.rstrip("0") or "0"
    first = len(digits) - places  # where the point stands, counted from the first digit
    if -LEADING_ZEROS < first <= PLAIN_DIGITS and len(digits) <= 2 * PLAIN_DIGITS:
        padded = digits.rjust(places + 1, "0")
        plain = f"{padded[:-places]}.{padded[-places:]}" if places else padded
    else:
        plain = f"{significant[0]}{'.' if significant[1:] else ''}{significant[1:]}e{first - 1}"
    if locale == "fr":
        plain = plain.replace(".", ",")
    return f"-{plain}" if number < 0 else plain


def _places(denominator: int) -> int | None:
    """The decimals that a fraction with this denominator takes, None where they never end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None
