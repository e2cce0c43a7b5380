"""`grade check` says the same without pytest: a table, each fault, and an exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.cli import main as _main  # noqa: F401  the command line as installed
from grader.cli.app import app

ROOT = Path(__file__).parents[2]
CALCULATOR = """
UNITS = {"memory": "GB"}
print("loading")

def weights(parameters, weight_bits):
    print("working")
    return parameters * weight_bits / 8e9

def kv_budget(gpu_memory, weights, activations, safety_margin):
    return max(0, gpu_memory - weights - activations)

def decode_rate(batch, colour):
    return 1
"""


def grade(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["check", *arguments])


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(CALCULATOR, encoding="utf-8")
    return str(tmp_path / "mine.py")


def test_a_broken_law_is_told_and_the_exit_status_is_one(file: str) -> None:
    found = grade(file, "--examples", "20")
    words = " ".join(found.output.split())
    assert found.exit_code == 1
    assert "2 laws checked" in words
    assert "kv_budget BROKEN The safety margin was not taken off (margin-forgotten)" in words
    assert "weights obeyed" in words
    assert "kv_budget is broken. Weights, activations and the safety margin come off the GPU's memory" in words
    assert "GB" in words
    assert "decode_rate is not checked: it takes 'colour', which is no quantity." in words
    assert "Not implemented: " in words
    assert "CacheManager" in words


def test_the_exit_status_is_zero_where_every_law_is_obeyed(file: str) -> None:
    found = grade(file, "--law", "weights", "--examples", "6")
    assert found.exit_code == 0
    assert "1 obeyed, 0 broken" in " ".join(found.output.split())


def test_json_holds_the_same_as_exact_numbers(file: str) -> None:
    found = grade(file, "--json", "--examples", "20", "--law", "kv_budget")
    said = json.loads(found.stdout)
    assert found.exit_code == 1
    assert said["schema"] == 1
    assert said["laws"]["kv_budget"] == "broken"
    fault = next(fault for fault in said["faults"] if fault["check"].startswith("kv_budget("))
    assert fault["units"]["weights"] == fault["unit"] == "GB"
    assert [like["slug"] for like in fault["looks_like"]] == ["margin-forgotten"]
    assert int(fault["got"]) > 0 or fault["got"] == "0"
    assert fault["counterexample"].keys() == {"gpu_memory", "weights", "activations", "safety_margin"}


def test_a_known_deviation_is_no_broken_law(file: str, tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    known.write_text('kv_budget = "We keep no margin."\nweights = "It was in GiB."\n', encoding="utf-8")
    found = grade(file, "--deviations", str(known), "--examples", "6")
    words = " ".join(found.output.split())
    assert found.exit_code == 0
    assert "kv_budget deviates We keep no margin." in words
    assert "weights no longer deviates" in words


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("kv_bugdet = 'x'", "names 'kv_bugdet', which is no law, function or sentence; did you mean kv_budget"),
        ("kv_budget = 1", "gives kv_budget no reason; a reason is a text."),
        ("kv_budget", "is not TOML"),
    ],
)
def test_a_file_of_deviations_that_cannot_be_read_is_one_sentence(
    file: str, tmp_path: Path, lines: str, words: str
) -> None:
    known = tmp_path / "known.toml"
    known.write_text(lines, encoding="utf-8")
    found = grade(file, "--deviations", str(known))
    assert found.exit_code == 2
    assert words in " ".join(found.output.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_where_there_is_no_room_for_the_report_one_sentence_says_so(form: list[str]) -> None:
    command = [sys.executable, "-c", "from grader.cli import main; main()", "check", "spec.conformance.example"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*command, "--law", "fits", "--examples", "2", *form],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "Error: Nothing more can be written: No space left on device.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Name a candidate, or a program with --command."),
        (("json", "--command", "true"), "Name a candidate, or a program with --command."),
        (("json",), "json has nothing to check: no function of it is named as a quantity"),
        (("no_such_module",), "There is no module 'no_such_module' here"),
        (("--command", "true"), "true does not describe itself: it ended instead of answering (exit status 0)."),
        (("--command", "node 'x"), 'The command "node \'x" cannot be read: no closing quotation.'),
        (("json", "--time-limit", "inf"), "A time limit of inf s makes no sense; it is over 0 and at most 86400 s."),
        (("json", "--time-limit", "nan"), "A time limit of nan s makes no sense"),
        (("json", "--law", "fit"), "There is no law 'fit'; did you mean fits"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    found = grade(*arguments)
    assert found.exit_code == 2
    assert words in " ".join(found.output.split())
    assert "Traceback" not in found.output
