"""What is measured and how it is scored, in the words of a statement."""

from __future__ import annotations

from grader.executing.session_policy.graded import FORETELLING
from grader.executing.session_policy.predictions import FORETOLD
from grader.executing.session_policy.report import value
from grader.executing.session_policy.running import RUNS
from grader.executing.session_policy.scoring import (
    CAP_BROKEN,
    CAP_CRASHED,
    CAP_LEFT,
    CAP_WIPED,
    COMPONENTS,
    MOST_QUEUED,
    SAFETY,
    Component,
)
from spec.serving.sessions import SIMPLIFICATIONS

# How paragraphs begin.
TASK, RUN, MEAN, LEFT_OUT = "Write the policy of the server:", "A run earns", "The mean of", "What the runs leave out:"


def scoring() -> str:
    """Say how a run is scored."""
    listed = "; ".join([f"{SAFETY} points if memory never runs out", *map(_component, COMPONENTS)])
    return (
        f"{RUN} {listed}. "
        "The sum is multiplied by the share of sessions that were not killed, aged out, lost, exhausted or refused. It "
        "shrinks in proportion where turns have less than half of their history in the mean. "
        f"A run in which memory runs out earns {CAP_CRASHED} at most; one in which over a quarter of the sessions end "
        f"badly, {CAP_BROKEN} less their share; one in which a cut leaves less than a quarter of the history in the "
        f"mean, {CAP_WIPED}; one with over {MOST_QUEUED} turns in the queue at its end, {CAP_LEFT}."
    )


def _component(part: Component) -> str:
    curve = " on a logarithmic scale" if part.curve.logarithmic else ""
    full, zero = (value(end, part.unit) for end in (part.curve.full, part.curve.zero))
    return f"up to {part.points} points for the {part.says} (all at {full}, none at {zero}{curve})"


def foretelling() -> str:
    """Say what the predictions are and what they earn."""
    share = int(100 * FORETELLING)
    listed = "; ".join(f"{each.name}, the {each.says}" for each in FORETOLD)
    return (
        f"{MEAN} {RUNS} runs is {100 - share} % of the score. The rest is for what you foretell in the same file, "
        f"under predictions: {listed}. "
        "Within 10 % of what is measured a prediction earns all, within a factor of two half. "
        "From 90 of 100 the answer is correct, and under 40 it is not."
    )


def simplifications() -> str:
    """Say what the runs leave out."""
    return f"{LEFT_OUT} {' '.join(SIMPLIFICATIONS)}"


def paragraphs(statement: str) -> list[str]:
    """Part a statement where these rules begin, to be read on a screen; a record keeps it as one paragraph."""
    parted = statement
    for start in (TASK, RUN, MEAN, LEFT_OUT):
        parted = parted.replace(f" {start} ", f"\n{start} ", 1)
    return parted.split("\n")
