"""Load: Little's law, and Erlang's formulas for the slots above the mean."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.compiling import Algorithm
from spec.laws import Bound, Identity, Slip, author_order
from spec.solving import Exact


class ErlangB(Algorithm):
    """Share of arrivals lost when `servers` are offered `load` and nobody waits, by Erlang's recursion."""

    senses = (-1, 1)
    bounds = (0, 1)

    @staticmethod
    def exact(servers: int, load: Exact) -> Exact:
        """Start at 1 for no server and add one server at a time, on the reciprocal: it needs no division."""
        over, under = 1, 1
        for n in range(1, servers + 1):
            over *= load.numerator
            under = over + n * load.denominator * under
        return Fraction(over, under)


class ErlangC(Algorithm):
    """Share of arrivals that wait when `servers` are offered `load` < `servers`; 1 where the queue is not stable."""

    senses = (-1, 1)
    bounds = (0, 1)

    @staticmethod
    def exact(servers: int, load: Exact) -> Exact:
        """Follow from Erlang B: servers B / (servers - load (1 - B))."""
        if load >= servers:
            return Fraction(1)
        blocked = ErlangB.exact(servers, load)
        return servers * Fraction(blocked) / (servers - load * (1 - blocked))


ROOT = "the load that gives exactly this share is a root of a polynomial, in general not rational; ask for the servers"

with author_order():
    mean_concurrency = Identity(
        q.mean_concurrency,
        q.arrival_rate * q.service_time,
        constant="sequence/request",
        says="Little's law: the mean number in service is the arrival rate times the time each one stays.",
        section="sizing",
        source="Little 1961",
        slips=[
            Slip(
                "rate-over-time",
                "The rate was divided by the service time instead of multiplied.",
                q.arrival_rate / q.service_time,
            ),
            Slip("rate-only", "The arrival rate was given; it must be multiplied by the service time.", q.arrival_rate),
        ],
    )
    blocking = Identity(
        q.blocking,
        ErlangB(q.servers, q.offered_load),
        says="The share of requests that find every server busy and are turned away.",
        section="sizing",
        source="Erlang 1917, loss formula",
        not_invertible={q.offered_load: ROOT},
    )
    waiting = Identity(
        q.waiting,
        ErlangC(q.servers, q.offered_load),
        says="The share of requests that must wait for a server.",
        section="sizing",
        source="Erlang 1917, delay formula",
        not_invertible={q.offered_load: ROOT},
    )
    blocks_at_most = Bound(
        "blocks_at_most",
        ErlangB(q.servers, q.offered_load) <= q.blocking,
        says="No more than this share of requests is turned away.",
        section="sizing",
        source="Erlang 1917, loss formula",
        not_invertible={q.offered_load: ROOT},
    )
