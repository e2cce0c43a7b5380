"""How many points a run of a policy is worth: six curves, two factors and four caps.

The curves reward what a service wants. The factors and caps are there because the cheapest tricks would win without
them: to forget the conversations, to refuse users, to end sessions. A cut that leaves next to nothing ends a session in
all but name, though the mean over its turns keeps half of the history, as it is long before the next cut.
Points are counted in thousandths of a component, rounded down, so that every machine gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from spec.solving import Exact

PARTS = 1000  # of a component that are told apart
MICRO = 10**6  # parts of a second, or of a share, to which what was measured is taken
RETAINED = Fraction(1, 2)  # of the history: below it all points shrink in proportion
CRASHED, BROKEN, WIPED, LEFT = "crashed", "broken", "wiped", "left"
CAPS = (CRASHED, BROKEN, WIPED, LEFT)
MOST_BROKEN, LEAST_SPARED, MOST_QUEUED = Fraction(1, 4), Fraction(1, 4), 20
CAP_CRASHED, CAP_BROKEN, CAP_WIPED, CAP_LEFT = 20, 40, 40, 30
POINTS = 100


@dataclass(frozen=True, slots=True)
class Measures:
    """What one run came to.

    Attributes:
        ooms: how often memory ran out.
        overfull: whether more tokens were cached than the budget holds.
        new_wait: seconds to the first token that 99 % of new sessions do not exceed; None where none got any.
        returning_ttft: the same of the later turns of a session.
        redone: share of the GPU's time that went into prefilling what was cached before, and into summaries.
        fairness: Jain's index of the sessions' ideal latency over the one they had.
        retention: share of its history that a turn still had, in the mean.
        bad: share of the sessions that were killed, aged out, crashed, exhausted or refused.
        queued: turns that still waited at the end.
        spared: share of the history that a cut leaves, in the mean; None where nothing was cut.
    """

    ooms: int
    overfull: bool
    new_wait: Exact | None
    returning_ttft: Exact | None
    redone: Exact
    fairness: Exact
    retention: Exact
    bad: Exact
    queued: int
    spared: Exact | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """Full points up to `full`, none from `zero` on, and between them evenly in the value or in its logarithm.

    `full` lies below `zero` where little is good and above it where much is.
    """

    full: Fraction
    zero: Fraction
    logarithmic: bool = False

    def share(self, value: Exact | None) -> Fraction:
        """Return the share of the points that a value earns, in whole thousandths; none where there is no value."""
        if value is None:
            return Fraction(0)
        taken = Fraction(int(value * MICRO), MICRO)
        if (taken - self.full) * (self.full - self.zero) >= 0:
            return Fraction(1)
        if (taken - self.zero) * (self.full - self.zero) <= 0:
            return Fraction(0)
        if self.logarithmic:
            return Fraction(_parts_of_logarithm(self.zero / taken, self.zero / self.full), PARTS)
        return Fraction(int(PARTS * (self.zero - taken) / (self.zero - self.full)), PARTS)


def _parts_of_logarithm(reached: Fraction, whole: Fraction) -> int:
    """Return the thousandths of log `whole` that are in log `reached`, rounded down; both are above 1."""
    top, bottom = reached.numerator**PARTS, reached.denominator**PARTS
    low, high = 0, PARTS
    while low + 1 < high:
        middle = (low + high) // 2
        if top * whole.denominator**middle >= bottom * whole.numerator**middle:
            low = middle
        else:
            high = middle
    return low


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that earns points: its name, what it measures, the points and the curve."""

    name: str
    says: str
    points: int
    curve: Curve
    unit: str


SAFETY = 20
COMPONENTS = (
    Component(
        "new_wait", "p99 wait of new sessions for a token", 25, Curve(Fraction(2), Fraction(60), logarithmic=True),
        "s",
    ),
    Component(
        "returning_ttft", "p99 time to first token of later turns", 15,
        Curve(Fraction(1), Fraction(30), logarithmic=True), "s",
    ),
    Component("redone", "GPU time for recomputing and summaries", 15, Curve(Fraction(1, 50), Fraction(2, 5)), "%"),
    Component("fairness", "Jain index of fairness over sessions", 15, Curve(Fraction(19, 20), Fraction(3, 5)), "1"),
    Component("retention", "history that a turn still has", 10, Curve(Fraction(19, 20), Fraction(2, 5)), "%"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scored:
    """The points of one run.

    Attributes:
        safety: for never running out of memory.
        points: of each of `COMPONENTS`, in their order.
        bad: what is lost to sessions that ended badly.
        forgotten: what is lost on top to forgetting.
        capped: what is lost on top to a cap.
        cap: which cap that is, empty where none binds.
        total: what is left, from 0 to 100.
    """

    safety: int
    points: tuple[Fraction, ...]
    bad: Fraction
    forgotten: Fraction
    capped: Fraction
    cap: str
    total: Fraction


def score(measures: Measures) -> Scored:
    """Score one run."""
    safety = 0 if measures.ooms or measures.overfull else SAFETY
    points = tuple(part.points * part.curve.share(getattr(measures, part.name)) for part in COMPONENTS)
    everything = safety + sum(points, Fraction(0))
    served = everything * (1 - Fraction(measures.bad))
    kept = served * min(Fraction(1), Fraction(int(measures.retention * MICRO), MICRO) / RETAINED)
    limit, cap = _cap(measures)
    total = min(kept, limit)
    return Scored(safety, points, everything - served, served - kept, kept - total, cap if total < kept else "", total)


def _cap(measures: Measures) -> tuple[Fraction, str]:
    """Return the lowest cap that applies, and its name."""
    caps = [(Fraction(POINTS), "")]
    if measures.ooms:
        caps.append((Fraction(CAP_CRASHED), CRASHED))
    if measures.bad > MOST_BROKEN:
        caps.append((CAP_BROKEN * (1 - Fraction(measures.bad)), BROKEN))
    if measures.spared is not None and measures.spared < LEAST_SPARED:
        caps.append((Fraction(CAP_WIPED), WIPED))
    if measures.queued > MOST_QUEUED:
        caps.append((Fraction(CAP_LEFT), LEFT))
    return min(caps)


@dataclass(frozen=True, slots=True)
class Loss:
    """Points that something cost: `safety`, the name of a component, `bad`, `forgotten` or a cap."""

    what: str
    points: Fraction


def losses(runs: Sequence[Scored]) -> list[Loss]:
    """Return what cost points over some runs, in the mean, the most first; what cost nothing is left out."""
    count = len(runs)
    found = {"safety": Fraction(sum(SAFETY - run.safety for run in runs), count)}
    for place, part in enumerate(COMPONENTS):
        found[part.name] = part.points - sum(run.points[place] for run in runs) / Fraction(count)
    found["bad"] = sum((run.bad for run in runs), Fraction(0)) / count
    found["forgotten"] = sum((run.forgotten for run in runs), Fraction(0)) / count
    for cap in CAPS:
        found[cap] = sum((run.capped for run in runs if run.cap == cap), Fraction(0)) / count
    return sorted((Loss(what, lost) for what, lost in found.items() if lost), key=lambda loss: -loss.points)


def mean(runs: Sequence[Scored]) -> Fraction:
    """Return the mean of the totals."""
    return sum((run.total for run in runs), Fraction(0)) / len(runs)
