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


class PoissonCover(Algorithm):
    """Share of the time in which no more than `slots` are present, of a Poisson number with this mean.

    The exact share is no rational number. It is rounded down to one part in 10^12, so that what a number of slots
    covers is never promised too high.
    """

    senses = (1, -1)
    bounds = (0, 1)
    PARTS, SCALE = 10**12, 10**60

    @staticmethod
    def exact(slots: int, mean: Exact) -> Exact:
        """Add the terms mean^n / n! up to the slots, and all of them, as integers so large that no part is lost."""
        term, inside, everything, n = PoissonCover.SCALE, 0, 0, 0
        while term:
            everything += term
            inside += term * (n <= slots)
            n += 1
            term = term * mean.numerator // (n * mean.denominator)
        # Rounding each term down loses far less than this of the whole.
        everything += everything // 10**30 + 1
        return Fraction(inside * PoissonCover.PARTS // everything, PoissonCover.PARTS)


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
    keeps_up = Bound(
        "keeps_up",
        q.mean_concurrency < q.slots,
        says="There are more slots than sequences in service on average: at equality the queue grows without end.",
        section="sizing",
        not_invertible={q.mean_concurrency: "the bound is strict, so there is no largest value"},
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
    prefill_load = Identity(
        q.prefill_load,
        q.arrival_rate * q.prefill_time,
        constant="1/request",
        says="The share of the time that prefills take from decode.",
        section="sizing",
    )
    weights_step_time = Identity(
        q.weights_step_time,
        q.weights / (q.bandwidth * q.mbu * (1 - q.prefill_load)),
        says="Reading the weights, in the time that prefills leave.",
        section="sizing",
        slips=[
            Slip("prefill-ignored", "Prefills take their share of the time too.", q.weights / (q.bandwidth * q.mbu))
        ],
    )
    cache_step_time = Identity(
        q.cache_step_time,
        q.context * q.kv_bytes_per_token / (q.bandwidth * q.mbu * (1 - q.prefill_load)),
        constant="1/sequence",
        says="Reading the cache of one sequence, in the time that prefills leave.",
        section="sizing",
    )
    decode_time_alone = Identity(
        q.decode_time_alone,
        q.output * q.weights_step_time,
        constant="1/token",
        says="One step for every output token.",
        section="sizing",
    )
    load_slope = Identity(
        q.load_slope,
        q.arrival_rate * q.output * q.cache_step_time,
        constant="sequence/request/token",
        says="Each sequence in service slows every step, and so keeps others longer; at 1 the load runs away.",
        section="sizing",
    )
    self_consistent_concurrency = Identity(
        q.self_consistent_concurrency,
        q.arrival_rate * (q.prefill_time + q.decode_time_alone) / (1 - q.load_slope),
        constant="sequence/request",
        says="Little's law where decode slows down with the batch: the concurrency at which both agree.",
        section="sizing",
        slips=[
            Slip(
                "slope-ignored",
                "The decode rate was taken as fixed; it falls as the batch grows.",
                q.arrival_rate * (q.prefill_time + q.decode_time_alone),
            )
        ],
    )
    waits_at_most = Bound(
        "waits_at_most",
        ErlangC(q.servers, q.offered_load) <= q.waiting,
        says="No more than this share of requests must wait.",
        section="sizing",
        source="Erlang 1917, delay formula",
        not_invertible={q.offered_load: ROOT},
    )
    covers = Bound(
        "covers",
        q.covered <= PoissonCover(q.servers, q.offered_load),
        says="The slots suffice for this share of the time, if the number in service is Poisson.",
        section="sizing",
        source="number in service of an M/G/infinity queue",
        not_invertible={q.offered_load: ROOT},
    )
