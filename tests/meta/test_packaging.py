"""The wheel holds the three packages and all their data, and works where nothing but its declared needs are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PACKAGES = ("spec", "grader", "problems")

pytestmark = [pytest.mark.meta, pytest.mark.slow]


def run(*command: str | Path, **options: object) -> str:
    """Run a command without a keyboard; show all it said when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def needs(distribution: str, extra: str = "") -> set[str]:
    """Name the distribution and all that it asks for, directly or not, as installed here."""
    seen, open_ends = set(), [(distribution, extra)]
    while open_ends:
        name, wanted = open_ends.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        for line in metadata.requires(name) or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": wanted}):
                open_ends += [(requirement.name, part) for part in ("", *requirement.extras)]
    return {re.sub(r"[-_.]+", "-", name).lower() for name, _ in seen}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=ROOT)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean environment: the wheel, and of the packages installed here only those that it declares."""
    folder = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for name in needs("servespec") - {"servespec"}:
        files = metadata.files(name) or ()
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (site / top).symlink_to(Path(str(files[0].locate())).parents[len(files[0].parts) - 1] / top)
    return folder


def test_the_wheel_holds_the_packages_with_all_their_data_and_nothing_else(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = {
        str(Path(target, file.relative_to(ROOT / source)))
        for source, target in [*zip(PACKAGES, PACKAGES, strict=True), ("templates", "grader/templates")]
        for file in (ROOT / source).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert inside == sources
    assert {name.split("/")[0] for name in inside} == set(PACKAGES)
    assert {".py", ".typed", ".toml", ".sql", ".j2"} <= {Path(name).suffix for name in inside}


def test_the_installed_command_works_in_another_folder(home: Path, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GRADE_"))}
    environment["GRADE_LEDGER"] = str(tmp_path / "ledger.sqlite")

    def grade(*arguments: str) -> str:
        return run(home / "bin" / "grade", *arguments, cwd=tmp_path, env=environment)

    assert "submit" in grade("--help")
    assert "max-context/1" in grade("new", "max-context", "--seed", "1")
    where = run(home / "bin" / "python", "-c", "import spec; print(spec.__file__)", cwd=tmp_path, env=environment)
    assert where.startswith(str(home))


def test_every_version_that_make_test_installs_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[a-z0-9-]+==[0-9.]+", line)] == []
    missing = needs("servespec", "test") | needs("servespec", "lint")
    assert missing - {"servespec"} - {line.split("==")[0] for line in pins} == set()
