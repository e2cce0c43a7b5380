"""The families on what changes with another model, width, length or mix: computed again, and on worked examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import count
from math import isclose, sqrt
from typing import Any

import pytest

from grader.exercise import Exercise
from grader.menu import Menu
from grader.served import Model
from problems import (
    context_change,
    cost_ratio,
    deeper_narrower,
    mixed_pool,
    prefill_doubling,
    slots_or_kv,
    utilization_tokens,
    weight_quantization,
)
from spec.memory import kv_bytes_per_token_approx
from spec.parameters import parameters_approx
from tests.problems import plain
from tests.problems.seeds import exercises
from tests.problems.test_misconceptions import agrees

pytestmark = pytest.mark.law

Values = Mapping[str, Any]
SLUGS = (
    "context-change",
    "cost-ratio",
    "deeper-narrower",
    "mixed-pool",
    "prefill-doubling",
    "slots-or-kv",
    "utilization-tokens",
    "weight-quantization",
)
WIDTHS = (8, 6, 5, 4, 3)


def values(exercise: Exercise) -> dict[str, Any]:
    every = (*exercise.givens, *(given for part in exercise.parts for given in part.givens))
    return {given.name: Fraction(given.value) * plain.factor(given.unit) for given in every} | {
        "question": exercise.parts[0].question
    }


def whole(number: Any) -> int | None:
    """Rounded down; nothing where there is not even one."""
    return int(number) if number >= 1 else None


def left(v: Values) -> Any:
    return v["kv_budget"] + v["weights"] - v["new_weights"]


def longest(v: Values) -> int | None:
    return whole(left(v) / (v["concurrency"] * v["new_kv_bytes_per_token"]))


def shorter(v: Values) -> str | None:
    found = longest(v)
    if found is None:
        return None
    return "both" if found == v["window"] else "memory" if found < v["window"] else "window"


def positive(number: Any) -> Any:
    return number if number > 0 else None


def cost(v: Values, memory: Any, context: Any, *, new: bool) -> Any:
    """Seconds of reading per token of a full batch, at a byte a second; none where not even one sequence fits."""
    size, each = (v["new_weights"], v["new_kv_bytes_per_token"]) if new else (v["weights"], v["kv_bytes_per_token"])
    batch = int((memory - size - v["activations"] - v["safety_margin"]) // (context * each))
    return size / batch + context * each if batch > 0 else None


def cost_of_both(v: Values, memory: Any, context: Any) -> Any:
    second, first = (cost(v, memory, context, new=new) for new in (True, False))
    return None if second is None else second / first


def cheap(v: Values, memory: Any, context: Any) -> bool:
    found = cost_of_both(v, memory, context)
    return found is not None and found <= v["cost_ratio"]


def smallest_gpu(v: Values) -> str | None:
    offers = re.findall(r"([\w-]+) with (\d+) GB", v["question"])
    return next((name for name, size in offers if cheap(v, int(size) * 10**9, v["context"])), None)


def longest_cheap(v: Values) -> str | None:
    told = re.search(r"may have ([\d,]+(?:, [\d,]+)*) or ([\d,]+) tokens", v["question"])
    assert told
    offers = [int(one.replace(",", "")) for one in (*told[1].split(", "), told[2])]
    assert offers == sorted(offers)
    return next((str(one) for one in reversed(offers) if cheap(v, v["gpu_memory"], one)), None)


def doubled(v: Values, n: Any, matrix: int = 1) -> Any:
    def work(tokens: Any) -> Any:
        scores = v["layers"] * v["heads"] * tokens**2 * matrix / 2
        return 2 * v["parameters"] * tokens + 4 * v["head_dim"] * scores

    return work(2 * n) / work(n)


def first_doubled(v: Values) -> int | None:
    """The first of all lengths, found from a guess: one less is too short."""
    wanted = v["prefill_cost_ratio"]
    if wanted >= 4:
        return None
    guess = int((wanted - 2) / (4 - wanted) * v["parameters"] / (v["layers"] * v["heads"] * v["head_dim"]))
    return next(n for n in count(max(guess - 2, 1)) if doubled(v, n) >= wanted)


def of_pool(v: Values, taken: Any) -> Any:
    return v["kv_budget"] / v["kv_bytes_per_token"] - taken


def shorts(v: Values) -> Any:
    return v["short_sequences"] * v["short_context"]


def beside(v: Values, bits: int) -> Any:
    room = v["gpu_memory"] - v["activations"] - v["safety_margin"] - v["parameters"] * bits / 8
    return room / (v["context"] * v["kv_bytes_per_token"])


def fewest(slots: Any, memory: int) -> str:
    return "both" if slots == memory else "slots" if slots < memory else "memory"


KEYS: dict[tuple[str, str], Callable[[Values], Any]] = {
    ("context-change", "new_context"): longest,
    ("context-change", "limit"): shorter,
    ("context-change", "new_concurrency"): lambda v: whole(left(v) / (v["context"] * v["new_kv_bytes_per_token"])),
    ("context-change", "context_change"): lambda v: positive(
        left(v) * v["kv_bytes_per_token"] / (v["kv_budget"] * v["new_kv_bytes_per_token"])
    ),
    ("context-change", "new_kv_bytes_per_token"): lambda v: positive(left(v) / (v["concurrency"] * v["context"])),
    ("cost-ratio", "cost_ratio"): lambda v: cost_of_both(v, v["gpu_memory"], v["context"]),
    ("cost-ratio", "gpu"): smallest_gpu,
    ("cost-ratio", "context"): longest_cheap,
    ("deeper-narrower", "kv_ratio"): lambda v: sqrt(v["new_layers"] / v["layers"]),
    ("deeper-narrower", "grouped_kv_ratio"): lambda v: v["new_layers"] / v["layers"],
    ("deeper-narrower", "new_hidden"): lambda v: v["hidden"] * sqrt(v["layers"] / v["new_layers"]),
    ("deeper-narrower", "new_layers"): lambda v: next(
        n - 1 for n in count(int(v["layers"])) if Fraction(n) / v["layers"] > v["kv_ratio"] ** 2
    ),
    ("mixed-pool", "displaced"): lambda v: v["long_context"] / v["short_context"],
    ("mixed-pool", "short_sequences"): lambda v: whole(
        of_pool(v, v["long_sequences"] * v["long_context"]) / v["short_context"]
    ),
    ("mixed-pool", "long_sequences"): lambda v: whole(of_pool(v, shorts(v)) / v["long_context"]),
    ("mixed-pool", "long_context"): lambda v: whole(of_pool(v, shorts(v)) / v["long_sequences"]),
    ("prefill-doubling", "prefill_cost_ratio"): lambda v: doubled(v, v["prompt"]),
    ("prefill-doubling", "prefill_cost_ratio_of_full_matrices"): lambda v: doubled(v, v["prompt"], 2),
    ("prefill-doubling", "prompt"): first_doubled,
    ("slots-or-kv", "limit"): lambda v: fewest(
        v["slots"], int(v["kv_budget"] // (v["context"] * v["kv_bytes_per_token"]))
    ),
    ("slots-or-kv", "slot_limit_context"): lambda v: whole(v["kv_budget"] / (v["slots"] * v["kv_bytes_per_token"])),
    ("slots-or-kv", "token_capacity"): lambda v: v["slots"] * v["context"],
    ("slots-or-kv", "kv_budget"): lambda v: v["slots"] * v["context"] * v["kv_bytes_per_token"],
    ("slots-or-kv", "slots"): lambda v: whole(v["kv_budget"] / (v["context"] * v["kv_bytes_per_token"])),
    ("utilization-tokens", "token_capacity"): lambda v: whole(
        (v["memory_utilization"] * v["gpu_memory"] - v["weights"]) / v["kv_bytes_per_token"]
    ),
    ("utilization-tokens", "memory_utilization"): lambda v: (
        used
        if (used := (v["weights"] + v["token_capacity"] * v["kv_bytes_per_token"]) / v["gpu_memory"]) <= 1
        else None
    ),
    ("utilization-tokens", "weights"): lambda v: positive(
        v["memory_utilization"] * v["gpu_memory"] - v["token_capacity"] * v["kv_bytes_per_token"]
    ),
    ("weight-quantization", "concurrency"): lambda v: whole(beside(v, v["weight_bits"])),
    ("weight-quantization", "gain"): lambda v: (
        Fraction(whole(beside(v, v["weight_bits"])) or 0, whole(beside(v, 16)) or 1)
        if whole(beside(v, 16)) and whole(beside(v, v["weight_bits"]))
        else None
    ),
    ("weight-quantization", "weight_bits"): lambda v: next(
        (str(bits) for bits in WIDTHS if beside(v, bits) >= v["concurrency"]), None
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
                assert found == part.key, (exercise.id, part.asks)
            elif isinstance(found, float):
                assert isclose(found, Fraction(part.key), rel_tol=1e-8), (exercise.id, part.asks)
            else:
                assert found == Fraction(part.key) * plain.factor(part.unit), (exercise.id, part.asks)


@pytest.mark.parametrize("slug", SLUGS)
def test_no_label_is_right_most_of_the_time(slug: str) -> None:
    choices = [part for exercise in exercises(slug) for part in exercise.parts if part.kind == "choice" and part.key]
    for asks in {part.asks for part in choices}:
        keys = [part.key for part in choices if part.asks == asks]
        assert max(keys.count(key) for key in set(keys)) <= 0.7 * len(keys), asks


@pytest.mark.parametrize("times", [2, 3, 4])
def test_four_times_the_layers_at_half_the_width_cache_twice_as_much(times: int) -> None:
    wide, deep = {"layers": 8, "hidden": 3072}, {"layers": 8 * times**2, "hidden": 3072 // times}
    first, second = (parameters_approx(**shape, vocab=1) - 2 * shape["hidden"] for shape in (wide, deep))
    assert first == second
    caches = [kv_bytes_per_token_approx(**shape, kv_width=2) for shape in (wide, deep)]
    assert Fraction(caches[1], caches[0]) == times == deeper_narrower.root(Fraction(times**2))


def test_the_model_and_the_gpu_of_the_chapter_are_narrowed_too() -> None:
    assert weight_quantization.worth_asking(NARROWING)
    assert not weight_quantization.worth_asking(replace(NARROWING, parameters=6 * 10**9))


A_7B = ("14 GB",)
CACHE = 524_288
SEVEN = Model("7b", 140, CACHE)
THIRTEEN = Model("13b", 260, 819_200)
GPUS = (("a100-40gb", 40), ("a100-80gb", 80))
CHANGE = cost_ratio.Change(SEVEN, THIRTEEN, GPUS, 1, 8, 4, 4096, (1000, 4096), Fraction(2))
SMALL = cost_ratio.Change(SEVEN, THIRTEEN, GPUS, 0, 8, 4, 4096, (1000, 4096), Fraction(2))
SWAP = context_change.Swap(
    Model("mistral", 140, 131_072, 32_768),
    Model("llama", 140, CACHE, 4096),
    "a100-80gb",
    80,
    Fraction(54),
    25,
    4096,
)
HEAVY = context_change.Swap(SWAP.old, Model("70b", 1380, 327_680, 4096), "a100-80gb", 80, Fraction(54), 25, 4096)
NARROWING = weight_quantization.Narrowing("7b", 7 * 10**9, CACHE, "a100-80gb", 80, 8, 4, 4096, 4, 28)
ON_A_SMALL_GPU = weight_quantization.Narrowing("70b", 70 * 10**9, CACHE, "l4", 24, 2, 1, 4096, 3, 28)
POOL = mixed_pool.Pool("7b", CACHE, 54, 2048, 32_768, 2, 20)
FULL_POOL = mixed_pool.Pool("7b", CACHE, 54, 2048, 32_768, 4, 51)
SERVER = slots_or_kv.Server("7b", CACHE, 54, 256, 402)
SHAPES = deeper_narrower.Shapes("7b", 32, 4096, 64, Fraction(3, 2), 8, 128)
CHAPTER_7B: dict[str, Any] = {
    "parameters": (6_704_594_944,),
    "layers": (32,),
    "heads": (32,),
    "head_dim": (128,),
    "prompt": (4096,),
}
FIGURE = Menu(
    gpu_memory=("40 GB",),
    weights=A_7B,
    kv_bytes_per_token=(CACHE,),
    memory_utilization=("40 %",),
    token_capacity=(3814,),
).at(0)

EXAMPLES: list[tuple[Any, Any, str | None, dict[str, str]]] = [
    (
        context_change.longest,
        SWAP,
        "4119",
        {
            "cache-per-token-kept": "16479",
            "ratio-inverted": "65917",
            "values-forgotten": "8239",
            "memory-in-GiB": "4423",
            "sequences-forgotten": "102996",
        },
    ),
    (context_change.longest, HEAVY, None, {"budget-kept": "6591"}),
    (context_change.limit, SWAP, "window", {"limits-exchanged": "memory"}),
    (
        context_change.times,
        SWAP,
        "0.25",
        {"cache-not-inverted": "4", "ratio-inverted": "4", "cache-per-token-kept": "1"},
    ),
    (
        deeper_narrower.ratio,
        SHAPES,
        "1.414",
        {"linear": "2", "unchanged": "1", "inverse-root": "0.707", "inverse": "0.5", "squared": "4"},
    ),
    (deeper_narrower.grouped, SHAPES, "2", {"root": "1.414"}),
    (deeper_narrower.layers, SHAPES, "72", {"linear": "48", "root": "39"}),
    (
        weight_quantization.number,
        NARROWING,
        "30",
        {
            "cache-narrowed-too": "120",
            "in-proportion": "100",
            "bits-as-bytes": "18",
            "unchanged": "25",
            "memory-in-GiB": "32",
        },
    ),
    (weight_quantization.times, NARROWING, "1.2", {"factor-of-the-weights": "4"}),
    (weight_quantization.bits, NARROWING, "8", {"narrowest": "3"}),
    (weight_quantization.number, ON_A_SMALL_GPU, None, {}),
    (
        cost_ratio.ratio,
        CHANGE,
        "2.040",
        {
            "ratio-of-the-weights": "1.857",
            "ratio-of-the-caches": "1.5625",
            "squared": "3.449",
            "ratio-of-the-batches": "2.083",
            "batch-of-one": "1.818",
        },
    ),
    (cost_ratio.ratio, SMALL, None, {}),
    (
        prefill_doubling.causal,
        Menu(**CHAPTER_7B).at(0),
        "2.148",
        {"quadruples": "4", "doubles": "2", "full-matrix": "2.276", "n-log-n": "2.167", "triples": "3"},
    ),
    (
        # No power of two: log2 of 3,000 is 11.5507.
        prefill_doubling.causal,
        Menu(**{**CHAPTER_7B, "prompt": (3000,)}).at(0),
        "2.111",
        {"full-matrix": "2.210", "n-log-n": "2.173"},
    ),
    (prefill_doubling.whole, Menu(**CHAPTER_7B).at(0), "2.276", {"causal-count": "2.148"}),
    (prefill_doubling.length, Menu(**CHAPTER_7B, prefill_cost_ratio=("3",)).at(0), "51152", {"full-matrix": "25576"}),
    (prefill_doubling.length, Menu(**CHAPTER_7B, prefill_cost_ratio=("4",)).at(0), None, {}),
    (
        slots_or_kv.crossing,
        SERVER,
        "402",
        {
            "ratio-inverted": "0.0025",
            "rounded-up": "403",
            "conventions-mixed": "421",
            "bytes-for-tokens": "210937500",
        },
    ),
    (slots_or_kv.limit, SERVER, "both", {"context-forgotten": "slots"}),
    (
        mixed_pool.count,
        POOL,
        "18",
        {
            "slots-for-memory": "48",
            "halves": "25",
            "budget-in-GiB": "22",
            "one-long-forgotten": "34",
            "thousand-for-1024": "19",
        },
    ),
    (mixed_pool.displaced, POOL, "16", {"one-slot": "1", "squared": "256"}),
    (mixed_pool.count, FULL_POOL, None, {"longs-forgotten": "50"}),
    (mixed_pool.most, FULL_POOL, None, {}),
    (
        utilization_tokens.tokens,
        FIGURE,
        "3814",
        {
            "weights-forgotten": "30517",
            "share-of-the-rest": "19836",
            "larger-part-of-the-gpu": "34332",
            "free-part": "45776",
            "all-in-GiB": "4096",
        },
    ),
    (utilization_tokens.share, FIGURE, "40.00", {"cache-forgotten": "35", "free-part": "60.00"}),
    (utilization_tokens.weights, FIGURE, "14.000", {"cache-forgotten": "16"}),
]


@pytest.mark.parametrize(
    ("ask", "case", "key", "slips"), EXAMPLES, ids=[f"{row[0].asks}-{n}" for n, row in enumerate(EXAMPLES)]
)
def test_every_misconception_leads_where_it_was_measured(ask: Any, case: Any, key: str | None, slips: Values) -> None:
    def same(found: Any, wanted: str | None) -> bool:
        if found is None or isinstance(found, str):
            return bool(found == wanted)
        return wanted is not None and agrees(str(Fraction(found)), wanted)

    assert same(ask.key(case), key)
    assert (key is None) <= bool(ask.reason)
    found = {slip.slug: slip.value(case) for slip in ask.slips if slip.applies(case)}
    assert {name: found.get(name) for name, value in slips.items() if not same(found.get(name), value)} == {}
