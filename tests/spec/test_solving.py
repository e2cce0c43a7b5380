"""Solving: every law for every symbol, substituted back; the extreme of a Bound fails one step beyond."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from spec import attention, kv_cache, memory, parameters, phases, printing, queueing, scaling
from spec import quantities as q
from spec.domains import Domain
from spec.laws import Bound, Identity, Infeasible, Law, NotInvertible, OutsideDomain, author_order
from spec.quantities import Quantity
from spec.solving import closed_form
from tests.spec.strategies import (
    BOUNDS,
    FEWER,
    IDENTITIES,
    LAWS,
    PAIRS,
    conditions_hold,
    named,
    number_of,
    steps_around,
    values,
)

pytestmark = pytest.mark.law

INVERSES = [(law, name) for law in IDENTITIES for name in law.symbols if name != law.left.name]
LIMITS = [(law, name) for law in BOUNDS for name in law.symbols]
ANY = object()
METHODS = ("direct", "closed form", "branches", "bisection", "not invertible: ")


def exact(value: Any) -> bool:
    return type(value) is int or (type(value) is Fraction and value.denominator != 1)


def satisfies(law: Law, drawn: dict[str, Any], name: str, value: Any) -> bool:
    """Say whether a law holds, from its two sides alone."""
    left, right = (side(**{**drawn, name: value}) for side in law.bodies)
    return bool({"==": left == right, "<=": left <= right, "<": left < right}[law.relation])


def solved(law: Law, name: str, known: dict[str, Any]) -> Any:
    """Solve; ANY where the law says that every value satisfies it."""
    try:
        return law.solve(name, **known)
    except NotInvertible as refusal:
        return {"every value satisfies it here": ANY}[refusal.reason]


@pytest.mark.parametrize("law", IDENTITIES, ids=lambda law: law.name)
@FEWER
@given(data=st.data())
def test_an_identity_gives_an_exact_value_of_its_domain_or_says_by_how_much_it_misses(law: Law, data: Any) -> None:
    drawn = data.draw(values(law, law.left.name))
    value = law(**drawn)
    if isinstance(value, Infeasible):
        assert value.why in {"below", "above", "not-whole"}
        assert value.unit == law.left.unit.name
    else:
        assert exact(value)
        assert value in law.left.domain
        assert satisfies(law, drawn, law.left.name, value)


@pytest.mark.parametrize(("law", "name"), INVERSES, ids=named(INVERSES))
@FEWER
@given(data=st.data())
def test_an_identity_solved_and_substituted_back_holds(law: Law, name: str, data: Any) -> None:
    drawn = data.draw(values(law, law.left.name))
    target = law(**drawn)
    assume(not isinstance(target, Infeasible))
    known = {**drawn, law.left.name: target}
    original = known.pop(name)
    if law.method(name).startswith("not invertible"):
        with pytest.raises(NotInvertible):
            law.solve(name, **known)
        return
    found = solved(law, name, known)
    if found is ANY:
        assert satisfies(law, known, name, data.draw(number_of(law.symbols[name])))
        return
    assert not isinstance(found, Infeasible), (found, original)
    assert exact(found)
    assert found in law.symbols[name].domain
    assert satisfies(law, known, name, found)
    assert conditions_hold(law, {**known, name: found})


@pytest.mark.parametrize(("law", "name"), INVERSES, ids=named(INVERSES))
@FEWER
@given(data=st.data())
def test_an_identity_says_no_value_only_where_none_is_found_by_trying(law: Law, name: str, data: Any) -> None:
    known = data.draw(values(law, name))
    symbol = law.symbols[name]
    if law.method(name).startswith("not invertible"):
        return
    found = solved(law, name, known)
    if found is ANY:
        assert satisfies(law, known, name, data.draw(number_of(symbol)))
    elif isinstance(found, Infeasible):
        for value in [data.draw(number_of(symbol)), *range(1, 40)]:
            assert value not in symbol.domain or not (
                satisfies(law, known, name, value) and conditions_hold(law, {**known, name: value})
            )
    else:
        assert satisfies(law, known, name, found)


@pytest.mark.parametrize(("law", "name"), LIMITS, ids=named(LIMITS))
@FEWER
@given(data=st.data())
def test_a_bound_holds_at_its_solution_and_fails_one_step_beyond(law: Law, name: str, data: Any) -> None:
    known = data.draw(values(law, name))
    symbol, maximum = law.symbols[name], law.senses[name] == -1
    if law.method(name).startswith("not invertible"):
        with pytest.raises(NotInvertible):
            law.solve(name, **known)
        return
    found = law.solve(name, **known)
    tried = [data.draw(number_of(symbol)), *range(30), 10**30]
    if isinstance(found, Infeasible):
        expected = found.why == "unbounded"
        assert all(law(**known, **{name: v}) is expected for v in tried if v in symbol.domain)
        return
    assert exact(found)
    assert law(**known, **{name: found}) is True
    for value in steps_around(symbol, found):
        assert law(**known, **{name: value}) is ((value < found) == maximum)


@pytest.mark.parametrize(("law", "name"), PAIRS, ids=named(PAIRS))
def test_every_pair_has_a_method_and_refusals_have_a_reason(law: Law, name: str) -> None:
    method = law.method(name)
    assert method.startswith(METHODS)
    assert not method.startswith("not invertible: ") or len(method) > len("not invertible: ") + 20


def test_the_table_of_laws_and_variables(record_property: Any) -> None:
    counts: dict[str, int] = {}
    for law, name in PAIRS:
        method = law.method(name)
        counts[method.partition(":")[0]] = counts.get(method.partition(":")[0], 0) + 1
        print(f"{law.name:28}{name:32}{method}")  # noqa: T201  read with -s
    print(len(LAWS), "laws", len(PAIRS), "pairs", counts)  # noqa: T201  as above
    record_property("methods", counts)
    assert counts["direct"] == len(IDENTITIES)
    undecided = [
        symbol
        for law in LAWS
        for symbol in law.both_ways.keys() - law.not_invertible.keys()
        if not (law.is_identity and closed_form(law, symbol))
    ]
    assert counts["not invertible"] == sum(len(law.not_invertible) for law in LAWS) + len(undecided)


def test_a_symbol_the_law_does_not_contain_has_no_method() -> None:
    with pytest.raises(TypeError, match="fits does not contain 'gpus'"):
        memory.fits.method("gpus")


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@FEWER
@given(data=st.data())
def test_ints_fractions_decimals_and_strings_mean_the_same_number(law: Law, data: Any) -> None:
    drawn = data.draw(values(law))
    expected = law.room(**drawn)
    assert exact(expected)
    assert law.room(**{n: str(v) for n, v in drawn.items()}) == expected
    assert law.room(**{n: Fraction(v) for n, v in drawn.items()}) == expected
    tenths = {n: Decimal(int(v)) if v.denominator == 1 else v for n, v in drawn.items()}
    assert law.room(**tenths) == expected


@pytest.mark.parametrize(
    "wrong",
    [1.0, float("inf"), None, [1], "abc", "", "1/0", "nan", Decimal("NaN"), "1e99999999", "1e-99999999", 1j],
    ids=repr,
)
def test_what_is_no_exact_number_is_refused_by_name(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"^context=.* is not (exact|a number)"):
        memory.kv_bytes_per_sequence(context=wrong, kv_bytes_per_token=1)


def test_a_truth_value_is_a_flag_and_never_comes_back() -> None:
    value = memory.kv_bytes_per_sequence.solve("context", kv_bytes_per_sequence=True, kv_bytes_per_token=1)
    assert type(value) is int


def test_a_fraction_that_is_whole_counts_as_an_integer() -> None:
    assert queueing.blocking(servers=Fraction(2, 1), offered_load=1) == Fraction(1, 5)


def test_missing_and_unknown_givens_are_named() -> None:
    with pytest.raises(TypeError, match="kv_bytes_per_sequence needs context and does not take seats"):
        memory.kv_bytes_per_sequence(kv_bytes_per_token=1, seats=3)
    with pytest.raises(TypeError, match="does not take context"):
        memory.kv_bytes_per_sequence.solve("context", context=1, kv_bytes_per_token=1, kv_bytes_per_sequence=3)
    with pytest.raises(TypeError, match="does not contain 'gpus'"):
        memory.kv_bytes_per_sequence.solve("gpus", context=1, kv_bytes_per_token=1, kv_bytes_per_sequence=3)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@FEWER
@given(data=st.data())
def test_a_given_outside_its_domain_is_named_with_what_would_be_right(law: Law, data: Any) -> None:
    drawn = data.draw(values(law))
    name = data.draw(st.sampled_from(sorted(drawn)))
    domain = law.symbols[name].domain
    wrong = [-1, Fraction(-1, 2)]
    wrong += [Fraction(1, 2)] if domain.integer else []
    wrong += [domain.low] if domain.open_low else []
    wrong += [domain.high if domain.open_high else domain.high + 1] if domain.high is not None else []
    value = data.draw(st.sampled_from(wrong))
    with pytest.raises(OutsideDomain) as caught:
        law.room(**{**drawn, name: value})
    assert str(caught.value) == f"{name} = {value} is not possible: it must be {domain}"


def test_joint_conditions_are_refused_together() -> None:
    shares = {"activation_share_of_remaining": "0.6", "safety_share_of_total": "0.4"}
    with pytest.raises(OutsideDomain) as caught:
        memory.kv_budget_by_shares(gpu_memory=80, weights=14, **shares)
    assert "activation_share_of_remaining and safety_share_of_total = 3/5 and 2/5 is not possible" in str(caught.value)
    with pytest.raises(OutsideDomain, match="weights <= gpu_memory"):
        memory.activations_of_remaining(gpu_memory=80, weights=81, activation_share_of_remaining=0)


def test_a_joint_condition_is_not_judged_before_all_of_it_is_given() -> None:
    none = memory.activations_of_remaining.solve(
        "weights", gpu_memory=80, activations=8, activation_share_of_remaining="0.1"
    )
    assert none == Infeasible("activations_of_remaining", "weights", "below", 0, "B")


def test_a_negative_capacity_is_infeasible_with_the_deficit_in_its_unit() -> None:
    budget = memory.kv_budget(
        gpu_memory=80 * 10**9, weights=138 * 10**9, activations=8 * 10**9, safety_margin=4 * 10**9
    )
    assert budget == Infeasible("kv_budget", "kv_budget", "below", 70 * 10**9, "B")
    none = memory.fits.solve("context", concurrency=10, kv_bytes_per_token=100, kv_budget=400)
    assert none == Infeasible("fits", "context", "broken", 600, "B")  # ten sequences of one token need 1000
    slow = phases.meets_latency_target.solve("output", decode_rate=1, latency_target="0.25")
    assert slow == Infeasible("meets_latency_target", "output", "broken", Fraction(3, 4), "s")
    assert "no context satisfies fits" in str(none)


def test_a_strict_bound_moves_one_further_at_equality() -> None:
    assert scaling.carries.solve("gpus", mean_concurrency=20, sequences_per_gpu=10) == 3
    assert scaling.carries.solve("gpus", mean_concurrency="19.99", sequences_per_gpu=10) == 2
    assert scaling.carries.solve("sequences_per_gpu", mean_concurrency=20, gpus=2) == 11
    assert scaling.carries(mean_concurrency=20, gpus=2, sequences_per_gpu=10) is False


def test_nothing_bounded_and_nothing_possible_are_told_apart() -> None:
    nothing_held = {"concurrency": 0, "kv_budget": 5}
    assert memory.fits.solve("context", kv_bytes_per_token=1, **nothing_held).why == "unbounded"
    assert memory.fits.solve("kv_bytes_per_token", context=1, **nothing_held).why == "unbounded"
    assert scaling.carries.solve("gpus", mean_concurrency=20, sequences_per_gpu=0).why == "broken"


def test_where_every_value_fits_none_is_made_up() -> None:
    for solve in (
        lambda: memory.cached_tokens.solve("context", concurrency=0, cached_tokens=0),
        lambda: memory.kv_bytes_total.solve("kv_bytes_per_token", cached_tokens=0, kv_bytes_total=0),
        lambda: memory.activations_of_remaining.solve(
            "activation_share_of_remaining", gpu_memory=5, weights=5, activations=0
        ),
        lambda: kv_cache.kv_bytes_per_sequence_mixed.solve(
            "sliding_window", layers=2, sliding_layers=0, context=5, kv_bytes_per_layer=3, kv_bytes_per_sequence=30
        ),
    ):
        with pytest.raises(NotInvertible, match="every value satisfies it here"):
            solve()
    assert memory.cached_tokens.solve("context", concurrency=0, cached_tokens=7).why == "broken"


def test_a_value_that_breaks_a_joint_condition_is_none() -> None:
    known = {"sliding_layers": 12, "context": 5, "sliding_window": 1, "kv_bytes_per_layer": 1}
    law = kv_cache.kv_bytes_per_sequence_mixed
    assert law.solve("layers", **known, kv_bytes_per_sequence=17) == 13
    assert law.solve("layers", **known, kv_bytes_per_sequence=7).why == "broken"  # 11 layers, of which 12 slide


def test_a_whole_number_that_does_not_exist_is_said_so() -> None:
    given = {"layers": 40, "vocab": 32000}
    assert parameters.parameters_approx.solve("hidden", **given, parameters_approx=12_910_592_000) == 5120
    assert parameters.parameters_approx.solve("hidden", **given, parameters_approx=12_910_592_001).why == "not-whole"
    assert attention.attention_scores_per_head.solve("context", attention_scores_per_head=17).why == "not-whole"
    assert parameters.parameters_approx.solve("layers", hidden=7, vocab=3, parameters_approx=1000).why == "not-whole"


def test_no_server_count_reaches_a_share_of_zero() -> None:
    nobody_lost = queueing.blocks_at_most.solve("servers", offered_load=50, blocking=0)
    assert nobody_lost == Infeasible("blocks_at_most", "servers", "broken")  # and no deficit of thousands of digits
    assert isinstance(queueing.blocking.solve("servers", offered_load=50, blocking=0), Infeasible)
    with pytest.raises(OutsideDomain, match="offered_load"):
        queueing.blocks_at_most.solve("servers", offered_load=10**9, blocking="0.01")


x, y, z = (Quantity(name, name, "1", Domain(0, open_low=True), name, "tests") for name in "xyz")
n = Quantity("n", "n", "1", Domain(1, 9, integer=True), "n", "tests")
with author_order():
    LONGER = Bound("longer", sympy.Max(n * x, y) <= z, says="", section="")
    RATE = Identity(z, sympy.Max(x, y), says="", section="")
    SHARE = Bound("share", x * q.mfu <= y, says="", section="")
    NEED = Bound("need", x <= n * y, says="", section="")
    ROOM = Bound("room", n * x < y, says="", section="")
    STEPS = Identity(z, sympy.ceiling(n / 2), says="", section="")


def test_a_need_rounds_up_and_a_strict_capacity_stays_below() -> None:
    assert [NEED.solve("n", x=parts, y=2) for parts in (1, 2, 3, 4, 5)] == [1, 1, 2, 2, 3]
    assert NEED.solve("n", x=19, y=2) == Infeasible("need", "n", "broken", 1, "1")  # nine at most: one short
    assert [ROOM.solve("n", x=2, y=parts) for parts in (3, 4, 5, 6, 7)] == [1, 1, 2, 2, 3]
    assert ROOM.solve("n", x=2, y=2) == Infeasible("room", "n", "broken", 0, "1")
    assert printing.text(NEED.solution("n")) == "ceil(x / y)"
    assert printing.text(ROOM.solution("n")) == "ceil(y / x) - 1"


def test_the_other_branch_of_a_max_can_break_a_bound() -> None:
    assert LONGER.solve("n", x=2, y=7, z=6) == Infeasible("longer", "n", "broken", 1, "1")
    assert LONGER.solve("n", x=2, y=6, z=6) == 3
    assert LONGER.solve("x", n=2, y=7, z=6).why == "broken"
    assert LONGER.solve("z", n=2, x=3, y=7) == 7


def test_a_maximum_beyond_the_domain_is_its_end() -> None:
    assert LONGER.solve("n", x=1, y=7, z=1000) == 9
    assert SHARE.solve("mfu", x=3, y=4) == 1
    assert SHARE.solve("mfu", x=4, y=3) == Fraction(3, 4)


def test_the_branch_of_a_max_that_does_not_bind_gives_the_end_of_what_is_allowed() -> None:
    assert RATE.solve("x", y=3, z=5) == 5
    assert RATE.solve("x", y=5, z=5) == 5
    assert RATE.solve("x", y=6, z=5).why == "broken"
    assert RATE.method("x") == "branches"


def test_a_step_of_a_ceiling_gives_its_last_value() -> None:
    assert STEPS.solve("n", z=3) == 6
    assert STEPS.solve("n", z=5) == 9
    assert STEPS.solve("n", z=6).why == "above"
    assert STEPS.solve("n", z=Fraction(5, 2)).why == "not-whole"
    assert memory.blocks_per_sequence.solve("context", blocks_per_sequence=3, block_size=16) == 48
    assert memory.blocks_per_sequence.solve("block_size", blocks_per_sequence=3, context=48) == 16
