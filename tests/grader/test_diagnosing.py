"""Diagnosing published numbers: right ones are right, known slips are named, and chance is no explanation."""

from __future__ import annotations

import math
import tomllib
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from grader.amounts import of_quantity, rounded
from grader.diagnosing import Diagnosis, Explanation, Published, diagnose, read_published
from grader.diagnosing.derivation import derivations
from grader.diagnosing.fault import Fault
from grader.diagnosing.faults import faults
from grader.diagnosing.published import half_digit
from grader.diagnosing.question import asked, peak, question
from grader.diagnosing.search import MOST_FAULTS, TIES, Search
from grader.diagnosing.synonyms import spelled
from spec import catalog
from spec.quantities import quantities
from spec.solving import Infeasible
from spec.stream import Stream

ROWS = tomllib.loads((Path(__file__).parents[1] / "data" / "published.toml").read_text(encoding="utf-8"))
CATALOG = catalog.Catalog(catalog.models(), catalog.gpus())  # type: ignore[arg-type]
PARTITION = ["gpu_memory=80GB", "weights=16GB", "activations=8GB", "safety_margin=4GB"]
# quantity, what is given, models, GPU, units in which it is printed
QUESTIONS: list[tuple[str, list[str], tuple[str, ...], str, tuple[str, ...]]] = [
    ("kv_bytes_per_token", [], ("llama-3-8b", "llama-2-7b", "deepseek-v3"), "", ("B/token", "KiB/token")),
    ("kv_bytes_per_sequence", ["context=8192"], ("llama-3-8b", "qwen2.5-7b", "gemma-2-9b"), "", ("GB", "GiB", "MB")),
    ("context", ["kv_budget=46GB", "concurrency=20"], ("llama-3-8b", "qwen3-8b"), "", ("token",)),
    ("concurrency", [*PARTITION, "context=4096"], ("llama-3-8b", "llama-2-7b"), "", ("sequence",)),
    ("token_capacity", ["kv_budget=46GB"], ("llama-3-8b", "qwen2.5-7b"), "", ("token",)),
    ("weights", ["weight_bits=16"], ("llama-3-8b", "mixtral-8x7b"), "", ("GB", "GiB", "MB")),
    ("parameters", [], ("llama-3-8b", "llama-3.2-1b", "mixtral-8x7b"), "", ("parameter",)),
    ("kv_budget", PARTITION, ("",), "", ("GB", "GiB")),
    ("decode_rate", ["batch=8", "context=4096"], ("llama-3-8b", "llama-2-7b"), "a100-80gb", ("token/s",)),
    ("throughput", ["batch=8", "context=4096"], ("llama-3-8b",), "h100", ("token/s",)),
    ("ttft", ["prompt=2048"], ("llama-3-8b", "llama-2-7b"), "h100", ("s", "ms")),
    ("compute", [], ("",), "h100", ("TFLOP/s",)),
    ("bandwidth", [], ("",), "h200", ("GB/s", "TB/s")),
    ("ridge", [], ("",), "a100-80gb", ("FLOP/B",)),
    ("cost_per_token", ["gpu_price=2.6", "throughput=140"], ("",), "", ("$/Mtoken",)),
    ("service_time", ["ttft=0.5", "output=200", "decode_rate=25"], ("",), "", ("s",)),
]
CASES = [(quantity, given, model, gpu, units) for quantity, given, models, gpu, units in QUESTIONS for model in models]
NAMES = [f"{quantity}-{model or gpu or 'given'}" for quantity, _, model, gpu, _ in CASES]
every_case = pytest.mark.parametrize(("quantity", "given", "model", "gpu", "units"), CASES, ids=NAMES)


def told(number: str, quantity: str, given: list[str], model: str = "", gpu: str = "") -> Diagnosis:
    """Diagnose as the command does."""
    goal = asked(quantity, number, given)
    put = question(goal, given)
    its_model = CATALOG.model(spelled(model, CATALOG.models)) if model else None
    its_gpu = CATALOG.gpu(spelled(gpu, CATALOG.gpus)) if gpu else None
    peak(put, its_gpu)
    return diagnose(read_published(goal, number), put, its_model, its_gpu)


