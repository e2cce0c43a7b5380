"""`grade claims` as it is typed: conflicts first, statements by section, one of either, its JSON and its refusals."""

import json
import re

import pytest
from click.testing import CliRunner, Result

from grader.cli.app import app
from spec.claims import VERDICTS, claims, conflicts

KEYS = ["id", "section", "says", "verdict", "assumption", "contradicts", "conflicts", "computed", "unchecked"]


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["claims", *args])


@pytest.fixture(scope="module")
def everything() -> dict[str, list[dict[str, object]]]:
    found = json.loads(run("--json").stdout)
    assert found["schema"] == 1
    return {"claims": found["claims"], "conflicts": found["conflicts"]}


def test_the_json_holds_every_statement_and_every_conflict(everything: dict[str, list[dict[str, object]]]) -> None:
    assert [claim["id"] for claim in everything["claims"]] == list(claims())
    assert [conflict["id"] for conflict in everything["conflicts"]] == list(conflicts())
    assert all(list(claim) == KEYS for claim in everything["claims"])
    met = {(claim["id"], conflict) for claim in everything["claims"] for conflict in claim["conflicts"]}  # type: ignore[attr-defined]
    assert met == {(name, k["id"]) for k in everything["conflicts"] for name in k["claims"]}  # type: ignore[attr-defined]
    assert {claim["verdict"] for claim in everything["claims"]} <= set(VERDICTS)
    assert all(
        (claim["computed"] is None) == (claims()[str(claim["id"])].check is None or claim["verdict"] == "pending")
        for claim in everything["claims"]
    )


def test_the_tally_comes_first_then_the_conflicts_then_the_statements() -> None:
    shown = run("--section", "code").stdout
    parts = ("10 statements: 2 hold, ", "conflicts between statements", "\nK12 ", "\ncode\n", "\nC120 ", "\nC171 ")
    order = [shown.index(part) for part in parts]
    assert order == [0, *sorted(order[1:])]
    assert [line for line in shown.splitlines() if line in {"code", "lab"}] == ["code"]


def test_a_section_is_shown_once_with_all_of_its_statements() -> None:
    shown = run().stdout.splitlines()
    for section in dict.fromkeys(claim.section for claim in claims().values()):
        assert shown.count(section) == 1
    assert [line.split()[0] for line in shown if re.match(r"C\d", line)] == [
        claim.id
        for section in dict.fromkeys(c.section for c in claims().values())
        for claim in claims().values()
        if claim.section == section
    ]


def test_statements_and_conflicts_name_each_other() -> None:
    shown = " ".join(run("--section", "code").stdout.split())
    assert "Statements: C21 (assumes), C24 (assumes), C55 (holds), C125 (false)." in shown
    assert "Contradicts C21, C24. Conflicts: K12." in shown


def test_what_is_not_checked_says_why() -> None:
    assert "Not checked: nobody has these logs." in run("C176").stdout


def test_one_statement_is_shown_with_its_computation() -> None:
    done = run("c121")
    assert done.exit_code == 0
    assert done.stdout.startswith("C121  false\n")
    assert "131,072 instead of 524,288 B/token" in done.stdout
    assert "Contradicts C158." in done.stdout
    assert "Conflicts: K13." in done.stdout
    assert "C158  " not in done.stdout


def test_one_conflict_is_shown_with_its_numbers_and_its_decision() -> None:
    shown = " ".join(run("K1").stdout.split())
    assert "GB: 102,996 tokens, 25 and 12 sequences" in shown
    assert "Decided: Every amount carries its unit" in shown
    assert "Statements: C62 (false), C63 (assumes), C64 (assumes)." in shown


def test_an_assumption_is_named() -> None:
    assert "Assumes: no safety margin is kept." in run("C122").stdout


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_selects_statements(verdict: str, everything: dict[str, list[dict[str, object]]]) -> None:
    found = json.loads(run("--section", "answers", "--verdict", verdict, "--json").stdout)
    wanted = [c for c in everything["claims"] if c["verdict"] == verdict and c["section"] == "answers"]
    assert (found["claims"], found["conflicts"]) == (wanted, [])


@pytest.mark.parametrize("section", dict.fromkeys(claim.section for claim in claims().values()))
def test_a_section_selects_statements(section: str, everything: dict[str, list[dict[str, object]]]) -> None:
    found = json.loads(run("--section", section, "--json").stdout)
    assert found["claims"] == [claim for claim in everything["claims"] if claim["section"] == section]
    inside = {claim["id"] for claim in found["claims"]}
    assert all(inside & set(conflict["claims"]) for conflict in found["conflicts"])


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (("C1700",), "There is no statement or conflict 'C1700'; did you mean C170"),
        (("nonsense",), "There is no statement or conflict 'NONSENSE'; there are C1 to C177 and K1 to K22."),
        (("--section", "codes"), "There is no section 'codes'; did you mean code"),
        (("--verdict", "fals"), "There is no verdict 'fals'; did you mean false?"),
        (("--verdict", "xyz"), "There is no verdict 'xyz'; there are holds, assumes, false, not-checkable, pending."),
    ],
)
def test_what_is_not_there_is_refused_in_one_sentence(typed: tuple[str, ...], sentence: str) -> None:
    done = run(*typed)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert json.loads(run(*typed, "--json").stdout)["error"].startswith(sentence)


def test_a_statement_outside_the_chosen_section_says_that_nothing_is_found() -> None:
    assert run("C121", "--section", "lab").stdout == "No statement is like that.\n"
