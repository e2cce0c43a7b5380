"""The families of load and of what GPUs share, computed again in plain arithmetic, and on their worked examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from grader.case import CaseAsk
from grader.exercise import Exercise
from grader.menu import Draw, Menu
from problems import headroom, prefill_share
from problems import self_consistent_concurrency as self_consistent
from problems import tensor_parallel_traffic as parallel
from tests.problems import plain
from tests.problems.plain.phases import last
from tests.problems.seeds import exercises
from tests.problems.test_misconceptions import agrees

pytestmark = pytest.mark.law

Values = Mapping[str, Any]
Key = Callable[[Values], Any]


def values(exercise: Exercise) -> dict[str, Any]:
    every = (*exercise.givens, *(given for part in exercise.parts for given in part.givens))
    return {given.name: Fraction(given.value) * plain.factor(given.unit) for given in every}


def in_service(v: Values, rate: Any, mbu: Any) -> Any:
    """Solve N = rate (T + m (W + N c k) / (BW MBU (1 - rate T))); None where no N does."""
    left = 1 - rate * v["prefill_time"]
    if left <= 0:
        return None
    read = v["bandwidth"] * mbu * left
    slope = rate * v["output"] * v["context"] * v["kv_bytes_per_token"] / read
    return None if slope >= 1 else rate * (v["prefill_time"] + v["output"] * v["weights"] / read) / (1 - slope)


def held(v: Values, rate: Any, mbu: Any) -> bool:
    found = in_service(v, rate, mbu)
    return found is not None and found <= v["slots"]


def mean(v: Values) -> Any:
    rate, mbu = v["arrival_rate"], v["mbu"]
    return in_service(v, rate, mbu) if held(v, rate, mbu) else None


def highest_rate(v: Values) -> Any:
    rate = last(lambda n: held(v, Fraction(n, 60), v["mbu"]))
    return Fraction(rate, 60) if rate else None


def least_share(v: Values) -> Any:
    """The share that fills the cache, from two halves of the equation; None over the whole bandwidth."""
    rate = v["arrival_rate"]
    left, decoding = 1 - rate * v["prefill_time"], v["slots"] - rate * v["prefill_time"]
    if left <= 0 or decoding <= 0:
        return None
    caches = v["slots"] * v["context"] * v["kv_bytes_per_token"]
    found = rate * v["output"] * (v["weights"] + caches) / (v["bandwidth"] * left * decoding)
    return found if found <= 1 else None


def lost(places: int, load: Any) -> Any:
    """Erlang's loss formula as it stands: the last term a^n / n! over the sum of all."""
    term = total = Fraction(1)
    for n in range(1, places + 1):
        term = term * load / n
        total += term
    return term / total


def delayed(places: int, load: Any) -> Any:
    term = total = Fraction(1)
    for n in range(1, places):
        term = term * load / n
        total += term
    if load >= places:
        return 1
    waiting = term * load / (places - load)
    return waiting / (total + waiting)


def reached_of_time(places: int, load: Any) -> Any:
    """The Poisson number up to so many, in decimals that leave no doubt at the shares of the menu."""
    with localcontext() as digits:
        digits.prec = 60
        mean = Decimal(load.numerator) / Decimal(load.denominator)
        term = total = (-mean).exp()
        for n in range(1, places + 1):
            term = term * mean / n
            total += term
        return Fraction(total)


def fewest(enough: Callable[[int], bool]) -> int:
    return (last(lambda n: not enough(n)) or 0) + 1


def load_of(v: Values) -> Any:
    return v["arrival_rate"] * v["service_time"]


def highest(v: Values) -> Any:
    rate = last(lambda n: lost(int(v["servers"]), Fraction(n, 60) * v["service_time"]) <= v["blocking"])
    return Fraction(rate, 60) if rate else None


def vector(v: Values) -> Any:
    return v["hidden"] * v["activation_width"]


def ring(v: Values) -> Any:
    """What each GPU sends of what a ring sums: all but its part on the way round, and again to tell the sums."""
    return Fraction(v["tensor_parallel"] - 1, v["tensor_parallel"]) * 2


def step_traffic(v: Values) -> Any:
    return 2 * v["layers"] * v["batch"] * vector(v) * ring(v)


def step_time(v: Values) -> Any:
    return 2 * v["layers"] * v["link_latency"] + step_traffic(v) / v["link_bandwidth"]


