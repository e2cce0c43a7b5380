"""The families of prefill and decode that are drawn as cases, computed again, and on their worked examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest

from grader.case import CaseAsk
from grader.exercise import Exercise
from grader.menu import Draw, Menu
from grader.reckoned import gpu_of
from problems import batch_under_latency, batching_gain, bound_label, latency_target, prefill_possible, ridge_prompt
from tests.problems import plain
from tests.problems.plain.phases import last, reads, traffic, work
from tests.problems.seeds import exercises
from tests.problems.test_misconceptions import agrees

pytestmark = pytest.mark.law

Values = Mapping[str, Any]
Key = Callable[[Values], Any]
GPUS = batch_under_latency.MENU.gpus
SLUGS = ("batch-under-latency", "batching-gain", "bound-label", "latency-target", "prefill-possible", "ridge-prompt")


def values(exercise: Exercise) -> dict[str, Any]:
    every = (*exercise.givens, *(given for part in exercise.parts for given in part.givens))
    return {given.name: Fraction(given.value) * plain.factor(given.unit) for given in every}


def first_bound_by_compute(v: Values) -> int:
    def memory(n: int) -> bool:
        return bool(work(v, n) / (v["compute"] * v["mfu"]) < traffic(v, n) / (v["bandwidth"] * v["mbu"]))

    return (last(memory) or 0) + 1


def balance(v: Values) -> Any:
    n = v["prompt"]
    return work(v, n) / traffic(v, n) * v["mbu"] / v["mfu"]


def decode_work(v: Values) -> Any:
    return v["batch"] * (2 * v["parameters"] + 4 * v["layers"] * v["heads"] * v["head_dim"] * v["context"])


def intensity(v: Values) -> Any:
    if "batch" in v:
        return decode_work(v) / reads(v, v["batch"])
    return work(v, v["prompt"]) / traffic(v, v["prompt"])


def need(v: Values) -> Any:
    return 2 * v["parameters"] * v["prefill_rate"] / v["compute"]


def fast_enough(v: Values) -> bool:
    return bool(v["output"] / v["decode_rate"] <= v["latency_target"])


def total(v: Values, **instead: int) -> Any:
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    return v["ttft"] + (v["output"] - 1) * reads(v, v["batch"]) / v["bandwidth"]


def by_time(v: Values) -> int:
    return last(lambda batch: total(v, batch=batch) <= v["latency_target"]) or 0


def by_memory(v: Values) -> int:
    return int(v["kv_budget"] // (v["context"] * v["kv_bytes_per_token"]))


def gain(v: Values, **instead: int) -> Any:
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    return v["batch"] * reads(v, 1) / reads(v, v["batch"])


def smallest(v: Values) -> int | None:
    cache, weights = v["context"] * v["kv_bytes_per_token"], v["weights"]
    if v["batching_gain"] >= 1 + weights / cache:
        return None
    return (last(lambda batch: gain(v, batch=batch) < v["batching_gain"]) or 0) + 1


def heaviest_cache(v: Values) -> Any:
    """What r must be for the wanted gain: g (1 + B r) = B (1 + r)."""
    return (v["batch"] - v["batching_gain"]) / (v["batch"] * (v["batching_gain"] - 1))


KEYS: dict[tuple[str, str], Key] = {
    ("prefill-possible", "required_mfu"): need,
    ("prefill-possible", "verdict"): lambda v: (
        "impossible" if need(v) > 1 else "doubtful" if need(v) > Fraction(6, 10) else "usual"
    ),
    ("prefill-possible", "prefill_rate"): lambda v: v["compute"] * v["mfu"] / (2 * v["parameters"]),
    ("prefill-possible", "parameters"): lambda v: v["compute"] * v["mfu"] / (2 * v["prefill_rate"]),
    ("bound-label", "ridge"): lambda v: v["compute"] / v["bandwidth"],
    ("bound-label", "intensity"): intensity,
    ("bound-label", "bound"): lambda v: "compute" if intensity(v) > v["compute"] / v["bandwidth"] else "memory",
    ("bound-label", "arithmetic_time"): lambda v: (
        (decode_work(v) if "batch" in v else work(v, v["prompt"])) / v["compute"]
    ),
    ("bound-label", "traffic_time"): lambda v: (
        (reads(v, v["batch"]) if "batch" in v else traffic(v, v["prompt"])) / v["bandwidth"]
    ),
    ("ridge-prompt", "prompt"): first_bound_by_compute,
    ("ridge-prompt", "bandwidth"): lambda v: v["compute"] / balance(v),
    ("ridge-prompt", "compute"): lambda v: v["bandwidth"] * balance(v),
    ("batch-under-latency", "batch"): lambda v: min(by_time(v), by_memory(v)) or None,
    ("batch-under-latency", "limit"): lambda v: "memory" if by_memory(v) < by_time(v) else "time",
    ("batch-under-latency", "latency_target"): total,
    ("batch-under-latency", "output"): lambda v: last(lambda output: total(v, output=output) <= v["latency_target"]),
    ("batch-under-latency", "bandwidth"): lambda v: (
        (v["output"] - 1) * reads(v, v["batch"]) / (v["latency_target"] - v["ttft"])
    ),
    ("batch-under-latency", "context"): lambda v: last(
        lambda context: total(v, context=context) <= v["latency_target"]
    ),
    ("latency-target", "batch"): lambda v: v["slots"] if fast_enough(v) else None,
    ("latency-target", "verdict"): lambda v: "met" if fast_enough(v) else "missed",
    ("latency-target", "decode_rate"): lambda v: v["output"] / v["latency_target"],
    ("latency-target", "output"): lambda v: int(v["latency_target"] * v["decode_rate"] // 1),
    ("batching-gain", "batching_gain"): gain,
    ("batching-gain", "latency_factor"): lambda v: v["batch"] / gain(v),
    ("batching-gain", "batching_limit"): lambda v: 1 + v["weights"] / (v["context"] * v["kv_bytes_per_token"]),
    ("batching-gain", "context"): lambda v: (
        int(heaviest_cache(v) * v["weights"] // v["kv_bytes_per_token"]) or None if heaviest_cache(v) > 0 else None
    ),
    ("batching-gain", "batch"): smallest,
    ("batching-gain", "weights"): lambda v: (
        v["context"] * v["kv_bytes_per_token"] / heaviest_cache(v) if heaviest_cache(v) > 0 else None
    ),
}


@pytest.mark.differential
@pytest.mark.parametrize("slug", SLUGS)
def test_the_key_is_what_plain_arithmetic_gives(slug: str) -> None:
    for exercise in exercises(slug):
        v = values(exercise)
        for part in exercise.parts:
            found = KEYS[slug, part.asks](v)
            if part.key is None or part.kind == "choice":
                assert found == part.key, exercise.id
            else:
                assert found == Fraction(part.key) * plain.factor(part.unit), exercise.id


@pytest.mark.parametrize("slug", SLUGS)
def test_every_label_is_drawn_often(slug: str) -> None:
    choices = [part for exercise in exercises(slug) for part in exercise.parts if part.kind == "choice" and part.key]
    for label in {label for part in choices for label in part.options}:
        assert sum(part.key == label for part in choices) >= len(choices) / (4 * len(choices[0].options)), label


def test_no_phase_is_drawn_at_the_ridge() -> None:
    for exercise in exercises("bound-label"):
        v = values(exercise)
        if "prompt" in v or "batch" in v:
            assert abs(intensity(v) * v["bandwidth"] / v["compute"] - 1) > Fraction(1, 20), exercise.id


@pytest.mark.parametrize("slug", SLUGS)
def test_every_gpu_holds_what_runs_on_it(slug: str) -> None:
    for exercise in exercises(slug):
        v = values(exercise)
        small = "A10 " in exercise.statement or "L4 " in exercise.statement
        if small and slug != "prefill-possible":
            assert v["weights"] + v.get("kv_budget", 0) <= 24 * 10**9, exercise.id


def test_every_gpu_holds_the_batch_that_runs_on_it() -> None:
    memory = {gpu_of(draw): draw.values["gpu_memory"] for draw in [Menu(gpu=(name,)).at(0) for name in GPUS]}
    for exercise in exercises("batch-under-latency"):
        v, part = values(exercise), exercise.parts[0]
        if part.asks in {"output", "latency_target"}:
            name = part.question.removeprefix("An ").partition(" reads ")[0]
            assert v["weights"] + v["batch"] * v["context"] * v["kv_bytes_per_token"] <= memory[name], exercise.id
            assert v["context"] >= (v["output"] if "output" in v else Fraction(part.key or 0)), exercise.id


A_7B: dict[str, Any] = {
    "parameters": (6_704_594_944,),
    "layers": (32,),
    "heads": (32,),
    "head_dim": (128,),
    "kv_bytes_per_token": (524_288,),
    "mfu": (1,),
    "mbu": (1,),
}
A100: dict[str, Any] = {"compute": ("312 TFLOP/s",), "bandwidth": ("2.039 TB/s",)}
WEIGHTS_OF_A_7B = ("13.409189888 GB",)


def point(**choices: Any) -> Draw:
    return Menu(**choices).at(0)


DECODE_STEP = point(**{**A_7B, **A100}, weights=WEIGHTS_OF_A_7B, batch=(64,), context=(1000,))
EXERCISE_3: dict[str, Any] = {"output": (100,), "decode_rate": (50,), "latency_target": ("500 ms",), "slots": (32,)}
EXAMPLES: list[tuple[CaseAsk[Draw], Draw, str | None, dict[str, str]]] = [
    (
        # The chapter's third exercise as it is printed.
        latency_target.batch,
        point(**EXERCISE_3),
        None,
        {
            "tokens-in-time": "25",
            "seconds-per-request": "2",
            "product-over-target": "10",
            "times-the-target": "1",
            "tokens-over-milliseconds": "0.2",
            "rate-times-tokens": "5000",
            "slots-anyway": "32",
        },
    ),
    (
        latency_target.rate,
        point(**EXERCISE_3),
        "200",
        {"latency-target-in-s": "0.2", "rate-of-all": "6400", "ratio-inverted": "0.005", "product": "50"},
    ),
    (latency_target.tokens, point(**EXERCISE_3), "25", {"rate-shared-by-slots": "0", "tokens-of-all": "800"}),
    (
        # A 7B said to be prefilled at 50,000 tokens/s on an A100.
        prefill_possible.share,
        point(parameters=(7 * 10**9,), weights=("14 GB",), prefill_rate=(50_000,), **A100),
        "2.244",
        {
            "one-operation": "1.122",
            "sparse-peak": "1.122",
            "training": "6.731",
            "weights-per-token": "343.3",
            "peak-of-an-h100": "0.708",
        },
    ),
    (
        # The chapter's 7B, whose weights take two bytes per parameter, with 100 tokens of prompt.
        bound_label.family.ways[0][1],
        point(**{**A_7B, **A100}, weights=WEIGHTS_OF_A_7B, prompt=(100,)),
        "99.8",
        {
            "share-of-the-ridge": "0.652",
            "operations-per-element": "199.6",
            "two-per-token": "200",
            "intensity-of-decode": "1",
            "ridge-itself": "153.0",
            "ridge-inverted": "0.00654",
        },
    ),
    (
        # A decode step of 64 of them with 1,000 tokens each: 2.9 ms of arithmetic, 23 ms of memory traffic.
        bound_label.decode_times[0],
        DECODE_STEP,
        "2.8581",
        {"other-side": "23.033", "one-operation": "1.4291", "training": "8.5744", "one-sequence": "0.0447"},
    ),
    (
        bound_label.decode_times[1],
        DECODE_STEP,
        "23.033",
        {"other-side": "2.8581", "one-byte": "11.516", "weights-per-sequence": "437.343", "cache-only": "16.456"},
    ),
    (
        bound_label.ridges,
        point(**A100),
        "153.016",
        {"ratio-inverted": "0.00654", "sparse-peak": "306.03", "smaller-part-of-the-gpu": "200.6"},
    ),
    (
        # With the cache that is written and causal attention the prompts at the ridge are longer than it.
        ridge_prompt.length,
        point(**{**A_7B, **A100}, weights=WEIGHTS_OF_A_7B),
        "154",
        {
            "rounded-down": "153",
            "bytes-for-tokens": "306.03",
            "smaller-part-of-the-gpu": "202",
            "sparse-peak": "308",
            "ratio-inverted": "0.00654",
        },
    ),
    (
        # Exercise 3 with a target that can be met, and caches that do not bind.
        batch_under_latency.size,
        point(
            weights=("14 GB",),
            kv_bytes_per_token=(524_288,),
            bandwidth=("2.039 TB/s",),
            kv_budget=("54 GB",),
            ttft=("100 ms",),
            output=(20,),
            latency_target=("600 ms",),
            context=(2048,),
        ),
        "36",
        {
            "ttft-forgotten": "46",
            "first-token-decoded": "34",
            "tokens-in-time": "4",
            "ttft-per-token": "0",
            "weights-per-sequence": "3",
            "memory-alone": "50",
        },
    ),
    (
        batching_gain.gains,
        point(weights=WEIGHTS_OF_A_7B, kv_bytes_per_token=(524_288,), batch=(8,), context=(3072,)),
        "4.57",
        {
            "cache-shared": "8",
            "root-of-the-batch": "2.83",
            "quarter-of-the-cache": "6.64",
            "weights-per-sequence": "1",
            "latency-for-gain": "1.75",
        },
    ),
]


@pytest.mark.parametrize(
    ("ask", "case", "key", "slips"), EXAMPLES, ids=[f"{row[0].asks}-{n}" for n, row in enumerate(EXAMPLES)]
)
def test_every_misconception_leads_where_it_was_measured(
    ask: CaseAsk[Draw], case: Draw, key: str | None, slips: dict[str, str]
) -> None:
    def said(found: Any) -> str | None:
        return None if found is None else str(Fraction(found))

    found_key = said(ask.key(case))
    assert found_key is None if key is None else agrees(found_key, key)
    found = {slip.slug: said(slip.value(case)) for slip in ask.slips}
    assert {name: found.get(name) for name, value in slips.items() if not agrees(found.get(name), value)} == {}
