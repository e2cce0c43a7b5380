"""The laws of judging: any notation of the right value is right, anything else is not, and a known slip is named."""

# ruff: noqa: RUF001  the characters that look alike are what is tested

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.exercise import EXACT, Part, SlipValue, Tolerance, exact
from grader.feedback import message
from grader.judging import CORRECT, INCORRECT, INVALID, PARTIAL, judge
from grader.reading.number import written
from spec.units import TABLE, Unit, unit

pytestmark = pytest.mark.law

UNITS = ("GB", "ms", "token/s", "KiB/token", "TFLOP/s", "TB/s/GPU", "$/h", "request/min", "1/s", "FLOP/B")
VALUES = st.integers(1, 10**6).map(lambda n: Fraction(n, 1000))
PERCENT = Tolerance("relative", "0.01")


def _part(kind: str, key: str | None, of: str = "", **fields: object) -> Part:
    return replace(Part(part="a", asks="", question="", kind=kind, key=key, unit=of), **fields)  # type: ignore[arg-type]


def _codes(part: Part, typed: str) -> list[str]:
    return [finding.code for finding in judge(part, typed).findings]


def _alike(of: Unit) -> list[str]:
    """The names of the table, and their quotients, that measure what `of` measures."""
    names = [name for name, other in TABLE.items() if other.dimension == of.dimension and "%" not in name]
    return [*names, of.name]


@st.composite
def _notations(draw: st.DrawFn, value: Fraction, of: str) -> str:
    """One way to write a value given in unit `of`."""
    name = draw(st.sampled_from(_alike(unit(of))))
    number = value * unit(of).factor / unit(name).factor
    text = written(number)
    style = draw(st.sampled_from(["plain", "times", "raised", "wide", "fraction", "latex"]))
    if style == "fraction" or "/" in text:
        text = f"{number.numerator}/{number.denominator}"
    elif "e" in text and style in {"times", "raised", "latex"}:
        mantissa, _, power = text.partition("e")
        raised = power.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        ten = {"times": f"*10^{power}", "raised": f" × 10{raised}", "latex": rf" \times 10^{{{power}}}"}[style]
        text = mantissa + ten
    elif style == "wide":
        text = text.translate(str.maketrans("0123456789", "０１２３４５６７８９"))
    space = draw(st.sampled_from(["", " ", "\u00a0", "\u202f"])) if not name.startswith("1/") else " "
    if name.startswith("1/"):
        name = draw(st.sampled_from([name, name[1:], f"{name[2:]}^-1", f"per {name[2:]}"]))
    return text + space + name.replace("/", draw(st.sampled_from(["/", " / ", " per "])))


@given(st.data(), VALUES, st.sampled_from(UNITS))
def test_any_notation_of_the_right_value_is_correct(data: st.DataObject, value: Fraction, of: str) -> None:
    part = _part("quantity", exact(value), of, tolerance=PERCENT)
    typed = data.draw(_notations(value, of))
    assert judge(part, typed).verdict == CORRECT, typed


@given(st.data(), VALUES, st.sampled_from(UNITS), st.fractions("0.1", "10", max_denominator=1000))
def test_the_tolerance_is_closed_and_nothing_outside_it_is_correct(
    data: st.DataObject, value: Fraction, of: str, stretch: Fraction
) -> None:
    part = _part("quantity", exact(value), of, tolerance=PERCENT)
    typed = data.draw(_notations(value * stretch, of))
    right = abs(stretch - 1) <= Fraction(1, 100)
    assert judge(part, typed).verdict == (CORRECT if right else INCORRECT), typed


@given(st.data(), VALUES, st.sampled_from(UNITS), st.sampled_from(UNITS))
def test_another_dimension_is_incorrect_whatever_the_value(
    data: st.DataObject, value: Fraction, of: str, other: str
) -> None:
    part = _part("quantity", exact(value), of, tolerance=PERCENT)
    typed = data.draw(_notations(data.draw(st.sampled_from([value, Fraction(0)])), other))
    if unit(of).dimension != unit(other).dimension:
        judgement = judge(part, typed)
        assert judgement.verdict == INCORRECT
        assert "wrong-dimension" in [finding.code for finding in judgement.findings]


@given(st.data(), VALUES, st.sampled_from(UNITS))
def test_the_echo_reads_back_to_the_same_value(data: st.DataObject, value: Fraction, of: str) -> None:
    part = _part("quantity", "1", of, tolerance=PERCENT)
    first = judge(part, data.draw(_notations(value, of)))
    second = judge(part, first.reading)
    assert first.value == second.value == value
    assert second.reading == first.reading


