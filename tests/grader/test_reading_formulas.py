"""Formulas: many spellings of one tree, exact comparison against SymPy, and the smallest counterexample."""

# ruff: noqa: RUF001  the characters that look alike are what is tested

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from grader.exercise import Part
from grader.judging import judge
from grader.reading import compare
from grader.reading.evaluate import exact
from grader.reading.formula import Formula
from grader.reading.grammar import DEEPEST, read_formula
from grader.reading.latex import without_latex
from grader.reading.text import Unreadable, plain

SYMBOLS = ("L", "H", "V", "T_p", "lambda")
WHOLE = ("positive integers",) * len(SYMBOLS)
POSITIVE = ("positive",) * len(SYMBOLS)
LEAVES = st.sampled_from([*SYMBOLS[:3], "2", "3", "12", "0.5"])


def _deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}){t[1]}({t[2]})"),
        st.tuples(inner, st.integers(-2, 3)).map(lambda t: f"({t[0]})^({t[1]})"),
        inner.map(lambda t: f"-({t})"),
    )


def _stepped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        _deeper(inner),
        st.tuples(st.sampled_from(["floor", "ceil", "abs"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
    )


RATIONAL = st.recursive(LEAVES, _deeper, max_leaves=6)
STEPPED = st.recursive(LEAVES, _stepped, max_leaves=6)


def _formula(text: str) -> Formula:
    """Read a drawn formula; one that divides by a constant zero is not wanted."""
    try:
        return read_formula(text, SYMBOLS)
    except Unreadable as complaint:
        assume(complaint.why not in {"division-by-zero", "too-large"})
        raise


def _same(one: str, other: str, domains: tuple[str, ...] = WHOLE) -> bool:
    try:
        return compare.same(compare.Values(_formula(one), domains), compare.Values(_formula(other), domains))
    except Unreadable as complaint:
        assume(complaint.why != "too-complex")  # it divides by zero everywhere
        raise


def _read(typed: str, symbols: tuple[str, ...] = SYMBOLS) -> str:
    return str(read_formula(without_latex(plain(typed, 2000)).text, symbols))


@pytest.mark.roundtrip
@given(STEPPED)
def test_what_is_printed_reads_back_the_same(text: str) -> None:
    formula = _formula(text)
    again = read_formula(str(formula), SYMBOLS)
    assert str(again) == str(formula)
    for point in itertools.product((1, 2, Fraction(7, 3)), repeat=3):
        assert exact(again, (*point, 1, 1)) == exact(formula, (*point, 1, 1))


@pytest.mark.differential
@given(RATIONAL, RATIONAL)
def test_quotients_of_polynomials_are_compared_as_sympy_does(one: str, other: str) -> None:
    symbols = {name: sympy.Symbol(name) for name in SYMBOLS[:3]}
    left, right = (sympy.sympify(t.replace("^", "**"), locals=symbols, rational=True) for t in (one, other))
    assume(not (left.has(sympy.zoo) or right.has(sympy.zoo) or left.has(sympy.nan) or right.has(sympy.nan)))
    assert _same(one, other) == (sympy.cancel(left - right) == 0)


@pytest.mark.differential
@given(RATIONAL)
def test_an_expanded_formula_is_the_same_formula(text: str) -> None:
    symbols = {name: sympy.Symbol(name) for name in SYMBOLS[:3]}
    expression = sympy.sympify(text.replace("^", "**"), locals=symbols, rational=True)
    assume(not expression.has(sympy.zoo, sympy.nan))
    assert _same(text, str(sympy.expand(expression)), POSITIVE)
    assert not _same(text, str(sympy.expand(expression + 1)), POSITIVE)


@pytest.mark.differential
@given(STEPPED, STEPPED)
def test_steps_are_compared_as_an_exhaustive_search_does(one: str, other: str) -> None:
    left, right = _formula(one), _formula(other)
    grid = [(*point, 1, 1) for point in itertools.product(range(1, 7), repeat=3)]
    pairs = [(exact(left, point), exact(right, point)) for point in grid]
    if any(a != b for a, b in pairs if a is not None and b is not None):
        assert not _same(one, other)


@pytest.mark.law
@given(STEPPED, STEPPED)
def test_a_counterexample_tells_two_formulas_apart(one: str, other: str) -> None:
    left, right = (compare.Values(_formula(text), WHOLE) for text in (one, other))
    try:
        point = compare.differing_point(left, right)
    except Unreadable:
        return
    if point is None:
        return
    found = compare.counterexample(left, right, point)
    values = tuple(value for _, value in found.assignment)
    assert found.right == exact(left.formula, values) != exact(right.formula, values) == found.yours
    assert all(isinstance(value, int) and value >= 1 for value in values)


@pytest.mark.law
@pytest.mark.parametrize(
    ("one", "other", "smallest"),
    [
        ("12*L*H^2", "12*L^2*H", {"L": 2, "H": 1}),
        ("floor(L/H)", "L/H", {"L": 1, "H": 2}),
        ("floor(L/H)", "ceil(L/H)", {"L": 1, "H": 2}),
        ("ceil(L/H)", "floor(L/H) + 1", {"L": 1, "H": 1}),
        ("ceil(L/128)", "floor(L/128) + 1", {"L": 128}),
        ("min(L, 4096)*H", "L*H", {"L": 4097, "H": 1}),
        ("max(L, H)", "L", {"L": 1, "H": 2}),
        ("2^L", "L^2", {"L": 1}),
        ("sqrt(L)", "L", {"L": 2}),
    ],
)
def test_the_smallest_counterexample_is_found(one: str, other: str, smallest: dict[str, int]) -> None:
    left, right = (compare.Values(_formula(text), WHOLE) for text in (one, other))
    point = compare.differing_point(left, right)
    assert point is not None
    assignment = dict(compare.counterexample(left, right, point).assignment)
    assert assignment == {**dict.fromkeys(SYMBOLS, 1), **smallest}


@pytest.mark.law
@pytest.mark.parametrize(
    ("one", "other", "domain", "same"),
    [
        ("floor(floor(L/H)/V)", "floor(L/(H*V))", "positive integers", True),
        ("floor(floor(L/H)/V)", "floor(L/(H*V))", "positive", False),
        ("ceil(L/H)", "floor((L + H - 1)/H)", "positive integers", True),
        ("ceil(L/H)", "floor((L + H - 1)/H)", "positive", False),
        ("sqrt(L^2)", "L", "positive", True),
        ("sqrt(L^2)", "L", "real", False),
        ("sqrt(L^2)", "abs(L)", "real", True),
        ("ln(L^2)", "2*ln(L)", "positive", True),
        ("ln(L^2)", "2*ln(L)", "real", False),
        ("ln(L*H)", "ln(L) + ln(H)", "positive", True),
        ("log(L, 2)", "log2(L)", "positive", True),
        ("log10(L)", "ln(L)/ln(10)", "positive", True),
        ("exp(L + H)", "exp(L)*exp(H)", "real", True),
        ("L^(1/2)", "sqrt(L)", "positive", True),
        ("L^2/L", "L", "real", True),
        ("L^H*L^V", "L^(H + V)", "positive", True),
        ("factorial(L)", "L*factorial(L - 1)", "positive integers", True),
        ("L*(1 + 10^-30)", "L", "positive", False),
        ("sqrt(L)*(1 + 10^-30)", "sqrt(L)", "positive", False),
        ("sqrt(L + 1) - sqrt(L)", "1/(sqrt(L + 1) + sqrt(L))", "positive", True),
        ("floor(log2(2^L))", "L", "positive integers", True),
        ("0*sqrt(L)", "sqrt(L) - sqrt(L)", "positive", True),
        ("sqrt(L)*sqrt(L) - L", "0*L", "positive", True),
        ("L^0.5*L^0.5", "L", "positive", True),
        ("L^0.5*L^0.5", "L", "real", False),
        ("floor(L/1000 + 1/2)", "ceil(L/1000 - 1/2)", "positive integers", False),
        ("ceil(L*H/60)", "floor(L*H/60) + 1", "positive integers", False),
    ],
)
def test_the_domain_decides(one: str, other: str, domain: str, *, same: bool) -> None:
    assert _same(one, other, (domain,) * len(SYMBOLS)) is same


@pytest.mark.law
@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("2LH", "2*L*H"),
        ("L(H + V)", "L*(H + V)"),
        ("(L)(H)", "L*H"),
        ("12 L·H²", "12*L*H^2"),
        ("L**2", "L^2"),
        ("-L^2", "-L^2"),
        ("L^-2", "L^(-2)"),
        ("L^H^V", "L^(H^V)"),
        ("λT_{p}", "lambda*T_p"),
        ("Tp", "T_p"),
        ("\\lambda T_p", "lambda*T_p"),
        ("𝐻", "H"),
        ("⌊L/H⌋ + ⌈V⌉", "floor(L/H) + ceil(V)"),
        ("Ceiling(L)", "ceil(L)"),
        ("LMAX(H, V)", "L*max(H, V)"),
        ("√L", "sqrt(L)"),
        ("L!", "L!"),
        ("e^L", "exp(1)^L"),
        ("½L", "0.5*L"),
        ("2e3L", "2000*L"),
        ("1,000 L", "1000*L"),
        ("1.2x10^3 L", "1200*L"),
        ("P = 2L", "2*L"),
        ("O(L²)", "O(L^2)"),
        ("log₂(L)", "log2(L)"),
    ],
)
def test_spellings(typed: str, read: str) -> None:
    assert _read(typed) == read


