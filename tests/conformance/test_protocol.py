"""A program in any language is asked over JSON lines, and survived."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.conformance.answers import Fault, Nothing, Number, Unsupported
from spec.conformance.declared import Unusable
from spec.conformance.protocol import STARTS, WAITING, Program, _written
from spec.conformance.suite import check
from spec.solving import exact_number

ROOT = Path(__file__).parents[2]
GIVEN = {"arrival_rate": Fraction(1, 3), "service_time": 2}

ADAPTER = """
import json, sys, time
from fractions import Fraction
for line in sys.stdin:
    question = json.loads(line)
    if "describe" in question:
        takes = {{"mean_concurrency": ["arrival_rate", "service_time"]}}
        print(json.dumps({{"functions": takes, **{more!r}}}), flush=True)
        continue
    given = question["with"]
    {do}
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    started: list[Program] = []

    def start(do: str, time_limit: float = 5.0, **more: object) -> Program:
        file = tmp_path / f"adapter{len(started)}.py"
        file.write_text(ADAPTER.format(do=do, more=more), encoding="utf-8")
        started.append(Program([sys.executable, str(file)], time_limit))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.mark.roundtrip
@given(st.fractions(max_denominator=10**6) | st.integers(0, 400).map(lambda n: Fraction(1, 2**n)))
def test_a_number_is_written_so_that_none_is_lost(value: Fraction) -> None:
    text = _written(value)
    assert exact_number("x", text) == value
    assert "/" in text or value.denominator % 3 != 0


def test_what_is_asked_and_answered_is_exact(program: Callable[..., Program]) -> None:
    one = program('print(json.dumps({"value": given["arrival_rate"]}), flush=True)')
    assert one.call("mean_concurrency", GIVEN) == Number(Fraction(1, 3))
    assert one.takes("mean_concurrency")[0].accepts({"arrival_rate", "service_time"})
    assert one.takes("ttft") == ()
    assert one.starts == 1


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ('{"value": "524288"}', Number(524288)),
        ('{"value": 524288}', Number(524288)),
        ('{"value": "1/3"}', Number(Fraction(1, 3))),
        ('{"value": 0.1}', Number(Fraction(1, 10), rounded=True)),
        ('{"value": "1e+21"}', Number(10**21, rounded=True)),
        ('{"value": true}', True),
        ('{"none": true}', Nothing("none")),
        ('{"unsupported": true}', Unsupported()),
        ('{"error": "no such model"}', Fault("raised", "reported the error 'no such model'")),
        ('{"value": "NaN"}', Fault("nan", 'returned NaN; where no value exists it should answer {"none": true}')),
        ('{"value": NaN}', Fault("nan", 'returned NaN; where no value exists it should answer {"none": true}')),
        ('{"value": "Infinity"}', Nothing("infinity", unlimited=True)),
        ('{"value": "12 GB"}', Fault("type", "returned '12 GB' instead of a number")),
        ('{"value": [1]}', Fault("type", "returned [1] instead of a number")),
        ("[1]", Fault("nonsense", "answered [1], which is no JSON object")),
        ("hello", Fault("nonsense", "answered 'hello', which is no JSON")),
        ("[" * 5000, Fault("nonsense", f"answered '{'[' * 56}..., which is no JSON")),
    ],
)
def test_every_answer_is_read(program: Callable[..., Program], answer: str, read: object) -> None:
    assert program(f"print({answer!r}, flush=True)").call("mean_concurrency", GIVEN) == read


def test_an_answer_that_is_none_of_them_is_told_what_it_should_be(program: Callable[..., Program]) -> None:
    found = program("print('{\"result\": 1}', flush=True)").call("mean_concurrency", GIVEN)
    assert isinstance(found, Fault)
    assert found.words.startswith('answered {\'result\': 1}; an answer is {"value": "..."}')


def test_a_program_that_takes_too_long_is_stopped_and_started_again(program: Callable[..., Program]) -> None:
    one = program("time.sleep(60)", time_limit=0.5)
    assert one.call("mean_concurrency", GIVEN) == Fault("hung", "gave no answer within 0.5 s")
    assert one.call("mean_concurrency", GIVEN) == Fault("hung", "gave no answer within 0.5 s")
    assert one.starts == 2


def test_a_program_that_ends_is_started_again_but_not_for_ever(program: Callable[..., Program]) -> None:
    one = program('sys.exit("out of tape")')
    for _ in range(STARTS):
        found = one.call("mean_concurrency", GIVEN)
        assert found == Fault("crashed", "ended instead of answering (exit status 1; it said: out of tape)")
    with pytest.raises(Unusable, match=f"ended or hung {STARTS} times"):
        one.call("mean_concurrency", GIVEN)


