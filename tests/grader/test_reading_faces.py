"""Where a wrong formula is right all the same: found for every face, true of it, and nowhere for the right one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from grader.exercise import Part, SlipValue
from grader.feedback import message
from grader.judging import judge
from grader.reading import compare
from grader.reading.evaluate import exact
from grader.reading.faces import Faces, faces
from grader.reading.grammar import read_formula

pytestmark = pytest.mark.law

SYMBOLS = ("L", "H", "V", "K", "A")
WHOLE = ("positive integers",) * len(SYMBOLS)
TERMS = st.lists(
    st.tuples(st.integers(1, 4), st.lists(st.sampled_from(SYMBOLS[:3]), max_size=3)), min_size=1, max_size=3
).map(lambda terms: " + ".join("*".join([str(n), *letters]) for n, letters in terms))


def agreement(key: str, yours: str) -> Faces:
    return faces(*(compare.Values(read_formula(text, SYMBOLS), WHOLE) for text in (key, yours)))


@pytest.mark.parametrize(
    ("key", "yours", "found"),
    [
        ("12*L*H^2 + 2*V*H", "12*L*H^2", ("V = 0",)),
        ("12*L*H^2 + 2*V*H", "12*L*H + 2*V*H", ("L = 0", "H = 1")),
        ("2*L*K*H", "2*K*H", ("L = 1",)),
        ("2*L*K*H", "2*L*A*H", ("K = A",)),
        ("L*H", "L*H*V^2", ("V = 1",)),
        ("ceil(L/K) + V", "L/K + V", ("K = 1", "L = 0", "L = K")),
        ("max(L, H)", "L", ("H = 0", "L = H", "H = 1")),
        ("max(L, H) + V", "H + V", ("L = 0", "L = 1", "L = H")),
        ("2*L", "3*L", ()),
        ("L*H", "L + H", ()),
        ("sqrt(L)", "L", ()),
    ],
)
def test_the_faces_are_found(key: str, yours: str, found: tuple[str, ...]) -> None:
    assert sorted(agreement(key, yours).found) == sorted(found)


@pytest.mark.parametrize(
    ("key", "yours", "only"),
    [
        ("V*H + L", "L", True),
        ("V*(H - 2) + L", "L", False),
        ("V*(H - 1) + L", "L", True),
        ("ceil(L/K) + V", "L/K + V", False),
    ],
)
def test_only_is_said_where_nothing_else_agrees(key: str, yours: str, only: bool) -> None:  # noqa: FBT001
    assert agreement(key, yours).only == only


def faces_by_algebra(difference: sympy.Expr, key: sympy.Expr) -> Iterator[str]:
    letters = sympy.symbols(SYMBOLS[:3])
    for place, letter in enumerate(letters):
        for value in (0, 1, *letters[place + 1 :]):
            if sympy.expand(difference.subs(letter, value)) == 0 and sympy.expand(key.subs(letter, value)) != 0:
                yield f"{letter} = {value}"


@pytest.mark.differential
@given(TERMS, TERMS)
def test_they_are_those_that_algebra_finds(key: str, yours: str) -> None:
    right, wrong = (sympy.sympify(text) for text in (key, yours))
    if sympy.expand(right - wrong) == 0:
        return
    used = {str(letter) for letter in right.free_symbols | wrong.free_symbols}
    wanted = {face for face in faces_by_algebra(sympy.expand(right - wrong), right) if set(face.split(" = ")) & used}
    assert {face for face in wanted if {part for part in face.split(" = ") if part.isalpha()} <= used} == set(
        agreement(key, yours).found
    )


@given(TERMS, TERMS)
def test_where_they_are_all_of_it_small_values_agree_nowhere_else(key: str, yours: str) -> None:
    found = agreement(key, yours)
    if not found.only:
        return
    left, right = (read_formula(text, SYMBOLS) for text in (key, yours))
    for point in product((1, 2), repeat=3):
        values = dict(zip(SYMBOLS, point, strict=False))
        on_a_face = any(
            values[one] == values.get(other, int(other) if other.isdigit() else -1)
            for one, other in (face.split(" = ") for face in found.found)
        )
        if not on_a_face:
            assert exact(left, (*point, 1, 1)) != exact(right, (*point, 1, 1))


def test_the_learner_is_told_where_no_slip_says_it_better() -> None:
    part = Part("a", "parameters", "?", "expression", "12*L*H^2 + 2*V*H", symbols=dict.fromkeys("LHV", "positive"))
    said = message(judge(part, "12 L H^2"), part)
    assert said.split("\n")[-2:] == [
        "Try L = 1, H = 1, V = 1: your formula gives 12, the right one 14.",
        "It is right only where V = 0.",
    ]
    known = replace(part, slips=(SlipValue("half", "The embeddings are missing.", "12*L*H^2"),))
    assert "right only where" not in message(judge(known, "12 L H^2"), known)
    part = Part("a", "blocks", "?", "expression", "ceil(n/p)", symbols=dict.fromkeys("np", "positive integers"))
    assert message(judge(part, "n/p"), part).endswith("It is right where n = p or p = 1, but not everywhere.")
