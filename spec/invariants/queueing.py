"""Little's law and Erlang's formulas: from a load to the places it takes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Grid, of
from spec.solving import Exact

LITTLE = ("mean_concurrency",)
LOAD = of(q.arrival_rate, q.service_time)
ERLANG = of(q.servers, q.offered_load)
ONE, PART = Fraction(1), Fraction(1, 10**12)  # covered shares are rounded down to this part


def without_losses(impl: Any, servers: int, offered_load: Exact) -> Any:
    """Take off what each of many further servers would turn away."""
    further = range(servers + 1, servers + 40)
    return math.prod(1 - impl.blocking(servers=more, offered_load=offered_load) for more in further)


def promise(impl: Any, servers: int, offered_load: Exact, share: Exact) -> Exact:
    """Return the largest multiple of a part in 10^12 about a share that the slots cover; 0 where they cover none."""
    near = [part * PART for part in range(int(share / PART) - 4, int(share / PART) + 5) if 0 <= part * PART < 1]
    return max(
        (part for part in near if impl.covers(servers=servers, offered_load=offered_load, covered=part)), default=0
    )


rates_add = Invariant(
    "little-streams-add",
    "Two streams of requests that stay equally long keep together what each keeps in service.",
    {**of(q.service_time), "one": Grid(ONE / 2, 10, ONE / 2), "other": Grid(ONE / 2, 10, ONE / 2)},
    LITTLE,
    lambda impl, service_time, one, other: (
        impl.mean_concurrency(arrival_rate=one + other, service_time=service_time)
        == impl.mean_concurrency(arrival_rate=one, service_time=service_time)
        + impl.mean_concurrency(arrival_rate=other, service_time=service_time)
    ),
)
one_in_service = Invariant(
    "little-one",
    "One arrival per service time keeps one request in service.",
    of(q.service_time),
    LITTLE,
    lambda impl, service_time: impl.mean_concurrency(arrival_rate=ONE / service_time, service_time=service_time) == 1,
)
per_minute = Invariant(
    "I73",
    "The mean in service does not depend on the unit of time: a rate per minute is sixty times smaller per second.",
    LOAD,
    LITTLE,
    lambda impl, arrival_rate, service_time: (
        impl.mean_concurrency(arrival_rate=ONE * arrival_rate / 60, service_time=60 * service_time)
        == impl.mean_concurrency(arrival_rate=arrival_rate, service_time=service_time)
    ),
)
stages_add = Invariant(
    "little-stages-add",
    "Two stages in a row keep in service what each of them keeps.",
    {**of(q.arrival_rate), "one": Grid(ONE / 2, 10, ONE / 2), "other": Grid(ONE / 2, 10, ONE / 2)},
    LITTLE,
    lambda impl, arrival_rate, one, other: (
        impl.mean_concurrency(arrival_rate=arrival_rate, service_time=one + other)
        == impl.mean_concurrency(arrival_rate=arrival_rate, service_time=one)
        + impl.mean_concurrency(arrival_rate=arrival_rate, service_time=other)
    ),
)
slots_above_the_mean = Invariant(
    "slots-above-the-mean",
    "The fewest slots that keep up are more than are in service on average, and one less is not.",
    of(q.mean_concurrency),
    ("slots",),
    lambda impl, mean_concurrency: (
        impl.slots(mean_concurrency=mean_concurrency) - 1
        <= mean_concurrency
        < impl.slots(mean_concurrency=mean_concurrency)
    ),
)
slots_at_equality = Invariant(
    "slots-at-equality",
    "As many slots as are in service on average do not keep up: one more is needed.",
    {"slots": Grid(1, 40)},
    ("slots",),
    lambda impl, slots: impl.slots(mean_concurrency=slots) == slots + 1,
)
keeping_up = Invariant(
    "keeps-up",
    "Slots do not keep up with a mean as large as they are, and do with any smaller one.",
    of(q.slots),
    ("keeps_up",),
    lambda impl, slots: (
        impl.keeps_up(mean_concurrency=slots - ONE / 2, slots=slots)
        and not impl.keeps_up(mean_concurrency=slots, slots=slots)
    ),
)
single_server = Invariant(
    "erlang-single",
    "A single server turns away the share of time it is busy: of load a, a / (1 + a).",
    of(q.offered_load),
    ("blocking",),
    lambda impl, offered_load: impl.blocking(servers=1, offered_load=offered_load) * (1 + offered_load) == offered_load,
)
recursion = Invariant(
    "erlang-recursion",
    "One more server: those turned away by the first n offer themselves to the last.",
    ERLANG,
    ("blocking",),
    lambda impl, servers, offered_load: all(
        more * (servers + 1 + offered_load * before) == offered_load * before
        for before in [impl.blocking(servers=servers, offered_load=offered_load)]
        for more in [impl.blocking(servers=servers + 1, offered_load=offered_load)]
    ),
)
waits_at_least = Invariant(
    "I91",
    "Where requests may wait, more of them wait than would be turned away where they may not.",
    {**of(q.servers), "busy": Grid(ONE / 12, ONE * 11 / 12, ONE / 12)},
    ("blocking", "waiting"),
    lambda impl, servers, busy: (
        impl.blocking(servers=servers, offered_load=busy * servers)
        <= impl.waiting(servers=servers, offered_load=busy * servers)
    ),
)
waiting_from_blocking = Invariant(
    "waiting-from-blocking",
    "Of n servers at load a < n, the share that waits, times n less the load they carry, is n times the share lost.",
    {**of(q.servers), "busy": Grid(ONE / 12, ONE * 11 / 12, ONE / 12)},
    ("blocking", "waiting"),
    lambda impl, servers, busy: all(
        impl.waiting(servers=servers, offered_load=busy * servers) * (servers - busy * servers * (1 - lost))
        == servers * lost
        for lost in [impl.blocking(servers=servers, offered_load=busy * servers)]
    ),
)
single_server_waits = Invariant(
    "waiting-single",
    "At a single server the share that waits is the share of time it is busy.",
    {"busy": Grid(ONE / 12, ONE * 11 / 12, ONE / 12)},
    ("waiting",),
    lambda impl, busy: impl.waiting(servers=1, offered_load=busy) == busy,
)
fewer_slots = Invariant(
    "I92-false",
    "Fewer slots mean less latency, also where requests wait for a slot.",
    {"servers": Grid(1, 6), "busy": Grid(ONE / 12, ONE * 11 / 12, ONE / 12)},
    ("waiting",),
    lambda impl, servers, busy: all(
        impl.waiting(servers=servers, offered_load=load) / (servers - load)
        <= impl.waiting(servers=servers + 1, offered_load=load) / (servers + 1 - load)
        for load in [busy * servers]
    ),
    refuted={"servers": 1, "busy": ONE / 12},
    why="A smaller batch steps faster, but the wait for a slot grows without bound as the load nears the slots.",
)
pooling = Invariant(
    "erlang-pooling",
    "Twice the servers at twice the load turn away a smaller share.",
    ERLANG,
    ("blocking",),
    lambda impl, servers, offered_load: (
        impl.blocking(servers=2 * servers, offered_load=2 * offered_load)
        < impl.blocking(servers=servers, offered_load=offered_load)
    ),
)
fewest_servers = Invariant(
    "erlang-fewest-servers",
    "The fewest servers for a blocking target meet it, and one server less does not.",
    of(q.blocking, q.offered_load),
    ("servers", "blocking"),
    lambda impl, blocking, offered_load: all(
        impl.blocking(servers=servers, offered_load=offered_load) <= blocking
        and (servers == 1 or impl.blocking(servers=servers - 1, offered_load=offered_load) > blocking)
        for servers in [impl.servers(blocking=blocking, offered_load=offered_load)]
    ),
)
blocking_at_most = Invariant(
    "erlang-target",
    "A blocking target is met exactly where the share turned away does not exceed it, equality included.",
    {**ERLANG, **of(q.blocking)},
    ("blocking", "blocks_at_most"),
    lambda impl, servers, offered_load, blocking: all(
        impl.blocks_at_most(servers=servers, offered_load=offered_load, blocking=target) == (lost <= target)
        for lost in [impl.blocking(servers=servers, offered_load=offered_load)]
        for target in (blocking, lost)
    ),
)
pooling_neutral = Invariant(
    "erlang-scales",
    "Twice the servers at twice the load turn away the same share.",
    {"servers": Grid(1, 8), "offered_load": Grid(1, 8)},
    ("blocking",),
    lambda impl, servers, offered_load: (
        impl.blocking(servers=2 * servers, offered_load=2 * offered_load)
        == impl.blocking(servers=servers, offered_load=offered_load)
    ),
    refuted={"servers": 1, "offered_load": 1},
    why="Large groups even out: they turn away a smaller share.",
)
mean_is_enough = Invariant(
    "capacity-for-the-mean",
    "As many servers as are busy on average turn away at most a tenth.",
    {"servers": Grid(1, 12)},
    ("blocking",),
    lambda impl, servers: impl.blocking(servers=servers, offered_load=servers) <= ONE / 10,
    refuted={"servers": 1},
    why="The mean is exceeded about half of the time; at fifty servers it is still 10.5 %.",
)
waiting_at_most = Invariant(
    "erlang-waiting-target",
    "A target for waiting is met exactly where no larger share waits, and never where all servers are always busy.",
    {**of(q.servers, q.waiting), "busy": Grid(ONE / 12, ONE * 11 / 12, ONE / 12)},
    ("waiting", "waits_at_most"),
    lambda impl, servers, busy, waiting: (
        all(
            impl.waits_at_most(servers=servers, offered_load=busy * servers, waiting=target) == (share <= target)
            for share in [impl.waiting(servers=servers, offered_load=busy * servers)]
            for target in (waiting, share)
        )
        and not impl.waits_at_most(servers=servers, offered_load=servers, waiting=waiting)
    ),
)
pooled_queue = Invariant(
    "I90",
    "Of two equal groups with a queue each, no larger share waits once they are one group.",
    {**of(q.servers), "busy": Grid(ONE / 12, ONE * 11 / 12, ONE / 12)},
    ("waiting",),
    lambda impl, servers, busy: (
        impl.waiting(servers=2 * servers, offered_load=2 * busy * servers)
        <= impl.waiting(servers=servers, offered_load=busy * servers)
    ),
)
one_slot_less = Invariant(
    "cover-slot-less",
    "While no more than n are present, n - 1 slots suffice but for the share that n servers would turn away.",
    ERLANG,
    ("covered", "blocking"),
    lambda impl, servers, offered_load: all(
        abs(fewer - (1 - impl.blocking(servers=servers + 1, offered_load=offered_load)) * more) <= 2 * PART
        for fewer, more in [tuple(impl.covered(servers=servers + extra, offered_load=offered_load) for extra in (0, 1))]
    ),
)
covered_by_losses = Invariant(
    "cover-by-losses",
    "What n slots cover is all but what every further server would turn away, rounded down to a part in 10^12.",
    ERLANG,
    ("covers", "blocking"),
    lambda impl, servers, offered_load: all(
        abs(promised - share) <= 2 * PART
        and not impl.covers(servers=servers, offered_load=offered_load, covered=promised + PART / 10)
        for share in [without_losses(impl, servers, offered_load)]
        for promised in [promise(impl, servers, offered_load, share)]
    ),
)
many_slots = Invariant(
    "cover-many",
    "Far more slots than the mean suffice for all but a part in a million of the time.",
    of(q.offered_load),
    ("covered",),
    lambda impl, offered_load: 1 - ONE / 10**6 < impl.covered(servers=40, offered_load=offered_load) < 1,
)
above_the_mean = Invariant(
    "I75",
    "The slots that suffice for 99 % of the time cover it, one less does not, and they exceed the mean less one.",
    of(q.offered_load),
    ("servers", "covered"),
    lambda impl, offered_load: all(
        slots >= offered_load - 1
        and impl.covered(servers=slots, offered_load=offered_load) >= ONE * 99 / 100
        and (slots == 1 or impl.covered(servers=slots - 1, offered_load=offered_load) < ONE * 99 / 100)
        for slots in [impl.servers(covered=ONE * 99 / 100, offered_load=offered_load)]
    ),
)
mean_covers = Invariant(
    "capacity-for-the-mean-covers",
    "As many slots as sequences in service on average suffice for nine tenths of the time.",
    {"servers": Grid(1, 12)},
    ("covered",),
    lambda impl, servers: impl.covered(servers=servers, offered_load=servers) >= ONE * 9 / 10,
    refuted={"servers": 1},
    why="About half of the time the number present exceeds its mean.",
)
