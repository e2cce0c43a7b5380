"""Diagnosing published numbers: right ones are right, known slips are named, and chance is no explanation."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from grader.amounts import of_quantity, rounded, significant
from grader.calc import named, read_given
from grader.calc.calculation import derived
from grader.diagnosing import Diagnosis, Published, diagnose, read_published
from grader.diagnosing.faults import Fault, faults
from grader.diagnosing.published import half_digit, typed_as
from grader.stream import Stream
from spec.chain import follow
from spec.solving import Exact, Infeasible

ROWS = tomllib.loads((Path(__file__).parents[1] / "data" / "published.toml").read_text(encoding="utf-8"))
LLAMA = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "kv_width": 2, "vocab": 128256}
PARTITION = {"gpu_memory": 80 * 10**9, "weights": 14 * 10**9, "activations": 8 * 10**9, "safety_margin": 4 * 10**9}
QUESTIONS: list[tuple[str, dict[str, Exact], str]] = [
    ("kv_bytes_per_token", LLAMA, "B/token"),
    ("kv_bytes_per_sequence", LLAMA | {"context": 8192}, "GB"),
    ("context", LLAMA | {"kv_budget": 46 * 10**9, "concurrency": 20}, "token"),
    ("concurrency", LLAMA | PARTITION | {"context": 4096}, "sequence"),
    ("weights", {"parameters": 6738415616, "weight_bits": 16}, "GB"),
]


def asked(number: str, quantity: str, given: list[str]) -> Diagnosis:
    """Diagnose as the command does."""
    goal = named(quantity)
    typed = {name: text for name, _, text in (item.partition("=") for item in given)}
    values = {name: read_given(named(name), text) for name, text in typed.items()}
    read = {name: typed_as(named(name), text) for name, text in typed.items()}
    halves, units = {n: half for n, (half, _) in read.items()}, {n: unit for n, (_, unit) in read.items()}
    return diagnose(read_published(goal, number), goal, values, halves, units)


def known(quantity: str, given: dict[str, Exact], unit: str) -> tuple[Exact, list[Fault]]:
    """The right value, and every single fault."""
    found = derived(named(quantity), given)
    every = {n: v for n, v in follow(found.steps, found.values).items() if not isinstance(v, Infeasible)}
    units = dict.fromkeys(PARTITION.keys() & given.keys(), "GB")
    return every[quantity], faults(found.steps, every | found.known, units, unit)


def tried(quantity: str, given: dict[str, Exact], unit: str, value: Exact, half: Exact) -> Diagnosis:
    units = dict.fromkeys(PARTITION.keys() & given.keys(), "GB")
    return diagnose([Published(Fraction(value), Fraction(half), unit)], named(quantity), given, {}, units)


@pytest.mark.reality
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_published_number_is_right_or_explained_by_the_slips_that_were_made(row: dict[str, Any]) -> None:
    found = asked(row["number"], row["quantity"], row["given"])
    assert found.is_right == (not row["explained_by"])
    if row["explained_by"]:
        assert set(row["explained_by"]) in [{fault.slug for fault in e.faults} for e in found.explanations]


@pytest.mark.law
@pytest.mark.parametrize(("quantity", "given", "unit"), QUESTIONS, ids=[q for q, _, _ in QUESTIONS])
@pytest.mark.parametrize("figures", [2, 3, 5])
def test_the_right_value_is_right_however_it_is_rounded(
    quantity: str, given: dict[str, Exact], unit: str, figures: int
) -> None:
    right, _ = known(quantity, given, unit)
    printed = rounded(of_quantity(right, named(quantity), unit).number, figures)
    assert asked(f"{printed} {unit}", quantity, [f"{n}={v}" for n, v in given.items()]).is_right


@pytest.mark.law
@pytest.mark.parametrize(("quantity", "given", "unit"), QUESTIONS, ids=[q for q, _, _ in QUESTIONS])
def test_a_single_fault_is_among_the_explanations_of_what_it_gives(
    quantity: str, given: dict[str, Exact], unit: str
) -> None:
    right, single = known(quantity, given, unit)
    for fault in single:
        value = the_value(quantity, given, [fault])
        if value is None or abs(Fraction(value) / right - 1) < Fraction(1, 10**4) or fault.one_in > 100:
            continue
        half = abs(Fraction(value)) / 10**5
        found = tried(quantity, given, unit, value, half)
        assert not found.is_right
        assert found.explanations
        least = min(e.one_in for e in found.explanations)
        assert len(found.explanations[0].faults) == 1
        named_slugs = {f.slug for e in found.explanations for f in e.faults}
        assert fault.slug in named_slugs or fault.one_in > 3 * least


@pytest.mark.law
def test_a_pair_of_usual_faults_is_explained_by_two_at_most() -> None:
    quantity, given, unit = QUESTIONS[1]
    right, single = known(quantity, given, unit)
    usual = [fault for fault in single if fault.one_in <= 6]
    for pair in combinations(usual, 2):
        value = the_value(quantity, given, list(pair))
        if pair[0].touches == pair[1].touches or value is None or value == right:
            continue
        found = tried(quantity, given, unit, value, abs(Fraction(value)) / 10**5)
        assert found.explanations
        assert len(found.explanations[0].faults) <= 2


@pytest.mark.law
@pytest.mark.parametrize("figures", [2, 3, 4])
def test_random_numbers_are_seldom_explained(figures: int) -> None:
    stream, false, total = Stream("diagnosing", figures), 0, 0
    for quantity, given, unit in QUESTIONS[:4]:
        right, _ = known(quantity, given, unit)
        for _ in range(40):
            factor = Fraction(10 ** stream.below(4) * (1000 + stream.below(9000)), 10**5)  # from 1/100 to 100
            value = significant(right * factor, figures)
            digits = len(str(int(value))) if value >= 1 else 1
            half = Fraction(10) ** (digits - figures) / 2
            found = tried(quantity, given, unit, value, max(half, Fraction(1, 2)))
            total += not found.is_right
            false += bool(found.explanations)
    assert false / total < 0.02


def the_value(quantity: str, given: dict[str, Exact], chosen: list[Fault]) -> Exact | None:
    from grader.diagnosing import _value

    found = derived(named(quantity), given)
    return _value(chosen, found.steps, found.values)


def test_the_last_digit_says_how_far_a_number_is_open() -> None:
    for literal, half in [("4.59", "0.005"), ("523000", "500"), ("4096", "0.5"), ("80", "0.5"), ("2.6e3", "50")]:
        assert half_digit(literal) == Fraction(half)
