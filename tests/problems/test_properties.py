"""Families that ask for a property: solutions suffice, tempting falsehoods are refused, tautologies earn nothing."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest

from grader.exercise import Exercise, Function, Part
from grader.families import family, slugs
from grader.feedback import message
from grader.judging import judge
from grader.property import FREE, SHARES, PropertyFamily
from grader.reading import compare
from spec.invariants import written

pytestmark = pytest.mark.law

SLUGS = [slug for slug in slugs() if slug.endswith("-property")]


@cache
def exercises(slug: str) -> tuple[Exercise, ...]:
    of = family(slug)
    assert isinstance(of, PropertyFamily)
    return tuple(of.outcome(slug, point)[0] for point in range(of.grid))


def settings(slug: str) -> list[Part]:
    """The part of each setting, at the least share."""
    return [exercise.parts[0] for exercise in exercises(slug)[:: len(SHARES)]]


ALL = [pytest.param(part, id=f"{slug}-{i}") for slug in SLUGS for i, part in enumerate(settings(slug))]


def kills(part: Part, text: str) -> int:
    found = judge(part, text)
    assert found.verdict in {"correct", "partial"}, message(found, part)
    return int(found.findings[0].about["killed"])


def wrong(part: Part) -> int:
    return sum(len(function.mutants) for function in part.functions)


def test_there_are_enough_of_them() -> None:
    assert len(SLUGS) >= 4


@pytest.mark.parametrize("slug", SLUGS)
def test_the_solution_is_right_at_every_share(slug: str) -> None:
    for exercise in exercises(slug):
        part = exercise.parts[0]
        found = judge(part, part.key or "")
        assert (found.verdict, [finding.code for finding in found.findings]) == ("correct", ["kills"])
    assert {exercise.parts[0].needs for exercise in exercises(slug)} == set(SHARES)


@pytest.mark.parametrize("part", ALL)
def test_every_wrong_way_breaks_the_solution_and_no_comparison_of_it_is_idle(part: Part) -> None:
    clauses = (part.key or "").split(" and ")
    assert kills(part, part.key or "") == wrong(part)
    for clause in clauses if len(clauses) > 1 else []:
        others = " and ".join(other for other in clauses if other != clause)
        assert kills(part, others) < wrong(part), clause


@pytest.mark.parametrize("part", ALL)
def test_the_worked_solution_goes_through_its_comparisons_and_ends_with_it(part: Part) -> None:
    *single, last = part.explained
    assert last.text == part.key
    assert " and ".join(line.text.partition(": ")[0] for line in single) == part.key
    assert all(line.latex and line.says.endswith(".") for line in part.explained)


@pytest.mark.parametrize("part", ALL)
def test_the_last_hint_is_right_but_not_enough(part: Part) -> None:
    assert len(part.hints) == 3
    weak = part.hints[2].partition(": ")[2]
    assert 0 < Fraction(kills(part, weak), wrong(part)) < min(map(Fraction, SHARES))
    assert not any(digit in part.hints[0] for digit in "123456789=")


def differ(function: Function, one: str, other: str) -> bool:
    letters, domains = tuple(function.arguments), tuple(function.arguments.values())
    return not compare.same(compare.reference(one, letters, domains), compare.reference(other, letters, domains))


@pytest.mark.parametrize("part", ALL)
def test_right_ways_agree_and_wrong_ones_differ_from_them_and_from_each_other(part: Part) -> None:
    for function in part.functions:
        assert len(function.right) > 1
        assert not any(differ(function, function.right[0], other) for other in function.right)
        ways = [function.right[0], *(mutant.expression for mutant in function.mutants)]
        assert all(differ(function, one, other) for one, other in combinations(ways, 2))
        assert all(mutant.sentence.endswith(".") for mutant in function.mutants)


@pytest.mark.parametrize("part", ALL)
def test_no_letter_outside_can_write_a_function(part: Part) -> None:
    letters = {letter for function in part.functions for letter in function.arguments}
    assert FREE not in letters
    for function in part.functions:
        assert len(function.arguments) > 1
        for way in function.right:
            found = judge(part, f"{function.name}({next(iter(function.arguments))}) == {way}")
            assert [finding.code for finding in found.findings] == ["formula-given"]


@pytest.mark.parametrize("part", ALL)
def test_what_holds_for_every_function_earns_nothing(part: Part) -> None:
    for function in part.functions:
        name, (first, second, *_) = function.name, function.arguments
        for text in (
            f"{name}({first}) == {name}({first})",
            f"{name}(2*{first}) <= {name}({first} + {first})",
            f"{name}({first}, {second}={second}) - {name}({first}) == 0",
            f"{name}({FREE}) < {name}({FREE}) + 1",
        ):
            found = judge(part, text)
            assert (found.verdict, found.score) == ("incorrect", Fraction(0)), text
            assert [finding.code for finding in found.findings] == ["kills-none"]


# The tempting sentences of the specification that can be written here: family, setting, property.
TEMPTING = {
    "I16-false": ("concurrency-property", 0, "2*most(2*c) == most(c)"),
    "I22-false": ("blocks-property", 1, "most(2*c, K_b=1) == floor(most(c, K_b=1)/2)"),
    "I13-false": ("blocks-property", 0, "blocks(c) + blocks(x) == blocks(c + x)"),
    "causal-is-half": ("scores-property", 1, "2*causal(c) == full(c)"),
    "causal-is-four-times": ("scores-property", 1, "causal(2*c) == 4*causal(c)"),
    "scores-add": ("scores-property", 0, "scores(c) + scores(x) == scores(c + x)"),
    "ttft-doubles": ("first-token-property", 0, "first(2*n) == 2*first(n)"),
}


@pytest.mark.parametrize("name", TEMPTING)
def test_a_tempting_falsehood_is_refused_with_a_counterexample(name: str) -> None:
    assert name in {invariant.id for invariant in written() if invariant.refuted is not None}
    slug, setting, text = TEMPTING[name]
    part = settings(slug)[setting]
    found = judge(part, text)
    assert (found.verdict, [finding.code for finding in found.findings]) == ("incorrect", ["property-broken"])
    assert " becomes " in message(found, part)


@pytest.mark.parametrize(
    ("slug", "setting", "text", "verdict"),
    [
        ("cache-property", 0, "kv(2*c) == 2*kv(c)", "partial"),
        ("cache-property", 0, "kv(c + x) == kv(c) + kv(x)", "partial"),
        (
            "cache-property",
            0,
            "kv(2c) = 2kv(c) and kv(c, L=2L) = 2kv(c) and kv(c, n_kv=2n_kv) = 2kv(c) and kv(c, d_h=2d_h) = 2kv(c)",
            "correct",
        ),
        ("cache-property", 0, "kv(2*c) == 4*kv(c)", "incorrect"),
        ("scores-property", 0, "scores(2*c) == 4*scores(c)", "partial"),
        ("concurrency-property", 0, "most(2*c) <= most(c)", "partial"),
        ("concurrency-property", 0, "most(2*c) == floor(most(c)/2)", "partial"),
        ("concurrency-property", 0, "most(2*c) == most(c)/2", "incorrect"),
        ("arrivals-property", 0, "busy(2*lambda, T_s=T_s/2) == busy(lambda)", "correct"),
        ("blocks-property", 0, "blocks(2*c, p=2*p) == blocks(c)", "partial"),
    ],
)
def test_what_people_write_is_judged_as_it_deserves(slug: str, setting: int, text: str, verdict: str) -> None:
    part = settings(slug)[setting]
    found = judge(part, text)
    assert found.verdict == verdict, message(found, part)
