"""The chapter's statements in passing, C171 to C177: what running them says, and that it depends on the laws."""

import pytest

from spec.claims import ASSUMES, FALSE, HOLDS, NOT_CHECKABLE, asides
from spec.index import laws
from spec.invariants.reference import Reference
from spec.mutants import mutants

pytestmark = pytest.mark.law

CLAIMS = {claim.id: claim for claim in asides.CLAIMS}
IMPL = Reference()
EXPECTED = {
    "C171": FALSE,
    "C172": ASSUMES,
    "C173": ASSUMES,
    "C174": ASSUMES,
    "C175": ASSUMES,
    "C176": NOT_CHECKABLE,
    "C177": NOT_CHECKABLE,
}
NUMBERS = {
    "C171": ("2,147,483,648 at 4,096", "13.8 %"),
    "C172": ("0.69 GB", "17.3 GB", "8 GB"),
    "C173": ("760 tok/s", "625 by 12", "465 by 6"),
    "C174": ("380 ms", "10380 ms"),
    "C175": ("43.4 ms", "21.7 %", "108 %"),
}
TURNED = [
    ("C171", "decode_attention_flops", "drop the factor cached_tokens", HOLDS),
    ("C172", "logit_bytes", "raise vocab by one power", FALSE),
    ("C173", "decode_bytes", "drop the term weights", HOLDS),
    ("C174", "ttft", "drop the term wait", FALSE),
    ("C175", "mean_concurrency", "drop the factor service_time", FALSE),
]


@pytest.mark.parametrize("name", CLAIMS)
def test_running_a_statement_gives_its_verdict_and_its_numbers(name: str) -> None:
    claim = CLAIMS[name]
    assert claim.verdict(IMPL) == EXPECTED[name]
    outcome = claim.outcome(IMPL)
    shown = "" if outcome is None else outcome.computed
    assert [number for number in NUMBERS.get(name, ()) if number not in shown] == []


@pytest.mark.parametrize(("name", "law", "change", "verdict"), TURNED)
def test_a_mutated_law_turns_the_verdict(name: str, law: str, change: str, verdict: str) -> None:
    [faulty] = [mutant.faulty for mutant in mutants(laws()[law]) if mutant.change == change]
    assert CLAIMS[name].verdict(Reference({law: faulty})) == verdict != EXPECTED[name]


@pytest.mark.parametrize("name", CLAIMS)
def test_an_assumption_is_named_exactly_where_one_is_needed(name: str) -> None:
    claim = CLAIMS[name]
    assert bool(claim.assumption) == (EXPECTED[name] == ASSUMES)
    assert bool(claim.unchecked) == (EXPECTED[name] == NOT_CHECKABLE)