@given(st.integers(0, 10**9), st.integers(-3, 3))
def test_a_count_is_exact(count: int, off: int) -> None:
    part = _part("count", str(count), "token", unit_in_question=True)
    for typed in (f"{count + off}", f"{count + off} tokens", f"{count + off:,} tok", f"{count + off}.0"):
        assert judge(part, typed).verdict == (CORRECT if off == 0 else INCORRECT)


@given(st.integers(1, 10**6), st.integers(1, 999))
def test_a_count_with_a_fraction_is_named_unrounded(count: int, thousandths: int) -> None:
    part = _part("count", str(count), "sequence", unit_in_question=True)
    assert "unrounded" in _codes(part, f"{count}.{thousandths:03}")


@given(VALUES, st.sampled_from(UNITS))
def test_a_bare_number_is_read_in_the_unit_that_the_question_names(value: Fraction, of: str) -> None:
    part = _part("quantity", exact(value), of, tolerance=PERCENT)
    assert judge(part, exact(value)).verdict == INVALID
    assert _codes(part, exact(value)) == ["unit-missing"]
    assert judge(replace(part, unit_in_question=True), exact(value)).verdict == CORRECT


NONE = ["none", "None.", "impossible", "infeasible", "unstable", "does not fit", "no solution", "never", "cannot"]


@pytest.mark.parametrize("words", [*NONE, "not possible", "no batch size", "there is none", "it doesn't fit"])
@pytest.mark.parametrize("kind", ["count", "number", "quantity", "expression", "choice", "choices", "sequence"])
def test_no_such_value_is_an_answer_to_every_kind(kind: str, words: str) -> None:
    part = _part(kind, None, "GB" if kind == "quantity" else "", options=("A", "B"), symbols={"n": "positive"})
    assert judge(part, words).verdict == CORRECT
    assert judge(part, words).reading == "none"
    key = {"expression": "n", "choice": "A", "choices": "A", "sequence": "A"}.get(kind, "1")
    slip = SlipValue("gives-up", "It fits.", None)
    judgement = judge(replace(part, key=key, slips=(slip,)), words)
    assert judgement.verdict == INCORRECT
    assert [diagnosis.slip for diagnosis in judgement.diagnoses] == ["gives-up"]


@pytest.mark.parametrize(
    ("kind", "typed"),
    [
        ("quantity", "0 GB"),
        ("quantity", "54 GB"),
        ("quantity", "54 s"),
        ("count", "0"),
        ("number", "0"),
        ("expression", "n"),
        ("choice", "A"),
        ("choices", "A"),
        ("sequence", "A"),
    ],
)
def test_a_value_where_none_exists_is_incorrect_and_the_reason_is_given(kind: str, typed: str) -> None:
    of = "GB" if kind == "quantity" else ""
    part = _part(kind, None, of, options=("A", "B"), symbols={"n": "positive"}, reason="It does not fit.")
    judgement = judge(part, typed)
    assert judgement.verdict == INCORRECT
    assert [(f.code, f.about) for f in judgement.findings] == [("no-value", {"reason": "It does not fit."})]


@pytest.mark.parametrize("typed", ["n/a", "no", "?", "inf", "∞", "nan", "", "idk", "zero"])
def test_what_may_mean_anything_does_not_count(typed: str) -> None:
    for key in ("54", None):
        assert judge(_part("quantity", key, "GB"), typed).verdict == INVALID


def test_a_label_comes_before_a_word() -> None:
    part = _part("choice", "none", options=("none", "some"))
    assert judge(part, "none").verdict == CORRECT
    assert judge(replace(part, key="some"), "none").verdict == INCORRECT


SLIPS = (
    SlipValue("forgot-the-values", "You left out the values.", "27"),
    SlipValue("half", "You halved.", "27.1"),
    SlipValue("bits", "These are bits.", "432"),
    SlipValue("none", "It fits.", None),
)


def test_a_slip_within_half_a_percent_is_named_and_all_that_coincide_are() -> None:
    part = _part("quantity", "54", "GB", tolerance=PERCENT, slips=SLIPS)
    named = {
        typed: [diagnosis.slip for diagnosis in judge(part, typed).diagnoses]
        for typed in ("432 GB", "27.05 GB", "27000 MB", "27.2 GB", "27.4 GB", "54 GB", "27 s")
    }
    both = ["forgot-the-values", "half"]
    assert named == {
        "432 GB": ["bits"],
        "27.05 GB": both,
        "27000 MB": both,
        "27.2 GB": ["half"],
        "27.4 GB": [],
        "54 GB": [],
        "27 s": [],
    }


