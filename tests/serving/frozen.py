"""Runs whose outcome is frozen: `python tests/serving/frozen.py` prints a digest of four of them, one a line.

It needs nothing but the specification, so that any Python version can be asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous, Static
from spec.serving.draws import Lognormal
from spec.serving.engine import Engine
from spec.serving.request import NANOSECONDS
from spec.serving.scheduler import Chunked, DecodeFirst, PrefillFirst, ReservedShare, Scheduler
from spec.serving.server import Server, WhenFull
from spec.serving.timing import Roofline
from spec.serving.workload import Phase, Workload, bursts

LOAD = Workload(
    (Phase(60, 2, 9), *bursts(1, 30, 20, 2, 3)),
    Lognormal(200, Fraction(4, 5), 5, 2000),
    Lognormal(150, Fraction(1, 2), 1, 400),
    max_tokens=512,
    prefix=64,
    block_size=16,
)
ROOF = Roofline(NANOSECONDS, 900, 3, 10**7, 400)
SERVERS: dict[str, tuple[Static | Continuous, Scheduler, Rules, WhenFull]] = {
    "chunks, recompute": (Continuous(20), Chunked(256), Rules(Reserve.PROMPT), WhenFull.RECOMPUTE),
    "share, swap": (Continuous(20), ReservedShare(Fraction(1, 4)), Rules(Reserve.PROMPT), WhenFull.SWAP),
    "static, crash": (Static(8, NANOSECONDS), PrefillFirst(), Rules(Reserve.NONE), WhenFull.CRASH),
    "decode first, patience": (
        Continuous(40),
        DecodeFirst(),
        Rules(queue=20, patience=10 * NANOSECONDS),
        WhenFull.CRASH,
    ),
}


def digests() -> Iterator[tuple[str, str]]:
    """Give each run's name and a digest of what became of every request."""
    for name, (batching, scheduler, rules, when_full) in SERVERS.items():
        server = Server(ROOF, 260, 16, batching, scheduler, rules, when_full, swap=1000)
        jobs = Engine(server, LOAD.requests(5)).run().jobs
        told = [
            (job.request.id, job.state.value, job.admitted, job.first_token, job.finish, job.preemptions)
            for job in jobs
        ]
        yield name, blake2b(repr(told).encode(), digest_size=8).hexdigest()


if __name__ == "__main__":
    for pair in digests():
        sys.stdout.write(": ".join(pair) + "\n")
