"""Admission: nobody is let in whom there is no room for, and everybody is accounted for."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from spec.serving.admission import Admission, OutOfMemory, Reserve, Rules, let_in
from spec.serving.cache import CacheManager
from spec.serving.request import Job, Request, State

pytestmark = pytest.mark.law

SHARES = st.fractions(0, Fraction(9, 10), max_denominator=10)


def job(number: int, prompt: int, output: int, limit: int = 0) -> Job:
    return Job(Request(number, 0, prompt, output, limit), 0)


class Counter(RuleBasedStateMachine):
    """Requests come, go in, grow and leave; what they reserve and what they use is added up by hand."""

    @initialize(
        capacity=st.integers(1, 20),
        size=st.integers(1, 4),
        queue=st.none() | st.integers(0, 4),
        watermark=SHARES,
        backfill=st.booleans(),
        reserve=st.sampled_from([Reserve.TURN, Reserve.PROMPT]),
    )
    def start(
        self, *, capacity: int, size: int, queue: int | None, watermark: Fraction, backfill: bool, reserve: Reserve
    ) -> None:
        rules = Rules(reserve, queue, retry_after=7, watermark=watermark, backfill=backfill)
        self.cache = CacheManager(capacity, size)
        self.admission = Admission(self.cache, rules)
        self.jobs: list[Job] = []
        self.use: dict[Job, int] = {}

    @rule(prompt=st.integers(1, 30), output=st.integers(1, 10), more=st.integers(0, 20))
    def arrive(self, prompt: int, output: int, more: int) -> None:
        new = job(len(self.jobs), prompt, output, output + more)
        self.jobs.append(new)
        before = (list(self.admission.waiting), self.cache.resident, self.cache.used)
        never = self.cache.blocks(prompt + output + more) > self.cache.capacity
        full = self.admission.rules.queue is not None and len(before[0]) >= self.admission.rules.queue
        assert self.admission.arrive(new) == (not never and not full)
        if never or full:
            assert new.state is State.REFUSED
            assert (list(self.admission.waiting), self.cache.resident, self.cache.used) == before
            assert new.retry_after == (None if never else 7)

    @precondition(lambda self: hasattr(self, "cache"))
    @rule()
    def admit(self) -> None:
        waiting, alone = list(self.admission.waiting), not self.admission.flight
        entered = self.admission.admit()
        if entered is None:
            assert not (waiting and alone), "nothing is in flight, and still nobody may come in"
            return
        assert entered in waiting
        assert self.admission.rules.backfill or entered is waiting[0]
        self.use[entered] = entered.prompt
        if not alone:
            share = self.admission.rules.watermark
            assert self.cache.available * share.denominator >= self.cache.capacity * share.numerator

    @precondition(lambda self: getattr(self, "use", None))
    @rule(data=st.data(), tokens=st.integers(1, 5))
    def grow(self, data: st.DataObject, tokens: int) -> None:
        """Generate, never more than was asked for; where only the prompt was reserved there may be no room."""
        one = data.draw(st.sampled_from(list(self.use)))
        tokens = min(tokens, one.prompt + one.request.output - self.use[one])
        more = self.use[one] + tokens - self.cache.tokens(one.name)
        grown = more <= 0 or self.cache.grow(one.name, more) is not None
        assert grown or self.admission.rules.reserve is Reserve.PROMPT, "reserved, and still out of room"
        self.use[one] += tokens if grown else 0

    @precondition(lambda self: getattr(self, "use", None))
    @rule(data=st.data(), how=st.sampled_from(["release", "put back", "cancel"]))
    def leave(self, data: st.DataObject, how: str) -> None:
        one = data.draw(st.sampled_from(list(self.use)))
        del self.use[one]
        if how == "release":
            self.admission.release(one)
        elif how == "cancel":
            self.admission.cancel(one)
        else:
            self.admission.put_back(one)
            assert self.admission.waiting[0] is one
        assert one.name not in self.cache

    @precondition(lambda self: hasattr(self, "cache") and self.admission.waiting)
    @rule(data=st.data())
    def lose_patience(self, data: st.DataObject) -> None:
        self.admission.cancel(data.draw(st.sampled_from(list(self.admission.waiting))))

    @invariant()
    def accounts_agree(self) -> None:
        if not hasattr(self, "cache"):
            return
        admission, cache = self.admission, self.cache
        waiting = len(admission.waiting)
        assert admission.arrived == len(self.jobs)
        assert admission.arrived + admission.returned == (
            admission.refused + admission.cancelled + admission.admitted + waiting
        )
        assert admission.admitted == admission.released + len(admission.flight)
        assert list(admission.flight.values()) == list(self.use)
        reserved = sum(cache.blocks(cache.tokens(one.name)) for one in self.use)
        assert sum(cache.blocks(tokens) for tokens in self.use.values()) <= reserved == cache.held <= cache.capacity
        assert all(0 < self.use[one] <= cache.tokens(one.name) for one in self.use)
        assert admission.alerting == (10 * cache.held >= 9 * cache.capacity)
        assert admission.rules.queue is None or waiting <= admission.rules.queue + admission.returned


Counter.TestCase.settings = settings(max_examples=100, stateful_step_count=40)
TestCounter = Counter.TestCase


def admit_all(reserve: Reserve, budget: int, *jobs: Job) -> Admission:
    admission = Admission(CacheManager(budget), Rules(reserve))
    for one in jobs:
        admission.arrive(one)
    while admission.admit():
        pass
    return admission


def test_a_prompt_alone_is_no_reservation() -> None:
    """Two requests of 40 tokens that grow to 60 pass into 100 tokens together, and cannot both finish there."""
    jobs = [job(n, 40, 20) for n in (1, 2)]
    careless = admit_all(Reserve.PROMPT, 100, *jobs)
    assert len(careless.flight) == 2
    assert careless.cache.grow(1, 20) == ()
    assert careless.cache.grow(2, 20) is None
    assert len(admit_all(Reserve.TURN, 100, *(job(n, 40, 20) for n in (1, 2))).flight) == 1


@given(st.integers(1, 50), st.integers(1, 50))
def test_an_exact_fit_is_let_in(prompt: int, output: int) -> None:
    assert len(admit_all(Reserve.TURN, prompt + output, job(1, prompt, output)).flight) == 1


@pytest.mark.parametrize("backfill", [False, True])
def test_only_backfill_passes_one_that_does_not_fit(*, backfill: bool) -> None:
    admission = Admission(CacheManager(10), Rules(backfill=backfill))
    for one in (job(1, 6, 1), job(2, 6, 1), job(3, 2, 1)):
        admission.arrive(one)
    assert admission.admit() is not None
    passed = admission.admit()
    assert (passed.request.id if passed else None) == (3 if backfill else None)


@given(st.sampled_from([10, 20, 30]), st.integers(1, 30))
def test_the_alert_is_raised_at_nine_tenths_exactly(capacity: int, tokens: int) -> None:
    admission = admit_all(Reserve.PROMPT, capacity, job(1, tokens, 1))
    assert admission.alerting == (bool(admission.flight) and 10 * tokens >= 9 * capacity)


@pytest.mark.parametrize(("tokens", "reused"), [(8, 7), (9, 8), (20, 8)])
def test_the_last_token_of_a_prompt_is_always_worked_on(tokens: int, reused: int) -> None:
    admission = Admission(CacheManager(100, 4), Rules())
    for number, prompt in ((1, 12), (2, tokens)):
        admission.arrive(Job(Request(number, 0, prompt, 1, chain=("a", "b", f"c{number}")), 0))
        admission.admit()
    assert admission.flight[2].reused == reused


def test_a_server_that_checks_nothing_finds_out_too_late() -> None:
    with pytest.raises(OutOfMemory) as error:
        admit_all(Reserve.NONE, 100, job(1, 60, 1), job(2, 60, 1))
    assert error.value.job.request.id == 2


def test_two_turns_of_a_conversation_at_once_are_refused() -> None:
    turns = [Job(Request(n, 0, 5, 1, keep="talk"), 0) for n in (1, 2)]
    with pytest.raises(ValueError, match="two requests named 'talk'"):
        admit_all(Reserve.TURN, 100, *turns)


def test_the_next_turn_finds_the_last_one_unless_its_history_was_cut() -> None:
    admission = admit_all(Reserve.TURN, 100, Job(Request(1, 0, 5, 3, keep="talk"), 0))
    admission.release(admission.flight["talk"], keep=True)
    follow = Job(Request(2, 0, 20, 1, keep="talk", history=8), 0)
    admission.arrive(follow)
    assert (admission.admit(), follow.reused, admission.cache.used) == (follow, 8, 21)
    admission.release(follow, keep=True)
    admission.arrive(Job(Request(3, 0, 6, 1, keep="talk"), 0))
    assert admission.cache.used == 0


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"retry_after": 0}, "retry_after"),
        ({"alert": Fraction(0)}, "alert"),
        ({"alert": Fraction(2)}, "alert"),
        ({"watermark": Fraction(1)}, "watermark"),
        ({"queue": -1}, "queue"),
        ({"patience": 0}, "patience"),
    ],
)
def test_rules_that_make_no_sense_are_refused(values: dict[str, object], names: str) -> None:
    with pytest.raises(ValueError, match=names):
        Rules(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ((1, 0, 0, 1), "less than 1 token"),
        ((1, 0, 1, 0), "less than 1 token"),
        ((1, -1, 1, 1), "before 0"),
        ((1, 0, 1, 5, 4), "over its limit 4"),
        ((1, 0, 5, 5, 5, (), None, 5), "history"),
    ],
)
def test_requests_that_make_no_sense_are_refused(values: tuple[int, ...], names: str) -> None:
    with pytest.raises(ValueError, match=names):
        Request(*values)  # type: ignore[arg-type]


@given(st.lists(st.integers(2, 40), max_size=12), st.integers(1, 120), st.booleans())
def test_of_those_there_at_once_each_is_let_in_that_fits_beside_those_before(
    sizes: list[int],
    budget: int,
    backfill: bool,  # noqa: FBT001  drawn
) -> None:
    found = let_in(sizes, budget, backfill=backfill)
    held, by_hand = 0, []
    for place, size in enumerate(sizes):
        if held + size <= budget:
            held += size
            by_hand.append(place)
        elif size <= budget and not backfill:
            break
    assert list(found) == by_hand


def test_no_request_reserves_less_than_a_token_of_prompt_and_one_of_output() -> None:
    assert let_in([2], 2) == (0,)
    with pytest.raises(ValueError, match="prompt"):
        let_in([1], 2)
