"""Steps 4 and 5: what the cache manager keeps and evicts, and how many sequences a budget holds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.claims import Outcome
from spec.claims.definite import missing
from spec.claims.servers import gigabytes
from spec.claims.settings import CHAPTER_ACTIVATIONS, CHAPTER_MARGIN, CHAPTER_WEIGHTS, GB, GIB, Serving, kv_budget
from spec.lab.step import Step, claim
from spec.serving.cache import CacheManager
from spec.stream import Stream

CAPACITY, SIZE = 16_384, 4096
PUTS, NAMES, LARGEST = 5_000, 40, 8_192
EACH = 7  # every seventh context is tried
SHORT = 5 * GB  # what lacks for any cache


def _filled() -> CacheManager:
    """Return a cache of four requests that fill it."""
    cache = CacheManager(CAPACITY)
    for name in "abcd":
        cache.reserve(name, SIZE)
    return cache


def _books(cache: CacheManager) -> tuple[Any, ...]:
    return cache.used, cache.resident, [cache.tokens(name) for name in cache.resident], cache.evicted, cache.freed


def _sum(_: Any) -> Outcome:
    cache = _filled()
    total = sum(cache.tokens(name) for name in cache.resident)
    return Outcome(
        cache.used == total == cache.capacity,
        f"{len(cache.resident)} of {SIZE:,} tokens: {cache.used:,} used, {total:,} in sum, room for {cache.capacity:,}",
    )


def _least_recent(_: Any) -> Outcome:
    cache = _filled()
    found = cache.touch("a")
    victims = cache.reserve("e", 5_000)
    return Outcome(
        found and victims == ("b", "c") and cache.resident == ("d", "a", "e"),
        f"a is used again, then e comes: {' and '.join(map(str, victims or ('none',)))} leave, "
        f"{', '.join(map(str, cache.resident))} stay",
    )


def _oversize(_: Any) -> Outcome:
    cache = _filled()
    before = _books(cache)
    refused = cache.reserve("z", 1_000_000) is None
    same = _books(cache) == before
    return Outcome(
        refused and same,
        f"1,000,000 tokens are {'refused' if refused else 'taken'}, and {cache.used:,} in {len(cache.resident)} "
        f"requests are there {'as before' if same else 'now'}",
    )


def _conserved(_: Any) -> Outcome:
    stream, cache, sound = Stream("lab", "puts"), CacheManager(CAPACITY), True
    for _put in range(PUTS):
        name, size = stream.below(NAMES), 1 + stream.below(LARGEST)
        cache.reserve(name, size)
        total = sum(map(cache.tokens, cache.resident))
        sound = sound and cache.used == total <= CAPACITY
        sound = sound and cache.admitted == cache.used + cache.evicted + cache.freed
    return Outcome(
        sound,
        f"after {PUTS:,} puts of up to {LARGEST:,} tokens {cache.admitted:,} admitted = {cache.used:,} here + "
        f"{cache.evicted:,} evicted + {cache.freed:,} shrunk; at most {cache.peak:,} of {CAPACITY:,} at once",
    )


def _both_units(impl: Any) -> Outcome:
    server = Serving(impl)
    found = {
        name: [server.concurrency(kv_budget(impl, unit=unit), context) for context in (4096, 8192)]
        for name, unit in (("GB", GB), ("GiB", GIB))
    }
    shown = "; ".join(f"54 {name}: {a} of 4,096 and {b} of 8,192" for name, (a, b) in found.items())
    return Outcome(found == {"GB": [25, 12], "GiB": [27, 13]}, shown)


def _halved(impl: Any) -> Outcome:
    server, budget = Serving(impl), kv_budget(impl)
    contexts = range(1, 9_001, EACH)
    pairs = [(server.concurrency(budget, c), server.concurrency(budget, 2 * c)) for c in contexts]
    exact = sum(one == 2 * two for one, two in pairs)
    return Outcome(
        all(two == one // 2 for one, two in pairs),
        f"at each of {len(contexts):,} contexts; {exact:,} of them are halved with nothing left over",
    )


def _capacities(impl: Any) -> Outcome:
    server = Serving(impl)
    tokens = [server.token_capacity(kv_budget(impl, unit=unit)) for unit in (GB, GIB)]
    reserved = {"weights": CHAPTER_WEIGHTS, "activations": CHAPTER_ACTIVATIONS, "safety_margin": CHAPTER_MARGIN}
    room = sum(reserved.values()) - SHORT
    none = missing(lambda: server.concurrency(server.impl.kv_budget(gpu_memory=room, **reserved), SIZE))
    lacking = "nothing" if none is None or none.deficit is None else gigabytes(Fraction(none.deficit))
    return Outcome(
        tokens == [102_996, 110_592] and none is not None and none.deficit == SHORT,
        f"54 GB hold {tokens[0]:,} tokens, 54 GiB {tokens[1]:,}; a GPU of {gigabytes(room)} lacks {lacking}",
    )


STEPS = (
    Step(
        "What the cache manager keeps",
        (
            claim(9, "What is used is the sum of what is resident, up to the last token of room.", _sum),
            claim(10, "What was used longest ago leaves first, and no more of it than has to.", _least_recent),
            claim(11, "A request larger than the cache is refused and nothing changes.", _oversize),
            claim(12, "Whatever comes, use stays within the room, and no token is lost or counted twice.", _conserved),
        ),
        note="Only idle caches are evicted here; those in flight are pinned, and a request that finds no room waits.",
    ),
    Step(
        "How many sequences a budget holds",
        (
            claim(13, "54 GB hold 25 and 12 sequences of 4,096 and 8,192 tokens; 54 GiB hold 27 and 13.", _both_units),
            claim(14, "Twice the context holds half the sequences, rounded down.", _halved),
            claim(15, "A budget has room for whole tokens, and one below zero for none: it lacks memory.", _capacities),
        ),
        note="The chapter's 27 and 13 read its 54 GB as GiB, and its 108,000 tokens are reached by neither reading.",
    ),
)
