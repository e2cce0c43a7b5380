"""From an installed wheel, in an environment with pytest and nothing else, the suite runs in any folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.meta, pytest.mark.slow]


def run(*command: str | Path, rc: int = 0, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **options)
    assert done.returncode == rc, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def needed(name: str, extra: str = "") -> set[str]:
    """Name a distribution and all that it asks for."""
    found = {name}
    for line in metadata.requires(name) or ():
        one = Requirement(line)
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            found |= needed(one.name)
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    wheels = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", wheels, cwd=ROOT)
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", *wheels.iterdir())
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for name in {re.sub(r"[-_.]+", "-", n).lower() for n in needed("pytest") | needed("servespec")} - {"servespec"}:
        files = metadata.files(name) or ()
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(files[0].locate())).parents[len(files[0].parts) - 1] / top)
    return python


def test_the_suite_runs_from_the_installed_wheel(python: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def weights(parameters, weight_bits):\n    return parameters * weight_bits\n", encoding="utf-8"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
    arguments = ("-m", "pytest", "--pyargs", "spec.conformance", "--candidate", "mine", "--candidate-law", "weights")
    said = run(python, *arguments, rc=1, cwd=tmp_path, env=environment)
    assert "eight times the right value" in said
    assert "bits-as-bytes" in said
    assert "1 law checked" in said
    assert (
        "hypothesis" not in run(python, "-m", "pytest", "--version", "--version", cwd=tmp_path, env=environment).lower()
    )
