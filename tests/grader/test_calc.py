"""Calculating any quantity: against the laws themselves, there and back, and on real models."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grader.calc import (
    ASSUMED,
    Underived,
    UnknownQuantity,
    UnreadableValue,
    Unsolved,
    Unusable,
    WrongDimension,
    calculate,
    named,
    read_given,
)
from grader.calc.coverage import COMPRESSED, EXPERTS, LATENT, PARTS, SLIDING
from grader.calc.scale import readable, scaled
from grader.exercise import exact
from spec import catalog
from spec.domains import FLAG, SHARE
from spec.index import laws
from spec.quantities import Quantity, quantities
from spec.solving import Infeasible
from spec.units import unit
from tests.grader.calculating import calc

QUANTITIES = quantities()


@pytest.mark.roundtrip
@given(name=st.sampled_from(sorted(QUANTITIES)), over=st.integers(1, 10**6), under=st.integers(1, 10**3))
def test_a_value_written_in_the_unit_of_its_quantity_is_read_back(name: str, over: int, under: int) -> None:
    quantity = QUANTITIES[name]
    value = Fraction(over) if quantity.domain.integer else Fraction(over, under)
    assume(value in quantity.domain)
    assume("/" not in exact(value))
    of = "" if quantity.unit.name == "1" else f" {quantity.unit.name}"
    assert read_given(quantity, f"{exact(value)}{of}") == value == read_given(quantity, exact(value))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("weights", "14GB", 14 * 10**9),
        ("weights", "14 GiB", 14 * 2**30),
        ("arrival_rate", "100/min", Fraction(5, 3)),
        ("arrival_rate", "100 req/min", Fraction(5, 3)),
        ("activation_share_of_total", "10%", Fraction(1, 10)),
        ("context", "4,096", 4096),
        ("context", "2^12 tokens", 4096),
        ("kv_bytes_per_token", "512KiB", 524288),
        ("kv_bytes_per_token", "512 KiB/token", 524288),
        ("compute", "312TFLOPS", 312 * 10**12),
        ("weight_bits", "2 B", 16),
        ("gated", "yes", 1),
        ("gated", "No", 0),
        ("gated", "1", 1),
        ("mfu", "1/2", Fraction(1, 2)),
    ],
)
def test_values_are_read_with_their_units(name: str, text: str, value: Fraction) -> None:
    assert read_given(named(name), text) == value


@pytest.mark.parametrize(
    ("name", "text", "error", "says"),
    [
        ("weights", "5min", WrongDimension, "measured in B"),
        ("activations", "10%", WrongDimension, "activation_share_of_total=10%"),
        ("context", "4096 sequences", WrongDimension, "measured in token"),
        ("context", "5 kg", WrongDimension, "another field"),
        ("mfu", "50 tokens", WrongDimension, "a plain number"),
        ("context", "4K", UnreadableValue, "prefix"),
        ("context", "many", UnreadableValue, "number"),
        ("context", "", UnreadableValue, "empty"),
        ("context", "1" * 300, UnreadableValue, "too long"),
        ("context", "1e40", UnreadableValue, "10^30"),
        ("gated", "maybe", UnreadableValue, "number"),
        ("context", "0", Unusable, "at least 1"),
        ("context", "4096.5", Unusable, "whole number"),
        ("activation_share_of_total", "10", Unusable, "under 1"),
        ("gated", "2", Unusable, "at most 1"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(name: str, text: str, error: type, says: str) -> None:
    with pytest.raises(error) as caught:
        read_given(named(name), text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.fuzz
@given(text=st.text(), name=st.sampled_from(sorted(QUANTITIES)))
def test_any_text_is_a_value_or_one_sentence(text: str, name: str) -> None:
    try:
        value = read_given(QUANTITIES[name], text)
    except Unusable:
        return
    assert value in QUANTITIES[name].domain


def test_an_unknown_quantity_is_told_with_similar_ones() -> None:
    for typed, near in (("contxt", "context"), ("kv_byte", "kv_bytes_per_token"), ("Layer", "layers")):
        with pytest.raises(UnknownQuantity) as caught:
            named(typed)
        assert near in str(caught.value)
    assert named("KV-Heads").name == "kv_heads"


@pytest.mark.differential
@given(
    budget=st.integers(0, 10**12),
    per_token=st.integers(1, 10**6),
    context=st.integers(1, 10**6),
    concurrency=st.integers(1, 1000),
)
def test_capacities_are_those_of_plain_integer_arithmetic(
    budget: int, per_token: int, context: int, concurrency: int
) -> None:
    both = {"kv_budget": budget, "kv_bytes_per_token": per_token}
    assert calculate(named("concurrency"), both | {"context": context}).result == budget // (context * per_token)
    found = calculate(named("context"), both | {"concurrency": concurrency}).result
    longest = budget // (concurrency * per_token)
    assert found == longest if longest else isinstance(found, Infeasible)
    assert calculate(named("token_capacity"), both).result == budget // per_token


@pytest.mark.law
@given(concurrency=st.integers(1, 500), context=st.integers(1, 10**5), weights=st.integers(1, 200))
def test_the_memory_a_capacity_needs_gives_that_capacity_and_a_byte_less_does_not(
    concurrency: int, context: int, weights: int
) -> None:
    known = {"context": context, "weights": weights * 10**9, "kv_bytes_per_token": 131072}
    needed = calculate(named("gpu_memory"), known | {"concurrency": concurrency}).result
    assert isinstance(needed, int)
    assert calculate(named("concurrency"), known | {"gpu_memory": needed}).result == concurrency
    assert calculate(named("concurrency"), known | {"gpu_memory": needed - 1}).result == concurrency - 1


@pytest.mark.law
@pytest.mark.parametrize("name", [law.name for law in laws().values() if law.is_identity])
def test_what_a_law_gives_is_calculated_from_its_symbols(name: str) -> None:
    law = laws()[name]
    known = {n: q.domain.inside for n, q in law.symbols.items() if n != law.left.name}
    known |= {n: Fraction(1, 4) for n in known if law.symbols[n].domain == SHARE}  # two of them stay under one
    if "weights" in known and "gpu_memory" in known:
        known["gpu_memory"] = 80 * 10**9
    if "servers" in known:
        known["servers"] = known["offered_load"] = 7
    assert calculate(named(law.left.name), known).result == law(**known)


@pytest.mark.meta
def test_every_quantity_can_be_asked_for() -> None:
    in_laws = {name for law in laws().values() for name in law.symbols}
    assert QUANTITIES.keys() - in_laws == set()


@pytest.mark.meta
def test_the_laws_that_traits_break_exist() -> None:
    broken = frozenset().union(*(trait.breaks for trait in (EXPERTS, COMPRESSED, SLIDING)))
    assert broken <= laws().keys()
    assert QUANTITIES.keys() >= LATENT | PARTS


@pytest.mark.fuzz
@given(data=st.data(), goal=st.sampled_from(sorted(QUANTITIES)))
def test_any_question_has_a_value_in_its_domain_or_none_or_one_sentence(data: st.DataObject, goal: str) -> None:
    names = data.draw(st.sets(st.sampled_from(sorted(QUANTITIES.keys() - {goal})), max_size=12))
    values = {name: _some(data, QUANTITIES[name]) for name in sorted(names)}
    model = data.draw(st.sampled_from([None, *catalog.models().values()]))
    gpu = data.draw(st.sampled_from([None, *catalog.gpus().values()]))
    try:
        found = calculate(QUANTITIES[goal], values, model, gpu)
    except Unusable as error:
        sentence = str(error)
    else:
        sentence = "" if isinstance(found.result, Infeasible) else str(readable(found.result, "1"))
        assert isinstance(found.result, Infeasible) or found.result in QUANTITIES[goal].domain
        assert {used.quantity.name for used in found.used} & set(found.unused) == set()
    assert "\n" not in sentence


def _some(data: st.DataObject, quantity: Quantity) -> int | Fraction:
    domain = quantity.domain
    if domain.integer:
        high = min(100_000 if domain.last is None else domain.last, 100_000 if quantity.name != "servers" else 50)
        return data.draw(st.integers(domain.first, high))
    value = data.draw(st.fractions(0, 1 if domain.high is not None else 10**12, max_denominator=1000))
    return value if value in domain else domain.inside


def test_what_is_given_wins_over_the_catalogue() -> None:
    assert calc("kv_bytes_per_token", "llama-2-7b", kv_heads="8") == 131072
    assert calc("kv_budget", "llama-2-7b", "a100-80gb", gpu_memory="100GB", weights="14GB") == 86 * 10**9
    half = calc("parameters", "llama-2-7b", layers="16")
    assert isinstance(half, int)
    assert calc("weights", "llama-2-7b", layers="16") == 2 * half
    assert half < 6_738_415_616
    active = calc("active_parameters", "mixtral-8x7b", layers="16")
    assert isinstance(active, int)
    assert active < 12_879_925_248


def test_usual_values_are_assumed_only_where_nothing_leads_there() -> None:
    found = calculate(
        named("kv_budget"),
        {"gpu_memory": 80 * 10**9, "weights": 14 * 10**9, "activation_share_of_remaining": Fraction(1, 10)},
    )
    assert [used.quantity.name for used in found.used if used.origin == ASSUMED] == ["safety_margin"]
    assert found.result == 59_400_000_000
    nothing = calculate(named("kv_budget"), {"gpu_memory": 80 * 10**9, "weights": 14 * 10**9})
    assert {used.quantity.name for used in nothing.used if used.origin == ASSUMED} == {"activations", "safety_margin"}
    assert nothing.result == 66 * 10**9


def test_only_what_was_used_is_reported_as_used_and_the_rest_as_unused() -> None:
    found = calculate(named("weights"), {"parameters": 10, "context": 5, "weight_bits": 8})
    assert {used.quantity.name for used in found.used} == {"parameters", "weight_bits"}
    assert found.unused == ("context",)


def test_what_binds_is_named() -> None:
    llama, a100 = catalog.model("llama-2-7b"), catalog.gpu("a100-80gb")
    assert calculate(named("concurrency"), {"context": 4096}, llama, a100).binding == "kv_budget"
    # The ridge of an A100 lies near 153 tokens at peak rates.
    for prompt, resource in ((100, "bandwidth"), (1000, "compute")):
        binding = calculate(named("prefill_time"), {"prompt": prompt}, llama, a100).binding
        assert binding is not None
        assert resource in binding
    assert calculate(named("weights"), {}, llama).binding is None


def test_where_nothing_fits_there_is_no_value_but_a_deficit() -> None:
    found = calculate(named("concurrency"), {"context": 4096}, catalog.model("llama-2-70b"), catalog.gpu("a100-80gb"))
    assert isinstance(found.result, Infeasible)
    assert found.result.deficit == 2 * 68_976_648_192 - 80 * 10**9
    assert (found.steps[-1].value, found.steps[-1].deficit) == (None, str(found.result.deficit))


def test_a_condition_of_a_law_that_fails_leaves_no_value() -> None:
    found = calc("kv_budget", gpu_memory="10GB", weights="14GB", activation_share_of_remaining="10%")
    assert isinstance(found, Infeasible)
    assert found.why == "weights <= gpu_memory"


def test_a_share_of_the_reported_memory_is_what_a_server_partitions() -> None:
    card, model = catalog.gpu("h100"), catalog.model("llama-3-8b")
    share = {"memory_utilization": Fraction(9, 10), "activations": 10**9}
    found = calculate(named("kv_budget"), share, model, card)
    reported = card.quantities()["gpu_memory_reported"]
    assert found.result == reported * Fraction(9, 10) - 2 * (model.parameters or 0) - 10**9
    assert found.steps[-1].law == "kv_budget_by_utilization"
    assert found.unused == ()


def test_a_page_size_that_is_given_is_used() -> None:
    known = {"kv_budget": 100, "kv_bytes_per_token": 1, "context": 17}
    assert calculate(named("concurrency"), known).result == 100 // 17
    assert calculate(named("concurrency"), known | {"block_size": 16}).result == 100 // 32
    assert calculate(named("token_capacity"), {"kv_budget": 100, "kv_bytes_per_token": 1}).result == 100
    in_blocks = known | {"block_size": 16}
    assert calculate(named("token_capacity"), {n: v for n, v in in_blocks.items() if n != "context"}).result == 96
    assert (
        calculate(named("kv_bytes_per_sequence"), {n: v for n, v in in_blocks.items() if n != "kv_budget"}).result == 32
    )


def test_the_first_token_follows_from_the_model_and_the_gpu() -> None:
    prefill = calc("prefill_time", "llama-3-8b", "h100", prompt="4000")
    assert isinstance(prefill, Fraction)
    assert calc("ttft", "llama-3-8b", "h100", prompt="4000", wait="250ms") == prefill + Fraction(1, 4)
    assert calc("prefill_rate", "llama-3-8b", "h100", prompt="4000") == 4000 / prefill
    assert calc("achieved_mfu", "llama-3-8b", "h100", prompt="4000", prefill_time="1s") == prefill


def test_billions_of_parameters_are_no_bytes() -> None:
    with pytest.raises(WrongDimension) as caught:
        read_given(named("parameters"), "7B")
    assert "7e9" in str(caught.value)


def test_a_need_is_asked_of_the_bound_and_not_of_the_equation() -> None:
    servers = calc("servers", offered_load="50", blocking="1%")
    assert servers == 64  # 1 % loss at 50 erlang


@pytest.mark.parametrize(
    ("goal", "given_", "model", "missing", "catalogue"),
    [
        ("concurrency", {}, "", ("context",), ("--model", "--gpu")),
        ("concurrency", {"context": "4096"}, "llama-2-7b", (), ("--gpu",)),
        ("weights", {}, "", ("parameters",), ()),
        ("ttft", {"prompt": "100"}, "", (), ("--model", "--gpu")),
    ],
)
def test_what_is_missing_is_told(
    goal: str, given_: dict[str, str], model: str, missing: tuple[str, ...], catalogue: tuple[str, ...]
) -> None:
    with pytest.raises(Underived) as caught:
        calc(goal, model, **given_)
    assert (caught.value.missing, caught.value.catalogue) in {(missing, catalogue), ((), ("--model",))}
    assert goal in str(caught.value)


def test_a_recursion_that_would_take_minutes_is_refused() -> None:
    with pytest.raises(Unsolved):
        calc("blocking", servers="9000", offered_load="5")


@pytest.mark.law
@given(value=st.fractions(0, 10**16).filter(bool), name=st.sampled_from(["B", "B/s", "FLOP", "FLOP/s", "s", "token"]))
def test_another_unit_is_the_same_amount(value: Fraction, name: str) -> None:
    number, of = scaled(value, name)
    assert number * unit(of).factor == value * unit(name).factor


@pytest.mark.parametrize(
    ("value", "of", "text"),
    [
        (80 * 10**9, "B", "80 GB"),
        (2039 * 10**9, "B/s", "2.039 TB/s"),
        (312 * 10**12, "FLOP/s", "312 TFLOP/s"),
        (Fraction(1, 80), "s", "12.5 ms"),
        (2807, "token", "2,807 tokens"),
        (1, "GPU", "1 GPU"),
        (Fraction(1, 3), "1", "0.333333"),
        (0, "B", "0 B"),
    ],
)
def test_amounts_are_printed_in_the_unit_they_read_best_in(value: Fraction, of: str, text: str) -> None:
    assert readable(value, of) == text


def test_flags_are_the_only_quantities_with_words() -> None:
    flags = {name for name, q in QUANTITIES.items() if q.domain == FLAG}
    assert {"gated", "tied"} <= flags
    for name in QUANTITIES.keys() - flags:
        with pytest.raises(Unusable):
            read_given(QUANTITIES[name], "yes")


def test_the_result_is_exact() -> None:
    found = calc("service_time", ttft="200ms", output="100", decode_rate="7")
    assert found == Fraction(1, 5) + Fraction(100, 7)
    assert math.isclose(float(found), 14.4857142857)
