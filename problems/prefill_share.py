"""How much of its time a server must reserve for prefill, and what a share of it does to the first token (F33)."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import digits
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from grader.family import FINE
from grader.reckoned import shown
from spec.queueing import mean_concurrency
from spec.stream import Stream

LABELS = ("stable", "unstable")
PERCENT, MINUTE, MILLISECONDS = 100, 60, 1000
RATES = ("0.5", "0.8", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10", "12")  # requests/s
TIMES = (30, 40, 45, 50, 60, 75, 80, 90, 120, 150, 180, 240, 300, 400, 600)  # ms
SHARES = (10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70)  # %
OFF = Fraction(1, 20)  # of the border between stable and not
LIGHTEST, HEAVIEST = Fraction(1, 5), 3  # load over what the share carries


@dataclass(frozen=True, slots=True)
class Server:
    """Requests arrive at `rate` a second, each with a prefill of `time` ms, for which `share` % is reserved."""

    rate: Fraction
    time: int
    share: int

    @property
    def seconds(self) -> Fraction:
        """The time of a prefill that has the GPU to itself, in s."""
        return Fraction(self.time, MILLISECONDS)

    @property
    def load(self) -> Fraction:
        """The share of the time that prefills need: the mean number in prefill, by Little's law."""
        return Fraction(mean_concurrency(arrival_rate=self.rate, service_time=self.seconds))

    @property
    def reserved(self) -> Fraction:
        """The share as a number."""
        return Fraction(self.share, PERCENT)

    @property
    def busy(self) -> Fraction:
        """The load over what the share carries; the queue is stable under 1."""
        return self.load / self.reserved

    @property
    def stretched(self) -> Fraction:
        """The time of a prefill within the share, in ms."""
        return self.time / self.reserved


def draw(stream: Stream) -> Server:
    """Draw a server."""
    return Server(Fraction(stream.choice(RATES)), stream.choice(TIMES), stream.choice(SHARES))


def keep(case: Server) -> bool:
    """Keep loads that are clear of the border, and within a factor of what the share carries."""
    off = all(abs(load - 1) > OFF for load in (case.busy, case.load))
    return off and LIGHTEST <= case.busy <= HEAVIEST


def waits(time: Fraction, busy: Fraction, variable: int = 0) -> Fraction | None:
    """Give the mean wait at a server whose service takes `time`, or with `variable` is exponential with that mean.

    By the formula of Pollaczek and Khinchine (1930-32) for random arrivals; None where the queue is not stable.
    """
    return (1 + variable) * busy * time / (2 * (1 - busy)) if busy < 1 else None


def first_token(case: Server) -> Fraction | None:
    """Give the mean time to first token in ms."""
    wait = waits(case.stretched, case.busy)
    return None if wait is None else wait + case.stretched


def plus(part: Fraction, wait: Fraction | None) -> Fraction | None:
    """Add a wait, if there is one."""
    return None if wait is None else part + wait


def slip(slug: str, sentence: str, value: Callable[[Server], Fraction | None]) -> CaseSlip[Server]:
    """Make a misconception that is left out where it leads nowhere."""
    return CaseSlip(slug, sentence, value, lambda c: value(c) is not None)


def arrivals(case: Server) -> Given:
    """Give the arrival rate."""
    return Given("arrival_rate", "lambda", digits(case.rate), "request/s", "arrival rate")


def prefill(case: Server) -> Given:
    """Give the time of a prefill."""
    return Given("prefill_time", "t_p", str(case.time), "ms", "prefill time")


def share_given(case: Server) -> Given:
    """Give the share."""
    return Given("prefill_share", "f", str(case.share), "%", "share of the GPU's time reserved for prefill")


def too_much(case: Server) -> str:
    """Say that no share is enough."""
    return f"Prefills need {shown(PERCENT * case.load, '%')} of the time, so that no share of it is enough."


def too_little(case: Server) -> str:
    """Say that the share is too small."""
    return (
        f"Prefills need {shown(PERCENT * case.load, '%')} of the time and get {case.share} %: more and more requests "
        "wait, and there is no mean."
    )


def least(case: Server) -> Fraction | None:
    """Give the share, in %, above which the queue is stable."""
    return PERCENT * case.load if case.load < 1 else None


