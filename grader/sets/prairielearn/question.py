"""A question on PrairieLearn: what its `server.py` calls, each with the data that PrairieLearn hands over.

This module is copied into a course together with the judge, and runs there on the standard library alone. Whatever a
browser may see stands in `params`; the record of the exercise, by which answers are judged, and its solution stand in
`correct_answers`, which PrairieLearn keeps on the server until its template shows them in the answer panel.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.exercise import Exercise, Part
from grader.feedback import message
from grader.judging import INCORRECT, INVALID, Judgement, judge
from grader.judging.carried import judge_after

Data = dict[str, Any]  # as PrairieLearn documents it

VARIANTS = "variants.jsonl"  # beside `server.py`: a variant on each line, what it puts into `data`
UNREADABLE = "?"
WRONG = ("none", "0", "1", "2", "3")  # to be tried where no slip gives a wrong answer


def generate(data: Data) -> None:
    """Take the variant that belongs to the seed.

    Raises:
        OSError: the file of variants is not there.
    """
    path = Path(data["options"]["question_path"], VARIANTS)
    variants = path.read_text(encoding="ascii").splitlines()
    variant = json.loads(variants[data["variant_seed"] % len(variants)])
    for name in ("params", "correct_answers"):
        data[name].update(variant[name])


def prepare(data: Data) -> None:
    """Check that the page asks for every part.

    Raises:
        ValueError: somebody took an input out of `question.html`.
    """
    missing = [part.part for part in _exercise(data).parts if part.part not in data["answers_names"]]
    if missing:
        raise ValueError(f"question.html has no input for part {', '.join(missing)} of this exercise")


def parse(data: Data) -> None:
    """Refuse what cannot be read, which costs no attempt, and say how the rest was read; nothing of right or wrong.

    A part that is left blank is refused only where all are: who cannot do one may hand in the others.
    """
    exercise, typed = _exercise(data), data["submitted_answers"]
    blank = not any(typed.get(part.part) for part in exercise.parts)
    for part in exercise.parts:
        text = typed.get(part.part) or ""
        if part.part in data["format_errors"] or not (text or blank):
            continue
        judged = judge(part, text)
        if judged.verdict == INVALID:
            said = message(judged, part)
            data["feedback"][part.part] = said
            data["format_errors"][part.part] = html.escape(said.split("\n")[-1])  # shown as HTML
        elif judged.reading != judged.typed:
            data["feedback"][part.part] = f"Read as {judged.reading}."


def grade(data: Data) -> None:
    """Give each part its score and the diagnosis as feedback, and the whole the mean by the points of the parts."""
    exercise, typed = _exercise(data), data["submitted_answers"]
    found = _judged(exercise, typed)
    for part in exercise.parts:
        said = message(found[part.part], part) if typed.get(part.part) else "Left blank."
        data["feedback"][part.part] = said
    _enter(data, {letter: judged.score for letter, judged in found.items()})


def test(data: Data) -> None:
    """Give a submission that is `correct`, `incorrect` or `invalid`, and what must come of it."""
    exercise, kind = _exercise(data), data["test_type"]
    typed = {part.part: data["correct_answers"][part.part] for part in exercise.parts}
    if kind == "incorrect":
        typed = {part.part: _wrong(part, data["variant_seed"]) for part in exercise.parts}
    data["format_errors"].clear()
    if kind == "invalid":
        first = exercise.parts[0].part
        typed[first] = UNREADABLE
        data["format_errors"][first] = "unreadable"
    data["raw_submitted_answers"].update(typed)
    found = _judged(exercise, typed)
    data["feedback"].update({part.part: message(found[part.part], part) for part in exercise.parts})
    _enter(data, {letter: judged.score for letter, judged in found.items()})


def _judged(exercise: Exercise, typed: Mapping[str, str | None]) -> dict[str, Judgement]:
    """Judge the parts that were handed in together, the later after the earlier."""
    texts = {part.part: [text] for part in exercise.parts if (text := typed.get(part.part))}
    return {part.part: judge_after(exercise, part, typed.get(part.part) or "", texts) for part in exercise.parts}


def _exercise(data: Data) -> Exercise:
    return Exercise.from_json(data["correct_answers"]["record"])


def _enter(data: Data, scores: Mapping[str, Fraction]) -> None:
    weights: dict[str, int] = data["correct_answers"]["weights"]
    for letter, score in scores.items():
        data["partial_scores"][letter] = {"score": float(score), "weight": weights[letter]}
    total = sum((score * weights[letter] for letter, score in scores.items()), Fraction(0))
    data["score"] = float(total / sum(weights.values()))


def _wrong(part: Part, turn: int) -> str:
    """Return an answer that is wrong, another one at each turn."""
    slips = [f"{slip.value} {part.unit}".strip() for slip in part.slips if slip.value]
    others = [*part.options, *(f"{text} {part.unit}".strip() if text.isdigit() else text for text in WRONG)]
    wrong = [text for text in slips if judge(part, text).verdict == INCORRECT]
    wrong = wrong or [text for text in others if judge(part, text).verdict == INCORRECT]
    return wrong[turn % len(wrong)]
