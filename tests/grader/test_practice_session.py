"""A session of `grade practice`: what is asked and told, and that nothing is lost however it ends."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.cli.app import app
from grader.exercise import Exercise
from grader.families import pose
from grader.ledger import Help, Ledger, Posed, Row, Submission
from grader.practising.showing import shown_by, typed

GRADE = Path(sys.executable).with_name("grade")
BASH = shutil.which("bash") or "sh"
OF = ("--objective", "weight-memory")  # whose families ask for one thing each


class Desk(NamedTuple):
    """A ledger, and sessions on it of one learner."""

    path: Path

    def practise(self, *lines: str | bytes, of: tuple[str, ...] = OF, ends: bytes = b"\n") -> Result:
        typed = b"".join((line if isinstance(line, bytes) else line.encode()) + ends for line in lines)
        return CliRunner().invoke(app, ["practice", *of], input=typed, env=self.environment())

    def environment(self, **more: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "GRADE_DEBUG"}}
        return kept | {"GRADE_LEDGER": str(self.path), "GRADE_STUDENT": "ada"} | more

    def rows(self, kind: type[Row]) -> list[Row]:
        with Ledger.open(self.path) as ledger:
            return [row for row in ledger.rows() if isinstance(row, kind)]

    def posed(self) -> list[Exercise]:
        return [row.exercise for row in self.rows(Posed) if isinstance(row, Posed)]

    def answers(self) -> list[Submission]:
        return [row for row in self.rows(Submission) if isinstance(row, Submission)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "ledger.sqlite")


def right(exercise: Exercise, part: str = "a") -> str:
    asked = exercise.part(part)
    return "none" if asked.key is None else f"{asked.key} {asked.unit}"


def asked(done: Result) -> list[str]:
    """Give the ids of the exercises that a session printed."""
    return re.findall(r"^[a-z-]+/\d+$", done.stdout, re.MULTILINE)


def test_a_wrong_answer_is_explained_and_a_right_one_leads_on(desk: Desk) -> None:
    desk.practise()
    (exercise,) = desk.posed()
    part = exercise.parts[0]
    slip = next(each for each in part.slips if each.slip in shown_by(part))
    done = desk.practise(typed(part, slip), right(exercise))
    assert done.exit_code == 0
    said = " ".join(done.stdout.split())
    assert said.index("Not correct.") < said.index(slip.sentence) < said.index("Correct.")
    assert [row.receipt in said for row in desk.answers()] == [True, True]
    assert [row.verdict for row in desk.answers()] == ["incorrect", "correct"]
    first, following = desk.posed()
    assert asked(done) == [first.id, following.id]


def test_the_words_give_hints_and_the_solution_and_leave_an_exercise(desk: Desk) -> None:
    done = desk.practise("hint", "HINT", "", "help", "solution", "skip", "quit", "never read")
    first, second, third = desk.posed()
    assert asked(done) == [first.id, second.id, third.id]
    assert "Hint 1 of 3" in done.stdout
    assert "Hint 2 of 3" in done.stdout
    assert f"Answer: {right(first).split()[0]}" in done.stdout
    helps = [(row.seed, row.kind, row.level) for row in desk.rows(Help) if isinstance(row, Help)]
    assert helps == [(first.seed, "hint", 1), (first.seed, "hint", 2), (first.seed, "solution", 1)]
    assert desk.answers() == []
    assert "never read" not in done.stdout


def test_it_goes_on_with_what_was_asked_last_and_not_with_what_was_skipped(desk: Desk) -> None:
    skipped, open_one = asked(desk.practise("skip", "1 ms"))
    again = desk.practise("quit")
    assert asked(again) == [open_one]
    assert "still open" in again.stdout
    assert len(desk.posed()) == 2
    assert skipped != open_one


def test_an_exercise_that_is_begun_goes_on_with_its_open_parts(desk: Desk) -> None:
    exercise = replace(pose("exercise-4", 0), family="weight-memory", seed=5)
    with Ledger.open(desk.path) as ledger:
        ledger.pose("ada", exercise)
    assert "a) > " in desk.practise(right(exercise, "a")).stdout
    rest = desk.practise(*(right(exercise, letter) for letter in "bcdef"))
    assert re.findall(r"^(.\) )> ", rest.stdout, re.MULTILINE) == [f"{letter}) " for letter in "bcdef"]
    assert asked(rest) == [each.id for each in desk.posed()]
    assert [(row.part, row.verdict) for row in desk.answers()] == [(part, "correct") for part in "abcdef"]


def test_four_right_of_five_master_an_objective_and_end_the_session(desk: Desk) -> None:
    for _ in range(4):
        done = desk.practise("quit")
        assert "mastered" not in done.stdout
        done = desk.practise(right(desk.posed()[-1]))
    assert "Mastered." in done.stdout
    assert "++++." in done.stdout
    answered = len(desk.posed())
    again = desk.practise("1", "2")
    assert again.exit_code == 0
    assert (asked(again), len(desk.posed())) == ([], answered)


def test_all_six_objectives_are_shown_with_how_far_they_are(desk: Desk) -> None:
    done = desk.practise("quit", of=())
    for name in ("attention", "kv-cache", "phases", "batching", "memory", "first-token"):
        assert re.search(rf"^  {name} +\.\.\.\.\.  (0 of 5|no exercises)", done.stdout, re.MULTILINE)


def test_an_answer_may_stand_in_a_file(desk: Desk, tmp_path: Path) -> None:
    desk.practise()
    file = tmp_path / "my answer.txt"
    file.write_text(f"\ufeff{right(desk.posed()[0])}\n", encoding="utf-8")
    done = desk.practise("@no/such/file", f"@{tmp_path}", "@", "@a\0b", f"@{file}")
    assert done.exit_code == 0
    assert "No such file" in done.stdout
    assert "directory" in done.stdout
    assert [row.verdict for row in desk.answers()] == ["correct"]


def test_a_policy_is_asked_for_as_a_file_and_refused_like_any_answer(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text('{"reserve": "everything"}', encoding="utf-8")
    done = desk.practise(f"@{file}", "quit", of=("--objective", "session-policy"))
    assert done.exit_code == 0, done.output
    (exercise,) = desk.posed()
    assert f"grade show {exercise.id} --template" in done.stdout
    (row,) = desk.answers()
    assert (row.verdict, row.attempt) == ("invalid", 0)
    assert "reserve" in done.stdout


def test_what_is_no_line_of_text_is_told_and_asked_again(desk: Desk) -> None:
    done = desk.practise(b"\xff\xfe", b"1" * 200_000, "quit")
    assert "not UTF-8" in done.stdout
    assert "64 KiB" in done.stdout
    assert len(done.stdout) < 10_000
    assert (done.exit_code, desk.answers()) == (0, [])


@pytest.mark.fuzz
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.one_of(st.text(), st.binary(), st.sampled_from(["hint", "@", "none", "3 ms"])), max_size=4))
def test_whatever_is_typed_the_session_goes_on(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str | bytes]
) -> None:
    desk = Desk(tmp_path_factory.mktemp("fuzz") / "ledger.sqlite")
    encoded = [line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line for line in lines]
    done = desk.practise(*encoded, "quit")
    assert done.exit_code == 0, done.output
    assert "\x1b" not in done.stdout


def test_an_unknown_objective_is_one_sentence_with_those_there_are(desk: Desk) -> None:
    done = desk.practise(of=("--objective", "flying"))
    assert done.exit_code == 2
    assert "first-token" in done.stderr
    assert "littles-law" in done.stderr
    assert not desk.path.exists()


def test_the_help_states_the_rule() -> None:
    text = " ".join(CliRunner().invoke(app, ["practice", "--help"]).stdout.split())
    assert "four of its last five questions" in text
    assert "a slip which you made" in text


@pytest.mark.parametrize("table", ["submission", "help", "posed"])
def test_nothing_is_said_that_could_not_be_recorded(desk: Desk, table: str) -> None:
    desk.practise()
    writer = sqlite3.connect(desk.path, isolation_level=None)
    writer.execute(f"CREATE TRIGGER full BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END")
    writer.close()
    exercise = desk.posed()[0]
    lines = {"submission": [right(exercise)], "help": ["hint"], "posed": ["skip"]}[table]
    done = desk.practise(*lines, "quit")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: The ledger")
    assert done.stderr.count("\n") == 1
    assert not re.search("Correct|Hint 1", done.stdout)
    assert asked(done) == [exercise.id]


def test_a_mark_that_was_changed_counts_as_it_is_now(desk: Desk) -> None:
    desk.practise("1 ms")
    with Ledger.open(desk.path) as ledger:
        (row,) = ledger.submissions()
        ledger.regrade(row, reading="1 ms", verdict="correct", score=Fraction(1), slips=[], reason="The key was wrong.")
    assert "+...." in desk.practise("quit").stdout


def started(desk: Desk, **more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [GRADE, "practice", *OF],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=desk.environment(**more),
    )


def until(running: subprocess.Popen[bytes], said: bytes) -> bytes:
    """Read what a session prints until it says something."""
    found, stdout = b"", running.stdout
    assert stdout is not None
    deadline = time.monotonic() + 60
    while said not in found and time.monotonic() < deadline:
        if select.select([stdout], [], [], 1)[0]:
            chunk = os.read(stdout.fileno(), 4096)
            if not chunk:
                break
            found += chunk
    assert said in found, found
    return found


def type_in(running: subprocess.Popen[bytes], line: str) -> None:
    assert running.stdin is not None
    running.stdin.write(f"{line}\n".encode())
    running.stdin.flush()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_said_is_there_after_an_interruption_and_after_a_kill(desk: Desk, how: signal.Signals) -> None:
    with started(desk) as running:
        type_in(running, "1 ms")
        said = until(running, b"Receipt")
        running.send_signal(how)
        _, errors = running.communicate(timeout=60)
    (row,) = desk.answers()
    assert row.receipt.encode() in said
    if how == signal.SIGINT:
        assert running.returncode == 130
        assert errors.split(b"\n") == [b"", b"Interrupted. Everything recorded before is safe.", b""]
    assert asked(desk.practise("quit")) == [desk.posed()[0].id]
    with Ledger.open(desk.path) as ledger:
        assert ledger.verify() == []


@pytest.mark.slow
def test_two_terminals_at_once_lose_nothing_and_pose_no_draw_twice(desk: Desk) -> None:
    desk.practise("quit")
    lines = "\n".join(["1 ms", "skip"] * 4 + ["quit", ""]).encode()

    def session(_: int) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [GRADE, "practice", *OF], input=lines, capture_output=True, env=desk.environment(), check=False
        )

    with ThreadPoolExecutor(2) as terminals:
        done = list(terminals.map(session, range(2)))
    assert [(d.returncode, d.stderr) for d in done] == [(0, b""), (0, b"")]
    said = re.findall(rb"Receipt (\w+)", b"".join(d.stdout for d in done))
    assert sorted(said) == sorted(row.receipt.encode() for row in desk.answers())
    assert len(said) == 8
    met = [exercise.id for exercise in desk.posed()]
    assert len(set(met)) == len(met) == 9


@pytest.mark.slow
def test_closed_streams_and_a_full_disk_are_one_sentence(desk: Desk) -> None:
    cases = [("<&-", 2, b"Standard input is closed"), ("</dev/null", 0, b"")]
    if Path("/dev/full").exists():
        cases.append(("</dev/null >/dev/full", 2, b"Nothing more can be written"))
    for streams, status, says in cases:
        line = f"{GRADE} practice {' '.join(OF)} {streams}"
        done = subprocess.run([BASH, "-c", line], capture_output=True, env=desk.environment(), check=False)
        assert done.returncode == status, done.stderr
        assert says in done.stderr
        assert done.stderr.count(b"\n") == bool(says)


@pytest.mark.slow
@pytest.mark.parametrize("colours", [True, False])
def test_on_a_terminal_it_asks_judges_and_ends_with_the_input(desk: Desk, *, colours: bool) -> None:
    main, other = pty.openpty()
    more = {} if colours else {"NO_COLOR": "1"}
    with subprocess.Popen(
        [GRADE, "practice", *OF], stdin=other, stdout=other, stderr=other, env=desk.environment(TERM="dumb", **more)
    ) as running:
        os.close(other)
        shown = _seen(main, b"answer: none.\r\n\r\n> ")
        os.write(main, b"1 ms\n")
        shown += _seen(main, b"\r\n> ")
        os.write(main, b"\x04")
        shown += _seen(main, b"recorded.")
        assert running.wait(60) == 0
    os.close(main)
    assert b"Not correct." in shown
    assert (b"\x1b[31m" in shown) == colours
    assert b"> 1 ms" in shown
    assert b"Traceback" not in shown
    assert len(desk.answers()) == 1


def _seen(terminal: int, said: bytes) -> bytes:
    """Give what a terminal shows until it shows something."""
    found, deadline = b"", time.monotonic() + 60
    while said not in found:
        assert time.monotonic() < deadline, found
        if select.select([terminal], [], [], 1)[0]:
            found += os.read(terminal, 4096)
    return found
