"""Statements C58 to C112: the verdict of each check, the numbers behind it, and what a wrong law does to them."""

from __future__ import annotations

import pytest

from spec.claims import ASSUMES, FALSE, HOLDS, NOT_CHECKABLE, Claim
from spec.claims.design import CLAIMS as BUDGET
from spec.claims.design_batching import CLAIMS as BATCHING
from spec.claims.design_sizing import CLAIMS as SIZING
from spec.claims.failures import CLAIMS as FAILURES
from spec.claims.scaling import CLAIMS as SCALING
from spec.index import laws
from spec.invariants.reference import Reference

pytestmark = pytest.mark.differential

ALL = {claim.id: claim for claim in (*BUDGET, *BATCHING, *SIZING, *FAILURES, *SCALING)}
OTHERWISE = {
    ASSUMES: "63 64 67 71 73 78 79 82 83 88 91 93 94 97 101 105 106 108 110 112",
    FALSE: "62 76 84 96 98 104 111",
    NOT_CHECKABLE: "81",
}
VERDICTS = dict.fromkeys(ALL, HOLDS) | {
    f"C{number}": verdict for verdict, numbers in OTHERWISE.items() for number in numbers.split()
}
NUMBERS = {
    "C58": ("6.06 %", "6.9 %", "42-56.43 GB", "80,108-107,631", "19-26"),
    "C60": ("102,996",),
    "C61": ("54 GB",),
    "C62": ("102,996", "105,468", "110,592", "113,246", "108,000"),
    "C63": ("54 GB hold 25", "54 GiB hold 27", "79.15 GiB holds 27"),
    "C64": ("54 GB hold 12", "54 GiB hold 13", "79.15 GiB holds 13"),
    "C65": ("201, 100, 50, 25, 12, 6",),
    "C67": ("131,072", "up to 12"),
    "C68": ("48.8 %", "50 %"),
    "C69": ("3,840", "3,968"),
    "C70": ("91.4 %", "4,480", "57.1 %", "7,168"),
    "C71": ("120.7", "111.9", "yes"),
    "C73": ("23,268", "40,000"),
    "C75": ("52.4 GB", "102,400 = 53.69 GB", "596"),
    "C76": ("10.5 %", "46 %", "64 slots"),
    "C79": ("1 times", "2.02, 2.04, 2.08, 2.15", "2.28"),
    "C80": ("1.925", "1.932", "10.14", "10.24"),
    "C82": ("0.185 s", "0.371 s", "5,273 to 9,768"),
    "C83": ("138 GB", "4 GPUs", "394 to 785", "629 to 1,251", "1,251 to 2,474"),
    "C85": ("18 are lost", "1,736 tokens", "one of 12,000 is served"),
    "C87": ("48.6 GB", "92,697", "78.2 %", "88.2 %"),
    "C88": ("11,000", "29,000", "32,000"),
    "C90": ("30 s", "9.51 s", "20.6 s"),
    "C91": ("64.2 %", "14.1 %", "17.3 of 12 GB"),
    "C92": ("596", "4,692"),
    "C93": ("205", "207,460", "101"),
    "C94": ("8.13 s", "1 request/s: yes", "5 requests/s: no"),
    "C95": ("16.3 %", "3.79 %"),
    "C97": ("43.4 ms", "13 %", "21.7 %"),
    "C98": ("612 tok/s", "634 with a fifth", "504 with a tenth", "816 tok/s", "931 with a fifth"),
    "C99": ("16,331", "4,159", "4,440", "36,808"),
    "C100": ("8, 56, 128, 448, 512 KiB", "64x"),
    "C101": ("741,376", "1.414x", "185,344"),
    "C103": ("3,961",),
    "C104": ("KV first", "slots first", "402 and 1,609"),
    "C105": ("2.33", "0.0085"),
    "C106": ("71.6 % and 67.9 %", "43.3 % and 38.7 %"),
    "C107": ("85 %", "95 %", "92.6 %"),
    "C108": ("402",),
    "C109": ("3 GPUs", "16.7", "75"),
    "C110": ("24 %, 38 %, 83 %", "17 %, 29 %, 76 %", "7.1 %, 13 %, 54 %"),
    "C111": ("1.75 GB", "1,010,894", "823,968"),
}
# What a law is replaced by, and the verdicts that this turns.
WRONG = {
    ("mean_concurrency", "rate-only"): {"C74": FALSE, "C77": FALSE},
    ("kv_budget", "margin-forgotten"): {"C59": FALSE, "C61": FALSE, "C63": HOLDS},
    ("kv_bytes_per_token", "values-forgotten"): {"C64": FALSE, "C86": FALSE},
    ("kv_bytes_per_token", "layers-forgotten"): {"C103": FALSE},
    ("fits", "context-forgotten"): {"C93": HOLDS},
    ("flops_per_token", "one-operation"): {"C73": HOLDS, "C106": HOLDS},
    ("prefill_time", "memory-floor-only"): {"C79": FALSE},
    ("cached_tokens", "longest-only"): {"C75": FALSE, "C88": FALSE},
}


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference()


def test_every_statement_of_the_sections_is_here() -> None:
    assert list(ALL) == [f"C{number}" for number in range(58, 113)]


@pytest.mark.parametrize("claim", ALL.values(), ids=list(ALL))
def test_the_check_gives_the_verdict(claim: Claim, reference: Reference) -> None:
    assert claim.verdict(reference) == VERDICTS[claim.id]


@pytest.mark.parametrize("name", NUMBERS)
def test_the_numbers_are_those_of_an_independent_computation(name: str, reference: Reference) -> None:
    outcome = ALL[name].outcome(reference)
    assert outcome is not None
    assert not [number for number in NUMBERS[name] if number not in outcome.computed], outcome.computed


@pytest.mark.parametrize("claim", ALL.values(), ids=list(ALL))
def test_an_assumption_is_named_exactly_where_the_verdict_needs_one(claim: Claim) -> None:
    assert bool(claim.assumption) == (VERDICTS[claim.id] == ASSUMES)


@pytest.mark.parametrize(("law", "slip"), WRONG)
def test_a_wrong_law_turns_verdicts(law: str, slip: str) -> None:
    declared = next(known for known in laws()[law].slips if known.slug == slip)
    wrong = Reference({law: laws()[law].with_slip(declared)})
    expected = WRONG[law, slip]
    assert not expected.items() & VERDICTS.items()
    assert {name: ALL[name].verdict(wrong) for name in expected} == expected
