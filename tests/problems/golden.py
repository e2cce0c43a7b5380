"""Digests of the records of the first seeds of each family: `python -m tests.problems.golden` freezes what is new.

It never replaces the digests of a revision: an exercise that changed needs a new one.
"""

from __future__ import annotations

import sys
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

from grader.families import MISTAKE, family, pose, slugs

FOLDER = Path(__file__).parents[1] / "data" / "golden"
SEEDS = 20
CHANGED = (
    "{slug}/{seed} is no longer what revision {revision} posed. Who changes the wording, the menu, the slips or a "
    "catalogue value of a family raises its `revision`, so that old addresses stay true."
)


def digests(slug: str) -> list[str]:
    return [sha256(pose(slug, seed).to_json().encode()).hexdigest() for seed in range(SEEDS)]


def frozen() -> dict[str, Any]:
    """Read all that is frozen, by family."""
    return {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.toml")}


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


def main(chosen: list[str]) -> None:
    """Freeze what is new of the chosen families, or of all."""
    golden = frozen()
    for slug in [slug for slug in slugs() if not chosen or slug.removesuffix(MISTAKE) in chosen]:
        revision = family(slug).revision
        if slug in golden and golden[slug]["revision"] == revision:
            continue
        listed = "\n".join(f'    "{digest}",' for digest in digests(slug))
        text = f"revision = {revision}\ndigests = [\n{listed}\n]\n"
        (FOLDER / f"{slug}.toml").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{slug}: revision {revision}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
