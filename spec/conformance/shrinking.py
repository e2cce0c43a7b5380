"""Making a counterexample small: plain values in place of others, one after the other, for as long as it stays one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from spec.invariants.draws import Draw, Draws, Values
from spec.solving import Exact

FIRST = 8
TRIES = 400  # how often a counterexample is tried anew
Item = TypeVar("Item")


def shrunk(
    draws: Draws,
    values: Values,
    fails: Callable[[Values], bool],
    tries: int = TRIES,
    stated: Callable[[str, Exact], Exact] = lambda _, value: value,
) -> Values:
    """Return a point at which something still fails, and at which no single value can be a plainer one.

    A value is plain as it is `stated`: in the unit that the candidate speaks.
    """
    orders = {name: _plainest_first(draws[name], partial(stated, name)) for name in values}
    best, moved = dict(values), True
    while moved and tries > 0:
        moved = False
        for name, order in orders.items():
            for plainer in _plainer(order.index(best[name])):
                if tries <= 0:
                    break
                tries -= 1
                tried = {**best, name: order[plainer]}
                if fails(tried):
                    best, moved = tried, True
                    break
    return best


def _plainest_first(draw: Draw, stated: Callable[[Exact], Exact]) -> tuple[Exact, ...]:
    """Return the values of a draw, whole numbers before others, small ones before large ones."""
    values = dict.fromkeys(draw.value(i) for i in range(draw.count))
    return tuple(sorted(values, key=lambda value: (stated(value).denominator, value)))


def _plainer(position: int) -> Iterator[int]:
    """Give the positions before this one: the first few, since not every value before a fault has it, then nearer."""
    yield from range(min(position, FIRST))
    step = position // 2
    while step > 0:
        yield position - step
        step //= 2


def fewer(items: Sequence[Item], fails: Callable[[Sequence[Item]], bool], tries: int = TRIES) -> list[Item]:
    """Return items of a sequence with which something still fails, and of which none can be left out."""
    best, length = list(items), len(items) // 2
    while length and tries > 0:
        start = 0
        while start < len(best) and tries > 0:
            tries -= 1
            rest = best[:start] + best[start + length :]
            if fails(rest):
                best = rest
            else:
                start += length
        length //= 2
    return best
