"""`grade incident` as it is typed: the table, who broke together, what cured it, and the other simulation beside it."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from click.testing import CliRunner, Result

from grader.cli import incident
from grader.cli.app import app
from grader.cli.incident import replayed
from grader.simulation import story
from grader.simulation.story import cured_by, ordered
from spec.serving.admission import Reserve
from spec.serving.incident import Card, Outcome

pytestmark = pytest.mark.law


@cache
def pairs(seed: int) -> list[tuple[Outcome, Card]]:
    return list(replayed(seed))


@pytest.fixture(autouse=True)
def replayed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay takes seconds, and every test asks for the same."""
    monkeypatch.setattr(incident, "replayed", pairs)


def run(*args: str) -> Result:
    done = CliRunner().invoke(app, ["incident", *args])
    assert done.exit_code == 0, done.output
    return done


def found() -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run("--json").stdout)
    return answer


def outcomes() -> tuple[Outcome, ...]:
    return tuple(ordered([outcome for outcome, _ in pairs(1)]))


def test_every_combination_is_a_row_and_every_document_is_served_or_lost() -> None:
    rows = found()["rows"]
    assert found()["schema"] == 1
    assert len({(row["card"], row["batching"], row["admission"]) for row in rows}) == len(rows) == 18
    for row in rows:
        assert row["served"] + row["lost"] == len(found()["documents"]) == 600
        assert row["out_of_memory"] == len(row["broken"])
        assert row["lost"] == sum(len(batch["members"]) for batch in row["broken"])


def test_what_broke_together_was_too_much_together_and_fits_alone() -> None:
    prompts = {int(number): tokens for number, tokens in found()["documents"].items()}
    broken = [(row, batch) for row in found()["rows"] for batch in row["broken"]]
    assert broken
    for row, batch in broken:
        sizes = [prompts[member] for member in batch["members"]]
        padded = row["batching"].startswith("static")
        assert (len(sizes) * (max(sizes) + 256) if padded else sum(sizes) + 256 * len(sizes)) > row["kv_tokens"]
        assert max(sizes) + 256 < row["kv_tokens"]
        assert batch["wanted"] in batch["members"]


def test_reserving_is_named_as_the_cure_and_nothing_else() -> None:
    assert found()["cured_by"] == "What cured it, whatever else was done: admission by prompt and limit."
    lost = {reserve: sum(r["lost"] for r in found()["rows"] if r["admission"] == reserve) for reserve in Reserve}
    assert lost[Reserve.TURN] == 0 < lost[Reserve.PROMPT] < lost[Reserve.NONE]
    assert any(text.startswith("Continuous batching: documents are lost in 2 of 6") for text in found()["cures"])


def test_where_nothing_helps_nothing_is_called_a_cure() -> None:
    unchecked = [o for o in outcomes() if o.reserve is Reserve.NONE and o.card == "40 GB"]
    assert cured_by(unchecked) == "Nothing cured it alone."


def test_the_other_simulation_loses_documents_in_the_same_rows() -> None:
    assert [row["lost"] > 0 for row in found()["rows"]] == [row["elsewhere"]["lost"] > 0 for row in found()["rows"]]
    assert "Of the rows that lose documents, they are the same rows." in found()["compared"]


def test_rows_that_differ_from_the_other_simulation_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(story.ANOTHER, ("80 GB", "static 16", Reserve.NONE))
    assert "but for 80 GB, static 16, admission none." in story.compared(outcomes())


def test_the_table_prints_what_the_json_holds() -> None:
    lines = run().stdout.splitlines()[1:19]
    for line, row in zip(lines, found()["rows"], strict=True):
        cells = re.split(r" {2,}", line)
        assert cells[:2] == [row["card"], row["batching"]]
        assert cells[3:5] == [str(row["out_of_memory"]), str(row["lost"])]
        assert cells[-1] == f"{row['elsewhere']['out_of_memory']} / {row['elsewhere']['lost']}"
    assert run().stdout.rstrip().endswith("admission by prompt and limit.")


def test_every_broken_batch_is_named_when_asked_for() -> None:
    broken = sum(row["out_of_memory"] for row in found()["rows"])
    everything, some = (run(*args).stdout for args in (("--all",), ()))
    assert everything.count("\n  - ") == broken
    assert "--all" not in everything
    assert some.count("--all names them") == 5
    assert sum(int(number) for number in re.findall(r"and (\d+) more; --all", some)) == broken - 10


def test_another_seed_is_another_story() -> None:
    assert json.loads(run("--json", "--seed", "2").stdout)["documents"] != found()["documents"]
