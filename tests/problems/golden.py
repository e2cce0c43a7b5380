"""Digests of the first exercises of each family, frozen: `python -m tests.problems.golden` adds what is new.

It never replaces the digests of a revision: an exercise that changed needs a new one.
"""

from __future__ import annotations

import sys
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

from grader.families import family, pose, slugs

FILE = Path(__file__).parents[1] / "data" / "golden_exercises.toml"
SEEDS = 20
CHANGED = (
    "{slug}/{seed} is no longer what revision {revision} posed. Who changes the wording, the menu, the slips or a "
    "catalogue value of a family raises its `revision`, so that old addresses stay true."
)


def digests(slug: str) -> list[str]:
    return [sha256(pose(slug, seed).to_json().encode()).hexdigest() for seed in range(SEEDS)]


def frozen() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def faults(slug: str, golden: dict[str, Any]) -> list[str]:
    """Say what is wrong with a family against the frozen digests."""
    of = family(slug)
    if slug not in golden or golden[slug]["revision"] != of.revision:
        return [f"{slug} at revision {of.revision} is not frozen yet: run `python -m tests.problems.golden`."]
    pairs = zip(digests(slug), golden[slug]["digests"], strict=True)
    return [
        CHANGED.format(slug=slug, seed=seed, revision=of.revision)
        for seed, (now, then) in enumerate(pairs)
        if now != then
    ]


def main() -> None:
    golden = frozen()
    lines = ["# SHA-256 of the record of the first seeds of each family; see tests/problems/golden.py.", ""]
    for slug in slugs():
        of = family(slug)
        kept = golden.get(slug)
        same = kept is not None and kept["revision"] == of.revision
        listed = kept["digests"] if same else digests(slug)
        lines += [f"[{slug}]", f"revision = {of.revision}", "digests = ["]
        lines += [*(f'    "{digest}",' for digest in listed), "]", ""]
    FILE.write_text("\n".join(lines), encoding="utf-8")
    sys.stdout.write(f"{FILE.name}: {len(slugs())} families\n")


if __name__ == "__main__":
    main()