@pytest.mark.parametrize(
    ("typed", "slips"),
    [
        ("5615", ["a"]),
        ("2807", ["b"]),
        ("2808", ["b"]),
        ("2807.46", ["b"]),
        ("2807.4", ["b"]),
        ("2807.5", ["b"]),
        ("2807.6", []),
        ("2809", []),
        ("2806", ["b"]),
        ("5612", ["a"]),
        ("5616", []),
        ("1403", []),
    ],
)
def test_a_count_names_a_slip_exactly_or_after_the_same_rounding(typed: str, slips: list[str]) -> None:
    values = (SlipValue("a", "", "5615"), SlipValue("b", "", "2807.4583"))
    part = _part("count", "1403", "token", unit_in_question=True, slips=values)
    assert [diagnosis.slip for diagnosis in judge(part, typed).diagnoses] == slips


@pytest.mark.parametrize(
    ("part", "typed", "code"),
    [
        (_part("number", "-5"), "5", "sign"),
        (_part("number", "1234"), "1.234", "separator"),
        (_part("number", "16"), "16,000", "separator"),
        (_part("number", "1234"), "1234000", "prefix"),
        (_part("number", "0.25"), "25", "percent"),
        (_part("number", "0.25"), "4", "reciprocal"),
        (_part("number", "3.14159", tolerance=Tolerance("figures", "4")), "3.141", "truncated"),
        (_part("number", "1.2345", tolerance=PERCENT), "1.2", "coarse"),
        (_part("quantity", "54", "GB", tolerance=PERCENT), "54 GiB", "binary-decimal"),
        (_part("quantity", "54", "GiB", tolerance=PERCENT), "54 GB", "binary-decimal"),
        (_part("quantity", "54", "GB", tolerance=PERCENT), "54 Gbit", "bit-byte"),
        (_part("quantity", "54", "GB", tolerance=PERCENT), "54 MB", "prefix"),
        (_part("quantity", "500", "ms", tolerance=PERCENT), "500 Ms", "case"),
        (_part("quantity", "10", "request/s", tolerance=PERCENT), "10 request/min", "time-unit"),
        (_part("quantity", "50", "token/s", tolerance=PERCENT), "20 ms/token", "reciprocal"),
        (_part("quantity", "50", "token/s", tolerance=PERCENT), "50 requests/s", "wrong-dimension"),
        (_part("quantity", "54", "GB", tolerance=PERCENT), "54 kg", "foreign-unit"),
        (_part("count", "32", "head"), "32 layers", "other-count"),
        (_part("expression", "2*n", symbols={"n": "positive"}), "42", "number-for-formula"),
        (_part("expression", "2*n", symbols={"n": "positive"}), "6,704,594", "number-for-formula"),
        (_part("expression", "n/(2*m)", symbols={"n": "positive", "m": "positive"}), "n/2m", "ambiguous-division"),
        (_part("expression", "2*n", symbols={"n": "positive"}), "3*n", "counterexample"),
    ],
)
def test_a_mistake_is_named_without_a_slip_in_the_record(part: Part, typed: str, code: str) -> None:
    judgement = judge(part, typed)
    assert judgement.verdict == INCORRECT
    assert code in [finding.code for finding in judgement.findings]


@pytest.mark.parametrize(
    ("key", "typed", "named"),
    [
        ("49.1127", "54 GB", False),
        ("59.3736", "54 GB", False),
        ("4911.27", "5400 GB", True),
        ("5937.36", "5400 GB", True),
    ],
)
def test_no_prefix_is_named_that_is_far_larger_than_the_value(key: str, typed: str, *, named: bool) -> None:
    judgement = judge(_part("quantity", key, "GB", tolerance=Tolerance("relative", "0.001")), typed)
    assert any("TiB" in finding.about.values() for finding in judgement.findings) == named


