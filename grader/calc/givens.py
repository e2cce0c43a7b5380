"""Reading `NAME=VALUE`: which quantity is meant and which exact number, in the unit of that quantity."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from grader.exercise import exact
from grader.feedback import sentence
from grader.judging import Finding
from grader.reading.quantity import read_quantity
from grader.reading.text import Unreadable, plain
from grader.reading.unit_reader import ReadUnit
from spec.domains import FLAG
from spec.quantities import Quantity, quantities
from spec.solving import Exact, whole
from spec.units import BASES, dimension_words

LONGEST = 200  # characters of a value
LARGEST = 10**30  # far beyond any machine, and small enough that every product stays quick
SUGGESTIONS = 3
NEAR = 0.75  # so alike that names which are less so are not worth mentioning
WORDS = {"yes": 1, "true": 1, "on": 1, "no": 0, "false": 0, "off": 0}
COUNTED = tuple(BASES.index(base) for base in ("token", "sequence", "request", "GPU"))


class Unusable(ValueError):
    """What was given cannot be calculated with; `str()` is one clear sentence."""


class UnknownQuantity(Unusable):
    """No quantity has this name; `near` are similar ones."""

    def __init__(self, name: str, near: tuple[str, ...]) -> None:
        super().__init__(name, near)
        self.name, self.near = name, near

    def __str__(self) -> str:
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else "`grade calc --quantities` lists them."
        return f"There is no quantity {self.name!r}; {hint}"


class UnreadableValue(Unusable):
    """A value that is no number; `why` says what is in the way."""

    def __init__(self, name: str, text: str, why: str) -> None:
        super().__init__(name, text, why)
        self.name, self.text, self.why = name, text, why

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= LONGEST else f"{self.text[:20]}..."
        return f"{self.name}={shown} cannot be read: {self.why}"


class WrongDimension(Unusable):
    """A value in a unit of another kind; `instead` names quantities that take it."""

    def __init__(self, quantity: Quantity, text: str, measures: str, instead: tuple[str, ...]) -> None:
        super().__init__(quantity, text, measures, instead)
        self.quantity, self.text, self.measures, self.instead = quantity, text, measures, instead

    def __str__(self) -> str:
        unit = self.quantity.unit.name
        wanted = "a plain number" if unit == "1" else f"measured in {unit}"
        if unit == "parameter" and self.text.endswith("B"):
            return f"parameters are counted, and {self.text} is {self.measures}; 7 billion are written 7e9."
        hint = f"; a share is given as {' or '.join(f'{n}={self.text}' for n in self.instead)}" if self.instead else ""
        return f"{self.quantity.name} is {wanted}, and {self.text} is {self.measures}{hint}."


class Impossible(Unusable):
    """A value outside the domain of its quantity."""

    def __init__(self, quantity: Quantity, value: Exact) -> None:
        super().__init__(quantity, value)
        self.quantity, self.value = quantity, value

    def __str__(self) -> str:
        return f"{self.quantity.name}={exact(self.value)} is not possible: it must be {self.quantity.domain}."


def named(name: str) -> Quantity:
    """Find a quantity by its name; case does not matter, and `-` is as good as `_`.

    Raises:
        UnknownQuantity: there is none.
    """
    known = quantities()
    plainly = name.strip().lower().replace("-", "_")
    if plainly in known:
        return known[plainly]
    raise UnknownQuantity(name, _alike(plainly, known))


def _alike(name: str, known: Iterable[str]) -> tuple[str, ...]:
    from difflib import get_close_matches

    known = list(known)
    longer = (other for other in known if name and other.startswith(name))
    near = get_close_matches(name, known, 3, NEAR) or get_close_matches(name, known, 3)
    return tuple(dict.fromkeys([*longer, *near]))[:SUGGESTIONS]


def read_given(quantity: Quantity, text: str) -> Exact:
    """Read a value in the unit of its quantity: `14GB`, `100/min`, `10%`, `4,096`, `yes`.

    A bare number is in the unit of the quantity. What is counted may be left out: `100/min` for requests per time.

    Raises:
        Unusable: it is no number, measures something else, or lies outside the domain.
    """
    word = text.strip().lower()
    is_word = quantity.domain == FLAG and word in WORDS
    number: Exact = WORDS[word] if is_word else _measured(quantity, text)
    if number not in quantity.domain:
        raise Impossible(quantity, number)
    if number != 0 and not Fraction(1, LARGEST) <= abs(Fraction(number)) <= LARGEST:
        raise UnreadableValue(quantity.name, text, "numbers from 10^-30 to 10^30 can be calculated with.")
    return number


def _measured(quantity: Quantity, text: str) -> Exact:
    try:
        read = read_quantity(plain(text.strip(), LONGEST).text, "en", "", quantity.unit.dimension)
    except Unreadable as complaint:
        why = sentence(Finding(complaint.why, complaint.about, complaint.at))
        raise UnreadableValue(quantity.name, text, why) from None
    if not read.unit.given:
        return whole(read.number)
    if read.unit.foreign or not measures(read.unit, quantity):
        what = "in a unit of another field" if read.unit.foreign else unit_words(read.unit)
        raise WrongDimension(quantity, text, what, _shares(quantity) if "%" in read.unit.typed else ())
    return whole(Fraction(read.number) * read.unit.factor / quantity.unit.factor)


def measures(unit: ReadUnit, quantity: Quantity) -> bool:
    """Compare dimensions; counts may be missing altogether, but not differ."""
    wanted = quantity.unit.dimension
    left_out = all(unit.dimension[i] == 0 for i in COUNTED)
    return all(
        a == b or (left_out and i in COUNTED) for i, (a, b) in enumerate(zip(unit.dimension, wanted, strict=True))
    )


def unit_words(unit: ReadUnit) -> str:
    """Say what a unit measures."""
    return "a plain number" if not any(unit.dimension) else f"an amount of {dimension_words(unit.dimension)}"


def _shares(quantity: Quantity) -> tuple[str, ...]:
    stem = quantity.name.partition("_")[0].removesuffix("s")
    return tuple(name for name in quantities() if name.startswith(f"{stem}_share"))
