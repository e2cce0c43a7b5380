"""Workloads: the same for ever from a seed, and spread as their distributions say."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from itertools import islice
from statistics import NormalDist, fmean, median, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.serving.draws import Fixed, Lognormal, Uniform, exponential, normals
from spec.serving.engine import Engine
from spec.serving.request import NANOSECONDS, Request
from spec.serving.server import Server
from spec.serving.timing import BySize
from spec.serving.workload import Phase, Workload, bursts, clients
from spec.stream import Stream

CHAT = Workload((Phase(60, 2),), Lognormal(200, Fraction(4, 5), 5, 2000), Uniform(1, 400), max_tokens=512, prefix=64)


def digest(requests: list[Request]) -> str:
    told = [(request.arrival, request.prompt, request.output, request.max_tokens) for request in requests]
    return blake2b(repr(told).encode(), digest_size=8).hexdigest()


@pytest.mark.law
def test_a_seed_decides_all_of_it_for_ever() -> None:
    """Frozen: a change of these digests changes every run that somebody has reported."""
    assert digest(CHAT.requests(7)) == "2da899bb11fb2736"
    steep = Workload((Phase(10, 0, 9), *bursts(1, 20, 5, 1, 2)), Fixed(3), Lognormal(50, Fraction(1, 2), 1, 512))
    assert digest(steep.requests(1)) == "4b7314833ba38a04"


@pytest.mark.law
def test_normals_are_standard_normal() -> None:
    drawn = [float(value) for value in islice(normals(Stream("test")), 4000)]
    assert abs(fmean(drawn)) < 0.05
    assert abs(stdev(drawn) - 1) < 0.04
    for share in (0.025, 0.25, 0.5, 0.75, 0.975):
        below = sum(value < NormalDist().inv_cdf(share) for value in drawn) / len(drawn)
        assert abs(below - share) < 0.02


@pytest.mark.law
def test_gaps_of_a_poisson_process_are_exponential() -> None:
    stream = Stream("gaps")
    gaps = [exponential(stream, Fraction(1000)) for _ in range(4000)]
    assert abs(fmean(gaps) - 1000) < 50
    assert abs(median(gaps) - 693) < 40
    assert abs(stdev(gaps) - 1000) < 60


@pytest.mark.law
@given(st.integers(1, 1000), st.fractions(0, 2, max_denominator=20), st.integers(1, 50), st.integers(50, 4000))
def test_lengths_stay_between_their_ends(middle: int, sigma: Fraction, low: int, high: int) -> None:
    lengths = list(islice(Lognormal(middle, sigma, low, high).draw(Stream("lengths")), 50))
    assert all(low <= length <= high for length in lengths)
    if not sigma:
        assert set(lengths) == {min(max(middle, low), high)}
    assert all(low <= length <= high for length in islice(Uniform(low, high).draw(Stream("u")), 50))


@pytest.mark.law
def test_half_of_lognormal_lengths_are_over_the_median() -> None:
    drawn = list(islice(Lognormal(4400, Fraction(54, 100), 1, 10**6).draw(Stream("documents")), 4000))
    assert abs(median(drawn) - 4400) < 150
    assert abs(fmean(drawn) - 5090) < 150  # exp(sigma^2 / 2) times the median


@pytest.mark.law
def test_the_rate_climbs_and_bursts_as_its_phases_say() -> None:
    climb = list(Workload((Phase(1000, 0, 8),), Fixed(1), Fixed(1)).arrivals(3))
    halves = sum(arrival < 500 * NANOSECONDS for arrival in climb), len(climb)
    assert abs(halves[1] - 4000) < 200
    assert abs(halves[0] - 1000) < 100
    jumps = list(Workload(bursts(1, 50, 100, 10, 5), Fixed(1), Fixed(1)).arrivals(3))
    inside = sum(arrival // NANOSECONDS % 100 >= 90 for arrival in jumps)
    assert abs(inside - 2500) < 150
    assert abs(len(jumps) - inside - 450) < 70
    assert climb == sorted(climb)


@pytest.mark.law
def test_changing_one_distribution_leaves_the_others_as_they_were() -> None:
    longer = Workload(CHAT.phases, CHAT.prompt, Fixed(9), prefix=64)
    ours, theirs = CHAT.requests(5), longer.requests(5)
    assert [(r.arrival, r.prompt) for r in ours] == [(r.arrival, r.prompt) for r in theirs]
    assert all(request.max_tokens == 512 >= request.output for request in ours)
    assert all(request.max_tokens == request.output == 9 for request in theirs)
    short = Workload(CHAT.phases, CHAT.prompt, Fixed(9), max_tokens=4).requests(5, 3)
    assert [(request.output, request.max_tokens) for request in short] == [(4, 4)] * 3
    assert len(CHAT.requests(5, 10)) == 10
    assert len(ours[0].chain) == 64
    assert CHAT.requests(6) != ours


@pytest.mark.law
@given(st.integers(1, 6), st.integers(0, 12))
def test_clients_have_one_request_each_on_its_way(count: int, requests: int) -> None:
    first, follow = clients([Request(n, 7 * n, 1, 3) for n in range(requests)], count)
    engine = Engine(Server(BySize(lambda _: 1), 10**4), first, follow=follow)
    while engine.step():
        sent = [job for job in engine.jobs.values() if job.finish is None]
        assert len(sent) <= count
        assert len(sent) == count or len(engine.jobs) == requests
    assert [job.request.id for job in engine.result().jobs] == list(range(requests))


def test_nobody_comes_at_a_rate_of_nothing() -> None:
    assert Workload((Phase(5, 0), Phase(Fraction(1, 2), 0)), Fixed(1), Fixed(1)).requests(1) == []


BAD = {
    "no time": lambda: Phase(0, 1),
    "a rate below 0": lambda: Phase(1, -1),
    "a rate that falls below 0": lambda: Phase(1, 1, -1),
    "ends out of order": lambda: Uniform(2, 1),
    "a median of 0": lambda: Lognormal(0, Fraction(1), 1, 2),
    "a sigma below 0": lambda: Lognormal(5, Fraction(-1), 1, 2),
    "lognormal ends out of order": lambda: Lognormal(5, Fraction(1), 3, 2),
}


@pytest.mark.parametrize("name", BAD)
def test_what_makes_no_sense_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"phase|lengths"):
        BAD[name]()


def test_decimal_arithmetic_is_correctly_rounded_here() -> None:
    """What the draws rely on: the last of 18 digits of ln 2, e and the root of 2."""
    from spec.serving.draws import _CONTEXT

    assert _CONTEXT.ln(Decimal(2)) == Decimal("0.693147180559945309")
    assert _CONTEXT.exp(Decimal(1)) == Decimal("2.71828182845904524")
    assert _CONTEXT.sqrt(Decimal(2)) == Decimal("1.41421356237309505")
