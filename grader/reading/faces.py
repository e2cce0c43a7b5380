"""Where a wrong formula is right all the same: one symbol 0 or 1, or two symbols equal.

`12*L*H^2` is right where V = 0, which says that a term was left out better than any number does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.reading import points
from grader.reading.compare import DECIMAL, RATIONAL, Values, differ, pair
from grader.reading.number import Number

SPECIAL = (0, 1)
ELSEWHERE = 16  # small assignments that are tried for agreement off the faces
ON_STEPS = 8  # points of a face for formulas with floors, minima and symbolic powers
WORTH_TRYING = 200  # nodes of both formulas: longer ones are told the counterexample alone
Face = tuple[int, int | None, int]
"""The place of a symbol, and the place of its equal; None: it has the value that follows."""


@dataclass(frozen=True, slots=True)
class Faces:
    """Where two formulas that differ agree: `V = 0`, `K = A`; `only` where they were seen to agree nowhere else."""

    found: tuple[str, ...]
    only: bool


def faces(key: Values, yours: Values) -> Faces:
    """The faces of the domain on which a wrong formula gives what the key gives, and both do not vanish."""
    if len(key.formula.program) + len(yours.formula.program) > WORTH_TRYING or DECIMAL in {key.mode, yours.mode}:
        return Faces((), only=False)
    used = sorted({value.numerator for f in (key, yours) for kind, value in f.formula.program if kind == "symbol"})
    samples = _samples(key, yours)
    found = [face for face in _candidates(used) if all(_agree(key, yours, _onto(face, point)) for point in samples)]
    found = [face for face in found if any(key.at(_onto(face, point), decimal=False) for point in samples)]
    symbols = key.formula.symbols
    return Faces(
        tuple(f"{symbols[place]} = {value if equal is None else symbols[equal]}" for place, equal, value in found),
        only=bool(found)
        and key.mode == yours.mode == RATIONAL  # steps agree here and there, at values too large to be tried
        and not any(_agree(key, yours, point) for point in _off(found, key)),
    )


def _candidates(used: list[int]) -> Iterator[Face]:
    for place in used:
        yield from ((place, None, value) for value in SPECIAL)
        yield from ((place, other, 0) for other in used if other > place)


def _samples(key: Values, yours: Values) -> tuple[points.Point, ...]:
    if key.mode == yours.mode == RATIONAL:
        return points.generic(key.domains)[:3]
    return points.generic(key.domains)[:1] + points.varied(key.domains)[:ON_STEPS]


def _onto(face: Face, point: points.Point) -> points.Point:
    place, equal, value = face
    moved: Number = value if equal is None else point[equal]
    return (*point[:place], moved, *point[place + 1 :])


def _agree(key: Values, yours: Values, point: points.Point) -> bool:
    right, mine = pair(key, yours, point)
    return right is not None and mine is not None and not differ(right, mine)


def _off(found: list[Face], key: Values) -> list[points.Point]:
    small = points.small(key.domains)[:ELSEWHERE]
    return [point for point in small if all(_onto(face, point) != point for face in found)]
