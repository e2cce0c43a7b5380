"""Cases that laws reckon: what is found, told and taken for a misconception."""

from __future__ import annotations

from fractions import Fraction

import pytest

from grader.menu import Menu
from grader.reckoned import Reckoning, gpu_of, model_of, shown
from spec import quantities as q
from spec.phases import flops_per_token, required_mfu

pytestmark = pytest.mark.law

NEED = Reckoning(
    (q.parameters, q.prefill_rate, q.compute), (q.flops_per_token, q.required_mfu), (flops_per_token, required_mfu)
)
CASE = Menu(parameters=(7 * 10**9,), prefill_rate=(6000,), compute=("312 TFLOP/s",)).at(0)


def test_values_are_those_of_the_laws_exactly() -> None:
    found = NEED.values(CASE)
    assert found["flops_per_token"] == flops_per_token(parameters=7 * 10**9)
    assert found["required_mfu"] == Fraction(2 * 7 * 10**9 * 6000, 312 * 10**12)
    assert {type(value) for value in found.values()} == {Fraction}


def test_the_lines_follow_the_chain_and_end_at_what_is_found() -> None:
    lines = NEED.lines(CASE)
    assert [line.law for line in lines] == ["flops_per_token", "required_mfu"]
    assert lines[0].text.endswith("= 14,000,000,000 FLOP/token")


def test_no_hint_tells_a_result() -> None:
    assert not any("14,000,000,000" in hint or "0.269" in hint for hint in NEED.hints(CASE, "First.", "Then."))
    assert NEED.hints(CASE, "First.", "Then.")[0].endswith("First.")
    assert NEED.hints(CASE, "First.", "Then.")[1].endswith("Then.")


def test_what_leads_nowhere_or_to_the_key_is_no_slip() -> None:
    assert NEED.slip("half", "Half.", lambda v: v["required_mfu"] / 2).applies(CASE)
    assert not NEED.slip("none", "None.", lambda _: None).applies(CASE)
    assert not NEED.slip("pole", "Pole.", lambda v: 1 / (v["required_mfu"] - v["required_mfu"])).applies(CASE)
    same = NEED.slip("same", "Same.", lambda v: v["required_mfu"], lambda v: v["required_mfu"])
    assert not same.applies(CASE)


def test_givens_are_printed_as_they_are_drawn() -> None:
    assert [(given.value, given.unit) for given in NEED.givens(CASE, q.compute)] == [("312", "TFLOP/s")]
    assert len(NEED.givens(CASE)) == len(NEED.given)
    assert (model_of(CASE), gpu_of(CASE)) == ("", "")


def test_results_are_shown_exactly_where_they_are_whole() -> None:
    assert shown(1_234_567, "token") == "1,234,567 tokens"
    assert shown(Fraction(1, 3), "ms") == "0.33333 ms"
    assert shown(None, "token") == "none"
