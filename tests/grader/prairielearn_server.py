"""Calls the functions of a course's `server.py` as PrairieLearn's worker does, and refuses what PrairieLearn refuses.

Run by an isolated Python, given a course. A line of JSON on standard input is a call, `[question, function,
data]`; a line on standard output is the data after it, or `{"refused": why}`. An empty line asks which modules the
course has loaded. What is done here, and the table, is that of PrairieLearn's documentation (`docs/question/server.md`:
the functions and the keys that each may change, the scopes of the keys; `docs/clientServerFiles.md`: the path) and of
its worker (`apps/prairielearn/python/zygote.py`: how the file is run, what of it may be JSON).
"""

from __future__ import annotations

import copy
import json
import os
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

ALWAYS = {"params": dict, "correct_answers": dict, "variant_seed": int, "options": dict, "preferences": dict}
SUBMITTED = {"raw_submitted_answers": dict, "format_errors": dict, "feedback": dict, "gradable": bool}
GRADED = {"partial_scores": dict, "score": (int, float)}
PRESENT: dict[str, dict[str, Any]] = {
    "generate": ALWAYS,
    "prepare": ALWAYS | {"answers_names": dict},
    "parse": ALWAYS | SUBMITTED | {"submitted_answers": dict},
    "grade": ALWAYS | SUBMITTED | GRADED | {"submitted_answers": dict},
    "test": ALWAYS | SUBMITTED | GRADED | {"test_type": str},
}
CHANGES = {
    "generate": {"correct_answers", "params"},
    "prepare": {"answers_names", "correct_answers", "params"},
    "parse": {"correct_answers", "feedback", "format_errors", "params", "submitted_answers"},
    "grade": {
        *("correct_answers", "feedback", "format_errors", "params"),
        *("partial_scores", "score", "submitted_answers"),
    },
    "test": {"feedback", "format_errors", "partial_scores", "raw_submitted_answers", "score"},
}
LARGEST_INTEGER = 2**53 - 1


class Refused(Exception):
    """What PrairieLearn would report as an error of the question."""


def call(course: Path, question: str, function: str, data: dict[str, Any]) -> dict[str, Any]:
    folder = course / "questions" / question
    sys.path[:] = [str(folder), str(course / "serverFilesCourse"), *PATH]
    os.chdir(folder)
    module: dict[str, Any] = {"__file__": str(folder / "server.py")}  # no name: what it defines has no __module__
    exec(compile((folder / "server.py").read_text("utf-8"), str(folder / "server.py"), "exec"), module)  # noqa: S102
    found = module.get(function)
    if not callable(found) or (function == "test" and found.__module__ is not None):
        raise Refused(f"{function}: there is no such function")
    before, printed = copy.deepcopy(data), StringIO()
    with redirect_stdout(printed):
        returned = found(data)
    if returned is not None or printed.getvalue():
        raise Refused(f"{function}: it returns or prints something")
    check(function, before, data)
    return data


def check(function: str, before: dict[str, Any], data: dict[str, Any]) -> None:
    if data.keys() != PRESENT[function].keys():
        raise Refused(f"{function}: the keys are {', '.join(data)}")
    for key, kind in PRESENT[function].items():
        if not isinstance(data[key], kind):
            raise Refused(f"{function}: {key} is {data[key]!r}")
        if key not in CHANGES[function] and data[key] != before[key]:
            raise Refused(f"{function}: it may not change {key}")
    if json.loads(json.dumps(data, allow_nan=False)) != data:
        raise Refused(f"{function}: the data are no JSON")
    integers = [value for value in leaves(data) if isinstance(value, int) and abs(value) > LARGEST_INTEGER]
    if integers:
        raise Refused(f"{function}: {integers[0]} is too large for JavaScript")


def leaves(data: Any) -> list[Any]:
    if isinstance(data, dict):
        return [leaf for pair in data.items() for value in pair for leaf in leaves(value)]
    return [leaf for value in data for leaf in leaves(value)] if isinstance(data, list) else [data]


def main() -> None:
    course = Path(sys.argv[1]).resolve()
    before = set(sys.modules)
    for line in sys.stdin:
        if not line.strip():
            answer: Any = sorted(set(sys.modules) - before)
        else:
            try:
                answer = call(course, *json.loads(line))
            except Exception as error:  # noqa: BLE001  whatever it is, PrairieLearn would report it
                answer = {"refused": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)  # noqa: T201  this is the answer


PATH = list(sys.path)
if __name__ == "__main__":
    main()
