"""The machinery that turns a family and a seed into an exercise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.directions import directions
from grader.exercise import EXACT, Exercise, Tolerance
from grader.family import Ask, Draw, Family, Menu, OwnSlip
from grader.paths import Path
from grader.posing import (
    BLOCK,
    NONE_IN_A_BLOCK,
    Posed,
    Rejected,
    Undrawable,
    attempt,
    lands,
    reach,
    without_answer,
)
from grader.slips import Variation
from grader.wording import convention, reason
from spec import memory, parameters, phases, scaling
from spec import quantities as q
from spec.chain import Link
from spec.solving import Infeasible
from tests.problems.seeds import NUMERIC, numeric_family

pytestmark = pytest.mark.law


def family(given: Menu, **changes: Any) -> Family:
    standard = {
        "asks": Ask(q.ttft, "How long?", "ms"),
        "by": (phases.ttft,),
        "given": given,
        "wording": "It waits.",
        "objective": "ttft",
        "section": "ttft",
    }
    return Family(**(standard | changes))


def waiting(**changes: Any) -> Menu:
    choices: dict[str, Any] = {"wait": ("100 ms",), "prompt": (1000,), "prefill_rate": (5000,)}
    return Menu(**(choices | changes))


def posed(of: Family, point: int = 0) -> Posed:
    found = attempt(of, point)
    assert isinstance(found, Posed), found
    return found


def slips(of: Family) -> dict[str, str | None]:
    return {slip.slip: slip.value for slip in posed(of).parts[0].slips}


def own(value: Callable[[Mapping[str, Fraction]], Any], asks: Any = None) -> tuple[OwnSlip, ...]:
    return (OwnSlip("own", "It is wrong.", value, asks),)


def nowhere(values: object) -> None:  # noqa: ARG001  the signature of a slip
    return None


# Certification


def test_a_point_is_rejected_where_a_slip_lands_on_the_key() -> None:
    assert posed(family(waiting(), slips=own(lambda v: v["ttft"] * Fraction(103, 100))))
    for nearby in (Fraction(102, 100), Fraction(98, 100), Fraction(1)):
        found = attempt(family(waiting(), slips=own(lambda v, near=nearby: v["ttft"] * near)), 0)
        assert found == Rejected("own lands on the key")


def test_a_slip_that_a_roofline_hides_is_left_out_only_where_it_gives_the_key() -> None:
    masked = frozenset({"own"})
    assert "own" not in slips(family(waiting(), slips=own(lambda v: v["ttft"]), masked=masked))
    assert "own" in slips(family(waiting(), slips=own(lambda v: v["ttft"] * 2), masked=masked))
    near = family(waiting(), slips=own(lambda v: v["ttft"] * Fraction(101, 100)), masked=masked)
    assert attempt(near, 0) == Rejected("own lands on the key")


def test_a_preset_drops_what_would_be_marked_right_and_keeps_the_rest() -> None:
    for factor, kept in ((Fraction(102, 100), True), (Fraction(101, 100), False)):
        of = family(waiting(), slips=own(lambda v, by=factor: v["ttft"] * by), preset=True)
        assert ("own" in slips(of)) is kept


def test_a_seed_is_given_up_with_the_last_reason() -> None:
    with pytest.raises(Undrawable, match="own lands on the key"):
        family(waiting(), slips=own(lambda v: v["ttft"])).pose("f", 0)


@given(st.fractions(), st.integers(min_value=1, max_value=10**9))
def test_a_count_is_reached_by_what_rounds_to_it(value: Fraction, key: int) -> None:
    slip = Variation("s", "", nowhere)
    within = reach(key, EXACT)
    if lands(slip, value, key, within):
        assert key in (value.numerator // value.denominator, -(-value.numerator // value.denominator))
    assert not lands(slip, key + 1, key, within)
    assert lands(slip, key + Fraction(1, 2), key, within)


@given(st.integers(min_value=1, max_value=10**9), st.sampled_from(["0.005", "0.01"]), st.booleans())
def test_a_quantity_is_reached_within_twice_the_tolerance(key: int, tolerance: str, above: bool) -> None:  # noqa: FBT001
    slip, limit = Variation("s", "", nowhere), Tolerance("relative", tolerance)
    edge = key + (1 if above else -1) * 2 * Fraction(tolerance) * key
    outside = edge + (1 if above else -1) * Fraction(1, 10**6)
    assert lands(slip, edge, key, reach(key, limit))
    assert not lands(slip, outside, key, reach(key, limit))
    assert not lands(slip, None, key, reach(key, limit))


def test_a_number_on_the_edge_of_a_whole_one_is_refused() -> None:
    def of(slots: int) -> Family:
        return family(
            Menu(latency_target=("500 ms",), decode_rate=(slots,)),
            asks=Ask(q.output, "How many?"),
            by=(phases.meets_latency_target,),
        )

    assert posed(of(51)).parts[0].key == "25"
    assert attempt(of(50), 0) == Rejected("rounded-up lands on the key")
    near_whole = Variation("not-rounded", "", nowhere, unrounded=True)
    assert lands(near_whole, 25 + Fraction(1, 10**12), 25, 0)
    assert lands(near_whole, 26 - Fraction(1, 10**12), 25, 0)
    assert not lands(near_whole, Fraction(51, 2), 25, 0)


@given(st.text(max_size=20), st.integers(0, 10**6))
def test_a_block_of_seeds_has_an_exact_share_without_answer(slug: str, block: int) -> None:
    seeds = range(block * BLOCK, (block + 1) * BLOCK)
    assert sum(without_answer(slug, 1, seed) for seed in seeds) == NONE_IN_A_BLOCK


def test_a_capacity_of_nothing_is_no_draw_and_says_the_same_as_none() -> None:
    def of(budget: str, **changes: Any) -> Family:
        point = Menu(context=(3,), kv_bytes_per_token=(1000,), kv_budget=(budget,))
        return family(point, asks=Ask(q.concurrency, "How many?"), by=(memory.fits,), **changes)

    assert attempt(of("2000 B"), 0) == Rejected("the answer is zero")
    assert posed(of("2000 B", preset=True)).parts[0].zero_is_none
    assert posed(of("4000 B")).parts[0].key == "1"


# Slips


def test_an_own_slip_may_not_apply() -> None:
    assert "own" not in slips(family(waiting(), slips=own(nowhere)))
    assert "own" not in slips(family(waiting(), slips=own(lambda v: v["no such step"])))
    assert "own" not in slips(family(waiting(), slips=own(lambda v: v["ttft"] * 2, q.prompt)))


def test_an_own_slip_reckons_exactly() -> None:
    of = family(waiting(), slips=own(lambda v: v["prompt"] / v["prefill_rate"] / 3))
    assert slips(of)["own"] == "200/3"


def test_a_size_is_misread_alone_only_where_it_comes_from_elsewhere() -> None:
    found = {slip.slug for slip in directions(numeric_family("max-context"))[0].questions[0].slips}
    assert {"gpu-memory-in-GiB", "weights-in-GiB", "all-in-GiB"} <= found
    assert not {"activations-in-GiB", "safety-margin-in-GiB"} & found


def test_every_slip_of_a_part_has_a_name_of_its_own() -> None:
    for slug in NUMERIC:
        for direction in directions(numeric_family(slug)):
            for question in direction.questions:
                names = [slip.slug for slip in question.slips]
                assert len(names) == len(set(names)), slug


def test_a_wrong_count_that_is_no_whole_number_is_kept_as_it_is() -> None:
    step = Link(memory.kv_bytes_per_token, "layers")
    values = {"kv_bytes_per_token": 1000, "kv_heads": 3, "head_dim": 1, "kv_width": 1}
    assert Path([step]).end(values) == Fraction(500, 3)


def test_a_law_without_rational_solution_gives_the_nearest_whole_number() -> None:
    wrong = next(slip for slip in parameters.parameters_approx.slips if slip.slug == "embeddings-forgotten")
    step = Link(parameters.parameters_approx.with_slip(wrong), "hidden")
    for target, root in ((12 * 99, 10), (12 * 100, 10), (12 * 101, 10), (12 * 111, 11)):
        assert Path([step]).end({"parameters_approx": target, "layers": 1}) == root


def test_a_path_ends_nowhere_without_its_givens() -> None:
    step = Link(memory.kv_bytes_per_token, "layers")
    assert Path([step]).end({"kv_bytes_per_token": 1000}) is None
    assert Path([Link(scaling.carries, "gpus")]).end({"mean_concurrency": 2, "sequences_per_gpu": 0}) is None


def test_only_what_a_change_reaches_is_walked_again() -> None:
    steps = directions(numeric_family("max-context"))[0].questions[0].steps
    again = Path(steps, frozenset({"gpu_memory"})).steps
    assert [step.gives for step in steps] == ["kv_budget", "kv_bytes_per_token", "context"]
    assert [step.gives for step in again] == ["kv_budget", "context"]


# Directions and givens


def test_a_menu_prints_a_quantity_in_one_unit() -> None:
    with pytest.raises(ValueError, match="one unit only"):
        Menu(wait=("1 s", "20 ms")).at(0)


def test_a_given_is_computed_where_the_menu_does_not_hold_it() -> None:
    of = family(waiting(), inverse=(Ask(q.prompt, "How long for {{ ttft }}?"),))
    inverse = posed(of, 1)
    assert {g.name: (g.value, g.unit) for g in inverse.givens}["ttft"] == ("300", "ms")
    assert (inverse.parts[0].key, inverse.parts[0].question) == ("1000", "How long for 300 ms?")


def test_a_given_that_would_have_to_be_rounded_is_refused() -> None:
    of = family(waiting(prefill_rate=(7000,)), inverse=(Ask(q.prompt, "How long?"),))
    assert attempt(of, 1) == Rejected("a computed given would have to be rounded")


def test_a_given_of_the_menu_is_taken_as_it_is() -> None:
    of = family(waiting(ttft=("400 ms",)), inverse=(Ask(q.prompt, "How long for {{ ttft }}?"),))
    assert posed(of, 1).parts[0].key == "1500"


def test_what_is_hidden_is_neither_printed_nor_used() -> None:
    of = numeric_family("max-context")
    hiding = next(d for d in directions(of) if d.questions[0].ask.quantity == q.kv_bytes_per_token)
    assert not {"layers", "kv_heads", "head_dim", "kv_width", "hidden", "heads"} & set(hiding.printed)
    assert [step.law.name for step in hiding.questions[0].steps] == ["kv_budget", "fits"]


def test_each_part_may_have_a_given_of_its_own() -> None:
    of = family(
        Menu(wait=("0 ms",), prefill_rate=(1000,)),
        asks=(
            Ask(q.ttft, "For {{ prompt }}?", "ms", at={q.prompt: 500}),
            Ask(q.ttft, "For {{ prompt }}?", "ms", at={q.prompt: 1500}),
        ),
        preset=True,
    )
    found = posed(of)
    assert [(part.question, part.key) for part in found.parts] == [
        ("For 500 tokens?", "500"),
        ("For 1,500 tokens?", "1500"),
    ]
    record = Exercise("f", 1, 0, found.statement, found.givens, found.parts, found.convention)
    assert Exercise.from_json(record.to_json()) == record


def batches(**changes: Any) -> Family:
    return family(
        **{
            "given": Menu(output=(100,), decode_rate=(60,), latency_target=("2 s",), slots=(8,)),
            "asks": Ask(q.batch, "How many?"),
            "by": (phases.within_slots, phases.meets_latency_target),
            "requires": (phases.meets_latency_target,),
            "inverse": (Ask(q.decode_rate, "How fast?"),),
        }
        | changes,
    )


def test_a_requirement_decides_whether_there_is_an_answer() -> None:
    assert posed(batches()).parts[0].key == "8"
    slow = Menu(output=(100,), decode_rate=(40,), latency_target=("2 s",), slots=(8,))
    part = posed(batches(given=slow)).parts[0]
    assert (part.key, part.zero_is_none) == (None, True)
    assert part.reason.endswith("the limit is missed by 500 ms at best.")
    assert [(step.law, step.gives, step.value) for step in part.steps] == [
        ("meets_latency_target", "", None),
        ("within_slots", "batch", None),
    ]


def test_a_requirement_does_not_bind_what_is_asked_for_in_it() -> None:
    assert posed(batches(), 1).parts[0].key == "50"


def test_where_only_requirements_speak_of_the_unknown_it_has_no_largest_value() -> None:
    part = posed(batches(by=(), inverse=(), preset=True)).parts[0]
    assert (part.key, part.reason) == (None, "No value is the largest: every one satisfies the conditions.")


def test_keep_is_asked_first() -> None:
    def never(draw: Draw) -> bool:
        return "wait" not in draw.values

    assert attempt(family(waiting(), keep=never), 0) == Rejected("outside the story")


# Words


def test_the_convention_says_how_each_part_is_read() -> None:
    part = posed(family(waiting())).parts[0]
    assert convention({}, [part]) == (
        "A number without a unit is read in ms. Give at least three significant figures. "
        "If no such value exists, answer: none."
    )
    count = replace(part, part="b", kind="count", unit="token", tolerance=EXACT)
    assert convention({}, [part, count]) == (
        "A number without a unit is read in ms in part a. A number without a unit is read in tokens in part b. "
        "Give at least three significant figures in part a. Answer with a whole number in part b. "
        "If no such value exists, answer: none."
    )
    exact = replace(part, tolerance=EXACT, unit="")
    assert convention({}, [exact]) == "Give the exact number. If no such value exists, answer: none."


def test_the_convention_tells_gb_from_gib_where_either_stands() -> None:
    assert "2^30" in convention({}, [replace(posed(family(waiting())).parts[0], unit="GB")])
    assert "2^30" not in convention({}, [replace(posed(family(waiting())).parts[0], unit="B/token")])


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("below", "falls below 0 by 2 GB"),
        ("broken", "missed by 2 GB"),
        ("not-whole", "no whole number"),
        ("unbounded", "No value is the largest"),
    ],
)
def test_every_kind_of_missing_value_has_its_reason(why: str, words: str) -> None:
    assert words in reason(Infeasible("kv_budget", "kv_budget", why, 2 * 10**9, "B"))
