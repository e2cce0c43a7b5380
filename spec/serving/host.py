"""The memory of the host, where idle caches wait that there is no room for on the GPU."""

from __future__ import annotations

from collections.abc import Hashable

from spec.serving.cache import CacheManager, Evicted
from spec.serving.request import Job
from spec.serving.server import Tally

UNLIMITED = 10**15  # blocks of a host that has room for everything


class Host:
    """Idle caches by name; those used longest ago make room for others.

    Args:
        blocks: how many there is room for; None is no limit.
        block_size: tokens of a block.
        tally: what is moved is counted there.
    """

    def __init__(self, blocks: int | None, block_size: int, tally: Tally) -> None:
        self._pool, self._tally = CacheManager(UNLIMITED if blocks is None else blocks, block_size), tally
        self._kept: dict[Hashable, int] = {}

    def note(self, name: Hashable, tokens: int) -> None:
        """Hear how many tokens an idle cache on the GPU has."""
        self._kept[name] = tokens

    def take_in(self, names: Evicted) -> None:
        """Keep idle caches that the GPU evicted, where there is room."""
        for name in names:
            if self._pool.reserve(name, self._kept[name]) is not None:
                self._tally.offloaded += self._kept[name]

    def give_back(self, job: Job) -> int:
        """Return how many tokens of its history a request gets from here, beyond those on the GPU; none stay here."""
        if job.name not in self._pool:
            return 0
        tokens = min(job.request.history, self._pool.tokens(job.name)) - job.reused
        self._pool.free(job.name)
        if tokens <= 0:
            return 0
        job.reused += tokens
        self._tally.fetched += tokens
        return tokens

    def clear(self) -> None:
        """Lose everything."""
        for name in self._pool.resident:
            self._pool.free(name)
