"""Walking a chain again and again: the same steps for many values, right or wrong ones.

`spec.chain.follow` tells everything about one walk; a path only tells where it ends, with little work per walk.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec.chain import Link
from spec.solving import Exact, Infeasible, NotInvertible, last, route

Values = dict[str, Exact]


class Path:
    """Steps to a goal, of which only those are walked that a change reaches."""

    def __init__(self, steps: Sequence[Link], changed: frozenset[str] | None = None) -> None:
        """Keep the steps that depend on the `changed` quantities; all of them where that is None."""
        kept: list[Link] = []
        reached = set(changed or ())
        for step in steps:
            if changed is None or step.needs & reached:
                kept.append(step)
                reached.add(step.gives)
        self.steps = tuple(kept)
        self._walk = tuple((step, tuple(sorted(step.needs))) for step in kept)
        given: set[str] = set()
        for step in reversed(kept):
            given = (given - {step.gives}) | step.needs
        self._given = frozenset(given)

    @property
    def exists(self) -> bool:
        """Say whether every step can be taken at all."""
        return all(route(s.law, s.law.symbols[s.gives]).method != "not invertible" for s in self.steps)

    def end(self, values: Values) -> Exact | None:
        """Return where the path ends, None where it finds no value.

        What `values` say of a quantity that the path gives itself is found again. A value that would have to be whole
        and is not is returned as it is, or as the nearest whole number where it is no fraction: people round it.
        """
        if not self._given <= values.keys():
            return None
        found: Values = {}
        value: Exact | None = None
        for step, needs in self._walk:
            value = taken(step, {name: found[name] if name in found else values[name] for name in needs})
            if value is None:
                return None
            found[step.gives] = value
        return value


def taken(step: Link, known: Values) -> Exact | None:
    """Take one step from exactly the values it needs; see `Path.end`."""
    try:
        value = step.follow(known)
    except (ZeroDivisionError, NotInvertible):
        return None
    if not isinstance(value, Infeasible):
        return value
    if value.why != "not-whole":
        return None
    return _nearest(step, known) if value.deficit is None else value.deficit


def _nearest(step: Link, known: Values) -> int | None:
    """Return the whole number at which a law without a rational solution comes closest to its left side."""
    law, symbol = step.law, step.law.symbols[step.gives]
    target, right = known[law.left.name], law.bodies[1]
    rising = route(law, symbol).rising > 0

    def before(value: int) -> bool:
        reached: Exact = right(**known, **{step.gives: value})
        return reached <= target if rising else reached > target

    end = last(symbol.domain, before)
    if end is None:
        return None
    return min((end, end + 1), key=lambda value: abs(target - right(**known, **{step.gives: value})))
