"""`grade submit` of one number as a whole process, beside the interpreter alone and the interpreter with click."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from bench.timing import quantile, table

RUNS = 21


def run() -> str:
    """Time the commands in turn, so that a drift of the machine meets all of them alike."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["GRADE_LEDGER"] = str(Path(folder, "ledger.sqlite"))
        grade = str(Path(sysconfig.get_path("scripts"), "grade"))
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            'python -c "import click"': [sys.executable, "-c", "import click"],
            "grade submit": [grade, "submit", "max-context/10", "5615 tokens"],
        }
        subprocess.run([grade, "new", "max-context", "--seed", "10"], env=environment, check=True, capture_output=True)
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                start = time.perf_counter()
                subprocess.run(command, env=environment, check=False, capture_output=True)
                times[name].append((time.perf_counter() - start) * 1000)
    medians = {name: quantile(spent, 0.5) for name, spent in times.items()}
    click = medians['python -c "import click"']
    rows = [
        (name, f"{median:.1f}", f"{quantile(times[name], 0.9):.1f}", f"{median / click:.2f}")
        for name, median in medians.items()
    ]
    return table(
        "Whole processes (goal: submit at most 2 x import click)", ("command", "median ms", "p90 ms", "x click"), rows
    )
