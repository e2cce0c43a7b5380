"""The folder of a class: what was handed out in it, so that an interrupted run goes on and nobody's sheet changes.

Below `keys/`, which is for the instructor alone:

* `draws.json`: the set, and the draws of every student. It is written before any sheet.
* `written.jsonl`: a line for each sheet that is finished, with its files.
* `roster.csv`: whose code is whose. `key.json`: what judging takes. `secret`: where none was given.
* `answers.csv`: a table to type answers into.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.exercise import exact
from grader.families import family
from grader.sets.definition import ProblemSet
from grader.sets.draws import Drawn
from grader.sets.roster import Student
from grader.sets.secret import Secret
from grader.sets.writing import replace
from grader.tables import guarded

SCHEMA = 1


class OtherClass(ValueError):
    """The folder holds something else than what would be written there; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a class."""

    path: Path

    @property
    def keys(self) -> Path:
        """Where the instructor's files lie."""
        return self.path / "keys"

    @property
    def answers(self) -> Path:
        """The table to type answers into."""
        return self.keys / "answers.csv"

    def make(self) -> None:
        """Make the folder; what is for the instructor can be read by its owner alone.

        Raises:
            OSError: it cannot be made.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        self.keys.mkdir(mode=0o700, exist_ok=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out of the folder, so that nobody's draws are lost; the lock ends with the process.

        Raises:
            OtherClass: another run is writing to it.
            OSError: it cannot be opened.
        """
        try:
            import fcntl
        except ImportError:  # a system without such locks
            yield
            return
        descriptor = os.open(self.keys, os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OtherClass(f"Another run is writing to {self.path}; wait until it has ended.") from None
            yield
        finally:
            os.close(descriptor)

    def draws(self, problem_set: ProblemSet, secret: Secret) -> dict[str, list[Drawn]]:
        """Return what was handed out here before; nothing in a new folder.

        Raises:
            OtherClass: it was another set, another secret, or the families have changed.
            OSError: it cannot be read.
        """
        path = self.keys / "draws.json"
        if not path.exists():
            if (self.keys / "key.json").exists():
                raise OtherClass(f"{self.path} holds a sheet that is for everybody; --force overwrites.")
            return {}
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA:
                raise OtherClass(f"{path} was written by a newer version; update servespec, or take another folder.")
            self._compare(data, problem_set, secret)
            return {code: [Drawn(*drawn) for drawn in draws] for code, draws in data["students"].items()}
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError, UnicodeDecodeError):
            raise OtherClass(f"{path} is damaged; restore it, or --force draws anew.") from None

    def _compare(self, data: Mapping[str, Any], problem_set: ProblemSet, secret: Secret) -> None:
        if data["secret"] != secret.mark:
            raise OtherClass(
                f"{self.path} was made with another course secret; give that one, or --force, which changes all sheets."
            )
        old, new = data["set"], described(problem_set)
        if old == new:
            return
        changed = "the title" if old["title"] != new["title"] else "the number of items"
        if len(old["items"]) == len(new["items"]):
            changes = [
                f"items[{n}].{key}"
                for n, (was, now) in enumerate(zip(old["items"], new["items"], strict=True), 1)
                for key in now
                if was.get(key) != now[key]
            ]
            changed = changes[0] if changes and old["title"] == new["title"] else changed
        raise OtherClass(
            f"{self.path} was made from another set: {changed} differs; take another folder, or --force, which "
            "writes every sheet anew."
        )

    def save_draws(self, problem_set: ProblemSet, secret: Secret, draws: Mapping[str, Sequence[Drawn]]) -> None:
        """Keep what every student gets; from here on nobody's exercises change."""
        data = {
            "schema": SCHEMA,
            "set": described(problem_set),
            "secret": secret.mark,
            "students": {code: [[d.seed, d.digest] for d in drawn] for code, drawn in draws.items()},
        }
        replace(self.keys / "draws.json", [json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"])

    def save_roster(self, students: Iterable[Student]) -> None:
        """Keep whose code is whose."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["code", "id", "name", "email"])
        table.writerows(map(guarded, (s.code, s.identity, s.name, s.email)) for s in students)
        replace(self.keys / "roster.csv", [text.getvalue()])

    def finished(self) -> dict[tuple[str, str], list[str]]:
        """Return the sheets that are finished, by student and format, with their files, as far as they are there."""
        path = self.keys / "written.jsonl"
        found: dict[tuple[str, str], list[str]] = {}
        if not path.exists():
            return found
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                student, name, files = json.loads(line)
            except ValueError:  # the last line of a run that was killed
                continue
            if all((self.path / file).is_file() for file in files):
                found[student, name] = files
        return found

    def note(self, student: str, name: str, files: Sequence[str]) -> None:
        """Note that the sheet of a student is finished in a format."""
        with (self.keys / "written.jsonl").open("a", encoding="utf-8") as journal:
            journal.write(f"{json.dumps([student, name, list(files)])}\n")

    def forget(self) -> None:
        """Remove what was handed out and written here, the secret excepted."""
        for files in self.finished().values():
            for file in files:
                (self.path / file).unlink(missing_ok=True)
        for name in ("draws.json", "written.jsonl", "key.json"):
            (self.keys / name).unlink(missing_ok=True)


def described(problem_set: ProblemSet) -> dict[str, Any]:
    """Return what a set makes of its sheets as JSON, with the revisions of its families; no tolerance shows there."""
    return {
        "title": problem_set.title,
        "items": [
            {
                "family": item.family,
                "revision": family(item.family).revision,
                "seed": item.seed,
                "count": item.count,
                "points": exact(item.points),
                "parts": {letter: exact(points) for letter, points in item.parts},
            }
            for item in problem_set.items
        ],
    }
