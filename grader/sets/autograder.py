"""The autograder of Gradescope: judges what one student handed in, and writes `results/results.json`.

This module is copied into a bundle as its `__main__.py`, beside the judge and the key, and runs on the standard library
alone. A submission is never run, and no link in it is followed: its files are read as answers and as nothing else.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from tempfile import TemporaryDirectory
from typing import Any

from grader.answers import Answer, Grading, Key, Line, Unplaced, read_answers, read_key
from grader.answers.gradebook import printed
from grader.feedback import sentence, visible
from grader.judging import judge
from grader.ledger import Ledger

VISIBILITY = "visible"  # of what is judged; else hidden, after_due_date or after_published
KEY = "key.json"
LARGEST = 16 * 1024 * 1024  # bytes of a file
MOST_FILES = 100
MOST_ANSWERS = 5000
MOST_SAID = 20  # complaints, in what the student reads
KINDS = "a notebook, CSV, TOML or JSON"
NO_FILE = f"There is no file in the submission. Hand in {KINDS}."
WHOSE = "Nothing in the submission says whose it is. Write the code of your sheet into the file, or into its name."
SEVERAL = "The submission holds answers of several students. Hand in your own."
BROKEN = "The autograder failed, and that is no fault of this submission. Tell your instructor."
VERDICTS = {
    "correct": "Correct.",
    "partial": "Partly right.",
    "incorrect": "Not correct.",
    "invalid": "Not read as an answer, so it does not count.",
}
GIVEN_AWAY = "no-value"  # the finding that says what the answer is; the next submission would have it

Found = Answer | Unplaced
Results = dict[str, Any]  # as Gradescope documents `results.json`


def main(root: Path) -> None:
    """Judge the submission in the folder of the autograder; whatever happens, leave valid results.

    Raises:
        OSError: the results cannot be written.
    """
    try:
        results = results_of(root)
    except Exception:  # noqa: BLE001  a student must read a sentence, and the instructor what it was
        traceback.print_exc()
        results = _results(BROKEN)
    (root / "results").mkdir(parents=True, exist_ok=True)
    (root / "results" / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="ascii")


def results_of(root: Path) -> Results:
    """Judge the submission.

    Raises:
        BadKey: the key of the bundle cannot be used.
        LedgerError: there is no room for the ledger that grading needs for a moment.
    """
    key = read_key(Path(__file__).with_name(KEY))
    metadata = _metadata(root / "submission_metadata.json")
    owners = _owners(key, metadata)
    time = metadata.get("created_at")
    files = list(islice(_files(root / "submission"), MOST_FILES + 1))
    found = list(islice(_entries(files[:MOST_FILES]), MOST_ANSWERS + 1))
    entries = [_of_owner(key, owners, entry, str(time or "")) for entry in found[:MOST_ANSWERS]]
    if len(files) > MOST_FILES or len(found) > MOST_ANSWERS:
        entries.append(Unplaced("", 0, "", "", f"Only {MOST_FILES} files and {MOST_ANSWERS} answers are read"))
    named = {key.student(entry.student) for entry in entries if isinstance(entry, Answer)} - {None}
    students = sorted(map(str, named)) or owners
    if len(students) == 1:
        return _graded(key, students[0], entries, metadata)
    complaints = [str(entry) for entry in entries if isinstance(entry, Unplaced)]
    return _results(SEVERAL if named else WHOSE if files else NO_FILE, complaints)


def _graded(key: Key, student: str, entries: Iterable[Found], metadata: Mapping[str, Any]) -> Results:
    entries = list(entries)
    with TemporaryDirectory() as folder, Ledger.open(Path(folder, "ledger.sqlite")) as ledger:
        grading = Grading(key, ledger, "")
        for _ in grading.grade(_earlier(student, metadata)):
            pass
        problems = [str(problem) for graded in grading.grade(entries) for problem in graded.problems]
        grading.gradebook.know(student)
        lines = list(grading.gradebook.lines(student))
    total, of = (sum(points, Fraction(0)) for points in zip(*((line.points, line.of) for line in lines), strict=True))
    if not any(isinstance(entry, Answer) for entry in entries) and not problems:
        problems.append(NO_FILE)
    answers = [[a.item, a.part, a.text] for a in entries if isinstance(a, Answer) and a.text]
    return {
        **_results(f"{printed(total)} of {printed(of)} points.", problems),
        "score": float(printed(total)),
        "extra_data": {"student": student, "answers": answers},
        "tests": [_test(key, student, line) for line in lines],
    }


def _results(says: str, complaints: Iterable[str] = ()) -> Results:
    complaints = list(complaints)
    shown = complaints[:MOST_SAID] + [f"And {len(complaints) - MOST_SAID} more."] * (len(complaints) > MOST_SAID)
    return {
        "score": 0.0,
        "output": "\n".join(map(visible, [says, *shown])),
        "output_format": "text",
        "visibility": VISIBILITY,
        "stdout_visibility": "hidden",
    }


def _test(key: Key, student: str, line: Line) -> dict[str, Any]:
    """Return what Gradescope shows of one part."""
    item = key.sheet(student)[line.item]
    part = next(part for part in item.exercise.parts if part.part == line.part)
    why = line.why
    for finding in judge(part, line.answer).findings if line.answer else ():
        if finding.code == GIVEN_AWAY:
            why = why.replace(sentence(finding, part), "").strip()
    said = [f"Your answer: {line.answer}"] if line.answer else []
    said += [f"Read as {line.reading}."] if line.reading not in {"", line.answer} else []
    return {
        "name": f"Exercise {line.item}{line.part * (len(item.parts) > 1)}",
        "score": float(printed(line.points)),
        "max_score": float(printed(line.of)),
        "status": "passed" if line.points == line.of else "failed",
        "output": "\n".join(map(visible, filter(None, [*said, VERDICTS.get(line.verdict), why]))),
        "output_format": "text",
        "visibility": VISIBILITY,
    }


def _metadata(path: Path) -> dict[str, Any]:
    """Return what Gradescope says of the submission; nothing where it says nothing."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _owners(key: Key, metadata: Mapping[str, Any]) -> list[str]:
    """Return whose submission it is by the account; nobody where the roster is not in the bundle.

    Where one sheet is for everybody, that is one name for all who hand in together.
    """
    users = [user for user in metadata.get("users") or () if isinstance(user, dict)]
    names = [str(user[field]) for user in users for field in ("email", "sid") if user.get(field)]
    found = [student for name in names if (student := key.student(name))]
    if key.for_everybody:
        return [*found, "student"][:1]
    return list(dict.fromkeys(found))


