"""The demonstration that opens the README runs anywhere and ends well."""

import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "scripts" / "demo.py"


@pytest.mark.slow
def test_the_demo_diagnoses_a_wrong_answer_and_accepts_the_right_one(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, DEMO], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[2] for line in done.stdout.splitlines() if line.startswith("$ ")] == [
        "new",
        "submit",
        "submit",
    ]
    assert list(tmp_path.iterdir()) == []
