"""The slips of a chain: every known wrong way to follow it, and the value each one leads to.

They come from four places: the wrong siblings declared with a law, the unit of each given read as another, rounding to
the wrong side or not at all, and stopping at an intermediate quantity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from grader.exercise import NOT_ROUNDED
from grader.menu import quantities_by_name
from grader.paths import Path, Values
from spec.chain import Link
from spec.laws import Slip
from spec.quantities import Quantity
from spec.solving import Exact, closed_form, whole
from spec.units import UnknownUnit, unit

Found = Exact | None  # None: the slip leads to no answer
Wrong = Callable[[Values], Found]

READINGS = {
    "GB": "GiB", "GiB": "GB", "MB": "MiB", "MiB": "MB", "TB": "TiB", "TiB": "TB", "KiB": "kB", "kB": "KiB",
    "min": "s", "s": "min", "ms": "s", "us": "ms",
}  # fmt: skip
# A size that is read off elsewhere than the others may be misread alone: a GPU's by its driver, weights by a file
# listing. The reserves are of one's own choosing; they are misread with all the rest or not at all.
READ_ALONE = frozenset({"gpu_memory", "weights", "kv_bytes_per_token"})


def _always(values: Values) -> bool:  # noqa: ARG001  the signature of `applies`
    return True


@dataclass(frozen=True, slots=True)
class Variation:
    """One wrong way through a chain.

    Attributes:
        slug: its stable name.
        sentence: what went wrong, as shown to a learner.
        value: gives where it leads, from the right values (givens and every step).
        applies: says whether it is a slip at all for these values.
        unrounded: it is the right answer before it is rounded.
    """

    slug: str
    sentence: str
    value: Wrong
    applies: Callable[[Values], bool] = _always
    unrounded: bool = False


def variations(steps: Sequence[Link], given: Mapping[str, str], pool: frozenset[str], asked: str) -> list[Variation]:
    """List the wrong ways through a chain.

    `given` names the printed quantities with the units they are printed in; `pool` names every quantity that has a
    value, printed or not; `asked` is the unit of the answer.
    """
    if not steps:
        return []
    return [
        *_of_laws(steps, pool),
        *_of_readings(steps, given, asked),
        *_of_answer_unit(steps[-1], asked),
        *_of_rounding(steps),
        *_of_stopping(steps, asked),
    ]


def _of_laws(steps: Sequence[Link], pool: frozenset[str]) -> list[Variation]:
    found = []
    known = set(pool)
    for i, step in enumerate(steps):
        for slip in step.law.slips:
            wrong = Link(step.law.with_slip(slip), step.gives)
            if step.gives in wrong.law.symbols and wrong.needs <= known:
                rest = Path(steps[i + 1 :], frozenset({step.gives}))
                path = Path([wrong, *rest.steps])
                if path.exists:
                    found.append(Variation(slip.slug, slip.sentence, path.end, _when(slip)))
        known.add(step.gives)
    return found


def _when(slip: Slip) -> Callable[[Values], bool]:
    if slip.unless is None:
        return _always
    names = {symbol.name for symbol in slip.unless.free_symbols}
    return lambda values: not names <= values.keys() or slip.applies(values)


def _of_readings(steps: Sequence[Link], given: Mapping[str, str], asked: str) -> list[Variation]:
    needed = frozenset().union(*(step.needs for step in steps))
    return [Variation(m.slug, m.sentence, _scaled(steps, m.factors)) for m in misreadings(needed, given, asked)]


@dataclass(frozen=True, slots=True)
class Misreading:
    """Givens that are read in another unit than they are given in: by how much each of them is then off."""

    slug: str
    sentence: str
    factors: Mapping[str, Fraction]


def misreadings(needed: frozenset[str], given: Mapping[str, str], asked: str) -> Iterator[Misreading]:
    """Give the ways to misread the units of what is needed, alone and all together.

    `given` names the printed quantities with their units; `asked` is the unit of the answer.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for name, written in given.items():
        for part, other in READINGS.items():
            if name in needed and part in written.split("/"):
                groups.setdefault((part, other), []).append(name)
    for (part, other), names in groups.items():
        alone = [name for name in names if name in READ_ALONE or not part.endswith("B")]
        chosen = [[name] for name in alone] + ([names] if len(names) > 1 else [])
        for some in chosen:
            swapped = {name: _read_as(given[name], part, other) for name in some}
            try:
                factors = {n: unit(swapped[n]).factor / unit(given[n]).factor for n in some}
            except UnknownUnit:
                continue
            if _cancels(part, [given[n] for n in given if n in needed and n not in some], asked):
                continue
            which = _every(part) if len(some) > 1 else _capital(quantities_by_name()[some[0]].says)
            slug = f"{'all' if len(some) > 1 else _slug(some[0])}-in-{other}"
            yield Misreading(slug, f"{which}: read in {swapped[some[0]]}, given in {given[some[0]]}.", factors)