def searched(quantity: str, given: list[str], model: str, gpu: str, unit: str) -> tuple[Fraction, Search]:
    """The right value, and the search for what gives another one, to be used for many numbers."""
    goal = quantities()[quantity]
    put = question(goal, given)
    main = derivations(goal, put.given, CATALOG.model(model) if model else None, CATALOG.gpu(gpu) if gpu else None)[0]
    assert not isinstance(main.right, Infeasible)
    every = {**put.given, **main.every}
    single = faults(goal, main.steps, every, put.units, unit)
    return Fraction(main.right), Search(quantity, main.steps, {**every, **main.values}, single)


def explained(search: Search, value: Fraction, figures: int) -> tuple[Explanation, ...]:
    return search.explain([Published(value, half_of(value, figures), "")], Fraction(0))


def half_of(value: Fraction, figures: int) -> Fraction:
    return Fraction(10) ** (math.floor(math.log10(value)) - figures + 1) / 2


# Published numbers


@pytest.mark.reality
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_published_number_is_right_or_explained_by_the_slips_that_were_made(row: dict[str, Any]) -> None:
    found = told(row["number"], row["quantity"], row["given"], row.get("model", ""), row.get("gpu", ""))
    wrong = bool(row["explained_by"]) or "unnamed" in row
    assert found.is_right != wrong
    if row["explained_by"]:
        assert set(row["explained_by"]) in [explanation.slugs for explanation in found.explanations]
    if "convention" in row:
        assert found.convention == row["convention"]


# Right numbers


@pytest.mark.law
@every_case
@pytest.mark.parametrize("figures", [2, 3, 4, 6])
def test_the_right_value_is_right_however_it_is_printed(
    quantity: str, given: list[str], model: str, gpu: str, units: tuple[str, ...], figures: int
) -> None:
    right, _ = searched(quantity, given, model, gpu, units[0])
    for unit in units:
        number = of_quantity(right, quantities()[quantity], unit).number
        if quantity == "concurrency" and figures < len(str(int(number))):
            continue  # sequences are counted, not rounded
        printed = rounded(number, figures)
        for text in (printed, printed.replace(",", ""), f"~{printed}"):
            assert told(f"{text} {unit}", quantity, given, model, gpu).is_right, text


@pytest.mark.law
def test_a_size_is_right_in_kilobytes_of_either_kind_and_the_reading_is_said() -> None:
    given = ("kv_bytes_per_token", [], "llama-3-8b")
    for number, convention in [("131 KB", ""), ("131 kB", ""), ("128 KB", "KB counts 1,024 bytes"), ("128 KiB", "")]:
        found = told(number, *given)
        assert (found.is_right, found.convention) == (True, convention)
    assert not told("128 kB", *given).is_right


@pytest.mark.law
def test_a_context_typed_with_a_k_is_read_both_ways() -> None:
    for given, number in [("context=8K", "1.0737 GB"), ("context=8K", "1.0486 GB"), ("context=8192", "1.0737 GB")]:
        assert told(number, "kv_bytes_per_sequence", [given], "llama-3-8b").is_right
    other = told("1.0486 GB", "kv_bytes_per_sequence", ["context=8192"], "llama-3-8b")
    assert other.explanations[0].slugs == {"context-with-the-other-K"}


@pytest.mark.law
def test_a_rate_may_be_published_as_the_time_of_one_token() -> None:
    given = (["weights=140GB", "bandwidth=3TB/s"],)
    for number in ("21.4 tok/s", "46.7 ms/token", "47ms per token", "21.43 t/s/u", "0.0467 s"):
        assert told(number, "decode_rate", *given).is_right
        assert not told(number.replace("4", "6"), "decode_rate", *given).is_right


@pytest.mark.law
def test_the_size_of_a_model_in_a_mixed_format_is_right_within_what_files_differ_by() -> None:
    given = (["dtype=Q4_K_M"], "llama-3-70b")
    assert told("42.5 GB", "weight_bytes", *given).is_right
    assert {"nominal-bits"} in [e.slugs for e in told("35.28 GB", "weight_bytes", *given).explanations]