@pytest.mark.law
@pytest.mark.parametrize("names", [("N", "S"), ("E", "I"), ("Q", "S", "O"), ("e", "pi"), ("beta", "gamma"), ("j",)])
def test_no_name_is_anything_but_a_symbol(names: tuple[str, ...]) -> None:
    assert _read("*".join(names), names) == "*".join(names)


@pytest.mark.law
@pytest.mark.parametrize(
    ("typed", "why", "at"),
    [
        ("", "blank", -1),
        ("L*", "dangling-operator", 1),
        ("*L", "dangling-operator", 0),
        ("L+*H", "dangling-operator", 2),
        ("(L", "missing-bracket", 0),
        ("L)", "unmatched-bracket", 1),
        ("L == H", "comparison", 2),
        ("L = H", "left-side", 0),
        ("2L = H", "equation", 3),
        ("L, H", "list", 1),
        ("H2", "digits-after-symbol", 0),
        ("LH2", "digits-after-symbol", 0),
        ("h", "unknown-symbol", 0),
        ("L.H", "character", 1),
        ("(1).__class__", "character", 3),
        ("L -- H", "double-sign", 3),
        ("2 3", "missing-operator", 2),
        ("1½L", "mixed-number", 1),
        ("L//H", "floor-division", 1),
        ("|L|", "bars", 0),
        ("50% L", "percent", 2),
        ("min(L)", "arguments", 0),
        ("L/0", "division-by-zero", 1),
        ("L!!", "double-factorial", 2),
        ("(-1)!", "factorial-domain", 4),
        ("10**10**10 L", "too-large", 2),
        ("2e3.5 L", "fractional-exponent", 2),
        ("(" * 41 + "L" + ")" * 41, "too-deep", 40),
        ("L" + "^L" * 41, "too-deep", 81),
        ("O(L) + 1", "order-inside", 0),
        ("٣L", "other-digits", 0),
        ("²L", "dangling-operator", 0),
        ("L" * 2001, "too-long", -1),
    ],
)
def test_what_is_no_formula(typed: str, why: str, at: int) -> None:
    with pytest.raises(Unreadable) as caught:
        _read(typed)
    assert (caught.value.why, caught.value.at) == (why, at)


