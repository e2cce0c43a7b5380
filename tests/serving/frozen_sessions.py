"""Runs of chat sessions whose outcome is frozen: `python tests/serving/frozen_sessions.py` prints a digest of each.

It needs nothing but the specification, so that any Python version can be asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from spec.serving.session_policy import (
    Book,
    Context,
    Kill,
    Order,
    SessionPolicy,
    Tier,
    Victim,
    When,
)
from spec.serving.session_workload import Circumstances
from spec.serving.sessions import play

HURRIED = Circumstances(gpu="a100-40gb", per_minute=10, window=4096, seconds=240, warm_up=60, host_bytes=8 * 10**9)
TRIMMED = SessionPolicy(context_limit=3000, keep=1500)
POLICIES = {
    "drop": TRIMMED,
    "host": SessionPolicy(
        evict=Victim.LARGEST, evict_to=Tier.HOST, context_limit=2500, keep=1000, headroom=Fraction(1, 20),
        queue_timeout_s=Fraction(20), order=Order.NEW_FIRST,
    ),
    "crash": SessionPolicy(Book.PROMPT, evict=Victim.OLDEST_SESSION, context_limit=3000, keep=1500),
    "ahead": SessionPolicy(
        Book.WINDOW, context=Context.SUMMARISE, context_limit=2500, keep=800, summary=200, summarise_when=When.IDLE,
        order=Order.SHORTEST_FIRST,
    ),
    "kill": SessionPolicy(evict=Victim.NONE, context_limit=3000, keep=1500, kill=Kill.OLDEST, max_age_s=Fraction(150)),
}  # fmt: skip


def digests() -> Iterator[tuple[str, str]]:
    """Give each run's name and a digest of all that was measured."""
    for name, policy in POLICIES.items():
        told = sorted(asdict(play(policy, HURRIED, 5)).items())
        yield name, blake2b(repr(told).encode(), digest_size=8).hexdigest()


if __name__ == "__main__":
    for pair in digests():
        sys.stdout.write(": ".join(pair) + "\n")
