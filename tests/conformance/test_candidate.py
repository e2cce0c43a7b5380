"""A candidate is found by module, object or file, or refused in one sentence."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from spec.conformance import candidate
from spec.conformance.answers import Fault, Nothing, Number, Unsupported, read
from spec.conformance.candidate import Python, load
from spec.conformance.declared import Unusable

pytestmark = pytest.mark.fuzz
CALCULATOR = """
def weights(parameters, weight_bits):
    return parameters * weight_bits // 8

class Calculator:
    UNITS = {"memory": "GB"}

    def weights(self, parameters, weight_bits):
        return parameters * weight_bits / 8e9

class Stubborn:
    def __init__(self):
        raise OSError("no")

one = Calculator()
"""
BAD = {
    "ending.py": "raise SystemExit(0)",
    "leaving.py": "import os; os._exit(0)",
    "interrupting.py": "raise KeyboardInterrupt",
    "endless.py": "while True: pass",
    "adapter.mjs": "",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "my_calculator.py").write_text(CALCULATOR, encoding="utf-8")
    (tmp_path / "broken_calculator.py").write_text("import json\njson.lodas('1')\n", encoding="utf-8")
    for name, text in BAD.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in ("my_calculator", "broken_calculator", *(Path(bad).stem for bad in BAD)):
        sys.modules.pop(name, None)
        sys.modules.pop(f"candidate_{name}", None)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("my_calculator", 16),
        ("my_calculator.py", 16),
        ("./my_calculator.py", 16),
        ("my_calculator:one", None),
        ("my_calculator.py:one", None),
        ("my_calculator:Calculator", None),
    ],
)
def test_a_candidate_is_found(where: str, value: int | None) -> None:
    found = load(where)
    answer = found.call("weights", {"parameters": 8, "weight_bits": 16})
    assert isinstance(answer, Number)
    assert answer.value == value if value else answer.rounded
    assert found.title == where
    assert found.declared.unit_name("weights") == ("B" if value else "GB")


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("no_such_module", "There is no module 'no_such_module' here; a file is named with its ending, such as"),
        ("no_such.module", "There is no module 'no_such.module' here"),
        ("", "'' is neither a module nor a .py file; another language is asked by a command."),
        ("adapter.mjs", "'adapter.mjs' is neither a module nor a .py file"),
        ("no/adapter.mjs", "'no/adapter.mjs' is neither a module nor a .py file"),
        ("leaving", "leaving cannot be loaded: it ended the program (exit status 0)."),
        ("interrupting", "interrupting cannot be loaded: it raised KeyboardInterrupt."),
        ("endless", "endless cannot be loaded: it gave no answer within 0.5 s."),
        ("no_such.py", "There is no file no_such.py."),
        ("my_calculator:two", "my_calculator has no 'two'."),
        ("broken_calculator", "broken_calculator cannot be loaded: it raised AttributeError: module 'json' has no"),
        ("broken_calculator.py", "broken_calculator.py cannot be loaded: it raised AttributeError"),
        ("ending", "ending cannot be loaded: it ended the program (exit status 0)."),
        ("my_calculator:Stubborn", "my_calculator:Stubborn cannot be loaded: it raised OSError: no."),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_sentence(
    where: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidate, "LOADING", 0.5)
    with pytest.raises(Unusable) as error:
        load(where)
    assert str(error.value).startswith(words)
    assert "\n" not in str(error.value)


class _Shy:
    def __getattr__(self, name: str) -> object:
        if name.isupper():
            raise AttributeError(name)
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError


def test_an_object_that_fights_back_is_survived() -> None:
    assert Python(_Shy()).takes("weights") == ()
    assert isinstance(read(_Shy()), Fault)
    assert Python(_Shy()).call("weights", {}) == Unsupported()


def test_a_call_that_would_end_the_run_as_if_all_were_well_is_a_fault() -> None:
    one = Python(SimpleNamespace(weights=lambda parameters: os._exit(0 * parameters)))
    assert one.call("weights", {"parameters": 1}) == Fault("raised", "ended the program (exit status 0)")


def test_a_call_that_swallows_an_interrupt_does_not_keep_the_run_going() -> None:
    def weights(parameters: int) -> int:
        with contextlib.suppress(BaseException):
            signal.raise_signal(signal.SIGINT)
        return parameters

    with pytest.raises(KeyboardInterrupt):
        Python(SimpleNamespace(weights=weights)).call("weights", {"parameters": 1})


def test_a_function_may_take_what_it_likes() -> None:
    class One:
        @staticmethod
        def weights(**given: int) -> int:
            return given["parameters"]

        @staticmethod
        def ttft(wait: int, /, prompt: int) -> int:
            return wait + prompt

        @staticmethod
        def kv_budget(**_: int) -> int:
            raise NotImplementedError

        @staticmethod
        def cached_tokens(concurrency: int, context: int) -> int:
            raise ValueError("far too long" * (concurrency + context > 0))

    one = Python(One)
    assert one.takes("weights")[0].accepts({"parameters", "weight_bits"})
    assert not one.takes("cached_tokens")[0].accepts({"context"})
    assert one.call("weights", {"parameters": 1}) == Number(1)
    assert one.call("kv_budget", {"weights": 1}) == Unsupported()
    assert one.call("cached_tokens", {"concurrency": 1, "context": 1}) == Nothing("ValueError: far too long")
    assert one.call("ttft", {"wait": 1, "prompt": 1}).kind == "raised"  # type: ignore[union-attr]  # a Fault


def test_outside_the_main_thread_a_call_is_not_broken_off_but_made() -> None:
    found: list[object] = []
    one = Python(type("One", (), {"weights": staticmethod(lambda: 7)}))
    thread = threading.Thread(target=lambda: found.append(one.call("weights", {})))
    thread.start()
    thread.join()
    assert found == [Number(7)]
