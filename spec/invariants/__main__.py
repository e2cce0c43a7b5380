"""Print the invariants, with `--proofs` which of them are proved, or with `--kills` the faults that they notice."""

from __future__ import annotations

import argparse
import sys

from spec.invariants import invariants
from spec.invariants.kills import mutant_table, slip_table
from spec.invariants.report import kill_table, proofs, sentences


def main(arguments: list[str] | None = None) -> None:
    """Print what the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m spec.invariants", description=__doc__)
    parser.add_argument("--kills", action="store_true", help="try every mutant and every slip of every law")
    parser.add_argument("--proofs", action="store_true", help="say which are proved by algebra, sampled or refuted")
    asked = parser.parse_args(arguments)
    if asked.kills:
        tables = (kill_table("mutants of", mutant_table()), kill_table("slips of", slip_table()))
        sys.stdout.write("\n\n".join(tables) + "\n")
    elif asked.proofs:
        sys.stdout.write(proofs(invariants()) + "\n")
    else:
        sys.stdout.write(sentences(invariants()) + "\n")


if __name__ == "__main__":
    main()
