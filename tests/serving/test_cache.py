"""The cache manager against a slow one written out block by block, and what must hold after every operation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from spec.serving.cache import CacheManager, Chain, InUse, NotResident, hash_chain

pytestmark = pytest.mark.law

NAMES = st.sampled_from("abcdef")
FEW = st.sampled_from("abc")  # so that operations often meet a resident request
SIZES = st.integers(1, 40)
# Two conversations that begin alike: a key stands for all that is before it, so the trees part for good.
CHAINS = [("s1", "s2", "x3", "x4"), ("s1", "s2", "y3"), ("s1", "z2"), ()]


class BlockByBlock:
    """The same contract with every block written out: a request is a list of blocks, and use is a list of names."""

    def __init__(self, capacity: int, size: int) -> None:
        self.capacity, self.size = capacity, size
        self.blocks: dict[str, list[Hashable]] = {}
        self.tokens: dict[str, int] = {}
        self.pins: dict[str, int] = {}
        self.recent: list[str] = []
        self.made = 0

    def used(self, names: Iterable[str]) -> set[Hashable]:
        return {block for name in names for block in self.blocks[name]}

    def private(self, count: int) -> list[Hashable]:
        self.made += count
        return [("own", n) for n in range(self.made - count, self.made)]

    def use(self, name: str) -> None:
        self.recent = [*(other for other in self.recent if other != name), name]

    def remove(self, name: str) -> None:
        for table in (self.blocks, self.tokens, self.pins):
            table.pop(name)
        self.recent.remove(name)

    def resize(self, name: str, tokens: int, chain: Chain = ()) -> tuple[str, ...] | None:
        wanted = -(-tokens // self.size)
        old = self.blocks.get(name)
        held = list(chain[: tokens // self.size]) if old is None else old[:wanted]
        held += self.private(wanted - len(held))
        victims: list[str] = []
        idle = [other for other in self.recent if not self.pins[other] and other != name]
        while len(self.used(set(self.blocks) - {name, *victims}) | set(held)) > self.capacity:
            if len(victims) == len(idle):
                return None
            victims.append(idle[len(victims)])
        for victim in victims:
            self.remove(victim)
        self.blocks[name], self.tokens[name] = held, tokens
        self.pins.setdefault(name, 0)
        self.use(name)
        return tuple(victims)


class AgainstBlockByBlock(RuleBasedStateMachine):
    @initialize(capacity=st.integers(3, 12), size=st.integers(1, 4))
    def start(self, capacity: int, size: int) -> None:
        self.real, self.slow = CacheManager(capacity, size), BlockByBlock(capacity, size)
        self.accesses = 0
        self.last_peak = 0

    @rule(name=FEW, tokens=st.integers(1, 24), chain=st.sampled_from(CHAINS))
    def reserve(self, name: str, tokens: int, chain: Chain) -> None:
        self.accesses += 1
        fits = self.real.fits(name, tokens, chain)
        before = self.real.resident
        self.compare(lambda: self.real.reserve(name, tokens, chain), self.slow.resize(name, tokens, chain))
        assert fits or self.real.resident == before
        assert not fits or self.real.tokens(name) == tokens

    @rule(name=FEW, tokens=st.integers(1, 9))
    def grow(self, name: str, tokens: int) -> None:
        if name in self.slow.tokens:
            expected = self.slow.resize(name, self.slow.tokens[name] + tokens)
            self.compare(lambda: self.real.grow(name, tokens), expected)
        else:
            with pytest.raises(NotResident):
                self.real.grow(name, tokens)

    def compare(self, call: Callable[[], object], expected: tuple[str, ...] | None) -> None:
        before = self.state()
        assert call() == expected
        if expected is None:
            assert self.state() == before, "a refusal changed something"

    @rule(name=FEW, tokens=st.integers(1, 12), chain=st.sampled_from(CHAINS))
    def admit(self, name: str, tokens: int, chain: Chain) -> None:
        self.reserve(name, tokens, chain)
        self.pin(name)

    @rule(name=FEW)
    def touch(self, name: str) -> None:
        self.accesses += 1
        assert self.real.touch(name) == (name in self.slow.blocks)
        if name in self.slow.blocks:
            self.slow.use(name)

    @rule(name=FEW)
    def pin(self, name: str) -> None:
        if name in self.slow.blocks:
            self.real.pin(name)
            self.slow.pins[name] += 1
        else:
            with pytest.raises(NotResident):
                self.real.pin(name)

    @rule(name=FEW)
    def unpin(self, name: str) -> None:
        if self.slow.pins.get(name):
            self.real.unpin(name)
            self.slow.pins[name] -= 1
            if not self.slow.pins[name]:
                self.slow.use(name)
        else:
            with pytest.raises((NotResident, ValueError)):
                self.real.unpin(name)

    @rule(name=FEW)
    def free(self, name: str) -> None:
        if name not in self.slow.blocks:
            with pytest.raises(NotResident):
                self.real.free(name)
        elif self.slow.pins[name]:
            with pytest.raises(InUse):
                self.real.free(name)
        else:
            self.real.free(name)
            self.slow.remove(name)

    @precondition(lambda self: hasattr(self, "real"))
    @rule(chain=st.sampled_from(CHAINS))
    def shared(self, chain: Chain) -> None:
        here = self.slow.used(self.slow.blocks)
        leading = next((n for n, key in enumerate(chain) if key not in here), len(chain))
        assert self.real.shared(chain) == leading * self.slow.size
        assert not here.intersection(chain[leading:]), "a block is here without what it follows"

    def state(self) -> tuple[object, ...]:
        real = self.real
        return (real.resident, real.used, real.available, real.admitted, real.evicted, real.freed)

    @invariant()
    def accounts_agree(self) -> None:
        if not hasattr(self, "real"):
            return
        real, slow = self.real, self.slow
        assert real.used == len(slow.used(slow.blocks))
        pinned = [name for name in slow.recent if slow.pins[name]]
        assert real.available == real.capacity - len(slow.used(pinned))
        idle = [name for name in slow.recent if not slow.pins[name]]
        assert real.resident[: len(idle)] == tuple(idle)
        assert set(real.resident[len(idle) :]) == set(pinned)
        assert all(real.tokens(name) == slow.tokens[name] for name in slow.recent)
        assert 0 <= real.used <= real.peak <= real.capacity
        assert real.peak >= self.last_peak
        self.last_peak = real.peak
        assert real.admitted == real.used + real.evicted + real.freed
        assert real.hits + real.misses == self.accesses


AgainstBlockByBlock.TestCase.settings = settings(max_examples=100, stateful_step_count=50)
TestAgainstBlockByBlock = AgainstBlockByBlock.TestCase

PROGRAMS = st.lists(st.tuples(NAMES, SIZES), max_size=30)


def misses(capacity: int, program: list[tuple[str, int]]) -> int:
    cache = CacheManager(capacity)
    for name, size in program:
        if not cache.touch(name):
            cache.misses -= 1  # the reservation counts it
            cache.reserve(name, size)
    return cache.misses


@given(PROGRAMS, st.integers(40, 120), st.integers(0, 60))
def test_a_larger_cache_misses_no_more_where_every_request_fits(
    program: list[tuple[str, int]], capacity: int, more: int
) -> None:
    sizes = dict(program)  # one size for each name
    fixed = [(name, sizes[name]) for name, _ in program]
    assert misses(capacity + more, fixed) <= misses(capacity, fixed)


@given(PROGRAMS, st.integers(1, 60), st.integers(0, 60))
def test_a_larger_cache_misses_no_more_where_requests_grow_within_the_smaller(
    program: list[tuple[str, int]], more: int, capacity: int
) -> None:
    """A name that comes again is larger by what it says, as a conversation is."""
    totals: dict[str, int] = {}
    growing = []
    for name, size in program:
        totals[name] = totals.get(name, 0) + size
        growing.append((name, totals[name]))
    room = max(totals.values(), default=1) + capacity

    def reserved(capacity: int) -> int:
        cache = CacheManager(capacity)
        assert all(cache.reserve(name, size) is not None for name, size in growing)
        return cache.misses

    assert reserved(room + more) <= reserved(room)


def test_a_larger_cache_can_miss_more_where_what_never_fits_is_passed_by() -> None:
    """In 2 blocks b is refused and a stays; in 3 blocks b drives a out."""
    program = [("a", 1), ("b", 3), ("a", 1)]
    assert (misses(2, program), misses(3, program)) == (2, 3)


def test_the_first_in_first_out_can_miss_more_in_a_larger_cache() -> None:
    """The least recent is what makes a larger cache no worse: the oldest does not (Belady's anomaly)."""

    def oldest_out(capacity: int) -> int:
        kept: list[str] = []
        missed = 0
        for name in "123412512345":
            if name not in kept:
                missed += 1
                kept = [*kept[len(kept) == capacity :], name]
        return missed

    assert (oldest_out(3), oldest_out(4)) == (9, 10)
    assert misses(4, [(name, 1) for name in "123412512345"]) <= misses(3, [(name, 1) for name in "123412512345"])


@given(st.integers(1, 50), st.integers(1, 8), st.integers(1, 500))
def test_what_is_larger_than_the_cache_is_refused_with_nobody_evicted(capacity: int, size: int, more: int) -> None:
    cache = CacheManager(capacity, size)
    assert cache.reserve("small", 1) == ()
    assert cache.reserve("large", capacity * size + more) is None
    assert cache.resident == ("small",)


@given(st.integers(2, 20), st.integers(1, 8), st.data())
def test_freeing_after_reserving_leaves_as_many_blocks_as_before(capacity: int, size: int, data: st.DataObject) -> None:
    cache = CacheManager(capacity, size)
    cache.reserve("a", data.draw(st.integers(1, size * (capacity - 1))))
    before, evicted = cache.used, cache.evicted
    cache.touch("a")
    reserved = cache.reserve("b", data.draw(st.integers(1, size * capacity)))
    assume(reserved is not None)
    cache.free("b")
    # Without the words about the evicted this is false: what went for b does not come back.
    assert cache.used == before - (cache.evicted - evicted)
    with pytest.raises(NotResident):
        cache.free("b")


def test_the_least_recently_used_goes_first_and_no_more_than_it_takes() -> None:
    """Four of 4,096 tokens fill 16,384; after a is used again, 5,000 drive out b and c."""
    cache = CacheManager(16384)
    for name in "abcd":
        assert cache.reserve(name, 4096) == ()
    assert cache.used == cache.capacity
    cache.touch("a")
    assert cache.reserve("e", 5000) == ("b", "c")
    assert cache.resident == ("d", "a", "e")
    assert cache.reserve("z", 10**6) is None


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 400), st.integers(0, 400))
def test_requests_that_begin_alike_hold_the_common_blocks_once(size: int, common: int, a: int, b: int) -> None:
    prompt = list(range(size * common))
    ours, theirs = [*prompt, *[1] * a], [*prompt, *[2] * b]
    cache = CacheManager(10_000, size)
    cache.reserve("a", len(ours), hash_chain(ours, size))
    assert cache.shared(hash_chain(theirs, size)) == size * common
    cache.reserve("b", len(theirs), hash_chain(theirs, size))
    assert cache.used == cache.blocks(len(ours)) + cache.blocks(len(theirs)) - common
    cache.free("a")
    assert cache.used == cache.blocks(len(theirs))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 12))
