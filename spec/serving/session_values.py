"""The kinds of value that a field of a policy may have: what is allowed, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol

SHOWN = 60  # characters of a value that a message repeats
LARGEST, FINEST = 10**18, Fraction(1, 10**18)
_PLAIN = re.compile(r"[+-]?[0-9_]{1,25}(?:\.[0-9_]{1,30})?(?:[eE][+-]?[0-9]{1,2})?")


class Wild(str):
    """A number as it was written that nothing is made of: NaN, infinite, or far larger or finer than any value."""

    __slots__ = ()


def exact(text: str) -> Fraction | Wild:
    """Read a number exactly, as it was written in decimals."""
    if not _PLAIN.fullmatch(text):
        return Wild(text)
    value = Fraction(text)
    return value if not value or FINEST <= abs(value) <= LARGEST else Wild(text)


def shown(value: Any, *, quoted: bool = True, most: int = SHOWN) -> str:
    """Write a value as JSON has it, shortened, on one line."""
    if value is None or isinstance(value, bool):
        text = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, Fraction):
        text = decimal(value)
    elif isinstance(value, int):
        text = str(value) if abs(value) < 10**SHOWN else "a number of more than 60 digits"
    elif isinstance(value, dict | list):
        text = "{...}" if isinstance(value, dict) else "[...]"
    elif isinstance(value, str) and not isinstance(value, Wild) and quoted:
        text = f'"{value}"'
    else:
        text = str(value)
    text = "".join(letter if letter.isprintable() else " " for letter in text[: most + 1])
    return text if len(text) <= most else text[: most - 3] + "..."


def decimal(value: Fraction) -> str:
    """Write a number in decimals; one that has no end is written as a quotient."""
    if value.denominator == 1:
        return str(value.numerator)
    twos, fives, rest = 0, 0, value.denominator
    while rest % 2 == 0:
        twos, rest = twos + 1, rest // 2
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    if rest > 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = f"{abs(value.numerator) * 10**places // value.denominator:0{places + 1}d}"
    return f"{'-' * (value < 0)}{digits[:-places]}.{digits[-places:]}"


class Kind(Protocol):
    """What a field may be."""

    @property
    def allowed(self) -> str:
        """The values that it may have, in words."""

    @property
    def example(self) -> str:
        """One of them, as TOML has it."""

    def read(self, given: Any) -> Any:
        """Return the value that is given.

        Raises:
            TypeError: it is of another kind.
            ValueError: it is not allowed.
        """


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words."""

    options: type[StrEnum]

    @property
    def allowed(self) -> str:
        """The words."""
        return _listed(option.value for option in self.options)

    @property
    def example(self) -> str:
        """The first of them."""
        return f'"{next(iter(self.options))}"'

    def read(self, given: Any) -> StrEnum:
        """Return the word."""
        if not isinstance(given, str) or isinstance(given, Wild):
            raise TypeError(given)
        return self.options(given)


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no."""

    @property
    def allowed(self) -> str:
        """The two."""
        return "true or false"

    @property
    def example(self) -> str:
        """One of them."""
        return "true"

    def read(self, given: Any) -> bool:
        """Return it."""
        if not isinstance(given, bool):
            raise TypeError(given)
        return given


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a range.

    Attributes:
        low, high: the ends of the range; they belong to it.
        over: the low end does not.
        whole: it is a whole number.
        null: there may be none.
        unit: what it counts.
    """

    low: Fraction
    high: Fraction
    over: bool = False
    whole: bool = False
    null: bool = False
    unit: str = ""

    @property
    def allowed(self) -> str:
        """The range."""
        null, what = "null, or " * self.null, "a whole number" if self.whole else "a number"
        start = f"over {decimal(self.low)} and up to" if self.over else f"from {decimal(self.low)} to"
        return f"{null}{what}{' of ' * bool(self.unit)}{self.unit} {start} {decimal(self.high)}"

    @property
    def example(self) -> str:
        """A number in its middle that is easy to read."""
        return "60"

    def read(self, given: Any) -> int | Fraction | None:
        """Return the number, exactly."""
        if given is None and self.null:
            return None
        if isinstance(given, float):
            given = exact(repr(given))
        if isinstance(given, bool) or not isinstance(given, int | Fraction):
            raise TypeError(given)
        value = Fraction(given)
        if not self.low <= value <= self.high or (self.over and value == self.low):
            raise ValueError(given)
        if not self.whole:
            return value
        if value.denominator > 1:
            raise ValueError(given)
        return int(value)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a policy.

    Attributes:
        name: as it is written.
        kind: what it may be.
        default: what it is where a policy is silent.
        meaning: what it does.
    """

    name: str
    kind: Kind
    default: Any
    meaning: str

    @property
    def allowed(self) -> str:
        """The values that it may have, in words."""
        return self.kind.allowed


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"
