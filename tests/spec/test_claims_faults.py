"""The chapter's statements under wrong laws: every check ends in a verdict, and none is out of reach of the laws."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from spec.claims import ASSUMES, FALSE, HOLDS, VERDICTS, Claim, Conflict, Outcome, claims, conflicts
from spec.claims.definite import Definite, NoValueError, missing
from spec.index import laws
from spec.invariants.reference import Reference, questions
from spec.laws import Law
from spec.mutants import mutants
from spec.solving import Infeasible

pytestmark = pytest.mark.law

SAMPLE = 3  # mutants of each law; all of them take minutes
CHECKED = {claim.id: claim for claim in claims().values() if claim.check is not None}
LAWLESS = {"C8", "C116", "C129", "C131", "C163"}  # the lengths that the chapter itself names are counted


@cache
def asked(item: Claim | Conflict) -> frozenset[str]:
    """Return the laws that a statement or a conflict rests on."""
    impl = Reference()
    _ = item.outcome(impl) if isinstance(item, Claim) else item.computed(impl)
    return frozenset(questions()[question].name for question in impl.asked)


def faulty(law: Law, sample: int | None = None) -> Iterator[Any]:
    """Give a law with each of its slips, and with each fault or a sample of them spread over all."""
    yield from (law.with_slip(slip) for slip in law.slips)
    found = mutants(law)
    step = 1 if sample is None else max(1, len(found) // sample)
    yield from (mutant.faulty for mutant in found[::step])


@pytest.mark.slow
@pytest.mark.parametrize("name", laws())
def test_under_a_wrong_law_every_statement_has_a_verdict_and_every_conflict_its_numbers(name: str) -> None:
    for wrong in faulty(laws()[name], SAMPLE):
        impl = Reference({name: wrong})
        for claim in CHECKED.values():
            if name in asked(claim):
                outcome = claim.outcome(impl)
                assert outcome is not None
                assert outcome.computed
                assert claim.verdict_of(outcome) in VERDICTS
        for conflict in conflicts().values():
            if name in asked(conflict):
                assert conflict.computed(impl)


@pytest.mark.parametrize("name", sorted(CHECKED.keys() - LAWLESS))
def test_a_wrong_law_shows_in_every_statement_that_rests_on_one(name: str) -> None:
    claim = CHECKED[name]
    right = claim.outcome(Reference())
    wrong = (Reference({law: fault}) for law in sorted(asked(claim)) for fault in faulty(laws()[law]))
    assert any(claim.outcome(impl) != right for impl in wrong)


def test_only_counts_of_the_chapters_own_numbers_rest_on_no_law() -> None:
    assert {name for name, claim in CHECKED.items() if not asked(claim)} == LAWLESS


def test_without_a_value_a_statement_is_false_and_says_what_there_is_none_of() -> None:
    class NoBudget:
        def solve(self, name: str, /, **known: Any) -> Infeasible:
            return Infeasible("kv_budget", name, "below", len(known))

        symbols = laws()["kv_budget"].symbols

        def __call__(self, **known: Any) -> bool:
            return not known

    impl = Reference({"kv_budget": NoBudget()})
    assert CHECKED["C61"].verdict(Reference()) == HOLDS
    assert CHECKED["C61"].verdict(impl) == FALSE
    assert CHECKED["C61"].outcome(impl) == Outcome(
        general=False, computed="cannot be computed: no kv_budget satisfies kv_budget"
    )
    assert CHECKED["C63"].verdict(Reference()) == ASSUMES
    assert CHECKED["C63"].verdict(impl) == FALSE
    assert conflicts()["K1"].computed(impl) == "cannot be computed: no kv_budget satisfies kv_budget"


class Fake:
    """An implementation with one answer of each kind."""

    def weights(self, **_: Any) -> int:
        return 7

    def concurrency(self, **_: Any) -> Fraction:
        return Fraction(7, 2)

    def ttft(self, **_: Any) -> Fraction:
        return 1 / Fraction(0)

    def context(self, **_: Any) -> int:
        return {}["margin"]

    def kv_budget(self, **_: Any) -> Infeasible:
        return Infeasible("kv_budget", "kv_budget", "below", 3)


def test_an_answer_is_a_value_or_the_reason_why_there_is_none() -> None:
    impl = Definite(Fake())
    assert impl.weights() == 7
    for ask, why in (
        (impl.concurrency, "concurrency: 3.5 is not a whole number"),
        (impl.ttft, "ttft: a division by zero"),
        (impl.context, "context: margin is not known"),
        (impl.kv_budget, "no kv_budget satisfies kv_budget"),
    ):
        with pytest.raises(NoValueError) as found:
            ask()
        assert str(found.value) == why


def test_only_what_was_asked_for_can_be_missing() -> None:
    impl = Definite(Fake())
    assert missing(impl.weights) is None
    assert missing(impl.kv_budget) == Infeasible("kv_budget", "kv_budget", "below", 3)
    with pytest.raises(NoValueError):
        missing(impl.ttft)
