"""A candidate is found by module, object or file, or refused in one sentence."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

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


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_calculator.py").write_text(CALCULATOR, encoding="utf-8")
    (tmp_path / "broken_calculator.py").write_text("import json\njson.lodas('1')\n", encoding="utf-8")
    (tmp_path / "ending.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in ("my_calculator", "broken_calculator", "ending"):
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
        ("", "There is no module '' here"),
        ("no_such.py", "There is no file no_such.py."),
        ("my_calculator:two", "my_calculator has no 'two'."),
        ("broken_calculator", "broken_calculator cannot be loaded: it raises AttributeError: module 'json' has no"),
        ("broken_calculator.py", "broken_calculator.py cannot be loaded: it raises AttributeError"),
        ("ending", "ending cannot be loaded: it raises SystemExit: 0."),
        ("my_calculator:Stubborn", "my_calculator:Stubborn cannot be loaded: it raises OSError: no."),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_sentence(where: str, words: str) -> None:
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