def _files(folder: Path) -> Iterator[Path]:
    """Give the files, without links, which could lead to the key, and without what systems and editors leave."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and S_ISREG(path.lstat().st_mode):
                yield path


def _entries(files: Iterable[Path]) -> Iterator[Found]:
    for path in files:
        if path.lstat().st_size > LARGEST:
            yield Unplaced(path.name, 0, "", "", f"it is larger than {LARGEST >> 20} MiB")
        else:
            yield from read_answers(path)


def _of_owner(key: Key, owners: list[str], entry: Found, time: str) -> Found:
    """Return an answer as one of whose account handed it in, when that was; who it says itself must be the same."""
    if not isinstance(entry, Answer):
        return entry
    student = entry.student or key.student_in(entry.file)
    if key.for_everybody or (owners and not student):
        student = owners[0] if len(owners) == 1 else ""
    elif owners and key.student(student) not in owners:
        why = f"it is on the sheet of somebody else, {student}; yours is {owners[0]}"
        return Unplaced(entry.file, entry.line, "", f"{entry.item}{entry.part}", why)
    return replace(entry, student=student, time=time)


def _earlier(student: str, metadata: Mapping[str, Any]) -> Iterator[Answer]:
    """Give the answers of the submissions before: the policy counts attempts over all of them."""
    for submission in metadata.get("previous_submissions") or ():
        try:
            extra = submission["results"]["extra_data"]
            time, rows = submission.get("submission_time"), extra["answers"] if extra["student"] == student else ()
            yield from [
                Answer("", 0, student, int(item), part, str(text), str(time or "")) for item, part, text in rows
            ]
        except (TypeError, KeyError, ValueError, AttributeError):
            continue  # it had no results, or those of another autograder


if __name__ == "__main__":
    main(Path(sys.argv[1]))