# Wrong numbers


@pytest.mark.law
@every_case
def test_a_single_fault_is_among_the_explanations_of_what_it_gives(
    quantity: str, given: list[str], model: str, gpu: str, units: tuple[str, ...]
) -> None:
    right, search = searched(quantity, given, model, gpu, units[0])
    for fault in search.single:
        value = search.value([fault])
        if value is None or value <= 0 or abs(Fraction(value) / right - 1) < Fraction(1, 10**4) or fault.one_in > 30:
            continue
        found = explained(search, Fraction(value), 6)
        assert found
        least = min(explanation.one_in for explanation in found)
        assert fault.slug in set().union(*(e.slugs for e in found)) or fault.one_in > TIES * least or len(found) > 5


@pytest.mark.law
def test_a_pair_of_usual_faults_is_explained_and_by_no_more_than_it_takes() -> None:
    right, search = searched(*CASES[4][:4], "GB")
    usual = [fault for fault in search.single if fault.one_in <= 10]
    pairs = [pair for pair in combinations(usual, 2) if pair[0].touches.isdisjoint(pair[1].touches)]
    assert len(pairs) > 20
    for pair in pairs:
        value = search.value(pair)
        if value is not None and value > 0 and value != right:
            found = explained(search, Fraction(value), 6)
            assert found
            assert min(e.one_in for e in found) <= pair[0].one_in * pair[1].one_in
            assert [len(e.faults) for e in found] == sorted(len(e.faults) for e in found)


@pytest.mark.law
def test_slips_of_one_product_multiply_where_they_take_out_different_factors() -> None:
    _, search = searched("kv_bytes_per_token", [], "llama-3-8b", "", "B/token")
    both = search.value([one(search, "values-forgotten"), one(search, "query-heads-for-kv-heads")])
    assert both == 32 * 32 * 128 * 2
    touched = [one(search, slug).touches for slug in ("query-heads-for-kv-heads", "hidden-for-kv-width", "one-head")]
    assert all(not a.isdisjoint(b) for a, b in combinations(touched, 2))
    found = explained(search, Fraction(both), 6)
    assert {"values-forgotten", "query-heads-for-kv-heads"} in [explanation.slugs for explanation in found]


@pytest.mark.law
@every_case
def test_no_explanation_says_more_than_a_part_of_it_would(
    quantity: str, given: list[str], model: str, gpu: str, units: tuple[str, ...]
) -> None:
    right, search = searched(quantity, given, model, gpu, units[0])
    stream = Stream("diagnosing", sum(map(ord, quantity + model)))
    for _ in range(6):
        for explanation in explained(search, right * Fraction(1 + stream.below(999), 100), 3):
            assert 1 <= len(explanation.faults) <= MOST_FAULTS
            for size in range(1, len(explanation.faults)):
                assert all(search.value(part) != explanation.value for part in combinations(explanation.faults, size))


@pytest.mark.law
def test_random_numbers_are_seldom_explained() -> None:
    stream, false, total = Stream("diagnosing", 1), 0, 0
    for quantity, given, model, gpu, units in CASES:
        right, search = searched(quantity, given, model, gpu, units[0])
        for _ in range(30):
            for figures in (2, 3, 4):
                share = math.exp((stream.below(10**6) / 10**6 - Fraction(1, 2)) * 2 * math.log(10))
                place = 2 * half_of(right * Fraction(share), figures)
                value = round(right * Fraction(share) / place) * place
                if abs(value - right) > place:
                    total += 1
                    false += bool(explained(search, value, figures))
    assert total > 2000
    assert false / total < 0.02


def one(search: Search, slug: str) -> Fault:
    return next(fault for fault in search.single if fault.slug == slug)


def test_the_last_digit_says_how_far_a_number_is_open() -> None:
    for literal, half in [("4.59", "0.005"), ("523000", "500"), ("4096", "0.5"), ("80", "0.5"), ("2.6e3", "50")]:
        assert half_digit(literal) == Fraction(half)
