"""A stream of integers that is the same for ever, on every machine and Python version.

`random` is not used: its derived methods may change between versions, and then a seed would pose another exercise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")
WORD = 8  # bytes taken for one integer


class Stream:
    """Integers from a hash of a name and a counter."""

    def __init__(self, *name: object) -> None:
        self._words = _words("\0".join(map(str, name)).encode())

    def below(self, limit: int) -> int:
        """Return an integer from 0 to limit - 1; the bias of the remainder is under limit / 2^64."""
        return next(self._words) % limit

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self.below(len(options))]


def _words(name: bytes) -> Iterator[int]:
    counter = 0
    while True:
        block = blake2b(name + counter.to_bytes(8, "big")).digest()
        for start in range(0, len(block), WORD):
            yield int.from_bytes(block[start : start + WORD], "big")
        counter += 1
