"""Padding of static batches: I41 to I43 as laws, and the tempting ones that are false with their smallest case."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import batching
from spec.serving.padding import padded_tokens, padding_waste

pytestmark = pytest.mark.law

BATCHES = st.lists(st.integers(1, 5000), min_size=1, max_size=64)


def in_batches(lengths: list[int], size: int) -> int:
    return sum(padded_tokens(lengths[start : start + size]) for start in range(0, len(lengths), size))


@given(BATCHES, st.integers(1, 100))
def test_waste_is_a_share_that_only_equal_lengths_avoid(lengths: list[int], scale: int) -> None:
    waste = padding_waste(lengths)
    assert 0 <= waste <= 1 - Fraction(1, len(lengths))
    assert waste < 1 - Fraction(1, len(lengths)) or len(lengths) == 1
    assert (waste == 0) == (len(set(lengths)) == 1)
    assert padding_waste([scale * length for length in lengths]) == waste
    assert padded_tokens(lengths) * (1 - waste) == sum(lengths)


@given(BATCHES, BATCHES)
def test_merging_two_batches_never_saves_padding(a: list[int], b: list[int]) -> None:
    assert padded_tokens(a + b) >= padded_tokens(a) + padded_tokens(b)


@given(st.lists(st.integers(1, 100), min_size=1, max_size=40), st.integers(1, 8))
def test_doubling_the_batch_never_wastes_less(lengths: list[int], size: int) -> None:
    assert in_batches(lengths, 2 * size) >= in_batches(lengths, size)


def test_a_larger_batch_can_waste_less() -> None:
    """(1, 1, 1, 2): in twos the last pair is padded, in threes nothing is."""
    assert (in_batches([1, 1, 1, 2], 2), in_batches([1, 1, 1, 2], 3)) == (6, 5)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 4))
def test_the_longest_first_need_the_fewest_steps(lengths: list[int], size: int) -> None:
    def steps(order: tuple[int, ...]) -> int:
        return sum(max(order[start : start + size]) for start in range(0, len(order), size))

    longest_first = tuple(sorted(lengths, reverse=True))
    assert steps(longest_first) == min(steps(order) for order in permutations(lengths))


@pytest.mark.differential
@given(BATCHES)
def test_waste_is_what_the_law_says_of_the_mean_and_the_longest(lengths: list[int]) -> None:
    mean = Fraction(sum(lengths), len(lengths))
    assert padding_waste(lengths) == batching.padding_waste(mean_length=mean, longest_length=max(lengths))


def test_eight_lengths_of_the_chapter_waste_half() -> None:
    assert padding_waste([128, 256, 512, 1024, 384, 768, 640, 384]) == Fraction(1, 2)
    assert padding_waste([512] * 8) == 0


@pytest.mark.parametrize("bad", [[], [0], [3, -1]])
def test_an_empty_batch_or_sequence_is_refused(bad: list[int]) -> None:
    with pytest.raises(ValueError, match="at least one"):
        padding_waste(bad)
