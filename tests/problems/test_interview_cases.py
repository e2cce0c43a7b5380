"""The interview questions, computed again from what is printed, and on the numbers of the chapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest

from grader.case import CaseAsk
from grader.exercise import Exercise
from grader.families import family
from grader.menu import Draw, Menu
from problems import interview_1, interview_2, interview_3, interview_6, interview_8
from tests.problems import plain
from tests.problems.seeds import exercises
from tests.problems.test_misconceptions import agrees

pytestmark = pytest.mark.law

Values = Mapping[str, Any]
Key = Callable[[Values], Any]
GB = 10**9
SLUGS = tuple(f"interview-{number}" for number in (1, 2, 3, 6, 8))


def values(exercise: Exercise) -> dict[str, Any]:
    every = (*exercise.givens, *(given for part in exercise.parts for given in part.givens))
    return {given.name: Fraction(given.value) * plain.factor(given.unit) for given in every}


# Each key from the printed numbers, without the specification


def budget(v: Values) -> Any:
    return v["gpu_memory"] - v["weights"] - v["activations"] - v["safety_margin"]


def fitting(v: Values, times: int = 1) -> int:
    return int(budget(v) // (times * v["context"] * v["kv_bytes_per_token"]))


def parity(v: Values) -> str:
    return "less-than-half" if fitting(v) % 2 else "exactly-half"


def reads(v: Values, batch: int, context: Any) -> Any:
    return v["weights"] + batch * context * v["kv_bytes_per_token"]


def alike(v: Values) -> int | None:
    def holds(batch: int) -> bool:
        return bool(reads(v, batch, v["short"]) >= (1 - v["slower"]) * reads(v, batch, v["long"]))

    return next(batch for batch in range(10**3) if not holds(batch + 1)) or None


def work(v: Values, n: Any) -> Any:
    return 2 * v["parameters"] * n + 2 * v["layers"] * v["heads"] * v["head_dim"] * n**2


def first_token(v: Values, n: Any) -> Any:
    arithmetic = work(v, n) / (v["compute"] * v["mfu"])
    return v["wait"] + max(arithmetic, (v["weights"] + n * v["kv_bytes_per_token"]) / (v["bandwidth"] * v["mbu"]))


def grown(of: Callable[[Values, Any], Any]) -> Key:
    return lambda v: of(v, v["times"] * v["prompt"]) / of(v, v["prompt"])


def dearer(mark: str) -> Key:
    def key(v: Values) -> Any:
        each = []
        for model in ("1", "2"):
            size = v["context"] * v[f"kv_bytes_per_token_{model}"]
            weights = v[f"weights_{model}"]
            batch = (v[f"gpu_memory_{mark}"] - weights - v["activations"] - v["safety_margin"]) // size
            if batch < 1:
                return None
            each.append((weights + batch * size) / batch)
        return each[1] / each[0]

    return key


KEYS: dict[tuple[str, str], Key] = {
    ("interview-1", "scores_factor"): grown(lambda _, n: n**2),
    ("interview-1", "cache_factor"): grown(lambda _, n: n),
    ("interview-1", "prefill_factor"): grown(work),
    ("interview-1", "ttft_factor"): grown(first_token),
    ("interview-2", "concurrency"): lambda v: fitting(v) or None,
    ("interview-2", "missing_memory"): lambda v: v["concurrency"] * v["context"] * v["kv_bytes_per_token"] - budget(v),
    ("interview-3", "decode_rate_short"): lambda v: v["bandwidth"] / reads(v, v["batch"], v["short"]),
    ("interview-3", "decode_rate_long"): lambda v: v["bandwidth"] / reads(v, v["batch"], v["long"]),
    ("interview-3", "batch"): alike,
    ("interview-6", "concurrency"): fitting,
    ("interview-6", "new_concurrency"): lambda v: fitting(v, 2),
    ("interview-6", "parity"): parity,
    ("interview-6", "missing_memory"): lambda v: (
        (fitting(v, 2) + 1) * 2 * v["context"] * v["kv_bytes_per_token"] - budget(v)
    ),
    ("interview-8", "cost_ratio_1"): dearer("1"),
    ("interview-8", "cost_ratio_2"): dearer("2"),
}


def given(exercise: Exercise) -> dict[str, Any]:
    v = values(exercise)
    if exercise.family == "interview-1":
        question = exercise.part("b").question.replace(",", "").split()
        v["times"] = Fraction(question[-2]) / v["prompt"]
    if exercise.family == "interview-8":
        for mark, part in zip("12", exercise.parts, strict=True):
            v[f"gpu_memory_{mark}"] = Fraction(part.givens[0].value) * GB
    return v


@pytest.mark.differential
@pytest.mark.parametrize("slug", SLUGS)
def test_the_key_is_what_plain_arithmetic_gives(slug: str) -> None:
    for exercise in exercises(slug):
        v = given(exercise)
        for part in exercise.parts:
            if part.kind == "choices":
                continue
            found = KEYS[slug, part.asks](v)
            if part.key is None or part.kind == "choice":
                assert found == part.key, exercise.id
            else:
                assert found == Fraction(part.key) * plain.factor(part.unit), exercise.id


@pytest.mark.parametrize("number", range(1, 9))
def test_every_question_brings_a_rubric_of_questions(number: int) -> None:
    rubric = exercises(f"interview-{number}")[0].rubric
    assert len(rubric) >= 3
    assert all(line.startswith("Did you ") and line.endswith("?") for line in rubric)


def test_no_misconception_says_that_nothing_fits_where_nothing_does() -> None:
    for exercise in exercises("interview-2"):
        part = exercise.part("a")
        assert part.key is not None or "0" not in {slip.value for slip in part.slips}, exercise.id


def test_both_parities_are_drawn_often() -> None:
    keys = [exercise.part("c").key for exercise in exercises("interview-6")]
    for label in (interview_6.EXACTLY, interview_6.LESS):
        assert keys.count(label) > len(keys) / 4


# What grows how, measured on the functions of the family


def test_each_thing_grows_as_the_family_says() -> None:
    growth = next(case for case in map(growing, range(50)) if case is not None)
    n, shape = 3000, growth.point.values
    measured: dict[str, Callable[[int], Any]] = {
        "scores": interview_1.scores,
        "stored-scores": lambda n: 2 * interview_1.scores(n),
        "attention-work": growth.scores_work,
        "cache": interview_1.cache(growth),
        "matrix-work": growth.matrices,
        "hidden-states": lambda n: 2 * n * shape["heads"] * shape["head_dim"],
        "prefill-work": growth.work,
        "ttft": growth.prefill,
        "weights": lambda _: shape["weights"],
    }
    assert measured.keys() == interview_1.GROWS.keys() == interview_1.SAYS.keys()
    for label, of in measured.items():
        ratio = Fraction(of(2 * n), of(n))
        law = interview_1.GROWS[label]
        if law == "between":
            assert 2 < ratio < 4, label
        else:
            assert ratio == {"square": 4, "linear": 2, "constant": 1}[law], label


def growing(index: int) -> interview_1.Growth | None:
    case = interview_1.Growth(interview_1.MENU.at(1009 * index), 2, tuple(interview_1.GROWS), interview_1.SQUARE)
    return case if interview_1.keep(case) else None


# The chapter's numbers

A_7B: dict[str, Any] = {"kv_bytes_per_token": (524_288,), "context": (4096,)}
ON_80_GB: dict[str, Any] = {
    "gpu_memory": ("80 GB",),
    "weights": ("14 GB",),
    "activations": ("8 GB",),
    "safety_margin": ("4 GB",),
    **A_7B,
}
ON_16_GB: dict[str, Any] = {
    "gpu_memory": ("16 GB",),
    "weights": ("14 GB",),
    "activations": ("0 GB",),
    "safety_margin": ("0 GB",),
    "concurrency": (4,),
    **A_7B,
}
GROWTH = interview_1.Growth(
    Menu(
        parameters=(6_704_594_944,),
        layers=(32,),
        heads=(32,),
        head_dim=(128,),
        weights=("13.4 GB",),
        kv_bytes_per_token=(524_288,),
        compute=("312 TFLOP/s",),
        bandwidth=("2.039 TB/s",),
        mfu=("0.5",),
        mbu=("0.8",),
        prompt=(4096,),
        wait=("0 ms",),
    ).at(0),
    2,
    tuple(interview_1.GROWS),
    interview_1.SQUARE,
)
SMALL, LARGE = interview_8.Model("7B", 140, 524_288), interview_8.Model("13B", 260, 819_200)
UPGRADE = interview_8.Upgrade(SMALL, LARGE, (("80", 80), ("40", 40)), 8, 4, 4096)
SERVER = interview_3.Server("7B", "A100", 134, 524_288, 2039, 80, 150, 2050, 16, 10)


def point(choices: dict[str, Any]) -> Draw:
    return Menu(**choices).at(0)


EXAMPLES: list[tuple[CaseAsk[Any], Any, str | None, dict[str, str]]] = [
    (interview_1.of_scores, GROWTH, "4", {"linear": "2", "cubed": "8"}),
    (interview_1.of_cache, GROWTH, "2", {"squared": "4", "unchanged": "1"}),
    (
        interview_1.of_work,
        GROWTH,
        "2.148",
        {"all-linear": "2", "all-quadratic": "4", "full-matrix": "2.276", "mean-of-both": "3"},
    ),
    (interview_1.of_ttft, GROWTH, "2.148", {"wait-forgotten": "2.148", "attention-forgotten": "2"}),
    (interview_2.sequences, point(ON_16_GB), None, {"rounded-up": "1", "weights-forgotten": "7", "keys-only": "1"}),
    (
        interview_2.deficit,
        point(ON_16_GB),
        "6.5899",
        {"caches-in-full": "8.5899", "whole-need": "22.5899", "keys-only": "2.29497", "rest-unused": "8.5899"},
    ),
    (
        interview_6.family.ways[0][0],
        point(ON_80_GB),
        "25",
        {"all-in-GiB": "27", "reserves-forgotten": "30", "weights-forgotten": "31", "keys-only": "50"},
    ),
    (
        interview_6.family.ways[0][1],
        point(ON_80_GB),
        "12",
        {"half-rounded-up": "13", "all-in-GiB": "13", "unchanged": "25", "doubled": "50", "quarter": "6"},
    ),
    (interview_3.speed(long=False), SERVER, "139.1", {"whole-batch": "2225.6", "weights-alone": "152.2"}),
    (interview_3.speed(long=True), SERVER, "66.64", {"as-the-short-one": "139.1"}),
    (interview_3.alike, SERVER, "1", {"rounded-up": "2"}),
    (
        interview_8.family.ways[0][0],
        UPGRADE,
        "2.04",
        {
            "parameters-alone": "1.857",
            "caches-alone": "1.5625",
            "weights-squared": "3.449",
            "one-sequence-each": "1.818",
            "upside-down": "0.490",
        },
    ),
    (interview_8.family.ways[0][1], UPGRADE, None, {"parameters-alone": "1.857"}),
]


@pytest.mark.parametrize(
    ("ask", "case", "key", "slips"), EXAMPLES, ids=[f"{row[0].asks}-{n}" for n, row in enumerate(EXAMPLES)]
)
def test_every_misconception_leads_where_it_was_measured(
    ask: CaseAsk[Any], case: Any, key: str | None, slips: dict[str, str]
) -> None:
    def said(found: Any) -> str | None:
        return None if found is None else str(Fraction(found))

    found_key = ask.key(case)
    assert (found_key is None) if key is None else agrees(said(found_key), key)
    found = {slip.slug: said(slip.value(case)) for slip in ask.slips}
    assert {name: found.get(name) for name, value in slips.items() if not agrees(found.get(name), value)} == {}


def test_twice_the_context_leaves_an_odd_sequence_without_a_partner() -> None:
    case = point(ON_80_GB)
    assert interview_6.label(case) == interview_6.LESS
    assert family("interview-6").kinds == ("count", "choice", "quantity")


def test_a_larger_model_that_makes_no_token_has_no_ratio() -> None:
    reason = interview_8.family.ways[0][1].reason
    assert reason is not None
    assert "2 GB are left" in reason(UPGRADE)
