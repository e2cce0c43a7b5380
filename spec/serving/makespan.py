"""How long a batch policy takes for jobs that are all there from the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spec.serving.batching import Continuous, Static
from spec.serving.engine import Engine
from spec.serving.request import Request
from spec.serving.scheduler import PrefillFirst
from spec.serving.server import Run, Server
from spec.serving.timing import BySize


def served(
    steps: Sequence[int], batching: Static | Continuous, step: Callable[[int], int] = lambda _: 1, prefill: int = 0
) -> Run:
    """Serve jobs first come first, with all the memory they need.

    Args:
        steps: decode steps of each job, at least 1. The first token of a job comes from its prefill.
        batching: the policy. A static batch needs a flush for the last jobs.
        step: nanoseconds of a decode step, by the sequences in it.
        prefill: nanoseconds of a pass over prompts, however many there are.

    Raises:
        ValueError: a job has less than one step.
    """
    if min(steps, default=1) < 1:
        raise ValueError("a job has at least one step")
    room = max(steps, default=1) + 2
    server = Server(BySize(step, lambda _: prefill), len(steps) + 1, room, batching, PrefillFirst(len(steps) + 1))
    return Engine(server, [Request(number, 0, 1, count + 1) for number, count in enumerate(steps)]).run()


def makespan(
    steps: Sequence[int], batching: Static | Continuous, step: Callable[[int], int] = lambda _: 1, prefill: int = 0
) -> int:
    """Return the nanoseconds until the last of them is done; arguments and errors as in `served`."""
    return served(steps, batching, step, prefill).end
