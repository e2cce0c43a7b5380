"""A trace of accesses, replayed on a cache that makes room by evicting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spec.serving.cache import CacheManager

Trace = Sequence[tuple[str, int]]  # which entry is used, and how many blocks it then takes


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a trace.

    Attributes:
        hits, misses: accesses that found their entry, and that did not, refused ones included.
        evicted: names of the entries that made room, in order.
        resident: names of the entries at the end, in the order in which they would go; the pinned ones stand last.
        refused: names of the entries that found no room, one for each time.
        peak: the most blocks that were ever taken.
    """

    hits: int
    misses: int
    evicted: tuple[str, ...]
    resident: tuple[str, ...]
    refused: tuple[str, ...]
    peak: int


def replay(trace: Trace, capacity: int, *, refreshed: bool = True, pinned: frozenset[str] = frozenset()) -> Replay:
    """Replay a trace on a cache of so many blocks that evicts the least recently used entry.

    Where uses do not refresh an entry, the one that came first goes first (FIFO), and one that is there keeps the
    blocks it came with. Pinned entries, those of running sequences, are never evicted once they are there. An entry
    that finds no room even if all others but these are evicted is refused, and nothing is evicted for it.

    Raises:
        ValueError: the capacity, or a size, is no whole number of at least 1.
    """
    cache = CacheManager(capacity)
    evicted: list[str] = []
    refused: list[str] = []
    kept = 0
    for name, blocks in trace:
        if not refreshed and name in cache:
            kept += 1
            continue
        victims = cache.reserve(name, blocks)
        if victims is None:
            refused.append(name)
            continue
        evicted += map(str, victims)
        if name in pinned:
            cache.pin(name)  # once for each use: none is taken back
    resident = tuple(map(str, cache.resident))
    return Replay(cache.hits + kept, cache.misses, tuple(evicted), resident, tuple(refused), cache.peak)
