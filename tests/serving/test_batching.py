"""Static against continuous batching: what is always so, and what is tempting and false, with the smallest case.

A job of n decode steps is a request for n + 1 tokens, since the first comes from prefill, which takes no time here
unless a case says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous, Static
from spec.serving.engine import Engine
from spec.serving.metrics import metrics
from spec.serving.request import NANOSECONDS, Request, State
from spec.serving.scheduler import DecodeFirst, PrefillFirst
from spec.serving.server import Run, Server
from spec.serving.timing import BySize
from tests.serving.served import chapter_server, timing_of

pytestmark = pytest.mark.law

Step = Callable[[int], int]
JOBS = st.lists(st.integers(1, 12), min_size=1, max_size=14)
SLOTS = st.integers(1, 5)
RISING = st.lists(st.integers(0, 4), min_size=6, max_size=6).map(lambda more: lambda size: 1 + sum(more[:size]))
UNIT = lambda _: 1  # noqa: E731
BLOCK = 1000  # tokens; a job of r blocks has a prompt that leaves its output in the last of them


def requests(jobs: Sequence[int], arrivals: Sequence[int] = (), blocks: Sequence[int] = ()) -> list[Request]:
    return [
        Request(n, arrivals[n] if arrivals else 0, BLOCK * (blocks[n] - 1) + 1 if blocks else 1, job + 1)
        for n, job in enumerate(jobs)
    ]


def run(
    jobs: Sequence[int],
    batching: Static | Continuous,
    step: Step = UNIT,
    *,
    arrivals: Sequence[int] = (),
    blocks: Sequence[int] = (),
    budget: int = 10**6,
    backfill: bool = False,
    prefill: int = 0,
) -> Run:
    timing = BySize(step, lambda _: prefill)
    server = Server(timing, budget, BLOCK, batching, PrefillFirst(10**9), Rules(backfill=backfill))
    return Engine(server, requests(jobs, arrivals, blocks)).run()


def finishes(jobs: Sequence[int], batching: Static | Continuous, step: Step = UNIT, **more: object) -> list[int]:
    ended = [job.finish for job in run(jobs, batching, step, **more).jobs]  # type: ignore[arg-type]
    assert None not in ended
    return ended  # type: ignore[return-value]


def full(slots: int, *, padded: bool = True) -> Static:
    """Return batches that wait until they are full, or for longer than anything here takes."""
    return Static(slots, 10**6, padded)


def in_full_batches(jobs: list[int], slots: int) -> list[int]:
    assume(len(jobs) >= slots)
    return jobs[: len(jobs) // slots * slots]


# Static batches


@given(JOBS, SLOTS)
def test_static_batches_take_the_longest_of_each(jobs: list[int], slots: int) -> None:
    """I44."""
    jobs = in_full_batches(jobs, slots)
    longest = [max(jobs[start : start + slots]) for start in range(0, len(jobs), slots)]
    for padded in (True, False):
        assert max(finishes(jobs, full(slots, padded=padded))) == sum(longest)
    assert finishes(jobs, full(slots)) == [sum(longest[: n // slots + 1]) for n in range(len(jobs))]


def test_a_larger_static_batch_can_take_longer() -> None:
    """(1, 1, 2, 2): in twos 3, in threes 4 (I42)."""
    assert max(finishes([1, 1, 2, 2], full(2))) == 3
    assert max(finishes([1, 1, 2, 2], Static(3, 0))) == 4


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(1, 3))
def test_the_longest_first_end_soonest(jobs: list[int], slots: int) -> None:
    """I43, with the last batch run as it is."""
    soonest = min(max(finishes(order, Static(slots, 0))) for order in permutations(jobs))
    assert max(finishes(sorted(jobs, reverse=True), Static(slots, 0))) == soonest


def test_without_a_flush_the_last_may_wait_for_ever() -> None:
    states = [job.state for job in run([1, 1, 1], Static(2)).jobs]
    assert states == [State.DONE, State.DONE, State.WAITING]
    assert finishes([1, 1, 1], Static(2, 5)) == [1, 1, 6]


def test_a_padded_batch_takes_all_that_its_longest_prompt_and_output_leave_room_for() -> None:
    """16 of 100 tokens each fit 1,600; with one of 200 among them only 8 do, though 17 x 100 would."""
    server = Server(BySize(UNIT), 1600, 1, Static(16, 0))
    short, long = [Request(n, 0, 60, 40) for n in range(20)], [Request(3, 0, 160, 40)]
    for several, first in ((short, 16), ([*short[:3], *long, *short[4:]], 8)):
        engine = Engine(server, several)
        engine.step()
        assert len(engine.admission.flight) == first


def test_the_longest_prompt_and_the_longest_output_need_not_be_one_request() -> None:
    """(30, 10) and (10, 30) are laid out as two of (30, 30): 120 tokens."""
    pair = [Request(1, 0, 30, 10), Request(2, 0, 10, 30)]
    for room, together in ((120, 2), (119, 1)):
        engine = Engine(Server(BySize(UNIT), room, 1, Static(2, 0)), pair)
        engine.step()
        assert len(engine.admission.flight) == together


def test_a_batch_that_nobody_checked_takes_what_its_outputs_turn_out_to_be() -> None:
    short = [Request(n, 0, 10, 2, 100) for n in range(2)]
    careless = Server(BySize(UNIT), 22, 1, Static(2, 0), rules=Rules(Reserve.NONE))
    assert not Engine(careless, short).run().tally.crashes


def test_a_padded_batch_that_nobody_checked_runs_out_of_memory() -> None:
    """15 of 50 and one of 80 need 830; padded they need 1,280 (C6)."""
    batch = [Request(n, 0, 50 if n else 80, 1) for n in range(16)]
    careless = Server(BySize(UNIT), 1000, 1, Static(16, 0), rules=Rules(Reserve.NONE))
    ended = Engine(careless, batch).run()
    assert [crash.members for crash in ended.tally.crashes] == [tuple(range(16))]
    unpadded = Server(BySize(UNIT), 1000, 1, Static(16, 0, padded=False), rules=Rules(Reserve.NONE))
    assert not Engine(unpadded, batch).run().tally.crashes


# Continuous batches alone


@given(JOBS, SLOTS, st.lists(st.integers(0, 20), min_size=14, max_size=14))
def test_nobody_waits_beside_a_free_slot(jobs: list[int], slots: int, arrivals: list[int]) -> None:
    """I51, I95."""
    ended = run(jobs, Continuous(slots), arrivals=arrivals).jobs
    for job in ended:
        assert job.admitted is not None
        beside = [o for o in ended if o.admitted is not None and o.finish and o.admitted < job.admitted < o.finish]
        assert job.admitted == job.arrival or len(beside) < slots
        during = range(job.arrival, job.admitted)
        for tick in during:
            busy = [o for o in ended if o.admitted is not None and o.finish and o.admitted <= tick < o.finish]
            assert len(busy) == slots
        assert job.finish == job.admitted + job.request.output - 1
    starts = [job.admitted for job in ended]
    assert starts == sorted(starts, key=lambda start: start or 0)


@given(JOBS, SLOTS)
def test_the_makespan_lies_between_the_bounds_of_list_scheduling(jobs: list[int], slots: int) -> None:
    """I52, I56."""
    ended = run(jobs, Continuous(slots))
    least = max(*jobs, -(-sum(jobs) // slots))
    assert least <= ended.end
    assert ended.end * slots <= sum(jobs) + (slots - 1) * max(jobs)
    assert ended.tally.decoded == ended.tally.running_time == sum(jobs)


@given(JOBS, SLOTS)
def test_all_slots_are_busy_until_the_queue_is_empty(jobs: list[int], slots: int) -> None:
    """I53."""
    ended = run(jobs, Continuous(slots)).jobs
    busy = [sum((job.admitted or 0) <= tick < (job.finish or 0) for job in ended) for tick in range(sum(jobs))]
    left = [sum(tick < (job.finish or 0) for job in ended) for tick in range(sum(jobs))]
    assert busy == [min(slots, count) for count in left]
    assert busy == sorted(busy, reverse=True)


@given(JOBS, SLOTS)
def test_at_a_constant_step_one_more_slot_delays_nobody(jobs: list[int], slots: int) -> None:
    """I54."""
    before, after = (finishes(jobs, Continuous(count)) for count in (slots, slots + 1))
    assert all(new <= old for new, old in zip(after, before, strict=True))


def test_where_a_larger_batch_is_slower_one_more_slot_delays_somebody() -> None:
    """(1, 1, 1), steps of 1 + B: the first ends at 3 with two slots, at 4 with three."""
    step = lambda size: 1 + size  # noqa: E731
    assert finishes([1, 1, 1], Continuous(2), step)[0] == 3
    assert finishes([1, 1, 1], Continuous(3), step)[0] == 4


RIGID = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 4)), min_size=1, max_size=9)


@given(RIGID, st.integers(4, 9), st.integers(1, 4), st.data())
def test_without_backfill_more_room_or_a_shorter_job_delays_nobody(
    drawn: list[tuple[int, int]], budget: int, more: int, data: st.DataObject
) -> None:
    """I55, at a constant step."""
    jobs, blocks = [job for job, _ in drawn], [count for _, count in drawn]
    slots = Continuous(len(jobs))
    before = finishes(jobs, slots, blocks=blocks, budget=budget)
    larger = finishes(jobs, slots, blocks=blocks, budget=budget + more)
    assert all(new <= old for new, old in zip(larger, before, strict=True))
    one = data.draw(st.integers(0, len(jobs) - 1))
    shorter = [max(1, job - (n == one)) for n, job in enumerate(jobs)]
    sooner = finishes(shorter, slots, blocks=blocks, budget=budget)
    assert all(new <= old for new, old in zip(sooner, before, strict=True))


def test_with_backfill_more_room_can_take_longer() -> None:
    """Jobs (1, 1, 2) with 2, 2 and 1 blocks: of 3 blocks the long one takes the third, of 4 the second job does."""
    ends = [
        max(finishes([1, 1, 2], Continuous(3), blocks=[2, 2, 1], budget=budget, backfill=True)) for budget in (3, 4)
    ]
    assert ends == [2, 3]


def test_with_backfill_a_shorter_job_can_delay_the_others() -> None:
    blocks = [2, 1, 1, 2, 1]
    ends = [
        max(finishes(jobs, Continuous(5), blocks=blocks, budget=4, backfill=True))
        for jobs in ([2, 1, 2, 1, 4], [2, 1, 1, 1, 4])
    ]
    assert ends == [5, 6]


# Continuous against static


@given(JOBS, SLOTS, st.integers(1, 5), st.lists(st.integers(0, 9), min_size=14, max_size=14))
def test_nobody_is_later_where_all_arrive_between_steps(
    jobs: list[int], slots: int, step: int, gaps: list[int]
) -> None:
    """I45."""
    jobs = in_full_batches(jobs, slots)
    arrivals = [step * gap for gap in sorted(gaps)]
    same = lambda _: step  # noqa: E731
    static, cont = (finishes(jobs, b, same, arrivals=arrivals) for b in (full(slots), Continuous(slots)))
    assert all(ours <= theirs for ours, theirs in zip(cont, static, strict=True))


@given(JOBS, SLOTS, st.integers(1, 5), st.lists(st.integers(0, 40), min_size=14, max_size=14))
def test_who_arrives_inside_a_step_is_later_by_less_than_one(
    jobs: list[int], slots: int, step: int, arrivals: list[int]
) -> None:
    jobs = in_full_batches(jobs, slots)
    arrivals = sorted(arrivals)
    same = lambda _: step  # noqa: E731
    static, cont = (finishes(jobs, b, same, arrivals=arrivals) for b in (full(slots), Continuous(slots)))
    assert all(ours < theirs + step for ours, theirs in zip(cont, static, strict=True))


def test_who_arrives_inside_a_step_can_be_later() -> None:
    """(1, 1) at 0 and 1, steps of 3, two slots: continuous 3 and 6, static 4 and 4."""
    step = lambda _: 3  # noqa: E731
    assert finishes([1, 1], Continuous(2), step, arrivals=[0, 1]) == [3, 6]
    assert finishes([1, 1], full(2), step, arrivals=[0, 1]) == [4, 4]


@given(JOBS, SLOTS, RISING)
def test_nobody_is_later_than_padded_where_all_are_there_at_the_start(jobs: list[int], slots: int, step: Step) -> None:
    """I46: whatever a larger batch costs."""
    jobs = in_full_batches(jobs, slots)
    static, cont = (finishes(jobs, b, step) for b in (full(slots), Continuous(slots)))
    assert all(ours <= theirs for ours, theirs in zip(cont, static, strict=True))


@given(JOBS, SLOTS, st.integers(0, 5), st.integers(0, 5))
def test_all_end_no_later_than_unpadded_where_steps_are_affine(jobs: list[int], slots: int, a: int, c: int) -> None:
    """I47."""
    jobs = in_full_batches(jobs, slots)
    step = lambda size: a + c * size  # noqa: E731
    static, cont = (finishes(jobs, b, step) for b in (full(slots, padded=False), Continuous(slots)))
    assert max(cont) <= max(static)


def test_one_of_them_can_be_later_than_unpadded_and_the_mean_too() -> None:
    """(1, 2, 1), two slots, steps of 1 + 5B: 11, 22, 22 against 11, 17, 23."""
    step = lambda size: 1 + 5 * size  # noqa: E731
    assert finishes([1, 2, 1], Continuous(2), step) == [11, 22, 22]
    assert finishes([1, 2, 1], Static(2, 0, padded=False), step) == [11, 17, 23]


def test_all_can_end_later_than_unpadded_where_a_step_has_a_floor() -> None:
    """(1, 2, 2, 1, 1), three slots, steps of max(2, B): 8 against 7 (I48)."""
    step = lambda size: max(2, size)  # noqa: E731
    jobs = [1, 2, 2, 1, 1]
    assert max(finishes(jobs, Continuous(3), step)) == 8
    assert max(finishes(jobs, Static(3, 0, padded=False), step)) == 7


def test_all_can_end_later_where_letting_somebody_in_takes_a_pass() -> None:
    """(1, 2, 1, 1), two slots, a pass of one step each time: 6 against 5 (I49)."""
    jobs = [1, 2, 1, 1]
    assert max(finishes(jobs, Continuous(2), prefill=1)) == 6
    assert max(finishes(jobs, full(2), prefill=1)) == 5


def test_that_is_so_on_the_roofline_for_short_prompts_and_not_for_long_ones() -> None:
    """Eight slots, outputs of 2 to 9 twice, the chapter's server at its peak: 125.4 against 119.1 ms with 16 tokens."""
    timing = timing_of(chapter_server(mfu=Fraction(1), mbu=Fraction(1)))
    for prompt, expected in ((16, (125.4, 119.1)), (1024, (822.7, 857.3))):
        jobs = [Request(n, 0, prompt, 2 + n % 8) for n in range(16)]
        servers = [Server(timing, 10**6, 1, b, PrefillFirst(10**9)) for b in (Continuous(8), Static(8))]
        ends = [Engine(server, jobs).run() for server in servers]
        assert [round(1000 * ended.end / ended.ticks_per_second, 1) for ended in ends] == list(expected)


