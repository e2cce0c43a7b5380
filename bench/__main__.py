"""Run every benchmark, or those named."""

from __future__ import annotations

import importlib
import sys

NAMES = ("answers", "formulas", "posing", "ledger", "start", "serving", "peers")


def main(chosen: list[str]) -> int:
    """Print the tables of the benchmarks."""
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    for name in chosen or NAMES:
        print(importlib.import_module(f"bench.{name}").run(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
