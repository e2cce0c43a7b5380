"""A cache manager is held against the model: the model itself passes, and each fault breaks the sentence about it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from spec.conformance.managing import SENTENCES, Trial
from spec.conformance.suite import check
from spec.serving.cache import CacheManager, InUse, NotResident

pytestmark = pytest.mark.meta


def broken(manager: type[Any]) -> dict[str, str]:
    return Trial(manager, 40).found()


def test_the_model_obeys_every_sentence() -> None:
    found = check(SimpleNamespace(CacheManager=CacheManager))
    assert found.obeyed == list(SENTENCES)
    assert not found.broken


class _NeverRefuses(CacheManager):
    def reserve(self, request: Any, tokens: int, chain: Any = ()) -> Any:
        found = super().reserve(request, tokens, chain)
        if found is None:
            self.used += self.blocks(tokens)
            return ()
        return found


class _TakesBeforeItRefuses(CacheManager):
    def reserve(self, request: Any, tokens: int, chain: Any = ()) -> Any:
        found = super().reserve(request, tokens, chain)
        self.used += found is None and self.used < self.capacity
        return found


class _KeepsABlock(CacheManager):
    def free(self, request: Any) -> None:
        super().free(request)
        self.used += 1


class _FreesTwice(CacheManager):
    def free(self, request: Any) -> None:
        if request in self:
            super().free(request)


class _FreesThePinned(CacheManager):
    def free(self, request: Any) -> None:
        try:
            super().free(request)
        except InUse:
            self.unpin(request)


class _EvictsTheNewest(CacheManager):
    def _evict(self, fresh: int) -> Any:
        self._idle = type(self._idle)(reversed(self._idle.items()))
        found = super()._evict(fresh)
        self._idle = type(self._idle)(reversed(self._idle.items()))
        return found


class _EvictsAll(CacheManager):
    def _evict(self, fresh: int) -> Any:
        return super()._evict(self.capacity if fresh > self.capacity - self.used and not self._held else fresh)


class _Tokens(CacheManager):
    def blocks(self, tokens: int) -> int:
        return max(1, super().blocks(tokens) - (tokens % self.block_size > 0))


class _PeakNow(CacheManager):
    def touch(self, request: Any) -> bool:
        self.peak = self.used
        return super().touch(request)


class _EveryTouchHits(CacheManager):
    def touch(self, request: Any) -> bool:
        if request not in self:
            self.hits += 1
            self.misses -= 1
        return super().touch(request)


class _Raises(CacheManager):
    def grow(self, request: Any, tokens: int) -> Any:  # noqa: ARG002  the form of the operation
        raise NotResident(request)


@pytest.mark.parametrize(
    ("manager", "sentence"),
    [
        (_NeverRefuses, "cache-refusal"),
        (_TakesBeforeItRefuses, "cache-atomic"),
        (_KeepsABlock, "cache-free"),
        (_FreesTwice, "cache-double-free"),
        (_FreesThePinned, "cache-pinned"),
        (_EvictsTheNewest, "cache-lru"),
        (_EvictsAll, "cache-lru"),
        (_Tokens, "cache-usage"),
        (_PeakNow, "cache-peak"),
        (_EveryTouchHits, "cache-hits"),
        (_Raises, "cache-double-free"),
    ],
)
def test_a_fault_breaks_the_sentence_about_it(manager: type[Any], sentence: str) -> None:
    found = broken(manager)
    assert sentence in found, found
    assert "right is" in found[sentence] or "and no more than" in found[sentence]


def test_the_counterexample_is_short() -> None:
    told = broken(_FreesTwice)["cache-double-free"]
    assert told == (
        "With capacity=1 and block_size=1, after free('b'): free('b') answers None; right is that it raises NotResident"
    )


def test_what_a_manager_lacks_is_left_out() -> None:
    class Small:
        def __init__(self, capacity: int, block_size: int) -> None:
            self.model = CacheManager(capacity, block_size)

        def reserve(self, request: str, tokens: int) -> Any:
            return self.model.reserve(request, tokens)

    found = check(SimpleNamespace(CacheManager=Small))
    assert "cache-refusal" in found.obeyed
    assert {"cache-free", "cache-double-free", "cache-pinned", "cache-hits"} <= set(found.missing)
    assert not found.broken


def test_a_manager_that_hangs_is_told_after_the_time_limit() -> None:
    class Hangs(CacheManager):
        def touch(self, request: Any) -> bool:
            while True:
                self.hits += request in self

    told = Trial(Hangs, 40, time_limit=0.2).found()
    assert list(told) == ["cache-usage"]
    assert "gave no answer within 0.2 s" in told["cache-usage"]


def test_a_manager_that_cannot_be_made_is_told() -> None:
    def make(size: int) -> Any:
        raise AssertionError(size)

    make.reserve = True  # type: ignore[attr-defined]  # it has the operation but not the form
    assert "block_size=1: CacheManager(capacity=..., block_size=...) raises TypeError" in broken(make)["cache-usage"]  # type: ignore[arg-type]
