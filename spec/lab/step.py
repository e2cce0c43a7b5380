"""What a step of the lab is."""

from __future__ import annotations

from dataclasses import dataclass

from spec.claims import Check, Claim

SECTION = "lab"


@dataclass(frozen=True, eq=False)
class Step:
    """A few claims about one thing, each measured by running.

    Attributes:
        title: what is looked at.
        claims: what is said of it. Their ids are numbers that go on from step to step.
        note: what to know when reading the measurements, or "".
    """

    title: str
    claims: tuple[Claim, ...]
    note: str = ""


def claim(number: int, says: str, check: Check) -> Claim:
    """Return a claim of the lab: one sentence, and what measures it on an implementation of the laws."""
    return Claim(str(number), SECTION, says, check)
