"""The families on where memory goes, beside what every family is held to."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

import pytest

from grader.case import CaseAsk, written
from grader.exercise import Exercise, Part
from grader.judging import INCORRECT, judge
from grader.menu import Menu
from problems import attention_scores as attention
from problems import kv_for_sequences as kv
from problems import memory_shares as shares
from problems import smallest_gpu as gpu
from problems import token_capacity as tokens
from problems import weight_width as width
from tests.problems.examples.memory import SHARES, TARGET
from tests.problems.seeds import exercises
from tests.problems.test_misconceptions import agrees, example

pytestmark = pytest.mark.law

FACTORS = {"GB": 10**9, "GiB": 2**30, "KiB/token": 1024, "%": Fraction(1, 100)}


@pytest.mark.parametrize(
    ("activations", "margin", "end"),
    [("60 %", "40 %", "to be under 1; the two are equal."), ("75 %", "40 %", "to be under 1; that is missed by 0.15.")],
)
def test_shares_that_leave_nothing_are_named(activations: str, margin: str, end: str) -> None:
    given = {**TARGET, "activation_share_of_remaining": (activations,), "safety_share_of_total": (margin,)}
    part = example("needed-memory", "gpu_memory", given).part("a")
    assert part.key is None
    assert part.reason.startswith("This needs the activation reserve as a share of what the weights leave plus")
    assert part.reason.endswith(end)


def test_weights_larger_than_the_gpu_are_named() -> None:
    part = example("needed-memory", "concurrency", {**TARGET, **SHARES, "weights": ("84.5 GB",)}).part("a")
    assert part.reason == "This needs the weights to be at most the memory of one GPU; that is missed by 4.5 GB."


def test_nothing_left_is_an_answer() -> None:
    given = {"gpu_memory": ("80 GB",), "weights": ("68 GB",), "activation_share_of_total": ("10 %",)}
    part = example("memory-shares", "kv_budget", {**given, "safety_share_of_total": ("5 %",)}).part("a")
    assert part.key == "0"


def test_the_model_and_the_gpu_of_the_chapter_are_divided_up_too() -> None:
    kept = [shares.worth_asking(Menu(gpu_memory=("80 GB",), weights=(size,)).at(0)) for size in ("14 GB", "13.3 GB")]
    assert kept == [True, False]


def test_a_reserve_is_asked_for_only_where_both_fit_beside_the_weights() -> None:
    asked = [one for one in exercises("memory-shares") if one.parts[0].asks in {"activations", "safety_margin"}]
    assert any(one.parts[0].key is not None for one in asked)
    for exercise in asked:
        v = {given.name: Fraction(given.value) for given in exercise.givens}
        left = v["gpu_memory"] - v["weights"]
        reserves = sum(
            share / 100 * (v["gpu_memory"] if name.endswith("of_total") else left)
            for name, share in v.items()
            if "share" in name
        )
        assert exercise.parts[0].key is None if left < 0 else reserves <= left


def numbers(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


def given(exercise: Exercise, part: Part) -> dict[str, Fraction]:
    every = (*exercise.givens, *part.givens)
    return {g.name: Fraction(g.value) * FACTORS.get(g.unit, 1) for g in every}


def cache_of_sequences(exercise: Exercise, part: Part) -> Fraction | None:
    v = given(exercise, part)
    each = 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"]
    if part.asks == "blocks":
        lengths, block = numbers(part.question)[:-1], numbers(part.question)[-1]
        taken = 0
        for length in lengths:
            while length > 0:
                length, taken = length - block, taken + 1  # noqa: PLW2901  a block at a time
        return Fraction(taken)
    lengths = [1024 * int(found) for found in re.findall(r"(\d+)K", part.question)]
    if part.asks == "kv_bytes_total":
        return (sum(lengths) or sum(numbers(part.question))) * each
    if part.asks == "kv_bytes_of_equal":
        return v["concurrency"] * lengths[0] * each / 10**9
    if part.asks == "concurrency":
        return Fraction(v["kv_budget"] // (lengths[0] * each)) or None
    left = v["kv_budget"] // each - sum(lengths)
    return Fraction(left) if left > 0 else None


def capacity(exercise: Exercise, part: Part) -> Fraction | None:
    v = given(exercise, part)
    if part.asks == "token_capacity":
        return Fraction(v["kv_budget"] // v["kv_bytes_per_token"])
    if part.asks == "kv_budget":
        return v["token_capacity"] * v["kv_bytes_per_token"] / FACTORS[part.unit]
    return v["kv_budget"] / v["token_capacity"]


def scores(exercise: Exercise, part: Part) -> Fraction | None:
    v = given(exercise, part)
    causal = "causal" in exercise.statement

    def one_head(tokens: int) -> int:
        return sum(range(tokens + 1)) if causal else tokens * tokens

    heads = 1 if "one head" in part.question else v["heads"]
    matrices = heads * (1 if "one layer" in part.question else v["layers"])
    if part.asks == "attention_scores":
        return matrices * one_head(int(v["context"]))
    if part.asks == "context":
        wanted, tokens = v["attention_scores"] / matrices, 0
        step = 1 << 20
        while step:  # the last number of tokens with no more scores
            tokens += step if one_head_closed(tokens + step, causal=causal) <= wanted else 0
            step >>= 1
        assert one_head(tokens) == wanted
        return Fraction(tokens)
    times = numbers(part.question)[1]
    return Fraction(one_head(int(v["context"]) * times), one_head(int(v["context"])))


def one_head_closed(tokens: int, *, causal: bool) -> int:
    return tokens * (tokens + 1) // 2 if causal else tokens**2


NUMBERS = {"kv-for-sequences": cache_of_sequences, "token-capacity": capacity, "attention-scores": scores}


@pytest.mark.differential
@pytest.mark.parametrize("slug", NUMBERS)
def test_keys_are_what_arithmetic_on_the_printed_numbers_gives(slug: str) -> None:
    for exercise in exercises(slug):
        for part in exercise.parts:
            found = NUMBERS[slug](exercise, part)
            assert found == (None if part.key is None else Fraction(part.key)), exercise.id


@pytest.mark.differential
def test_the_widest_weights_are_the_first_that_fit() -> None:
    for exercise in exercises("weight-width"):
        v = given(exercise, exercise.parts[0])
        widths = numbers(exercise.statement.partition("on offer at ")[2])
        assert exercise.parts[0].options == tuple(map(str, widths))
        room = v["gpu_memory"] - v["reserve"]
        fitting = [bits for bits in sorted(widths, reverse=True) if v["parameters"] * bits <= 8 * room]
        assert exercise.parts[0].key == (str(fitting[0]) if fitting else None), exercise.id


@pytest.mark.differential
def test_the_smallest_gpu_is_the_first_that_is_large_enough() -> None:
    for exercise in exercises("smallest-gpu"):
        need, choice = exercise.parts
        v = given(exercise, need)
        cached = v["concurrency"] * v["context"] * v["kv_bytes_per_token"]
        gpus = [(name, int(size)) for name, size in re.findall(r"([\w-]+) \((\d+) GB\)", choice.question)]
        assert Fraction(need.key or 0) == (
            (v["weights"] * (1 - v["activation_share_of_remaining"]) + cached)
            / (1 - v["activation_share_of_remaining"] - v["safety_share_of_total"])
            / 10**9
        )
        enough = [name for name, size in gpus if partition_holds(size * 10**9, v, cached)]
        assert choice.key == (enough[0] if enough else None), exercise.id


def partition_holds(size: int, v: dict[str, Fraction], cached: Fraction) -> bool:
    left = size - v["weights"]
    return left - v["activation_share_of_remaining"] * left - v["safety_share_of_total"] * size >= cached


C = TypeVar("C")


def measured(ask: CaseAsk[C], case: C, key: str, slips: dict[str, str]) -> None:
    """Compare key and slips with decimals, each to the places it is given in."""
    found = {slip.slug: slip.value(case) for slip in ask.slips if slip.applies(case)}
    assert agrees(written(ask.key(case)), key)
    assert {
        name: found.get(name) for name, wanted in slips.items() if not agrees(written(found.get(name)), wanted)
    } == {}


def test_ten_sequences_of_four_k() -> None:
    case = kv.Sequences("llama-2-7b", 32, 32, 128, (1, 2, 4), (17, 40, 75), 10, 4, 30, 60)
    slips = {"values-forgotten": "10.737", "all-for-each": "214.748", "thousand-for-K": "20.972"}
    measured(kv.equal, case, "21.475", {**slips, "answer-in-GiB": "20.000", "longest-only": "2.147"})
    # 17 + 40 + 75 tokens: 2 + 3 + 5 blocks of 16, though 132 tokens would fit 9.
    measured(kv.paged, case, "10", {"rounded-once": "9", "last-block-dropped": "7", "tokens-of-blocks": "160"})
    slips = {"values-forgotten": "34603008", "longest-only": "39321600", "all-as-longest": "117964800"}
    measured(kv.total_of_tokens, case, "69206016", {**slips, "layers-forgotten": "2162688", "whole-blocks": "83886080"})
    # 30 GB hold 57,220 tokens, and 7,168 are taken.
    measured(kv.one_more, case, "50052", {"others-forgotten": "57220", "longest-only": "53124", "rounded-up": "50053"})
    measured(kv.how_many, case, "27", {"thousand-for-K": "28", "all-in-GiB": "30", "values-forgotten": "55"})


def test_54_gb_of_half_a_mib_each() -> None:
    case = tokens.Budget("llama-2-7b", 524_288, in_kib=False, size=54, unit="GB", tokens=100_000)
    slips = {"budget-misread": "110592", "conventions-mixed": "108000", "thousand-for-KiB": "105468"}
    measured(tokens.capacity, case, "102996", {**slips, "both-misread": "113246", "words": "77247"})
    measured(tokens.needed_in("GB"), case, "52.4288", {"answer-in-GiB": "48.828", "conventions-mixed": "50.000"})
    measured(tokens.needed_in("GiB"), case, "48.828", {"answer-in-GB": "52.429", "thousand-for-KiB": "47.684"})
    measured(tokens.largest, case, "540000", {"budget-misread": "579820.6", "answer-in-KiB": "527.34"})


def test_4096_tokens_in_a_layer_of_32_heads() -> None:
    case = attention.Prompt("llama-2-7b", 32, 32, 4096, causal=False, scope=attention.LAYER, times=2)
    slips = {"heads-forgotten": "16777216", "causal-count": "268500992", "linear": "131072"}
    measured(
        attention.count, case, "536870912", {**slips, "pairs-without-self": "268369920", "all-layers": "17179869184"}
    )
    measured(attention.length, case, "4096", {"heads-forgotten": "23170", "causal-count": "5792", "linear": "16777216"})
    measured(attention.growth, case, "4", {"linear": "2", "cubic": "8", "increase": "3"})
    all_of_it = replace(case, layers=80, heads=64, scope=attention.MODEL)
    slips = {"heads-forgotten": "1342177280", "layers-forgotten": "1073741824"}
    measured(attention.count, all_of_it, "85899345920", slips)
    causal = replace(case, causal=True)
    measured(attention.count, causal, "268500992", {"full-matrix": "536870912", "pairs-without-self": "268369920"})
    measured(attention.growth, causal, "3.9995", {"linear": "2"})


def test_13b_in_a_gpu_of_24_gb() -> None:
    # 26 GB at 16 bits, 13 at 8: with 4 GB kept free only the latter fits; with 12 neither does.
    case = width.Offer("L4", 24, 13 * 10**9, 4, (32, 16, 8, 4))
    labels = {slip.slug: slip.value(case) for slip in width.width.slips if slip.applies(case)}
    assert width.key(case) == "8"
    assert (labels["next-wider"], labels["narrowest"]) == ("16", "4")
    assert width.key(replace(case, reserve=12, widths=(16, 8))) is None
    assert "13 GB, and only 12 GB are left" in width.reason(replace(case, reserve=12, widths=(16, 8)))


def test_25_sequences_ask_for_80_gb() -> None:
    gpus = (("L40S", 48), ("A100-SXM4-80GB", 80), ("H200-SXM-141GB", 141))
    case = gpu.Load("llama-2-7b", 140, 524_288, 25, 4096, 12, 5, gpus)
    slips = {"weights-forgotten": "64.68", "both-of-total": "81.55", "answer-in-GiB": "74.06"}
    measured(gpu.memory, case, "79.53", {**slips, "reserves-forgotten": "67.69", "shares-added": "79.19"})
    labels = {slip.slug: slip.value(case) for slip in gpu.choice.slips if slip.applies(case)}
    assert gpu.right(case) == "A100-SXM4-80GB"
    assert (labels["both-of-total"], labels["largest-that-does-not"]) == ("H200-SXM-141GB", "L40S")
    assert gpu.right(replace(case, gpus=gpus[:1])) is None


def test_a_label_that_a_slip_leads_to_is_named_where_none_is_right() -> None:
    named = 0
    for exercise in exercises("smallest-gpu"):
        part = exercise.parts[1]
        for slip in part.slips:
            if part.key is None and slip.value is not None:
                judged = judge(part, slip.value)
                assert judged.verdict == INCORRECT
                assert slip.slip in {diagnosis.slip for diagnosis in judged.diagnoses}
                named += 1
    assert named
