"""What a number earns as ranges, and a set as questions: the same as the judge says."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.exercise import NUMERIC, Exercise, Part, SlipValue, Tolerance, exact
from grader.families import pose, slugs
from grader.judging import CORRECT, judge
from grader.posing import Undrawable
from grader.sets.questions import convention, in_plural, pool, questions, right_answer
from grader.sets.ranges import FIGURES, NONE, VALUE_EXISTS, Range, plain, ranges
from grader.sets.sheets import Entry, Sheet

SEEDS = range(1, 4)


def exercises() -> Iterator[Exercise]:
    for slug in slugs():
        for seed in SEEDS:
            try:
                yield pose(slug, seed)
            except Undrawable:
                continue


def parts() -> Iterator[Part]:
    return (part for exercise in exercises() for part in exercise.parts if part.kind in NUMERIC)


def of(part: Part, number: Fraction) -> Range | None:
    return next((found for found in ranges(part) if found.low <= number <= found.high), None)


def typed(number: Fraction) -> str:
    return "none" if number == NONE else exact(number)


@pytest.mark.differential
def test_the_ranges_of_all_families_say_what_the_judge_says_of_keys_slips_and_limits() -> None:
    seen = 0
    for part in parts():
        values = {Fraction(text) for text in (part.key, *(s.value for s in part.slips)) if text is not None}
        values |= {edge for found in ranges(part) if found.right for edge in (found.low, found.high)}
        for number in values | {NONE}:
            judged, found = judge(part, typed(number)), of(part, number)
            assert (found is not None and found.right) == (judged.verdict == CORRECT), (part, number)
            if found is not None and not found.right:
                told = dict.fromkeys(d.sentence for d in judged.diagnoses)
                assert set(found.sentences) - {VALUE_EXISTS} == set(told), (part, number)
                assert (VALUE_EXISTS in found.sentences) == (number == NONE)
                seen += 1
            else:
                assert judged.verdict == CORRECT or not judged.diagnoses
    assert seen > 1000


@pytest.mark.law
def test_a_number_beyond_the_limits_is_not_right_and_no_value_is_taken_for_none() -> None:
    for part in parts():
        for found in ranges(part):
            beyond = max(abs(found.high), Fraction(1)) / 10**9
            if found.right:
                assert not (of(part, found.high + beyond) or Range(NONE, NONE, right=False)).right
                assert not (of(part, found.low - beyond) or Range(NONE, NONE, right=False)).right
            assert found.low <= found.high
            assert (found.low <= NONE <= found.high) == (found.low == found.high == NONE)


def part(kind: str = "quantity", key: str | None = "10", tolerance: Tolerance | None = None, **more: object) -> Part:
    return Part("a", "ttft", "?", kind, key, "s", tolerance or Tolerance(), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tolerance", "low", "high"),
    [
        (Tolerance("relative", "0.01"), "9.9", "10.1"),
        (Tolerance("absolute", "50", "ms"), "9.95", "10.05"),
        (Tolerance("absolute", "0.5"), "9.5", "10.5"),
        (Tolerance("exact", "0"), "10", "10"),
        (Tolerance("decimals", "1"), "9.95", "10.05"),
        (Tolerance("figures", "3"), "9.95", "10.05"),
    ],
)
def test_every_kind_of_tolerance_is_a_range(tolerance: Tolerance, low: str, high: str) -> None:
    key = ranges(part(tolerance=tolerance))[0]
    assert (key.low, key.high) == (Fraction(low), Fraction(high))
    assert (key.middle - key.tolerance, key.middle + key.tolerance) == (key.low, key.high)


def test_slips_that_cannot_be_told_apart_share_a_range_and_others_do_not() -> None:
    slips = (SlipValue("x", "X.", "100"), SlipValue("y", "Y.", "101"), SlipValue("z", "Z.", "500"))
    told = [(found.low, found.high, found.sentences) for found in ranges(part(slips=slips))[2:]]
    assert told == [
        (Fraction("99.5"), Fraction("100.495"), ("X.",)),
        (Fraction("100.495"), Fraction("100.5"), ("X.", "Y.")),
        (Fraction("100.5"), Fraction("101.505"), ("Y.",)),
        (Fraction("497.5"), Fraction("502.5"), ("Z.",)),
    ]


def test_where_there_is_no_value_none_is_right_and_zero_too_for_a_capacity() -> None:
    assert [(r.low, r.right) for r in ranges(part(key=None))] == [(NONE, True)]
    assert [(r.low, r.right) for r in ranges(part("count", None, zero_is_none=True))] == [(NONE, True), (0, True)]
    assert [(r.low, r.right) for r in ranges(part("count", "0", zero_is_none=True))] == [(NONE, True), (0, True)]
    with pytest.raises(ValueError, match="no number"):
        ranges(part("expression", "H"))


@pytest.mark.law
@given(st.fractions(min_value=-(10**12), max_value=10**12))
def test_a_number_is_written_in_plain_digits_exactly_or_to_many_figures(number: Fraction) -> None:
    written = plain(number)
    assert set(written) <= set("-.0123456789")
    error = abs(Fraction(written) - number)
    assert error == 0 if "/" not in exact(number) else error <= abs(number) / 10 ** (FIGURES - 1)


@pytest.mark.law
def test_the_sheets_of_a_class_pool_each_exercise_once_by_place() -> None:
    same, others = pose("exercise-4", 0), [pose("max-context", seed) for seed in (5, 6, 5)]
    shares = dict.fromkeys("abcdef", Fraction(1, 6))
    sheets = [
        Sheet(
            "t", f"S{n}", (Entry(1, Fraction(2), other, {"a": Fraction(2)}), Entry(2, Fraction(1), same, shares)), "N"
        )
        for n, other in enumerate(others)
    ]
    pooled = pool(sheets)
    assert pooled is not None
    assert (pooled.student, pooled.name) == ("", "")
    found = questions(pooled)
    assert [(q.place, q.variant) for q in found] == [
        *(("1", 1), ("1", 2)),
        *((f"2{letter}", 1) for letter in "abcdef"),
    ]
    assert [q.points for q in found] == [2, 2, *[Fraction(1, 6)] * 6]
    assert pool([]) is None
    assert (
        questions(Sheet("t", "", (Entry(1, Fraction(1), pose("parameter-formula", 1), {"a": Fraction(1)}),)))[0].answers
        == ()
    )


def test_a_part_is_told_what_of_the_convention_holds_for_it() -> None:
    shares = dict.fromkeys("abcdef", Fraction(1))
    found = questions(Sheet("t", "", (Entry(1, Fraction(3), pose("exercise-4", 0), shares),)))
    units = "1 GB = 10^9 bytes, 1 GiB = 2^30 bytes. "
    assert [convention(question) for question in found] == [
        f"{units}Give at least three significant figures.",
        *[f"{units}Answer with a whole number."] * 4,
        units.strip(),
    ]


def test_answers_and_units_are_written_for_reading() -> None:
    assert right_answer(part(key="200/7")) == "about 28.5714 s"
    assert right_answer(part(key="10")) == "10 s"
    assert right_answer(part(key=None)) == "none"
    assert [in_plural(name) for name in ("token", "request/min", "GB", "", "element")] == [
        "tokens", "requests/min", "GB", "", "",
    ]  # fmt: skip
