"""The page on candidates says what the suite does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli.app import app
from spec.conformance.__main__ import COMMAND, page
from spec.conformance.declared import declared, known
from spec.index import laws

PAGE = Path(__file__).parents[2] / "spec" / "conformance" / "README.md"

pytestmark = pytest.mark.meta


def test_the_page_is_fresh() -> None:
    stale = "run `make pages`"
    assert PAGE.read_text(encoding="utf-8") == page(), stale


def test_the_output_of_the_example_is_what_the_command_prints() -> None:
    found = CliRunner().invoke(app, COMMAND.split()[1:])
    assert found.exit_code == 1
    shown = PAGE.read_text(encoding="utf-8").split(f"$ {COMMAND}\n")[1].split("```")[0]
    assert shown == found.output


def test_every_law_and_every_quantity_stands_in_a_table() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert {row[3].removesuffix(" |") for row in rows if len(row) == 4} >= set(laws())
    assert {re.sub("[|` ]", "", row[0]) for row in rows} >= set(known())


def test_every_declaration_of_the_page_is_understood() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(UNITS|ASSUMES|TOLERANCE|EXACT)` \| (.*?) \|", text, re.MULTILINE)
    assert [name for name, _ in rows] == ["UNITS", "ASSUMES", "TOLERANCE", "EXACT"]
    for name, examples in rows:
        for example in re.findall("`(.*?)`", examples):
            value = eval(example, {})  # noqa: S307  a literal of the page
            assert declared(lambda asked, default, name=name, value=value: value if asked == name else default)
