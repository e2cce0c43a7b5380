"""The same seed gives the same run for ever: in another process, with another hash seed, and in another version."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving.frozen import digests

pytestmark = pytest.mark.law

# The same in Python 3.11, 3.12 and 3.13. A change of these is a change of what the simulator does: say so.
FROZEN = {
    "chunks, recompute": "51862a815cead4ad",
    "share, swap": "46787b9ad736af66",
    "static, crash": "a7594180d0cb0e5c",
    "decode first, patience": "4067486e8d10bc9f",
}


def test_runs_end_as_they_always_have() -> None:
    assert dict(digests()) == FROZEN


def test_another_process_with_another_hash_seed_ends_the_same() -> None:
    program = Path(__file__).with_name("frozen.py")
    env = {**os.environ, "PYTHONHASHSEED": "77"}
    told = subprocess.run([sys.executable, program], env=env, check=True, capture_output=True, text=True).stdout
    assert told.splitlines() == [": ".join(pair) for pair in FROZEN.items()]
