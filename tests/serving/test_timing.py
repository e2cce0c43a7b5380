"""The time model against the laws of prefill and decode, and many steps at once against one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spec.serving.timing import BySize, Roofline, steps_within
from tests.serving.served import chapter_server, timing_of

SERVER = chapter_server()
TIMING = timing_of(SERVER)
ROOFS = st.builds(Roofline, st.just(10**9), *[st.integers(0, 50)] * 5)


def seconds(ticks: int) -> Fraction:
    return Fraction(ticks, TIMING.ticks_per_second)


@pytest.mark.differential
@given(st.integers(1, 20000))
def test_a_prompt_takes_what_the_law_says(prompt: int) -> None:
    assert seconds(TIMING.iteration(0, 0, [(0, prompt)])) == SERVER.prefill_time(prompt)


@pytest.mark.differential
@given(st.integers(1, 300), st.integers(1, 9000))
def test_a_step_takes_what_the_law_says(batch: int, context: int) -> None:
    assert seconds(TIMING.iteration(batch, batch * context, [])) == SERVER.decode_step_time(batch, context)


@pytest.mark.law
@given(ROOFS, st.integers(1, 9), st.integers(0, 60), st.integers(0, 40))
@example(Roofline(10**9, 5, 0, 5, 1), 1, 0, 9)
@example(Roofline(10**9, 5, 1, 5, 1), 1, 0, 9)
def test_many_steps_take_as_long_as_one_by_one(roof: Roofline, batch: int, cached: int, steps: int) -> None:
    one_by_one = sum(roof.iteration(batch, cached + batch * step, []) for step in range(steps))
    assert roof.run(batch, cached, steps) == one_by_one


@pytest.mark.law
@given(ROOFS, st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_the_arithmetic_of_a_prompt_does_not_depend_on_its_chunks(roof: Roofline, parts: list[int]) -> None:
    compute_only = Roofline(roof.ticks_per_second, roof.token, roof.pair, 0, 0)
    chunks = [(sum(parts[:n]), part) for n, part in enumerate(parts)]
    apart = sum(compute_only.iteration(0, 0, [chunk]) for chunk in chunks)
    assert apart == compute_only.iteration(0, 0, [(0, sum(parts))])


@pytest.mark.law
def test_a_chunk_reads_what_is_cached_before_it() -> None:
    """A step that does both reads the weights once, and every cached token once."""
    memory_only = Roofline(10**9, 0, 0, 10, 2)
    assert memory_only.iteration(0, 0, [(30, 5)]) == 10 + 2 * 35
    assert memory_only.iteration(3, 100, [(30, 5), (0, 4)]) == 10 + 2 * (100 + 35 + 4)


@pytest.mark.law
@given(ROOFS, st.integers(1, 9), st.integers(0, 60), st.integers(1, 40), st.integers(0, 5000))
def test_the_steps_within_a_time_are_the_fewest(roof: Roofline, batch: int, cached: int, most: int, ticks: int) -> None:
    steps = steps_within(roof, batch, cached, most, ticks)
    assert 1 <= steps <= most
    assert steps == most or roof.run(batch, cached, steps) >= ticks
    assert steps == 1 or roof.run(batch, cached, steps - 1) < ticks


@pytest.mark.law
def test_nothing_to_do_takes_no_time() -> None:
    for timing in (TIMING, BySize(lambda size: size)):
        assert timing.iteration(0, 0, []) == timing.run(0, 0, 5) == 0


@pytest.mark.law
def test_an_overhead_is_paid_once_an_iteration() -> None:
    slower = timing_of(SERVER, Fraction(1, 1000))
    assert slower.ticks_per_second == TIMING.ticks_per_second
    assert slower.iteration(1, 9, [(0, 9)]) - TIMING.iteration(1, 9, [(0, 9)]) == slower.ticks_per_second // 1000
    assert slower.run(2, 9, 7) - TIMING.run(2, 9, 7) == 7 * slower.ticks_per_second // 1000
