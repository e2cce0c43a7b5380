"""One chat session as a server knows it: what was said, what of it a prompt still has, and what is asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

from spec.serving.request import Job, State
from spec.serving.session_workload import Said, Script

PIECE = 10**9  # parts into which a share of the history is divided


class End(StrEnum):
    """How a session ends: in exactly one of these ways."""

    DONE = "done"
    CONTEXT = "context"
    KILLED = "killed"
    MAX_AGE = "max_age"
    REFUSED = "503"
    OOM = "oom"
    OPEN = "open"


class Work(IntEnum):
    """What is asked of the engine for a session, in the order of importance."""

    TURN = 0
    SUMMARY = 1  # a user waits for it
    AHEAD = 2  # a summary that nobody waits for yet
    REBUILD = 3  # the prefill of a history that was trimmed ahead


class Due(IntEnum):
    """What happens at a time that is known beforehand."""

    MESSAGE = 0
    IMPATIENT = 1
    IDLE = 2
    AGED = 3
    LOOK = 4


class Event(NamedTuple):
    """Something that will happen to a session, unless it has moved on from the stamp."""

    tick: int
    number: int
    due: Due
    session: Session | None
    stamp: int


@dataclass(slots=True)
class Turn:
    """A message and what became of it.

    Attributes:
        arrival: the nanosecond at which it came.
        fresh: tokens of the prompt that no cache could have.
        kept: share of what was said before that the prompt still had, in parts of `PIECE`; None where nothing was.
        job: the request; None while a summary comes first.
    """

    arrival: int
    fresh: int
    kept: int | None
    job: Job | None = None


class Session:
    """A conversation. Lengths are tokens.

    Attributes:
        script: the user.
        arrival: the tick of the first message.
        end: how it ended.
        raw: newest part of what was said that the prompt has as it was said.
        summary: the summary before it.
        said: all that was said.
        covered: what was said that the summary stands for.
        cached: leading tokens of the history that a cache under its name has at best.
        booked: its cache is pinned while nothing is in flight.
        job, work: what it asked for and is not done, and what that is.
        message: what the user has said and is not in a prompt yet, and when.
        turns: of the conversation so far.
        let_in: it was let in once.
        saying: what the user says or will say next.
        ahead: what comes after that.
    """

    __slots__ = (
        "aged", "ahead", "arrival", "booked", "cached", "covered", "end", "job", "let_in", "message", "raw", "said",
        "saying", "script", "stamp", "summary", "turns", "work",
    )  # fmt: skip

    def __init__(self, script: Script, arrival: int) -> None:
        self.script, self.arrival = script, arrival
        self.end = End.OPEN
        self.raw = self.summary = self.said = self.covered = self.cached = self.stamp = 0
        self.booked = self.aged = self.let_in = False
        self.job: Job | None = None
        self.work = Work.TURN
        self.ahead = iter(script.turns)
        self.saying = next(self.ahead)
        self.message: Said | None = None
        self.turns: list[Turn] = []

    @property
    def in_flight(self) -> bool:
        """Say whether the engine works for it."""
        return self.job is not None and self.job.state is State.RUNNING

    @property
    def user_waits(self) -> bool:
        """Say whether a message is not answered yet."""
        return self.message is not None or (self.job is not None and self.work <= Work.SUMMARY)