@pytest.mark.parametrize(
    ("part", "typed", "code"),
    [
        (_part("quantity", "18", "GB", tolerance=PERCENT, units="exact"), "18000 MB", "unit-not-asked"),
        (_part("number", "1.5", tolerance=Tolerance("figures", "3", strict=True)), "1.5", "strict-figures"),
        (_part("number", "1.27", tolerance=Tolerance("decimals", "1", strict=True)), "1.27", "strict-decimals"),
        (_part("number", "0.5"), "50%", "percent-not-asked"),
        (_part("expression", "O(n^2)", symbols={"n": "positive"}), "O(2n^2)", "constant-factor"),
        (_part("expression", "O(n^2)", symbols={"n": "positive"}), "O(n^2 + n)", "lower-order-terms"),
    ],
)
def test_a_right_value_in_a_wrong_form_is_worth_half(part: Part, typed: str, code: str) -> None:
    judgement = judge(part, typed)
    assert (judgement.verdict, judgement.score) == (PARTIAL, Fraction(1, 2))
    assert [finding.code for finding in judgement.findings] == [code]


@pytest.mark.parametrize(
    ("typed", "score"),
    [("A, C", 1), ("c a", 1), ("A", Fraction(1, 2)), ("ACD", Fraction(1, 2)), ("A B", 0), ("B", 0), ("ABCD", 0)],
)
def test_a_set_earns_what_is_right_less_what_is_wrong(typed: str, score: Fraction) -> None:
    part = _part("choices", "A,C", options=("A", "B", "C", "D"))
    assert judge(part, typed).score == score


@given(st.permutations(["prefill", "decode", "swap-in"]), st.sampled_from([", ", " > ", " → ", "; ", " then ", "\n"]))
def test_a_sequence_is_right_in_one_order_only(order: list[str], between: str) -> None:
    part = _part("sequence", "prefill,decode,swap-in", options=("prefill", "decode", "swap-in"))
    verdict = CORRECT if order == ["prefill", "decode", "swap-in"] else INCORRECT
    assert judge(part, between.join(order)).verdict == verdict


def test_a_formula_names_its_slip_however_it_is_written() -> None:
    slips = (SlipValue("one-matrix", "You counted one matrix.", "12*L*H**2 + V*H"), SlipValue("other", "", "8*L*H**2"))
    symbols = dict.fromkeys("LHV", "positive integers")
    part = _part("expression", "12*L*H**2 + 2*V*H", symbols=symbols, slips=slips)
    assert [d.slip for d in judge(part, "H(12LH + V)").diagnoses] == ["one-matrix"]
    assert judge(part, "H(12LH + 2V)").verdict == CORRECT


def test_a_left_side_names_what_is_asked_for() -> None:
    part = _part("expression", "2*n", symbols={"n": "positive"}, names=("P", "parameters"), asks="parameters")
    assert [judge(part, f"{name} = 2n").verdict for name in ("P", "parameters", "Q", "n")] == [
        CORRECT,
        CORRECT,
        INVALID,
        INVALID,
    ]


def test_a_plain_number_is_asked_for() -> None:
    part = _part("count", "27")
    assert _codes(part, "27 sequences") == ["plain-number"]
    assert _codes(_part("number", "7e9", tolerance=PERCENT), "7B") == ["byte-or-billion"]
    assert judge(_part("count", "32", "layer"), "32").verdict == CORRECT
    assert judge(_part("count", "32", "layer"), "32 layers").verdict == CORRECT


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("1 1/2", "mixed-number"),
        ("1½", "mixed-number"),
        ("27 28", "two-numbers"),
        ("27 or 28", "two-answers"),
        ("27, 28", "list"),
        ("27-28", "range"),
        ("27..28", "range"),
        ("16,5", "decimal-comma"),
        ("1.234,5", "decimal-comma"),
        ("1,08,000", "grouping"),
        ("n = 27", "equation"),
        ("> 27", "comparison"),
        ("27 + 1", "sum"),
        ("?", "placeholder"),
        ("1e", "incomplete-exponent"),
        ("1e2.5", "fractional-exponent"),
        ("0x1F", "other-base"),
        ("٣", "other-digits"),
        ("4^0.5", "irrational-number"),
        ("27 K", "lone-prefix"),
        ("27 thousand", "lone-prefix"),
        ("nan", "not-finite"),
        ("n/a", "no-opinion"),
    ],
)
def test_the_complaint_says_what_is_wrong(typed: str, code: str) -> None:
    part = _part("number", "27")
    assert (judge(part, typed).verdict, _codes(part, typed)) == (INVALID, [code])


def test_a_wide_tolerance_explains_nothing_by_chance() -> None:
    part = _part("quantity", "80", "GB", tolerance=Tolerance("absolute", "1", "GiB"))
    assert judge(part, "78.9 GB").verdict == INCORRECT
    assert _codes(part, "78.9 GB") == []


