"""The plugin makes a test of every check, tells each fault, and costs a run without a candidate nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.meta
ROOT = Path(__file__).parents[2]
CALCULATOR = """
def weights(parameters, weight_bits):
    return parameters * weight_bits / 8

def kv_bytes_per_token(layers, kv_heads, head_dim, kv_width):
    return layers * kv_heads * head_dim * kv_width

def mean_concurrency(arrival_rate, service_time):
    return "many"
"""
IMPORTED = """
import sys, pytest
before = set(sys.modules)
import spec.conformance.plugin
print(sorted(name for name in set(sys.modules) - before if not name.startswith("_pytest")))
"""


def run(*arguments: str, cwd: Path, rc: int) -> str:
    """Run pytest on the suite with nothing of this project's own settings."""
    (cwd / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "spec.conformance.plugin", "-p", "no:cacheprovider", *arguments]
    path = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "COLUMNS": "200"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=path, check=False)
    assert done.returncode == rc, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(CALCULATOR, encoding="utf-8")
    return tmp_path


def test_the_plugin_imports_nothing_but_pytest() -> None:
    command = [sys.executable, "-c", IMPORTED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "['spec', 'spec.conformance', 'spec.conformance.plugin']"


def test_a_run_without_a_candidate_is_as_it_was(here: Path) -> None:
    (here / "test_own.py").write_text(
        "import sys\ndef test_own():\n    assert not {'sympy', 'spec.laws', 'spec.conformance.suite'} & {*sys.modules}",
        encoding="utf-8",
    )
    said = run("test_own.py", "-q", cwd=here, rc=0)
    assert "1 passed" in said
    assert "conformance" not in said
    assert "1 skipped" in run("--pyargs", "spec.conformance", "-q", cwd=here, rc=0)


def test_a_candidate_gets_a_test_for_every_check_and_a_table(here: Path) -> None:
    said = run(
        "--pyargs", "spec.conformance", "--candidate", "mine", "-rA", "--candidate-examples", "10", cwd=here, rc=1
    )
    assert "PASSED" in said
    assert "test_law[weights: weights(parameters, weight_bits)]" in said
    assert "not implemented" in said
    assert "The factor 2 is missing: a key and a value are kept (values-forgotten)" in said
    assert "mean_concurrency returned the text 'many' instead of a number" in said
    assert "Traceback" not in said
    assert "mine: 3 laws checked" in said
    assert "1 obeyed, 2 broken" in said


def test_known_deviations_are_no_failures_and_are_told_when_they_are_over(here: Path) -> None:
    (here / "known.toml").write_text(
        'kv_bytes_per_token = "keys only, on purpose"\nmean_concurrency = "words"\nweights = "gone"\n', encoding="utf-8"
    )
    arguments = ("--pyargs", "spec.conformance", "--candidate", "mine", "--candidate-examples", "6")
    said = run(*arguments, "--deviations", "known.toml", "-rx", cwd=here, rc=0)
    assert "keys only, on purpose" in said
    assert "1 obeyed, 0 broken, 2 known to deviate" in said
    assert "weights no longer deviates; its line in the file of deviations can go." in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--candidate", "nowhere"), "ERROR: There is no module 'nowhere' here"),
        (("--candidate", "mine", "--candidate-law", "fit"), "ERROR: There is no law 'fit'; did you mean fits"),
        (
            ("--candidate", "mine", "--deviations", "no.toml"),
            "ERROR: no.toml cannot be read: No such file",
        ),
        (("--candidate", "mine", "--candidate-command", "cat"), "ERROR: Name a candidate or a program, not both"),
        (("--candidate", "mine", "--candidate-examples", "0"), "ERROR: --candidate-examples 0 is too few"),
        (("--candidate", "mine", "--candidate-time-limit", "0"), "ERROR: A time limit of 0 s makes no sense"),
        (("--candidate-command", "false"), "ERROR: false does not describe itself: it ended"),
    ],
)
def test_what_cannot_be_used_ends_the_run_in_one_sentence(here: Path, arguments: tuple[str, ...], words: str) -> None:
    said = run("--pyargs", "spec.conformance", *arguments, cwd=here, rc=4)
    assert words in said
    assert "Traceback" not in said
