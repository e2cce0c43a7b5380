"""Chat sessions that grow: the keys against a count turn by turn, and the misconceptions where they were worked out."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.idle_cache import Session, again, even, fetch
from problems.idle_cache import draw as any_session
from problems.session_growth import Service, draw, makes_sense, needed, overflow, rate, sessions
from spec.stream import Stream

pytestmark = pytest.mark.law

CHAT = Service(
    system=200, message=104, reply=186, most=512, window=8192, turns=26, kv=512, budget=54, stay=30
)  # the worked example: 2.2 sessions a minute on a 7B model with the whole history of every session
SERVICES = st.integers(0, 10**6).map(lambda seed: draw(Stream("test", seed))).filter(makes_sense)


def counted(case: Service, window: int) -> int:
    """Grow a session turn by turn until one does not fit."""
    history = case.system
    for turn in count(1):
        if history + case.message + case.most > window:
            return turn
        history += case.message + case.reply
    raise AssertionError


@pytest.mark.differential
@given(SERVICES)
def test_the_first_turn_that_overflows_is_the_one_that_counting_finds(case: Service) -> None:
    assert overflow.key(case) == counted(case, case.window)


@pytest.mark.differential
@given(SERVICES)
def test_the_window_needed_is_the_smallest_in_which_the_turn_fits(case: Service) -> None:
    window = needed.key(case)
    assert isinstance(window, int)
    assert counted(case, window) == case.turns + 1
    assert counted(case, window - 1) == case.turns


@given(SERVICES)
def test_as_many_sessions_fit_as_their_windows_allow_and_no_more(case: Service) -> None:
    fit = sessions.key(case)
    assert isinstance(fit, int)
    each, memory = case.window * case.kv * 1024, case.budget * 10**9
    assert fit * each <= memory < (fit + 1) * each
    open_at_once = rate.key(case)
    assert isinstance(open_at_once, int | Fraction)
    assert open_at_once * case.stay == fit


@pytest.mark.parametrize(
    ("slip", "value"),
    [
        ("reply-not-reserved", 29),
        ("replies-forgotten", 72),
        ("window-over-turn", 28),
        ("last-that-fits", 26),
        ("budget-for-window", 354),
    ],
)
def test_the_misconceptions_of_the_worked_example(slip: str, value: int) -> None:
    assert overflow.key(CHAT) == 27
    assert sessions.key(CHAT) == 12
    (found,) = (each.value(CHAT) for each in overflow.slips if each.slug == slip)
    assert found == value


def test_what_an_idle_cache_of_4096_tokens_costs() -> None:
    idle = Session(history=4096, message=104, kv=512, link=20, prefill=10_780, decode=40)
    assert fetch.key(idle) == idle.fetch
    assert again.key(idle) == idle.again
    assert (round(idle.fetch), round(idle.again)) == (107, 380)


@given(st.integers(0, 10**6))
def test_both_times_are_the_same_at_the_bandwidth_that_is_even(seed: int) -> None:
    case = any_session(Stream("test", seed))
    assert even.key(case) == case.even
    assert case.fetch * case.link / case.even == case.again
