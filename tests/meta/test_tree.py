"""The shape of the project: who may import whom, how long a module is, what no file may name.

Each check is a function from a folder to the faults found in it. It is run on the project, which has none,
and on a small project with one planted fault, which it must find.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pathspec
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
PACKAGES = ("spec", "grader", "problems")
MAX_LINES = 450
# What a family may use of the grader: what makes an exercise, and what runs an answer; nothing that judges or records.
MAKES_EXERCISES = tuple(
    f"grader.{name}"
    for name in (
        "family",
        "case",
        "property",
        "reckoned",
        "menu",
        "served",
        "preset",
        "amounts",
        "exercise",
        "executing",
    )
)
# Put together here, so that this file does not name what it looks for.
HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("debian", "org"))]
MACHINE_PATH = re.compile(r"(?<![\w.])/" + "(work|farm|root)/")

pytestmark = pytest.mark.meta


def files(root: Path) -> Iterator[Path]:
    """Give the files of the project: all that .gitignore does not leave out."""
    ignored = pathspec.GitIgnoreSpec.from_lines((root / ".gitignore").read_text(encoding="utf-8").splitlines())
    for folder, folders, names in os.walk(root):
        here = Path(folder).relative_to(root)
        folders[:] = [f for f in sorted(folders) if f != ".git" and not ignored.match_file(f"{here / f}/")]
        yield from (Path(folder, n) for n in sorted(names) if n != ".git" and not ignored.match_file(here / n))


def modules(root: Path, package: str = "") -> Iterator[Path]:
    return (file for file in files(root) if file.suffix == ".py" and file.is_relative_to(root / package))


def imports(module: Path, root: Path) -> Iterator[str]:
    """Give the full name of everything a module imports, wherever in the module it does so."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.relative_to(root).parts[:-1]
            near = package[: len(package) - node.level + 1] if node.level else ()
            yield from (".".join([*near, *filter(None, [node.module]), alias.name]) for alias in node.names)


def within(name: str, *allowed: str) -> bool:
    return any(f"{name}.".startswith(f"{start}.") for start in allowed)


def long_modules(root: Path) -> list[str]:
    lines = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in modules(root)}
    return [f"{file.relative_to(root)}: {n} lines" for file, n in lines.items() if n > MAX_LINES]


def grab_bags(root: Path) -> list[str]:
    return [str(file.relative_to(root)) for file in modules(root) if {"utils", "util"} & {file.stem, file.parent.name}]


def specification_that_knows_its_users(root: Path) -> list[str]:
    found = [(file, name) for file in modules(root, "spec") for name in imports(file, root)]
    return [f"{file.relative_to(root)}: {name}" for file, name in found if within(name, "grader", "problems")]


def families_that_reach_too_far(root: Path) -> list[str]:
    found = [(file, name) for file in modules(root, "problems") for name in imports(file, root)]
    allowed = ("spec", *MAKES_EXERCISES, *sys.stdlib_module_names)
    # An exercise of the chapter may take its questions from the families; those know nothing of each other.
    return [
        f"{file.relative_to(root)}: {name}"
        for file, name in found
        if not within(name, *allowed, *(["problems"] if file.name.startswith("exercise_") else []))
    ]


def addresses(root: Path) -> list[str]:
    faults = []
    for file in files(root):
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="ignore").splitlines(), 1):
            if MACHINE_PATH.search(line) or any(host in line for host in HOSTS):
                faults.append(f"{file.relative_to(root)}:{number}: {line.strip()}")
    return faults


def settings_without_reason(root: Path) -> list[str]:
    """Find each dependency and each exception to lint, layout or types that has no reason on its own line."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    project, tool = (tomllib.loads(text)[table] for table in ("project", "tool"))
    ruff, extras = tool["ruff"], project["optional-dependencies"]
    groups = [project["dependencies"], *extras.values(), ruff["format"]["exclude"], ruff["lint"]["ignore"]]
    groups += ruff["lint"]["per-file-ignores"].values()
    settings = [f'"{value}"' for group in groups for value in group]
    settings += [key for table in tool["mypy"]["overrides"] for key in table if key != "module"]
    given = re.findall(r"^[^#\n]*# \S+ \S.*$", text, re.MULTILINE)
    return [setting for setting in settings if not any(setting in line.partition("#")[0] for line in given)]


CHECKS = [
    long_modules,
    grab_bags,
    specification_that_knows_its_users,
    families_that_reach_too_far,
    addresses,
    settings_without_reason,
]


@pytest.mark.parametrize("check", CHECKS)
def test_the_project_is_free_of(check: Callable[[Path], list[str]]) -> None:
    assert check(ROOT) == []


@pytest.mark.parametrize(
    ("check", "path", "text"),
    [
        (long_modules, "grader/long.py", "x = 1\n" * (MAX_LINES + 1)),
        (grab_bags, "grader/utils.py", ""),
        (grab_bags, "spec/utils/time.py", ""),
        (specification_that_knows_its_users, "spec/memory.py", "def f():\n    from grader import family\n"),
        (specification_that_knows_its_users, "spec/memory.py", "import problems.ttft\n"),
        (specification_that_knows_its_users, "spec/catalog/load.py", "from ...grader import family\n"),
        (families_that_reach_too_far, "problems/ttft.py", "from grader import judging\n"),
        (families_that_reach_too_far, "problems/ttft.py", "from grader.reading import read\n"),
        (families_that_reach_too_far, "problems/ttft.py", "import sympy\n"),
        (families_that_reach_too_far, "problems/ttft.py", "from . import max_context\n"),
        (addresses, "README.md", f"see https://{HOSTS[0]}/project"),
        (addresses, "Makefile", "cd /" + "work/main"),
        (addresses, ".ci/run", "cd=/" + "root/"),
        (settings_without_reason, "pyproject.toml", '"N818",'),
        (settings_without_reason, "pyproject.toml", '"click>=8.5",'),
        (settings_without_reason, "pyproject.toml", "ignore_missing_imports = true"),
    ],
)
def test_planting_a_fault_reports_it(check: Callable[[Path], list[str]], path: str, text: str, tmp_path: Path) -> None:
    for name in (".gitignore", "pyproject.toml"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    assert check(tmp_path) == []
    planted = tmp_path / path
    if path == "pyproject.toml":
        # The setting stays, its reason goes.
        text = re.sub(f"({re.escape(text)}) #.*", r"\1", planted.read_text(encoding="utf-8"))
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(text, encoding="utf-8")
    assert len(check(tmp_path)) == 1
