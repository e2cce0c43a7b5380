"""Classical test statistics, exact as far as they are rational."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

FEWEST = 3  # students for a correlation
PRECISION = 10**4  # a correlation is a root, and is kept to so many parts


def mean(values: Sequence[Fraction]) -> Fraction | None:
    """Return the mean; None of nothing."""
    return sum(values, Fraction(0)) / len(values) if values else None


def correlation(pairs: Sequence[tuple[Fraction, Fraction]]) -> Fraction | None:
    """Return Pearson's correlation, towards zero to four decimals; None where there are too few pairs or no spread."""
    if len(pairs) < FEWEST:
        return None
    count = len(pairs)
    x, y = (sum((pair[i] for pair in pairs), Fraction(0)) / count for i in (0, 1))
    across = sum(((a - x) * (b - y) for a, b in pairs), Fraction(0))
    spread = sum(((a - x) ** 2 for a, _ in pairs), Fraction(0)) * sum(((b - y) ** 2 for _, b in pairs), Fraction(0))
    if not spread:
        return None
    square = across * across / spread
    root = isqrt(square.numerator * PRECISION**2 // square.denominator)
    return Fraction(root if across >= 0 else -root, PRECISION)


def discrimination(scores: dict[str, tuple[Fraction, int]], totals: dict[str, tuple[Fraction, int]]) -> Fraction | None:
    """Return the corrected correlation of an item with the total: with the mean of all other items of each student.

    Args:
        scores: by student, the sum of the scores on the item and how many there are.
        totals: the same over all items, this one included.
    """
    pairs = []
    for student, (score, count) in scores.items():
        total, of = totals[student]
        if of > count:
            pairs.append((score / count, (total - score) / (of - count)))
    return correlation(pairs)
