"""The tester tested: what is right raises no alarm in any form, each faulty law is caught, and nothing stops a run."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from types import SimpleNamespace
from typing import Any

import pytest

from spec.conformance import limits
from spec.conformance.declared import Declared
from spec.conformance.protocol import Program
from spec.conformance.suite import Report, check
from spec.conformance.wording import sentence
from spec.index import laws
from spec.invariants.kills import mutants_of, slips_of
from spec.serving.cache import CacheManager
from tests.conformance.floats import Floats
from tests.conformance.mutants import Row, Trials, main, mutants_judged, slips_judged, table
from tests.problems.seeds import DEEP

pytestmark = [pytest.mark.fuzz]

# What is right, with the arithmetic of ordinary programs

UNITS: list[dict[str, str]] = [
    {},
    {"memory": "GiB", "time": "ms", "kv_bytes_per_token": "KiB/token"},
    {"memory": "GB", "bandwidth": "GB/s", "compute": "GFLOP/s", "time": "us"},
    {"memory": "MiB", "bandwidth": "TB/s", "compute": "TFLOP/s", "time": "min"},
]
OFTEN = ("kv_bytes_per_token", "kv_budget", "kv_budget_by_shares", "fits", "ttft", "prefill_cost_ratio", "carries")


def alarms(found: Report) -> list[str]:
    told = [f"{failure.check}: {failure.reply}" for failure in found.failures]
    return [*told, *(f"{one.function} {one.fault.words}" for one in found.useless)]


@pytest.mark.parametrize("units", UNITS, ids=lambda units: units.get("memory", "bytes"))
def test_arithmetic_in_floats_raises_no_alarm_in_any_unit(units: dict[str, str]) -> None:
    names = list(laws()) if DEEP else OFTEN
    found = check(Floats(units), laws=names, examples=200 if DEEP else 24)
    assert not alarms(found)
    assert set(OFTEN) <= set(found.obeyed)


class Scalar:
    """A number as NumPy has them."""

    shape = ()

    def __init__(self, value: Any) -> None:
        self.value = value

    def item(self) -> Any:
        return self.value


class Long(Scalar):
    """A long double, of which NumPy makes no float by itself."""

    def item(self) -> Any:
        return Long(self.value)

    def __float__(self) -> float:
        return float(self.value)


Real.register(Long)


@pytest.mark.parametrize("kind", [Decimal, Scalar, Long, lambda value: Decimal(repr(value))])
def test_other_kinds_of_number_raise_no_alarm(kind: Callable[[Any], Any]) -> None:
    assert not alarms(check(Floats(UNITS[1], kind), laws=OFTEN, examples=12))


@pytest.mark.parametrize("wrong", [1 + 1e-6, 1 - 1e-6, 1024**3 / 1e9, 1e3])
def test_forgiveness_for_floats_ends_where_a_wrong_number_begins(wrong: float) -> None:
    found = check(Floats(UNITS[1], lambda value: value * wrong), laws=["kv_budget", "ttft"], examples=24)
    assert {"kv_budget", "ttft"} <= set(found.broken)


def test_a_float_that_lost_its_digits_in_a_difference_is_forgiven_and_a_wrong_one_is_not() -> None:
    def cost(flops_per_token: float, prefill_cost_ratio: float, prompt: int) -> float | None:
        over, under = prefill_cost_ratio - 2, 4 - prefill_cost_ratio
        return flops_per_token * prompt * over / under if under > 0 <= over else None

    def double(flops_per_token: float, prefill_cost_ratio: float, prompt: int) -> float | None:
        once = cost(flops_per_token, prefill_cost_ratio, prompt)
        return None if once is None else 2 * once

    right, wrong = (check(SimpleNamespace(prefill_attention_flops=one)) for one in (cost, double))
    assert right.obeyed == ["prefill_cost_ratio"]
    assert wrong.broken == ["prefill_cost_ratio"]


def test_no_value_is_wrong_for_a_count_that_floats_can_tell() -> None:
    none = check(SimpleNamespace(UNITS={"memory": "GB"}, layers=lambda **_: None), laws=["kv_bytes_per_token"])
    assert none.broken == ["kv_bytes_per_token"]


# What is wrong: every law with one fault


@pytest.mark.slow
def test_a_mutant_of_every_law_is_caught_by_comparison_or_a_sentence_and_in_floats() -> None:
    some = {law: [fault for fault in mutants_of(law) if not fault.same][1:2] for law in laws().values()}
    rows = [mutants_judged(law, faults, 10) for law, faults in some.items()]
    assert not [f"{row.law}: {words}" for row in rows for words in row.alive]
    assert all(row.mutants == 1 for row in rows)
    assert sum(row.by_sentence for row in rows) > 0.9 * len(rows)


@pytest.mark.parametrize("name", ["kv_bytes_per_token", "fits", "kv_budget", "ttft"])
def test_every_slip_is_caught_and_told_by_its_name(name: str) -> None:
    row = slips_judged(Row(name), slips_of(laws()[name]))
    assert row.slips == row.slips_caught == row.named == len(laws()[name].slips)


def test_a_law_without_a_fault_counts_as_alive(capsys: pytest.CaptureFixture[str]) -> None:
    fault = mutants_of(laws()["ttft"])[0]
    trials = Trials(laws()["ttft"])
    assert trials.caught(fault, trials.direct)
    assert trials.caught(fault, trials.sentences)
    unharmed = SimpleNamespace(law="ttft", says="nothing", solver=laws()["ttft"], same="")
    assert not trials.caught(unharmed, [*trials.direct, *trials.sentences])
    assert mutants_judged(laws()["ttft"], [unharmed]).alive == ["nothing"]
    assert main(["ttft"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[1:4] == ["12", "0", "12"]


@pytest.mark.skipif(not DEEP, reason="the whole table takes minutes: HYPOTHESIS_PROFILE=deep")
def test_every_mutant_and_every_slip_of_every_law_is_caught() -> None:
    rows = list(table(list(laws())))
    assert not [f"{row.law}: {words}" for row in rows for words in row.alive]
    assert sum(row.slips_caught for row in rows) == sum(len(law.slips) for law in laws().values())


# What is of no use: one sentence, and the run goes on


class Wordless(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


class Unprintable:
    """A thing that cannot be printed."""

    def __repr__(self) -> str:
        raise RuntimeError


def _raises(error: BaseException) -> Any:
    raise error


def _swallows_all() -> int:
    start = time.monotonic()
    while time.monotonic() < start + 0.6:
        with contextlib.suppress(BaseException):
            time.sleep(0.2)
    return 1


def _eats() -> Any:
    eaten = []
    while True:
        eaten.append(bytearray(10_000_000))


OF_NO_USE: dict[str, Callable[[], Any]] = {
    "raised KeyboardInterrupt": lambda: _raises(KeyboardInterrupt()),
    "raised GeneratorExit": lambda: _raises(GeneratorExit()),
    "raised Wordless": lambda: _raises(Wordless()),
    "raised RecursionError: too deep": lambda: _raises(RecursionError("too deep")),
    "ended the program (exit status 3)": lambda: sys.exit(3),
    "ended the program (exit status bye)": lambda: sys.exit("bye"),
    "gave no answer within 0.4 s": _swallows_all,
    "returned NaN; where no value exists it should return None": lambda: Decimal("sNaN"),
    "returned a number of about 5,000 digits, more than any quantity has": lambda: 10**5000,
    "returned a number of about 6,000 digits, more than any quantity has": lambda: Fraction(10**6000, 7),
    "returned a number of about 1,000,000,000 digits, more than any quantity has": lambda: Decimal("1e999999999"),
    "returned an Unprintable instead of a number: one whose repr raises RuntimeError": Unprintable,
    "returned a tuple instead of a number: (1, 2)": lambda: (1, 2),
    "returned an object instead of a number: <object object>": object,
    "returned a bytes instead of a number: b'12'": lambda: b"12",
}


@pytest.mark.parametrize("words", OF_NO_USE)
def test_what_is_of_no_use_is_one_sentence_and_the_run_goes_on(words: str) -> None:
    candidate = SimpleNamespace(
        mean_concurrency=lambda arrival_rate, service_time: OF_NO_USE[words](),  # noqa: ARG005
        ttft=lambda wait, prompt, prefill_rate: wait + prompt / prefill_rate,
    )
    found = check(candidate, examples=6, time_limit=0.4)
    assert [sentence(one, Declared()).partition(", for ")[0] for one in found.useless] == [f"mean_concurrency {words}"]
    assert found.broken == ["mean_concurrency"]
    assert found.obeyed == ["ttft"]


@pytest.mark.parametrize(
    "near_nothing", [Decimal("1e-999999999"), Decimal("1e-400"), 5e-324, Fraction(1, 10**6000), -0.0, Decimal("-0")]
)
def test_the_smallest_numbers_are_numbers(near_nothing: Any) -> None:
    found = check(SimpleNamespace(mean_concurrency=lambda arrival_rate, service_time: near_nothing), examples=4)  # noqa: ARG005
    assert found.failures[0].reply is not None
    assert found.failures[0].reply.wrong == "gives another answer"


linux = pytest.mark.skipif(not limits.USED.exists(), reason="memory is limited on Linux only")


@linux
def test_memory_without_end_is_refused_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MEMORY_LIMIT", 2**28)
    found = check(SimpleNamespace(mean_concurrency=lambda arrival_rate, service_time: _eats()), examples=4)  # noqa: ARG005
    (useless,) = found.useless
    assert useless.fault.kind == "memory"
    assert "needed more than" in sentence(useless, Declared())
    assert bytearray(2**29)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_candidate_that_forks_is_asked_once(tmp_path: Any) -> None:
    log = tmp_path / "ended"

    def mean_concurrency(arrival_rate: float, service_time: float) -> float:
        os.fork()
        return arrival_rate * service_time

    found = check(SimpleNamespace(mean_concurrency=mean_concurrency), examples=4)
    with log.open("a") as file:
        file.write("once\n")
    assert found.obeyed == ["mean_concurrency"]
    assert log.read_text() == "once\n"


def test_answers_that_change_are_told_as_they_were_first_given() -> None:
    turns = itertools.cycle((0, 1, 1))

    def mean_concurrency(arrival_rate: float, service_time: float) -> float:
        return arrival_rate * service_time * next(turns)

    found = check(SimpleNamespace(mean_concurrency=mean_concurrency), examples=7)
    assert found.failures[0].reply is not None
    assert found.failures[0].reply.wrong


def test_arguments_that_are_changed_change_nothing() -> None:
    def padding_waste(lengths: list[int]) -> Any:
        waste = 1 - Fraction(sum(lengths), len(lengths) * max(lengths))
        lengths.clear()
        return waste

    assert check(SimpleNamespace(padding_waste=padding_waste)).obeyed == ["padding-of-lengths"]


class Exits(CacheManager):
    def reserve(self, request: str, tokens: int, **_: Any) -> Any:
        sys.exit(f"{request} {tokens}")


class Takes:
    """A manager that has no sizes."""

    def reserve(self, request: str, tokens: int) -> Any:
        return request, tokens

    @property
    def used(self) -> int:
        raise OSError


@pytest.mark.parametrize(("manager", "words"), [(Exits, "ended the program (exit status"), (Takes, "raises TypeError")])
def test_a_cache_manager_that_stops_a_run_is_one_sentence(manager: type, words: str) -> None:
    (failure,) = check(SimpleNamespace(CacheManager=manager)).failures
    assert words in failure.told


ADAPTER = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    if "describe" in question:
        print(json.dumps({"functions": {"mean_concurrency": ["arrival_rate", "service_time"]}}), flush=True)
    else:
        eaten = [bytearray(10_000_000) for _ in range(10**6)]
"""


@linux
def test_a_program_that_eats_memory_ends_and_is_told(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MEMORY_LIMIT", 2**28)
    file = tmp_path / "adapter.py"
    file.write_text(ADAPTER, encoding="utf-8")
    program = Program([sys.executable, str(file)])
    try:
        (useless,) = check(program, examples=4).useless
    finally:
        program.close()
    assert useless.fault.kind == "crashed"
    assert "MemoryError" in useless.fault.words