def _cancels(part: str, others: Sequence[str], asked: str) -> bool:
    """Say whether a misreading leaves the answer as it is, because nothing else measures the same."""
    dimension = next(i for i, exponent in enumerate(unit(part).dimension) if exponent)
    return not any(unit(name).dimension[dimension] for name in (*others, asked))


def _read_as(written: str, part: str, other: str) -> str:
    return "/".join(other if p == part else p for p in written.split("/"))


def _every(part: str) -> str:
    return "All sizes" if part.endswith("B") else "All times"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _scaled(steps: Sequence[Link], factors: Mapping[str, Fraction]) -> Wrong:
    path = Path(steps, frozenset(factors))

    def value(values: Values) -> Found:
        return path.end(values | {n: whole(values[n] * factor) for n, factor in factors.items()})

    return value


def _of_answer_unit(last: Link, asked: str) -> list[Variation]:
    return [Variation(m.slug, m.sentence, _times(last.gives, m.factors["answer"])) for m in other_units(asked)]


def other_units(asked: str) -> Iterator[Misreading]:
    """Give the ways to answer in another unit than is asked for; what is off then is `answer`."""
    for part, other in READINGS.items():
        if part in asked.split("/"):
            swapped = _read_as(asked, part, other)
            sentence = f"The number is the answer in {swapped}; it is asked in {asked}."
            yield Misreading(f"answer-in-{other}", sentence, {"answer": unit(asked).factor / unit(swapped).factor})


def _times(name: str, factor: Fraction) -> Wrong:
    return lambda values: values[name] * factor if name in values else None


def _of_rounding(steps: Sequence[Link]) -> list[Variation]:
    found = []
    for i, step in enumerate(steps):
        symbol = step.law.symbols[step.gives]
        solved = step.law.solution(step.gives)
        if step.law.is_identity or solved is None or not solved.atoms(sympy.floor, sympy.ceiling):
            continue
        maximum, last = step.law.senses[step.gives] == -1, i == len(steps) - 1
        what = "The number" if last else f"The number of {symbol.says}"
        prefix = "" if last else f"{_slug(step.gives)}-"
        side, why = ("up", "a part of one does not count") if maximum else ("down", "a part of one needs a whole one")
        wrong_side = _rounded(steps, i, math.ceil if maximum else math.floor)
        found += [
            Variation(f"{prefix}rounded-{side}", f"{what} was rounded {side}; {why}.", wrong_side),
            Variation(
                f"{prefix}{NOT_ROUNDED}", f"{what} was not rounded; {why}.", _rounded(steps, i, whole), unrounded=last
            ),
        ]
    return found


def _rounded(steps: Sequence[Link], i: int, rounding: Callable[[Exact], Exact]) -> Wrong:
    step, rest = steps[i], Path(steps[i + 1 :], frozenset({steps[i].gives}))
    symbol: Quantity = step.law.symbols[step.gives]
    (edge, *_), needs = closed_form(step.law, symbol), step.needs

    def value(values: Values) -> Found:
        if not needs <= values.keys():
            return None
        try:
            found = rounding(edge(**values))
        except ZeroDivisionError:
            return None
        if found < 0 or not rest.steps:
            return None if found < 0 else found
        return rest.end(values | {step.gives: found})

    return value


def _of_stopping(steps: Sequence[Link], asked: str) -> list[Variation]:
    to = unit(asked)
    found = []
    for step in steps[:-1]:
        if steps[-1].needs == {step.gives}:
            continue  # all that is left is to round it
        symbol = step.law.symbols[step.gives]
        sentence = f"That is {symbol.says}, a step on the way to the answer."
        if symbol.unit.same_dimension(to):
            found.append(Variation(f"stopped-at-{_slug(step.gives)}", sentence, _times(step.gives, Fraction(1))))
    return found


def _slug(name: str) -> str:
    return name.replace("_", "-")
