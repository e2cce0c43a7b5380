"""What a command loads before it can answer: starting fast is a feature, and it is lost one import at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader.exercise import Exercise, Part, Tolerance
from grader.ledger import Ledger

# What judging needs beside click, and why.
ALLOWED = {
    "bisect": "familiar factors by size",
    "copy": "dataclasses",
    "dataclasses": "the exercise record",
    "datetime": "when a row was written",
    "decimal": "fractions",
    "fractions": "exact numbers",
    "gc": "put off until after the verdict",
    "json": "the record in the ledger",
    "locale": "the language of click's own messages",
    "math": "rounding",
    "numbers": "fractions",
    "operator": "fractions",
    "pwd": "the local user, where no variable names them",
    "spec": "the unit table",
    "sqlite3": "the ledger",
    "unicodedata": "superscripts and foreign digits",
}
OURS_ALLOWED = tuple(f"grader.{name}." for name in ("cli", "exercise", "feedback", "judging", "ledger", "reading"))
SCRIPT = """
import json, sys
import click
before = set(sys.modules)
sys.argv[0] = "grade"
from grader.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
"""

pytestmark = pytest.mark.meta


def loaded(*arguments: str | Path) -> set[str]:
    """Give the modules that a command loads and that `import click` does not."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    near = Tolerance("relative", "0.01")
    parts = (
        Part("a", "gpus", "How many?", "count", "14", "GPU", unit_in_question=True),
        Part("b", "weights", "How much?", "quantity", "14", "GB", near),
        Part("c", "parameters", "Which formula?", "expression", "12*L*H^2", symbols={"L": "positive", "H": "positive"}),
        Part("d", "limit", "Which?", "choice", "A", options=("A", "B")),
    )
    with Ledger.open(path) as opened:
        opened.pose("ada", Exercise("sample", 1, 7, "Answer.", (), parts))
    return path


@pytest.mark.parametrize(
    ("part", "answer"), [("a", "14"), ("a", "13 tokens"), ("b", "14000 MB"), ("c", "10*H^2 L"), ("d", "B"), ("b", "?!")]
)
def test_an_answer_is_judged_with_nothing_but_what_judging_needs(ledger: Path, part: str, answer: str) -> None:
    modules = loaded(
        "submit", "sample/7", "--exit-zero", "--part", part, answer, "--ledger", ledger, "--student", "ada"
    )
    foreign = {m.partition(".")[0] for m in modules if not m.startswith("grader")}
    assert {m for m in foreign if not m.startswith("_")} - ALLOWED.keys() == set()
    ours = {m for m in modules if m.startswith("grader.")}
    assert {m for m in ours if not f"{m}.".startswith(OURS_ALLOWED)} == set()
    assert "grader.judging" in ours


def test_help_loads_no_laws_no_templates_and_no_ledger() -> None:
    tops = {m.partition(".")[0] for m in loaded("--help")}
    assert tops & {"sympy", "jinja2", "sqlite3", "fractions", "spec", "problems"} == set()
    assert "grader" in tops
