"""Where the ledger lies and whose rows are meant."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.ledger import LedgerError, ledger_path, student_name

pytestmark = pytest.mark.law


def test_the_option_goes_before_the_environment_before_the_data_folder() -> None:
    environ = {"HOME": "/home/ann", "GRADE_LEDGER": "/srv/class.sqlite", "XDG_DATA_HOME": "/data"}
    assert ledger_path("/tmp/x.sqlite", environ, "linux") == "/tmp/x.sqlite"  # noqa: S108 - only a name
    assert ledger_path(None, environ, "linux") == "/srv/class.sqlite"
    del environ["GRADE_LEDGER"]
    assert ledger_path(None, environ, "linux") == "/data/servespec/ledger.sqlite"
    del environ["XDG_DATA_HOME"]
    assert ledger_path(None, environ, "linux") == "/home/ann/.local/share/servespec/ledger.sqlite"


def test_what_is_empty_counts_as_absent() -> None:
    environ = {"HOME": "/home/ann", "GRADE_LEDGER": "", "XDG_DATA_HOME": ""}
    assert ledger_path("", environ, "linux") == "/home/ann/.local/share/servespec/ledger.sqlite"


def test_a_relative_data_folder_is_ignored() -> None:
    environ = {"HOME": "/home/ann", "XDG_DATA_HOME": "data"}
    assert ledger_path(None, environ, "linux") == "/home/ann/.local/share/servespec/ledger.sqlite"


def test_every_platform_has_its_own_data_folder() -> None:
    environ = {"HOME": "/Users/ann", "LOCALAPPDATA": "/C/Users/ann/Local"}
    mac, windows = (ledger_path(None, environ, platform) for platform in ("darwin", "win32"))
    assert mac == "/Users/ann/Library/Application Support/servespec/ledger.sqlite"
    assert windows == "/C/Users/ann/Local/servespec/ledger.sqlite"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_a_named_ledger_is_always_a_file_by_absolute_path(name: str) -> None:
    assert Path(ledger_path(name, {"HOME": "/home/ann"})).is_absolute()


def test_without_a_home_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(LedgerError, match=r"no home folder.*--ledger"):
        ledger_path(None, {}, "linux")


def test_the_student_is_the_option_else_the_environment_else_the_user() -> None:
    environ = {"GRADE_STUDENT": "bob", "LOGNAME": "carl", "USER": "dora"}
    assert student_name("ann", environ) == "ann"
    assert student_name(None, environ) == "bob"
    assert student_name(" ", environ | {"GRADE_STUDENT": "  "}) == "carl"
    assert student_name("", {"USER": "dora"}) == "dora"
    assert student_name(" Zoë K. ", {}) == "Zoë K."


@given(st.none() | st.text(), st.dictionaries(st.sampled_from(["GRADE_STUDENT", "USER", "LOGNAME"]), st.text()))
def test_a_student_always_has_a_name(option: str | None, environ: dict[str, str]) -> None:
    name = student_name(option, environ)
    assert name
    assert name == name.strip()


def test_a_user_without_a_name_is_called_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(uid: int) -> SimpleNamespace:
        raise KeyError(uid)

    pwd = pytest.importorskip("pwd")
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert student_name(None, {}) == "uid-12345"