@pytest.mark.law
def test_nesting_up_to_the_bound_is_read() -> None:
    assert _read("(" * DEEPEST + "L" + ")" * DEEPEST) == "L"


@pytest.mark.law
def test_a_record_without_a_formula_is_the_author_s_error() -> None:
    with pytest.raises(ValueError, match="no formula in L"):
        compare.reference("L +", ("L",), ("positive",))


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        ("n*log(n)", "n log n"),
        ("n*log(n)", "nlog n"),
        ("log(n^2)", "log n^2"),
        ("m*sqrt(n)", "sqrt n m"),
        ("O(n*log(n))", "O(n log n)"),
    ],
)
def test_a_logarithm_or_a_root_takes_the_power_that_follows_without_brackets(key: str, typed: str) -> None:
    part = Part("a", "x", "", "expression", key, symbols={"n": "positive integers", "m": "positive integers"})
    assert judge(part, typed).verdict == "correct"
    assert judge(part, judge(part, typed).reading).verdict == "correct"


@pytest.mark.parametrize("typed", ["n log", "log n log", "log", "n log *"])
def test_a_function_of_nothing_is_no_answer(typed: str) -> None:
    part = Part("a", "x", "", "expression", "n*log(n)", symbols={"n": "positive integers"})
    assert judge(part, typed).verdict == "invalid"