NEED = "Prefills need the arrival rate times the time of one: lambda t_p of the time."
share: CaseAsk[Server] = CaseAsk(
    asks="prefill_share",
    question=lambda c: (
        f"They arrive at {shown(c.rate, 'request/s')}. Above which share of the GPU's time, in %, must that reserved "
        "for prefill lie, so that the requests that wait for it do not become more and more?"
    ),
    kind="quantity",
    unit="%",
    key=least,
    tolerance=FINE,
    reason=too_much,
    givens=lambda c: (arrivals(c),),
    slips=(
        slip(
            "rate-ignored",
            "That is one prefill; it counts as often as they come.",
            lambda c: PERCENT * c.seconds,
        ),
        slip("rest", "That is what is left for decode.", lambda c: PERCENT * (1 - c.load) if c.load < 1 else None),
        slip("rate-alone", "That is how many arrive in a second; each takes only its prefill.", lambda c: c.rate),
        slip("reciprocal", "The time was divided by what prefills need of it.", lambda c: 1 / c.load),
        slip("number-for-percent", "That is the share as a number; it is asked for in %.", lambda c: c.load),
        slip(
            "more-than-all",
            "A GPU has no more than all of its time.",
            lambda c: PERCENT * c.load if c.load > 1 else None,
        ),
    ),
    hints=lambda c: (
        "The queue is stable if prefill gets more of the time than it needs.",
        NEED,
        f"lambda = {shown(c.rate, 'request/s')}, t_p = {c.time} ms.",
    ),
    explained=lambda c: (
        Explained(
            "prefill_load",
            NEED,
            f"{shown(c.rate, 'request/s')} * {c.time} ms = {shown(PERCENT * c.load, '%')}: prefill_share = "
            f"{shown(least(c), '%')}",
        ),
    ),
)


def carried(case: Server) -> Fraction:
    """Give the rate, in requests/s, under which the queue is stable."""
    return case.reserved / case.seconds


rate: CaseAsk[Server] = CaseAsk(
    asks="arrival_rate",
    question=lambda c: (
        f"The share reserved for prefill is {c.share} %. Below which arrival rate, in requests/s, do the requests that "
        "wait for it not become more and more?"
    ),
    kind="quantity",
    unit="request/s",
    key=carried,
    tolerance=FINE,
    givens=lambda c: (share_given(c),),
    slips=(
        slip("whole-gpu", "All of the time was given to prefill; only a share is reserved.", lambda c: 1 / c.seconds),
        slip("rest", "The share that is left for decode was used.", lambda c: (1 - c.reserved) / c.seconds),
        slip("product", "The share was multiplied by the time of a prefill.", lambda c: c.reserved * c.seconds),
        slip("inverted", "The time of a prefill was divided by the share.", lambda c: c.seconds / c.reserved),
        slip("per-minute", "That is the rate per minute.", lambda c: MINUTE * carried(c)),
        slip("per-millisecond", "That is the rate per millisecond.", lambda c: carried(c) / MILLISECONDS),
    ),
    hints=lambda c: (
        "The queue is stable as long as prefills need less of the time than is reserved for them.",
        f"{NEED} At the limit that is the share.",
        f"f = {c.share} %, t_p = {c.time} ms.",
    ),
    explained=lambda c: (
        Explained(
            "prefill_load",
            f"{NEED} At the limit that is the share.",
            f"arrival_rate = {c.share} % / {c.time} ms = {shown(carried(c), 'request/s')}",
        ),
    ),
)


def label(case: Server) -> str:
    """Say whether the queue is stable."""
    return LABELS[case.busy > 1]