def test_with_nobody_pinned_what_fits_the_empty_cache_is_kept(capacity: int, first: int, second: int) -> None:
    """Also where both begin alike: common blocks are kept, not evicted to make room for whom they serve."""
    cache = CacheManager(capacity)
    for name, tokens in (("a", first), ("b", second)):
        assert (cache.reserve(name, tokens, range(tokens)) is not None) == (tokens <= capacity)


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4))
def test_keys_agree_as_far_as_whole_blocks_do(left: list[int], right: list[int], size: int) -> None:
    ours, theirs = hash_chain(left, size), hash_chain(right, size)
    assert len(ours) == len(left) // size
    for n in range(min(len(ours), len(theirs))):
        assert (ours[n] == theirs[n]) == (left[: size * (n + 1)] == right[: size * (n + 1)])


def test_digits_that_run_together_make_no_common_key() -> None:
    assert hash_chain([1, 23], 2) != hash_chain([12, 3], 2)


@pytest.mark.parametrize("bad", [0, -1, True, 1.5, "3", None])
def test_only_whole_numbers_from_one_are_sizes(bad: object) -> None:
    cache = CacheManager(4, 2)
    cache.reserve("a", 1)
    for call in (
        lambda: CacheManager(bad),  # type: ignore[arg-type]
        lambda: CacheManager(1, bad),  # type: ignore[arg-type]
        lambda: cache.reserve("b", bad),  # type: ignore[arg-type]
        lambda: cache.grow("a", bad),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match="whole number of at least 1"):
            call()
    assert (cache.resident, cache.misses) == (("a",), 1)


def test_a_key_that_comes_twice_is_no_chain() -> None:
    with pytest.raises(ValueError, match="comes twice"):
        CacheManager(4).reserve("a", 4, ("k", "k"))


@pytest.mark.parametrize("error", [NotResident("a"), InUse("a")])
def test_an_error_names_the_request(error: NotResident | InUse) -> None:
    assert error.request == "a"
    assert "'a'" in str(error)
