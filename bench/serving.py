"""The simulated server, and a public simulator beside it: a 7B on an A100 with 80 GB and 64 slots.

Prompts join whole, and caches come in blocks of 16. The peer's time model, which counts no attention in prompts, serves
both, so that what they simulate can be compared too. Times are those of the core: each runs on one, and nothing waits.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from bench.timing import table
from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous
from spec.serving.draws import Lognormal
from spec.serving.engine import Engine
from spec.serving.metrics import metrics
from spec.serving.request import NANOSECONDS, Request
from spec.serving.scheduler import Chunked
from spec.serving.server import Server, WhenFull
from spec.serving.timing import roofline
from spec.serving.workload import Phase, Workload

PROMPTS = Lognormal(200, Fraction(1), 16, 2000)
CHAT = Workload((Phase(10**7, 10),), PROMPTS, Lognormal(100, Fraction(1), 4, 1000))
# Few come, and decode for long: most iterations are like the one before.
ESSAYS = Workload((Phase(10**7, Fraction(1, 10)),), PROMPTS, Lognormal(1000, Fraction(1, 2), 200, 4000))
SIZES = (1_000, 10_000, 100_000)
PARAMETERS, LAYERS, KV_HEADS, HEAD_DIM = 6_738_415_616, 32, 32, 128
COMPUTE, BANDWIDTH, MFU = 312 * 10**12, 2039 * 10**9, Fraction(1, 2)
BLOCKS, BLOCK, SLOTS = 8569, 16, 64  # as many blocks as the peer finds room for
ANY = 10**6  # tokens of an iteration: more than there ever are
ENOUGH = 1.0  # seconds after which the best run so far is taken
MEMORY = 8 * 2**30  # bytes that a peer may take
COLUMNS = ("simulator", "requests", "seconds", "requests/s", "decoded tokens/s", "simulated s", "mean TTFT ms")


@dataclass(frozen=True)
class Found:
    """What a simulator says of a trace: seconds of it, the mean time to the first token, and requests served."""

    seconds: float
    ttft: float
    done: int


def ours(trace: Sequence[Request], *, bulk: bool) -> Callable[[], Found]:
    """Return a run of the engine, ready to be timed."""
    timing = roofline(
        weights=2 * PARAMETERS,
        kv_bytes_per_token=4 * LAYERS * KV_HEADS * HEAD_DIM,
        flops_per_token=2 * PARAMETERS,
        attention_flops_per_pair=0,
        compute=COMPUTE,
        bandwidth=BANDWIDTH,
        mfu=MFU,
    )
    server = Server(timing, BLOCKS, BLOCK, Continuous(SLOTS), Chunked(ANY), Rules(Reserve.PROMPT), WhenFull.RECOMPUTE)
    engine = Engine(server, trace, bulk=bulk)

    def run() -> Found:
        result = engine.run()
        found = metrics(server, result)
        return Found(float(found.seconds), float(found.ttft.mean) if found.ttft else 0.0, found.done)

    return run


def sched_sim(trace: Sequence[Request]) -> Callable[[], Found]:
    """Return a run of the peer, first come first served, ready to be timed.

    Raises:
        ImportError: it is not installed.
    """
    from sched_sim.core import request as peer
    from sched_sim.core.event_engine import Simulator
    from sched_sim.hardware.latency_model import RooflineLatencyModel
    from sched_sim.hardware.profile import HardwareProfile
    from sched_sim.memory.block_manager import BlockManager
    from sched_sim.memory.preemption import PreemptionHandler
    from sched_sim.schedulers.fcfs import FCFSScheduler

    profile = HardwareProfile(
        vram_gb=80,
        memory_bandwidth_gb_s=BANDWIDTH / 10**9,
        fp16_tflops=COMPUTE / 10**12,
        tensor_core_efficiency=float(MFU),
        kernel_launch_overhead_ms=0,
        parameter_count_billions=PARAMETERS / 10**9,
        num_layers=LAYERS,
        num_kv_heads=KV_HEADS,
        head_dim=HEAD_DIM,
    )
    times, blocks = RooflineLatencyModel(profile), BlockManager(profile, BLOCK)
    scheduler = FCFSScheduler(blocks, times, PreemptionHandler(blocks, times), max_batch_size=SLOTS)
    simulator = Simulator(profile, scheduler, block_size=BLOCK)
    simulator.submit_workload(
        [
            peer.Request(
                request_id=str(each.id),
                arrived_at=each.arrival / NANOSECONDS,
                prompt_tokens=each.prompt,
                output_tokens=each.output - 1,  # what is decoded: it does not count the token that the prompt gives
            )
            for each in trace
        ]
    )

    def run() -> Found:
        said: Any = simulator.run()
        return Found(said.simulation_duration_s, said.ttft_ms.mean / 1000, said.completed_requests)

    return run


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Let the process take no more than so many bytes of address space meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def best(ready: Callable[[], Callable[[], Found]]) -> tuple[float, Found]:
    """Return the seconds on its core of the quickest of some runs, each made ready anew, and what it found."""
    times: list[float] = []
    while sum(times) < ENOUGH:
        run = ready()
        start = time.process_time()
        found = run()
        times.append(time.process_time() - start)
    return min(times), found


def row(name: str, trace: Sequence[Request], ready: Callable[[], Callable[[], Found]]) -> list[str]:
    """Return a line of the table."""
    seconds, found = best(ready)
    tokens = sum(each.output - 1 for each in trace)  # the first comes with the prompt
    done = f"{len(trace):,}" if found.done == len(trace) else f"{found.done:,} of {len(trace):,}"
    rates = (f"{len(trace) / seconds:,.0f}", f"{tokens / seconds:,.0f}")
    return [name, done, f"{seconds:.2f}", *rates, f"{found.seconds:,.1f}", f"{found.ttft * 1000:.1f}"]


def side_by_side(title: str, workload: Workload, sizes: Sequence[int]) -> str:
    """Return the table of the simulators on the same requests, each size after the other."""
    rows, notes = [], []
    for count in sizes:
        trace = workload.requests(1, count)
        rows.append(row("servespec", trace, partial(ours, trace, bulk=True)))
        rows.append(row("servespec, step by step", trace, partial(ours, trace, bulk=False)))
        try:
            with limited(MEMORY):
                rows.append(row("sched-sim", trace, partial(sched_sim, trace)))
        except ImportError:
            notes = ["sched-sim is not installed here; make bench installs it.\n"]
        except MemoryError:
            notes.append(f"sched-sim found no room for {count:,} requests in {MEMORY // 2**30} GiB.\n")
    return table(title, COLUMNS, rows) + "".join(notes)


def run() -> str:
    """Lay out the times of both simulators."""
    goal = "goal: 1,000,000 decoded tokens/s, cost linear in the requests"
    chat = side_by_side(f"A simulated server, 10 requests a second ({goal})", CHAT, SIZES)
    return chat + side_by_side("The same, long outputs, a request every 10 seconds", ESSAYS, SIZES[:1])
