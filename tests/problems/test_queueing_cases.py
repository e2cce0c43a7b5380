"""The families of load and of what GPUs share, computed again in plain arithmetic, and on their worked examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest

from grader.case import CaseAsk
from grader.exercise import Exercise
from grader.menu import Draw, Menu
from problems import self_consistent_concurrency as self_consistent
from tests.problems import plain
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
    rate = 1
    while held(v, Fraction(rate, 60), v["mbu"]):
        rate += 1
    return Fraction(rate - 1, 60) or None


def least_share(v: Values) -> Any:
    """The share that fills the cache, from two halves of the equation; None over the whole bandwidth."""
    rate = v["arrival_rate"]
    left, decoding = 1 - rate * v["prefill_time"], v["slots"] - rate * v["prefill_time"]
    if left <= 0 or decoding <= 0:
        return None
    caches = v["slots"] * v["context"] * v["kv_bytes_per_token"]
    found = rate * v["output"] * (v["weights"] + caches) / (v["bandwidth"] * left * decoding)
    return found if found <= 1 else None


KEYS: dict[tuple[str, str], Key] = {
    ("self-consistent-concurrency", "self_consistent_concurrency"): mean,
    ("self-consistent-concurrency", "arrival_rate"): highest_rate,
    ("self-consistent-concurrency", "mbu"): least_share,
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


def point(**choices: Any) -> Draw:
    return Menu(**choices).at(0)


EXAMPLES: list[tuple[CaseAsk[Draw], Draw, str, dict[str, str]]] = [
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
]


@pytest.mark.parametrize(("ask", "case", "key", "slips"), EXAMPLES, ids=[row[0].asks for row in EXAMPLES])
def test_every_misconception_leads_where_it_was_measured(
    ask: CaseAsk[Draw], case: Draw, key: str, slips: dict[str, str]
) -> None:
    def said(found: Any) -> str | None:
        return None if found is None else str(Fraction(found))

    assert agrees(said(ask.key(case)), key)
    found = {slip.slug: said(slip.value(case)) for slip in ask.slips}
    assert {name: found.get(name) for name, value in slips.items() if not agrees(found.get(name), value)} == {}
