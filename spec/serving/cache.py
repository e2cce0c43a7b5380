"""A paged cache: whole blocks or none for each request, shared where prompts begin alike, least recent out first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

Chain = Sequence[Hashable]
Evicted = tuple[Hashable, ...]
Choose = Callable[[Evicted], Hashable]


class NotResident(LookupError):
    """A request was named that has no cache; `request` is its name."""

    def __init__(self, request: Hashable) -> None:
        super().__init__(request)
        self.request = request

    def __str__(self) -> str:
        return f"{self.request!r} has no cache here"


class InUse(ValueError):
    """The cache of a pinned request was to be freed; `request` is its name."""

    def __init__(self, request: Hashable) -> None:
        super().__init__(request)
        self.request = request

    def __str__(self) -> str:
        return f"{self.request!r} is pinned: unpin it before its cache is freed"


@dataclass(slots=True)
class _Entry:
    tokens: int
    chain: Chain
    own: int
    pins: int = 0

    @property
    def blocks(self) -> int:
        return self.own + len(self.chain)


@dataclass(slots=True)
class _Shared:
    holders: int = 0
    pinned: int = 0


class CacheManager:
    """The caches of all requests, in `capacity` blocks of `block_size` tokens each.

    A request takes whole blocks: n tokens take ceil(n / block_size) of them. Pinned requests are in flight and keep
    their cache. The others are idle: theirs may be evicted, whole requests at a time, those used longest ago first,
    and no more of them than it takes. Reserving, growing, touching and unpinning are uses.

    `reserve` and `grow` answer with the names they evicted, in order, or with None where they are refused. They are
    refused only where evicting every other idle request would not make enough room, and then nothing has changed
    but the count of hits and misses.

    A prompt is named by its chain: one key for each of its leading full blocks, where a key stands for the content
    of its block and of all blocks before it (`hash_chain`). Blocks with the same key exist once, however many
    requests hold them, and are let go with the last of these.

    Attributes:
        choose: picks who is evicted next of those that are idle, which it gets with the one used longest ago first.
        grow_evicts: `grow` evicts idle requests, as `reserve` does; otherwise it takes free blocks only.
        used: blocks that are taken, pinned and idle; never more than `capacity`.
        peak: the most blocks that were ever taken.
        hits, misses: calls of `reserve` and `touch` that found the request, and that did not, refused ones included.
        admitted, evicted, freed: blocks that were ever taken, evicted, and given back otherwise. At any time
            admitted == used + evicted + freed.
    """

    def __init__(self, capacity: int, block_size: int = 1) -> None:
        self.capacity = _count(capacity, "capacity")
        self.block_size = _count(block_size, "block_size")
        self.choose: Choose | None = None
        self.grow_evicts = True
        self.used = self.peak = 0
        self.hits = self.misses = 0
        self.admitted = self.evicted = self.freed = 0
        self._pinned: dict[Hashable, _Entry] = {}
        self._idle: OrderedDict[Hashable, _Entry] = OrderedDict()  # least recently used first
        self._shared: dict[Hashable, _Shared] = {}
        self._held = 0  # blocks that a pinned request uses: no eviction gives them back

    def reserve(self, request: Hashable, tokens: int, chain: Chain = ()) -> Evicted | None:
        """Give a request the blocks of `tokens` tokens; one that is resident grows or shrinks to them.

        Args:
            request: its name.
            tokens: the tokens to keep, at least 1.
            chain: the keys of the full blocks that the prompt begins with, read where the request is new.

        Raises:
            ValueError: the tokens are no whole number of at least 1, or a key of the chain comes twice.
        """
        wanted = self.blocks(tokens)
        if request in self:
            self.hits += 1
            entry = self._entry(request)
            if wanted < entry.blocks:
                self._shrink(entry, wanted)
                victims: Evicted | None = ()
            else:
                victims = self._extend(request, entry, wanted - entry.blocks)
            if victims is not None:
                entry.tokens = tokens
                self._use(request)
            return victims
        chain = tuple(chain[: tokens // self.block_size])
        if len(set(chain)) < len(chain):
            raise ValueError("a key of the chain comes twice; each stands for all that is before it")
        self.misses += 1
        found = [key for key in chain if key in self._shared]
        # Blocks of idle requests that this one shares cannot make room for it.
        fresh = wanted - len(found)
        if fresh > self.capacity - self._held - self._alone(found):
            return None
        for key in found:
            self._shared[key].holders += 1
        victims = self._evict(fresh)
        for key in chain:
            self._shared.setdefault(key, _Shared(holders=1))
        self._idle[request] = _Entry(tokens, chain, wanted - len(chain))
        self._take(fresh)
        return victims

    def fits(self, request: Hashable, tokens: int, chain: Chain = ()) -> bool:
        """Say whether `reserve` would succeed, without doing it."""
        wanted = self.blocks(tokens)
        if request in self:
            entry = self._entry(request)
            return wanted - entry.blocks <= self.capacity - self._held - self._kept(entry)
        found = [key for key in chain[: tokens // self.block_size] if key in self._shared]
        return wanted - len(found) <= self.capacity - self._held - self._alone(found)

    def grow(self, request: Hashable, tokens: int) -> Evicted | None:
        """Add `tokens` tokens to a resident request.

        Raises:
            NotResident: it has no cache.
        """
        entry = self._entry(request)
        total = entry.tokens + _count(tokens, "tokens")
        fresh = -(-total // self.block_size) - entry.blocks
        if not self.grow_evicts and fresh > self.capacity - self.used:
            return None
        victims = self._extend(request, entry, fresh) if fresh > 0 else ()
        if victims is not None:
            entry.tokens = total
            self._use(request)
        return victims

    def touch(self, request: Hashable) -> bool:
        """Look a request up: say whether it is resident, which makes it the most recently used."""
        if request not in self:
            self.misses += 1
            return False
        self.hits += 1
        self._use(request)
        return True

    def pin(self, request: Hashable) -> None:
        """Keep a resident request from eviction until it is unpinned as often as it was pinned.

        Raises:
            NotResident: it has no cache.
        """
        entry = self._entry(request)
        entry.pins += 1
        if entry.pins == 1:
            self._pinned[request] = self._idle.pop(request)
            self._held += entry.own
            for key in entry.chain:
                self._shared[key].pinned += 1
                self._held += self._shared[key].pinned == 1

    def unpin(self, request: Hashable) -> None:
        """Take back one pin.

        Raises:
            NotResident: it has no cache.
            ValueError: it is not pinned.
        """
        entry = self._entry(request)
        if not entry.pins:
            raise ValueError(f"{request!r} is not pinned")
        entry.pins -= 1
        if not entry.pins:
            self._idle[request] = self._pinned.pop(request)
            self._held -= entry.own
            for key in entry.chain:
                self._shared[key].pinned -= 1
                self._held -= not self._shared[key].pinned

    def free(self, request: Hashable) -> None:
        """Let the cache of a request go.

        Raises:
            NotResident: it has no cache, or no longer.
            InUse: it is pinned.
        """
        if request in self._pinned:
            raise InUse(request)
        entry = self._entry(request)
        del self._idle[request]
        self.freed += self._release(entry, 0)

    def blocks(self, tokens: int) -> int:
        """Return how many blocks a number of tokens takes."""
        return -(-_count(tokens, "tokens") // self.block_size)

    def tokens(self, request: Hashable) -> int:
        """Return how many tokens of a request are kept.

        Raises:
            NotResident: it has no cache.
        """
        return self._entry(request).tokens

    def shared(self, chain: Chain) -> int:
        """Return how many tokens of a prompt are here already, by the keys of its blocks."""
        leading = next((n for n, key in enumerate(chain) if key not in self._shared), len(chain))
        return leading * self.block_size

    @property
    def resident(self) -> Evicted:
        """Every request with a cache: the idle ones in the order in which they would go, then the pinned ones."""
        return (*self._idle, *self._pinned)

    @property
    def held(self) -> int:
        """Blocks that pinned requests use."""
        return self._held

    @property
    def available(self) -> int:
        """Blocks that a new request could get: those not taken, and those that only idle requests use."""
        return self.capacity - self._held

    def __contains__(self, request: Hashable) -> bool:
        return request in self._idle or request in self._pinned

    def _entry(self, request: Hashable) -> _Entry:
        entry = self._pinned.get(request) or self._idle.get(request)
        if entry is None:
            raise NotResident(request)
        return entry

    def _use(self, request: Hashable) -> None:
        if request in self._idle:
            self._idle.move_to_end(request)

    def _alone(self, chain: Chain) -> int:
        return sum(not self._shared[key].pinned for key in chain)

    def _kept(self, entry: _Entry) -> int:
        """Count the blocks of a request that only its own eviction would give back."""
        return 0 if entry.pins else entry.own + self._alone(entry.chain)

    def _extend(self, request: Hashable, entry: _Entry, fresh: int) -> Evicted | None:
        if fresh > self.capacity - self._held - self._kept(entry):
            return None
        if entry.pins:
            victims = self._evict(fresh)
            self._held += fresh
        else:
            del self._idle[request]  # it must not make room for itself
            victims = self._evict(fresh)
            self._idle[request] = entry
        entry.own += fresh
        self._take(fresh)
        return victims

    def _shrink(self, entry: _Entry, wanted: int) -> None:
        if entry.pins:
            self._held -= entry.own - max(0, wanted - len(entry.chain))
            for key in entry.chain[wanted:]:
                self._shared[key].pinned -= 1
                self._held -= not self._shared[key].pinned
        self.freed += self._release(entry, wanted)

    def _take(self, fresh: int) -> None:
        self.used += fresh
        self.admitted += fresh
        self.peak = max(self.peak, self.used)

    def _evict(self, fresh: int) -> Evicted:
        if self.capacity - self.used >= fresh:
            return ()
        victims: list[Hashable] = []
        while self.capacity - self.used < fresh:
            victim = self.choose(tuple(self._idle)) if self.choose else next(iter(self._idle))
            entry = self._idle.pop(victim)
            self.evicted += self._release(entry, 0)
            victims.append(victim)
        return tuple(victims)

    def _release(self, entry: _Entry, kept: int) -> int:
        """Cut an entry down to its first `kept` blocks, and return how many blocks that gave back."""
        own = max(0, kept - len(entry.chain))
        given_back, entry.own = entry.own - own, own
        for key in entry.chain[kept:]:
            block = self._shared[key]
            block.holders -= 1
            if not block.holders:
                del self._shared[key]
                given_back += 1
        entry.chain = entry.chain[:kept]
        self.used -= given_back
        return given_back


def hash_chain(tokens: Sequence[int], block_size: int) -> tuple[bytes, ...]:
    """Return the keys of the full blocks of a prompt: each a hash of its tokens and of the key before it."""
    keys: list[bytes] = []
    before = b""
    for end in range(_count(block_size, "block_size"), len(tokens) + 1, block_size):
        content = ",".join(map(str, tokens[end - block_size : end]))
        before = blake2b(before + content.encode(), digest_size=16).digest()
        keys.append(before)
    return tuple(keys)


def _count(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} is {value!r}; it must be a whole number of at least 1")
    return value
