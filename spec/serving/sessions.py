"""Chat sessions on a server under a policy: played from a seed, and measured."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil
from typing import cast

from spec.serving.admission import Rules
from spec.serving.batching import Continuous
from spec.serving.engine import Engine
from spec.serving.request import NANOSECONDS
from spec.serving.scheduler import PrefillFirst
from spec.serving.server import Server
from spec.serving.session_desk import STANDS_FOR, Desk
from spec.serving.session_measures import AGES, BAD, Look, Mark, Played, look, measured, unused
from spec.serving.session_policy import SessionPolicy, Tier, policy_from
from spec.serving.session_state import End
from spec.serving.session_workload import Circumstances, scripts
from spec.serving.timing import Roofline

__all__ = [
    "AGES",
    "BAD",
    "SIMPLIFICATIONS",
    "Circumstances",
    "End",
    "Look",
    "Machine",
    "Played",
    "machine",
    "opened",
    "play",
]

BLOCK = 16  # tokens
SLOTS = 256
LOOKS = 120
GB = 10**9
SIMPLIFICATIONS = (
    "One GPU serves one model; times follow the roofline at half of the peak compute and 80 % of the peak bandwidth.",
    "A prefill is done in one piece, and nothing is decoded meanwhile; all that decode get a token in each step.",
    f"The cache comes in blocks of {BLOCK} tokens, and at most {SLOTS} turns are in flight.",
    "The system prompt is cached for each session apart, unless the circumstances say that it is shared.",
    "Cutting a history moves what stays to other positions, so that all of its cache is void.",
    "Idle caches make room when a turn is let in. A turn that outgrows its booking takes free blocks only.",
    "A cache that comes back from the host keeps its own turn waiting, and neither other turns nor other transfers.",
    "Sending a cache to the host takes no time. A full host drops the cache that was used longest ago.",
    f"A summary stands for at most {STANDS_FOR} tokens of text for each of its own; what it stands for counts half.",
    "What a user has to say does not depend on the server: slow answers make conversations longer. Nobody gives up.",
    "Where memory runs out, the turns in flight are lost with their sessions, and all caches, here and on the host.",
)


@dataclass(frozen=True, slots=True)
class Machine:
    """A model on a GPU.

    Attributes:
        timing: how long an iteration takes.
        tokens: how many the cache holds.
        kv_bytes_per_token: bytes of cache for each of them.
    """

    timing: Roofline
    tokens: int
    kv_bytes_per_token: int


@cache
def machine(model: str, gpu: str) -> Machine:
    """Work out a machine by the laws, from names of the catalogue.

    As in the chapter's example, weights count in whole GB, rounded up, and activations and margin take 12 GB.

    Raises:
        LookupError: there is no such model or GPU.
        ValueError: the weights leave no room for a cache.
    """
    from spec.catalog import gpu as gpu_of
    from spec.claims.settings import CHAPTER_ACTIVATIONS, CHAPTER_MARGIN, REALISTIC, Serving
    from spec.claims.simulated import timing_of
    from spec.invariants.reference import Reference

    served = Serving(Reference(), model, gpu, **REALISTIC)
    weights = ceil(Fraction(served.weights) / GB) * GB
    budget = gpu_of(gpu).marketed.base - weights - CHAPTER_ACTIVATIONS - CHAPTER_MARGIN
    if budget < served.kv_bytes_per_token:
        raise ValueError(f"{model} leaves no room for a cache on {gpu}")
    return Machine(timing_of(served), int(served.token_capacity(budget)), int(served.kv_bytes_per_token))


def opened(policy: SessionPolicy, circumstances: Circumstances, seed: int, *, bulk: bool = True) -> tuple[Engine, Desk]:
    """Set an engine and its desk up, before anything happens.

    Raises:
        PolicyRefused: the policy is not allowed in these circumstances.
    """
    policy = policy_from(policy.table(), circumstances.window)
    found = machine(circumstances.model, circumstances.gpu)
    block_bytes = BLOCK * found.kv_bytes_per_token
    host_blocks = circumstances.host_bytes // block_bytes
    server = Server(
        found.timing,
        max(1, found.tokens // BLOCK),
        BLOCK,
        Continuous(SLOTS),
        PrefillFirst(),
        Rules(),
        restart=circumstances.restart * NANOSECONDS,
        swap=ceil(Fraction(block_bytes * NANOSECONDS, circumstances.host_rate)),
        host_blocks=host_blocks,
        offload=policy.evict_to is Tier.HOST and host_blocks > 0,
    )
    engine = Engine(server, [], bulk=bulk, admission=lambda cache, rules: Desk(cache, rules, policy, circumstances))
    desk = cast("Desk", engine.admission)
    desk.serve(engine, scripts(circumstances, seed))
    return engine, desk


def play(policy: SessionPolicy, circumstances: Circumstances, seed: int, *, bulk: bool = True) -> Played:
    """Play one seed to its end, and measure.

    Args:
        policy: the policy.
        circumstances: what it has to cope with.
        seed: decides who comes and what is said.
        bulk: take many iterations at once.

    Raises:
        PolicyRefused: the policy is not allowed in these circumstances.
    """
    engine, desk = opened(policy, circumstances, seed, bulk=bulk)
    second = NANOSECONDS * engine.scale
    warm, end = circumstances.warm_up * second, circumstances.seconds * second
    timeline: list[Look] = []
    start = Mark(0, 0)
    for tick in sorted({warm, end, *(end * number // LOOKS for number in range(1, LOOKS))}):
        _run(engine, desk, tick)
        if tick == warm:
            start = Mark(engine.now, unused(engine))
        timeline.append(look(desk, engine))
    return measured(desk, engine, start, timeline)


def _run(engine: Engine, desk: Desk, tick: int) -> None:
    """Run an engine up to a tick, or to the end of the piece of work that is done then."""
    desk.look_at(tick)
    while engine.now < tick and engine.step():
        pass
