"""The suite passes what is right, and of what is wrong it tells what went wrong."""

from __future__ import annotations

import math
import time
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from spec.conformance import report
from spec.conformance.candidate import Python
from spec.conformance.declared import Declared, Unusable
from spec.conformance.deviations import sorted_out
from spec.conformance.managing import SENTENCES
from spec.conformance.suite import Report, Suite, check
from spec.conformance.wording import sentence
from spec.index import laws
from spec.invariants.reference import Reference
from spec.mutants import mutants

pytestmark = [pytest.mark.meta]


def candidate(**functions: Any) -> SimpleNamespace:
    return SimpleNamespace(**functions)


def of_token(factor: Any = 2) -> Any:
    def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> float:
        return factor * layers * kv_heads * head_dim * kv_width

    return kv_bytes_per_token


def slugs(found: Report) -> list[str]:
    return [like.slug for failure in found.failures for like in failure.likely]


def paragraphs(found: Report) -> str:
    return report.text(found, sorted_out(found, {}), Declared())


# What is right


@pytest.mark.slow
def test_the_laws_themselves_obey_every_law() -> None:
    found = check(Reference(), examples=3)
    assert not found.broken
    assert not found.unasked
    assert set(found.obeyed) == set(laws())
    assert set(found.missing) == {"padding-of-lengths", *SENTENCES}


def kv_budget(gpu_memory: float, weights: float, activations: float, safety_margin: float) -> float | None:
    left = gpu_memory - weights - activations - safety_margin
    return left if left >= 0 else None


def fits(concurrency: int, context: int, kv_bytes_per_token: float, kv_budget: float) -> bool:
    return concurrency * context * kv_bytes_per_token <= kv_budget


FLOATS = candidate(
    weights=lambda parameters, weight_bits: parameters * weight_bits / 8,
    kv_bytes_per_token=of_token(),
    kv_budget=kv_budget,
    concurrency=lambda kv_budget, context, kv_bytes_per_token: math.floor(kv_budget / context / kv_bytes_per_token),
    prefill_rate=lambda prompt, ttft, wait: prompt / (ttft - wait) if ttft > wait else None,
    ttft=lambda wait, prompt, prefill_rate: wait + prompt / prefill_rate,
    mean_concurrency=lambda arrival_rate, service_time: arrival_rate * service_time,
    fits=fits,
    padding_waste=lambda lengths: 1 - sum(lengths) / (len(lengths) * max(lengths)),
)


def test_floats_raise_no_false_alarm() -> None:
    found = check(FLOATS)
    assert not found.broken, paragraphs(found)
    assert {"weights", "kv_budget", "fits", "ttft", "mean_concurrency", "padding-of-lengths"} <= set(found.obeyed)


@pytest.mark.parametrize(("memory", "time_"), [("GB", "ms"), ("GiB", "min"), ("MB", "us")])
def test_declared_units_raise_no_false_alarm(memory: str, time_: str) -> None:
    units = {"memory": memory, "time": time_, "memory_utilization": "%"}
    thousand = {"GB": 10**9, "GiB": 2**30, "MB": 10**6}[memory]
    seconds = {"ms": 1e-3, "min": 60, "us": 1e-6}[time_]
    found = check(
        candidate(
            UNITS=units,
            kv_budget=FLOATS.kv_budget,
            weights=lambda parameters, weight_bits: parameters * weight_bits / 8 / thousand,
            concurrency=lambda kv_budget, context, kv_bytes_per_token: (
                kv_budget * thousand // (context * kv_bytes_per_token)
            ),
            ttft=lambda wait, prompt, prefill_rate: wait + prompt / prefill_rate / seconds,
        )
    )
    assert not found.broken, paragraphs(found)
    assert {"weights", "kv_budget", "fits", "ttft"} <= set(found.obeyed)


def test_what_a_candidate_assumes_is_not_passed_and_not_varied() -> None:
    fixed = candidate(
        ASSUMES={"safety_margin": 0, "activations": 0},
        kv_budget=lambda gpu_memory, weights: gpu_memory - weights if gpu_memory >= weights else None,
    )
    found = check(fixed)
    assert found.obeyed == ["kv_budget"]
    assert "I26-none" in found.held