verdict: CaseAsk[Server] = CaseAsk(
    asks="verdict",
    question=lambda c: (
        f"They arrive at {shown(c.rate, 'request/s')}, and the share reserved for prefill is {c.share} %. Is the queue "
        "for prefill stable, or unstable because it becomes longer and longer?"
    ),
    kind="choice",
    options=lambda _: LABELS,
    key=label,
    givens=lambda c: (arrivals(c), share_given(c)),
    slips=(
        told_apart(
            "any-share", "Not any share will do; it must be more than prefills need.", lambda _: LABELS[0], label
        ),
        told_apart(
            "other-share",
            "What prefills need was compared with what is left for decode.",
            lambda c: LABELS[c.load > 1 - c.reserved],
            label,
        ),
        told_apart("exchanged", "Stable is what gets more than it needs.", lambda c: LABELS[c.busy < 1], label),
    ),
    hints=lambda c: (
        "Compare what prefills need of the time with what they get.",
        f"{NEED} Stable is what gets more.",
        f"lambda = {shown(c.rate, 'request/s')}, t_p = {c.time} ms, f = {c.share} %.",
    ),
    explained=lambda c: (
        Explained(
            "prefill_load", NEED, f"{shown(PERCENT * c.load, '%')} are needed and {c.share} % reserved: {label(c)}"
        ),
    ),
)
QUEUE = "w = rho s / (2 (1 - rho)) for random arrivals and equal times s = t_p / f, with rho = lambda s"


def explained(case: Server) -> tuple[Explained, ...]:
    """Explain the time to first token, or why there is none."""
    found = first_token(case)
    if found is None:
        return (Explained("prefill_load", NEED, f"{too_little(case)} ttft = none"),)
    wait = found - case.stretched
    return (
        Explained(
            "prefill_share",
            "Within its share a prefill takes longer.",
            f"s = {case.time} ms / {case.share} % = {shown(case.stretched, 'ms')}",
        ),
        Explained(
            "wait",
            f"{QUEUE} (Pollaczek and Khinchine).",
            f"rho = {shown(case.busy, '1')}, so w = {shown(wait, 'ms')}",
        ),
        Explained("ttft", "The wait and the prefill.", f"ttft = w + s = {shown(found, 'ms')}"),
    )


def in_seconds(case: Server) -> Fraction | None:
    """Give the time to first token in s."""
    found = first_token(case)
    return None if found is None else found / MILLISECONDS


ttft: CaseAsk[Server] = CaseAsk(
    asks="ttft",
    question=lambda _: "What is the mean time to first token, in ms, from the arrival to the end of the prefill?",
    kind="quantity",
    unit="ms",
    key=first_token,
    tolerance=FINE,
    reason=too_little,
    slips=(
        slip("wait-forgotten", "A request waits for the prefills before it, too.", lambda c: c.stretched),
        slip(
            "prefill-forgotten",
            "That is the wait; the prefill comes on top.",
            lambda c: waits(c.stretched, c.busy),
        ),
        slip(
            "share-ignored",
            "All of the time was given to prefill; within its share it goes more slowly.",
            lambda c: plus(Fraction(c.time), waits(Fraction(c.time), c.load)),
        ),
        slip(
            "prefill-at-full-speed",
            "The wait was right, but the prefill itself is as slow as those before it.",
            lambda c: plus(Fraction(c.time), waits(c.stretched, c.busy)),
        ),
        slip(
            "exponential",
            "The times of prefills were taken as exponential; here they are equal, and waits are half as long.",
            lambda c: plus(c.stretched, waits(c.stretched, c.busy, variable=1)),
        ),
        slip("prefill-alone", "That is a prefill at full speed with nobody before it.", lambda c: Fraction(c.time)),
        slip("in-seconds", "That is the time in seconds.", in_seconds),
    ),
    hints=lambda c: (
        "A request waits for those before it and then for its own prefill, which goes at the speed of the share.",
        f"{QUEUE}; then TTFT = w + s.",
        f"lambda = {shown(c.rate, 'request/s')}, s = {c.time} ms / {c.share} %.",
    ),
    explained=explained,
)


family: CaseFamily[Server] = CaseFamily(
    draw=draw,
    statement=lambda c: (
        "Requests arrive at random, and their times do not depend on each other. They are prefilled one after the "
        f"other in the order of arrival; a prefill that has the GPU to itself takes {c.time} ms, the same for all. A "
        "share of the GPU's time is reserved for prefill, in slices so fine that a prefill goes on evenly at that "
        "share of full speed; decode has the rest, whatever waits."
    ),
    givens=lambda c: (prefill(c),),
    ways=((share,), (rate,), (verdict, ttft)),
    keep=keep,
    infeasible=True,
    objective="ttft",
    section="ttft",
    revision=2,
)
