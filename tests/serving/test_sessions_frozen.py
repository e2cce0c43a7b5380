"""Runs of chat sessions that end as they always have, in any process, and as the samples did elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path

import pytest

from spec.serving.session_measures import BAD
from spec.serving.session_state import End
from spec.serving.session_workload import Circumstances, scripts
from spec.serving.sessions import play
from tests.serving.frozen_sessions import HURRIED, digests
from tests.serving.policies import samples

pytestmark = pytest.mark.law


def test_what_users_say_does_not_depend_on_the_policy_or_the_machine() -> None:
    one, other = (scripts(around, 5) for around in (HURRIED, replace(HURRIED, model="llama-2-7b", window=4096)))
    assert [(each.arrival, list(each.turns)) for each in one] == [(each.arrival, list(each.turns)) for each in other]


# The same in Python 3.11, 3.12 and 3.13. A change of these is a change of what the simulator does: say so.
FROZEN = {
    "drop": "91d84634bb6c1889",
    "host": "10628657dbc7556f",
    "crash": "67909dbc4cdaf543",
    "ahead": "34e2c4f9c67d9895",
    "kill": "0239362e8802dc4b",
}


def test_runs_end_as_they_always_have() -> None:
    assert dict(digests()) == FROZEN


def test_another_process_with_another_hash_seed_ends_the_same() -> None:
    program = Path(__file__).with_name("frozen_sessions.py")
    env = {**os.environ, "PYTHONHASHSEED": "77"}
    told = subprocess.run([sys.executable, program], env=env, check=True, capture_output=True, text=True).stdout
    assert told.splitlines() == [": ".join(pair) for pair in FROZEN.items()]


@pytest.mark.reality
def test_the_samples_fail_and_succeed_as_they_did_elsewhere() -> None:
    """One seed of the samples that fail, each in its own way, and of the one that does not."""
    played = {name: play(samples()[name][0], Circumstances(), 1) for name in ("S2", "S3", "S4", "S6", "X2", "X4")}
    assert [name for name, one in played.items() if one.ooms] == ["X2"]
    assert [name for name, one in played.items() if one.bad > Fraction(1, 4)] == ["S2", "X2"]
    assert [name for name, one in played.items() if one.queued_at_end > 20] == ["S3"]
    assert [name for name, one in played.items() if one.retention < Fraction(1, 2)] == ["X4"]
    assert [name for name, one in played.items() if one.recompute > Fraction(1, 4)] == ["S4"]
    for name, one in played.items():
        expected = samples()[name][1]
        assert abs(one.retention - expected["retention"]) < Fraction(1, 10)
        assert abs(one.bad - expected["bad"]) < Fraction(1, 10)
        assert asdict(one)["ends"][End.OPEN] > 0
        assert set(one.ends) == set(End) > set(BAD)
