"""The kill table: every mutant and every slip of every law is noticed, by a sentence and not only by a worked number.

Run with `-s` to see it, or print it with `python -m spec.invariants --kills`.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

import pytest

from spec.index import laws
from spec.invariants import __main__ as command
from spec.invariants import true
from spec.invariants.example import Worked
from spec.invariants.kills import Fault, Row, differs, judged, mutants_of, noticed, points, slips_of, table
from spec.invariants.reference import Reference, questions
from spec.invariants.report import kill_table
from spec.invariants.worked import WORKED
from spec.laws import Law
from spec.solving import Exact, Infeasible

pytestmark = pytest.mark.meta


DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
MOST = 60  # mutants of one law in a run that is not deep
BY_LAW = pytest.mark.parametrize("name", laws())


def tried(name: str) -> list[Fault]:
    """Give the mutants of a law: all of them in the deep run, evenly chosen ones of the few laws with very many."""
    every = mutants_of(laws()[name])
    return every if DEEP else every[:: -(-len(every) // MOST)]


@cache
def mutants_judged(name: str) -> Row:
    (row,) = table({name: tried(name)})
    return row


@cache
def slips_judged(name: str) -> Row:
    (row,) = table({name: slips_of(laws()[name])})
    return row


def row_of(fault: Fault) -> Row:
    row = Row(fault.law)
    judged(fault, row)
    return row


@BY_LAW
def test_every_mutant_of_a_law_is_noticed_by_a_sentence_or_is_the_same_law(name: str) -> None:
    row = mutants_judged(name)
    sys.stdout.write("\n" + kill_table("mutants of", [row]))
    assert not [fault.says for fault in row.alive]
    assert not [f"{fault.says}: only {number}" for fault, number in row.by_number]
    assert not [fault.says for fault in row.same if differs(fault)]
    assert row.total == len(tried(name))


@BY_LAW
def test_every_slip_of_a_law_is_noticed_by_a_sentence(name: str) -> None:
    row = slips_judged(name)
    sys.stdout.write("\n" + kill_table("slips of", [row]))
    assert not [fault.says for fault in row.alive + row.same]
    assert not [f"{fault.says}: only {number}" for fault, number in row.by_number]
    assert row.total == len(laws()[name].slips)


def test_the_law_itself_passes_where_faults_are_tried() -> None:
    impl = Reference()
    for invariant in true():
        for values in points(invariant):
            assert invariant.holds(impl, values), f"{invariant.id} at {values}"


@pytest.mark.parametrize("name", ["fits", "parameters_approx", "ttft", "carries"])
def test_the_sentence_named_notices_the_fault_and_not_the_law(name: str) -> None:
    by_id = {invariant.id: invariant for invariant in true()}
    for fault, found in mutants_judged(name).by_invariant:
        assert noticed(by_id[found], fault, points(by_id[found]))
        assert not noticed(by_id[found], Fault(name, "the law", laws()[name]), points(by_id[found]))


def test_a_power_of_a_flag_is_called_the_same_law() -> None:
    (row,) = table({"parameters": mutants_of(laws()["parameters"])})
    assert row.same


@pytest.mark.parametrize("name", ["kv_bytes_per_token", "within_slots", "blocks_per_sequence"])
def test_a_comparison_at_many_points_tells_a_noticed_fault_from_its_law(name: str) -> None:
    assert all(differs(fault) for fault, _ in mutants_judged(name).by_invariant)


def test_the_law_in_place_of_a_fault_is_reported_as_unnoticed() -> None:
    row = row_of(Fault("fits", "nothing", laws()["fits"]))
    assert [fault.says for fault in row.alive] == ["nothing"]
    assert "fits: nothing; UNNOTICED" in kill_table("faults of", [row])


class RightButFor:
    """The attention law, wrong at one context alone: too rare for any sentence."""

    def __init__(self, context: int) -> None:
        self.law, self.context, self.symbols = laws()["attention_scores_per_head"], context, {}
        self.symbols = self.law.symbols

    def __call__(self, **known: Any) -> Any:
        return self.law(**known)

    def solve(self, name: str, /, **known: Any) -> Exact | Infeasible:
        answer = self.law.solve(name, **known)
        return 0 if known.get("context") == self.context else answer


def test_a_fault_at_a_worked_number_alone_stands_in_its_own_column() -> None:
    row = row_of(Fault("attention_scores_per_head", "wrong at 4,096", RightButFor(4096)))
    assert [number for _, number in row.by_number] == ["attention_scores_per_head: the chapter's 4K context"]
    assert "only by a number" in kill_table("faults of", [row])


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: f"{worked.gives}: {worked.source}")
def test_a_worked_number_is_right(worked: Worked) -> None:
    assert worked.holds(Reference())
    assert worked.source


def test_every_law_has_a_worked_number() -> None:
    assert {questions()[w.gives, frozenset(w.given)].name for w in WORKED} == set(laws())


def test_the_command_prints_the_sentences_and_the_tables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command.main([])
    printed = capsys.readouterr().out
    assert "I09: Two parts of a context cache together what the whole context caches.\n" in printed
    assert "FALSE: kv_budget = 1, context = 1, kv_bytes_per_token = 1. Whole sequences only" in printed
    monkeypatch.setattr(command, "mutant_table", lambda: [mutants_judged("fits")])
    monkeypatch.setattr(command, "slip_table", lambda: [slips_judged("fits")])
    command.main(["--kills"])
    printed = capsys.readouterr().out
    assert printed.startswith("mutants of ")
    assert "slips of " in printed
    assert printed.count("\ntotal ") == 2


def test_a_law_that_breaks_is_seen_by_its_own_sentences() -> None:
    broken: Law = laws()["kv_bytes_per_token"].changed(right=laws()["kv_bytes_per_token"].right * 2)
    assert [found for _, found in row_of(Fault(broken.name, "twice too much", broken)).by_invariant]
