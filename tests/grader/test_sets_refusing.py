"""What platforms cannot judge is refused before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli.app import app
from grader.executing import COPIED
from grader.sets import CannotJudge, check, format_names, writer
from tests.grader.every_family import first_of_each

PLATFORMS = ("gradescope", "prairielearn")  # where a copy of the judge runs
SET = """\
title = "Week 1"
[[items]]
family = "kv-per-token"
[[items]]
family = "session-policy"
"""
SAID = (
    "Error: Exercise 2, session-policy, asks for a policy, which gradescope cannot judge; these formats can have it: "
    "csv, html, jupyter, md, moodle, pdf, qti, tex.\n"
)


@pytest.mark.law
@pytest.mark.parametrize("name", PLATFORMS)
def test_a_copy_of_the_judge_refuses_just_what_it_cannot_run(name: str) -> None:
    for exercise in first_of_each():
        for part in exercise.parts:
            module = part.run and f"grader/executing/{part.run.what.replace('-', '_')}.py"
            assert (part.kind in writer(name).refuses) == (module is not None and module not in COPIED), exercise.id


@pytest.mark.parametrize("roster", [False, True])
def test_a_set_that_a_platform_cannot_judge_is_refused_in_a_sentence(tmp_path: Path, roster: bool) -> None:  # noqa: FBT001
    (tmp_path / "set.toml").write_text(SET, encoding="utf-8")
    (tmp_path / "roster.csv").write_text("id\nu1\nu2\n", encoding="utf-8")
    arguments = ["set", str(tmp_path / "set.toml"), "--out", str(tmp_path / "out"), "--format", "csv"]
    arguments += ["--roster", str(tmp_path / "roster.csv")] if roster else []
    done = CliRunner().invoke(app, [*arguments, "--format", "gradescope"])
    assert (done.exit_code, done.output) == (2, SAID)
    assert not [p for p in tmp_path.rglob("out/**/*") if p.is_file() and p.name != "secret"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output


def test_all_formats_are_named_that_cannot() -> None:
    with pytest.raises(CannotJudge) as refused:
        check([(1, "x", ["count"]), (3, "y", ["count", "policy"])], ["md", *PLATFORMS])
    assert (refused.value.number, refused.value.family, refused.value.refused) == (3, "y", PLATFORMS)
    assert set(refused.value.able) == set(format_names()) - set(PLATFORMS)
    check([(1, "x", ["count", "invariant", "counterexample", "mistake", "ranking"])], format_names())
