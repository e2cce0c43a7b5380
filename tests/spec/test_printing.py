"""Printing: every law in the author's order, and every printed line, read again, says what the law says."""

from __future__ import annotations

import ast
import math
import re
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from spec import memory, phases, printing, scaling
from spec import quantities as q
from spec.compiling import compiled, exact_kind
from spec.index import laws
from spec.laws import Bound, Identity, Infeasible, Law, NotInvertible, author_order
from spec.queueing import ErlangB, ErlangC, PoissonCover
from spec.solving import closed_form
from tests.spec.strategies import FEWER, LAWS, LETTERS, PAIRS, by_hand, inputs, named, trees, values

pytestmark = pytest.mark.roundtrip

CALLS: dict[str, Callable[..., Any]] = {
    "floor": math.floor, "ceil": math.ceil, "Max": max, "Min": min,
    "ErlangB": lambda n, a: ErlangB.exact(int(n), a), "ErlangC": lambda n, a: ErlangC.exact(int(n), a),
    "PoissonCover": lambda n, a: PoissonCover.exact(int(n), a),
}  # fmt: skip
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: a ** int(b), ast.USub: lambda a: -a,
}  # fmt: skip


def read(text: str) -> Fraction:
    """Evaluate a printed line exactly, by Python's own grammar and precedence."""
    return Fraction(_value(ast.parse(text.replace("^", "**"), mode="eval").body))


def _value(node: Any) -> Any:
    match node:
        case ast.Constant(value=int() as number):
            return Fraction(number)
        case ast.BinOp():
            return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
        case ast.UnaryOp():
            return OPERATORS[type(node.op)](_value(node.operand))
        case ast.Call(func=ast.Name(id=name)):
            return Fraction(CALLS[name](*map(_value, node.args)))
    raise AssertionError(ast.dump(node))


WORDS = {
    r"\left(": "(", r"\right)": ")", r"\left\lfloor": "floor(", r"\right\rfloor": ")", r"\left\lceil": "ceil(",
    r"\right\rceil": ")", r"\max": "Max", r"\min": "Min", r"\times": "*", r"\cdot": "*", "{": "(", "}": ")",
    r"\operatorname{ErlangB}": "ErlangB", r"\operatorname{ErlangC}": "ErlangC",
    r"\operatorname{PoissonCover}": "PoissonCover",
}  # fmt: skip
TOKEN = re.compile("|".join(map(re.escape, sorted(WORDS, key=len, reverse=True))))


def read_latex(text: str) -> Fraction:
    """Evaluate a LaTeX line with numbers in it, by writing it as a plain one."""
    while r"\frac" in text:
        start = text.rindex(r"\frac")  # the last one holds no other
        over, after = _group(text, start + len(r"\frac"))
        under, end = _group(text, after)
        text = f"{text[:start]}((({over})/({under}))){text[end:]}"
    return read(TOKEN.sub(lambda found: WORDS[found[0]], text))


def _group(text: str, start: int) -> tuple[str, int]:
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return text[start + 1 : i], i + 1
    raise AssertionError(text)


def printed(drawn: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in drawn.items()}


