"""Senses: how a law moves with each symbol, decided from the tree and held against differences at random points."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st

from spec import memory
from spec import quantities as q
from spec.compiling import Algorithm
from spec.domains import Domain
from spec.laws import Bound, Identity, Law, NotInvertible, author_order
from spec.quantities import Quantity
from spec.senses import interval, sense
from tests.spec.strategies import (
    FEWER,
    LAWS,
    LETTERS,
    by_hand,
    conditions_hold,
    inputs,
    named,
    number_of,
    numbers,
    trees,
)

pytestmark = pytest.mark.differential

EVERY = [(law, name) for law in LAWS for name in law.senses]
MOVING = [(law, name) for law, name in EVERY if law.symbols[name] not in law.both_ways]
BOTH_WAYS = [(law, symbol.name) for law in LAWS for symbol in law.both_ways]
X, Y, Z = LETTERS
FREE = Quantity("free", "v", "1", Domain(None), "any number", "tests")
TWO = Quantity("two", "u", "1", Domain(2, integer=True), "at least two", "tests")


def value_of(law: Law, drawn: dict[str, Any]) -> Any:
    """Give what a sense is about: the value of an Identity, the room of a Bound."""
    left, right = law.bodies
    return right(**drawn) if law.is_identity else right(**drawn) - left(**drawn)


@pytest.mark.parametrize(("law", "name"), MOVING, ids=named(MOVING))
def test_every_law_moves_with_each_symbol_in_one_sense(law: Law, name: str) -> None:
    assert law.senses[name] in {1, -1}


@pytest.mark.parametrize(("law", "name"), MOVING, ids=named(MOVING))
@FEWER
@given(data=st.data())
def test_differences_have_the_sign_of_the_sense(law: Law, name: str, data: Any) -> None:
    drawn = data.draw(inputs(law))
    other = {**drawn, name: data.draw(number_of(law.symbols[name]))}
    assume(conditions_hold(law, other) and drawn[name] != other[name])
    low, high = sorted([drawn, other], key=lambda point: point[name])
    assert (value_of(law, high) - value_of(law, low)) * law.senses[name] >= 0


@pytest.mark.parametrize(("law", "name"), EVERY, ids=named(EVERY))
def test_every_law_does_move_with_each_symbol(law: Law, name: str) -> None:
    points = st.tuples(inputs(law), number_of(law.symbols[name]))

    def moves(pair: tuple[dict[str, Any], Any]) -> bool:
        other = {**pair[0], name: pair[1]}
        return conditions_hold(law, other) and value_of(law, pair[0]) != value_of(law, other)

    find(points, moves, settings=settings(max_examples=2000, phases=[Phase.generate]))


@pytest.mark.parametrize(("law", "name"), BOTH_WAYS, ids=named(BOTH_WAYS))
def test_a_symbol_said_to_move_a_law_either_way_is_not_decided_from_the_tree(law: Law, name: str) -> None:
    assert law.senses[name] is None
    assert law.both_ways[law.symbols[name]]


def test_a_partition_is_decided_with_its_joint_conditions_and_only_with_them() -> None:
    right, facts = memory.kv_budget_by_shares.right, memory.kv_budget_by_shares.facts
    assert sense(right, q.gpu_memory, facts) == 1  # needs a + s < 1
    assert sense(right, q.gpu_memory) is None
    assert sense(right, q.activation_share_of_remaining, facts) == -1  # needs W <= M
    assert sense(right, q.activation_share_of_remaining) is None
    assert sense(right, q.weights, facts) == sense(right, q.weights) == -1
    assert sense(memory.activations_of_remaining.right, q.activation_share_of_remaining) is None


def test_a_fact_and_more_of_its_sign_decide_a_sum() -> None:
    facts = (X - Y,)
    assert sense(Z * (X + 2 - Y), Z, facts) == 1
    assert sense(Z * (Y - 1 - X), Z, facts) == -1
    assert sense(Z * (X - 1 - Y), Z, facts) is None
    assert sense(Z * (X + 2 - Y), Z) is None


def test_the_room_of_a_bound_is_decided_on_the_difference_where_both_sides_grow() -> None:
    apart = Bound("b", X * Y <= X * Z, says="", section="", where=[Y <= Z])
    assert apart.senses["x"] == 1
    assert Bound("b", X * Y <= X * Z, says="", section="").senses == {"x": None, "y": -1, "z": 1}


def test_an_undecided_sense_is_a_refusal_and_never_a_guess() -> None:
    with author_order():
        law = Identity(q.context, q.batch * (TWO - q.slots), says="", section="")
        both = Identity(q.context, sympy.Max(TWO, q.batch) - sympy.floor(q.batch / 2), says="", section="")
    assert law.senses["batch"] is None
    assert both.senses["batch"] is None
    assert both.method("batch") == "not invertible: its sense is not decided"
    with pytest.raises(NotInvertible, match="its sense is not decided"):
        both.solve("batch", context=3, two=2)


with author_order():
    SENSES: dict[Any, int | None] = {
        (TWO - 1) * X: 1,
        Y / (X * (TWO - 1)): -1,
        sympy.ceiling(Y / X): -1,
        sympy.Min(X, Y / X): None,
        -sympy.Max(X, Y * X): -1,
        (X - Y) ** 2: None,
        (Y - X) ** 3: -1,
        FREE * X: None,
        FREE**2 * X: 1,
        1 / (X + Y): -1,
        X / (X + Y): 1,
        Y + Z: 0,
        sympy.Integer(3): 0,
        X * 0: 0,
        X * X: 1,
        X**-2: -1,
        Y - X: -1,
        X - Y / X: 1,
        X - sympy.floor(X): None,
        FREE**-1 * X: None,
    }


@pytest.mark.parametrize(("tree", "expected"), SENSES.items(), ids=map(str, SENSES))
def test_senses_of_small_formulas(tree: Any, expected: int | None) -> None:
    assert sense(tree, X) == expected


@given(trees(), st.sampled_from(LETTERS), st.data())
def test_a_decided_sense_of_any_formula_is_right(tree: Any, symbol: Quantity, data: Any) -> None:
    try:
        found = sense(tree, symbol)
    except ZeroDivisionError:
        found = None
    point = {letter.name: data.draw(numbers(Domain(1, 9))) for letter in LETTERS}
    other = {**point, symbol.name: data.draw(numbers(Domain(1, 9)))}
    low, high = sorted([point, other], key=lambda p: p[symbol.name])
    try:
        moved = by_hand(tree, high) - by_hand(tree, low)
    except ZeroDivisionError:
        assume(False)  # noqa: FBT003  Hypothesis takes it so
    assert found is None or (moved == 0 if found == 0 else moved * found >= 0)


@given(trees(), st.data())
def test_the_interval_of_any_formula_holds_its_values(tree: Any, data: Any) -> None:
    bounds = interval(tree, ())
    point = {letter.name: data.draw(numbers(Domain(1, 9))) for letter in LETTERS}
    try:
        value = by_hand(tree, point)
    except ZeroDivisionError:
        assume(False)  # noqa: FBT003  Hypothesis takes it so
    assert bounds.low <= sympy.Rational(value.numerator, value.denominator) <= bounds.high


class Falling(Algorithm):
    """A program that falls with its argument and stays between 0 and 1."""

    senses = (-1,)
    bounds = (0, 1)

    @staticmethod
    def exact(*args: Any) -> Any:
        return 1 / (1 + args[0])


def test_algorithms_bring_their_own_senses() -> None:
    with author_order():
        node = q.batch * Falling(q.context / q.slots)
    assert sense(node, q.batch) == 1
    assert sense(node, q.context) == -1
    assert sense(node, q.slots) == 1
    assert (interval(Falling(q.context), ()).low, interval(Falling(q.context), ()).high) == (0, 1)
