"""The page on writing a family is followed to the letter: its files are written, its commands are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
STEP = re.compile(
    r"^`([\w/]+\.py)`[^\n]*:\n\n```python\n(.*?)```|^    \$ ([^\n]+)\n((?:    [^$\n][^\n]*\n)*)",
    re.MULTILINE | re.DOTALL,
)
NEEDED = (
    "spec",
    "grader",
    "problems",
    "templates",
    "tests/problems",
    "tests/data",
    "tests/conftest.py",
    "pyproject.toml",
)
GRADE = "import sys; from grader.cli import main; main()"

pytestmark = pytest.mark.meta


def copied(tmp_path: Path) -> Path:
    """Copy what the page works on."""
    for name in NEEDED:
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return tmp_path


def arguments(command: str) -> list[str]:
    """Return the arguments of a command of the page, for this interpreter and the copied packages."""
    name, *rest = command.split()
    return [sys.executable, *(["-c", GRADE] if name == "grade" else []), *rest]


def test_each_step_works_as_the_page_says(tmp_path: Path) -> None:
    home = copied(tmp_path)
    environment = os.environ | {"GRADE_LEDGER": str(home / "ledger.db"), "PYTHONPATH": str(home)}
    files = commands = 0
    for path, code, command, printed in STEP.findall(PAGE):
        if path:
            (home / path).write_text(code, encoding="utf-8")
            files += 1
            continue
        done = subprocess.run(
            arguments(command), cwd=home, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        for line in filter(None, (line.strip() for line in printed.splitlines())):
            assert line in done.stdout, command
        commands += 1
    assert (files, commands) == (2, 8)
    assert (home / "problems/certificates/cache-against-weights-mistake.toml").exists()