def test_labels_and_orders_that_leave_the_answer_open_do_not_count() -> None:
    assert _codes(_part("choice", "B", options=("A", "B")), "A or B") == ["alternatives"]
    assert _codes(_part("choice", "B", options=("A", "B")), "AB") == ["one-label"]
    assert _codes(_part("expression", "n^2", symbols={"n": "positive"}), "O(n^2)") == ["order-not-asked"]


def test_exact_is_exact() -> None:
    part = _part("quantity", "1/3", "s", tolerance=EXACT)
    assert judge(part, "1/3 s").verdict == CORRECT
    assert judge(part, "0.3333333333 s").verdict == INCORRECT


def test_an_unknown_kind_is_the_author_s_error() -> None:
    with pytest.raises(ValueError, match="unknown kind of answer: essay"):
        judge(_part("essay", "27"), "27")
    with pytest.raises(ValueError, match="no unit: 'floop'"):
        judge(_part("quantity", "27", "floop"), "27 GB")


def test_judging_imports_nothing_heavy() -> None:
    code = "import sys, grader.judging, grader.feedback; print(*sorted(m.split('.')[0] for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sympy", "hypothesis", "jinja2", "click", "difflib", "hashlib", "random"} & set(done.stdout.split())


def test_where_nothing_fits_zero_and_none_may_mean_the_same() -> None:
    for key in ("0", None):
        part = _part("count", key, "sequence", unit_in_question=True, zero_is_none=True)
        assert [judge(part, typed).verdict for typed in ("0", "0 sequences", "none")] == [CORRECT] * 3
        assert judge(part, "1").verdict == judge(part, "0 GB").verdict == INCORRECT
        assert judge(replace(part, zero_is_none=False), "0").verdict == (CORRECT if key else INCORRECT)
        assert judge(replace(part, zero_is_none=False), "none").verdict == (INCORRECT if key else CORRECT)


def test_other_units_that_say_the_same_are_right_and_keep_their_scale() -> None:
    part = Part("a", "x", "", "quantity", "524288", "B/token", PERCENT, also=("B",))
    for typed in ("524288 B/token", "524288 B", "512 KiB", "512 KiB/token"):
        assert judge(part, typed).verdict == "correct"
    for typed in ("512 MiB", "524288 tokens", "524288 B/s"):
        assert judge(part, typed).verdict == "incorrect"
    assert judge(replace(part, also=()), "512 KiB").verdict == "incorrect"


def test_a_number_where_there_is_none_is_told_its_slip_too() -> None:
    part = Part("a", "x", "", "count", None, "sequence", EXACT, unit_in_question=True, reason="It does not fit.")
    part = replace(part, slips=(SlipValue("weights-forgotten", "The weights were not taken off.", "9"),))
    judged = judge(part, "9")
    assert (judged.verdict, [d.slip for d in judged.diagnoses]) == ("incorrect", ["weights-forgotten"])
    assert "It does not fit." in message(judged, part)
    assert judge(part, "8").diagnoses == ()


@pytest.mark.parametrize("options", [("yes", "no"), ("usual", "doubtful", "impossible")])
def test_beside_a_label_that_says_no_only_none_says_that_no_label_holds(options: tuple[str, ...]) -> None:
    part = _part("choice", options[-1], options=options)
    assert judge(part, options[-1]).verdict == CORRECT
    assert judge(part, "none").verdict == INCORRECT
    for words in ("cannot", "does not fit", "not possible", "no solution"):
        assert judge(part, words).verdict == INVALID


def test_a_whole_number_is_not_told_that_it_was_not_rounded() -> None:
    slips = (SlipValue("rounded-up", "", "58"), SlipValue("not-rounded", "", "57.6"), SlipValue("half", "", "28.8"))
    part = _part("count", "57", "token", unit_in_question=True, slips=slips)
    told = {typed: [d.slip for d in judge(part, typed).diagnoses] for typed in ("58", "57.6", "29", "28.8")}
    assert told == {"58": ["rounded-up"], "57.6": ["not-rounded"], "29": ["half"], "28.8": ["half"]}


@pytest.mark.parametrize(
    ("of", "typed"),
    [
        ("sequence", "18 slots"),
        ("sequence", "18 seqs"),
        ("", "18 steps"),
        ("", "18 jobs"),
        ("", "18 times"),
        ("", "18"),
    ],
)
def test_what_is_counted_may_be_called_by_its_name(of: str, typed: str) -> None:
    assert judge(_part("count", "18", of, unit_in_question=True), typed).verdict == CORRECT
