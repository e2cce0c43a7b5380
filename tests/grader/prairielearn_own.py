"""Tests every question of a course with PrairieLearn's own elements, phases and checks, as its Settings > Test does.

Run by a Python that can import what PrairieLearn depends on, with the folder `apps/prairielearn` of a checkout of it,
that of a course, and how many seeds to try. PrairieLearn's server, which is no Python, fills the page and compares what
came out with what `test` foretold; that is done here.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

Data = dict[str, Any]


class Course:
    def __init__(self, platform: Path, folder: Path) -> None:
        sys.path.insert(0, str(platform / "python"))
        self.folder, self._path = folder, list(sys.path)
        self._elements = {
            info.parent.name: {"name": info.parent.name, "controller": said["controller"], "type": "core"}
            for info in (platform / "elements").glob("*/info.json")
            if "controller" in (said := json.loads(info.read_text(encoding="utf-8")))
        }

    def phase(self, question: Path, name: str, data: Data) -> Data:
        """Run a phase: the elements of the page first, then the function of `server.py`."""
        import chevron
        from prairielearn.internal.check_data import check_data
        from prairielearn.internal.question_phases import process
        from prairielearn.internal.zygote_utils import assert_all_integers_within_limits, get_module_function

        if name != "generate":
            page = chevron.render((question / "question.html").read_text(encoding="utf-8"), data)
            context: Any = {
                "html": page, "elements": self._elements, "element_extensions": {}, "course_path": str(self.folder)
            }  # fmt: skip
            process(name, data, context)
        sys.path[:] = [str(question), str(self.folder / "serverFilesCourse"), *self._path]
        os.chdir(question)
        module: Data = {"__file__": str(question / "server.py")}
        exec((question / "server.py").read_text(encoding="utf-8"), module)  # noqa: S102
        before = copy.deepcopy(data)
        get_module_function(module, name)(data)
        check_data(before, data, name)
        assert_all_integers_within_limits(data)
        after: Data = json.loads(json.dumps(data, allow_nan=False))
        return after

    def variant(self, question: Path, seed: int) -> Data:
        options = {
            "question_path": str(question), "server_files_course_path": str(self.folder / "serverFilesCourse"),
            "user": None, "group": None,
        }  # fmt: skip
        data = {"params": {}, "correct_answers": {}, "variant_seed": seed, "options": options, "preferences": {}}
        data = self.phase(question, "prepare", self.phase(question, "generate", data) | {"answers_names": {}})
        del data["answers_names"]
        return data

    def tested(self, question: Path, variant: Data, kind: str) -> bool:
        """Say whether a submission comes out as the question foretells."""
        blank = {"format_errors": {}, "feedback": {}, "gradable": True}
        wanted = copy.deepcopy(variant | blank) | {"raw_submitted_answers": {}, "partial_scores": {}, "score": 0}
        wanted = self.phase(question, "test", wanted | {"test_type": kind})
        typed = wanted["raw_submitted_answers"]
        got = copy.deepcopy(variant | blank) | {"raw_submitted_answers": typed, "submitted_answers": dict(typed)}
        got = self.phase(question, "parse", got)
        if wanted["format_errors"].keys() != got["format_errors"].keys():
            return False
        if got["format_errors"]:
            return kind == "invalid"
        got = self.phase(question, "grade", got | {"partial_scores": {}, "score": 0})
        same = (got["partial_scores"], got["score"]) == (wanted["partial_scores"], wanted["score"])
        return same and (got["score"] == 1) == (kind == "correct")


def main() -> None:
    course = Course(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
    for info in sorted((course.folder / "questions").rglob("info.json")):
        for seed in range(int(sys.argv[3])):
            variant = course.variant(info.parent, seed)
            for kind in ("correct", "incorrect", "invalid"):
                came = "as foretold" if course.tested(info.parent, variant, kind) else "otherwise"
                print(info.parent.name, seed, kind, came)  # noqa: T201  read by the test


if __name__ == "__main__":
    main()
