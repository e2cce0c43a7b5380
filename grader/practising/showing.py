"""Which slips an exercise shows: those that the judge would name, alone, in a wrong answer."""

from __future__ import annotations

from grader.exercise import Exercise, Part, SlipValue
from grader.judging import judge

READ = frozenset({"count", "number", "quantity", "expression", "choice", "choices", "sequence", "ranking"})


def typed(part: Part, slip: SlipValue) -> str:
    """Return the answer of somebody who commits a slip, as they would type it."""
    return "none" if slip.value is None else f"{slip.value} {part.unit}".strip()


def shown(exercise: Exercise) -> frozenset[str]:
    """Name the slips that some part of an exercise tells from every other."""
    return frozenset(slip for part in exercise.parts for slip in shown_by(part))


def shown_by(part: Part) -> frozenset[str]:
    """Name the slips that a part tells from every other: typed in, they are the one diagnosis.

    Answers that are run have no slips, and are not run for this.
    """
    if part.kind not in READ:
        return frozenset()
    return frozenset(
        slip.slip
        for slip in part.slips
        if [diagnosis.slip for diagnosis in judge(part, typed(part, slip)).diagnoses] == [slip.slip]
    )
