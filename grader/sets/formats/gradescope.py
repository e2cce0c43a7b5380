"""Gradescope: an autograder for the class, as the zip file that is uploaded there.

It holds the keys, so it lies below `keys/`: Gradescope keeps it where no student sees it. What it needs of this package
is in it, so that nothing is installed but Python 3.11 and time zones, and those only where the image lacks them.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import grader
import spec
from grader.executing import COPIED
from grader.sets import autograder
from grader.sets.definition import ProblemSet
from grader.sets.formats import Files, Format
from grader.sets.sheets import Sheet, record, record_of

MODULES = (
    *("grader/__init__.py", "grader/answers/*.py", "grader/codes.py", "grader/exercise.py", "grader/feedback.py"),
    *("grader/judging/*.py", "grader/ledger/**/*.py", "grader/ledger/**/*.sql", "grader/reading/*.py"),
    *("grader/tables.py", "spec/__init__.py", "spec/units.py", *COPIED),
)
# One reads set files, and a key has its policy in it; the other needs the laws, and is for a learner alone.
NOT_NEEDED = frozenset({"grader/answers/policy_file.py", "grader/judging/compound.py"})
SCRIPT, PLAIN = 0o100755 << 16, 0o100644 << 16

PYTHON = """\
#!/usr/bin/env bash
python() {
    for found in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$found" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
            echo "$found"
            return 0
        fi
    done
    return 1
}
"""
SETUP = f"""{PYTHON}
# Gradescope runs this once, as it builds the image. It installs only what is missing.
set -e
export DEBIAN_FRONTEND=noninteractive
install() {{ apt-get update && apt-get install --yes --no-install-recommends "$1"; }}
python || install python3.11
"$(python)" -c 'import zoneinfo; zoneinfo.ZoneInfo("Europe/Berlin")' 2> /dev/null || install tzdata
"""
RUN = f"""{PYTHON}
# Gradescope runs this for each submission.
root="${{AUTOGRADER_ROOT:-/autograder}}"
if found="$(python)"; then
    exec "$found" -I "$root/source" "$root"
fi
mkdir -p "$root/results"
echo '{{"score": 0, "output": "The autograder was not set up. Tell your instructor."}}' > "$root/results/results.json"
"""


class Gradescope(Format):
    """One bundle for the class; the template is its README."""

    refuses = frozenset({"policy"})  # it takes the laws, and minutes

    def files(self, kind: str, sheet: Sheet, text: str) -> Files:  # noqa: ARG002  a sheet has no files of its own
        """Return nothing: students hand in what another format gives them."""
        return {}

    def class_files(self, kind: str, sheets: Iterable[Sheet]) -> Files:
        """Return the bundle."""
        stream = iter(sheets)
        first = next(stream, None)
        if kind == "sheet" or first is None:
            return {}
        from grader.sets.rendering import rendered

        key = record(ProblemSet(first.title, ()), map(record_of, chain([first], stream)))
        files = {
            "README.md": rendered("key", first, "gradescope").encode(),
            autograder.KEY: "".join(key).encode(),
            "__main__.py": Path(autograder.__file__).read_bytes(),
            **dict(_copied()),
        }
        return {"gradescope.zip": _zipped({"setup.sh": SETUP.encode(), "run_autograder": RUN.encode()}, files)}


def _copied() -> Iterator[tuple[str, bytes]]:
    """Give the modules that judging takes, by their path."""
    roots = {package.__name__: Path(str(package.__file__)).parent for package in (grader, spec)}
    for pattern in MODULES:
        package, _, inside = pattern.partition("/")
        for file in sorted(roots[package].glob(inside)):
            path = f"{package}/{file.relative_to(roots[package]).as_posix()}"
            if path not in NOT_NEEDED:
                yield path, file.read_bytes()


def _zipped(scripts: dict[str, bytes], files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as bundle:
        for mode, some in ((SCRIPT, scripts), (PLAIN, files)):
            for name, data in some.items():
                info = zipfile.ZipInfo(name)  # dated 1980, so that the same class gives the same bytes
                info.external_attr, info.create_system, info.compress_type = mode, 3, zipfile.ZIP_DEFLATED
                bundle.writestr(info, data)
    return content.getvalue()


writer = Gradescope()
