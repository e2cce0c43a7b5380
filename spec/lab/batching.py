"""Steps 6 and 7: static batches pad and wait for their longest sequence, continuous ones refill their slots."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from spec.claims import Outcome
from spec.claims.design_batching import LAB_LENGTHS, LAB_SLOTS, lab_lengths, mean
from spec.claims.settings import percent
from spec.claims.simulated import in_steps
from spec.lab.step import Step, claim
from spec.serving.batching import Continuous, Static
from spec.serving.server import Run

MOST, LEAST = (
    Fraction(60, 100),
    Fraction(90, 100),
)  # utilisation: of static batches at most, of continuous ones at least


def _ends(run: Run) -> list[int]:
    return [job.finish or 0 for job in run.jobs]


def _waste(lengths: Sequence[int]) -> tuple[int, int]:
    """Return the padding of a static batch, and all tokens that it takes, in its decode steps."""
    tally = in_steps(Static(len(lengths)), lengths).tally
    return tally.decode_padding, tally.decoded


def _half(impl: Any) -> Outcome:
    padding, work = _waste(LAB_LENGTHS)
    average = impl.mean_length(total_length=sum(LAB_LENGTHS), batch=len(LAB_LENGTHS))
    share = impl.padding_waste(mean_length=average, longest_length=max(LAB_LENGTHS))
    return Outcome(
        Fraction(padding, work) == share == Fraction(1, 2),
        f"{padding:,} of {work:,} tokens are padding when run, {percent(share)} by the law",
    )


def _alike(impl: Any) -> Outcome:
    padding, work = _waste([512] * LAB_SLOTS)
    share = impl.padding_waste(mean_length=512, longest_length=512)
    return Outcome(
        padding == share == 0, f"{padding:,} of {work:,} tokens are padding when run, {percent(share)} by the law"
    )


def _held(_: Any) -> Outcome:
    ends = _ends(in_steps(Static(LAB_SLOTS), LAB_LENGTHS))
    return Outcome(
        ends[0] == max(LAB_LENGTHS) == 8 * LAB_LENGTHS[0],
        f"{LAB_LENGTHS[0]} tokens come back at step {ends[0]:,}, {float(Fraction(ends[0], LAB_LENGTHS[0])):g} times "
        "as late as alone",
    )


def _both() -> tuple[list[int], Run, Run]:
    lengths = lab_lengths()
    return lengths, in_steps(Continuous(LAB_SLOTS), lengths), in_steps(Static(LAB_SLOTS), lengths)


def _utilisation(_: Any) -> Outcome:
    lengths, *runs = _both()
    own, padded = (Fraction(sum(lengths), LAB_SLOTS * run.end) for run in runs)
    return Outcome(
        own >= LEAST and padded <= MOST,
        f"of all slots in all steps continuous batches use {percent(own)}, static ones {percent(padded)}",
    )


def _span(_: Any) -> Outcome:
    _lengths, continuous, static = _both()
    starts, ends = sorted(job.admitted or 0 for job in continuous.jobs), sorted(_ends(continuous))
    # Whoever starts after the first eight takes the slot that came free at that step.
    refilled = starts == [0] * LAB_SLOTS + ends[:-LAB_SLOTS]
    return Outcome(
        continuous.end < static.end and refilled,
        f"{continuous.end:,} steps against {static.end:,}, {float(Fraction(static.end, continuous.end)):.2f} times as "
        f"many; the last job starts at step {starts[-1]:,}, and slots are {'full' if refilled else 'not always full'} "
        f"until {ends[-LAB_SLOTS]:,}",
    )


def _no_later(_: Any) -> Outcome:
    _lengths, *runs = _both()
    own, padded = map(_ends, runs)
    later = sum(mine > theirs for mine, theirs in zip(own, padded, strict=True))
    return Outcome(
        not later and mean(own) < mean(padded),
        f"a job ends at step {float(mean(own)):,.0f} in the mean against {float(mean(padded)):,.0f}, and {later} of "
        f"{len(own)} end later",
    )


STEPS = (
    Step(
        "Static batches pad",
        (
            claim(16, "Half of the work on the eight sequences of the test case is padding.", _half),
            claim(17, "Sequences of one length leave no padding.", _alike),
            claim(18, "The shortest sequence of a batch waits for the longest.", _held),
        ),
        note="The half belongs to these eight lengths; others waste more or less.",
    ),
    Step(
        "Continuous batches refill",
        (
            claim(
                19, "Of 64 jobs in 8 slots, continuous batching uses 90 % and more, static 60 % at most.", _utilisation
            ),
            claim(
                20,
                "Continuous batching is done sooner, and its slots are full until nobody waits to refill them.",
                _span,
            ),
            claim(21, "Under it jobs end sooner in the mean, and none of these later.", _no_later),
        ),
        note="No job can end later where all steps take equally long; where a step grows with its batch, one can.",
    ),
)
