"""The main job on a fresh ledger: pose an exercise, submit a wrong answer and learn why, submit the right one.

Exits with 1 unless the wrong answer is diagnosed and the right one is correct.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

EXERCISE = "max-context/10"
GRADE = Path(sys.executable).with_name("grade")


def show(ledger: Path, *arguments: str) -> int:
    """Print the command as one would type it, run it, and give its exit status."""
    typed = [f'"{argument}"' if " " in argument else argument for argument in arguments]
    print("$ grade", *typed, flush=True)
    status = subprocess.run([GRADE, *arguments], env=os.environ | {"GRADE_LEDGER": str(ledger)}, check=False).returncode
    print(flush=True)
    return status


def ask(ledger: Path, *arguments: str) -> dict[str, Any]:
    """Run a command unseen and give its JSON."""
    environment = os.environ | {"GRADE_LEDGER": str(ledger)}
    done = subprocess.run([GRADE, *arguments, "--json"], env=environment, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(done.stderr)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def answers(ledger: Path) -> tuple[str, str] | None:
    """Find the right answer, and what comes of forgetting the values, if that is diagnosed.

    Without the values a token takes half the memory, so the context doubles before it is rounded down.
    """
    right = ask(ledger, "solution", EXERCISE)["parts"][0]["answer"]
    tokens, unit = right.split()
    for wrong in (f"{2 * int(tokens) + rest} {unit}" for rest in (0, 1)):
        if ask(ledger, "submit", EXERCISE, wrong)["diagnoses"]:
            return wrong, right
    return None


def main() -> int:
    """Run the session; the answers come from a second ledger, because a look at a solution is recorded."""
    family, _, seed = EXERCISE.partition("/")
    with TemporaryDirectory() as folder:
        found = answers(Path(folder, "answers.sqlite"))
        if found is None:
            print(f"A context twice too long is not diagnosed in {EXERCISE}.", file=sys.stderr)
            return 1
        ledger, (wrong, right) = Path(folder, "ledger.sqlite"), found
        statuses = [
            show(ledger, "new", family, "--seed", seed),
            show(ledger, "submit", EXERCISE, wrong),
            show(ledger, "submit", EXERCISE, right),
        ]
    return int(statuses != [0, 1, 0])


if __name__ == "__main__":
    sys.exit(main())
