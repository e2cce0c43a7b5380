"""The names that people give to the units of the closed table, the units of other fields, and near misses.

Symbols are case-strict, because case carries meaning (`b` is bit, `B` is byte, `ms` is not `Ms`); whole words are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from spec.units import IEC, NO_DIMENSION, SI, TABLE, Dimension, unit


class Named(NamedTuple):
    """What a name stands for: so many base units of a dimension, and how the echo prints it, as powers of names."""

    factor: Fraction
    dimension: Dimension
    powers: tuple[tuple[str, int], ...]


Rows = Iterator[tuple[str, Named]]

ONE = {"": 1}
LARGE = {**SI, "E": 10**18}
BINARY = {**IEC, "Ei": 2**60}
DATA = ONE | LARGE | BINARY
PREFIX_WORDS = {"kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E", "kibi": "Ki"} | {
    "mebi": "Mi", "gibi": "Gi", "tebi": "Ti", "pebi": "Pi", "exbi": "Ei",
}  # fmt: skip
WORD_LENGTH = 3

KILOBYTES = frozenset({"KB", "KByte", "KBytes", "Kbyte", "Kbytes", "KBps"})
"""The sloppy kilobyte, which an exercise declares as 1000 or 1024 bytes. No other unit is read so."""

LONE_PREFIXES = frozenset(LARGE) | frozenset(BINARY) | frozenset(PREFIX_WORDS) | {"K"}
MULTIPLES: Mapping[str, str] = {"thousand": "k", "million": "M", "billion": "G"}

# Units of other fields: known, and never what is asked for here.
_FOREIGN_SYMBOLS = "m g V A W J N Pa Wh Ah eV cal mol lm lx Bq Gy Sv Wb F Ohm rad sr bar atm L l dB"
_FOREIGN_WORDS = (
    "metre meter gram gramme volt ampere amp watt joule newton pascal kelvin celsius fahrenheit litre liter radian "
    "degree mile yard foot feet inch furlong pound ounce tonne acre hectare gallon horsepower ohm farad henry tesla "
    "gauss weber lumen lux mole candela becquerel gray sievert calorie electronvolt bel decibel baud siemens parsec "
    "knot euro eur gbp yen jpy mph kph psi barn gilbert"
)
FOREIGN = frozenset(prefix + name for prefix in ("", *"pnumckMGT", "\u03bc") for name in _FOREIGN_SYMBOLS.split()) | {
    "\u20ac",
    "\u00a3",
    "\u00a5",
    "\u03a9",
    "\u00b0",
    "\u00b0C",
    "\u00b0F",
    "\u2030",
    "cd",
}
FOREIGN_WORDS = frozenset(
    prefix + name + plural
    for prefix in ("", "kilo", "mega", "giga", "milli", "micro", "nano", "centi")
    for name in _FOREIGN_WORDS.split()
    for plural in ("", "s", "es")
)

# Spellings of other languages and of haste, and what was probably meant.
MEANT: Mapping[str, tuple[str, ...]] = {
    "Go": ("GB",), "Mo": ("MB",), "Ko": ("kB", "KiB"), "ko": ("kB", "KiB"), "To": ("TB",), "Gio": ("GiB",),
    "Mio": ("MiB",), "Kio": ("KiB",), "o": ("B",), "octet": ("B",), "octets": ("B",), "kib": ("KiB", "Kibit"),
    "t": ("token",), "seg": ("s",), "Sek": ("s",), "Sekunden": ("s",), "secondes": ("s",), "segundos": ("s",),
    "Stunden": ("h",), "heures": ("h",), "jetons": ("token",), "Anfragen": ("request",), "GBs": ("GB/s", "GB"),
    "MBs": ("MB/s", "MB"), "TBs": ("TB/s", "TB"), "TOPS": ("TFLOPS",), "words": ("token",), "users": ("sequence",),
    "week": ("day", "h"), "month": ("day", "h"), "year": ("day", "h"), "m": ("min", "ms"), "S": ("s",), "H": ("h",),
}  # fmt: skip


@cache
def symbols() -> Mapping[str, Named]:
    """Every case-strict symbol and abbreviation, with what it stands for."""
    rows: list[tuple[str, Named]] = [
        *_prefixed("B", DATA, ("B", "byte", "bytes", "Byte", "Bytes")),
        *_prefixed("bit", DATA, ("bit", "bits", "b")),
        *_prefixed("s", {"k": 10**3, "M": 10**6, "G": 10**9}, ("s",)),
        *((p + s, _of(p + "s", p + "s")) for p in ("", "m", "u", "n") for s in _SECONDS),
        *((f"\u03bc{s}", _of("us", "us")) for s in ("s", "sec", "secs")),
        *_same("min", ("min", "mins", "minute", "minutes")),
        *_same("h", ("h", "hr", "hrs", "hour", "hours")),
        *_same("day", ("d", "day", "days")),
        *_prefixed("token", ONE | {p: SI[p] for p in "kMGT"}, ("token", "tokens", "tok", "toks")),
        *_prefixed("request", ONE | {p: SI[p] for p in "kM"}, _REQUESTS),
        *_same("sequence", ("sequence", "sequences", "seq", "seqs", "slot", "slots")),
        *_prefixed("FLOP", ONE | LARGE, ("FLOP", "Flop", "flop", "FLOPs", "Flops", "flops")),
        *_same("FLOP", ("op", "ops", "operation", "operations")),
        *_prefixed("FLOPS", ONE | LARGE, ("FLOPS",)),
        *_same("GPU", ("GPU", "GPUs", "gpu", "gpus")),
        *_prefixed("$", {"": 1, "k": 10**3, "M": 10**6}, ("$",)),
        *_same("$", ("US$", "USD", "dollar", "dollars")),
        *((name, Named(Fraction(1, 100), TABLE["$"].dimension, (("\u00a2", 1),))) for name in _CENTS),
        *_same("%", ("%", "percent", "pct")),
        *((name + s, _of(name, name)) for name in sorted(COUNTED) for s in ("", "s")),
        *_same("parameter", ("param", "params")),
        *_same("block", ("page", "pages")),
        *((name + s, Named(Fraction(1), NO_DIMENSION, ((name, 1),))) for name in ("step", "job") for s in ("", "s")),
        ("times", Named(Fraction(1), NO_DIMENSION, (("times", 1),))),
        *_rates(),
    ]  # fmt: skip
    return dict(rows)


_SECONDS = ("s", "sec", "secs", "second", "seconds")
_REQUESTS = ("request", "requests", "req", "reqs", "query", "queries")
_CENTS = ("\u00a2", "cent", "cents")
_RATES = (
    ("tps", "token", "s"),
    ("tpm", "token", "min"),
    ("rps", "request", "s"),
    ("qps", "request", "s"),
    ("rpm", "request", "min"),
    ("qpm", "request", "min"),
)
COUNTED = frozenset({"parameter", "layer", "head", "expert", "element", "score", "block"})
"""Parts of a model: plain numbers with a name."""


@cache
def words() -> Mapping[str, Named]:
    """Whole words, which are read in any case."""
    table = {name.casefold(): of for name, of in symbols().items() if name.isalpha() and _is_word(name, of)}
    for word, prefix in PREFIX_WORDS.items():
        for base in ("byte", "bit") if prefix in BINARY else ("byte", "bit", "flop"):
            of = symbols()[prefix + base]
            table |= {word + base: of, f"{word}{base}s": of}
    for word, prefix in (("milli", "m"), ("micro", "u"), ("nano", "n")):
        table |= {f"{word}second": symbols()[prefix + "s"], f"{word}seconds": symbols()[prefix + "s"]}
    return table


def _is_word(name: str, of: Named) -> bool:
    """Whether a name is long enough, and free of prefixes and of operations, to be read in any case."""
    plain = of.factor in {Fraction(1), Fraction(1, 8), Fraction(60), Fraction(3600), Fraction(86400), Fraction(1, 100)}
    return plain and len(name) >= WORD_LENGTH and "flop" not in name.casefold() and not name.endswith("ps")


def _of(name: str, printed: str, scale: int | Fraction = 1) -> Named:
    base = unit(name)
    return Named(base.factor * scale, base.dimension, ((printed, 1),))


def _same(name: str, spellings: Iterable[str]) -> Rows:
    """Spellings of one unit."""
    return ((spelling, _of(name, name)) for spelling in spellings)


def _prefixed(base: str, prefixes: Mapping[str, int], spellings: Iterable[str]) -> Rows:
    """Spellings of one unit, each with each prefix."""
    for prefix, scale in prefixes.items():
        of = _of(base, prefix + base, scale)
        yield from ((prefix + spelling, of) for spelling in spellings)


def _rates() -> Rows:
    """Abbreviations of a rate."""
    for prefix, scale in DATA.items():
        for spelling, base in (("bps", "bit"), ("Bps", "B")):
            rate = unit(f"{base}/s")
            yield prefix + spelling, Named(rate.factor * scale, rate.dimension, ((prefix + base, 1), ("s", -1)))
    for spelling, counted, per in _RATES:
        rate = unit(f"{counted}/{per}")
        named = Named(rate.factor, rate.dimension, ((counted, 1), (per, -1)))
        yield from ((name, named) for name in (spelling, spelling.upper()))
    rate = unit("1/s")
    for prefix, scale in (("", 1), *SI.items()):
        yield f"{prefix}Hz", Named(rate.factor * scale, rate.dimension, ((f"{prefix}Hz", 1),))


def may_be_rate(name: str) -> bool:
    """Whether a name is a plural of operations to some and operations per second to others: `TFLOPs`."""
    return name.casefold().endswith("flops") and not name.endswith("FLOPS")


def nearest(word: str, asked: Dimension) -> tuple[str, ...]:
    """Up to three names that may have been meant, those that measure a part of what is asked for first."""
    meant = MEANT.get(word) or MEANT.get(word.removesuffix("s"))
    if meant:
        return meant
    table = {name: of for name, of in symbols().items() if of.powers == ((name, 1),)}
    if word in LONE_PREFIXES:
        prefixes = {"K": ("k", "Ki"), **{name: (prefix,) for name, prefix in PREFIX_WORDS.items()}}.get(word, (word,))
        bases = ("B", "bit", "token", "FLOP", "FLOPS", "s")
        found = [p + base for base in bases for p in prefixes if p + base in table]
    else:
        found = [of.powers[0][0] for name, of in symbols().items() if name.casefold() == word.casefold()]
    if not found:
        from difflib import get_close_matches

        found = get_close_matches(word, [*symbols(), *words()], n=6, cutoff=0.7)
    dimensions = {name: (symbols().get(name) or words()[name]).dimension for name in found}
    near = [name for name in found if any(a and b for a, b in zip(dimensions[name], asked, strict=True))]
    return tuple(dict.fromkeys([*near, *found]))[:3]
