"""`grade lab` as it is typed: every step, one of them, its JSON, its exit status and its refusals."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from grader.cli.app import app
from spec.claims.design_batching import LAB_LENGTHS
from spec.lab import STEPS


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["lab", *args])


def test_the_json_holds_every_step_and_every_claim() -> None:
    done = run("--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["schema"], found["holds"], found["of"], done.exit_code) == (1, 38, 38, 0)
    assert [step["step"] for step in found["steps"]] == list(range(1, 14))
    assert [step["title"] for step in found["steps"]] == [step.title for step in STEPS]
    claims = [claim for step in found["steps"] for claim in step["claims"]]
    assert [claim["claim"] for claim in claims] == list(range(1, 39))
    assert all(list(claim) == ["claim", "says", "measured", "holds"] for claim in claims)
    assert all(claim["holds"] is True and claim["says"] and claim["measured"] for claim in claims)


def test_the_steps_come_in_order_with_what_was_measured_and_the_tally_last() -> None:
    shown = " ".join(run().stdout.split())
    order = [shown.index(f"Step {number}: {step.title} ") for number, step in enumerate(STEPS, 1)]
    assert order == sorted(order)
    assert "19 holds Of 64 jobs in 8 slots" in shown
    assert "Measured: of all slots in all steps continuous batches use 91.4 %" in shown
    assert shown.endswith("38 of 38 claims hold")


@pytest.mark.parametrize("number", range(1, 14))
def test_one_step_is_chosen(number: int) -> None:
    everything = json.loads(run("--json").stdout) if number == 1 else None
    found = json.loads(run("--step", str(number), "--json").stdout)
    [step] = found["steps"]
    assert step["step"] == number
    assert step["note"] == (STEPS[number - 1].note or None)
    assert found["of"] == len(step["claims"]) == len(STEPS[number - 1].claims)
    assert everything is None or everything["steps"][0] == step


def test_a_claim_that_fails_says_so_and_the_exit_status_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spec.lab.batching.LAB_LENGTHS", [256, *LAB_LENGTHS[1:]])
    done = run("--step", "6")
    assert done.exit_code == 1
    assert "16  fails " in done.stdout
    assert done.stdout.endswith("1 of 3 claims hold\n")
    found = json.loads(run("--step", "6", "--json").stdout)
    assert (found["holds"], [claim["holds"] for claim in found["steps"][0]["claims"]]) == (1, [False, True, False])


@pytest.mark.parametrize("typed", ["0", "14", "-1", "seven", "1.5", ""])
def test_a_step_that_is_not_there_is_refused_in_one_sentence(typed: str) -> None:
    done = run("--step", typed)
    assert done.exit_code == 2
    assert done.stderr == f"Error: There is no step {typed!r}; there are 1 to 13.\n"
    assert json.loads(run("--step", typed, "--json").stdout)["error"] in done.stderr
