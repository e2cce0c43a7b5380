"""The family about admission: the example of the chapter, and its keys from what is printed, without its functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from grader.exercise import Exercise
from problems import admission
from problems.admission import FORETOLD, MEAN, OUTPUT, PROMPT, WHOLE, Waiting
from tests.problems.seeds import exercises

pytestmark = pytest.mark.law

CHAPTER = Waiting(((30, 20, 10), (25, 15, 5), (20, 20, 5), (5, 5, 2)), 100, 2048, mean=6)


def wrong(ask: Any, case: Waiting) -> dict[str, Any]:
    return {slip.slug: slip.value(case) for slip in ask.slips if slip.applies(case)}


def test_the_requests_of_the_chapter_in_a_budget_of_a_hundred() -> None:
    """F27: (30, 20, 10), (25, 15, 5), (20, 20, 5), (5, 5, 2)."""
    assert admission.ADMITTED.key(CHAPTER) == ("a", "b", "d")
    assert wrong(admission.ADMITTED, CHAPTER) == {
        "prompt-only": tuple("abcd"),
        "output-known": tuple("abc"),
        "output-only": tuple("abcd"),
        "exact-fit-refused": tuple("ab"),
        "stops-at-the-first": tuple("ab"),
        "smallest-first": tuple("bcd"),
    }
    asks = (admission.RESERVED, admission.FOR_ALL, admission.LARGEST)
    assert [ask.key(CHAPTER) for ask in asks] == [100, 140, None]


@pytest.mark.parametrize(
    ("rule", "needed", "safety", "why"),
    [
        (WHOLE, 100, "safe", "all-at-once"),
        (PROMPT, 140, "unsafe", "reserved-fits"),
        (MEAN, 130, "unsafe", "safe-this-time"),
        (FORETOLD, 130, "unsafe", "safe-this-time"),
        (OUTPUT, 140, "unsafe", "reserved-fits"),
    ],
)
def test_only_a_whole_reservation_is_safe_in_the_chapter(rule: str, needed: int, safety: str, why: str) -> None:
    case = replace(CHAPTER, rule=rule)
    assert (admission.NEEDED.key(case), admission.SAFETY.key(case)) == (needed, safety)
    assert list(wrong(admission.SAFETY, case)) == [why]


def test_less_may_happen_to_be_safe() -> None:
    """The mean is more than two of them may generate, and that keeps the third out."""
    case = Waiting(((30, 5, 5), (30, 20, 5), (30, 9, 5)), 100, 2048, MEAN, 15)
    assert (admission.NEEDED.key(case), admission.SAFETY.key(case)) == (85, "safe")
    assert list(wrong(admission.SAFETY, case)) == ["less-reserved"]


def test_what_could_never_fit_is_refused_by_every_rule() -> None:
    for rule in (WHOLE, PROMPT, MEAN, FORETOLD, OUTPUT):
        case = Waiting(((40, 70, 5), (90, 10, 5), (20, 10, 5), (30, 20, 10)), 100, 80, rule, 6)
        assert admission.NEEDED.key(case) == 80, rule
        assert wrong(admission.NEEDED, case)["window-ignored"] == (180 if rule == OUTPUT else 100), rule


def test_what_exceeds_the_budget_is_refused_by_every_rule() -> None:
    for rule in (WHOLE, PROMPT, MEAN, FORETOLD, OUTPUT):
        case = Waiting(((40, 61, 5), (20, 10, 5), (20, 20, 10)), 100, 2048, rule, 6)
        assert admission.NEEDED.key(case) == 70, rule
        assert admission.NEEDED.key(replace(case, budget=101)) == (101 if rule == WHOLE else 171), rule


# What may be needed at any time, gone through state by state


def most_held(running: Sequence[tuple[int, int]]) -> int:
    """Let requests generate in every order, leave after any token and go on to the last: the most ever held."""

    @cache
    def onwards(generated: tuple[int | None, ...]) -> int:
        held = sum(p + n for (p, _), n in zip(running, generated, strict=True) if n is not None)
        for place, (_, most) in enumerate(running):
            before = generated[place]
            if before is None:
                continue
            later = [None] if before == most else [None, before + 1]
            for then in later:
                held = max(held, onwards((*generated[:place], then, *generated[place + 1 :])))
        return held

    return onwards((0,) * len(running))


def test_safe_is_what_no_order_of_tokens_takes_over_the_budget() -> None:
    seen = set()
    shapes = ((2, 3, 2), (4, 2, 1), (3, 5, 1))
    for requests, rule, budget in product(product(shapes, repeat=3), (WHOLE, PROMPT, MEAN, FORETOLD), range(9, 18, 2)):
        case = Waiting(requests, budget, 2048, rule, 4)
        size = {WHOLE: lambda r: r[0] + r[1], PROMPT: lambda r: r[0], MEAN: lambda r: r[0] + 4}
        size[FORETOLD] = lambda r: r[0] + r[2]
        held, running = 0, []
        for request in requests:
            if held + size[rule](request) <= budget:
                held += size[rule](request)
                running.append(request[:2])
        peak = most_held(tuple(running))
        safety = "safe" if peak <= budget else "unsafe"
        assert (admission.NEEDED.key(case), admission.SAFETY.key(case)) == (peak, safety), case
        seen.add((rule == WHOLE, safety))
    assert seen == {(True, "safe"), (False, "safe"), (False, "unsafe")}


# The keys again, from what is printed


def printed(exercise: Exercise) -> tuple[int, int, dict[str, tuple[int, int, int]]]:
    text = exercise.statement.replace(",", "")
    found = re.search(r"budget of (\d+) tokens and the context window of its model is (\d+)", text)
    assert found
    rows = re.findall(r"([a-t]): (\d+)/(\d+)/(\d+)", text)
    assert f"The {len(rows)} requests" in text
    return int(found[1]), int(found[2]), {name: (int(p), int(m), int(o)) for name, p, m, o in rows}


def going_through(sizes: Mapping[str, int], able: Sequence[str], budget: int) -> tuple[list[str], dict[str, int]]:
    """Return who is let in, and what is reserved before each."""
    held, let_in, before = 0, [], {}
    for name, size in sizes.items():
        before[name] = held
        if name in able and held + size <= budget:
            held += size
            let_in.append(name)
    return let_in, before


def reserved_by(question: str, prompt: int, most: int, output: int) -> int:
    text = question.replace(",", "")
    mean = re.search(r"its prompt and (\d+) tokens", text)
    if "reserves as told" in text:
        return prompt + most
    if mean:
        return prompt + int(mean[1])
    if "its prompt and its output" in text:
        return prompt + output
    return prompt if "its prompt alone" in text else most


def test_the_keys_are_those_of_a_running_sum() -> None:
    rules = set()
    for exercise in exercises("admission"):
        budget, window, told = printed(exercise)
        needs = {name: prompt + most for name, (prompt, most, _) in told.items()}
        able = [name for name, need in needs.items() if need <= window and need <= budget]
        let_in, before = going_through(needs, able, budget)
        first, keys, question = exercise.parts[0].asks, [p.key for p in exercise.parts], exercise.parts[0].question
        if first == "admitted":
            assert keys == [",".join(let_in), str(sum(needs[name] for name in let_in))], exercise.id
        elif first == "budget":
            fits = max(needs.values()) <= window
            enough = sum(needs.values())
            assert keys == [str(enough) if fits else None], exercise.id
            assert not fits or len(going_through(needs, list(needs), enough)[0]) == len(needs), exercise.id
            assert not fits or len(going_through(needs, list(needs), enough - 1)[0]) < len(needs), exercise.id
        elif first == "needed":
            sizes = {name: reserved_by(question, *request) for name, request in told.items()}
            running = going_through(sizes, able, budget)[0]
            needed = sum(needs[name] for name in running)
            assert keys == [str(needed), "safe" if needed <= budget else "unsafe"], exercise.id
            rules.add((sizes == needs, keys[1]))
        else:
            asked = re.search(r"would ([a-t]) be let in", question)
            assert asked
            assert asked[1] == next(name for name in told if name not in let_in), exercise.id
            prompt = told[asked[1]][0]
            tried = [m for m in range(1, window) if prompt + m <= window and before[asked[1]] + prompt + m <= budget]
            assert keys == [str(max(tried)) if tried else None], exercise.id
    assert rules == {(True, "safe"), (False, "safe"), (False, "unsafe")}


def test_few_and_many_requests_are_drawn() -> None:
    sizes = {len(printed(exercise)[2]) for exercise in exercises("admission")}
    assert set(range(3, 9)) <= sizes <= set(range(3, 21))
    assert max(sizes) > 15


def test_safe_and_unsafe_are_about_as_frequent() -> None:
    labels = [part.key for exercise in exercises("admission") for part in exercise.parts if part.asks == "safety"]
    assert 0.35 < labels.count("safe") / len(labels) < 0.65