def test_two_answers_to_one_question_do_not_shift_the_next(program: Callable[..., Program]) -> None:
    one = program('print(\'{"value": 1}\\n{"value": 2}\', flush=True)')
    assert one.call("mean_concurrency", GIVEN) == Number(1)
    for _ in range(100):
        time.sleep(0.01)  # the second line may still be on its way
        found = one.call("mean_concurrency", GIVEN)
        if isinstance(found, Fault):
            break
    assert isinstance(found, Fault)
    assert "nobody asked for" in found.words


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "The command is empty."),
        ("no-such-program-here", "no-such-program-here cannot be started: No such file or directory."),
        (f"{sys.executable} -c pass", " does not describe itself: it ended"),
        (f"{sys.executable} -c 'input(); print(1)'", " does not describe itself: it answered 1"),
        (f"{sys.executable} -c 'input(); print(\"{{}}\")'", 'The description has no "functions"'),
    ],
)
def test_a_program_that_cannot_be_used_gets_one_sentence(command: str, words: str) -> None:
    with pytest.raises(Unusable) as error:
        Program(command)
    assert words in str(error.value)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="what a program starts is stopped with it on Unix")
def test_what_a_program_starts_is_stopped_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "late"
    with pytest.raises(Unusable, match=r"gave no answer within 0\.2 s"):
        Program(["sh", "-c", f"(sleep 2; touch {mark}); true"], 0.2)
    time.sleep(2.5)
    assert not mark.exists()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm")
def test_a_program_is_stopped_where_its_start_is_interrupted(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    mark, before = tmp_path / "late", signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    with pytest.raises(KeyboardInterrupt):
        Program(["sh", "-c", f"sleep 1; touch {mark}"])
    signal.signal(signal.SIGALRM, before)
    time.sleep(1.2)
    assert not mark.exists()


def test_a_program_that_keeps_its_answer_is_told_to_flush_it() -> None:
    with pytest.raises(Unusable, match="flushed at once"):
        Program([sys.executable, "-c", "import time; input(); time.sleep(60)"], 0.5)


def test_a_program_that_never_stops_writing_is_not_kept_in_memory(program: Callable[..., Program]) -> None:
    one = program("while True: print('{}', flush=True)")
    assert isinstance(one.call("mean_concurrency", GIVEN), Fault)
    time.sleep(0.3)
    assert one._lines.qsize() <= WAITING  # noqa: SLF001  what it keeps is seen nowhere else


def test_of_what_a_program_says_at_its_end_the_error_is_told() -> None:
    words = "Cannot find module\n  at x.js:1\n\nError: no such thing\n  at y.js\n\nNode.js v20"
    with pytest.raises(Unusable, match="it said: Error: no such thing"):
        Program([sys.executable, "-c", f"import sys; sys.exit({words!r})"])


@pytest.mark.parametrize(("factor", "slugs"), [(1, []), (2, ["factor"])])
def test_a_program_is_checked_as_a_module_is(program: Callable[..., Program], factor: int, slugs: list[str]) -> None:
    product = f"Fraction(given['arrival_rate']) * Fraction(given['service_time']) * {factor}"
    one = program(f"print(json.dumps({{'value': str({product})}}), flush=True)", name="mine")
    found = check(one, laws=["mean_concurrency"])
    assert found.title == "mine"
    assert [like.slug for failure in found.failures for like in failure.likely][:1] == slugs
    assert bool(found.broken) == bool(slugs)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_the_suite_finds_what_the_calculator_of_the_example_lacks() -> None:
    one = Program(["node", str(ROOT / "examples" / "adapter.mjs")])
    try:
        found = check(one)
    finally:
        one.close()
    assert set(found.obeyed) == {"kv_bytes_per_token_approx", "kv_bytes_per_sequence"}
    assert set(found.broken) == {"kv_bytes_per_token", "kv_budget"}
    likely = {failure.check.partition("(")[0]: [like.slug for like in failure.likely] for failure in found.failures}
    assert likely == {
        "kv_bytes_per_token": ["hidden-for-kv-width"],
        "concurrency": ["margin-forgotten and weight-width-for-kv", "negative"],
    }


def test_the_page_on_the_protocol_shows_answers_that_are_read() -> None:
    page = (ROOT / "spec" / "conformance" / "PROTOCOL.md").read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in page.split("```json\n")[1:]]
    assert set(json.loads(blocks[0])) == {"describe"}
    assert {"functions", "units", "assumes", "tolerance", "name"} == set(json.loads(blocks[1]))
    assert set(json.loads(blocks[2])) == {"call", "with"}
