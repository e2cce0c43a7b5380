"""What the remedies of `spec.serving.remedies` come to, run once: `python -m tests.problems.measured` freezes it.

A draw of a family takes milliseconds and a run does not, so that the families read what is frozen here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from spec.catalog import model
from spec.serving.remedies import Deployment
from spec.stream import Stream

FILE = Path(__file__).parents[2] / "spec" / "serving" / "measured.toml"
COUNT, SEEDS, REQUESTS, FEWEST = 120, (1, 2, 3), 200, 6
MINUTE, MS = 60, 1000


def circumstances() -> Iterator[tuple[Deployment, int]]:
    """Give what is run, with the arrivals per minute: near what the server carries, below and above."""
    found, number = 0, 0
    while found < COUNT:
        stream, number = Stream("remedies", number), number + 1
        low = stream.choice((50, 100, 150, 200, 300))
        high = low * stream.choice((1, 2, 3, 4))
        deployment = Deployment(
            model=stream.choice(("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen3-8b", "gemma-7b")),
            gpu=stream.choice(("a100-80gb", "a100-40gb", "h100-80gb", "l40s")),
            reserved=stream.choice((6, 8, 10, 12)),
            slots=stream.choice((8, 16, 256, 256)),
            prompt=stream.choice((500, 1000, 2000, 3000, 3500)),
            output=(low, high),
            limit=high * stream.choice((1, 2, 3)),
        )
        load = stream.choice((Fraction(9, 10), Fraction(11, 10), Fraction(13, 10), Fraction(3, 2)))
        window = model(deployment.model).window or 0
        if deployment.held < FEWEST or deployment.prompt + deployment.limit > window:
            continue
        rate = int(load * MINUTE * deployment.run(deployment.waiting(0, REQUESTS)).request_rate)
        yield deployment, rate
        found += 1


def first_tokens(deployment: Deployment, rate: int, remedy: str) -> list[int]:
    """Measure the time, in ms, within which 99 % of the first tokens come, in a run for each seed."""
    changed = deployment.changed(remedy)
    found = []
    for seed in SEEDS:
        spread = changed.run(changed.arriving(Fraction(rate, MINUTE), seed, REQUESTS)).ttft
        assert spread is not None
        found.append(round(spread.p99 * MS))
    return found


def tokens_per_second(deployment: Deployment, remedy: str) -> int:
    """Measure the output tokens per second when all requests are there at the start."""
    changed = deployment.changed(remedy)
    return round(changed.run(changed.waiting(SEEDS[0], REQUESTS)).token_rate)


def written(deployment: Deployment, rate: int) -> str:
    """Run all remedies, and write what comes of them as one table."""
    fields: dict[str, Any] = {
        name: getattr(deployment, name) for name in ("model", "gpu", "reserved", "slots", "prompt", "limit")
    }
    rows = [f"{name} = {value!r}".replace("'", '"') for name, value in fields.items()]
    rows += [f"output = {list(deployment.output)}", f"rate = {rate} # a minute", "[circumstances.measured]"]
    for remedy in deployment.remedies:
        first, tokens = first_tokens(deployment, rate, remedy), tokens_per_second(deployment, remedy)
        rows.append(f"{remedy} = {{ p99 = {first}, tokens = {tokens} }}")
    return "\n".join(["[[circumstances]]", *rows])


def main() -> None:
    """Run everything, and freeze it."""
    head = "# Run by `python -m tests.problems.measured`; not to be edited. Times in ms, tokens a second."
    tables = [written(*each) for each in circumstances()]
    FILE.write_text("\n\n".join([head, *tables]) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(tables)} circumstances\n")


if __name__ == "__main__":
    main()
