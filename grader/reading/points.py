"""Where formulas are compared: small assignments in order of size, and seeded points in general position.

The points depend on the declared domains alone, so the same two formulas are always compared at the same points.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, count, islice

from grader.reading.number import Number, simplest

Point = tuple[Number, ...]

SMALL = 200
GENERIC = 4
VARIED = 30
KINDS = 5
EDGES = 24
_MASK = (1 << 64) - 1


def _stream(seed: int) -> Iterator[int]:
    """A stream of 64-bit integers (SplitMix64): small, and the same on every machine and version."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield mixed ^ (mixed >> 31)


def _signed(domain: str) -> bool:
    return domain in {"real", "integers"}


def _whole(domain: str) -> bool:
    return "integer" in domain


def inside(domain: str, value: Number) -> bool:
    """Whether a domain has a value."""
    if _whole(domain) and value.denominator != 1:
        return False
    return _signed(domain) or value > 0 or ("non" in domain and value == 0)


@lru_cache(maxsize=64)
def _small_values(domain: str) -> tuple[Number, ...]:
    """The values of a domain from small up."""
    if _signed(domain):
        values: list[Number] = [0, 1, -1, 2, -2, 3, -3]
        return tuple(values if _whole(domain) else [*values, Fraction(1, 2), Fraction(-1, 2)])
    start = 0 if "non" in domain else 1
    whole: list[Number] = list(range(start, 9))
    return tuple(whole if _whole(domain) else [*whole[:3], Fraction(1, 2), *whole[3:]])


@lru_cache(maxsize=64)
def small(domains: tuple[str, ...]) -> tuple[Point, ...]:
    """The first assignments in order of size: all smallest, then one step up in each symbol, and so on."""
    return tuple(islice(_growing(domains), SMALL))


def _growing(domains: tuple[str, ...]) -> Iterator[Point]:
    values = [_small_values(domain) for domain in domains]
    longest = sum(len(v) - 1 for v in values)
    for steps in count() if domains else (0,):
        if steps > longest:
            return
        for chosen in combinations_with_replacement(range(len(domains)), steps):
            places = [chosen.count(i) for i in range(len(domains))]
            if all(place < len(v) for place, v in zip(places, values, strict=True)):
                yield tuple(v[place] for place, v in zip(places, values, strict=True))


@lru_cache(maxsize=64)
def generic(domains: tuple[str, ...], seed: int = 1) -> tuple[Point, ...]:
    """A few points of large unrelated integers: two quotients of polynomials that agree here are the same."""
    stream = _stream(seed)
    return tuple(
        tuple(_sign(domain, next(stream)) * (1000 + next(stream) % 1_000_000) for domain in domains)
        for _ in range(GENERIC)
    )


def _sign(domain: str, bits: int) -> int:
    return -1 if _signed(domain) and bits & 1 else 1


@lru_cache(maxsize=64)
def varied(domains: tuple[str, ...], seed: int = 2) -> tuple[Point, ...]:
    """Points of mixed size for steps, minima and powers: small ones, powers of two, unlike magnitudes, fractions."""
    stream = _stream(seed)
    return tuple(
        tuple(_sign(domain, next(stream)) * _varied(domain, index, next(stream)) for domain in domains)
        for index in range(VARIED)
    )


def _varied(domain: str, index: int, bits: int) -> Number:
    kind = index % KINDS
    if kind == 0:
        return 1 + bits % (4 + index)
    if kind == 1:
        return 1 << (bits % (2 + index))
    if kind == 2 or _whole(domain):  # noqa: PLR2004  the third kind
        return 1 + (bits >> 8) % (1 << (2 + bits % 18))
    return simplest(Fraction(1 + bits % 8, 1 + (bits >> 16) % 4) if kind + 1 < KINDS else Fraction(1 + bits % 60, 12))


@lru_cache(maxsize=256)
def edges(domains: tuple[str, ...], constants: tuple[int, ...]) -> tuple[Point, ...]:
    """Points at which a step or a limit at one of these constants shows: half of it, itself, and one more."""
    ones = (1,) * len(domains)
    values = sorted({value for c in constants for value in (c // 2, c, c + 1)})
    every = ((*ones[:place], value, *ones[place + 1 :]) for value in values for place in range(len(domains)))
    return tuple(islice(every, EDGES))


@lru_cache(maxsize=64)
def moderate(domains: tuple[str, ...], seed: int) -> tuple[Point, ...]:
    """Three points of moderate size, for values computed to 60 digits."""
    stream = _stream(seed)
    return tuple(
        tuple(
            _sign(domain, next(stream))
            * simplest(Fraction(2 + next(stream) % 40, 1 if _whole(domain) else 1 + next(stream) % 5))
            for domain in domains
        )
        for _ in range(3)
    )
