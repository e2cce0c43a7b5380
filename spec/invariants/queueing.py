"""Little's law and Erlang's formulas: from a load to the places it takes."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Grid, of

LITTLE = ("mean_concurrency",)
LOAD = of(q.arrival_rate, q.service_time)
ERLANG = of(q.servers, q.offered_load)
ONE = Fraction(1)

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
