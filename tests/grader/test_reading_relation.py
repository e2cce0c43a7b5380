"""Properties as they are typed: many spellings of one relation, a caret under what does not fit, and no surprise."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reading.relation import Relation, read_relation
from grader.reading.text import Unreadable, plain

SIGNATURES = {"kv": ("c", "L", "b"), "used": ("N", "c")}
LETTERS = ("c", "L", "b", "N", "x")


def read(text: str) -> Relation:
    return read_relation(text, SIGNATURES, LETTERS)


def call(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    named = st.dictionaries(st.sampled_from(["L", "b"]), inner, max_size=2).map(
        lambda found: [f"{letter}={text}" for letter, text in found.items()]
    )
    return st.one_of(
        st.tuples(inner, named).map(lambda t: f"kv({', '.join([t[0], *t[1]])})"),
        st.tuples(inner, inner).map(lambda t: f"used({t[0]}, {t[1]})"),
        st.just("used()"),
    )


def deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        call(inner),
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}){t[1]}({t[2]})"),
        st.tuples(st.sampled_from(["floor", "ceil"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
    )


SIDES = st.recursive(st.sampled_from([*LETTERS, "2", "3", "0.5"]), deeper, max_leaves=8)
COMPARISONS = st.lists(SIDES, min_size=2, max_size=3).flatmap(
    lambda sides: st.lists(
        st.sampled_from(["==", "=", "!=", "<", "<=", ">", ">="]), min_size=len(sides) - 1, max_size=len(sides) - 1
    ).map(lambda between: sides[0] + "".join(f" {r} {side}" for r, side in zip(between, sides[1:], strict=True)))
)
RELATIONS = st.lists(COMPARISONS, min_size=1, max_size=3).map(" and ".join)


@pytest.mark.roundtrip
@given(RELATIONS)
def test_what_is_shown_reads_back_as_the_same(text: str) -> None:
    try:
        first = read(text)
    except Unreadable as complaint:
        assert complaint.why in {"division-by-zero", "too-large"}  # noqa: PT017  a drawn one may divide by 1 - 1
        return
    again = read(str(first))
    assert str(again) == str(first)
    assert [(c.sides, c.relations) for c in again.comparisons] == [(c.sides, c.relations) for c in first.comparisons]


@pytest.mark.law
@pytest.mark.parametrize(
    "text",
    [
        "kv(2*c) == 2*kv(c)",
        "kv(2c) = 2kv(c)",
        "kv( 2 c ) = 2 kv( )",
        "kv(2c) = 2kv",
        "KV(2c,L,b)==2*kv(c, L)",
        "kv(c=2*c) == 2*kv()",
        "kv(L=L, c=c+c*1) == kv(c)*2",
        "(kv(2c) == 2 kv(c))",
        "((kv(2*c)==(2*kv(c))))",
    ],
)
def test_one_property_in_many_spellings(text: str) -> None:
    assert str(read(text)).replace("c + c*1", "2*c").replace("kv(c)*2", "2*kv(c)") == "kv(2*c) == 2*kv(c)"


@pytest.mark.law
def test_several_are_joined_and_chained() -> None:
    for text in (
        "0 <= kv(c) <= kv(2c) and used() != 3",
        "(0<=kv()<=kv(2c)) AND (used(N) != 3)",
        "0≤kv(c)≤kv(2*c) ∧ used()≠3",
    ):
        assert str(read(plain(text, 200).text)) == "0 <= kv(c) <= kv(2*c) and used(N) != 3"


@pytest.mark.law
@pytest.mark.parametrize(
    ("text", "why", "at"),
    [
        ("kv(c)", "no-relation", 0),
        ("kv(c) == 1 and kv()", "no-relation", 15),
        ("kv(c) ==", "dangling-operator", 6),
        ("kv(c) == and kv() == 1", "dangling-operator", 6),
        ("kv(c =< 3", "unexpected", 6),
        ("kv(c == 3) == 2", "unexpected", 5),
        ("kv(c) =< 3", "unexpected", 7),
        ("kv(c, b=1, 2) == 1", "argument-without-name", 11),
        ("kv(L=1, 2) == 1", "argument-without-name", 8),
        ("kv(c, c=1) == 1", "argument-twice", 6),
        ("kv(c, N=1) == 1", "unknown-argument", 6),
        ("kv(c, 1, 2, 3) == 1", "too-many-arguments", 12),
        ("kv(c == 1", "unexpected", 5),
        ("kv(c", "missing-bracket", 2),
        ("kv(", "dangling-operator", 2),
        ("kv(c)) == 1", "unmatched-bracket", 5),
        ("kv(c) == sqrt(c)", "root-in-property", 9),
        ("kv(c) == log2(c)", "root-in-property", 9),
        ("kv(c) == size(c)", "unknown-symbol", 9),
        ("kv(c) == q", "unknown-symbol", 9),
        ("kv(c) == 1, kv() == 2", "unexpected", 10),
        ("", "nothing", 0),
        ("kv(c) == " + "+".join(["kv(c)"] * 200), "too-long-property", -1),
        ("kv(" * 60, "too-deep", 122),
    ],
)
def test_what_does_not_fit_is_named_where_it_stands(text: str, why: str, at: int) -> None:
    with pytest.raises(Unreadable) as caught:
        read(text)
    assert (caught.value.why, caught.value.at) == (why, at)


PIECES = st.sampled_from(
    ["kv", "used", "(", ")", "(", ")", "c", "L", "N", "x", "=", "==", "<=", "<", "!=", ",", "and", "2", "1/2", "+", "-",
     "*", "^", "^9", "floor(", "sqrt(", "!", ".", "|", "&&", "\u221a", "\u230a", "\u230b", " "]
)  # fmt: skip


@pytest.mark.fuzz
@given(st.one_of(st.lists(PIECES, max_size=60).map("".join), st.lists(PIECES, max_size=40).map(" ".join), st.text()))
def test_any_text_is_read_or_complained_about_at_once(text: str) -> None:
    start = time.perf_counter()
    try:
        found = read(text)
    except Unreadable as complaint:
        assert -1 <= complaint.at <= len(text)  # noqa: PT017  either is fine
    else:
        assert found.comparisons
    assert time.perf_counter() - start < 0.1
