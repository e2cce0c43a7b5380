"""Running a policy: on which seeds, under which circumstances, and what is measured of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from grader.executing.session_policy.graded import Graded, Ran, Timeline, average
from grader.executing.session_policy.predictions import compared
from grader.executing.session_policy.reading import Answer, written
from grader.executing.session_policy.scoring import Measures, score
from spec.serving.session_workload import Circumstances, turns
from spec.serving.sessions import AGES, Look, Played, play
from spec.solving import Exact
from spec.stream import Stream

Progress = Callable[[int, int], None]
RUNS = 5
PRACTICE, GRADING = "practice", "grading"
SEEDS = 2**62  # of each kind; the kinds have no seed in common
LOOKED_AT = 40  # sessions of a run whose growth is followed
WHOLE = ("window", "reply_limit", "system", "seconds", "warm_up", "host_bytes", "host_rate", "restart")


def circumstances(setting: Mapping[str, str]) -> Circumstances:
    """Read the circumstances of an exercise."""
    usual = Circumstances(setting["model"], setting["gpu"], Fraction(setting["per_minute"]))
    whole: dict[str, Any] = {name: int(setting[name]) for name in WHOLE}
    return replace(usual, **whole)


def setting(under: Circumstances, draw: str) -> dict[str, str]:
    """Write the circumstances of an exercise, and the name of its draw; the inverse of `circumstances`."""
    own = {"model": under.model, "gpu": under.gpu, "per_minute": str(under.per_minute), "draw": draw}
    return own | {name: str(getattr(under, name)) for name in WHOLE}


def seeds(draw: str, kind: str) -> Iterator[int]:
    """Give the seeds for the runs of an exercise, named by its draw: those that count, or those for practice."""
    stream = Stream("session-policy", kind, draw)
    return (2 * stream.below(SEEDS) + (kind == GRADING) for _ in range(RUNS))


def run(answer: Answer, under: Circumstances, draw: str, kind: str, progress: Progress) -> Graded:
    """Run a policy under the circumstances of an exercise, and grade it."""
    played, overflows = [], []
    for number, seed in enumerate(seeds(draw, kind)):
        progress(number, RUNS)
        played.append(play(answer.policy, under, seed))
        overflows.append(overflow_turn(under, answer.policy.context_limit, seed))
    runs = tuple(map(_ran, played))
    foretold: dict[str, Exact | None] = {
        "overflow_turn": average(overflows),
        "resident_sessions": average([one.resident for one in played]),
        "new_wait_p99_s": average([one.measures.new_wait for one in runs]),
    }
    return Graded(written(answer, under.window), runs, compared(answer.predictions, foretold), kind == GRADING)


def measures(played: Played) -> Measures:
    """Return what counts of a run."""
    return Measures(
        ooms=played.ooms,
        overfull=played.peak_kv > played.budget,
        new_wait=played.new_wait_p99,
        returning_ttft=played.returning_ttft_p99,
        redone=played.recompute + played.summarise,
        fairness=played.jain,
        retention=played.retention,
        bad=played.bad,
        queued=played.queued_at_end,
        spared=played.spared,
    )


def _ran(played: Played) -> Ran:
    ends = {end.value: count for end, count in played.ends.items()}
    found = measures(played)
    return Ran(found, score(found), _timeline(played.timeline, played.budget), ends)


def overflow_turn(under: Circumstances, limit: int, seed: int) -> Fraction | None:
    """Return the turn at which sessions outgrow a limit, in the mean over those of some that do; None if none does."""
    found = []
    for number in range(LOOKED_AT):
        history = under.system
        for turn, said in enumerate(turns(under, seed, number), 1):
            if history + said.message + under.reply_limit > limit:
                found.append(turn)
                break
            history += said.message + said.reply
    return Fraction(sum(found), len(found)) if found else None


def _timeline(looks: Sequence[Look], budget: int) -> Timeline:
    ages = [f"under {AGES[0]} min", *(f"{a} to {b} min" for a, b in pairwise(AGES))]
    rows = tuple(zip(*(each.gpu for each in looks), strict=True))
    return Timeline(looks[-1].second, (*ages, f"{AGES[-1]} min and over"), rows, budget)
