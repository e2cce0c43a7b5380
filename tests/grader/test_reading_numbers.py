"""Literals, figures and rounding, each against an independent way to the same number."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reading import nearness, number, quantity
from grader.reading.grammar import read_number
from grader.reading.text import Unreadable
from spec.units import NO_DIMENSION

DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12)
NUMBERS = st.fractions(max_denominator=10**6, min_value=-(10**9), max_value=10**9)


@pytest.mark.differential
@given(DECIMALS)
def test_a_decimal_is_read_exactly(value: Decimal) -> None:
    text = f"{value:f}"
    assert read_number(text, 0, "en") == (Fraction(text), len(text))


@pytest.mark.law
@given(st.integers(0, 10**15), st.sampled_from(" ,'_"), st.integers(0, 999))
def test_groups_of_three_change_nothing(whole: int, separator: str, thousandths: int) -> None:
    grouped = f"{whole:,}".replace(",", separator)
    assert number.literal(f"{grouped}.{thousandths:03}", 0, "en")[0] == f"{whole}.{thousandths:03}"
    if separator != ",":
        assert number.literal(f"{grouped},{thousandths:03}", 0, "fr")[0] == f"{whole}.{thousandths:03}"


@pytest.mark.law
@given(st.integers(1, 10**9), st.sampled_from(",' _"), st.lists(st.integers(0, 99999), min_size=1, max_size=3))
def test_other_groups_are_refused(whole: int, separator: str, groups: list[int]) -> None:
    text = separator.join([str(whole), *map(str, groups)])
    fits = len(str(whole)) <= 3 and all(len(group) == 3 for group in text.split(separator)[1:])
    if not fits:
        with pytest.raises(Unreadable):
            number.literal(text, 0, "en")


@pytest.mark.roundtrip
@given(NUMBERS, st.sampled_from(["en", "fr"]))
def test_what_is_written_reads_back(value: Fraction, locale: str) -> None:
    text = number.written(value, locale)
    assert read_number(text, 0, locale) == (value, len(text))


@pytest.mark.roundtrip
@given(st.integers(1, 10**40), st.integers(-500, 500))
def test_any_magnitude_reads_back(digits: int, exponent: int) -> None:
    value = Fraction(digits) * Fraction(10) ** exponent
    assert read_number(number.written(value), 0, "en")[0] == value


@pytest.mark.law
@given(st.integers(1, 10**6), st.integers(1, 6))
def test_zeros_after_the_point_are_figures(whole: int, zeros: int) -> None:
    typed = number.figures(f"{whole}.{'0' * zeros}")
    assert typed.least == typed.most == len(str(whole)) + zeros
    assert typed.decimals == zeros


@pytest.mark.parametrize(
    ("text", "least", "most", "decimals"),
    [("1200", 2, 4, 0), ("1200.", 4, 4, 0), ("0.050", 2, 2, 3), ("1.0e3", 2, 2, -2), ("1e3", 1, 1, -3), ("0", 1, 1, 0)],
)
def test_figures(text: str, least: int, most: int, decimals: int) -> None:
    assert number.figures(text) == number.Figures(least, most, decimals)


@pytest.mark.differential
@given(DECIMALS.filter(bool), st.integers(1, 12))
def test_rounding_to_figures_agrees_with_decimal_arithmetic(value: Decimal, figures: int) -> None:
    expected = [Context(prec=figures, rounding=mode).plus(value) for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN)]
    assert nearness.both_rounded(Fraction(value), "figures", figures) == tuple(map(Fraction, expected))
    cut = Context(prec=figures, rounding=ROUND_DOWN).plus(value)
    assert nearness.truncated(Fraction(value), "figures", figures) == Fraction(cut)


@pytest.mark.differential
@given(DECIMALS, st.integers(0, 5))
def test_rounding_to_decimals_agrees_with_decimal_arithmetic(value: Decimal, places: int) -> None:
    expected = [value.quantize(Decimal(10) ** -places, rounding=mode) for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN)]
    assert nearness.both_rounded(Fraction(value), "decimals", places) == tuple(map(Fraction, expected))


@pytest.mark.law
@given(NUMBERS.filter(bool))
def test_the_leading_digit_stands_at_its_power_of_ten(value: Fraction) -> None:
    assert 1 <= abs(value) / Fraction(10) ** nearness.leading(value) < 10


@pytest.mark.differential
@given(st.from_regex(r"[+-]?\d{1,6}(\.\d{1,4})?(e-?\d)? ?(GB|tok/s|\$/h|%)?", fullmatch=True))
def test_the_short_way_reads_as_the_parser_does(text: str) -> None:
    text = text if text.isascii() else "1"
    short = quantity.read_quantity(text, "en", "si", NO_DIMENSION)
    value, end = read_number(text, 0, "en")
    assert short.number == value
    assert Fraction(short.literal) == value
    assert short.unit.given == bool(text[end:].strip())


@pytest.mark.law
@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_division_and_powers_are_exact(a: int, b: int) -> None:
    assert read_number(f"{a}/{b}", 0, "en")[0] == Fraction(a, b)
    assert read_number(f"-{a}^-2", 0, "en")[0] == -Fraction(1, a * a)


@pytest.mark.law
@pytest.mark.parametrize("text", ["2^(10^9)", "9^9^9", "(10^9)!", "1e601", "1e-601", "1e99999999999", "2^2^2^2^2^2"])
def test_size_is_bounded_before_it_is_computed(text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_number(text, 0, "en")
    assert caught.value.why == "too-large"


@pytest.mark.law
@given(st.sampled_from("+-"), st.integers(0, 99), st.integers(0, 99))
def test_a_number_is_no_sum(sign: str, a: int, b: int) -> None:
    with pytest.raises(Unreadable) as caught:
        read_number(f"{a}{sign}{b}", 0, "en")
    assert caught.value.why in {"sum", "range"}
