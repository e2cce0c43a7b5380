"""The folder of a course: its questions, each with the exercises that the class got there, and one assessment.

Every variant is drawn, and its solution worked out, where the set is written. The server takes one of them by the seed
of the variant: it needs neither the laws nor SymPy, answers in a tenth of the time that drawing would take, and no
other version of anything changes what a student gets. There are as many variants as students, since `grade set` draws
that many: all equally hard, and none that can be told from a seed.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from math import lcm
from typing import Any
from uuid import UUID, uuid5

from grader.exercise import Exercise, Given, Part
from grader.families import family
from grader.givens import shown
from grader.sets.prairielearn.question import VARIANTS
from grader.sets.prairielearn.vendored import SERVER, vendored
from grader.sets.sheets import Entry, Sheet, content
from grader.solution import answer, lines

NAMESPACE = UUID("8f1c6c0e-3f8e-5b8e-9d0a-5e2f0c7b41d6")  # of the identifiers: the same set has the same ones
INSTANCE = "servespec"  # the folder of the course instance
TRIES = 3  # at a variant: a diagnosis is worth another try at the same numbers
LONGEST_NAME = 40

README = """\
# A problem set for PrairieLearn

This folder is a course of its own. To add the set to yours, copy `questions`, `serverFilesCourse` and the assessment,
name its topics in your `infoCourse.json`, and sync. Students see it once you give the assessment its access rules.

- The files hold the answers. PrairieLearn keeps them on its server; keep the repository of the course private.
- PrairieLearn gives each student one of the variants at random, so that two may get the same. It keeps the answers and
  the points itself; attempts, deadlines and penalties of the set file are for you to set in `infoAssessment.json`.
- What cannot be read as an answer is invalid and costs no attempt. A part that is left blank earns nothing.
- A homework gives three tries at a variant, then another one (`triesPerVariant`). Where all students have the same
  exercise, they may try without limit and are never shown the solution.
- Settings > Test tries a question with right, wrong and unreadable answers.
"""


@dataclass
class _Question:
    """A place of the set and its variants, by what their readers see."""

    entry: Entry
    variants: dict[object, str] = field(default_factory=dict)


def course(sheets: Iterable[Sheet], page: Callable[[Sheet], str]) -> dict[str, str]:
    """Return the files of a course, by their paths.

    Args:
        sheets: those of the class.
        page: renders `question.html` for a sheet of one exercise.
    """
    title, questions = "", dict[int, _Question]()
    for sheet in sheets:
        title = sheet.title
        for entry in sheet.entries:
            question = questions.setdefault(entry.number, _Question(entry))
            if content(entry.exercise) not in question.variants:
                question.variants[content(entry.exercise)] = _variant(entry)
    files = {"README.md": README}
    for question in questions.values():
        place = f"questions/{_name(title, question.entry)}"
        files[f"{place}/info.json"] = _json(_info(title, question))
        files[f"{place}/question.html"] = page(Sheet(title, "", (question.entry,)))
        files[f"{place}/server.py"] = SERVER
        files[f"{place}/{VARIANTS}"] = "".join(f"{line}\n" for line in question.variants.values())
    entries = [question.entry for question in questions.values()]
    instance = f"courseInstances/{INSTANCE}"
    files["infoCourse.json"] = _json(_course(entries))
    files[f"{instance}/infoCourseInstance.json"] = _json({"uuid": _uuid("instance"), "longName": INSTANCE})
    files[f"{instance}/assessments/{_slug(title)}/infoAssessment.json"] = _json(_assessment(title, entries))
    return files | {f"serverFilesCourse/{path}": text for path, text in vendored().items()}


def _variant(entry: Entry) -> str:
    """Return what a variant puts into the data of PrairieLearn, as a line of JSON."""
    exercise, scale = entry.exercise, lcm(*(points.denominator for points in entry.parts.values()))
    params = {
        "statement": exercise.statement,
        "given": _given(exercise.givens),
        "parts": {
            part.part: {"question": part.question, "given": _given(part.givens), "options": list(part.options)}
            for part in exercise.parts
        },
        "convention": exercise.convention,
    }
    correct_answers = {
        **{part.part: answer(part) for part in exercise.parts},
        "solutions": {part.part: _solution(exercise, part) for part in exercise.parts},
        "weights": {letter: int(points * scale) for letter, points in entry.parts.items()},
        "record": exercise.to_json(),  # as text: JavaScript would round the long integers in it
    }
    return json.dumps({"params": params, "correct_answers": correct_answers}, separators=(",", ":"))


def _given(givens: Iterable[Given]) -> dict[str, Any] | None:
    rows = [{"symbol": given.symbol, "value": shown(given), "says": given.says} for given in givens]
    return {"rows": rows} if rows else None


def _solution(exercise: Exercise, part: Part) -> dict[str, Any]:
    found = [{"says": line.says, "latex": line.latex, "text": line.text} for line in lines(exercise, part)]
    return {"reason": part.reason, "lines": found}


def _info(title: str, question: _Question) -> dict[str, Any]:
    entry = question.entry
    slug = entry.exercise.family
    return {
        "uuid": _uuid("question", title, str(entry.number), slug),
        "type": "v3",
        "title": slug.replace("-", " "),
        "topic": _topic(slug),
        "singleVariant": len(question.variants) == 1,
    }


def _course(entries: Iterable[Entry]) -> dict[str, Any]:
    topics = sorted({_topic(entry.exercise.family) for entry in entries})
    colours = [{"name": topic, "color": "blue3"} for topic in topics]
    return {"name": INSTANCE, "title": "Problem sets", "topics": colours}


def _assessment(title: str, entries: Iterable[Entry]) -> dict[str, Any]:
    questions = [
        {"id": _name(title, entry), "autoPoints": _number(entry.points), "triesPerVariant": TRIES} for entry in entries
    ]
    return {
        "uuid": _uuid("assessment", title),
        "type": "Homework",
        "title": title,
        "set": "Homework",
        "number": "1",
        "zones": [{"questions": questions}],
    }


def _topic(slug: str) -> str:
    return family(slug).objective.replace("-", " ")


def _name(title: str, entry: Entry) -> str:
    """Return the name of a question, which is its folder too."""
    return f"{_slug(title)}/{entry.number:02}-{entry.exercise.family}"


def _slug(title: str) -> str:
    """Return a title as a name for folders, which differs where the titles do."""
    letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", letters)[:LONGEST_NAME].strip("-") or "set"
    return f"{name}-{blake2b(title.encode('utf-8', 'surrogatepass'), digest_size=3).hexdigest()}"


def _uuid(*name: str) -> str:
    return str(uuid5(NAMESPACE, json.dumps(name)))


def _number(points: Fraction) -> int | float:
    return points.numerator if points.denominator == 1 else float(points)


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