def test_a_chain_of_laws_answers_a_function_that_takes_what_is_at_its_start() -> None:
    def concurrency(
        gpu_memory: float, weights: float, activations: float, safety_margin: float,
        layers: int, kv_heads: int, head_dim: int, kv_width: float, context: int,
    ) -> int | None:  # fmt: skip
        left = gpu_memory - weights - activations - safety_margin
        return math.floor(left / (2 * layers * kv_heads * head_dim * kv_width * context)) if left >= 0 else None

    found = check(candidate(concurrency=concurrency))
    assert set(found.obeyed) == {"kv_budget", "kv_bytes_per_token", "fits"}


@pytest.mark.parametrize("kind", [float, Fraction, Decimal, int])
def test_every_kind_of_number_is_read(kind: Any) -> None:
    found = check(candidate(cached_tokens=lambda concurrency, context: kind(concurrency * context)))
    assert found.obeyed == ["cached_tokens"]


def test_an_equation_solved_for_a_count_may_give_a_fraction_where_no_whole_number_solves_it() -> None:
    def layers(kv_bytes_per_token: float, kv_heads: int, head_dim: int, kv_width: float) -> float:
        return kv_bytes_per_token / (2 * kv_heads * head_dim * kv_width)

    assert check(candidate(layers=layers)).obeyed == ["kv_bytes_per_token"]
    assert check(candidate(layers=lambda **given: 2 * layers(**given))).broken == ["kv_bytes_per_token"]


class _Scalar:
    """A scalar as NumPy has them."""

    shape = ()

    def __init__(self, value: float) -> None:
        self.value = value

    def item(self) -> float:
        return self.value


def test_a_scalar_of_an_array_library_is_read() -> None:
    found = check(candidate(cached_tokens=lambda concurrency, context: _Scalar(concurrency * context)))
    assert found.obeyed == ["cached_tokens"]


# What is wrong


@pytest.mark.parametrize("name", ["kv_bytes_per_token", "fits", "kv_budget", "ttft"])
def test_every_mutant_of_a_law_is_caught(name: str) -> None:
    for mutant in mutants(laws()[name]):
        found = check(Reference({name: mutant.faulty}), laws=[name], examples=16, until_broken=True)
        assert bool(found.broken) != bool(mutant.same), mutant.change


@pytest.mark.parametrize(
    ("factor", "slug"),
    [(1, "values-forgotten"), (3, "queries-cached"), (4, "projections-cached"), (16, "bits-for-bytes"), (7, "factor")],
)
def test_a_slip_is_recognised_by_name(factor: int, slug: str) -> None:
    found = check(candidate(kv_bytes_per_token=of_token(factor)))
    assert found.broken == ["kv_bytes_per_token"]
    assert slug in slugs(found)


