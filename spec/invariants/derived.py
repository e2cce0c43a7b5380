"""The invariants that every law has by its shape: its senses, its inverses, and the Galois pairs of a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

from spec.index import laws
from spec.invariants import Invariant
from spec.invariants.draws import AMOUNTS, Grid, draw_of
from spec.invariants.reference import Unanswered, questions
from spec.laws import Law
from spec.solving import Exact, Infeasible, OutsideDomain, check_domains

STEP = "and_more"  # by how much the moved symbol grows
STEPS = Grid(1, 12)
ONE = Fraction(1)
NUMBERED = {
    "fits: concurrency with context": ("I17",),
    "fits: concurrency with kv_bytes_per_token": ("I17",),
    "fits: concurrency with kv_budget": ("I17",),
    "fits: concurrency against context": ("I18",),
    "hidden_activations: hidden_activations with batch": ("I27b",),
    "hidden_activations: hidden_activations with prompt": ("I27b",),
}


def derived() -> Iterator[Invariant]:
    """Give them for every law, each with the numbers of the catalogue that it is."""
    for law in laws().values():
        yield from of_law(law)


@cache
def of_law(law: Law) -> tuple[Invariant, ...]:
    """Return those of one law; finding how a law is solved takes a while, so they are made once."""
    return tuple(replace(one, also=NUMBERED.get(one.id, ())) for one in _of_law(law))


def _of_law(law: Law) -> Iterator[Invariant]:
    unknowns = [law.left.name] if law.is_identity else _solved(law)
    for gives in unknowns:
        for name in law.symbols:
            if name != gives and law.senses[name] is not None:
                yield _monotone(law, gives, name)
    if law.is_identity:
        for name in _solved(law):
            if name != law.left.name:
                yield _inverse(law, name)
    else:
        for one, other in combinations(unknowns, 2):
            yield _galois(law, one, other)
        yield from (_extreme(law, name) for name in unknowns)


def _solved(law: Law) -> list[str]:
    """Return the symbols that some function gives by this law."""
    answered = (name for (name, _), answering in questions().items() if answering is law and name in law.symbols)
    return [name for name in answered if not law.method(name).startswith("not invertible")]


def _direction(law: Law, gives: str, name: str) -> int:
    """Say how a solved quantity moves with another: more room raises a maximum and lowers a minimum."""
    moved = law.senses[name]
    if law.is_identity:
        return moved or 0
    return -(law.senses[gives] or 0) * (moved or 0)


def _grown(law: Law, name: str) -> Callable[[Exact, Exact], Exact]:
    """Return how to enlarge a value within its domain: flags and shares move part of the way to their upper end."""
    symbol = law.symbols[name]
    high = symbol.domain.high
    if high is None or high > AMOUNTS:
        return lambda value, step: value + step
    if symbol.domain.integer:
        return lambda value, step: high  # noqa: ARG005  every way to grow has the same form
    return lambda value, step: value + (high - value) * (1 - ONE / (step + 1))


def _possible(law: Law, values: dict[str, Exact]) -> bool:
    """Say whether the joint conditions of the law hold; its single domains hold by the draws."""
    try:
        if law.where:
            check_domains(law, values)
    except OutsideDomain:
        return False
    return True


def _place(value: Exact | Infeasible, *, maximum: bool) -> tuple[int, Exact]:
    """Order answers that do not exist too: a capacity without a limit is above all others, one never met below."""
    if not isinstance(value, Infeasible):
        return (0, value)
    return (1 if value.why in {"above", "unbounded"} or (value.why == "broken" and not maximum) else -1, 0)


def _monotone(law: Law, gives: str, name: str) -> Invariant:
    target, symbol = law.symbols[gives], law.symbols[name]
    direction, grow = _direction(law, gives, name), _grown(law, name)
    maximum = law.is_identity or (law.senses[gives] or 0) < 0

    def check(impl: Any, **values: Exact) -> bool:
        step = values.pop(STEP)
        more = {**values, name: grow(values[name], step)}
        if not (_possible(law, values) and _possible(law, more)):
            return True
        before, after = (getattr(impl, gives)(**v) for v in (values, more))
        if isinstance(before, Infeasible) or isinstance(after, Infeasible):
            before, after = _place(before, maximum=maximum), _place(after, maximum=maximum)
        return bool(after >= before if direction > 0 else after <= before)

    return Invariant(
        f"{law.name}: {gives} with {name}",
        f"When {symbol.says} grows and all else stays, {target.says} never {'falls' if direction > 0 else 'rises'}.",
        {**{n: draw_of(s) for n, s in law.symbols.items() if n != gives}, STEP: STEPS},
        (gives,),
        check,
    )


def _inverse(law: Law, name: str) -> Invariant:
    target, symbol = law.left, law.symbols[name]
    asked = [n for n in law.symbols if n != target.name]

    def check(impl: Any, **values: Exact) -> bool:
        if not _possible(law, values):
            return True
        direct = getattr(impl, target.name)
        value = direct(**values)
        if isinstance(value, Infeasible):
            return True
        others = {n: v for n, v in values.items() if n != name}
        try:
            found = getattr(impl, name)(**others, **{target.name: value})
        except Unanswered:  # a zero elsewhere makes every value a solution
            return True
        return bool(direct(**others, **{name: found}) == value)

    return Invariant(
        f"{law.name}: back to {name}",
        f"Solving {target.says} for {symbol.says} gives a value with which the formula returns where it started.",
        {n: draw_of(law.symbols[n]) for n in asked},
        (target.name, name),
        check,
    )


def _galois(law: Law, one: str, other: str) -> Invariant:
    first, second = law.symbols[one], law.symbols[other]

    def allowed(name: str, value: Exact, extreme: Exact | Infeasible) -> bool:
        maximum = (law.senses[name] or 0) < 0
        place = _place(extreme, maximum=maximum)
        return (0, value) <= place if maximum else (0, value) >= place

    def check(impl: Any, **values: Exact) -> bool:
        if not _possible(law, values):
            return True
        rest = {n: v for n, v in values.items() if n not in {one, other}}
        extreme = getattr(impl, other)(**rest, **{one: values[one]})
        tried = [values[other]]
        if not isinstance(extreme, Infeasible):
            tried += [v for v in (extreme - 1, extreme, extreme + 1) if v in second.domain]
        return all(
            allowed(one, values[one], getattr(impl, one)(**rest, **{other: value})) == allowed(other, value, extreme)
            for value in tried
        )

    return Invariant(
        f"{law.name}: {one} against {other}",
        f"The extreme of {first.says} and the extreme of {second.says} say the same: "
        "a pair is within the one exactly when it is within the other.",
        {n: draw_of(s) for n, s in law.symbols.items()},
        (one, other),
        check,
    )


def _extreme(law: Law, name: str) -> Invariant:
    symbol, maximum = law.symbols[name], (law.senses[name] or 0) < 0

    def check(impl: Any, **values: Exact) -> bool:
        if not _possible(law, values):
            return True
        satisfied = getattr(impl, law.name)
        extreme = getattr(impl, name)(**values)
        if isinstance(extreme, Infeasible):
            tried, wanted = symbol.domain.first, extreme.why == "unbounded"
            return tried not in symbol.domain or not maximum or satisfied(**values, **{name: tried}) == wanted
        beyond = extreme + (1 if maximum else -1)
        return bool(satisfied(**values, **{name: extreme})) and (
            beyond not in symbol.domain or not satisfied(**values, **{name: beyond})
        )

    return Invariant(
        f"{law.name}: extreme of {name}",
        f"The extreme value of {symbol.says} satisfies the bound, and the next one does not; without one, none does.",
        {n: draw_of(s) for n, s in law.symbols.items() if n != name},
        (name, law.name),
        check,
    )
