"""What a course brings along to judge answers: a copy of the judge, as one package in its `serverFilesCourse`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import grader
import spec
from grader.executing import COPIED
from grader.sets.prairielearn import question

PACKAGE = "servespec"  # so that nothing else in a course is hidden by it, or hides it
MODULES = (
    *("grader/__init__.py", "grader/exercise.py", "grader/feedback.py", "grader/judging/*.py", "grader/reading/*.py"),
    *("spec/__init__.py", "spec/units.py", *COPIED),
)
NOT_NEEDED = "grader/judging/compound.py"  # it needs the laws, and is for a learner alone
_IMPORT = re.compile(r"^( *(?:from|import) )(?=(?:grader|spec)\b)", re.MULTILINE)

SERVER = '''\
"""An exercise of a problem set; `servespec` in serverFilesCourse does the work."""

from servespec import question

# PrairieLearn calls a function `test` only where it is defined in this very file.


def generate(data):
    question.generate(data)


def prepare(data):
    question.prepare(data)


def parse(data):
    question.parse(data)


def grade(data):
    question.grade(data)


def test(data):
    question.test(data)
'''


def vendored() -> dict[str, str]:
    """Return the modules, by their path in `serverFilesCourse`; they import each other below `servespec`."""
    copied = {path: _IMPORT.sub(rf"\1{PACKAGE}.", text) for path, text in _sources()}
    head = f'"""The judge of servespec {grader.__version__}, copied here by `grade set`."""\n'
    return {f"{PACKAGE}/{path}": text for path, text in {"__init__.py": head, **copied}.items()}


def _sources() -> Iterator[tuple[str, str]]:
    yield "question.py", Path(question.__file__).read_text(encoding="utf-8")
    roots = {package.__name__: Path(str(package.__file__)).parent for package in (grader, spec)}
    for pattern in MODULES:
        package, _, inside = pattern.partition("/")
        for file in sorted(roots[package].glob(inside)):
            path = f"{package}/{file.relative_to(roots[package]).as_posix()}"
            if path != NOT_NEEDED:
                yield path, file.read_text(encoding="utf-8")