def shared_by(v: Values) -> Any:
    once = 2 * v["layers"] * v["batch"] * vector(v)
    return next(t for t in range(2, 100) if once * 2 * (t - 1) == v["group_traffic"])


def more_tokens(v: Values) -> Any:
    reserves, cache = (
        v["activations"] + v["safety_margin"],
        2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"],
    )
    n = v["tensor_parallel"]
    group = (v["gpu_memory"] - v["weights"] / n - reserves) // (cache / n)
    return group - n * ((v["gpu_memory"] - v["weights"] - reserves) // cache)


def planned(v: Values) -> int:
    """GPUs that hold more than are there at the speed of the plan."""
    there = v["arrival_rate"] * (v["prefill_time"] + v["output"] / v["decode_rate"])
    return int(there // v["slots"]) + 1


def timed(v: Values) -> int:
    return fewest(lambda gpus: held(v, v["arrival_rate"] / gpus, v["mbu"]))


def prefill_need(v: Values) -> Any:
    return v["arrival_rate"] * v["prefill_time"]


def mean_first_token(v: Values) -> Any:
    """The waits of a single server with equal times, from (2 - rho) / (1 - rho) halves of one of them."""
    rho = prefill_need(v) / v["prefill_share"]
    return v["prefill_time"] / v["prefill_share"] * (2 - rho) / (2 * (1 - rho)) if rho < 1 else None


KEYS: dict[tuple[str, str], Key] = {
    ("self-consistent-concurrency", "self_consistent_concurrency"): mean,
    ("self-consistent-concurrency", "arrival_rate"): highest_rate,
    ("self-consistent-concurrency", "mbu"): least_share,
    ("headroom", "servers_by_blocking"): lambda v: (
        fewest(lambda n: lost(n, load_of(v)) <= v["blocking"]) if v["blocking"] else None
    ),
    ("headroom", "servers_by_waiting"): lambda v: (
        fewest(lambda n: delayed(n, load_of(v)) <= v["waiting"]) if v["waiting"] else None
    ),
    ("headroom", "servers_by_covered"): lambda v: (
        fewest(lambda n: reached_of_time(n, load_of(v)) >= v["covered"]) if v["covered"] < 1 else None
    ),
    ("headroom", "arrival_rate"): highest,
    ("tensor-parallel-traffic", "step_traffic"): step_traffic,
    ("tensor-parallel-traffic", "communication_time"): step_time,
    ("tensor-parallel-traffic", "tensor_parallel"): shared_by,
    ("tensor-parallel-traffic", "batch"): lambda v: last(
        lambda n: step_time({**v, "batch": n}) <= v["communication_time"]
    ),
    ("tensor-parallel-traffic", "more_tokens"): more_tokens,
    ("prefill-share", "prefill_share"): lambda v: prefill_need(v) if prefill_need(v) < 1 else None,
    ("prefill-share", "arrival_rate"): lambda v: v["prefill_share"] / v["prefill_time"],
    ("binding-limit", "gpus_by_memory"): planned,
    ("binding-limit", "gpus_by_time"): timed,
    ("binding-limit", "limit"): lambda v: "time" if timed(v) > planned(v) else "memory",
    ("prefill-share", "verdict"): lambda v: "stable" if prefill_need(v) < v["prefill_share"] else "unstable",
    ("prefill-share", "ttft"): mean_first_token,
}
SLUGS = sorted({slug for slug, _ in KEYS})


@pytest.mark.differential
@pytest.mark.parametrize("slug", SLUGS)
def test_the_key_is_what_plain_arithmetic_gives(slug: str) -> None:
    for exercise in exercises(slug):
        v = values(exercise)
        for part in exercise.parts:
            found = KEYS[slug, part.asks](v)
            if part.key is None or part.kind == "choice":
                assert found == part.key, exercise.id
            else:
                assert found == Fraction(part.key) * plain.factor(part.unit), exercise.id


def test_at_the_least_share_of_the_bandwidth_the_cache_is_full() -> None:
    for exercise in exercises("self-consistent-concurrency"):
        part = exercise.parts[0]
        if part.asks == "mbu" and part.key is not None:
            v = values(exercise)
            assert in_service(v, v["arrival_rate"], Fraction(part.key) / 100) == v["slots"], exercise.id


def test_waits_for_prefill_are_those_of_a_queue_that_is_run() -> None:
    """Run a queue with the times between arrivals drawn so that they are exponential."""
    case, random = prefill_share.Server(Fraction(3), 45, 25), Random(1)  # noqa: S311  a simulation
    clock = free = total = 0.0
    requests = 60_000
    for _ in range(requests):
        clock += random.expovariate(3)
        free = max(clock, free) + 0.045 / 0.25
        total += free - clock
    expected = prefill_share.first_token(case)
    assert expected is not None
    assert abs(1000 * total / requests / float(expected) - 1) < 0.05


def point(**choices: Any) -> Draw:
    return Menu(**choices).at(0)


def test_either_limit_binds_often() -> None:
    labels = [exercise.part("c").key for exercise in exercises("binding-limit")]
    assert min(labels.count("memory"), labels.count("time")) > len(labels) / 5


EXAMPLES: list[tuple[CaseAsk[Any], Any, str, dict[str, str]]] = [
    (
        # Exercise 4 on one A100 at its whole bandwidth. Without what prefills take it is 11.23, not 10.58.
        self_consistent.mean,
        point(
            weights=("13.409189888 GB",),
            kv_bytes_per_token=(524_288,),
            bandwidth=("2.039 TB/s",),
            mbu=(1,),
            arrival_rate=("100 request/min",),
            prefill_time=("200 ms",),
            output=(500,),
            context=(2250,),
            slots=(45,),
            decode_rate=(50,),
        ),
        "30.9",
        {"fixed-rate": "17", "prefill-ignored": "11.23", "cache-shared": "9.28", "as-many-as-fit": "45"},
    ),
    (
        # An offered load of 50 in all rows: 10 requests a second that stay for 5 s.
        headroom.by_loss,
        point(arrival_rate=(10,), service_time=("5 s",), blocking=("1 %",)),
        "64",
        {"mean": "50", "tenth-more": "55", "two-roots-more": "65", "share-of-time": "67", "rate-for-load": "18"},
    ),
    (
        headroom.by_wait,
        point(arrival_rate=(10,), service_time=("5 s",), waiting=("1 %",)),
        "68",
        {"mean": "50", "turned-away": "64", "share-of-time": "67", "one-less": "67"},
    ),
    (
        headroom.by_time,
        point(arrival_rate=(10,), service_time=("5 s",), covered=("99 %",)),
        "67",
        {"mean": "50", "turned-away": "64", "may-wait": "68", "two-roots-more": "65"},
    ),
    (
        headroom.rate,
        point(servers=(64,), service_time=("5 s",), blocking=("1 %",)),
        "607",
        {"mean": "768", "tenth-less": "698", "one-more": "608"},
    ),
    (
        # The chapter's 7B on four GPUs, one sequence. The weights of 13.409 GB would be 10,056.9 MB, not 10,056.8.
        parallel.traffic,
        point(
            weights=("13.409189888 GB",),
            layers=(32,),
            hidden=(4096,),
            activation_width=(2,),
            batch=(1,),
            tensor_parallel=(4,),
        ),
        "0.7864",
        {
            "one-all-reduce": "0.3932",
            "ring-factor-forgotten": "0.5243",
            "ring-divisor-forgotten": "4.1943",
            "weights-sent": "10056.9",
            "bits": "6.2915",
            "all-gpus": "3.1457",
        },
    ),
    (
        # 3 requests a second of 45 ms; the bound itself is not enough.
        prefill_share.share,
        prefill_share.Server(Fraction(3), 45, 25),
        "13.5",
        {
            "rate-ignored": "4.5",
            "rest": "86.5",
            "rate-alone": "3",
            "reciprocal": "7.407",
            "number-for-percent": "0.135",
        },
    ),
    (
        prefill_share.ttft,
        prefill_share.Server(Fraction(3), 45, 25),
        "285.652",
        {"wait-forgotten": "180", "share-ignored": "48.512", "exponential": "391.304", "prefill-alone": "45"},
    ),
]


@pytest.mark.parametrize(("ask", "case", "key", "slips"), EXAMPLES, ids=[row[0].asks for row in EXAMPLES])
def test_every_misconception_leads_where_it_was_measured(
    ask: CaseAsk[Any], case: Any, key: str, slips: dict[str, str]
) -> None:
    def said(found: Any) -> str | None:
        return None if found is None else str(Fraction(found))

    assert agrees(said(ask.key(case)), key)
    found = {slip.slug: said(slip.value(case)) for slip in ask.slips}
    assert {name: found.get(name) for name, value in slips.items() if not agrees(found.get(name), value)} == {}
