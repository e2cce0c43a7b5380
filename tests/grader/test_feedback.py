"""The words: every code has a sentence, the caret stands where the trouble is, and nothing unprintable gets out."""

# ruff: noqa: RUF001  the characters that look alike are what is tested

from __future__ import annotations

import ast
import string
from fractions import Fraction
from pathlib import Path

import pytest

import grader
from grader.exercise import Part, SlipValue, Tolerance
from grader.feedback import CHANCE, COMPLAINTS, FINDINGS, message, visible, width
from grader.judging import Judgement, judge

FOLDER = Path(grader.__file__).parent
RAISED = {"Unreadable", "Finding", "Factor"}
MAPS = {"COMPLAINTS", "_STRAY"}


def _part(kind: str, key: str | None, **fields: object) -> Part:
    return Part(part="a", asks="", question="", kind=kind, key=key, **fields)  # type: ignore[arg-type]


PART = _part("quantity", "54", unit="GB", tolerance=Tolerance())


def _codes() -> set[str]:
    """Every constant that is given as a code, wherever the reader and the judge do so."""
    found: set[str] = set()
    for module in [p for name in ("reading", "judging", "executing") for p in FOLDER.glob(f"{name}/*.py")]:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RAISED and node.args:
                found |= _given(node.args[0])
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id in MAPS:
                assert isinstance(node.value, ast.Dict)
                found |= _values(node.value)
    return found


def _given(code: ast.expr) -> set[str]:
    """The constants that an expression for a code may give; the parts of an f-string are none."""
    if isinstance(code, ast.JoinedStr):
        return set()
    constants = {n.value for n in ast.walk(code) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return constants if isinstance(code, ast.Constant) else {c for c in constants if "-" in c}


def _values(table: ast.Dict) -> set[str]:
    values = {v.value for v in table.values if isinstance(v, ast.Constant)}
    calls = [v for v in table.values if isinstance(v, ast.Call)]
    return values | {c.args[1].value for c in calls if isinstance(c.args[1], ast.Constant)}


@pytest.mark.meta
def test_every_code_has_its_words() -> None:
    codes = _codes()
    assert {"two-numbers", "unknown-unit", "sign", "bit-byte", "range", "placeholder"} <= codes
    assert codes - set(FINDINGS) - set(COMPLAINTS) == set()


@pytest.mark.meta
@pytest.mark.parametrize("template", [*COMPLAINTS.values(), *FINDINGS.values()])
def test_every_sentence_is_one_line_and_closed(template: str) -> None:
    assert "\n" not in template
    names = [name for _, name, _, _ in string.Formatter().parse(template) if name]
    filled = template.format_map(dict.fromkeys(names, "x."))
    assert filled[0].isupper() or template.startswith("{") or filled.startswith(("//", "O("))
    assert filled.rstrip().endswith((".", "?"))


@pytest.mark.parametrize(
    ("part", "typed", "says"),
    [
        (PART, "54", "The unit is missing: 54 of what?"),
        (PART, "54 gb", "  54 gb\n     ^\ngb is no unit that is known here. Did you mean GB or Gbit?"),
        (PART, "1,5 GB", "  1,5 GB\n  ^\nThe comma in 1,5 does not separate thousands. Write decimals with a point."),
        (PART, "５４ gb", "  ５４ gb\n       ^\ngb is no unit"),
        (PART, "54\u200b gb", "  54\\u200b gb\n           ^\ngb is no unit"),
        (PART, "5\x00 GB", "  5\\x00 GB\n   ^\n\\x00 cannot be read here."),
        (PART, "54 GB/s", "Not correct.\nThis measures data per time; the question asks for data."),
        (PART, "5.4x10^10 B", "Correct. Read as 5.4e10 B."),
        (PART, "54 GB", "Correct."),
        (PART, "none", "Not correct.\nThere is such a value."),
        (_part("quantity", None, unit="GB", reason="It needs 3 GB more."), "5 GB", "exists. It needs 3 GB more."),
        (_part("count", "27", unit="sequence", unit_in_question=True), "27.4", "Part of a sequence does not count"),
        (_part("choice", "B", options=("A", "B")), "E", "E is not among the choices: A, B."),
        (
            _part("expression", "2*n", symbols={"n": "positive"}),
            "3n",
            "Try n = 1: your formula gives 3, the right one 2.",
        ),
        (_part("expression", "sqrt(n+1)", symbols={"n": "positive"}), "2n", "gives 2, the right one about 1.41421."),
    ],
)
def test_what_is_said(part: Part, typed: str, says: str) -> None:
    assert says in message(judge(part, typed), part)


def test_one_slip_is_told_and_several_are_listed() -> None:
    slips = (SlipValue("a", "You halved.", "27"), SlipValue("b", "You forgot the values.", "27"))
    one = _part("quantity", "54", unit="GB", tolerance=Tolerance(), slips=slips[:1])
    both = _part("quantity", "54", unit="GB", tolerance=Tolerance(), slips=slips)
    assert message(judge(one, "27 GB"), one) == "Not correct.\nYou halved."
    assert message(judge(both, "27 GB"), both).split("\n")[1:] == [
        "Several slips lead to this answer. Which one is yours?",
        "- You halved.",
        "- You forgot the values.",
    ]


def test_a_long_answer_is_shown_around_the_trouble() -> None:
    part = _part("expression", "n", symbols={"n": "positive"})
    typed = "n+" * 500 + "x" + "+n" * 400
    shown, caret, _ = message(judge(part, typed), part).split("\n")[1:]
    assert len(shown) < 70
    assert shown[caret.index("^")] == "x"


def test_a_caret_is_as_wide_as_what_stands_before_it() -> None:
    assert width("５4e\u0301") == 4
    assert visible("a\x00\ud800") == "a\\x00\\ud800"


def test_an_empty_judgement_still_says_its_verdict() -> None:
    assert message(Judgement("incorrect", Fraction(0)), PART) == "Not correct."


@pytest.mark.parametrize(("key", "cautions"), [("14", 1), ("40", 1), ("5000", 0)])
def test_a_slip_of_a_small_count_is_named_with_a_caution(key: str, cautions: int) -> None:
    slips = tuple(SlipValue(f"slip-{n}", f"Slip {n}.", str(int(key) + n)) for n in range(1, 12))
    part = Part("a", "gpus", "How many?", "count", key, "GPU", unit_in_question=True, slips=slips)
    assert message(judge(part, str(int(key) + 3)), part).count(CHANCE) == cautions
    assert CHANCE not in message(judge(part, key), part)
    assert CHANCE not in message(judge(part, "none"), part)
