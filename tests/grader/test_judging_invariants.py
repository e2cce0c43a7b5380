"""Properties are refused where something right breaks them, and else marked by what breaks them among what is wrong."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.exercise import Function, Mutant, Part
from grader.feedback import message
from grader.judging import judge
from grader.judging.judgement import Judgement

WHOLE = "positive integers"
WRONG = {
    "L*b*c": "The factor 2 is missing.",
    "2*b*c": "Layers are missing.",
    "2*L*c": "The width is missing.",
    "2*L*b": "The context is missing.",
    "2*L*b*c^2": "The context is squared.",
    "2*L*b/c": "The context divides.",
    "2*c*b*c": "It has c for L.",
    "2*L*b*(c+1)": "One token is too many.",
}
KV = Function(
    "kv",
    {"c": WHOLE, "L": WHOLE, "b": "positive"},
    ("2*L*b*c", "c*(L*b + L*b)"),
    tuple(Mutant(expression, says) for expression, says in WRONG.items()),
)
FITS = Function(
    "fits",
    {"c": WHOLE, "M": "non-negative"},
    ("floor(M/c)",),
    tuple(Mutant(e, f"It is {e}.") for e in ("ceil(M/c)", "M/c", "floor(M/c^2)", "floor(M)", "floor(M/c) + 1")),
)
WHOLES = Function("blocks", {"c": WHOLE, "p": WHOLE}, ("ceil(c/p)", "ceil(c/p) + ceil(1/(2*c)) - 1"), ())


def part(*functions: Function, needs: str = "3/5") -> Part:
    return Part("a", "x", "?", "invariant", "kv(c) > 0", functions=functions, symbols={"x": WHOLE}, needs=needs)


def judged(text: str, *functions: Function, needs: str = "3/5") -> Judgement:
    return judge(part(*(functions or (KV,)), needs=needs), text)


def codes(judgement: Judgement) -> list[str]:
    return [finding.code for finding in judgement.findings]


@pytest.mark.law
@pytest.mark.parametrize(
    ("text", "broken_by"),
    [
        ("kv(2*c) == 2*kv(c)", {"2*L*b", "2*L*b*c^2", "2*L*b/c", "2*c*b*c", "2*L*b*(c+1)"}),
        ("kv(c, L=1, b=1) == 2*c", {"L*b*c", "2*L*b", "2*L*b*c^2", "2*L*b/c", "2*c*b*c", "2*L*b*(c+1)"}),
        ("kv(c + x) == kv(c) + kv(x) and kv(c, L=2*L) == 2*kv(c)", set(WRONG) - {"L*b*c", "2*L*c"}),
        ("kv(c, L=3*L, b=b/3) == kv(c)", {"2*b*c", "2*L*c", "2*c*b*c"}),
        ("kv(c + 1) > kv(c)", {"2*L*b", "2*L*b/c"}),
        ("kv(c/2) == kv(c)/2", {"2*L*b", "2*L*b*c^2", "2*L*b/c", "2*c*b*c", "2*L*b*(c+1)"}),
    ],
)
def test_a_right_one_earns_the_share_that_it_tells_apart(text: str, broken_by: set[str]) -> None:
    found = judged(text)
    assert found.findings[0].about == {"killed": str(len(broken_by)), "of": str(len(WRONG)), "wanted": "5"}
    share = Fraction(len(broken_by), len(WRONG))
    assert (found.verdict, found.score) == (("correct", 1) if share >= Fraction(3, 5) else ("partial", share))
    passing = [says for expression, says in WRONG.items() if expression not in broken_by]
    assert [finding.about["sentence"] for finding in found.findings[1:]] == passing[:1]


@pytest.mark.law
@pytest.mark.parametrize(
    "text",
    ["kv(c) == kv(c)", "kv(c) >= kv(c)", "kv(c) + 1 > kv(c)", "kv(c) - kv(c) == 0", "kv(c) == kv(c, L=L)",
     "kv(x) <= kv(x)", "kv(c) != kv(c) + 1", "0*kv(c) == 0", "kv(c)/kv(c) == 1", "kv(c)^300 == kv(c)^300",
     "kv(c) > 0", "min(kv(c), 0) == 0"],
)  # fmt: skip
def test_what_holds_for_everything_earns_nothing(text: str) -> None:
    found = judged(text)
    assert (found.verdict, found.score, codes(found)) == ("incorrect", Fraction(0), ["kills-none"])


@pytest.mark.law
@pytest.mark.parametrize(
    ("text", "function", "says"),
    [
        ("kv(2*c) == 4*kv(c)", KV, "At c = 1, L = 1, b = 1, kv(2*c) == 4*kv(c) becomes 4 == 8."),
        ("kv(c) >= 2", KV, "At c = 1, L = 1, b = 0.5, kv(c) >= 2 becomes 1 >= 2."),
        ("kv(c) < 5000000", KV, "At c = 1, L = 55859, b = 244, kv(c) < 5000000 becomes 27259192 < 5000000."),
        ("fits(2*c) == fits(c)/2", FITS, "At c = 1, M = 1, fits(2*c) == fits(c)/2 becomes 0 == 0.5."),
        ("fits(c) > 0", FITS, "At c = 1, M = 0, fits(c) > 0 becomes 0 > 0."),
        ("0 <= fits(c) < fits(c, M=M + 1)", FITS, "At c = 2, M = 0, 0 <= fits(c) < fits(c, M=M + 1) becomes 0 < 0."),
    ],
)
def test_what_something_right_breaks_is_refused_with_the_smallest_case(
    text: str, function: Function, says: str
) -> None:
    found = judged(text, function)
    assert (found.verdict, found.score, codes(found)) == ("incorrect", Fraction(0), ["property-broken"])
    assert says in message(found, part(function))


@pytest.mark.law
def test_every_right_way_counts() -> None:
    odd = Function(
        "blocks", {"c": WHOLE, "p": WHOLE}, ("ceil(c/p)", "ceil(c/p) + floor(c/7)"), (Mutant("c", "It is c."),)
    )
    assert codes(judged("blocks(c) <= 2*c", odd)) == ["kills-none"]
    assert codes(judged("blocks(p) == 1", odd)) == ["property-broken"]
    assert codes(judged("blocks(c/2, p=1) == c/2", replace(odd, right=("ceil(c/p)",)))) == ["kills-none"]
    assert (
        judged("blocks(p) == 1", WHOLES, Function("f", {"c": WHOLE, "p": WHOLE}, ("c",), (Mutant("p", "p"),))).score
        == 0
    )


@pytest.mark.law
def test_functions_are_called_with_values_of_functions() -> None:
    used = Function("used", {"N": "non-negative integers", "c": WHOLE}, ("N*c",), (Mutant("N", "N"), Mutant("c", "c")))
    found = judged("used(fits(c), c) <= M and used(fits(c) + 1, c) > M and fits(c) == floor(fits(c))", FITS, used)
    assert (found.verdict, codes(found)) == ("correct", ["kills"])


@pytest.mark.law
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kv(c) == 2*L*b*c", "formula-given"),
        ("kv(c)/(L*b*c) == 2", "formula-given"),
        ("kv(c) == c*kv(1) and kv(c, b=1) == 2*L*c", "formula-given"),
        ("kv(1, 1, 1) == 2", "worked-number"),
        ("kv(3, 5, 7 + 0*x) == 210", "worked-number"),
        ("kv(2*c) == 2*kv(c) and kv(1, 1, 1) == 2", "worked-number"),
        ("2 + 2 == 4", "no-function"),
        ("c < c + 1", "no-function"),
        ("kv(-c) == -kv(c)", "nowhere"),
        ("kv(c)^(1/2) < kv(c)", "root-in-property"),
        ("kv(c)", "no-relation"),
        ("", "blank"),
        ("kv(c) == 1" + " " * 2000 + "and", "too-long"),
    ],
)
def test_what_is_no_property_uses_up_no_attempt(text: str, why: str) -> None:
    found = judged(text)
    assert (found.verdict, codes(found)[0]) == ("invalid", why)
    assert not message(found, part(KV)).endswith(why)


@pytest.mark.law
def test_words_for_no_value_are_an_answer() -> None:
    assert (judged("none").verdict, codes(judged("none"))) == ("incorrect", ["one-exists"])


def test_a_record_without_functions_is_refused() -> None:
    with pytest.raises(ValueError, match="no functions"):
        judge(part(), "kv(c) == 1")


RIGHT = [
    *("kv(2*c) == 2*kv(c)", "kv(c, L=2*L) == 2*kv(c)", "kv(c + 1) > kv(c)"),
    *("kv(c) == kv(c)", "kv(c, L=1, b=1) == 2*c"),
]


@pytest.mark.law
@given(st.sets(st.sampled_from(RIGHT), min_size=1, max_size=2).map(sorted), st.sampled_from(RIGHT))
def test_one_more_right_comparison_never_tells_less_apart(several: list[str], more: str) -> None:
    before, together = kills(" and ".join(several)), kills(" and ".join([*several, more]))
    assert max(before, kills(more)) <= together <= before + kills(more)


@cache
def kills(text: str) -> int:
    return int(judged(text).findings[0].about.get("killed", 0))


SIDE = st.sampled_from(
    ["kv(c)", "kv(2*c)", "kv(c + x)", "kv(c, L=2*L)", "kv(x, L=1)", "2*kv(c)", "kv(c) + kv(x)", "kv(x)", "2*c"]
)


@cache
def plain_way(way: str) -> Callable[..., Fraction]:
    found: Callable[..., Fraction] = eval(f"lambda c, L, b: {way.replace('^', '**')}")  # noqa: S307  of this file
    return found


def plain_kv(way: str, c: Any, L: Any, b: Any) -> Fraction:  # noqa: N803  the letters of the question
    return Fraction(plain_way(way)(Fraction(c), L, b))


def plain_side(side: str, way: str, c: int, L: int, b: int, x: int) -> Fraction:  # noqa: N803
    return {
        "kv(c)": lambda: plain_kv(way, c, L, b),
        "kv(2*c)": lambda: plain_kv(way, 2 * c, L, b),
        "kv(c + x)": lambda: plain_kv(way, c + x, L, b),
        "kv(c, L=2*L)": lambda: plain_kv(way, c, 2 * L, b),
        "kv(x, L=1)": lambda: plain_kv(way, x, 1, b),
        "2*kv(c)": lambda: 2 * plain_kv(way, c, L, b),
        "kv(c) + kv(x)": lambda: plain_kv(way, c, L, b) + plain_kv(way, x, L, b),
        "kv(x)": lambda: plain_kv(way, x, L, b),
        "2*c": lambda: Fraction(2 * c),
    }[side]()


@pytest.mark.differential
@given(SIDE, st.sampled_from(["==", "<=", "<", "!="]), SIDE)
def test_verdicts_are_those_of_plain_arithmetic(left: str, relation: str, right: str) -> None:
    def holds(way: str) -> bool:
        return all(
            {"==": a == b, "<=": a <= b, "<": a < b, "!=": a != b}[relation]
            for point in product((1, 2, 4), repeat=4)
            for a, b in [(plain_side(left, way, *point), plain_side(right, way, *point))]
        )

    if left == right == "2*c":
        return
    found = judged(f"{left} {relation} {right}", replace(KV, arguments=dict.fromkeys("cLb", WHOLE)))
    if not holds("2*L*b*c"):
        assert codes(found) == ["property-broken"]
    else:
        assert found.findings[0].about.get("killed", "0") == str(sum(not holds(way) for way in WRONG))


PIECES = st.sampled_from(
    ["kv(", "kv(c", ")", "(", "c", "L", "b", "x", "=", "==", "<=", "<", "!=", ",", " and ", "2", "1/2", "+", "-", "*",
     "^", "9", "floor(", "!", " "]
)  # fmt: skip


@pytest.mark.fuzz
@given(st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text()))
def test_any_text_is_judged_soon_and_the_reading_judges_the_same(text: str) -> None:
    start = time.perf_counter()
    found = judged(text)
    assert time.perf_counter() - start < 1
    if found.reading:
        again = judged(found.reading)
        assert (again.verdict, again.score, again.reading) == (found.verdict, found.score, found.reading)


@pytest.mark.parametrize(
    "text",
    [
        " and ".join(["kv(c) <= kv(c)"] * 30),
        "kv(c) == kv(c) + 0*" + "*".join(f"kv(c+{i})" for i in range(20)),
        "kv(kv(kv(kv(kv(kv(c)))))) == kv(kv(kv(kv(kv(kv(c))))))",
        "kv(c)^99999 == kv(c)^99999",
        "kv(x^x^x) == kv(x^x^x)",
        "kv(c)! == kv(c)!",
    ],
)
def test_the_longest_work_is_bounded(text: str) -> None:
    judged(text)
    start = time.perf_counter()
    assert judged(text).score == 0
    assert time.perf_counter() - start < 0.5


@pytest.mark.meta
def test_judging_one_loads_no_laws() -> None:
    script = (
        "import sys; from grader.exercise import Exercise; from grader.judging import judge; "
        f"part = Exercise.from_json({_record()!r}).parts[0]; "
        "assert judge(part, 'kv(2*c) == 2*kv(c)').verdict == 'correct'; "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'sympy', 'problems', 'jinja2'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def _record() -> str:
    from grader.exercise import Exercise

    return Exercise("f", 1, 1, "", (), (part(KV),)).to_json()
