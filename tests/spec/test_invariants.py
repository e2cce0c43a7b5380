"""Every invariant holds for the specification itself; every tempting sentence fails, first at its stored example."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import pytest
import sympy
from hypothesis import find, given, settings
from hypothesis import strategies as st

from spec import quantities as q
from spec.compiling import Algorithm
from spec.index import laws
from spec.invariants import Invariant, invariants, refuted, true
from spec.invariants.draws import SPECIAL, Among, Draws, Grid, Values, draw_of, sample
from spec.invariants.kills import points
from spec.invariants.proving import proved
from spec.invariants.reference import Reference, Unanswered, questions
from spec.invariants.report import proofs
from spec.laws import Law
from spec.mutants import mutants
from spec.quantities import quantities
from spec.solving import Exact, Infeasible

pytestmark = pytest.mark.law
REFERENCE = Reference()
EACH = settings(max_examples=10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else settings().max_examples)
NOT_ALGEBRA = {
    "I26-none",
    "I28",
    "partition-by-shares",
    "utilization-none",
}  # they ask whether a value exists, which symbols do not settle


def values_of(draws: Draws) -> st.SearchStrategy[Values]:
    return st.fixed_dictionaries({name: st.integers(0, draw.count - 1).map(draw.value) for name, draw in draws.items()})


def named(found: list[Invariant]) -> list[Any]:
    return [pytest.param(invariant, id=invariant.id) for invariant in found]


def from_shape(invariant: Invariant) -> bool:
    """Say whether a sentence was derived from the shape of a law: its id names the law before a colon."""
    return ":" in invariant.id


def check(invariant: Invariant, values: Values) -> None:
    assert invariant.holds(REFERENCE, values), f"{invariant.says} ({invariant.id})"


@pytest.mark.parametrize("invariant", named([i for i in true() if not from_shape(i)]))
def test_every_written_sentence_holds(invariant: Invariant) -> None:
    @EACH
    @given(values_of(invariant.draws))
    def holds(values: Values) -> None:
        check(invariant, values)

    holds()


@pytest.mark.parametrize("name", laws())
@EACH
@given(st.data())
def test_every_sentence_derived_from_the_shape_of_a_law_holds(name: str, data: st.DataObject) -> None:
    invariant = data.draw(st.sampled_from([i for i in true() if i.id.startswith(f"{name}: ")]))
    check(invariant, data.draw(values_of(invariant.draws)))


def test_a_law_that_is_broken_turns_the_sentences_about_it_red() -> None:
    doubled = laws()["fits"].changed(left=2 * laws()["fits"].left)
    about = next(i for i in true() if i.id == "I14")
    broken = Reference({"fits": doubled})
    found = find(values_of(about.draws), lambda values: not about.holds(broken, values))
    assert not about.holds(broken, found)
    assert about.holds(REFERENCE, found)


# Refuted sentences


def rank(values: dict[str, Any]) -> Exact:
    """Order counterexamples: the smaller the sum of the values, the smaller the example."""
    return sum(values.values())


@pytest.mark.parametrize("invariant", named(refuted()))
def test_the_stored_example_refutes_the_sentence(invariant: Invariant) -> None:
    assert invariant.refuted is not None
    assert not invariant.holds(REFERENCE, invariant.refuted)
    assert invariant.refuted.keys() == invariant.draws.keys()
    assert invariant.why.endswith(".")


@pytest.mark.parametrize("invariant", named(refuted()))
def test_no_smaller_example_refutes_the_sentence(invariant: Invariant) -> None:
    most = rank(dict(invariant.refuted or {}))
    sides = [[draw.value(i) for i in range(draw.count) if draw.value(i) < most] for draw in invariant.draws.values()]
    for values in product(*sides):
        if sum(values) < most:
            assert invariant.holds(REFERENCE, dict(zip(invariant.draws, values, strict=True)))


@pytest.mark.parametrize("invariant", named(refuted()))
def test_a_search_finds_a_smallest_example_again(invariant: Invariant) -> None:
    search = settings(max_examples=2000, derandomize=True, database=None)
    found = find(values_of(invariant.draws), lambda values: not invariant.holds(REFERENCE, values), settings=search)
    assert rank(found) == rank(dict(invariant.refuted or {}))


# Proofs


def is_formula(law: Law) -> bool:
    return law.is_identity and not law.right.atoms(sympy.Max, sympy.Min, sympy.floor, sympy.ceiling, Algorithm)


def asks_formulas(invariant: Invariant) -> bool:
    """Say whether a sentence asks only for what rational laws give directly, without joint conditions."""
    impl = Reference()
    for values in points(invariant)[:4]:
        invariant.holds(impl, values)
    return all(is_formula(questions()[name, given]) for name, given in impl.asked) and all(
        questions()[name, given].left.name == name for name, given in impl.asked
    )


def conditional(invariant: Invariant) -> bool:
    return from_shape(invariant) and bool(laws()[invariant.id.split(":")[0]].where)


def test_every_sentence_about_formulas_alone_is_proved() -> None:
    expected = {i.id for i in true() if asks_formulas(i) and not conditional(i)} - NOT_ALGEBRA
    assert {i.id for i in true() if proved(i)} == expected
    assert len(expected) > len(true()) / 4


def test_the_report_says_which_sentences_are_proved_and_counts_them() -> None:
    told = {i.id: i for i in invariants()}
    text = proofs([told["I01"], told["I14"], told["I16-false"]])
    assert text == "I01: proved\nI14: sampled\nI16-false: refuted\n\n1 proved, 1 sampled, 1 refuted"


def test_the_numbers_of_the_catalogue_lead_to_their_sentences() -> None:
    numbers = {number for i in invariants() for number in (i.id.partition("-")[0], *i.also)}
    wanted = {*range(1, 29), *range(57, 67), *range(68, 76), *range(86, 93), 97, 100} - {72}  # 72 needs a sample path
    assert {f"I{n:02}" for n in wanted} <= numbers
    false = {i.id.partition("-")[0] for i in refuted()} | {n for i in refuted() for n in i.also}
    assert {"I10", "I13", "I16", "I22", "I59", "I92"} <= false
    assert "I06-false" in false


@pytest.mark.parametrize("invariant", named(refuted()))
def test_nothing_false_is_proved(invariant: Invariant) -> None:
    assert not proved(invariant)


@pytest.mark.parametrize("name", ["parameters_approx", "kv_bytes_per_token", "kv_budget", "ttft", "decode_bytes"])
def test_no_mutant_leaves_every_proof_standing(name: str) -> None:
    law = laws()[name]
    proofs = [i for i in true() if name in i.about and asks_formulas(i) and not conditional(i)]
    for mutant in mutants(law):
        if isinstance(mutant.faulty, Law):
            table = {**laws(), name: mutant.faulty}
            assert not all(proved(i, table) for i in proofs if i.id not in NOT_ALGEBRA), mutant.formula


# The form of an invariant


def test_an_invariant_says_which_functions_it_exercises() -> None:
    for invariant in invariants():
        impl = Reference()
        for values in points(invariant):
            invariant.holds(impl, values)
        assert {name for name, _ in impl.asked} == set(invariant.about), invariant.id


def test_a_sentence_is_a_sentence_and_stands_once() -> None:
    said = [invariant.says for invariant in invariants() if not from_shape(invariant)]
    assert all(s[0].isupper() and s.endswith(".") for s in said)
    assert len(set(said)) == len(said)


def test_draws_stay_inside_the_domain_of_the_quantity_they_are_named_after() -> None:
    for invariant in invariants():
        for name in invariant.draws.keys() & quantities().keys():
            draw = invariant.draws[name]
            assert draw.value(0) in quantities()[name].domain, invariant.id
            assert draw.value(draw.count - 1) in quantities()[name].domain, invariant.id


def test_draws_are_whole_where_their_quantity_is() -> None:
    assert draw_of(q.layers) == Grid(1, 40)
    assert draw_of(q.norm_vectors) == Among((0, 1, 2))
    assert draw_of(q.kv_budget) == SPECIAL["kv_budget"]
    assert draw_of(q.mfu).value(draw_of(q.mfu).count - 1) == 1
    assert draw_of(q.activation_share_of_total).value(draw_of(q.activation_share_of_total).count - 1) < 1


def test_the_fixed_sample_is_the_same_for_ever() -> None:
    drawn = list(sample({"whole": Grid(1, 40), "choice": Among((0, 1))}, 4, "salt"))
    assert drawn[0] == {"whole": 1, "choice": 0}
    assert drawn == list(sample({"whole": Grid(1, 40), "choice": Among((0, 1))}, 4, "salt"))
    assert drawn[1:] == [{"whole": 3, "choice": 1}, {"whole": 10, "choice": 1}, {"whole": 34, "choice": 1}]


# The reference implementation


def test_a_function_and_its_keywords_select_one_law_and_one_unknown() -> None:
    for (name, keywords), law in questions().items():
        assert keywords == set(law.symbols) - {name}


def test_every_law_is_asked_by_some_sentence() -> None:
    asked = set()
    for invariant in true():
        impl = Reference()
        invariant.holds(impl, points(invariant)[0])
        asked |= {questions()[question].name for question in impl.asked}
    assert asked == set(laws())


def test_the_reference_answers_as_the_laws_do() -> None:
    assert REFERENCE.kv_bytes_per_token(layers=32, kv_heads=8, head_dim=128, kv_width=2) == 131_072
    assert REFERENCE.concurrency(kv_budget=54 * 10**9, context=4096, kv_bytes_per_token=2**19) == 25
    assert REFERENCE.context(kv_budget=1, concurrency=2, kv_bytes_per_token=1).why == "broken"
    assert isinstance(REFERENCE.kv_budget(gpu_memory=1, weights=2, activations=0, safety_margin=0), Infeasible)
    assert REFERENCE.within_slots(batch=2, slots=1) is False


def test_what_no_law_answers_is_said() -> None:
    with pytest.raises(Unanswered, match="no law gives concurrency from colour"):
        REFERENCE.concurrency(colour=1)
    with pytest.raises(AttributeError):
        _ = REFERENCE.colour


def test_a_replaced_law_answers_instead_and_takes_what_nobody_passes_from_its_surroundings() -> None:
    law = laws()["kv_bytes_per_token"]
    slip = next(s for s in law.slips if s.slug == "hidden-for-kv-width")
    impl = Reference({"kv_bytes_per_token": law.with_slip(slip)}, {"hidden": 7})
    assert impl.kv_bytes_per_token(layers=1, kv_heads=1, head_dim=1, kv_width=2) == 28
    with pytest.raises(Unanswered):
        impl.kv_heads(layers=1, head_dim=1, kv_width=2, kv_bytes_per_token=4)
