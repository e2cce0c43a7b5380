"""The command line as a real process: terminals, pipes, signals, colours, completion, and every printed example."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli.app import COMMANDS, app
from grader.exercise import Exercise, Part
from grader.ledger import Ledger, Submission

GRADE = Path(sys.executable).with_name("grade")
CONFIGS = Path(__file__).parents[1] / "data" / "configs"
BASH = shutil.which("bash") or "sh"
PART = Part("a", "gpus", "How many?", "count", "14", "GPU", unit_in_question=True)
EXERCISE = Exercise("sample", 1, 7, "Count.", (), (PART,))

pytestmark = pytest.mark.slow


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path) as opened:
        opened.pose("ada", EXERCISE)
    return path


def environment(ledger: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "GRADE_DEBUG"}}
    return kept | {"GRADE_LEDGER": str(ledger), "GRADE_STUDENT": "ada"} | more


def grade(ledger: Path, *arguments: str | bytes, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [GRADE, *arguments], input=stdin, capture_output=True, env=environment(ledger, **more), check=False
    )


def attempts(ledger: Path) -> list[int]:
    with Ledger.open(ledger) as opened:
        return [row.attempt for row in opened.rows() if isinstance(row, Submission)]


def test_two_terminals_at_once_both_succeed(ledger: Path) -> None:
    rounds = 6
    with ThreadPoolExecutor(4) as terminals:
        done = list(terminals.map(lambda n: grade(ledger, "submit", "sample/7", str(n), "--json"), range(4 * rounds)))
    assert [(d.returncode, d.stderr) for d in done if d.returncode not in {0, 1}] == []
    said = sorted(json.loads(d.stdout)["attempt"] for d in done)
    assert said == list(range(1, 4 * rounds + 1)) == attempts(ledger)


def test_a_pipe_that_is_closed_early_is_silent(ledger: Path) -> None:
    for command in ("calc --quantities", "calc --models --json", "--help"):
        line = f"set -o pipefail; {GRADE} {command} | head -c 1"
        done = subprocess.run([BASH, "-c", line], capture_output=True, env=environment(ledger), check=False)
        assert (len(done.stdout), done.stderr) == (1, b"")


def test_ten_megabytes_on_stdin_are_refused_in_one_sentence(ledger: Path) -> None:
    done = grade(ledger, "submit", "sample/7", "-", stdin=b"1" * 10_000_000)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [b"Error: Standard input is longer than 64 KiB, which no answer is."]
    assert attempts(ledger) == []


@pytest.mark.parametrize(
    "answer", [b"1\x004", b"\x1b[31m14", "14\u200b \ud800".encode("utf-8", "surrogatepass"), "\u0664".encode()]
)
def test_strange_bytes_are_answered_and_never_crash(ledger: Path, answer: bytes) -> None:
    done = grade(ledger, "submit", "sample/7", "-", stdin=answer)
    assert done.returncode in {0, 2}
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stdout


def test_bytes_that_are_no_text_may_stand_in_an_argument(ledger: Path) -> None:
    done = grade(ledger, "submit", "sample/7", b"14\xff", "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (2, "invalid")


def test_closed_standard_streams_are_no_crash(ledger: Path) -> None:
    for line, status in ((f"{GRADE} submit sample/7 - <&-", 2), (f"{GRADE} submit sample/7 14 >&-", 0)):
        done = subprocess.run([BASH, "-c", line], capture_output=True, env=environment(ledger), check=False)
        assert done.returncode == status, done.stderr
        assert b"Traceback" not in done.stderr


def test_a_terminal_without_a_sign_is_shown_its_code(ledger: Path) -> None:
    done = grade(ledger, "submit", "sample/7", "14 \u20ac".encode(), PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr.startswith(b"For a hint")) == (1, True)
    assert b"\\u20ac" in done.stdout


def test_interrupting_says_one_line_and_loses_nothing(ledger: Path) -> None:
    grade(ledger, "submit", "sample/7", "13")
    command = [GRADE, "submit", "sample/7", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(ledger)
    ) as waiting:
        _until_it_reads(waiting.pid)
        waiting.send_signal(signal.SIGINT)
        output, errors = waiting.communicate(timeout=30)
    assert (waiting.returncode, output) == (130, b"")
    assert errors.split(b"\n") == [b"", b"Interrupted. Everything recorded before is safe.", b""]
    assert attempts(ledger) == [1]


def _until_it_reads(process: int) -> None:
    """Wait until a process has loaded everything and sleeps in its read of standard input."""
    deadline, asleep = time.monotonic() + 30, 0
    while asleep < 5 and time.monotonic() < deadline:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        asleep = asleep + 1 if state == "S" else 0
        time.sleep(0.05)


def _on_a_terminal(ledger: Path, **more: str) -> bytes:
    main, other = pty.openpty()
    with subprocess.Popen(
        [GRADE, "submit", "sample/7", "14"], stdout=other, stderr=other, stdin=other, env=environment(ledger, **more)
    ) as running:
        running.wait(30)
    shown = b""
    while select.select([main], [], [], 0.2)[0]:
        shown += os.read(main, 4096)
    os.close(main)
    os.close(other)
    return shown


def test_a_terminal_gets_colours_unless_it_declines_them(ledger: Path) -> None:
    assert b"\x1b[32m" in _on_a_terminal(ledger)
    plain = _on_a_terminal(ledger, NO_COLOR="1")
    assert b"Correct." in plain
    assert b"\x1b" not in plain
    assert b"\x1b" not in grade(ledger, "submit", "sample/7", "14").stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("grade su", "submit"),
        ("grade new max-c", "max-context"),
        ("grade submit samp", "sample/7"),
        ("grade calc conc", "concurrency"),
        ("grade calc concurrency conte", "context="),
    ],
)
def test_commands_families_ids_and_quantities_are_completed(ledger: Path, typed: str, offered: str) -> None:
    words = typed.split()
    done = grade(ledger, _GRADE_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1))
    assert f"plain,{offered}" in done.stdout.decode().splitlines()


def test_completion_makes_no_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "none" / "ledger.sqlite"
    grade(ledger, _GRADE_COMPLETE="bash_complete", COMP_WORDS="grade submit x", COMP_CWORD="2")
    assert not ledger.parent.exists()


def examples() -> dict[str, str]:
    """Give every example of every `--help`, each with the set file that its help describes, if any."""
    found: dict[str, str] = {}
    for command in ("", *COMMANDS):
        text = CliRunner().invoke(app, [*filter(None, [command]), "--help"], prog_name="grade").stdout
        file = text.partition("A set file:\n")[2].partition("\n  Examples:")[0]
        shown = text.partition("Examples:\n")[2].partition("\n\n")[0].splitlines()
        assert shown, command
        found |= dict.fromkeys((line.strip() for line in shown), re.sub("(?m)^    ", "", file))
    return found


@pytest.mark.parametrize(("line", "file"), examples().items(), ids=examples())
def test_every_example_of_every_help_runs(line: str, file: str, tmp_path: Path) -> None:
    if file:
        (tmp_path / "week-1.toml").write_text(file, encoding="utf-8")
    if "config.json" in line:
        shutil.copy(CONFIGS / "Qwen--Qwen3-8B_config.json", tmp_path / "config.json")
    if "problems/" in line:
        (tmp_path / "problems").symlink_to(Path(__file__).parents[2] / "problems")
    path = f"{GRADE.parent}{os.pathsep}{os.environ['PATH']}"
    command = [BASH, "-c", line] if "|" in line else [str(GRADE), *shlex.split(line)[1:]]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(tmp_path / "l", PATH=path), capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, 1}, done.stderr
    assert done.stdout
    if "--json" in line:
        assert json.loads(done.stdout)["schema"] == 1
