"""The closed unit table and the unit algebra.

Every unit here is exact: a factor in base units and the exponents of eight base dimensions.
GB is 10^9 bytes and GiB is 2^30 bytes; they never convert silently, because both carry their factor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

BASES = ("B", "s", "token", "sequence", "request", "FLOP", "GPU", "$")
DIMENSION_NAMES = ("data", "time", "tokens", "sequences", "requests", "operations", "GPUs", "money")
Dimension = tuple[int, ...]
NO_DIMENSION: Dimension = (0,) * len(BASES)
EXPONENT = r"(\^[1-9][0-9]?)?"  # two digits: a factor raised to more would take for ever


class UnknownUnit(ValueError):
    """A unit name that the table does not hold; `name` is the name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"unknown unit {self.name!r}"


class UnitMismatch(ValueError):
    """Two units of different dimension or scale met in a sum or a comparison."""

    def __init__(self, left: Unit, right: Unit) -> None:
        super().__init__(left, right)
        self.left, self.right = left, right

    def __str__(self) -> str:
        if self.left.same_dimension(self.right):
            return f"cannot add {self.right.name} to {self.left.name}"
        return f"cannot add {self.right.base_name()} to {self.left.base_name()}"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measure: `factor` base units of the given `dimension`, printed as `name`.

    Units multiply, divide and take integer powers. They also add, which checks that both sides
    measure the same thing on the same scale; a plain number in a sum takes the unit of its neighbour.
    """

    name: str
    factor: Fraction
    dimension: Dimension

    def same_dimension(self, other: Unit) -> bool:
        """Say whether both measure the same thing."""
        return self.dimension == other.dimension

    def base_name(self) -> str:
        """Give the dimension in base units: `B/token`, `1/s`, or `1` for a plain number."""
        over = [_power(b, e) for b, e in zip(BASES, self.dimension, strict=True) if e > 0]
        under = [_power(b, -e) for b, e in zip(BASES, self.dimension, strict=True) if e < 0]
        return "/".join(["*".join(over) or "1", *under])

    def __mul__(self, other: Unit | Fraction) -> Unit:
        if not isinstance(other, Unit):
            return self
        dimension = tuple(a + b for a, b in zip(self.dimension, other.dimension, strict=True))
        over, under = _factors(self.name)
        more, less = _factors(other.name)
        return Unit(_product([*over, *more], [*under, *less]), self.factor * other.factor, dimension)

    __rmul__ = __mul__

    def __truediv__(self, other: Unit | Fraction) -> Unit:
        if not isinstance(other, Unit):
            return self
        return self * other**-1

    def __rtruediv__(self, other: Fraction) -> Unit:
        return ONE / self

    def __pow__(self, exponent: int) -> Unit:
        over, under = ([_raised(f, abs(exponent)) for f in factors] for factors in _factors(self.name))
        name = "1" if exponent == 0 else _product(over, under) if exponent > 0 else _product(under, over)
        return Unit(name, self.factor**exponent, tuple(e * exponent for e in self.dimension))

    def __add__(self, other: Unit | Fraction) -> Unit:
        if isinstance(other, Unit) and (self.dimension, self.factor) != (other.dimension, other.factor):
            raise UnitMismatch(self, other)
        return self

    __radd__ = __sub__ = __rsub__ = __add__

    def __neg__(self) -> Unit:
        return self


def _power(name: str, exponent: int) -> str:
    return name if exponent == 1 else f"{name}^{exponent}"


def _factors(name: str) -> tuple[list[str], list[str]]:
    """Split a written unit into what stands over and under its line."""
    over, *under = name.split("/")
    return [] if over == "1" else over.split("*"), [factor for part in under for factor in part.split("*")]


def _product(over: list[str], under: list[str]) -> str:
    return "/".join(["*".join(over) or "1", *under])


def _raised(factor: str, exponent: int) -> str:
    base, _, own = factor.partition("^")
    return _power(base, int(own or 1) * exponent)


def _base(index: int) -> Dimension:
    return tuple(int(i == index) for i in range(len(BASES)))


ONE = Unit("1", Fraction(1), NO_DIMENSION)
SI = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
IEC = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
SMALL = {"m": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}


def _table() -> dict[str, Unit]:
    data, time, token, sequence, request, operation, gpu, money = (_base(i) for i in range(len(BASES)))
    bit, one = Fraction(1, 8), Fraction(1)
    per_second = tuple(a - b for a, b in zip(operation, time, strict=True))
    rows: list[tuple[str, Fraction | int, Dimension]] = [
        ("B", one, data), ("bit", bit, data),
        *((p + "B", Fraction(f), data) for p, f in (SI | IEC).items()),
        *((p + "bit", f * bit, data) for p, f in (SI | IEC).items()),
        ("s", one, time), ("ms", SMALL["m"], time), ("us", SMALL["us"], time), ("ns", SMALL["ns"], time),
        ("min", 60, time), ("h", 3600, time), ("day", 86400, time),
        ("token", one, token), ("ktoken", 10**3, token), ("Mtoken", 10**6, token),
        ("sequence", one, sequence), ("request", one, request),
        ("FLOP", one, operation), *((p + "FLOP", f, operation) for p, f in SI.items()),
        ("FLOPS", one, per_second), *((p + "FLOPS", f, per_second) for p, f in SI.items()),
        ("GPU", one, gpu), ("$", one, money),
        ("%", Fraction(1, 100), NO_DIMENSION),
        # Counts of parts of a model: plain numbers with a name.
        *((name, one, NO_DIMENSION) for name in ("parameter", "layer", "head", "expert", "element", "score", "block")),
    ]  # fmt: skip
    return {name: Unit(name, Fraction(factor), dimension) for name, factor, dimension in rows}


TABLE: dict[str, Unit] = _table()


def unit(name: str) -> Unit:
    """Build a unit from its exact written form: `GB`, `token/s`, `FLOP/s/GPU`, `B/token`, `1/s`, `FLOP/token^2`.

    This reads the specification's own spelling only; what people type is read by `grader.reading`.

    Raises:
        UnknownUnit: a factor is not in the table.
    """
    if name in TABLE:
        return TABLE[name]
    result = ONE
    for factors, sign in zip(_factors(name), (1, -1), strict=True):
        for factor in factors:
            base, _, exponent = factor.partition("^")
            if base not in TABLE or not re.fullmatch(EXPONENT, factor[len(base) :]):
                raise UnknownUnit(factor)
            result *= TABLE[base] ** (int(exponent or 1) * sign)
    return Unit(name, result.factor, result.dimension)


def dimension_words(dimension: Dimension) -> str:
    """Name a dimension in words: `data per token`, `tokens per time`, `a plain number`."""
    words = list(zip(DIMENSION_NAMES, dimension, strict=True))
    over = [w for w, e in words for _ in range(max(e, 0))]
    under = [w.removesuffix("s") if w.endswith("s") and w != "data" else w for w, e in words for _ in range(max(-e, 0))]
    if not over and not under:
        return "a plain number"
    return " per ".join([" times ".join(over) or "one", *under])
