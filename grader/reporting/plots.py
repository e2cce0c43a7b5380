"""The plots of a report as numbers: where points and bars lie. A template draws them as SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.reporting.report import Table

MOST_BARS = 12
BINS = 10  # of the shares that students reach
WIDTH, HEIGHT = 600, 320  # of the plane of a scatter plot
LABEL, LINE = 120, 14  # what the name of a point takes at most


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a scatter plot, from the upper left corner of its plane; `right`: its name stands on the right."""

    name: str
    x: int
    y: int
    right: bool
    says: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar; `length` in thousandths of the longest."""

    name: str
    value: int
    length: int


def scatter(table: Table) -> list[Point]:
    """Place each row that has a discrimination: difficulty from 0 to 1 rightwards, discrimination from -1 to 1 up."""
    found = []
    across, up = table.header.index("difficulty"), table.header.index("discrimination")
    for row in table.rows:
        name, difficulty, power = str(row[0]), row[across], row[up]
        if isinstance(difficulty, Fraction) and isinstance(power, Fraction):
            says = f"{name}: difficulty {float(difficulty):.2f}, discrimination {float(power):.2f}"
            found.append((name, round(difficulty * WIDTH), round((1 - power) / 2 * HEIGHT), says))
    places = [(x, y) for _, x, y, _ in found]
    return [Point(name, x, y, _room_on_the_right(x, y, places), says) for name, x, y, says in found]


def _room_on_the_right(x: int, y: int, places: Sequence[tuple[int, int]]) -> bool:
    beside = any(0 < other - x < LABEL and abs(at - y) < LINE for other, at in places)
    return not beside and x + LABEL < WIDTH


def slips(table: Table) -> list[Bar]:
    """Return the commonest slips, by the number of answers that they explain."""
    rows = table.rows[:MOST_BARS]
    return _bars([(f"{slip} ({family})" if family else str(slip), int(str(count))) for slip, family, count, *_ in rows])


def reached(table: Table) -> list[Bar]:
    """Return how many students reach which share of the points in the end, in tenths."""
    last = table.header.index("last")
    shares = [share for row in table.rows if isinstance(share := row[last], Fraction)]
    counts = Counter(min(int(share * BINS), BINS - 1) for share in shares)
    step = 100 // BINS
    return _bars([(f"{n * step} to {(n + 1) * step} %", counts[n]) for n in range(BINS)])


def _bars(counted: Sequence[tuple[str, int]]) -> list[Bar]:
    longest = max((count for _, count in counted), default=0) or 1
    return [Bar(name, count, count * 1000 // longest) for name, count in counted]
