"""The pytest plugin: `pytest --pyargs spec.conformance --candidate my_module`.

It imports nothing but pytest until a candidate is named, and changes nothing in a run without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from spec.conformance.session import Session

SESSION: pytest.StashKey[Session] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name a candidate."""
    group = parser.getgroup("servespec", "conformance to the laws of serving")
    group.addoption(
        "--candidate", metavar="WHERE", help="module, module:object or file.py to hold against the laws of serving"
    )
    group.addoption("--candidate-command", metavar="CMD", help="program to hold against them over JSON lines")
    group.addoption(
        "--candidate-deviations",
        "--deviations",
        metavar="FILE",
        help="TOML file of known deviations with their reasons",
    )
    group.addoption("--candidate-law", metavar="LAW", action="append", default=[], help="check only this law")
    group.addoption("--candidate-time-limit", metavar="S", type=float, help="seconds that a call may last")
    group.addoption("--candidate-examples", metavar="N", type=int, help="points of every check")


def pytest_configure(config: pytest.Config) -> None:
    """Load the candidate, where one is named."""
    if config.getoption("candidate") or config.getoption("candidate_command"):
        from spec.conformance.session import session

        config.stash[SESSION] = session(config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table of laws."""
    text = config.stash[SESSION].text() if SESSION in config.stash else ""
    if text:
        terminalreporter.section("conformance")
        terminalreporter.write_line(text)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let go of the candidate."""
    if SESSION in config.stash:
        config.stash[SESSION].candidate.close()