def test_where_prefill_takes_time_more_room_can_delay_even_without_backfill() -> None:
    """Four requests in 11 tokens and in 12: the last but one comes in sooner, and its prefill holds up the others."""
    crowd = [Request(0, 1, 1, 1, 2), Request(1, 0, 1, 2, 4), Request(2, 0, 1, 2, 3), Request(3, 1, 1, 3, 5)]
    stays = []
    for room in (11, 12):
        ended = Engine(Server(BySize(UNIT, lambda count: count), room, 1, Continuous(4)), crowd).run()
        stays.append(sum((job.finish or 0) - job.arrival for job in ended.jobs))
    assert stays == [15, 16]


def test_prefill_first_makes_no_fewer_tokens_than_decode_first_where_many_wait() -> None:
    """It keeps the batch full (I85, C98)."""
    load = [Request(n, n * NANOSECONDS // 5, 490, 100 + 37 * n % 401) for n in range(300)]
    rates = []
    for scheduler in (PrefillFirst(), DecodeFirst()):
        server = Server(timing_of(chapter_server()), 102_996, 1, Continuous(16), scheduler)
        rates.append(metrics(server, Engine(server, load).run()).token_rate)
    assert rates[0] > rates[1]


def test_all_can_end_later_than_batches_sorted_by_length() -> None:
    """(1, 2, 1, 2), two slots: 4 against 3 (I50)."""
    assert max(finishes([1, 2, 1, 2], Continuous(2))) == 4
    assert max(finishes([1, 1, 2, 2], full(2))) == 3


def test_sixty_four_jobs_in_eight_slots_as_the_chapter_has_them() -> None:
    """Eight lengths eight times: 8 x 1,024 x 8 steps padded, and nine tenths of the slots busy without."""
    lengths = [128, 256, 512, 1024, 384, 768, 640, 384]
    jobs = [lengths[(5 * n + n // 8) % 8] for n in range(64)]
    cont, static = run(jobs, Continuous(8)), run(jobs, full(8))
    assert sum(jobs) == 32768
    assert cont.tally.decoded == sum(jobs)
    assert static.tally.decoded == static.end * 8
    assert static.tally.decode_padding == static.end * 8 - sum(jobs)
    assert cont.end < static.end
    theirs = [job.finish or 0 for job in static.jobs]
    assert all((job.finish or 0) <= other for job, other in zip(cont.jobs, theirs, strict=True))


@pytest.mark.parametrize("bad", [0, -1])
def test_batches_that_make_no_sense_are_refused(bad: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Continuous(bad)
    with pytest.raises(ValueError, match="at least 1"):
        Static(bad)
    with pytest.raises(ValueError, match="at least 0"):
        Static(1, bad - 1)
