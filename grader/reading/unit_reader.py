"""A unit as people write it: a product of powers. `*`, `/`, `per` and side by side bind equally, from the left.

What follows `per` side by side stays below: `$ per GPU hour`. A hyphen binds closest: `$/GPU-hour`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from grader.reading import unit_names
from grader.reading.text import Unreadable
from spec.units import NO_DIMENSION, TABLE, Dimension, UnknownUnit, unit

PLURAL = frozenset({"sequence", "GPU", "day", "step", "job", *unit_names.COUNTED}) | {
    prefix + name for prefix in ("", "k", "M", "G", "T") for name in ("token", "request")
}  # fmt: skip
TIME = TABLE["s"].dimension.index(1)
HIGHEST_POWER = 9
DEEPEST = 5
ALTERNATIVES = frozenset({"or", "and", "to", "oder", "ou", "bis", "vs"})
PREFIXES: Mapping[str, str] = {**unit_names.MULTIPLES, "k": "k", "K": "k", "M": "M"}
THOUSANDS: Mapping[str, str] = {
    "1": "", "1000": "k", "1,000": "k", "1e3": "k", "1000000": "M", "1,000,000": "M", "1e6": "M",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """A unit that was read: its size in base units, its dimension and how the echo prints it.

    Attributes:
        factor: base units in one of it.
        dimension: exponents of the base dimensions.
        powers: the names it is printed with.
        typed: the names as they were typed.
        foreign: the first name that belongs to another field, if any: then the dimension is wrong, whatever it says.
        given: whether any unit was typed.
    """

    factor: Fraction
    dimension: Dimension
    powers: tuple[tuple[str, int], ...] = ()
    typed: tuple[str, ...] = ()
    foreign: str = ""
    given: bool = True

    def name(self, *, plural: bool = False) -> str:
        """Print it: `tokens/s`, `1/s`; empty for a plain number."""
        over = [_power(name, power) for name, power in self.powers if power > 0]
        under = [_power(name, -power) for name, power in self.powers if power < 0]
        if plural and over and over[0] in PLURAL:
            over[0] += "s"
        return "/".join(["*".join(over) or "1", *under]) if self.powers else ""


NO_UNIT = ReadUnit(Fraction(1), NO_DIMENSION, given=False)


def _power(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"


def asked_unit(name: str) -> ReadUnit:
    """The unit of a record, in the specification's spelling or, failing that, in any spelling that is read.

    Raises:
        ValueError: it is no unit.
    """
    if name in {"", "1"}:
        return NO_UNIT
    try:
        of = unit(name)
    except (UnknownUnit, ValueError):
        return _of_record(name)
    powers: dict[str, int] = {}
    for i, side in enumerate(name.split("/")):
        for factor in side.split("*"):
            base, _, exponent = factor.strip().partition("^")
            if base not in {"1", ""}:
                powers[base] = powers.get(base, 0) + int(exponent or 1) * (-1 if i else 1)
    return ReadUnit(of.factor, of.dimension, tuple(powers.items()))


def _of_record(name: str) -> ReadUnit:
    try:
        return read_unit(name, "", NO_DIMENSION, 0)
    except Unreadable as complaint:
        raise ValueError(f"the record asks for no unit: {name!r} ({complaint.why})") from None


def read_unit(text: str, kilobyte: str, asked: Dimension, at: int) -> ReadUnit:
    """Read what stands after a number, from position `at` on, where `asked` is the dimension of the question.

    Raises:
        Unreadable: it is no unit.
    """
    try:
        return _read_unit(text.rstrip(". ") or text, kilobyte, asked)
    except Unreadable as complaint:
        raise complaint.moved(at) from None


@lru_cache(maxsize=1024)
def _read_unit(text: str, kilobyte: str, asked: Dimension) -> ReadUnit:
    reader = _Reader(text, kilobyte, asked)
    read = reader.whole()
    if read.dimension == asked or read.foreign:
        return read
    if reader.plural and reader.with_rate() == asked:
        operations = reader.plural[:-1]
        about = {"text": reader.plural, "first": operations, "second": f"{operations}/s"}
        raise Unreadable("ambiguous-unit", text.find(reader.plural), about)
    if reader.beside and _Reader(text, kilobyte, asked, beside_below=True).whole().dimension == asked:
        raise Unreadable("ambiguous-unit-product", 0, {"text": text.strip(), "reading": read.name()})
    return read


class _Token(NamedTuple):
    kind: str
    word: str
    at: int


_TOKEN = re.compile(
    r"\s*(?:(?P<name>US\$|[kM]?\$|per\s+cent\b|[A-Za-z\u0370-\u03ff\u00b0]+|[%\u2030\u20ac\u00a3\u00a5\u00a2])"
    r"|(?P<number>\d+(?:[.,]\d+)*(?:[eE]\d+)?)|(?P<operator>\*\*|[-+*/^()]))"
)
_EXPONENT = re.compile(r"\((?P<bracketed>[+-]?\d)\)|(?P<plain>[+-]?\d)(?![\d.])")


class _Reader:
    """One pass over the tokens of a unit, multiplying up factor, dimension and printed powers."""

    def __init__(self, text: str, kilobyte: str, asked: Dimension, *, beside_below: bool = False) -> None:
        self.text, self.kilobyte, self.asked, self.beside_below = text, kilobyte, asked, beside_below
        self.tokens = self._split()
        self.place = 0
        self.factor = Fraction(1)
        self.exponents = [0] * len(NO_DIMENSION)
        self.powers: dict[str, int] = {}
        self.typed: list[str] = []
        self.foreign = ""
        self.plural, self.plural_power = "", 0  # a plural of operations that may be meant as a rate
        self.beside = False  # whether a name stands beside one that is divided by

    def _split(self) -> list[_Token]:
        tokens: list[_Token] = []
        at, end = 0, len(self.text.rstrip())
        while at < end:
            match = _TOKEN.match(self.text, at)
            if match is None:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                raise Unreadable(_STRAY.get(self.text[at], "character"), at, {"text": self.text[at]})
            kind = match.lastgroup or ""
            tokens.append(_Token(kind, match.group(kind), match.start(kind)))
            at = match.end()
        return [*tokens, _Token("end", "", end)]

    @property
    def next(self) -> _Token:
        """The token that is looked at."""
        return self.tokens[self.place]

    def take(self) -> _Token:
        """Move on by one token and return the one passed."""
        self.place += 1
        return self.tokens[self.place - 1]

    def whole(self) -> ReadUnit:
        """Read everything."""
        self.product("", 1, 0)
        if any(abs(power) > HIGHEST_POWER for power in self.powers.values()):
            raise Unreadable("unit-power", 0, {"text": self.text.strip()})
        powers = tuple((name, power) for name, power in self.powers.items() if power)
        return ReadUnit(self.factor, tuple(self.exponents), powers, tuple(self.typed), self.foreign)

    def with_rate(self) -> Dimension:
        """The dimension if the plural of operations is meant per second."""
        return tuple(e - self.plural_power * (i == TIME) for i, e in enumerate(self.exponents))

    def product(self, closing: str, sign: int, depth: int) -> None:
        """Factors with times, division or nothing between them, up to the closing bracket or the end."""
        if depth > DEEPEST:
            raise Unreadable("too-deep", self.next.at, {"limit": str(DEEPEST)})
        if self.next.word == "1" and self.tokens[self.place + 1].word in {"/", "per"}:
            self.take()
        elif self.next.kind == "end" or self.next.word == closing != "":
            raise Unreadable("dangling-unit", self.next.at)
        below = per = False
        while not (self.next.kind == "end" or self.next.word == closing != ""):
            word = self.next.word.casefold()
            divided = word in {"/", "per"}
            if divided or word == "*":
                self.take()
                below, per = divided, word == "per"
            elif below:
                self.beside = self.beside or not per
                below = per or self.beside_below
            self.one(-sign if below else sign, depth, divided=divided)

    def one(self, sign: int, depth: int, *, divided: bool) -> None:
        """One factor: a name or a bracket, raised to a power; after a division, also `1M tokens`."""
        token = self.take()
        if token.word == "(":
            self.product(")", sign, depth + 1)
            if self.take().kind == "end":
                raise Unreadable("missing-bracket", token.at)
            if self.next.word in {"^", "**"}:
                raise Unreadable("unit-power", self.next.at, {"text": "^"})
        elif token.kind == "name":
            self.name(token, sign, divided=divided)
            while self._hyphen():
                self.take()
                self.name(self.take(), sign, divided=False)
        elif token.kind == "number" and divided:
            self.multiple(token, sign)
        else:
            raise self.complaint(token)

    def _hyphen(self) -> bool:
        """Whether a hyphen stands inside a compound such as `GPU-hour`."""
        at = self.next.at
        return self.next.word == "-" and self.text[at - 1].isalpha() and self.text[at + 1 : at + 2].isalpha()

    def name(self, token: _Token, sign: int, *, divided: bool) -> None:
        """A name with its power."""
        prefix = PREFIXES.get(token.word.casefold()) or PREFIXES.get(token.word)
        if divided and prefix and self.next.kind == "name":
            self.counted(prefix, token.at, sign)
            return
        named = self.lookup(token.word, token.at)
        self.multiply(token.word, named, sign * self.exponent())

    def multiply(self, word: str, named: unit_names.Named | None, power: int) -> None:
        """Multiply by a power of what a name stands for."""
        self.typed.append(word)
        if named is None:
            self.foreign = self.foreign or word
            self.powers[word] = self.powers.get(word, 0) + power
            return
        if unit_names.may_be_rate(word):
            self.plural, self.plural_power = word, self.plural_power + power
        self.factor *= named.factor**power
        self.exponents = [a + power * b for a, b in zip(self.exponents, named.dimension, strict=True)]
        for printed, of in named.powers:
            self.powers[printed] = self.powers.get(printed, 0) + of * power

    def exponent(self) -> int:
        """The power after a name: `^-1`, `^(2)`, otherwise 1."""
        if self.next.word not in {"^", "**"}:
            return 1
        at = self.take().at
        match = _EXPONENT.match("".join(token.word for token in self.tokens[self.place : self.place + 4]))
        power = int(match.group("bracketed") or match.group("plain")) if match else 0
        if match is None or not 0 < abs(power) <= HIGHEST_POWER:
            raise Unreadable("unit-power", at, {"text": "^"})
        for _ in match.group():  # each of bracket, sign and digit is one token
            self.take()
        return power

    def multiple(self, number: _Token, sign: int) -> None:
        """`per 1000 tokens`, `/1M tokens`: a power of ten of something counted."""
        prefix = THOUSANDS.get(number.word)
        if prefix is None or self.next.kind != "name":
            raise Unreadable("number-in-unit", number.at, {"text": number.word})
        if not prefix and self.tokens[self.place + 1].kind == "name":
            prefix = PREFIXES.get(self.next.word.casefold()) or PREFIXES.get(self.next.word) or ""
            if prefix:
                self.take()
        self.counted(prefix, number.at, sign)

    def counted(self, prefix: str, at: int, sign: int) -> None:
        """A name with a prefix that was typed as a number or a word."""
        token = self.take()
        named = self.lookup(token.word, token.at)
        name = prefix + named.powers[0][0] if named else token.word
        if name not in unit_names.symbols():
            raise Unreadable("number-in-unit", at, {"text": self.text[at : token.at].strip()})
        self.multiply(name, unit_names.symbols()[name], sign * self.exponent())

    def lookup(self, word: str, at: int) -> unit_names.Named | None:
        """What a name stands for; None for a unit of another field."""
        if word in unit_names.KILOBYTES:
            if not self.kilobyte:
                raise Unreadable("kilobyte", at, {"text": word})
            word = ("k" if self.kilobyte == "si" else "Ki") + word[1:]
        if word.casefold().startswith("per") and word[3:4].isspace():
            word = "%"
        named = unit_names.symbols().get(word) or unit_names.words().get(word.casefold())
        if named is not None:
            return named
        if word == "m" and self.asked[TIME]:
            raise Unreadable("ambiguous-unit", at, {"text": "m", "first": "min", "second": "ms"})
        if word in unit_names.FOREIGN or word.casefold() in unit_names.FOREIGN_WORDS:
            return None
        raise self.unknown(word, at)

    def unknown(self, word: str, at: int) -> Unreadable:
        """Complain about a name that is no unit, with what may have been meant."""
        if word.casefold() in ALTERNATIVES:
            return Unreadable("two-answers", at, {"text": word})
        if word in {"e", "E"} and at == 0:
            return Unreadable("incomplete-exponent", at)
        about = {"text": word, "meant": ", ".join(unit_names.nearest(word, self.asked))}
        if word in unit_names.LONE_PREFIXES or word.casefold() in unit_names.MULTIPLES:
            return Unreadable("lone-prefix", at, about)
        return Unreadable("unknown-unit", at, about)

    def complaint(self, token: _Token) -> Unreadable:
        """Say what is wrong with a token where a name was expected."""
        if token.kind == "end":
            return Unreadable("dangling-unit", token.at)
        touching = self.text[token.at - 1 : token.at].isalpha()
        after = self.text[token.at + 1 : token.at + 2]
        if touching and (token.kind == "number" or (token.word == "-" and after.isdigit())):
            return Unreadable("unit-power", token.at, {"text": token.word})
        if token.kind == "number":
            code = "number-in-unit" if self.text[: token.at].rstrip().endswith(("/", "(", "*")) else "two-numbers"
            return Unreadable(code, token.at, {"text": token.word})
        codes = {"+": "sum", "-": "range", ")": "unmatched-bracket"}
        return Unreadable(codes.get(token.word, "dangling-unit"), token.at, {"text": token.word})


_STRAY: Mapping[str, str] = {
    **dict.fromkeys("=", "equation"),
    **dict.fromkeys("<>", "comparison"),
    **dict.fromkeys(",;", "list"),
    "?": "placeholder",
    "!": "factorial-of-unit",
}
