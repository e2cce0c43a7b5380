"""What the tests serve: the chapter's model on its GPUs, and requests drawn small."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from spec.catalog import gpu
from spec.claims.settings import Serving
from spec.invariants.reference import Reference
from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous, Static
from spec.serving.engine import Engine
from spec.serving.request import Request
from spec.serving.scheduler import Chunked, DecodeFirst, PrefillFirst, ReservedShare
from spec.serving.server import Run, Server, WhenFull
from spec.serving.timing import BySize, Roofline, roofline


def chapter_server(
    gpu_name: str = "a100-80gb", mfu: Fraction = Fraction(1, 2), mbu: Fraction = Fraction(4, 5)
) -> Serving:
    """Return the chapter's 7B on a GPU, at half of its compute and four fifths of its bandwidth unless told."""
    return Serving(Reference(), "chapter-7b", gpu_name, mfu, mbu)


def timing_of(server: Serving, overhead: Fraction = Fraction(0)) -> Roofline:
    """Return the time model of a server, from its laws."""
    sizes = server.sizes
    return roofline(
        weights=server.weights,
        kv_bytes_per_token=server.kv_bytes_per_token,
        flops_per_token=server.flops_per_token,
        attention_flops_per_pair=server.impl.attention_flops_per_pair(
            **{n: sizes[n] for n in ("layers", "heads", "head_dim")}
        ),
        compute=gpu(server.gpu_name).quantities()["compute"],
        bandwidth=gpu(server.gpu_name).quantities()["bandwidth"],
        mfu=server.mfu,
        mbu=server.mbu,
        overhead=overhead,
    )


# Requests that come close together, with outputs that often end before what they may be.
REQUESTS = st.lists(
    st.tuples(
        st.integers(0, 60), st.integers(1, 12), st.integers(1, 9), st.integers(0, 6), st.sampled_from([(), "x", "xy"])
    ),
    max_size=14,
).map(
    lambda drawn: [
        Request(n, arrival, prompt, output, output + more, chain=tuple(chain))
        for n, (arrival, prompt, output, more, chain) in enumerate(drawn)
    ]
)
TIMINGS = st.one_of(
    st.builds(Roofline, st.just(2 * 10**9), *[st.integers(0, 9)] * 5),
    st.builds(lambda a, b, c: BySize(lambda size: a + b * size, lambda count: c * count), *[st.integers(0, 5)] * 3),
)
SCHEDULERS = st.one_of(
    st.builds(PrefillFirst, st.integers(1, 20)),
    st.builds(DecodeFirst, st.integers(1, 20)),
    st.builds(ReservedShare, st.fractions(Fraction(1, 9), Fraction(8, 9), max_denominator=9), st.integers(1, 20)),
    st.builds(Chunked, st.integers(1, 12)),
)
WATERMARKS = st.fractions(0, Fraction(1, 2), max_denominator=8)


def rules(*reserve: Reserve) -> st.SearchStrategy[Rules]:
    """Draw rules of admission."""
    return st.builds(
        Rules,
        st.sampled_from(reserve),
        st.none() | st.integers(0, 5),
        alert=st.sampled_from([Fraction(9, 10), Fraction(1, 2)]),
        watermark=WATERMARKS,
        backfill=st.booleans(),
        patience=st.none() | st.integers(1, 60),
    )


def continuous(when_full: WhenFull, *reserve: Reserve) -> st.SearchStrategy[Server]:
    """Draw servers that batch continuously."""
    return st.builds(
        Server,
        TIMINGS,
        st.integers(4, 30),
        st.integers(1, 4),
        st.builds(Continuous, st.integers(1, 6)),
        SCHEDULERS,
        rules(*reserve),
        st.just(when_full),
        st.integers(0, 20),
        st.integers(0, 3),
        st.none() | st.integers(0, 20),
    )


STATIC = st.builds(
    Server,
    TIMINGS,
    st.integers(10, 60),
    st.integers(1, 4),
    st.builds(Static, st.integers(1, 4), st.none() | st.integers(0, 40), st.booleans()),
    rules=rules(*Reserve),
    restart=st.integers(0, 20),
)
PREEMPTING = continuous(WhenFull.RECOMPUTE, Reserve.PROMPT) | continuous(WhenFull.SWAP, Reserve.PROMPT)
SERVERS = continuous(WhenFull.CRASH, *Reserve) | PREEMPTING | STATIC


def served(server: Server, requests: list[Request], *, bulk: bool = True) -> Run:
    """Serve requests to the end."""
    return Engine(server, requests, bulk=bulk).run()


def told(run: Run) -> tuple[object, ...]:
    """Return all that can be seen of a run."""
    slots = [[getattr(job, name) for name in type(job).__slots__ if name != "request"] for job in run.jobs]
    return run.end, run.tally, slots
