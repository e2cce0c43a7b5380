"""Servers of the chapter's statements, simulated: by the times of the laws, or in steps of one length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spec.claims.definite import NoValueError
from spec.claims.settings import Serving, kv_budget
from spec.serving.batching import Continuous, Static
from spec.serving.engine import Engine
from spec.serving.metrics import Metrics, metrics
from spec.serving.request import Request
from spec.serving.server import Run, Server
from spec.serving.timing import BySize, Roofline, roofline


def timing_of(server: Serving) -> Roofline:
    """Return the time model of a server: what its laws say of an iteration."""
    sizes = {name: server.sizes[name] for name in ("layers", "heads", "head_dim")}
    return roofline(
        weights=server.weights,
        kv_bytes_per_token=server.kv_bytes_per_token,
        flops_per_token=server.flops_per_token,
        attention_flops_per_pair=server.impl.attention_flops_per_pair(**sizes),
        mfu=server.mfu,
        mbu=server.mbu,
        **server.rates,
    )


def room_of(server: Serving) -> int:
    """Return the tokens that the chapter's budget holds.

    Raises:
        NoValueError: it holds none.
    """
    tokens: int = server.token_capacity(kv_budget(server.impl, server.gpu_name))
    if tokens < 1:
        raise NoValueError(f"token_capacity: there is no cache of {tokens:,} tokens")
    return tokens


def in_steps(batching: Static | Continuous, lengths: Sequence[int]) -> Run:
    """Serve jobs of so many decode steps, all there at the start and with room for all; a step takes one tick."""
    # The first token of an output comes with its prompt, which takes no time here.
    requests = [Request(n, arrival=0, prompt=1, output=length + 1) for n, length in enumerate(lengths)]
    room = batching.slots * (max(lengths) + 2)
    return Engine(Server(BySize(lambda _: 1), room, batching=batching), requests).run()


def measured(server: Server, requests: Iterable[Request]) -> Metrics:
    """Serve requests to the end, and measure.

    Raises:
        NoValueError: none of them is served.
    """
    found = metrics(server, Engine(server, requests).run())
    if not found.done:
        raise NoValueError("no request is served")
    return found
