"""Laws as objects: their parts fit together, they are called and changed as promised, and slips are really wrong."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st

import spec
from spec import index, memory, phases, scaling
from spec import quantities as q
from spec.index import laws
from spec.laws import Bound, Identity, Infeasible, Law, Slip, author_order
from spec.quantities import quantities
from tests.spec.strategies import BOUNDS, FEWER, IDENTITIES, LAWS, evaluated, inputs, values

pytestmark = pytest.mark.law
SEARCH = settings(max_examples=2000, phases=[Phase.generate])  # some slips differ in a corner only

SLIPS = [(law, slip) for law in LAWS for slip in law.slips]
SECTIONS = {"attention", "activation-memory", "batching", "kv-cache", "memory-budgeting", "model-weights",
            "prefill-decode", "scaling", "sizing", "ttft"}  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_the_parts_of_a_law_fit_together(law: Law) -> None:
    assert law.name.isidentifier()
    assert law.relation in {"==", "<=", "<"}
    assert law.section in SECTIONS
    assert law.says[0].isupper()
    assert law.says.endswith(".")
    assert all(symbol is quantities()[name] for name, symbol in law.symbols.items())
    assert list(law.symbols) == sorted(law.symbols)
    assert {s for condition in law.where for s in condition.free_symbols} <= set(law.symbols.values())
    assert law.not_invertible.keys() | law.both_ways.keys() <= set(law.symbols.values())
    assert not set(law.superseded_by) & set(law.symbols.values())
    assert len({slip.slug for slip in law.slips}) == len(law.slips)
    assert all(condition.unit in {"B", "1"} for condition in law.conditions)


@pytest.mark.parametrize("law", IDENTITIES, ids=lambda law: law.name)
def test_an_identity_gives_a_quantity_that_its_right_side_does_not_hold(law: Law) -> None:
    assert isinstance(law, Identity)
    assert law.left in quantities().values()
    assert not law.right.has(law.left)
    assert law.name == law.left.name or law.name in laws()


@pytest.mark.parametrize(("law", "slip"), SLIPS, ids=[f"{law.name}-{slip.slug}" for law, slip in SLIPS])
def test_a_slip_is_wrong_somewhere_and_says_what_went_wrong(law: Law, slip: Slip) -> None:
    wrong = law.with_slip(slip)
    assert wrong.slips == ()
    assert wrong.relation in ({"=="} if law.is_identity else {"<=", "<"})
    assert slip.sentence.endswith(".")
    assert slip.slug == slip.slug.lower().replace(" ", "-")

    def differs(drawn: dict[str, Any]) -> bool:
        rooms = [right(**drawn) - left(**drawn) for left, right in (law.bodies, wrong.bodies)]
        return rooms[0] != rooms[1] and slip.applies(drawn)

    said = [] if slip.unless is None else [slip.unless]
    find(values(law, also=(wrong.left, wrong.right, *said)), differs, settings=SEARCH)


EXCUSED = [(law, slip) for law, slip in SLIPS if slip.unless is not None]


@pytest.mark.parametrize(("law", "slip"), EXCUSED, ids=[f"{law.name}-{slip.slug}" for law, slip in EXCUSED])
@FEWER
@given(data=st.data())
def test_where_a_slip_says_the_same_it_does_not_apply(law: Law, slip: Slip, data: Any) -> None:
    wrong = law.with_slip(slip)
    drawn = data.draw(values(law, also=(wrong.left, wrong.right, slip.unless)))
    # Rarely true by chance, so made true: `quantity = number or quantity`, or `sum = 0`.
    left, right = slip.unless.args
    drawn |= {left.name: evaluated(right, drawn)} if left.is_Symbol else {s.name: 0 for s in left.free_symbols}
    assume(not slip.applies(drawn))
    rooms = [after(**drawn) - before(**drawn) for before, after in (law.bodies, wrong.bodies)]
    assert rooms[0] == rooms[1]


@pytest.mark.parametrize("law", BOUNDS, ids=lambda law: law.name)
@given(data=st.data())
def test_a_bound_says_whether_it_holds_and_how_much_room_is_left(law: Law, data: Any) -> None:
    drawn = data.draw(inputs(law))
    left, right = (side(**drawn) for side in law.bodies)
    assert law(**drawn) is (left < right if law.relation == "<" else left <= right)
    assert law.room(**drawn) == right - left


def test_a_changed_law_keeps_what_was_not_changed() -> None:
    mutant = memory.kv_budget_by_shares.changed(right=q.gpu_memory - q.weights)
    assert (mutant.name, mutant.where, mutant.slips) == ("kv_budget_by_shares", memory.kv_budget_by_shares.where, ())
    assert mutant(gpu_memory=80, weights=14) == 66
    assert memory.kv_budget_by_shares.slips
    assert mutant.method("weights") == "closed form"
    assert memory.weights.changed(name="other")(parameters=8, weight_bits=1) == 1


def composed_of_three() -> tuple[Law, ...]:
    """Give a whole, two of its parts, and the whole composed of all three."""
    with author_order():
        whole = Identity(
            q.kv_budget,
            q.gpu_memory - q.weights - q.activations,
            says="",
            section="",
            where=[q.weights <= q.gpu_memory],
            slips=[Slip("weights-twice", "Twice.", q.gpu_memory - 2 * q.weights - q.activations)],
        )
        part = Identity(
            q.weights,
            q.parameters * q.kv_width,
            says="",
            section="",
            slips=[Slip("bytes-forgotten", "Forgotten.", q.parameters, unless=sympy.Eq(q.kv_width, 1))],
        )
        other = Identity(q.activations, q.batch * q.safety_margin, says="", section="", where=[q.batch <= q.slots])
    return whole, part, other, whole.composed(part, other)


@given(st.fixed_dictionaries({n: st.integers(1, 9) for n in ("gpu_memory", "parameters", "kv_width", "batch")}))
def test_a_composed_law_says_what_its_parts_say_one_after_the_other(drawn: dict[str, int]) -> None:
    whole, part, other, composed = composed_of_three()
    weights = part(parameters=drawn["parameters"], kv_width=drawn["kv_width"])
    activations = other.bodies[1](batch=drawn["batch"], safety_margin=2)
    right = {**drawn, "safety_margin": 2}
    assert composed.bodies[1](**right) == whole.bodies[1](
        gpu_memory=drawn["gpu_memory"], weights=weights, activations=activations
    )
    twice, forgotten = (composed.with_slip(slip).bodies[1](**right) for slip in composed.slips)
    assert twice == drawn["gpu_memory"] - 2 * weights - activations
    assert forgotten == drawn["gpu_memory"] - drawn["parameters"] - activations
    assert composed.slips[1].applies(right) == (drawn["kv_width"] != 1)


def test_a_composed_law_keeps_name_slips_and_conditions_of_its_parts() -> None:
    whole, _, _, composed = composed_of_three()
    assert composed.name == whole.name
    assert [slip.slug for slip in composed.slips] == ["weights-twice", "bytes-forgotten"]
    assert [str(condition) for condition in composed.where] == ["kv_width*parameters <= gpu_memory", "batch <= slots"]
    assert composed.text() == "kv_budget = gpu_memory - parameters * kv_width - batch * safety_margin"


@given(st.fixed_dictionaries({n: st.integers(1, 9) for n in ("parameters", "kv_width", "gpu_memory")}))
def test_a_bound_composed_with_a_part_has_its_slips_as_relations(drawn: dict[str, int]) -> None:
    part = composed_of_three()[1]
    with author_order():
        placed = Bound("placed", q.weights <= q.gpu_memory, says="", section="")
    composed = placed.composed(part)
    (forgotten,) = (composed.with_slip(slip) for slip in composed.slips)
    assert composed(**drawn) is (drawn["parameters"] * drawn["kv_width"] <= drawn["gpu_memory"])
    assert forgotten(**{n: drawn[n] for n in forgotten.symbols}) is (drawn["parameters"] <= drawn["gpu_memory"])


def test_a_slip_of_a_bound_replaces_the_whole_relation() -> None:
    wrong = scaling.carries.with_slip(scaling.carries.slips[0])
    assert (wrong.relation, wrong.text()) == ("<=", "mean_concurrency <= gpus")
    assert wrong.solve("gpus", mean_concurrency="25.5") == 26


def test_a_quantity_and_a_law_are_called_by_the_same_name() -> None:
    assert memory.kv_bytes_per_token(layers=32, kv_heads=32, head_dim=128, kv_width=2) == 524_288
    assert memory.kv_bytes_per_token(layers=32, kv_heads=8, head_dim=128, kv_width="0.5") == 32_768
    assert memory.weights(parameters=7, weight_bits=1) == Fraction(7, 8)
    assert isinstance(memory.kv_budget(gpu_memory=1, weights=2, activations=0, safety_margin=0), Infeasible)


def test_expressions_keep_their_order_only_inside_the_scope() -> None:
    with author_order():
        kept = q.layers * 2 * q.batch
    assert str(q.layers * 2 * q.batch) == "2*batch*layers"
    assert Identity(q.context, kept, says="", section="").text() == "context = layers * 2 * batch"


def test_a_list_of_conditions_or_slips_is_kept_as_it_is_written() -> None:
    with author_order():
        law = Bound("b", q.batch <= q.slots, says="", section="", where=[q.batch < q.concurrency, q.batch >= 2])
    assert [c.says for c in law.conditions] == ["batch < concurrency", "batch >= 2"]
    assert [c.missed_by({"batch": 3, "concurrency": 3, "slots": 9}) for c in law.conditions] == [0, None]
    assert [c.missed_by({"batch": 2, "concurrency": 3, "slots": 9}) for c in law.conditions] == [None, None]
    assert [c.missed_by({"batch": 1, "concurrency": 0, "slots": 9}) for c in law.conditions] == [1, 1]
    assert law.conditions[0].missed_by({"batch": 5}) is None
    assert law.conditions[0].unit == "sequence"


def test_every_law_is_found_once_by_its_name() -> None:
    assert laws()["fits"] is memory.fits
    assert laws()["decode_bytes"] is phases.decode_bytes
    assert all(name == law.name for name, law in laws().items())


def test_two_laws_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "doubled.py").write_text(
        "from spec import quantities as q\nfrom spec.laws import Identity\n"
        "fits = Identity(q.wait, q.ttft, name='fits', says='', section='')\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(spec, "__path__", [*spec.__path__, str(tmp_path)])
    monkeypatch.setattr(index, "by_module", index.by_module.__wrapped__)
    with pytest.raises(ValueError, match="two laws are named fits"):
        index.laws.__wrapped__()


def test_every_quantity_has_a_letter_of_its_own_and_a_law() -> None:
    letters = [quantity.symbol for quantity in quantities().values()]
    assert sorted(letters) == sorted(set(letters))
    names = {name for law in LAWS for name in law.symbols} | {
        s.name for _, slip in SLIPS for s in sympy.sympify(slip.instead).free_symbols
    }
    assert names == quantities().keys()
    for name, quantity in quantities().items():
        assert quantity.name == name
        assert quantity.section in SECTIONS
        assert quantity.assumed is None or quantity.assumed in quantity.domain
