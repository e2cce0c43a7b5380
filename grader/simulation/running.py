"""Running a simulated server to its end, or until somebody has seen enough."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from spec.serving.engine import Engine
from spec.serving.metrics import Metrics, metrics
from spec.serving.request import Request
from spec.serving.server import Run, Server
from spec.serving.watch import Watch

Progress = Callable[[str, int, int], None]
EVERY = 1  # seconds between two words of progress
LOOK = 64  # pieces of work between two looks at the clock


class Stop:
    """Whether to stop; asked for by Ctrl-C."""

    wanted = False


@dataclass(frozen=True, slots=True)
class Played:
    """A server, what came to it, and what came of that.

    Attributes:
        name: what the server is called.
        server, watch, run, metrics: the server, what was seen of it, and its numbers.
        whole: whether it ran to its end.
        coming: requests that had not come yet when it was stopped.
    """

    name: str
    server: Server
    watch: Watch
    run: Run
    metrics: Metrics
    whole: bool
    coming: int


@contextmanager
def interruptible() -> Iterator[Stop]:
    """Let the first Ctrl-C ask for a stop between two pieces of work; the second one ends everything as ever."""
    stop = Stop()

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.wanted = True
        signal.signal(signal.SIGINT, before)

    if threading.current_thread() is not threading.main_thread():  # only there can it be heard
        yield stop
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def play(name: str, server: Server, requests: Sequence[Request], stop: Stop, progress: Progress) -> Played:
    """Serve requests, and tell how many are through from time to time.

    Args:
        name: what the server is called.
        server: the server.
        requests: what comes.
        stop: asked after every piece of work.
        progress: told the name, how many requests are through and how many there are.
    """
    watch = Watch(Engine(server, requests))
    admission, steps, told, whole = watch.engine.admission, 0, time.monotonic(), False
    while not (stop.wanted or whole):
        whole = not watch.step()
        steps += 1
        if steps % LOOK == 0 and time.monotonic() - told > EVERY:
            told = time.monotonic()
            progress(name, admission.released + admission.refused - admission.returned, len(requests))
    run = watch.result()
    return Played(name, server, watch, run, metrics(server, run), whole, len(requests) - len(run.jobs))
