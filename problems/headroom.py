"""How many requests a server must be able to serve at once, above the mean, and the load it may then be given (F24)."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, isqrt

from grader.case import CaseAsk, CaseFamily, Explained
from grader.menu import Draw, Menu
from grader.reckoned import Reckoning, Values, shown
from spec import quantities as q
from spec.domains import COUNT
from spec.quantities import Quantity
from spec.queueing import ErlangB, ErlangC, PoissonCover, blocks_at_most, covers, mean_concurrency, waits_at_most
from spec.solving import Exact, Infeasible, last

MINUTE = 60
FEWEST, MOST = 4, 90  # in service on average
TENTH_MORE = Fraction(11, 10)
MENU = Menu(
    arrival_rate=tuple(
        f"{n} request/s" for n in ("0.5", "0.8", "1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")
    ),
    service_time=("4 s", "5 s", "6 s", "7.5 s", "8 s", "10 s", "12 s", "12.5 s", "15 s", "18 s", "20 s", "25 s"),
    blocking=("0 %", "0.1 %", "0.2 %", "0.5 %", "1 %", "2 %", "5 %"),
    waiting=("0 %", "0.5 %", "1 %", "2 %", "5 %", "10 %", "20 %"),
    covered=("90 %", "95 %", "98 %", "99 %", "99.5 %", "99.9 %", "100 %"),
    servers=(8, 10, 12, 15, 16, 20, 24, 25, 30, 32, 40, 48, 50, 60, 64),
)
LOSS = Reckoning((q.arrival_rate, q.service_time, q.blocking), (q.mean_concurrency,), (mean_concurrency,))
DELAY = Reckoning((q.arrival_rate, q.service_time, q.waiting), (q.mean_concurrency,), (mean_concurrency,))
COVER = Reckoning((q.arrival_rate, q.service_time, q.covered), (q.mean_concurrency,), (mean_concurrency,))
RATE = Reckoning((q.service_time, q.servers, q.blocking), (), ())
Slots = Callable[[Exact, Exact], int | None]


def without_loss(load: Exact, share: Exact) -> int | None:
    """Give the fewest servers of which all are busy for no more than a share of the requests; none are for no share."""
    return _whole(blocks_at_most.solve("servers", offered_load=load, blocking=share)) if share else None


def without_wait(load: Exact, share: Exact) -> int | None:
    """Give the fewest servers for which no more than a share of the requests must wait."""
    return _whole(waits_at_most.solve("servers", offered_load=load, waiting=share)) if share else None


def for_a_time(load: Exact, share: Exact) -> int | None:
    """Give the fewest servers that suffice for a share of the time if nobody is turned away or waits."""
    return _whole(covers.solve("servers", offered_load=load, covered=share)) if share < 1 else None


def _whole(found: Exact | Infeasible) -> int | None:
    return None if isinstance(found, Infeasible) else int(found)


def up_by_two_roots(load: Fraction) -> int:
    """Add two standard deviations of a Poisson number to its mean, and round up."""
    over, under = load.numerator, load.denominator
    square = 4 * over * under
    root = isqrt(square)
    return ceil(Fraction(over + root + (root * root < square), under))


def keep(case: Draw) -> bool:
    """Keep loads of a few to some dozens, and servers that are about as many."""
    v = case.values
    load = v["arrival_rate"] * v["service_time"]
    return FEWEST <= load <= MOST and v["servers"] <= 2 * load <= 4 * v["servers"]


HEADROOM = (
    ("mean", "That is the mean; about half of the time more are there.", ceil),
    (
        "tenth-more",
        "A tenth was added to the mean; what is needed follows from a share.",
        lambda n: ceil(TENTH_MORE * n),
    ),
    ("two-roots-more", "Twice the root of the mean was added, whatever the share.", up_by_two_roots),
)
NO_RATE = "The arrival rate was taken for the number in service; each request stays for its time."


def slots(
    of: Reckoning, given: Quantity, rule: Slots, wanted: str, law: str, others: tuple[tuple[str, str, Slots], ...]
) -> CaseAsk[Draw]:
    """Ask for the fewest requests at once by one of the three rules; `others` are the rules it is not."""

    def right(v: Values, *, load: str = "mean_concurrency") -> int | None:
        return rule(v[load], v[given.name])

    def missed(v: Values) -> int | None:
        found = right(v)
        return None if found is None else found - 1

    def by(other: Slots) -> Callable[[Values], int | None]:
        complement = (rule is for_a_time) != (other is for_a_time)  # one says what suffices, the others what is missed
        return lambda v: other(v["mean_concurrency"], 1 - v[given.name] if complement else v[given.name])

    def above(number: Callable[[Fraction], int]) -> Callable[[Values], int]:
        return lambda v: number(v["mean_concurrency"])

    def end(c: Draw) -> str:
        v, share = of.values(c), c.amounts[given.name]
        found = right(v)
        if found is None:
            return f"No number is enough for {share}: servers = none"
        before, now = (shown(100 * share_of(given, v["mean_concurrency"], n), "%") for n in (found - 1, found))
        return f"With {found - 1:,} the share is {before}, with one more {now}, against {share}: servers = {found:,}"

    return CaseAsk(
        asks=f"servers_by_{given.name}",
        question=lambda c: (
            f"They arrive at {c.amounts['arrival_rate']} on average. {wanted.format(c.amounts[given.name])}"
        ),
        kind="count",
        unit="request",
        key=lambda c: right(of.values(c)),
        reason=lambda _: "However many places there are, at times more requests than that are there at once.",
        givens=lambda c: of.givens(c, q.arrival_rate, given),
        slips=(
            *(of.slip(slug, says, above(number)) for slug, says, number in HEADROOM),
            of.slip("rate-for-load", NO_RATE, lambda v: right(v, load="arrival_rate")),
            of.slip("one-less", "With so many the share is still missed.", missed),
            *(of.slip(slug, says, by(other)) for slug, says, other in others),
        ),
        hints=lambda c: of.hints(
            c, "Then find the fewest for which the share is kept.", f"Then try numbers above the load. {law}"
        ),
        explained=lambda c: of.lines(c, Explained(given.name, law, end(c))),
    )


def share_of(given: Quantity, load: Fraction, servers: int) -> Fraction:
    """Give the share that so many servers lead to."""
    if given is q.covered:
        return Fraction(PoissonCover.exact(servers, load))
    return Fraction((ErlangB if given is q.blocking else ErlangC).exact(servers, load))


LOST = ("turned-away", "That is for requests that are turned away; here none are.", without_loss)
WAITED = ("may-wait", "That is for requests that wait for a place; here they do not wait.", without_wait)
UNLIMITED = (
    "share-of-time",
    "That suffices for so much of the time where all are served at once; this asks for a share of the requests.",
    for_a_time,
)
by_loss = slots(
    LOSS,
    q.blocking,
    without_loss,
    "One that finds every place taken is turned away and does not come back. How many requests must the server be able "
    "to serve at once, at least, so that at most {} of them are turned away?",
    "Erlang's loss formula: B(0) = 1, and B(n) = a B(n - 1) / (n + a B(n - 1)) with the load a.",
    (WAITED, UNLIMITED),
)
by_wait = slots(
    DELAY,
    q.waiting,
    without_wait,
    "One that finds every place taken waits in line; times in service are exponential. How many requests must the "
    "server at least be able to serve at once, so that at most {} of them must wait?",
    "Erlang's delay formula: C(n) = n B(n) / (n - a (1 - B(n))), with B of the loss formula, for n over the load a.",
    (LOST, UNLIMITED),
)
by_time = slots(
    COVER,
    q.covered,
    for_a_time,
    "Suppose that every one is served at once, however many there are. What is the smallest number of requests in "
    "service that is not exceeded for at least {} of the time?",
    "The number in service is Poisson with mean a: the terms e^-a a^n / n! up to n must reach the share.",
    (LOST, WAITED),
)


def fastest(v: Values, rule: Callable[[Fraction], bool]) -> int | None:
    """Find the last whole rate per minute whose load a rule allows."""
    return last(COUNT, lambda rate: rule(Fraction(rate, MINUTE) * v["service_time"]))


def right_rate(v: Values) -> int | None:
    """Give the highest rate; None where no request may be turned away."""
    share = v["blocking"]
    return fastest(v, lambda load: share_of(q.blocking, load, int(v["servers"])) <= share) if share else None


def by_waiting(v: Values) -> int | None:
    """Give the highest rate at which no larger share would have to wait."""
    share = v["blocking"]
    return fastest(v, lambda load: share_of(q.waiting, load, int(v["servers"])) <= share) if share else None


def more(v: Values) -> int | None:
    """Give the first rate that is too high."""
    found = right_rate(v)
    return None if found is None else found + 1


def rate_end(case: Draw) -> str:
    """Show the share at the rate and just above it."""
    v = RATE.values(case)
    found = right_rate(v)
    if found is None:
        return f"No rate keeps {case.amounts['blocking']}: arrival_rate = none"
    loads = [Fraction(rate, MINUTE) * v["service_time"] for rate in (found + 1, found)]
    above, at = (shown(100 * share_of(q.blocking, load, int(v["servers"])), "%") for load in loads)
    return (
        f"At {found + 1:,} requests/min the share is {above}, at one fewer {at}, against {case.amounts['blocking']}: "
        f"arrival_rate = {shown(found, 'request/min')}"
    )


rate: CaseAsk[Draw] = CaseAsk(
    asks="arrival_rate",
    question=lambda c: (
        f"The server can serve {c.amounts['servers']} at once; one that finds every place taken is turned away and "
        "does not come back. At how many requests/min, as a whole number, may they arrive at most, so that at most "
        f"{c.amounts['blocking']} of them are turned away?"
    ),
    kind="count",
    unit="request/min",
    key=lambda c: right_rate(RATE.values(c)),
    reason=lambda _: "However slowly they arrive, at times one more is there than can be served at once.",
    givens=lambda c: RATE.givens(c, q.servers, q.blocking),
    slips=(
        RATE.slip(
            "mean",
            "At that rate as many are there on average as can be served, if none are turned away.",
            lambda v: MINUTE * v["servers"] / v["service_time"] // 1,
        ),
        RATE.slip(
            "tenth-less",
            "A tenth was kept free, whatever the share.",
            lambda v: MINUTE * v["servers"] / (TENTH_MORE * v["service_time"]) // 1,
        ),
        RATE.slip(
            "two-roots-less",
            "Twice the root of the mean was kept free, whatever the share.",
            lambda v: fastest(v, lambda load: up_by_two_roots(load) <= v["servers"]),
        ),
        RATE.slip(*WAITED[:2], by_waiting),
        RATE.slip("one-more", "At that rate the share is missed.", more),
        RATE.slip("in-seconds", "That is the rate per second.", lambda v: Fraction(right_rate(v) or 0, MINUTE) or None),
        RATE.slip(
            "load-for-rate",
            "That is the load, in requests there at once; it must be divided by the time of each.",
            lambda v: Fraction(right_rate(v) or 0, MINUTE) * v["service_time"] or None,
        ),
    ),
    hints=lambda c: (
        "The share that is turned away follows from the places and the load, and grows with the load.",
        "Erlang's loss formula, B(0) = 1 and B(n) = a B(n - 1) / (n + a B(n - 1)), with the load a = lambda T.",
        f"n = {c.amounts['servers']}, T = {c.amounts['service_time']}, and B(n) at most {c.amounts['blocking']}.",
    ),
    explained=lambda c: (
        Explained(
            "blocking",
            "The last rate at which Erlang's loss formula keeps the share: B(0) = 1, and B(n) = a B(n - 1) / "
            "(n + a B(n - 1)) with the load a.",
            rate_end(c),
        ),
    ),
)

family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        "Requests arrive at random, and their times do not depend on each other. Each, once it is served, takes a "
        f"place at the server for {c.amounts['service_time']} on average."
    ),
    givens=lambda c: LOSS.givens(c, q.service_time),
    ways=((by_loss,), (by_wait,), (by_time,), (rate,)),
    keep=keep,
    infeasible=True,
    objective="littles-law",
    section="sizing",
    revision=2,
)
