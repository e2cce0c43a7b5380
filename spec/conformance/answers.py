"""What a candidate may answer: a number, whether a bound holds, that no value exists, or something of no use."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

from spec.solving import Exact, Infeasible, whole

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # another one in every run, and of no use to anybody
SHOWN = 60  # characters of a value that is no number
LARGEST = 10**300  # more than any quantity, and within the range of floats
DIGITS = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)  # of a Decimal, which is rounded anyway


@dataclass(frozen=True, slots=True)
class Number:
    """A number; `rounded` where it was a float or a Decimal, and so only close to what was meant."""

    value: Exact
    rounded: bool = False


@dataclass(frozen=True, slots=True)
class Nothing:
    """The candidate says that no value exists; `words` are those it said it with."""

    words: str = "None"
    unlimited: bool = False


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The candidate does not answer this question."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The candidate gave nothing that can be judged.

    Attributes:
        kind: `raised`, `hung`, `crashed`, `nonsense`, `nan` or `type`.
        words: what it did, as the predicate of a sentence: `raised KeyError: 'layers'`.
    """

    kind: str
    words: str


Answer = Number | bool | Nothing | Unsupported | Fault


def attribute(thing: Any, name: str, default: Any = None) -> Any:
    """Return an attribute of an object of others, which may compute it and fail."""
    try:
        return getattr(thing, name, default)
    except Exception:  # noqa: BLE001  whatever it raises, it has no such attribute
        return default


def read(value: Any) -> Answer:
    """Read what a function returned."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | Fraction):
        return number(whole(value))
    if isinstance(value, float):
        return _float(value)
    if value is None:
        return Nothing()
    if isinstance(value, Infeasible):
        return Nothing("no value", unlimited=value.why == "unbounded")
    if isinstance(value, Decimal):
        return _decimal(value)
    if attribute(value, "shape") == () and callable(attribute(value, "item")):  # a scalar of NumPy or one of its kin
        inner = value.item()
        if type(inner) is not type(value):
            return read(inner)
    if isinstance(value, Real):  # such as a long double, which is no float
        return _float(float(value))
    return Fault("type", _returned(value))


def _float(value: float) -> Answer:
    if math.isnan(value):
        return Fault("nan", "returned NaN; where no value exists it should return None")
    if math.isinf(value):
        return Nothing(str(value), unlimited=value > 0)
    return number(whole(Fraction(value)), rounded=True)


def _decimal(value: Decimal) -> Answer:
    if not value.is_finite():
        return _float(math.nan if value.is_nan() else float(value))
    if value.adjusted() > len(str(LARGEST)):
        return _large(value.adjusted() + 1)
    near = DIGITS.plus(value) if value.adjusted() > -len(str(LARGEST)) else Decimal(0)
    return number(whole(Fraction(near)), rounded=True)


def number(value: Exact, *, rounded: bool = False) -> Answer:
    """Return a number as an answer, unless it is so large that no quantity is."""
    size = abs(Fraction(value))
    if size < LARGEST:
        return Number(value, rounded)
    bits = size.numerator.bit_length() - size.denominator.bit_length()
    return _large(int(bits * math.log10(2)) + 1)


def _large(digits: int) -> Fault:
    return Fault("type", f"returned a number of about {digits:,} digits, more than any quantity has")


def _returned(value: Any) -> str:
    if isinstance(value, str):
        return f"returned the text {shortened(repr(value))} instead of a number"
    if isinstance(value, complex):
        return f"returned the complex number {value} instead of a real one"
    kind = type(value).__name__
    article = "an" if kind[0].lower() in "aeiou" else "a"
    return f"returned {article} {kind} instead of a number: {shortened(_shown(value))}"


def _shown(value: Any) -> str:
    try:
        return ADDRESS.sub("", repr(value))
    except Exception as error:  # noqa: BLE001  the code of others
        return f"one whose repr raises {type(error).__name__}"


def shortened(text: str) -> str:
    """Return a text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}..."
