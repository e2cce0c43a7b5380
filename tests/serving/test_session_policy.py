"""A policy is read as it was written, or refused with all that is wrong with it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.serving.session_policy import (
    FIELDS,
    LONGEST,
    MARGIN,
    WINDOW,
    PolicyRefused,
    Problem,
    SessionPolicy,
    policy_from,
    read_policy,
    read_written,
    template,
)
from spec.serving.session_values import Choice, Number, decimal, shown
from tests.serving.policies import policies, samples

pytestmark = pytest.mark.law
WINDOWS = st.sampled_from([2048, 4096, WINDOW, 16384])


def problems(text: str, window: int = WINDOW) -> tuple[Problem, ...]:
    with pytest.raises(PolicyRefused) as found:
        read_policy(text, window)
    return found.value.problems


def outcome(text: str) -> SessionPolicy | PolicyRefused:
    try:
        return read_policy(text)
    except PolicyRefused as refused:
        return refused


def as_json(policy: SessionPolicy) -> str:
    """Write a policy with its exact numbers, which the JSON module cannot."""
    return "{" + ", ".join(f'"{name}": {shown(value)}' for name, value in policy.table().items()) + "}"


def as_toml(policy: SessionPolicy) -> str:
    return "\n".join(f"{name} = {shown(value)}" for name, value in policy.table().items() if value is not None)


@pytest.mark.roundtrip
@given(policies())
def test_a_policy_is_read_back_from_its_table_and_from_json_and_toml(policy: SessionPolicy) -> None:
    assert policy_from(policy.table()) == policy
    assert read_policy(as_json(policy)) == policy
    assert read_policy(as_toml(policy)) == policy


@pytest.mark.roundtrip
@given(st.fractions(-(10**6), 10**6).map(lambda f: Fraction(round(f * 10**6), 10**6)))
def test_a_decimal_is_read_back(value: Fraction) -> None:
    assert Fraction(decimal(value)) == value


@given(WINDOWS)
def test_the_template_says_the_defaults_and_all_that_is_allowed(window: int) -> None:
    text = template(window)
    assert read_policy(text, window) == read_policy("", window)
    assert read_policy(template()) == SessionPolicy()
    names = "|".join(field.name for field in FIELDS)
    every = re.sub(rf"^# (({names}) = )", r"\1", text, flags=re.MULTILINE)
    assert read_written(every).values.keys() == {field.name for field in FIELDS}
    assert None not in policy_from(read_written(every).values, window).table().values()


def test_the_table_has_every_field_of_the_record_with_its_default() -> None:
    assert {field.name: field.default for field in FIELDS} == SessionPolicy().table()
    assert [field.name for field in FIELDS] == list(SessionPolicy().table())


def _outside(number: Number) -> list[str]:
    step = 1 if number.whole else Fraction(1, 10**9)
    low = number.low if number.over else number.low - step
    return [decimal(low), decimal(number.high + step), "1e99", "-1e99", "NaN", "Infinity", "9" * 400, "1e400"]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_what_a_field_may_not_be_is_refused_with_its_range(field: Any) -> None:
    wrong = ['"no such word"', "[1]", '{"a": 1}', '""']
    wrong += [*_outside(field.kind), "true", '"60"'] if isinstance(field.kind, Number) else ["1", "0", "1.5", "NaN"]
    if isinstance(field.kind, Choice):
        wrong += ["true", f'"{next(iter(field.kind.options)).upper()}"']
    if getattr(field.kind, "whole", False):
        wrong.append(decimal(field.kind.low + Fraction(1, 2)))
    if not getattr(field.kind, "null", False):
        wrong.append("null")
    for text in wrong:
        (problem,) = problems(f'{{"{field.name}": {text}}}')
        assert problem.field == field.name
        assert field.allowed in problem.wanted
        assert problem.given[:20] in text or problem.given in {"[...]", "{...}"}
        assert "\n" not in str(problem)


def test_every_problem_is_reported_at_once() -> None:
    found = problems('{"kep": 1, "evict": "LRU", "headroom": 0.95, "order": 3, "evict": "lru ", "summary": -1}')
    assert [problem.field for problem in found] == ["evict", "kep", "evict", "headroom", "order", "summary"]


@pytest.mark.parametrize(("name", "near"), [("evct", "evict"), ("idle-ttl-s", "idle_ttl_s"), ("KEEP", "keep")])
def test_an_unknown_field_is_named_with_the_one_that_was_meant(name: str, near: str) -> None:
    (problem,) = problems(json.dumps({name: 1}))
    assert problem.near[0] == near
    assert f"did you mean {near}" in str(problem)


def test_an_unknown_field_like_no_other_lists_them_all() -> None:
    (problem,) = problems("zzz = 1")
    assert not problem.near
    assert all(field.name in problem.wanted for field in FIELDS)


@given(st.integers(MARGIN, WINDOW), st.integers(0, WINDOW - MARGIN), st.integers(1, WINDOW - MARGIN))
def test_what_stays_leaves_room_for_a_message_and_a_reply(limit: int, keep: int, summary: int) -> None:
    text = f'context = "summarise"\ncontext_limit = {limit}\nkeep = {keep}\nsummary = {summary}'
    if keep + summary <= limit - MARGIN:
        assert read_policy(text).keep == keep
    else:
        (problem,) = problems(text)
        assert (problem.field, problem.given) == ("keep + summary", f"{keep} + {summary}")
        assert str(limit - MARGIN) in problem.wanted
    assert read_policy(text.replace("summarise", "none")).keep == keep


def test_a_summary_of_nothing_is_refused() -> None:
    (problem,) = problems('context = "summarise"')
    assert (problem.field, problem.given) == ("summary", "0")


def test_a_shorter_window_lowers_limits_and_defaults() -> None:
    policy = read_policy("", 4096)
    assert (policy.context_limit, policy.keep) == (4096, 2048)
    assert "from 1024 to 4096" in problems("context_limit = 8192", 4096)[0].wanted


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "[" * 30_000, "a" * (LONGEST + 1), "a = " + "9" * 5000, "x = [" + "[" * 30_000, "a = 1\na = 2", "\0"],
    ids=["open", "array", "deep", "long", "digits", "deep toml", "twice", "null byte"],
)
def test_a_text_that_is_no_policy_is_refused_in_one_sentence(text: str) -> None:
    (problem,) = problems(text)
    assert problem.field == ""
    assert len(str(problem)) < 200
    assert "\n" not in str(problem)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1, 2]", "write one JSON object"),
        ('{"keep": 1, }', "not JSON: line 1"),
        ("null", "at end of document"),
        ("keep = " + "9" * 5000, "too many digits"),
        ("[" * 30_000, "nested too deep"),
    ],
)
def test_what_is_wrong_with_such_a_text_is_said(text: str, why: str) -> None:
    (problem,) = problems(text)
    assert why in str(problem)


@pytest.mark.fuzz
@given(
    st.text(max_size=80)
    | st.dictionaries(
        st.sampled_from([field.name for field in FIELDS]) | st.text(max_size=9),
        st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9), st.lists),
    ).map(json.dumps)
)
def test_any_text_is_a_policy_or_refused(text: str) -> None:
    found = outcome(text)
    if isinstance(found, SessionPolicy):
        assert policy_from(found.table()) == found
    else:
        assert found.problems
        assert all(len(line) < 500 for line in str(found).splitlines())


def test_other_keys_can_be_taken_out_first() -> None:
    written = read_written('{"keep": 4608, "predictions": {"overflow_turn": 27.5}}')
    values = dict(written.values)
    assert values.pop("predictions") == {"overflow_turn": Fraction(55, 2)}
    assert policy_from(values) == replace(SessionPolicy(), keep=4608)


def test_the_samples_are_policies() -> None:
    assert len(samples()) == 17
