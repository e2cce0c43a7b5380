"""PrairieLearn as far as the tests need it: its documented sequence of calls."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Data = dict[str, Any]

SERVER = Path(__file__).with_name("prairielearn_server.py")
INPUT = re.compile(r"<pl-string-input ([^>]*)></pl-string-input>")


class Platform:
    """PrairieLearn: its documented sequence of calls, with a stand-in for the one element that the pages use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._worker = subprocess.Popen(
            [sys.executable, "-I", "-S", SERVER, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            encoding="utf-8", cwd=folder,
        )  # fmt: skip

    @property
    def questions(self) -> list[str]:
        return sorted(str(info.parent.relative_to(self.folder / "questions")) for info in self._infos())

    def _infos(self) -> Iterator[Path]:
        return (self.folder / "questions").rglob("info.json")

    def page(self, question: str) -> str:
        return (self.folder / "questions" / question / "question.html").read_text(encoding="utf-8")

    def inputs(self, question: str) -> dict[str, dict[str, str]]:
        """Give the attributes of the inputs, by the names of their answers."""
        found = [dict(re.findall(r'([a-z-]+)="([^"]*)"', tag)) for tag in INPUT.findall(self.page(question))]
        return {attributes["answers-name"]: attributes for attributes in found}

    def ask(self, line: str) -> Any:
        assert self._worker.stdin is not None
        assert self._worker.stdout is not None
        self._worker.stdin.write(f"{line}\n")
        self._worker.stdin.flush()
        return json.loads(self._worker.stdout.readline())

    def call(self, question: str, function: str, data: Data) -> Data:
        after: Data = self.ask(json.dumps([question, function, data]))
        assert "refused" not in after, (question, after)
        return after

    def variant(self, question: str, seed: int) -> Data:
        options = {
            "question_path": str(self.folder / "questions" / question),
            "server_files_course_path": str(self.folder / "serverFilesCourse"),
        }
        data = {"params": {}, "correct_answers": {}, "variant_seed": seed, "options": options, "preferences": {}}
        data = self.call(question, "generate", data)
        names = dict.fromkeys(self.inputs(question), True)
        data = self.call(question, "prepare", data | {"answers_names": names})
        del data["answers_names"]
        return data

    def submit(self, question: str, variant: Data, typed: dict[str, str], *, save_only: bool = False) -> Data:
        data = copy.deepcopy(variant) | {"raw_submitted_answers": typed, "submitted_answers": dict(typed)}
        data |= {"format_errors": {}, "feedback": {}, "gradable": True}
        inputs = self.inputs(question)
        for name, attributes in inputs.items():
            assert attributes["remove-leading-trailing"] == attributes["allow-blank"] == "true"
            if name in typed:
                data["submitted_answers"][name] = typed[name].strip()
            else:
                data["format_errors"][name], data["submitted_answers"][name] = "No submitted answer.", None
        data = self.call(question, "parse", data)
        data["gradable"] = not data["format_errors"]
        if save_only or not data["gradable"]:
            return data
        scores = {  # an element compares the texts before the question grades
            name: {"score": int(typed[name] == data["correct_answers"][name]), "weight": 1} for name in inputs
        }
        return self.call(question, "grade", data | {"partial_scores": scores, "score": 0})

    def tried(self, question: str, variant: Data, kind: str) -> Data:
        data = copy.deepcopy(variant) | {
            "raw_submitted_answers": dict.fromkeys(self.inputs(question), "of the element")
        }
        data |= {"format_errors": {}, "feedback": {}, "gradable": True, "partial_scores": {}, "score": 0}
        return self.call(question, "test", data | {"test_type": kind})

    def loaded(self) -> set[str]:
        return set(self.ask(""))

    def close(self) -> None:
        self._worker.communicate("")