def test_a_slip_that_leaves_the_domain_is_recognised() -> None:
    found = check(candidate(blocks_per_sequence=lambda context, block_size: context // block_size))
    assert slugs(found) == ["last-block-dropped"]


def test_half_is_said_to_be_half_and_the_counterexample_is_small() -> None:
    found = check(candidate(kv_bytes_per_token=of_token(1)))
    words = paragraphs(found)
    assert (
        "kv_bytes_per_token(head_dim=1, kv_heads=1, kv_width=1 B, layers=1) is 1 B/token; right\n  is 2 B/token"
        in words
    )
    assert "exactly half of the right value; The factor 2 is missing" in words


def test_a_slip_that_uses_what_the_law_does_not_is_recognised_where_it_is_told() -> None:
    def kv_bytes_per_token(layers: int, hidden: int, kv_heads: int, head_dim: int, kv_width: float) -> float:
        return 2 * layers * hidden * kv_width + 0 * kv_heads * head_dim

    assert slugs(check(candidate(kv_bytes_per_token=kv_bytes_per_token))) == ["hidden-for-kv-width"]


@pytest.mark.parametrize(
    ("way", "sentence_"),
    [
        (math.ceil, "rounded up"),
        (float, "not rounded"),
        (round, "nearest"),
        (lambda count: count * 2**30 / 10**9 // 1, "2^30 is used for 10^9"),
    ],
)
def test_rounding_and_units_are_recognised(way: Any, sentence_: str) -> None:
    def concurrency(kv_budget: float, context: int, kv_bytes_per_token: float) -> Any:
        return way(kv_budget / context / kv_bytes_per_token)

    found = check(candidate(concurrency=concurrency))
    assert found.broken == ["fits"]
    assert any(sentence_ in like.sentence for failure in found.failures for like in failure.likely), found.failures


@pytest.mark.parametrize(
    ("part", "words"),
    [(1e9, "a unit prefix is off by 10^9"), (2**30, "a unit prefix is off by 2^30"), (1 / 8, "eight times")],
)
def test_a_unit_that_is_not_declared_is_recognised(part: float, words: str) -> None:
    found = check(candidate(activations=lambda activation_share_of_total, gpu_memory: (
        activation_share_of_total * gpu_memory / part
    )))  # fmt: skip
    assert found.broken == ["activations_of_total"]
    assert found.failures[0].likely[0].sentence.startswith(words)


def test_a_negative_capacity_is_reported_as_such() -> None:
    found = check(candidate(kv_budget=lambda gpu_memory, weights, activations, safety_margin: (
        gpu_memory - weights - activations - safety_margin
    )))  # fmt: skip
    assert set(slugs(found)) == {"negative"}
    assert "a capacity or an amount is never" in paragraphs(found)


def test_what_is_missing_is_listed_and_what_fits_no_law_is_told() -> None:
    found = check(candidate(weights=lambda parameters: parameters, colour=lambda: 1, ttft=lambda prompts: prompts))
    assert found.obeyed == found.broken == []
    assert found.unasked["weights"] == "it would also need weight_bits, as a keyword or in ASSUMES"
    assert "did you mean prompt" in found.unasked["ttft"]
    assert len(found.missing) > len(laws())


# Rounded numbers


def reply(function: Any, values: dict[str, Any], **declared: Any) -> Any:
    suite = Suite(Python(candidate(**{function.__name__: function}, **declared)))
    return suite.judge.reply(suite.asked[0], values)


def token_capacity(kv_budget: float, kv_bytes_per_token: float) -> float:
    return kv_budget // kv_bytes_per_token


def test_beside_a_step_either_side_is_right_for_who_must_round_and_nothing_else_is() -> None:
    tenths = {"kv_budget": Fraction(3, 10), "kv_bytes_per_token": Fraction(1, 10)}
    assert (0.3 // 0.1, tenths["kv_budget"] // tenths["kv_bytes_per_token"]) == (2, 3)
    assert reply(token_capacity, tenths).wrong == ""
    assert reply(token_capacity, {**tenths, "kv_budget": Fraction(39, 100)}).wrong == ""

    def one_less(kv_budget: float, kv_bytes_per_token: float) -> float:
        return token_capacity(kv_budget, kv_bytes_per_token) - 1

    one_less.__name__ = "token_capacity"
    assert reply(one_less, tenths).wrong
    assert reply(one_less, {"kv_budget": 3, "kv_bytes_per_token": 1}).wrong


def test_what_is_left_of_a_difference_of_rounded_numbers_is_nothing() -> None:
    def kv_budget(gpu_memory: float, weights: float, activations: float, safety_margin: float) -> float:
        return gpu_memory - weights - activations - safety_margin

    tenths = {"gpu_memory": 3, "weights": 1, "activations": 2, "safety_margin": 0}
    values = {name: Fraction(value * 10**8) for name, value in tenths.items()}
    assert 0 < abs(0.3 - 0.1 - 0.2) < 1e-15
    assert reply(kv_budget, values, UNITS={"memory": "GB"}).wrong == ""
    assert reply(kv_budget, {**values, "weights": Fraction(10**8 + 1)}, UNITS={"memory": "GB"}).wrong


# Answers of no use: one sentence each


def _raises(**_: Any) -> Any:
    raise KeyError("layers")


def _hangs(arrival_rate: float, service_time: float) -> Any:
    for _ in range(5):
        try:
            time.sleep(0.1)
        except Exception:  # noqa: BLE001, S112  it swallows whatever should stop it
            continue
    return arrival_rate * service_time


USELESS = {
    "raised KeyError: 'layers'": lambda arrival_rate, service_time: _raises(),  # noqa: ARG005
    "gave no answer within 0.2 s": _hangs,
    "returned the text '12 requests' instead of a number": lambda arrival_rate, service_time: "12 requests",  # noqa: ARG005
    "returned NaN; where no value exists it should return None": lambda arrival_rate, service_time: math.nan,  # noqa: ARG005
    "returned True instead of a number": lambda arrival_rate, service_time: True,  # noqa: ARG005
    "returned a list instead of a number: [1]": lambda arrival_rate, service_time: [1],  # noqa: ARG005
    "returned the complex number 1j instead of a real one": lambda arrival_rate, service_time: 1j,  # noqa: ARG005
    "ended the program (exit status 3)": lambda arrival_rate, service_time: exit(3),  # noqa: ARG005, PLR1722
}


@pytest.mark.parametrize("words", USELESS)
def test_an_answer_of_no_use_gets_one_clear_sentence(words: str) -> None:
    found = check(candidate(mean_concurrency=USELESS[words]), time_limit=0.2)
    assert not found.failures
    (useless,) = found.useless
    assert sentence(useless, Declared()) == (
        f"mean_concurrency {words}, for arrival_rate = 1 request/s, service_time = 1 s."
        if useless.fault.kind != "hung"
        else f"mean_concurrency {words}, for arrival_rate = 0.5 request/s, service_time = 0.5 s."
    )
    assert paragraphs(found).count("mean_concurrency " + words[:12]) == 2  # in the table and below it


def test_one_sentence_more_is_one() -> None:
    found = check(candidate(cached_tokens=lambda **given: sum(given.values())), laws=["group_holds"])
    assert "And 1 more sentence." in report.text(found, sorted_out(found, {}), Declared())


@pytest.mark.parametrize("nothing", [None, math.inf])
def test_no_value_where_one_exists_is_told(nothing: Any) -> None:
    found = check(candidate(mean_concurrency=lambda arrival_rate, service_time: nothing))  # noqa: ARG005
    assert found.failures[0].reply is not None
    assert found.failures[0].reply.wrong == "gives no value where one exists"
    assert slugs(found) == ["none"]


# Declarations


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"UNITS": {"memory": "GX"}}, "UNITS gives memory in 'GX', which is no unit."),
        ({"UNITS": {"kv_budget": "ms"}}, "UNITS gives kv_budget in ms, which is time; it is data."),
        ({"UNITS": {"kv_bugdet": "GB"}}, "UNITS names 'kv_bugdet', which is no quantity; did you mean kv_budget"),
        ({"UNITS": "GB"}, "UNITS should be a mapping from names to values; it is 'GB'."),
        ({"ASSUMES": {"mfu": 2}}, "ASSUMES gives mfu the value 2; it must be a number over 0 and of at most 1."),
        ({"ASSUMES": {"mfu": "x"}}, "ASSUMES gives mfu the value 'x', which is no number."),
        ({"TOLERANCE": "half"}, "TOLERANCE is 'half'; it must be a number from 0 to 1/10."),
        ({"TOLERANCE": "1e-999999999"}, "TOLERANCE is '1e-999999999'; it must be a number from 0 to 1/10."),
        ({"TOLERANCE": {"ttft": 1}}, "TOLERANCE of ttft is 1; it must be a number from 0 to 1/10."),
    ],
)
def test_a_declaration_that_cannot_be_understood_is_one_sentence(declared: dict[str, Any], words: str) -> None:
    with pytest.raises(Unusable) as error:
        check(candidate(**declared))
    assert str(error.value).startswith(words)


