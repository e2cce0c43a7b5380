"""Normalisation: what is folded, what is kept apart, and where every character came from."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reading.latex import without_latex
from grader.reading.text import DASHES, INVISIBLE, Unreadable, plain

LIMIT = 200
pytestmark = pytest.mark.law


@given(st.text(st.characters(codec="ascii"), min_size=1, max_size=LIMIT))
def test_ascii_is_left_alone(text: str) -> None:
    assert plain(text, LIMIT).text == text


@given(st.text(min_size=1, max_size=LIMIT))
def test_every_character_knows_its_column(text: str) -> None:
    try:
        read = without_latex(plain(text, LIMIT))
    except Unreadable:
        return
    columns = [read.column(i) for i in range(len(read.text) + 1)]
    assert all(0 <= column <= len(text) for column in columns)


@given(st.text(st.sampled_from("0123456789"), min_size=1, max_size=9))
def test_raised_digits_are_a_power_and_never_digits(digits: str) -> None:
    raised = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(d)] for d in digits)
    assert plain(f"10{raised}", LIMIT).text == f"10^({digits})"


@given(st.sampled_from([chr(c) for c in range(0x110000) if unicodedata.decomposition(chr(c)).startswith("<fraction>")]))
def test_a_vulgar_fraction_stays_one_character(character: str) -> None:
    assert plain(f"1{character}", LIMIT).text == f"1{character}"


@pytest.mark.parametrize("dash", sorted(DASHES))
def test_every_dash_is_a_minus(dash: str) -> None:
    assert plain(f"{dash}5", LIMIT).text == "-5"


@pytest.mark.parametrize("invisible", sorted(INVISIBLE))
def test_what_cannot_be_seen_is_removed(invisible: str) -> None:
    assert plain(f"5{invisible}4", LIMIT).text == "54"
    with pytest.raises(Unreadable) as caught:
        plain(invisible, LIMIT)
    assert caught.value.why == "blank"


@pytest.mark.parametrize("character", ["\u00ad", "\u202e", "\x00", "\u0663", "\u2467", "\u2488", "\ud800", "\u0301"])
def test_what_could_mislead_is_kept_for_the_lexer_to_refuse(character: str) -> None:
    assert plain(f"5{character}", LIMIT).text == f"5{character}"


@pytest.mark.parametrize("length", [LIMIT + 1, 100_000])
def test_the_length_is_checked_before_anything_else(length: int) -> None:
    with pytest.raises(Unreadable) as caught:
        plain("½" * length, LIMIT)
    assert caught.value.why == "too-long"


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (r"1.2 \times 10^{3}", "1.2 *10^(3)"),
        (r"$\frac{1}{2}$", "((1)/(2))"),
        (r"\dfrac{M}{2 L_{h}}", "((M)/(2 L_{h}))"),
        (r"\(54\,\text{GB}\)", "54 GB"),
        (r"\left\lfloor \frac{A}{k} \right\rfloor", "⌊((A)/(k)) ⌋"),
        (r"\lambda\cdot W", "lambda *W"),
        (r"\sqrt{\frac{a}{b}}", "sqrt(((a)/(b)))"),
        (r"50\,\%", "50 %"),
        (r"108{,}000", "108,000"),
        (r"$4/h", "$4/h"),
        (r"x \\", r"x \\"),
        (r"\write18{ls}", r"\write18(ls)"),
    ],
)
def test_pasted_latex(typed: str, read: str) -> None:
    assert " ".join(without_latex(plain(typed, LIMIT)).text.split()) == read
