"""What a call of a candidate may take: some time and some memory, where the system can break it off.

Both are watched in this process, so a single operation of the interpreter itself that never ends, such as `10**10**10`,
is not broken off. A candidate that needs more is run as a program, which can be stopped from outside.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

TIME_LIMIT = 10.0  # seconds a call may last
LONGEST_LIMIT = 86_400.0  # seconds that a call may be allowed
LOADING = 60.0  # seconds a candidate may take to load; some import a great deal
MEMORY_LIMIT = 4 * 2**30  # bytes a call may take beyond what is in use
USED = Path("/proc/self/statm")


class TimeOver(BaseException):  # no `except Exception` of the candidate may swallow it
    """A call lasted too long."""


class Interrupted(BaseException):
    """Somebody wants the run to end; a KeyboardInterrupt that a candidate raises is another thing."""


def limited(call: Callable[[], Any], seconds: float) -> Any:
    """Make a call, and break it off where it takes too much: of time on Unix in the main thread, of memory on Linux.

    A process that the call forks ends with the call.

    Raises:
        TimeOver: it lasted too long.
        Interrupted: the run was interrupted.
        MemoryError: it took too much memory.
        BaseException: what the call raised.
    """
    process, start = os.getpid(), time.monotonic()
    try:
        with _memory(), _staying(process), _clock(seconds):
            answer = call()
        if 0 < seconds < time.monotonic() - start:  # it would not be broken off
            raise TimeOver
        return answer
    finally:
        if os.getpid() != process:
            os._exit(0)


@contextmanager
def _clock(seconds: float) -> Iterator[None]:
    if seconds <= 0 or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts: list[int] = []

    def interrupted(number: int, _frame: FrameType | None) -> None:
        interrupts.append(number)
        raise Interrupted

    before = signal.signal(signal.SIGALRM, _over), signal.signal(signal.SIGINT, interrupted)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # again each second: an `except` of the call may swallow the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip((signal.SIGALRM, signal.SIGINT), before, strict=True):
            signal.signal(number, handler)
        if interrupts:  # an `except` of the call may have swallowed it
            raise Interrupted


@contextmanager
def _staying(process: int) -> Iterator[None]:
    """Keep this process when it is told to end at once, with a status that would be taken for that of the run."""
    ending = os._exit

    def instead(status: int) -> NoReturn:
        if os.getpid() == process:
            raise SystemExit(status)
        ending(status)

    os._exit = instead
    try:
        yield
    finally:
        os._exit = ending


def _over(_number: int, _frame: FrameType | None) -> None:
    raise TimeOver


@contextmanager
def _memory() -> Iterator[None]:
    used = _used()
    if not used:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = used + MEMORY_LIMIT
    if (soft != resource.RLIM_INFINITY and soft <= wanted) or (hard != resource.RLIM_INFINITY and hard <= wanted):
        yield  # it is limited already
        return
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _used() -> int:
    """Return the bytes of data of this process, or 0 where the system does not tell."""
    try:
        pages = int(USED.read_bytes().split()[5])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * resource.getpagesize()


def limit_memory_of(process: int) -> None:
    """Limit the memory of another process, on Linux."""
    if hasattr(resource, "prlimit"):
        try:
            resource.prlimit(process, resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
        except (OSError, ValueError):  # it has ended, or is limited already
            return
