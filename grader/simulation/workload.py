"""Workload files: how the load goes over time, and how long prompts and outputs are.

seed = 1
max_tokens = 512

[[phases]]
seconds = 300
rate = 0.5   # requests per second
to = 2       # climbing evenly; the same rate without it

[prompt]     # lognormal, cut at both ends
median = 1500
sigma = 0.6
low = 20
high = 8000

[output]     # evenly from low to high; or always: fixed = 200
low = 50
high = 400
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.sourced import WHOLE, Place, Source
from spec.serving.draws import Fixed, Lengths, Lognormal, Uniform
from spec.serving.request import Request
from spec.serving.trace import LONGEST as MOST_TOKENS
from spec.serving.workload import Phase, Workload

MOST_PREFIX, MOST_SEED = 10**6, 2**63 - 1
MOST_REQUESTS = 10**6
LONGEST, BUSIEST = 10**7, 10**6  # seconds of a phase, and requests per second
WIDEST = 10  # of a sigma
FIRST = Place("phases", 1)
KEYS = ("seed", "requests", "max_tokens", "prefix", "phases", "prompt", "output")
SHAPES = {("fixed",), ("high", "low"), ("high", "low", "median", "sigma")}


def read_workload(path: Path, seed: int | None = None, block_size: int = 1) -> list[Request]:
    """Draw the requests of a workload file.

    Args:
        path: the file.
        seed: in place of its own.
        block_size: tokens of a block of the server, whole ones of which a common prefix is shared in.

    Raises:
        InvalidSet: it cannot be used; the message says where and why.
    """
    source = Source(path)
    source.known(WHOLE, source.data, KEYS)
    right = "write at least one [[phases]] table with seconds and rate"
    tables = source.tables("phases", right)
    if not tables:
        raise source.wrong(WHOLE, "phases", source.data.get("phases"), right)
    phases = tuple(_phase(source, place, said) for place, said in tables)
    prompt, output = (_lengths(source, name) for name in ("prompt", "output"))
    limit, prefix, count, own = (
        source.whole(WHOLE, key, source.data[key], least, most) if key in source.data else None
        for key, least, most in (
            ("max_tokens", 1, MOST_TOKENS),
            ("prefix", 0, MOST_PREFIX),
            ("requests", 1, MOST_REQUESTS),
            ("seed", 0, MOST_SEED),
        )
    )
    expected = sum(phase.seconds * (phase.rate + phase.end) / 2 for phase in phases)
    if count is None and expected > MOST_REQUESTS:
        key = f"about {float(expected):,.0f} requests would come"
        raise source.complaint(FIRST, "", f"{key}; write requests = {MOST_REQUESTS} or fewer to take the first.")
    requests = Workload(phases, prompt, output, limit or 0, prefix or 0, block_size).requests(
        seed if seed is not None else 1 if own is None else own, count
    )
    if not requests:
        raise source.complaint(FIRST, "", "no request comes; raise a rate or the seconds.")
    return requests


def _phase(source: Source, place: Place, said: dict[str, Any]) -> Phase:
    source.known(place, said, ("seconds", "rate", "to"))
    seconds = source.number(place, "seconds", said.get("seconds"), LONGEST)
    rate, end = (source.number(place, key, said.get(key, said.get("rate")), BUSIEST, least=0) for key in ("rate", "to"))
    return Phase(seconds, rate, end)


def _lengths(source: Source, name: str) -> Lengths:
    place, said = Place(name), source.data.get(name)
    if not isinstance(said, dict):
        right = f"write a table [{name}] with fixed, with low and high, or with median, sigma, low and high"
        raise source.wrong(WHOLE, name, said, right)
    source.known(place, said, ("fixed", "low", "high", "median", "sigma"))
    if tuple(sorted(said)) not in SHAPES:
        why = "lengths are fixed, or have low and high, or have median, sigma, low and high"
        raise source.complaint(place, "", f"{', '.join(said) or 'nothing'} stands here; {why}.")
    if "fixed" in said:
        return Fixed(source.whole(place, "fixed", said["fixed"], 1, MOST_TOKENS))
    low = source.whole(place, "low", said["low"], 1, MOST_TOKENS)
    high = source.whole(place, "high", said["high"], low, MOST_TOKENS)
    if "median" not in said:
        return Uniform(low, high)
    median = source.whole(place, "median", said["median"], 1, MOST_TOKENS)
    return Lognormal(median, Fraction(source.number(place, "sigma", said["sigma"], WIDEST, least=0)), low, high)
