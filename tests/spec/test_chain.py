"""Chains: found from what is known, followed to the same value as the law itself, and honest about what is missing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spec import memory, phases, scaling
from spec import quantities as q
from spec.chain import Link, NoDerivation, chain, closure, follow, in_force
from spec.index import giving, laws
from spec.laws import Identity, Infeasible, Law, NotInvertible
from tests.spec.strategies import FEWER, PAIRS, inputs, named

pytestmark = pytest.mark.law

SOLVABLE = [(law, name) for law, name in PAIRS if not law.method(name).startswith("not invertible")]
MODEL = {"layers", "kv_heads", "head_dim", "kv_width"}
CARD = {"gpu_memory", "weights", "activation_share_of_remaining", "safety_share_of_total"}


def steps(goal: str, known: set[str] | list[str], *names: str) -> list[tuple[str, str]]:
    """Find a chain by the named laws, all laws if none is named; give each step as law and quantity."""
    found = chain(goal, known, [laws()[n] for n in names] or list(laws().values()))
    return [(link.law.name, link.gives) for link in found]


@pytest.mark.parametrize(
    ("goal", "known", "expected"),
    [
        # F01 parameter count, forwards and for the layers
        ("parameters_approx", {"layers", "hidden", "vocab"}, ["parameters_approx"]),
        ("layers", {"parameters_approx", "hidden", "vocab"}, ["parameters_approx"]),
        ("hidden", {"parameters_approx", "layers", "vocab"}, ["parameters_approx"]),
        # F03 cache of a token
        ("kv_bytes_per_token", MODEL, ["kv_bytes_per_token"]),
        ("kv_heads", {"kv_bytes_per_token", "layers", "head_dim", "kv_width"}, ["kv_bytes_per_token"]),
        ("kv_bytes_per_token", {"layers", "kv_lora_rank", "qk_rope_dim", "kv_width"}, ["kv_bytes_per_token_latent"]),
        # F04 cache of a set
        ("kv_bytes_total", {"concurrency", "context", *MODEL},
         ["cached_tokens", "kv_bytes_per_token", "kv_bytes_total"]),
        # F05 concurrency, F06 context
        ("concurrency", {"context", *CARD, *MODEL}, ["kv_budget_by_shares", "kv_bytes_per_token", "fits"]),
        ("context", {"concurrency", *CARD, *MODEL}, ["kv_budget_by_shares", "kv_bytes_per_token", "fits"]),
        ("concurrency", {"gpu_memory", "weights", "activations", "safety_margin", "context", "kv_bytes_per_token"},
         ["kv_budget", "fits"]),
        # F07 the memory that suffices
        ("gpu_memory", {"concurrency", "context", "weights", "activation_share_of_remaining", "safety_share_of_total",
                        "kv_bytes_per_token"}, ["fits", "kv_budget_by_shares"]),
        # F09 token capacity
        ("token_capacity", {"kv_budget", *MODEL}, ["kv_bytes_per_token", "holds_tokens"]),
        # F10 scores
        ("attention_scores", {"context", "heads", "layers"},
         ["attention_scores_per_head", "attention_scores_per_layer", "attention_scores"]),
        ("context", {"attention_scores", "heads", "layers"},
         ["attention_scores", "attention_scores_per_layer", "attention_scores_per_head"]),
        # F11 time to first token, F18 latency target
        ("ttft", {"wait", "prompt", "prefill_rate"}, ["ttft"]),
        ("prompt", {"wait", "ttft", "prefill_rate"}, ["ttft"]),
        ("decode_rate", {"output", "latency_target"}, ["meets_latency_target"]),
        ("output", {"decode_rate", "latency_target"}, ["meets_latency_target"]),
        # F21 Little's law, forwards and for the rate
        ("mean_concurrency", {"arrival_rate", "wait", "prompt", "prefill_rate", "output", "decode_rate"},
         ["ttft", "service_time", "mean_concurrency"]),
        ("decode_rate", {"arrival_rate", "ttft", "output", "mean_concurrency"}, ["mean_concurrency", "service_time"]),
        # F22 GPUs for a load
        ("gpus", {"arrival_rate", "ttft", "output", "decode_rate", "prompt", *CARD, *MODEL},
         ["kv_budget_by_shares", "kv_bytes_per_token", "gpu_holds", "service_time", "mean_concurrency", "carries"]),
    ],
)  # fmt: skip
def test_the_chain_of_each_family_is_found(goal: str, known: set[str], expected: list[str]) -> None:
    found = steps(goal, known)
    assert sorted(law for law, _ in found) == sorted(expected)
    assert found[-1][1] == goal
    reached = set(known)
    for law, gives in found:
        assert laws()[law].symbols.keys() - {gives} <= reached
        assert gives not in known
        reached.add(gives)


@pytest.mark.parametrize(("law", "name"), SOLVABLE, ids=named(SOLVABLE))
@FEWER
@given(data=st.data())
def test_a_chain_from_all_other_symbols_is_the_law_solved(law: Law, name: str, data: Any) -> None:
    known = data.draw(inputs(law))
    if law.is_identity:
        known[law.left.name] = law(**known)
        assume(not isinstance(known[law.left.name], Infeasible))
    known.pop(name)
    found = chain(name, known, [law])
    assert [(link.law, link.gives) for link in found] == [(law, name)]
    try:
        expected = law.solve(name, **known)
    except NotInvertible:
        with pytest.raises(NotInvertible):
            follow(found, known)
        return
    assert follow(found, known)[name] == expected
    assert follow(found, {**known, "unrelated": 1})[name] == expected


@given(st.permutations(sorted({"context", *CARD, *MODEL})), st.permutations(list(laws().values())))
def test_neither_the_order_of_the_givens_nor_of_the_laws_changes_the_value(known: list[str], order: list[Law]) -> None:
    given_values = {
        "gpu_memory": 80 * 10**9, "weights": 14 * 10**9, "activation_share_of_remaining": Fraction(1, 10),
        "safety_share_of_total": Fraction(1, 20), "context": 4096, "layers": 32, "kv_heads": 32, "head_dim": 128,
        "kv_width": 2,
    }  # fmt: skip
    found = chain("concurrency", known, order)
    assert chain("concurrency", reversed(known), order) == found
    assert follow(found, {name: given_values[name] for name in known})["concurrency"] == 25


def test_a_superseded_law_is_no_step_once_the_quantity_that_says_so_is_known() -> None:
    plain = Identity(q.weights, q.parameters * q.weight_bits, says="", section="", superseded_by=(q.layers,))
    other = Identity(q.weights, q.parameters * q.layers, name="by_layers", says="", section="")
    known = {"parameters", "weight_bits"}
    assert chain("weights", known, [plain, other]) == (Link(plain, "weights"),)
    assert chain("weights", {*known, "layers"}, [plain, other]) == (Link(other, "weights"),)
    assert chain("layers", {*known, "weights"}, [plain, other]) == (Link(other, "layers"),)
    with pytest.raises(NoDerivation):
        chain("weights", {*known, "layers"}, [plain])
    assert chain("weights", {*known, "layers"}, [plain], superseded=True) == (Link(plain, "weights"),)
    assert in_force([plain, other], known) == [plain, other]
    assert in_force([plain, other], ["layers"]) == [other]


def test_the_goal_is_never_a_step_on_its_own_way() -> None:
    assert all(
        "weights" not in link.needs for link in chain("weights", {"parameters", "weight_bits"}, [*laws().values()])
    )
    with pytest.raises(NoDerivation):
        # prefill_bytes would follow from the weights, and the weights from prefill_bytes
        chain("weights", {"prompt", "kv_bytes_per_token"}, [phases.prefill_bytes])
    known = {"gpu_memory", "weights", "activations", "safety_margin", "concurrency", "context", "kv_bytes_per_token"}
    assert steps("kv_budget", known) == [("kv_budget", "kv_budget")]


def test_a_chain_holds_nothing_beside_what_it_needs() -> None:
    known = {
        *MODEL,
        *CARD,
        "heads",
        "context",
        "hidden",
        "vocab",
        "parameters_approx",
        "wait",
        "prompt",
        "prefill_rate",
    }
    assert [law for law, _ in steps("kv_bytes_per_sequence", known)] == ["kv_bytes_per_token", "kv_bytes_per_sequence"]
    assert steps("context", {"context"}) == []
    assert follow((), {"context": 5}) == {"context": 5}


def test_a_law_that_gives_a_quantity_comes_before_one_that_is_solved_for_it() -> None:
    # The budget follows from the partition (in two steps) and, as a least value, from what must fit (in one).
    known = {*CARD, "concurrency", "context", "kv_bytes_per_token", "activation_share_of_total"} - {
        "activation_share_of_remaining"
    }
    found = steps(
        "token_capacity", known, "activations_of_total", "safety_of_total", "kv_budget", "fits", "holds_tokens"
    )
    assert ("kv_budget", "kv_budget") in found
    assert "fits" not in {law for law, _ in found}
    both = {"activations", "safety_margin", "weights", "concurrency", "context", "kv_bytes_per_token"}
    assert steps("gpu_memory", both, "fits", "kv_budget") == [("fits", "kv_budget"), ("kv_budget", "gpu_memory")]
    # Of two laws to be solved, an equation says more than a bound.
    known = {"kv_budget", "token_capacity", "kv_bytes_per_sequence", "context", "layers", "kv_heads", "kv_width"}
    found = steps("head_dim", known, "holds_tokens", "kv_bytes_per_sequence", "kv_bytes_per_token")
    assert found == [("kv_bytes_per_sequence", "kv_bytes_per_token"), ("kv_bytes_per_token", "head_dim")]


def test_a_need_is_asked_of_the_bound_and_not_of_an_equation_that_few_whole_numbers_meet() -> None:
    assert steps("servers", {"offered_load", "blocking"}) == [("blocks_at_most", "servers")]
    assert steps("servers", {"offered_load", "waiting"}) == [("waits_at_most", "servers")]


def test_a_law_that_cannot_be_solved_is_no_step() -> None:
    with pytest.raises(NoDerivation) as caught:
        chain("mean_concurrency", {"gpus", "sequences_per_gpu"}, [scaling.carries])
    assert caught.value.missing == ()
    with pytest.raises(NoDerivation):
        chain("arrival_rate", {"gpus", "sequences_per_gpu", "service_time"}, [*laws().values()])
    strict = scaling.carries.changed(not_invertible={})
    with pytest.raises(NoDerivation):
        chain("mean_concurrency", {"gpus", "sequences_per_gpu"}, [strict])


@pytest.mark.parametrize(
    ("goal", "known", "missing"),
    [
        ("kv_bytes_per_token", {"layers", "kv_heads", "kv_width"}, ("head_dim",)),
        ("ttft", {"prompt"}, ("output", "decode_rate", "service_time")),
        ("weights", {"gpu_memory", "kv_budget", "activations"}, ("safety_margin",)),
        ("concurrency", {"kv_budget", "context"}, ("cached_tokens",)),
        ("block_size", set(), ("kv_bytes_per_block", "kv_bytes_per_token")),
    ],
)
def test_the_fewest_missing_quantities_are_named(goal: str, known: set[str], missing: tuple[str, ...]) -> None:
    with pytest.raises(NoDerivation) as caught:
        steps(goal, known)
    assert caught.value.goal == goal
    assert len(caught.value.missing) == min(
        len(law.symbols.keys() - closure(known, list(laws().values()), goal=goal).keys() - {goal})
        for law in giving(goal)
    )
    if len(missing) == 1:
        assert caught.value.missing == missing
        assert str(caught.value) == f"{goal} needs {missing[0]}"
    chain(goal, known | set(caught.value.missing), list(laws().values()))


def test_a_quantity_no_law_gives_is_said_so() -> None:
    with pytest.raises(NoDerivation, match="no law gives hidden"):
        chain("hidden", set(), [memory.fits])
    with pytest.raises(NoDerivation, match="no law gives offered_load"):
        steps("offered_load", {"servers"})


def test_a_step_without_a_value_ends_the_chain_and_is_reported_at_the_goal() -> None:
    known = {
        "gpu_memory": 80,
        "weights": 138,
        "activations": 8,
        "safety_margin": 4,
        "context": 1,
        "kv_bytes_per_token": 1,
    }
    found = chain("concurrency", known, list(laws().values()))
    values = follow(found, known)
    short = Infeasible("kv_budget", "kv_budget", "below", 70, "B")
    assert values["kv_budget"] == values["concurrency"] == short
    assert {n: v for n, v in values.items() if n not in {"kv_budget", "concurrency"}} == known


def test_a_joint_condition_broken_on_the_way_is_no_value_either() -> None:
    known = {"gpu_memory": 80, "weights": 138, "activation_share_of_remaining": Fraction(1, 10), "safety_margin": 4}
    values = follow(chain("kv_budget", known, [memory.activations_of_remaining, memory.kv_budget]), known)
    assert values["kv_budget"] == Infeasible("activations_of_remaining", "activations", "broken", 58, "B")
    shares = {"activation_share_of_remaining": Fraction(6, 10), "safety_share_of_total": Fraction(5, 10)}
    known = {"weights": 14, "kv_budget": 1, **shares}
    whole = follow(chain("gpu_memory", known, [memory.kv_budget_by_shares]), known)["gpu_memory"]
    assert whole == Infeasible("kv_budget_by_shares", "gpu_memory", "broken", Fraction(1, 10), "1")


def test_a_link_says_whether_it_is_solved() -> None:
    assert Link(memory.weights, "weights").direct
    assert not Link(memory.weights, "parameters").direct
    assert not Link(memory.fits, "kv_budget").direct
    assert Link(memory.weights, "parameters").needs == {"weights", "weight_bits"}
    assert (
        Link(memory.weights, "parameters").follow({"weights": 14, "weight_bits": 16, "parameters": 1, "layers": 3}) == 7
    )


def test_what_follows_from_what_is_known_says_how() -> None:
    reached = closure({"layers", "kv_heads", "head_dim", "kv_width", "context"}, list(laws().values()))
    assert reached["layers"] is None
    assert reached["kv_bytes_per_sequence"] == Link(memory.kv_bytes_per_sequence, "kv_bytes_per_sequence")
    assert "weights" not in reached


def test_the_laws_of_a_quantity_are_listed_with_those_that_give_it_first() -> None:
    found = [law.name for law in giving("kv_bytes_per_token")]
    assert found[:2] == ["kv_bytes_per_token", "kv_bytes_per_token_latent"]
    assert "fits" in found[2:]
    assert giving("nothing") == []