def test_a_declared_tolerance_holds_for_its_function_only() -> None:
    def rough(arrival_rate: float, service_time: float) -> float:
        return float(f"{arrival_rate * service_time:.3g}")

    assert check(candidate(mean_concurrency=rough)).broken == ["mean_concurrency"]
    assert check(candidate(mean_concurrency=rough, TOLERANCE={"mean_concurrency": "0.005"})).broken == []
    assert check(candidate(mean_concurrency=rough, TOLERANCE={"ttft": "0.005"})).broken == ["mean_concurrency"]


def test_a_function_that_rounds_in_a_unit_rounds_to_a_part_of_it() -> None:
    def weights(parameters: int, weight_bits: float) -> float:
        return round(parameters * weight_bits / 8e9, 2)

    declared = {"UNITS": {"memory": "GB"}, "TOLERANCE": {"weights": "0.005"}}
    assert check(candidate(weights=weights, **declared)).broken == []
    assert check(candidate(weights=weights, UNITS={"memory": "GB"})).broken == ["weights"]
    assert check(candidate(weights=lambda parameters, weight_bits: parameters * weight_bits / 4e9, **declared)).broken


def test_an_unknown_law_is_one_sentence() -> None:
    with pytest.raises(Unusable, match="There is no law 'fit'; did you mean fits"):
        check(FLOATS, laws=["fit"])
