"""The tests that `pytest --pyargs spec.conformance --candidate WHERE` runs, one for each law and sentence."""

from __future__ import annotations

import pytest

from spec.conformance.plugin import SESSION


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of every check of the candidate."""
    if SESSION not in metafunc.config.stash:
        metafunc.parametrize("check", [None], ids=["no-candidate"])
        return
    from spec.conformance.session import name_of

    checks = list(metafunc.config.stash[SESSION].checks())
    metafunc.parametrize("check", checks, ids=[name_of(check) for check in checks])


def test_law(check: object, pytestconfig: pytest.Config) -> None:
    """Run one check."""
    from spec.conformance.suite import Check

    if not isinstance(check, Check):
        pytest.skip("no candidate: name one with --candidate or --candidate-command")
    pytestconfig.stash[SESSION].run(check)
