"""Prefill or decode first: when requests may join those that are decoding, and how much of a prompt at a time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


class Gate:
    """Lets requests join; this one always does. A run of the engine has its own.

    Attributes:
        pass_tokens: a prefill pass takes another prompt while it has fewer tokens.
        chunk: tokens of an iteration, those of prompts and of decoding together; None keeps them apart.
    """

    def __init__(self, pass_tokens: int = 1, chunk: int | None = None) -> None:
        self.pass_tokens, self.chunk = pass_tokens, chunk

    def is_open(self, _decoding: int) -> bool:
        """Say whether requests may join, beside so many that are decoding."""
        return True

    def opens_after(self) -> int | None:
        """Return the ticks of decode after which it opens; None where that is not a matter of time."""
        return None

    def nobody_joined(self) -> None:
        """Hear that it was open and there was no more request, or no room."""

    def spent(self, _prefill: int, _decode: int) -> None:
        """Hear how many ticks went to prefill, while others were decoding, and to decode."""


class DrainGate(Gate):
    """Opens when nothing is decoding, and closes when the batch is full or nobody waits."""

    _open = True

    def is_open(self, decoding: int) -> bool:
        """Say whether requests may join."""
        self._open = self._open or not decoding
        return self._open

    def nobody_joined(self) -> None:
        """Close."""
        self._open = False


class ShareGate(Gate):
    """Opens when prefill has had no more than its share of the time since it last was open."""

    def __init__(self, pass_tokens: int, share: Fraction) -> None:
        super().__init__(pass_tokens)
        self._prefill_costs, self._decode_earns = share.denominator - share.numerator, share.numerator
        self._credit = 0

    def is_open(self, decoding: int) -> bool:
        """Say whether requests may join."""
        return not decoding or self._credit >= 0

    def opens_after(self) -> int | None:
        """Return the ticks of decode that pay for the last prefill."""
        return None if self._credit >= 0 else -(self._credit // self._decode_earns)

    def spent(self, prefill: int, decode: int) -> None:
        """Take from the credit what prefill took, and pay debts off with decode; what is paid is not saved up."""
        if self._credit < 0:
            self._credit += decode * self._decode_earns
        self._credit -= prefill * self._prefill_costs


@dataclass(frozen=True, slots=True)
class PrefillFirst:
    """A request that may come in is worked on at once, and those that decode wait for its prompt.

    Attributes:
        pass_tokens: a prefill pass takes another prompt while it has fewer tokens; at 1, prompts go one by one.
    """

    pass_tokens: int = 1

    def gate(self) -> Gate:
        """Return a gate for one run."""
        return Gate(self.pass_tokens)


@dataclass(frozen=True, slots=True)
class DecodeFirst:
    """Nobody joins until all that decode are done; then the batch is filled again.

    Attributes:
        pass_tokens: as in `PrefillFirst`.
    """

    pass_tokens: int = 1

    def gate(self) -> Gate:
        """Return a gate for one run."""
        return DrainGate(self.pass_tokens)


@dataclass(frozen=True, slots=True)
class ReservedShare:
    """Prefill gets a share of the time while others decode, and no more.

    Attributes:
        share: over 0 and under 1.
        pass_tokens: as in `PrefillFirst`.
    """

    share: Fraction
    pass_tokens: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"share is {self.share}; it lies over 0 and under 1")

    def gate(self) -> Gate:
        """Return a gate for one run."""
        return ShareGate(self.pass_tokens, Fraction(self.share))


@dataclass(frozen=True, slots=True)
class Chunked:
    """Each iteration gives every decoding request its token, and the rest of its tokens to parts of prompts.

    Attributes:
        tokens: of an iteration, at least 1.
    """

    tokens: int

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise ValueError(f"tokens is {self.tokens}; it must be at least 1")

    def gate(self) -> Gate:
        """Return a gate for one run."""
        return Gate(chunk=self.tokens)


Scheduler = PrefillFirst | DecodeFirst | ReservedShare | Chunked
