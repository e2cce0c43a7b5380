"""Units: an exact algebra, a closed table, and laws whose two sides measure the same thing on the same scale."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from spec import memory
from spec import quantities as q
from spec.laws import Bound, Identity, Law, author_order
from spec.quantities import quantities
from spec.units import BASES, ONE, TABLE, Unit, UnitMismatch, UnknownUnit, dimension_words, unit
from tests.spec.strategies import LAWS

pytestmark = pytest.mark.law

NAMES = [name for name in TABLE if name != "%"]


@st.composite
def written(draw: st.DrawFn) -> str:
    """Draw a unit in the written form: factors with exponents over and under the line."""
    factor = st.tuples(st.sampled_from(NAMES), st.integers(1, 3)).map(lambda f: f[0] if f[1] == 1 else f"{f[0]}^{f[1]}")
    over, under = draw(st.lists(factor, max_size=3)), draw(st.lists(factor, max_size=3))
    return "/".join(["*".join(over) or "1", *under])


UNITS = written().map(unit)


def same(one: Unit, other: Unit) -> bool:
    return (one.factor, one.dimension) == (other.factor, other.dimension)


@given(UNITS, UNITS, UNITS)
def test_units_are_a_commutative_group_under_multiplication(a: Unit, b: Unit, c: Unit) -> None:
    assert same(a * b, b * a)
    assert same((a * b) * c, a * (b * c))
    assert same(a * ONE, a)
    assert same(a / a, ONE)
    assert same((a * b) / b, a)
    assert same(a / (b / c), (a * c) / b)


@given(UNITS, st.integers(-3, 3), st.integers(-3, 3))
def test_powers_of_units_add_and_multiply_their_exponents(a: Unit, m: int, n: int) -> None:
    assert same(a**m * a**n, a ** (m + n))
    assert same((a**m) ** n, a ** (m * n))
    assert same(a**0, ONE)
    assert same(a**-1, ONE / a)


@pytest.mark.roundtrip
@given(UNITS, UNITS, st.integers(-2, 2))
def test_the_name_of_a_unit_says_the_same_unit(a: Unit, b: Unit, n: int) -> None:
    for made in (a, a * b, a / b, a**n, a / (b / a), (a / b) ** n):
        assert same(unit(made.name), made)


@pytest.mark.roundtrip
@given(UNITS)
def test_the_base_name_says_the_same_dimension_in_base_units(a: Unit) -> None:
    assert unit(a.base_name()).dimension == a.dimension
    assert unit(a.base_name()).factor == 1


@given(UNITS, st.integers(1, 9))
def test_a_plain_number_leaves_a_unit_as_it_is(a: Unit, number: int) -> None:
    for made in (a * number, number * a, a / number, a + number, number - a, -a):
        assert same(made, a)
    assert same(number / a, ONE / a)


def test_decimal_and_binary_sizes_never_meet() -> None:
    for decimal, binary in (
        ("kB", "KiB"),
        ("MB", "MiB"),
        ("GB", "GiB"),
        ("TB", "TiB"),
        ("PB", "PiB"),
        ("Gbit", "Gibit"),
    ):
        assert unit(decimal).same_dimension(unit(binary))
        assert unit(decimal).factor < unit(binary).factor
        assert unit(decimal) != unit(binary)
        with pytest.raises(UnitMismatch) as caught:
            unit(decimal) + unit(binary)
        assert str(caught.value) == f"cannot add {binary} to {decimal}"
    assert unit("GB").factor == 10**9
    assert unit("GiB").factor == 2**30
    assert unit("bit").factor == Fraction(1, 8)


def test_unlike_things_do_not_add_up() -> None:
    with pytest.raises(UnitMismatch) as caught:
        unit("B") + unit("token")
    assert str(caught.value) == "cannot add token to B"
    assert (caught.value.left, caught.value.right) == (unit("B"), unit("token"))
    with pytest.raises(UnitMismatch, match=r"^cannot add B to B/token$"):
        unit("B/token") - unit("GB")


def test_a_law_that_adds_unlike_things_says_so() -> None:
    with author_order():
        law = Identity(q.kv_budget, q.gpu_memory - q.context, says="", section="")
        picked = Identity(q.kv_budget, sympy.Max(q.gpu_memory, q.weights * q.context), says="", section="")
        scaled = Identity(q.kv_width, q.kv_width + q.weight_bits, says="", section="")
    with pytest.raises(UnitMismatch, match="cannot add token to B"):
        law.check_units()
    with pytest.raises(UnitMismatch, match=r"cannot add B\*token to B|cannot add B to B\*token"):
        picked.check_units()
    with pytest.raises(UnitMismatch, match="cannot add bit to B"):
        scaled.check_units()


NO_UNITS = [
    "",
    "gb",
    "GB ",
    " GB",
    "GB/",
    "/GB",
    "1/",
    "GB//s",
    "GB**s",
    "GB*",
    "GB^",
    "GB^x",
    "GB^0",
    "GB^99999999",
    "GB^-1",
    "GB^1.5",
    "2",
    "kilobyte",
    "B/1/",
]


@pytest.mark.parametrize("name", NO_UNITS)
def test_an_unknown_unit_is_refused(name: str) -> None:
    with pytest.raises(UnknownUnit, match="unknown unit"):
        unit(name)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_every_law_measures_the_same_on_both_sides(law: Law) -> None:
    law.check_units()
    assert unit(law.right_unit).factor == 1


def dropped(node: Any) -> Iterator[tuple[Any, Any]]:
    """Give every tree with one factor of a product left out, with that factor.

    Not where a number alone would be left: in a sum it takes the unit of its neighbour.
    """
    for i, arg in enumerate(node.args):
        rest = [a for j, a in enumerate(node.args) if j != i]
        if node.is_Mul and any(a.free_symbols for a in rest):
            yield arg, rest[0] if len(rest) == 1 else sympy.Mul(*rest, evaluate=False)
        for factor, inner in dropped(arg):
            yield factor, node.func(*[inner if j == i else a for j, a in enumerate(node.args)], evaluate=False)


def unit_of(node: Any) -> Unit:
    """Give the unit of a factor by its own rules: those of its first symbol in a sum, else what it is made of."""
    if node.is_Symbol:
        return node.unit
    if node.is_Number:
        return ONE
    if node.is_Mul:
        made = ONE
        for arg in node.args:
            made *= unit_of(arg)
        return made
    if node.is_Pow:
        return unit_of(node.base) ** int(node.exp)
    units = [unit_of(arg) for arg in node.args]
    return next((u for u in units if u.dimension != ONE.dimension), units[0])


DROPPED = [
    (law, side, factor, mutant)
    for law in LAWS
    for side in ("left", "right")
    for factor, mutant in dropped(getattr(law, side))
    if not same(unit_of(factor), ONE)
]


@pytest.mark.parametrize(
    ("law", "side", "mutant"),
    [(law, side, mutant) for law, side, _, mutant in DROPPED],
    ids=[f"{law.name}-{i}-{factor}" for i, (law, _, factor, _) in enumerate(DROPPED)],
)
def test_a_dropped_factor_that_has_a_unit_is_noticed(law: Law, side: str, mutant: Any) -> None:
    with pytest.raises(ValueError, match=r"cannot add|against"):
        law.changed(**{side: mutant}).check_units()


def test_there_are_dropped_factors_to_notice() -> None:
    assert len(DROPPED) >= 60
    assert {law.name for law, *_ in DROPPED} >= {"kv_bytes_per_token", "fits", "gpu_holds", "prefill_time", "ttft"}


def test_a_side_without_a_symbol_is_a_plain_number() -> None:
    with author_order():
        law = Bound("full", q.mfu <= sympy.Integer(1), says="", section="")
        wrong = Bound("full", q.gpu_memory <= sympy.Integer(1), says="", section="")
    law.check_units()
    assert law.right_unit == "1"
    with pytest.raises(ValueError, match="full: B x 1 against 1 x 1"):
        wrong.check_units()


def test_the_unit_that_literals_carry_is_part_of_the_check() -> None:
    with pytest.raises(ValueError, match="weights"):
        memory.weights.changed(constant="1").check_units()
    with pytest.raises(ValueError, match="kv_bytes_per_token: B x 1 against B/token x 1"):
        memory.kv_bytes_per_token.changed(constant="1").check_units()


@pytest.mark.parametrize(
    ("name", "words"),
    [("B/token", "data per token"), ("token/s", "tokens per time"), ("1", "a plain number"), ("1/s", "one per time"),
     ("FLOP/s/GPU", "operations per time per GPU"), ("s^2", "time times time"), ("$/Mtoken", "money per token"),
     ("sequence/GPU", "sequences per GPU"), ("layer", "a plain number"), ("kB/KiB", "a plain number")],
)  # fmt: skip
def test_dimensions_have_words(name: str, words: str) -> None:
    assert dimension_words(unit(name).dimension) == words


def test_every_base_and_every_quantity_has_its_unit() -> None:
    assert [TABLE[base].dimension.index(1) for base in BASES] == list(range(len(BASES)))
    assert all(TABLE[base].factor == 1 for base in BASES)
    for quantity in quantities().values():
        assert same(unit(quantity.unit.name), quantity.unit)
