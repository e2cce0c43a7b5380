"""Posing exercises and evaluating laws, in process, once warm."""

from __future__ import annotations

from bench.timing import microseconds, quantile, table
from grader.families import family, pose, slugs
from spec import memory
from spec.chain import chain, follow
from spec.index import laws

SEEDS = 200


def run() -> str:
    """Time one exercise of every family, drawn, certified and rendered."""
    rows = []
    for slug in slugs():
        if family(slug).preset:
            continue
        for seed in range(5):
            pose(slug, seed)
        times = [microseconds(lambda seed=seed: pose(slug, seed)) for seed in range(SEEDS)]  # noqa: B023  called at once
        rows.append(
            (
                slug,
                f"{quantile(times, 0.5):.0f}",
                f"{quantile(times, 0.99):.0f}",
                f"{len(times) / sum(times) * 1e6:.0f}",
            )
        )
    return table("One exercise posed (goal: 300 us)", ("family", "median us", "p99 us", "per second"), rows) + _laws()


def _laws() -> str:
    dims = {"layers": 32, "kv_heads": 32, "head_dim": 128, "kv_width": 2}
    memory_values = {
        "gpu_memory": 80 * 10**9,
        "weights": 14 * 10**9,
        "activations": 8 * 10**9,
        "safety_margin": 4 * 10**9,
    }
    steps = chain("concurrency", [*dims, *memory_values, "context"], list(laws().values()))
    values = dims | memory_values | {"context": 4096}
    rows = [
        ("kv_bytes_per_token", f"{microseconds(lambda: memory.kv_bytes_per_token(**dims)):.1f}"),
        ("concurrency, three laws", f"{microseconds(lambda: follow(steps, values)):.1f}"),
    ]
    return table("One law evaluated, exact (goal: 10 us)", ("law", "us"), rows)
