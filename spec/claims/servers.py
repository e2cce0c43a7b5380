"""What later statements add to `settings`: other budgets, the rates of a batch, and ratios in print."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.catalog import model
from spec.claims.settings import CHAPTER_ACTIVATIONS, CHAPTER_MARGIN, CHAPTER_WEIGHTS, GB, REALISTIC, Serving

TWO_K, THIRTY_TWO_K = 2048, 32768
THIRTEEN_BILLION = 26 * GB  # the weights of a 13B as the chapter prints them


def realistic(impl: Any, model_name: str = "chapter-7b", gpu_name: str = "a100-80gb") -> Serving:
    """Return a server at half of the peak compute and four fifths of the peak bandwidth."""
    return Serving(impl, model_name, gpu_name, **REALISTIC)


def kv_of(impl: Any, model_name: str = "chapter-7b", width: Any = 2) -> Any:
    """Return the bytes of cache for one token, at `width` bytes an element."""
    sizes = model(model_name).quantities()
    return impl.kv_bytes_per_token(kv_width=width, **{n: sizes[n] for n in ("layers", "kv_heads", "head_dim")})


def budget(impl: Any, memory: Any = 80 * GB, weights: Any = CHAPTER_WEIGHTS, margin: Any = CHAPTER_MARGIN) -> Any:
    """Return the bytes left for the cache, after the chapter's reserve for activations."""
    return impl.kv_budget(gpu_memory=memory, weights=weights, activations=CHAPTER_ACTIVATIONS, safety_margin=margin)


def fitting(impl: Any, context: int, kv_budget: Any, kv: Any) -> Any:
    """Return how many sequences of a context the budget holds."""
    return impl.concurrency(kv_budget=kv_budget, kv_bytes_per_token=kv, context=context)


def tokens(impl: Any, kv_budget: Any, kv: Any) -> Any:
    """Return how many tokens the budget holds."""
    return impl.token_capacity(kv_budget=kv_budget, kv_bytes_per_token=kv)


def throughput(server: Serving, batch: int, context: int) -> Any:
    """Return the tokens per second of a whole batch."""
    return server.impl.throughput(batch=batch, decode_step_time=server.decode_step_time(batch, context))


def mean_step(server: Serving, first: int, last: int) -> Any:
    """Return the mean of the decode steps of one sequence that grows from one length to another.

    A token adds the same time at every length (C51), so it is the mean of the first step and the last.
    """
    return (server.decode_step_time(1, first) + server.decode_step_time(1, last)) / Fraction(2)


def compute_share(server: Serving, batch: int, context: int) -> Any:
    """Return the share of peak compute that a decode step uses."""
    work = server.decode_flops(batch, context)
    return work / (server.rates["compute"] * server.decode_step_time(batch, context))


def ms(seconds: Any, digits: int = 2) -> str:
    """Write seconds as milliseconds."""
    return f"{float(1000 * seconds):.{digits}f} ms"


def times(ratio: Any, digits: int = 2) -> str:
    """Write a ratio."""
    return f"{float(ratio):.{digits}f}x"


def gigabytes(amount: Any, digits: int = 0) -> str:
    """Write bytes in GB."""
    return f"{float(Fraction(amount) / GB):.{digits}f} GB"
