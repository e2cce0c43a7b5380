"""Every console block of the README is a session that really runs, with its real output.

`python tests/test_readme.py` writes the outputs anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RECEIPT = re.compile(r"Receipt [0-9a-f]{12}")  # a receipt holds the time of its row


def commands(block: str) -> list[tuple[str, str]]:
    """Split a block into commands and what each prints."""
    pieces = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(pieces[1::2], pieces[2::2], strict=True))


def run(command: str, folder: str) -> str:
    """Run one command as a person with a fresh ledger would, both streams together."""
    scripts = sysconfig.get_path("scripts")
    environment = os.environ | {
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "GRADE_LEDGER": f"{folder}/ledger.sqlite",
        "GRADE_STUDENT": "ada",
        "COLUMNS": "80",
    }
    done = subprocess.run(
        ["bash", "-c", command],  # noqa: S607  whatever bash the reader has
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=120,
    )
    return RECEIPT.sub("Receipt 5e1f0c9a77d2", done.stdout.decode())


def session(block: str, folder: str) -> str:
    """Return a block with what its commands print now."""
    return "".join(f"$ {command}\n{run(command, folder)}" for command, _ in commands(block))


@pytest.mark.meta
def test_the_readme_shows_what_the_commands_print(tmp_path: Path) -> None:
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert blocks, "the README shows no session"
    for block in blocks:
        assert session(block, str(tmp_path)) == block


def main() -> None:
    """Write what the commands print now into the README."""
    with tempfile.TemporaryDirectory() as folder:
        text = README.read_text(encoding="utf-8")
        README.write_text(BLOCK.sub(lambda m: f"```console\n{session(m[1], folder)}```", text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
