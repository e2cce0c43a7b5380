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

    def exchange(self, job: Job, names: Evicted) -> int:
        """Give a request its history back, and then keep the idle caches that made room for it on the GPU.

        Returns how many tokens of its history come from here, beyond those on the GPU; none of them stay.
        """
        tokens = 0
        if job.name in self._pool:
            tokens = max(0, min(job.request.history, self._pool.tokens(job.name)) - job.reused)
            self._pool.free(job.name)
        job.reused += tokens
        self._tally.fetched += tokens
        self.take_in(names)
        return tokens

    def drop(self, name: Hashable) -> None:
        """Lose one cache, if it is here."""
        if name in self._pool:
            self._pool.free(name)

    @property
    def blocks(self) -> dict[Hashable, int]:
        """How many blocks each cache takes that is here."""
        return {name: self._pool.blocks(self._pool.tokens(name)) for name in self._pool.resident}

    def clear(self) -> None:
        """Lose everything."""
        for name in self._pool.resident:
            self._pool.free(name)
