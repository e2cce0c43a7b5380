"""Judging a ranking by the pairs that it puts in the right order.

The score is Kendall's tau over the pairs that the key tells apart, (right - wrong) / all of them; a pair that the
answer calls equal is neither. (For a key with ties this is Somers' D, and unlike tau-b it is 1 for every answer that
gets all these pairs right.) What the key calls equal may come in any order, and a tau below 0 earns nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from grader.exercise import Part
from grader.judging.judgement import (
    CORRECT,
    FULL,
    INCORRECT,
    PARTIAL,
    ZERO,
    Diagnosis,
    Finding,
    Judgement,
    value_given,
    without_value,
)
from grader.reading.absence import says_no_value
from grader.reading.ranking import Ranking, ranking_of, read_ranking, written
from grader.reading.text import Unreadable


def judge_ranking(part: Part, typed: str) -> Judgement:
    """Judge a ranking.

    Raises:
        Unreadable: it is none, or not one of all the labels.
        ValueError: the record has neither options nor a key.
    """
    options = part.options or tuple(label for level in ranking_of(part.key or "") for label in level)
    if not any(options):
        raise ValueError(f"part {part.part} does not say what is ranked")
    try:
        ranking = read_ranking(typed, options)
    except Unreadable:
        if says_no_value(typed):
            return without_value(part, typed)
        raise
    reading = written(ranking)
    if part.key is None:
        return value_given(part, reading, typed)
    key = ranking_of(part.key)
    score = tau(key, ranking)
    if score == 1:
        return Judgement(CORRECT, FULL, reading, typed=typed)
    slips = tuple(Diagnosis(s.slip, s.sentence) for s in part.slips if s.value and _same(ranking_of(s.value), ranking))
    verdict = PARTIAL if score > 0 else INCORRECT
    return Judgement(verdict, max(score, ZERO), reading, slips, _findings(key, ranking), typed)


def tau(key: Ranking, ranking: Ranking) -> Fraction:
    """Kendall's tau of a ranking over the pairs that the key tells apart, from -1 to 1; 1 where there are none."""
    places = _places(ranking)
    signs = [_sign(places[low] - places[high]) for high, low in _pairs(key)]
    return Fraction(sum(signs), len(signs)) if signs else FULL


def _findings(key: Ranking, ranking: Ranking) -> tuple[Finding, ...]:
    """How many pairs are right, and the one that is wrong and farthest apart in the key."""
    places, ranks = _places(ranking), _places(key)
    pairs = list(_pairs(key))
    wrong = [pair for pair in pairs if places[pair[1]] <= places[pair[0]]]
    worst = max(wrong, key=lambda pair: (places[pair[1]] < places[pair[0]], ranks[pair[1]] - ranks[pair[0]]))
    level = places[worst[0]] == places[worst[1]]
    about = {"first": worst[0], "second": worst[1]}
    right = {"right": str(len(pairs) - len(wrong)), "of": str(len(pairs))}
    return Finding("pairs", right), Finding("pair-level" if level else "pair-reversed", about)


def _same(one: Ranking, other: Ranking) -> bool:
    return [set(level) for level in one] == [set(level) for level in other]


def _pairs(key: Ranking) -> Iterator[tuple[str, str]]:
    """Every pair of labels that the key tells apart, the better one first."""
    for place, level in enumerate(key):
        for below in key[place + 1 :]:
            yield from ((high, low) for high in level for low in below)


def _places(ranking: Ranking) -> dict[str, int]:
    return {label: place for place, level in enumerate(ranking) for label in level}


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
