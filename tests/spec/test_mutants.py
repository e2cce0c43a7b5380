"""A law has every small fault once, each described, and those that change nothing are recognised."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy

from spec import quantities as q
from spec.index import laws
from spec.laws import Bound, Identity, Law, author_order
from spec.mutants import Misread, Mutant, mutants
from spec.queueing import ErlangB
from spec.solving import Infeasible

pytestmark = pytest.mark.law


def identity(gives: Any, right: Any) -> Law:
    return Identity(gives, right, says="", section="")


def changes(law: Law) -> dict[str, str]:
    """Give the changed right side of each mutant of an Identity by its change."""
    return {m.change: m.formula.split(" = ")[1] for m in mutants(law) if isinstance(m.faulty, Law)}


def test_a_product_loses_each_factor_and_has_each_number_and_power_changed() -> None:
    with author_order():
        law = identity(q.weights, 2 * q.parameters**2 / q.weight_bits)
    assert changes(law) == {
        "drop the factor 2": "parameters^2 / weight_bits",
        "drop the factor parameters^2": "2 / weight_bits",
        "drop the factor 1 / weight_bits": "2 * parameters^2",
        "3 instead of 2": "3 * parameters^2 / weight_bits",
        "drop the power of parameters": "2 * parameters / weight_bits",
        "invert the power of parameters": "2 / (parameters^2 * weight_bits)",
        "raise parameters by one power": "2 * parameters^3 / weight_bits",
        "invert the power of weight_bits": "2 * parameters^2 * weight_bits",
        "raise weight_bits by one power": "2 * parameters^2 / weight_bits^2",
    }


def test_the_square_of_a_divisor_is_one_power() -> None:
    with author_order():
        law = identity(q.weights, q.parameters / q.weight_bits**2)
    found = changes(law)
    assert found["drop the power of weight_bits"] == "parameters / weight_bits"
    assert found["invert the power of weight_bits"] == "parameters * weight_bits^2"
    assert found["raise weight_bits by one power"] == "parameters / weight_bits^3"


def test_a_sum_loses_each_term_and_has_each_sign_flipped() -> None:
    with author_order():
        law = identity(q.ttft, q.wait - q.prompt)
    found = changes(law)
    assert found["drop the term wait"] == "-prompt"
    assert found["drop the term -prompt"] == "wait"
    assert found["flip the sign of the term wait"] == "-wait - prompt"
    assert found["flip the sign of the term -prompt"] == "wait + prompt"


def test_a_sum_that_is_a_factor_is_dropped_squared_and_inverted() -> None:
    with author_order():
        law = identity(q.cached_tokens, q.batch * (q.prompt + q.output))
    found = changes(law)
    assert found["drop the factor prompt + output"] == "batch"
    assert found["raise (prompt + output) by one power"] == "batch * (prompt + output)^2"
    assert found["invert (prompt + output)"] == "batch / (prompt + output)"


def test_a_symbol_is_swapped_for_those_of_the_same_unit_only() -> None:
    with author_order():
        law = identity(q.cached_tokens, q.batch * q.prompt + q.output)
    swaps = {change for change in changes(law) if " instead of " in change}
    assert swaps == {"output instead of prompt", "prompt instead of output"}


def test_a_rounding_is_dropped_and_turned() -> None:
    found = changes(identity(q.blocks_per_sequence, sympy.ceiling(q.context / q.block_size)))
    assert found["drop ceil"] == "context / block_size"
    assert found["floor instead of ceil"] == "floor(context / block_size)"


def test_a_maximum_is_turned_and_loses_each_branch() -> None:
    found = changes(identity(q.prefill_time, sympy.Max(q.wait, q.ttft)))
    assert found["Min instead of Max"] == "Min(ttft, wait)"
    assert found["drop the branch wait"] == "ttft"
    assert found["drop the branch ttft"] == "wait"


def test_a_program_is_swapped_for_another_and_gets_no_fraction_to_count_with() -> None:
    found = changes(identity(q.blocking, ErlangB(q.servers, q.offered_load)))
    assert found["ErlangC instead of ErlangB"] == "ErlangC(servers, offered_load)"
    assert "invert servers" not in found
    assert "offered_load instead of servers" not in found


def test_a_bound_has_its_relation_turned_and_its_answers_made_wrongly() -> None:
    law = laws()["fits"]
    made = {m.change: m.faulty for m in mutants(law)}
    assert made["< instead of <="].relation == "<"
    given = {"kv_budget": 10, "kv_bytes_per_token": 3, "context": 1}
    assert law.solve("concurrency", **given) == 3
    assert made["rounds concurrency to the side that breaks the bound"].solve("concurrency", **given) == 4
    assert made["does not round concurrency"].solve("concurrency", **given) == Fraction(10, 3)
    none = {"kv_budget": 1, "kv_bytes_per_token": 3, "concurrency": 1}
    assert isinstance(law.solve("context", **none), Infeasible)
    assert made["gives 0 for context where none exists"].solve("context", **none) == 0


def test_a_need_is_rounded_down_by_the_fault() -> None:
    made = {m.change: m.faulty for m in mutants(laws()["carries"])}
    down = made["rounds gpus to the side that breaks the bound"]
    assert laws()["carries"].solve("gpus", mean_concurrency=25, sequences_per_gpu=10) == 3
    assert down.solve("gpus", mean_concurrency=25, sequences_per_gpu=10) == 2


def test_rounding_faults_leave_other_answers_and_the_bound_itself_alone() -> None:
    law = laws()["fits"]
    fault = Misread(law, "concurrency", "wrong side")
    given = {"kv_budget": 10, "kv_bytes_per_token": 3, "concurrency": 1}
    assert fault.solve("context", **given) == law.solve("context", **given)
    assert fault(**given, context=3) is True
    assert fault(**given, context=4) is False


def test_a_law_that_can_run_dry_has_a_mutant_that_gives_less_than_nothing() -> None:
    given = {"gpu_memory": 1, "weights": 3, "activations": 0, "safety_margin": 0}
    fault = next(m.faulty for m in mutants(laws()["kv_budget"]) if m.change.startswith("gives kv_budget below"))
    assert fault.solve("kv_budget", **given) == -2
    assert not [m for m in mutants(laws()["ttft"]) if "where none exists" in m.change]


def test_powers_of_a_flag_and_formulas_written_differently_are_recognised() -> None:
    with author_order():
        law = identity(q.parameters, q.layers + q.tied * q.layers + q.gated * q.layers)
    same = {m.change: m.same for m in mutants(law) if m.same}
    assert same["raise tied by one power"] == "0 and 1 are their own powers"
    assert "raise layers by one power" not in same
    halves = identity(q.parameters, sympy.Add(q.layers, q.layers, evaluate=False))
    assert all(not m.same for m in mutants(halves))


def test_a_limit_between_two_whole_numbers_has_nothing_to_round() -> None:
    rounding = [m for m in mutants(laws()["within_slots"]) if not isinstance(m.faulty, Law)]
    assert {m.same for m in rounding} == {"both sides are single whole numbers"}


def test_a_condition_on_a_symbol_that_a_mutant_lost_is_dropped() -> None:
    law = laws()["activations_of_remaining"]
    lost = next(m.faulty for m in mutants(law) if m.change == "drop the term -weights")
    assert lost.where == ()
    assert lost.solve("activations", gpu_memory=4, activation_share_of_remaining=Fraction(1, 2)) == 2


@pytest.mark.parametrize("law", [pytest.param(law, id=name) for name, law in laws().items()])
def test_every_law_has_mutants_each_once(law: Law) -> None:
    found: list[Mutant] = mutants(law)
    assert len({(m.change, m.formula) for m in found}) == len(found) >= 2
    assert law.text() not in {m.formula for m in found if isinstance(m.faulty, Law)}


def test_strict_bounds_are_mutated_too() -> None:
    law = Bound("few", q.batch < q.slots, says="", section="")
    assert "<= instead of <" in {m.change for m in mutants(law)}
