"""A number as somebody published it: its value, and how far its printed digits leave it open.

Numbers come from prose, so the number is looked for in what was pasted: `~523,000 tokens`, `TTFT 1.50s`, `104% MFU`,
`262,144 bytes = 256 KiB per token`. A rate may be published as the time of one token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.calc.givens import LARGEST, LONGEST, UnreadableValue, Unusable, WrongDimension, measures, unit_words
from grader.feedback import sentence
from grader.judging import Finding
from grader.reading.number import figures
from grader.reading.quantity import Quantity as Read
from grader.reading.quantity import read_quantity
from grader.reading.text import Unreadable, plain
from grader.reading.unit_reader import ReadUnit
from spec.quantities import Quantity
from spec.solving import Exact
from spec.units import TABLE, Unit, unit

EXPONENTS = {"k": 3, "m": 6, "b": 9, "t": 12, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
SIZED = re.compile(r"(\d)\s*([KMBT])\b", re.IGNORECASE)  # of parameters: `7B`, `350M`
MACHINES = re.compile(
    r"^(\d+)\s*(?:x\s*|\s)(?:NVIDIA\s+|AMD\s+)?[A-Z]{1,3}\d{1,4}\w*.*$", re.IGNORECASE
)  # `4x H100 80GB`
WORDED = re.compile(r"(\d)\s*(thousand|million|billion|trillion)\b", re.IGNORECASE)
COUNTED_K = re.compile(
    r"(\d)\s*([KM])(?:\s*(?:tokens?|tok|ctx|context))?$", re.IGNORECASE
)  # of tokens: `4K`, `128k tokens`
BARE_PREFIX = re.compile(r"(\d)\s*(Ki|Mi|Gi|Ti|[KMGT])$")
SLOPPY_KILO = re.compile(r"[\d\s]KB")
SLOPPY_BIT = re.compile(r"(?<=[\d\s])([KkMGT]i?)b(?![A-Za-z])")
NEARLY = r"(?:~|\u2248|(?:about|approximately|approx|around|roughly|circa|ca|maybe|some|nearly|almost)\b\.?)\s*"
ABOUT, ABOUT_BEFORE = re.compile(f"(?:{NEARLY})+", re.IGNORECASE), re.compile(f"(?:{NEARLY})$", re.IGNORECASE)
# Never inside another number: the 5 of `13,5`, the exponent of `1e-5`, the end of a range, a margin behind `±`.
START = re.compile(r"(?<![\w.])(?<!\d[eE][-+])(?<!\d[,/±-])[-+]?\.?\d")
WAYS = (  # how people write a unit that the reader of answers does not know
    (re.compile(r"\b(?:t|tok|tokens?)/s(?:ec)?/(?:u|user|stream|req|request|gpu)\b", re.IGNORECASE), "token/s"),
    (re.compile(r"\b(?:tps|t/s)\b"), "token/s"),
    (re.compile(r"\bper\s+(?:user|stream|gpu)\b|/(?:user|stream|gpu)\b", re.IGNORECASE), ""),
    (re.compile(r"\bparams?\b", re.IGNORECASE), "parameters"),
)
PEAK = re.compile(r"\b([kMGTPE]?)FLOPS?\b(?!\s*/|\s+per)", re.IGNORECASE)
LOGGED = re.compile(r"^\s*([KV])\s+size\b\s*[:=]?", re.IGNORECASE)  # a server's log line, one of its two halves
CUTS = re.compile(r"[\s(;=]|(?<=\d)x\b")
BARE = re.compile(r"[-+\d.,_ eE]+")
NO_UNIT = re.compile(r"\s*(?:$|[(;=x]|(?:at|on|in|for|of|max|instead|MFU|MBU|(?:fp|bf|int|nvfp)\d+)\b)", re.IGNORECASE)
EXACT_FIGURES = 3  # a whole number of so many figures is taken as it stands; more of them may be rounded
SURE_FIGURES = 2  # figures that a printed number has at least
LOOSE = Fraction(3, 100)  # the most that `about` leaves open
WHOLE = tuple(TABLE[name].dimension for name in ("sequence", "GPU", "request"))


@dataclass(frozen=True, slots=True)
class Published:
    """A number in the unit of its quantity.

    Attributes:
        value: as read.
        half: the half width of its rounding.
        unit: the unit as printed.
        loose: how far a right value may lie from it: what looks like a whole number may have been rounded.
        convention: the reading of the unit that was needed, if it was not the literal one.
        part: `K` or `V` where a log prints one half of a cache as one GPU sees it.
    """

    value: Fraction
    half: Fraction
    unit: str
    loose: Fraction = Fraction(0)
    convention: str = ""
    part: str = ""


def read_published(quantity: Quantity, text: str) -> tuple[Published, ...]:
    """Read a published number, in every way that people mean it, the literal way first.

    A bare number is in the quantity's unit. `KB` is 1000 or 1024 bytes, `128k` tokens are 128,000 or 131,072.

    Raises:
        Unusable: there is no number, or it measures something else.
    """
    if len(text) > LONGEST:
        raise UnreadableValue(quantity.name, f"{text[:20]}...", f"a number has at most {LONGEST} characters.")
    if not text.strip():
        raise UnreadableValue(quantity.name, text, "there is no number in it.")
    complaint: Unusable | None = None
    elsewhere = -1  # a start whose unit measures something else: the bare number there is not what was meant
    for start, about, part, candidate in _candidates(quantity, text):
        if start != elsewhere:
            try:
                return tuple(replace(reading, part=part) for reading in _all(quantity, candidate, about=about))
            except WrongDimension as error:
                complaint, elsewhere = complaint or error, start
            except Unusable as error:
                complaint = complaint or error
    raise complaint or UnreadableValue(quantity.name, text, "there is no number in it.")


def _candidates(quantity: Quantity, text: str) -> Iterator[tuple[int, bool, str, str]]:
    """Give what may be the number: all of the text, then what starts at each of its digits, shorter and shorter."""
    typed = plain(text.strip(), LONGEST).text
    logged = LOGGED.match(typed)
    part = logged[1].upper() if logged else ""
    typed = _rewritten(quantity, typed[logged.end() :] if logged else typed)
    about = ABOUT.match(typed)
    first = about.end() if about else 0
    yield first, bool(about), part, typed[first:]
    for match in START.finditer(typed):
        start, tail = match.start(), typed[match.start() :]
        near = ABOUT_BEFORE.search(typed[:start]) is not None
        for end in sorted({len(tail), *(cut.start() for cut in CUTS.finditer(tail))} - {0}, reverse=True):
            shorter = tail[:end].rstrip(" .,;:=")
            if not BARE.fullmatch(shorter) or NO_UNIT.match(tail[end:]):
                yield start, near, part, shorter


def _rewritten(quantity: Quantity, text: str) -> str:
    for pattern, instead in WAYS:
        text = pattern.sub(instead, text)
    if quantity.unit.same_dimension(unit("FLOP/s")):
        text = PEAK.sub(lambda m: f"{m[1]}FLOP/s", text)
    text = WORDED.sub(lambda m: f"{m[1]}e{EXPONENTS[m[2].lower()]}", text)
    if quantity.unit == unit("parameter"):
        text = sized(text)
    if quantity.unit.same_dimension(unit("GPU")):
        text = MACHINES.sub(r"\1", text)
    if _is_size(quantity):
        text = BARE_PREFIX.sub(r"\1 \2B", text)
    return text.strip()


def sized(text: str) -> str:
    """Write a number of parameters out: `7B` is 7e9."""
    return SIZED.sub(lambda m: f"{m[1]}e{EXPONENTS[m[2].lower()]}", text)


def _is_size(quantity: Quantity) -> bool:
    return bool(quantity.unit.dimension[0])


def _all(quantity: Quantity, text: str, *, about: bool) -> Iterator[Published]:
    counted = COUNTED_K.search(text) if quantity.unit.same_dimension(unit("token")) else None
    if counted:
        found = _read(quantity, text[: counted.start() + 1], "si", about=about)
        power = EXPONENTS[counted[2].lower()] // 3
        for size, words in ((1000**power, ""), (1024**power, f"{counted[2]} counts {1024**power:,}")):
            yield Published(found.value * size, found.half * size, quantity.unit.name, found.loose * size, words)
        return
    yield _read(quantity, text, "si", about=about)
    if SLOPPY_KILO.search(text):
        yield replace(_read(quantity, text, "binary", about=about), convention="KB counts 1,024 bytes")
    if _is_size(quantity) and SLOPPY_BIT.search(text):
        yield replace(_read(quantity, SLOPPY_BIT.sub(r"\1B", text), "si", about=about), convention="b stands for bytes")


def _read(quantity: Quantity, text: str, kilobyte: str, *, about: bool) -> Published:
    try:
        read = read_quantity(plain(text, LONGEST).text, "en", kilobyte, quantity.unit.dimension)
    except Unreadable as complaint:
        finding = Finding(complaint.why, complaint.about, complaint.at)
        raise UnreadableValue(quantity.name, text, sentence(finding)) from None
    number = Fraction(read.number)
    if number and not Fraction(1, LARGEST) <= abs(number) <= LARGEST:
        raise UnreadableValue(quantity.name, text, "numbers from 10^-30 to 10^30 can be judged.")
    half, loose = half_digit(read.literal, _exact_figures(quantity)), loose_digit(read.literal, quantity)
    if about:
        half = loose = max(half, _about(read.literal, number, quantity))
    if not read.unit.given:
        return Published(number, half, quantity.unit.name, loose)
    if read.unit.foreign:
        raise WrongDimension(quantity, text, unit_words(read.unit), ())
    fitting = _fitting(read.unit, quantity)
    if fitting is not None:
        factor = read.unit.factor / fitting.factor
        return Published(number * factor, half * abs(factor), read.unit.name(), loose * factor)
    return _inverse(quantity, text, read, half, loose)


def _fitting(read: ReadUnit, quantity: Quantity) -> Unit | None:
    if measures(read, quantity):
        return quantity.unit
    return next((unit(name) for name in quantity.also if unit(name).dimension == read.dimension), None)


def _inverse(quantity: Quantity, text: str, read: Read, half: Fraction, loose: Fraction) -> Published:
    """Read the time of a token as a rate, and a rate as the time of a token."""
    wanted = unit("1") / quantity.unit
    named = Quantity(f"{quantity.name}_inverse", "x", wanted.base_name(), quantity.domain, "", "")
    if not wanted.dimension[1] or not read.number or not measures(read.unit, named):
        raise WrongDimension(quantity, text, unit_words(read.unit), ())
    value = quantity.unit.factor**-1 / (read.number * read.unit.factor)
    share = relative(read.number, half)
    words = "a rate is the inverse of the time of one token"
    return Published(value, value * share, read.unit.name(), value * relative(read.number, loose), words)


def _about(literal: str, number: Fraction, quantity: Quantity) -> Fraction:
    """Return how far `about` opens a number: half of its last digit that is no zero, of a five all of it."""
    if not literal or quantity.unit.dimension in WHOLE:
        return Fraction(0)
    typed = figures(literal)
    place = Fraction(10) ** (typed.most - typed.least - typed.decimals)
    five = literal.replace(".", "").partition("e")[0].rstrip("0").endswith("5")
    return min(place * (5 if five else 1) / 2, abs(number) * LOOSE)


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


def _exact_figures(quantity: Quantity) -> int:
    """Peaks of machines are printed as they stand in a table, such as 4500 TFLOP/s."""
    rate = quantity.unit.dimension[1] == -1 and not any(quantity.unit.dimension[2:5])
    return EXACT_FIGURES + 1 if rate else EXACT_FIGURES


def half_digit(literal: str, exact: int = EXACT_FIGURES) -> Fraction:
    """Return half of the last digit that was meant: of `4.59` 0.005, of `523000` 500, of `4096` 1/2.

    A whole number of up to `exact` figures is taken as it stands.
    """
    if not literal:
        return Fraction(0)
    typed = figures(literal)
    rounded_off = 0 if typed.most <= exact or typed.least == typed.most else typed.most - typed.least
    return Fraction(1, 2) * Fraction(10) ** (rounded_off - typed.decimals)


def loose_digit(literal: str, quantity: Quantity) -> Fraction:
    """Return half of the last digit that may have been meant: of `540` MB 5, since two figures are common."""
    if not literal:
        return Fraction(0)
    typed = figures(literal)
    if typed.decimals or quantity.unit.dimension in WHOLE or typed.most < EXACT_FIGURES:
        return half_digit(literal)
    zeros = typed.most - max(typed.least, SURE_FIGURES)
    return max(half_digit(literal), Fraction(10) ** zeros / 2)


def relative(value: Exact, half: Exact) -> Fraction:
    """Return a half width relative to its value; 1 for a zero."""
    return Fraction(half) / abs(Fraction(value)) if value else Fraction(1)
