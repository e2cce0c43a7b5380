"""Compiling: the emitted Python agrees with SymPy, with a walk over the tree, and with Erlang's sums, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from spec import memory, queueing
from spec import quantities as q
from spec.compiling import Algorithm, algorithms, compiled, exact_kind, source, unit_kind
from spec.laws import Identity, Infeasible, Law, author_order
from spec.queueing import ErlangB, ErlangC
from spec.units import unit
from tests.spec.strategies import FEWER, LAWS, LETTERS, by_hand, delay, evaluated, loss, trees, values

pytestmark = pytest.mark.differential

POINTS = st.fixed_dictionaries(
    {letter.name: st.integers(1, 9) | st.fractions(Fraction(1, 9), 9, max_denominator=9) for letter in LETTERS}
)
LOADS = st.integers(1, 30) | st.fractions(Fraction(1, 100), 30, max_denominator=100)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@FEWER
@given(data=st.data())
def test_both_sides_of_a_law_agree_with_sympy(law: Law, data: Any) -> None:
    drawn = data.draw(values(law))
    for side, body in zip((law.left, law.right), law.bodies, strict=True):
        value = body(**drawn)
        assert type(value) in {int, Fraction}
        assert value == evaluated(side, drawn)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@FEWER
@given(data=st.data())
def test_slips_agree_with_sympy(law: Law, data: Any) -> None:
    for slip in law.slips:
        wrong = law.with_slip(slip)
        drawn = data.draw(values(wrong))
        assert wrong.bodies[1](**drawn) == evaluated(wrong.right, drawn)
        assert wrong.bodies[0](**drawn) == evaluated(wrong.left, drawn)


@given(trees(), POINTS)
def test_any_formula_compiles_to_what_it_says(tree: Any, point: dict[str, Any]) -> None:
    try:
        expected = by_hand(tree, point)
    except ZeroDivisionError:
        assume(False)  # noqa: FBT003  Hypothesis takes it so
    value = compiled(tree, exact_kind())(**point)
    assert type(value) in {int, Fraction}
    assert value == expected


def test_powers_of_powers_and_of_fractions_keep_their_order() -> None:
    x = LETTERS[0]
    with author_order():
        cases = {
            (x**2) ** 3: 64,
            x ** sympy.Integer(-2): Fraction(1, 4),
            (x**-1) ** 2: Fraction(1, 4),
            sympy.Rational(1, 2) ** 2 * x: Fraction(1, 2),
            sympy.Integer(-2) ** 2 * x: 8,
            (x / 3) ** 2: Fraction(4, 9),
            ((x**2) ** 2) ** -1: Fraction(1, 16),
            (x * -3) ** 2: 36,
            x**0: 1,
            x - (x - 1): 1,
            sympy.ceiling(x / 3) ** 2: 1,
        }
    for tree, expected in cases.items():
        assert compiled(tree, exact_kind())(x=2) == expected, source(tree)


def test_an_eighth_stays_an_eighth() -> None:
    # SymPy's own lambdify makes a float of P*b/8, and a float has lost the last bits of a large count.
    parameters = 2**63 + 1
    assert memory.weights(parameters=parameters, weight_bits=1) == Fraction(parameters, 8)
    with author_order():
        tree = sympy.ceiling(LETTERS[0] * LETTERS[1] / 60)
    body = compiled(tree, exact_kind())
    for rate in range(1, 120):
        for seconds in range(1, 120, 7):
            assert body(x=rate, y=Fraction(seconds, 10)) == -(-rate * seconds // 600)


@pytest.mark.parametrize(
    "node",
    [
        sympy.sqrt(q.hidden),
        sympy.log(q.hidden),
        2**q.hidden,
        sympy.Abs(q.kv_budget - 1),
        sympy.pi,
        sympy.Float(0.1),
        sympy.I,
    ],
)
def test_what_is_not_rational_has_no_exact_form(node: Any) -> None:
    with pytest.raises(TypeError, match="no exact form"):
        source(node)


def test_the_same_body_runs_on_units() -> None:
    body = compiled(memory.fits_in_blocks.left, unit_kind())
    units = {"concurrency": "sequence", "context": "token", "block_size": "token", "kv_bytes_per_block": "B"}
    found = body(**{name: unit(written) for name, written in units.items()})
    assert found.base_name() == "B*sequence"


def test_a_body_takes_its_own_names_and_ignores_others() -> None:
    body = compiled(q.layers * 2, exact_kind())
    assert body(layers=3, hidden=None) == 6
    with pytest.raises(TypeError, match="layers"):
        body(hidden=3)


class Doubled(Algorithm):
    """A program of one argument, to show that a law may call one."""

    senses = (1,)
    bounds = (0, 10**9)

    @staticmethod
    def exact(*args: Any) -> Any:
        return 2 * args[0]


def test_a_law_may_be_an_algorithm() -> None:
    assert algorithms()["Doubled"] is Doubled
    with author_order():
        law = Identity(q.cached_tokens, 3 * Doubled(q.context), says="", section="")
    assert law(context=7) == 42
    assert law.senses == {"context": 1}
    assert law.method("context") == "bisection"
    assert law.solve("context", cached_tokens=42) == 7
    none = law.solve("context", cached_tokens=43)
    assert isinstance(none, Infeasible)
    assert none.why == "not-whole"
    assert law.text() == "cached_tokens = 3 * Doubled(context)"
    with pytest.raises(NotImplementedError):
        Algorithm.exact(1)


@given(st.integers(1, 40), LOADS)
def test_erlang_b_is_its_sum(servers: int, load: Any) -> None:
    blocked = ErlangB.exact(servers, load)
    assert type(blocked) is Fraction
    assert blocked == loss(servers, load)
    assert 0 < blocked < 1


@given(st.integers(1, 40), LOADS)
def test_erlang_c_is_its_sum_and_never_below_erlang_b(servers: int, load: Any) -> None:
    waits = ErlangC.exact(servers, load)
    assert type(waits) is Fraction
    assert waits == delay(servers, load)
    assert ErlangB.exact(servers, load) < waits <= 1
    assert (waits == 1) == (load >= servers)


@given(st.integers(1, 40), LOADS)
def test_erlang_b_follows_its_recursion(servers: int, load: Any) -> None:
    before, after = (ErlangB.exact(n, load) for n in (servers, servers + 1))
    assert after == load * before / (servers + 1 + load * before)
    assert after < before
    assert ErlangB.exact(0, load) == 1


def test_small_cases_of_erlang() -> None:
    assert queueing.blocking(servers=1, offered_load=1) == Fraction(1, 2)
    assert queueing.blocking(servers=2, offered_load=1) == Fraction(1, 5)
    assert queueing.blocking(servers=3, offered_load=2) == Fraction(4, 19)
    assert queueing.waiting(servers=2, offered_load=1) == Fraction(1, 3)
    assert queueing.waiting(servers=1, offered_load="0.7") == Fraction(7, 10)  # one server: as long as it is busy
    assert queueing.waiting(servers=50, offered_load=50).why == "above"  # at equality the queue grows without end


def test_hundreds_of_servers_stay_exact() -> None:
    load = Fraction(480_123_456_789, 10**9)
    before, after = (queueing.blocking(servers=n, offered_load=load) for n in (499, 500))
    assert after == load * before / (500 + load * before)
    assert Fraction(14, 1000) < after < Fraction(15, 1000)
