"""The slips of a chain: every known wrong way to follow it, and the value each one leads to.

They come from four places: the wrong siblings declared with a law, the unit of each given read as another, rounding to
the wrong side or not at all, and stopping at an intermediate quantity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import Amount, whole
from spec.chain import Link, follow
from spec.quantities import Quantity
from spec.solving import Exact, Infeasible, NotInvertible, closed_form
from spec.units import UnknownUnit, unit

Found = Exact | None  # None: the slip leads to no answer
Given = Mapping[str, Amount]
Values = dict[str, Exact]

READINGS = {
    "GB": "GiB", "GiB": "GB", "MB": "MiB", "MiB": "MB", "TB": "TiB", "TiB": "TB", "KiB": "kB", "kB": "KiB",
    "min": "s", "s": "min", "ms": "s", "us": "ms",
}  # fmt: skip


def _always(values: Values) -> bool:  # noqa: ARG001  the signature of `applies`
    return True


@dataclass(frozen=True, slots=True)
class Variation:
    """One wrong way through a chain.

    Attributes:
        slug: its stable name.
        sentence: what went wrong, as shown to a learner.
        value: gives where it leads, from the right values (givens and every step) and the printed givens.
        applies: says whether it is a slip at all for these values.
    """

    slug: str
    sentence: str
    value: Callable[[Values, Given], Found]
    applies: Callable[[Values], bool] = _always


def variations(steps: Sequence[Link], given: Mapping[str, str], pool: frozenset[str], asked: str) -> list[Variation]:
    """List the wrong ways through a chain.

    `given` names the printed quantities with the units they are printed in; `pool` names every quantity that has a
    value, printed or not; `asked` is the unit of the answer.
    """
    return [
        *_of_laws(steps, pool),
        *_of_readings(steps, given),
        *_of_answer_unit(steps[-1], asked),
        *_of_rounding(steps),
        *_of_stopping(steps, asked),
    ]


def _end(steps: Sequence[Link], values: Values) -> Found:
    if not set().union(*(step.needs for step in steps)) - {step.gives for step in steps} <= values.keys():
        return None  # an earlier step has no value, and this slip does not touch it
    try:
        result = follow(steps, values)[steps[-1].gives]
    except ZeroDivisionError:
        return None
    return None if isinstance(result, Infeasible) else result


def _of_laws(steps: Sequence[Link], pool: frozenset[str]) -> list[Variation]:
    found = []
    known = set(pool)
    for i, step in enumerate(steps):
        for slip in step.law.slips:
            wrong = Link(step.law.with_slip(slip), step.gives)
            if step.gives in wrong.law.symbols and wrong.needs <= known and _solvable(wrong):
                found.append(
                    Variation(slip.slug, slip.sentence, _along([wrong, *steps[i + 1 :]], steps[i:]), slip.applies)
                )
        known.add(step.gives)
    return found


def _solvable(link: Link) -> bool:
    if link.direct:
        return True
    try:
        return bool(closed_form(link.law, link.law.symbols[link.gives]))
    except NotInvertible:
        return False


def _along(wrong: Sequence[Link], right: Sequence[Link]) -> Callable[[Values, Given], Found]:
    redone = {step.gives for step in right}

    def value(values: Values, given: Given) -> Found:  # noqa: ARG001  one signature for all
        return _end(wrong, {n: v for n, v in values.items() if n not in redone})

    return value


def _of_readings(steps: Sequence[Link], given: Mapping[str, str]) -> list[Variation]:
    needed = set().union(*(step.needs for step in steps))
    groups: dict[tuple[str, str], list[str]] = {}
    for name, written in given.items():
        for part, other in READINGS.items():
            if name in needed and part in written.split("/"):
                groups.setdefault((part, other), []).append(name)
    found = []
    for (part, other), names in groups.items():
        chosen = [[name] for name in names] + ([names] if len(names) > 1 else [])
        for some in chosen:
            swapped = {n: "/".join(other if p == part else p for p in given[n].split("/")) for n in some}
            try:
                factors = {n: unit(swapped[n]).factor / unit(given[n]).factor for n in some}
            except UnknownUnit:
                continue
            which = "every size" if len(some) > 1 else some[0].replace("_", " ")
            slug = f"{'all' if len(some) > 1 else some[0].replace('_', '-')}-in-{other}"
            sentence = f"Read {which} in {swapped[some[0]]}; it is given in {given[some[0]]}."
            found.append(Variation(slug, sentence, _scaled(steps, factors)))
    return found


def _scaled(steps: Sequence[Link], factors: Mapping[str, Fraction]) -> Callable[[Values, Given], Found]:
    gives = {step.gives for step in steps}

    def value(values: Values, given: Given) -> Found:  # noqa: ARG001  one signature for all
        changed = {n: whole(v * factors.get(n, 1)) for n, v in values.items() if n not in gives}
        return _end(steps, changed)

    return value


def _of_answer_unit(last: Link, asked: str) -> list[Variation]:
    other = READINGS.get(asked)
    if other is None:
        return []
    factor = unit(asked).factor / unit(other).factor

    def value(values: Values, given: Given) -> Found:  # noqa: ARG001  one signature for all
        return values[last.gives] * factor if last.gives in values else None

    return [Variation(f"answer-in-{other}", f"The number is the answer in {other}; it is asked in {asked}.", value)]


def _of_rounding(steps: Sequence[Link]) -> list[Variation]:
    found = []
    for i, step in enumerate(steps):
        symbol = step.law.symbols[step.gives]
        if step.law.is_identity or not symbol.domain.integer or not closed_form(step.law, symbol):
            continue
        maximum = step.law.senses[step.gives] == -1
        what = "" if i == len(steps) - 1 else f" of {symbol.says}"
        why = "a part of one does not count" if maximum else "a part of one needs a whole one"
        found += [
            Variation(
                "rounded-up" if maximum else "rounded-down",
                f"The number{what} was rounded {'up' if maximum else 'down'}; {why}.",
                _rounded(steps, i, 1 if maximum else -1),
            ),
            Variation("not-rounded", f"The number{what} was not rounded; {why}.", _rounded(steps, i, 0)),
        ]
    return found


def _rounded(steps: Sequence[Link], i: int, side: int) -> Callable[[Values, Given], Found]:
    step, rest = steps[i], steps[i + 1 :]
    symbol: Quantity = step.law.symbols[step.gives]
    redone = {later.gives for later in steps[i:]}

    def value(values: Values, given: Given) -> Found:  # noqa: ARG001  one signature for all
        before = {n: v for n, v in values.items() if n not in redone}
        if not step.needs <= before.keys():
            return None
        edge = whole(closed_form(step.law, symbol)[0](**before))
        if side:
            edge = math.ceil(edge) if side > 0 else math.floor(edge)
        return None if edge < 0 else _from(rest, before, step.gives, edge)

    return value


def _from(rest: Sequence[Link], before: Values, name: str, value: Exact) -> Found:
    return _end(rest, before | {name: value}) if rest else value


def _of_stopping(steps: Sequence[Link], asked: str) -> list[Variation]:
    to = unit(asked)
    found = []
    for step in steps[:-1]:
        symbol = step.law.symbols[step.gives]
        sentence = f"That is {symbol.says}, a step on the way to the answer."
        if symbol.unit.same_dimension(to):
            found.append(Variation(f"stopped-at-{_slug(step.gives)}", sentence, _stopped(step.gives)))
    return found


def _stopped(name: str) -> Callable[[Values, Given], Found]:
    def value(values: Values, given: Given) -> Found:  # noqa: ARG001  one signature for all
        return values.get(name)

    return value


def _slug(name: str) -> str:
    return name.replace("_", "-")
