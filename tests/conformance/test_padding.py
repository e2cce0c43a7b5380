"""The padding of a list of lengths is held against its definition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from spec.conformance.suite import check
from spec.serving.padding import padding_waste

pytestmark = pytest.mark.meta


def found(function: Any) -> Any:
    return check(SimpleNamespace(padding_waste=function))


@pytest.mark.parametrize(
    "function",
    [
        lambda lengths: padding_waste(lengths),  # noqa: PLW0108  it takes the list by keyword
        lambda lengths: 1 - sum(lengths) / len(lengths) / max(lengths),
    ],
    ids=["exact", "floats"],
)
def test_the_definition_is_obeyed_exactly_or_in_floats(function: Any) -> None:
    assert found(function).obeyed == ["padding-of-lengths"]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda lengths: len(lengths) * max(lengths) / sum(lengths) - 1, "padding over the useful tokens"),
        (lambda lengths: sum(lengths) / len(lengths) / max(lengths), "the share that is useful"),
        (lambda lengths: len(lengths) * max(lengths) - sum(lengths), "the number of padded tokens"),
        (lambda lengths: 100 - 100 * sum(lengths) / len(lengths) / max(lengths), "percent for a share"),
        (lambda lengths: 1 / sum(lengths), None),
    ],
    ids=["over-useful", "useful", "tokens", "percent", "no-share"],
)
def test_a_wrong_share_is_told_by_a_short_batch(function: Any, words: str | None) -> None:
    (failure,) = found(function).failures
    assert failure.told.startswith("padding_waste(lengths=[1")
    assert failure.told.count(",") <= 2
    assert [like.sentence.startswith(words) for like in failure.likely] == [True] if words else not failure.likely


def test_an_answer_of_no_use_is_told_once() -> None:
    (useless,) = found(lambda lengths: "50 %").useless  # noqa: ARG005
    assert useless.fault.words == "returned the text '50 %' instead of a number"


def test_the_function_of_the_law_is_another_one() -> None:
    one = found(lambda total_length, sequences, longest: total_length)  # noqa: ARG005
    assert "padding-of-lengths" in one.missing
