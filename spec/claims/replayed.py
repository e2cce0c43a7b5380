"""The production story replayed: who is lost with whom, and what of the repair cured it."""

from __future__ import annotations

from functools import cache
from typing import Any

from spec.claims import Outcome
from spec.claims.servers import realistic
from spec.claims.settings import text
from spec.claims.simulated import room_of, timing_of
from spec.serving.admission import Reserve, Rules
from spec.serving.engine import Engine
from spec.serving.incident import BATCHINGS, RESTART, STORY
from spec.serving.request import Request, State
from spec.serving.server import Run, Server

SEED, DOCUMENTS = 1, 200
CURED = "static 16", "continuous"


@cache
def _documents() -> tuple[Request, ...]:
    return tuple(STORY.requests(SEED, DOCUMENTS))


def _replay(impl: Any, gpu_name: str, batching: str, reserve: Reserve) -> Run:
    at = realistic(impl, gpu_name=gpu_name)
    server = Server(timing_of(at), room_of(at), batching=BATCHINGS[batching], rules=Rules(reserve), restart=RESTART)
    return Engine(server, _documents()).run()


def combination(impl: Any) -> Outcome:
    """Compare the documents that are lost with those that are served."""
    run = _replay(impl, "a100-80gb", "static 16", Reserve.NONE)
    lost, done = ([job.request.prompt for job in run.jobs if job.state is state] for state in (State.LOST, State.DONE))
    smallest, largest = min(lost, default=0), max(done, default=0)
    return Outcome(
        0 < smallest < largest,
        f"of {DOCUMENTS} documents in static batches of 16 on 80 GB {len(lost)} are lost, the smallest of "
        f"{text(smallest)} tokens, while one of {text(largest)} is served",
    )


def attribution(impl: Any) -> Outcome:
    """Count how often memory runs out under either batching, with and without a reservation."""

    def failures(batching: str, reserve: Reserve) -> int:
        return len(_replay(impl, "a100-40gb", batching, reserve).tally.crashes)

    static, continuous = ([failures(name, r) for r in (Reserve.NONE, Reserve.TURN)] for name in CURED)
    return Outcome(
        continuous[0] == 0 < min(static),
        f"{DOCUMENTS} documents on 40 GB run out of memory {static[0]} times in static batches of 16 and "
        f"{continuous[0]} times in continuous ones; where prompt and longest output are reserved, {static[1]} and "
        f"{continuous[1]} times",
    )


def back_to_40(impl: Any) -> Outcome:
    """Serve the documents on the smaller card as repaired."""
    run = _replay(impl, "a100-40gb", "continuous", Reserve.TURN)
    done = sum(job.state is State.DONE for job in run.jobs)
    return Outcome(
        done == DOCUMENTS and not run.tally.crashes,
        f"with reservations a 40 GB card serves {done} of {DOCUMENTS} documents, and runs out of memory "
        f"{len(run.tally.crashes)} times",
    )