GOLDEN = tomllib.loads((Path(__file__).parents[1] / "data" / "printed_laws.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", GOLDEN)
def test_every_law_prints_in_the_order_of_its_author(name: str) -> None:
    assert {"text": laws()[name].text(), "latex": laws()[name].latex()} == GOLDEN[name]


def test_every_law_is_in_the_table() -> None:
    assert GOLDEN.keys() == laws().keys()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@FEWER
@given(data=st.data())
def test_a_line_with_numbers_evaluates_to_what_the_law_gives(law: Law, data: Any) -> None:
    drawn = data.draw(inputs(law))
    left, right = law.bodies
    sign = f" {law.relation.replace('==', '=')} "
    before, _, after = law.text(printed(drawn)).partition(sign)
    assert read(after) == right(**drawn)
    assert before == law.left.name if law.is_identity else read(before) == left(**drawn)
    before, _, after = re.sub(r" (=|<|\\le) ", "\n", law.latex(printed(drawn))).partition("\n")
    assert read_latex(after) == right(**drawn)
    assert before == law.left.tex if law.is_identity else read_latex(before) == left(**drawn)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@FEWER
@given(data=st.data())
def test_slips_print_what_they_give(law: Law, data: Any) -> None:
    for slip in law.slips:
        wrong = law.with_slip(slip)
        drawn = data.draw(values(wrong))
        assert read(printing.text(wrong.right, printed(drawn))) == wrong.bodies[1](**drawn)
        assert read_latex(printing.latex(wrong.right, printed(drawn))) == wrong.bodies[1](**drawn)


NINTHS = st.integers(1, 9) | st.fractions(Fraction(1, 9), 9, max_denominator=9)
POINTS = st.fixed_dictionaries({letter.name: NINTHS for letter in LETTERS})


@given(trees(), POINTS)
def test_any_formula_reads_back_as_what_it_says(tree: Any, point: dict[str, Any]) -> None:
    try:
        expected = by_hand(tree, point)
    except ZeroDivisionError:
        assume(False)  # noqa: FBT003  Hypothesis takes it so
    assert read(printing.text(tree, printed(point))) == expected
    assert read_latex(printing.latex(tree, printed(point))) == expected


SOLVED = [(law, name) for law, name in PAIRS if law.solution(name) is not None]


@pytest.mark.parametrize(("law", "name"), SOLVED, ids=named(SOLVED))
@FEWER
@given(data=st.data())
def test_the_solved_formula_gives_what_solving_gives(law: Law, name: str, data: Any) -> None:
    known = data.draw(inputs(law))
    if law.is_identity:
        known[law.left.name] = law(**known)
        assume(not isinstance(known[law.left.name], Infeasible))
    known.pop(name)
    try:
        expected = law.solve(name, **known)
    except NotInvertible:  # every value satisfies it
        return
    if not isinstance(expected, Infeasible):
        solved = law.solution(name)
        assert compiled(solved, exact_kind())(**known) == expected
        assert read(printing.text(solved, printed(known))) == expected
        assert read_latex(printing.latex(solved, printed(known))) == expected


@pytest.mark.parametrize(("law", "name"), PAIRS, ids=named(PAIRS))
def test_there_is_a_solved_formula_exactly_where_no_search_is_needed(law: Law, name: str) -> None:
    searched = law.method(name).startswith(("bisection", "not invertible"))
    tried = law.method(name) == "branches" and len(closed_form(law, law.symbols[name])) > 1
    solved = law.solution(name)
    assert (solved is None) == (searched or tried)
    if solved is not None:
        assert name not in {symbol.name for symbol in solved.free_symbols}
        assert {symbol.name for symbol in solved.free_symbols} <= law.symbols.keys()


@pytest.mark.parametrize(
    ("law", "name", "expected"),
    [
        (memory.fits, "context", "floor(kv_budget / (concurrency * kv_bytes_per_token))"),
        (memory.fits, "kv_budget", "concurrency * context * kv_bytes_per_token"),
        (memory.fits_in_blocks, "concurrency", "floor(kv_budget / (ceil(context / block_size) * kv_bytes_per_block))"),
        (memory.weights, "parameters", "8 * weights / weight_bits"),
        (memory.kv_bytes_per_token, "layers", "kv_bytes_per_token / (2 * kv_heads * head_dim * kv_width)"),
        (memory.kv_budget, "gpu_memory", "kv_budget + weights + activations + safety_margin"),
        (memory.kv_budget, "weights", "gpu_memory - activations - safety_margin - kv_budget"),
        (memory.kv_budget_by_shares, "gpu_memory",
         ("(kv_budget + weights - activation_share_of_remaining * weights)"
          " / (1 - activation_share_of_remaining - safety_share_of_total)")),
        (phases.ttft, "prefill_rate", "prompt / (ttft - wait)"),
        (phases.meets_latency_target, "decode_rate", "output / latency_target"),
        (phases.meets_latency_target, "output", "floor(decode_rate * latency_target)"),
        (phases.within_slots, "batch", "slots"),
        (phases.prefill_time, "mfu", "prefill_flops / (prefill_time * compute)"),
        (scaling.gpu_holds, "prompt", "floor(kv_budget / (sequences_per_gpu * kv_bytes_per_token) - output)"),
        (scaling.carries, "gpus", "floor(mean_concurrency / sequences_per_gpu) + 1"),
        (laws()["parameters_approx"], "layers", "(parameters_approx - 2 * vocab * hidden) / (12 * hidden^2)"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else None,
)  # fmt: skip
def test_solved_formulas_read_naturally(law: Law, name: str, expected: str) -> None:
    assert printing.text(law.solution(name)) == expected


x, y, z = LETTERS
with author_order():
    SHAPES = [
        (Identity(z, 1 / x + y, says="", section=""), "x", "1 / (z - y)"),
        (Identity(z, y - x / 2, says="", section=""), "x", "2 * (y - z)"),
        (Identity(z, -3 * x, says="", section=""), "x", "-z / 3"),
        (Identity(z, y / (2 * x - 1), says="", section=""), "x", "(y / z + 1) / 2"),
        (Identity(z, (x + 1) / y - x, says="", section=""), "x", "(z - 1 / y) / (1 / y - 1)"),
        (Identity(z, sympy.Min(x * y, 7), says="", section=""), "x", "z / y"),
        (Bound("b", y < x * z, says="", section=""), "x", None),
        (Identity(z, x**2 * y, says="", section=""), "y", "z / x^2"),
        (Identity(z, x**-2 * y, says="", section=""), "y", "x^2 * z"),
        (Identity(z, x**2, says="", section=""), "x", None),
        (Identity(z, x / (x + y), says="", section=""), "x", "z * y / (1 - z)"),
        (Identity(z, (1 - x) / (y + x), says="", section=""), "x", "(z * y - 1) / (-1 - z)"),
        (Identity(z, x / (x + y) ** 2, says="", section=""), "x", None),
        (Identity(z, x * (x + y), says="", section=""), "x", None),
    ]


@pytest.mark.parametrize(("law", "name", "expected"), SHAPES, ids=[str(law.right) for law, *_ in SHAPES])
def test_shapes_of_solved_formulas(law: Law, name: str, expected: str | None) -> None:
    solved = law.solution(name)
    assert (None if solved is None else printing.text(solved)) == expected


def test_amounts_with_units_stay_apart() -> None:
    given = {"prompt": "10,000 tokens", "prefill_rate": "50,000 tokens/s", "wait": "1/3 s", "ttft": "8/15 s"}
    assert phases.ttft.text(given) == "ttft = 1/3 s + 10,000 tokens / 50,000 tokens/s"
    assert printing.text(phases.ttft.solution("prompt"), given) == "50,000 tokens/s * (8/15 s - 1/3 s)"
    squared = laws()["attention_scores_per_head"]
    assert squared.text({"context": "4,096 tokens"}) == "attention_scores_per_head = (4,096 tokens)^2"
    assert squared.text({"context": "4096"}) == "attention_scores_per_head = 4096^2"
    assert squared.latex({"context": "4,096 tokens"}) == r"s_{h} = \left(4{,}096\,\text{tokens}\right)^{2}"
    assert squared.latex({"context": "2/3"}) == r"s_{h} = \left(\frac{2}{3}\right)^{2}"
    assert squared.latex({"context": "4,096"}) == r"s_{h} = 4{,}096^{2}"
    assert phases.ttft.latex({"prompt": "10", "prefill_rate": "1/2", "wait": "0"}).endswith(
        r"0 + \frac{10}{\frac{1}{2}}"
    )


def test_a_line_may_have_numbers_for_some_symbols_only() -> None:
    assert memory.weights.text({"weight_bits": "16"}) == "weights = parameters * 16 / 8"
    assert memory.weights.latex({"weight_bits": "16"}) == r"W = \frac{P \times 16}{8}"
    assert scaling.carries.text({"mean_concurrency": "51/2"}) == "51/2 < gpus * sequences_per_gpu"


def test_formulas_are_written_with_the_letters_people_type() -> None:
    assert printing.formula(laws()["parameters_approx"].right) == "12 * L * H^2 + 2 * V * H"
    assert printing.formula(q.layers * 2) == "2 * L"


def test_numbers_never_touch_in_latex() -> None:
    with author_order():
        node = x * 4 * y**2 * 3
    assert printing.latex(node) == r"x \cdot 4 y^{2} \cdot 3"
    assert printing.latex(q.compute * q.mfu * 2) == r"2 F \, \mathrm{MFU}"
