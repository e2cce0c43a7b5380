"""Error carried forward: an answer that is right for a wrong answer to an earlier part.

It earns a part of the score and is not blamed again: the slip was diagnosed where it happened. The record says how a
part follows from earlier ones (`Part.follows`), so no law is needed. The earlier answer is the last one before this
that could be read; a part that was not answered takes its own value from the parts before it.

Not carried is what cannot have been meant as a result: no number, 0 or 1, less than nothing, part of what is counted,
and what is more than a thousand times off with no slip to explain it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product

from grader.exercise import NUMERIC, Exercise, Part
from grader.judging import INCORRECT, INVALID, PARTIAL, Finding, Judgement, judge
from grader.judging.judgement import HALF
from grader.judging.numbers import nearness_of
from grader.reading.evaluate import exact
from grader.reading.formula import Formula
from grader.reading.grammar import read_formula
from grader.reading.nearness import exact_value
from grader.reading.number import Number

SHARE = HALF  # of the score of a part, where its answer only follows
FAR = 1000  # times off at which an earlier answer is no result that somebody believed
MOST = 64  # readings of the earlier answers that are tried
# Slips of what is written down; they do not reach what is reckoned on with.
_AT_THE_END = ("answer-of-part-", "answer-in-", "stopped-at-")

Before = Mapping[str, Sequence[str]]
Value = Number | None  # None: there is no such value


def judge_after(exercise: Exercise, part: Part, text: str, before: Before) -> Judgement:
    """Judge an answer to a part, given what was answered to the others before: by letter, the oldest first.

    Raises:
        ValueError: the record asks for a kind of answer that this judge does not know.
    """
    judged = judge(part, text)
    if judged.verdict != INCORRECT or not part.follows or not _given(part, judged):
        return judged
    earlier = _Earlier(exercise, before)
    refused: list[Finding] = []
    for way in part.follows:
        wrong = earlier.wrong(way)
        follows = wrong and (
            earlier.leads_to(part, way, judged) or any(_shared(judged, earlier.last(letter)) for letter in wrong)
        )
        reasons = [(letter, why) for letter in wrong if (why := _refused(exercise.part(letter), earlier.last(letter)))]
        if follows and not reasons:
            return replace(judged, verdict=PARTIAL, score=SHARE, diagnoses=(), findings=(_carried(earlier, wrong),))
        refused += [
            Finding(f"not-carried-{why}", {"part": letter, "answer": earlier.last(letter).reading})
            for letter, why in reasons
            if follows or (why == "no-number" and not judged.diagnoses)
        ]
    return replace(judged, findings=(*judged.findings, *refused[:1]))


def _given(part: Part, judged: Judgement) -> bool:
    """Say whether the answer is a number in the unit of the part, or that there is none."""
    return judged.value is not None or (judged.reading == "none" and part.kind in NUMERIC)


def _carried(earlier: _Earlier, wrong: Sequence[str]) -> Finding:
    answers = [f"{letter} ({earlier.last(letter).reading})" for letter in wrong]
    said = " and ".join(filter(None, [", ".join(answers[:-1]), answers[-1]]))
    return Finding("carried-several" if len(wrong) > 1 else "carried", {"parts": ",".join(wrong), "answers": said})


def _shared(judged: Judgement, other: Judgement) -> bool:
    """Say whether one slip explains both answers; the value that the record gives it here is then what follows."""
    slips = {diagnosis.slip for diagnosis in judged.diagnoses} & {diagnosis.slip for diagnosis in other.diagnoses}
    return any(not slip.startswith(_AT_THE_END) for slip in slips)


def _refused(part: Part, judged: Judgement) -> str:
    """Say why a wrong answer is not carried forward; empty where it is."""
    value = judged.value
    if value is None:
        return "no-number"
    if value in {0, 1}:
        return "trivial"
    if value < 0:
        return "negative"
    if part.kind == "count" and value.denominator != 1:
        return "fraction"
    key = exact_value(part.key or "0") if not judged.diagnoses else 0
    return "far" if key and not Fraction(key, FAR) <= value <= key * FAR else ""


@dataclass(slots=True)
class _Earlier:
    """What was answered before to the parts of an exercise."""

    exercise: Exercise
    before: Before
    _last: dict[str, Judgement] = field(default_factory=dict)

    def last(self, letter: str) -> Judgement:
        """Judge the last answer to a part that can be read; an unreadable one where there is none."""
        if letter not in self._last:
            part = self.exercise.part(letter)
            found = (judge(part, text) for text in reversed(self.before.get(letter, ())))
            self._last[letter] = next((j for j in found if j.verdict != INVALID), Judgement(INVALID, Fraction(0)))
        return self._last[letter]

    def wrong(self, way: str) -> list[str]:
        """Return the parts from which something follows in this way and that were answered wrongly."""
        found: set[str] = set()
        for letter in self._letters(way):
            judged = self.last(letter)
            if judged.verdict == INCORRECT:
                found.add(letter)
            elif judged.verdict == INVALID:
                found.update(*(self.wrong(other) for other in self.exercise.part(letter).follows))
        return sorted(found)

    def leads_to(self, part: Part, way: str, judged: Judgement) -> bool:
        """Say whether an answer is what its part comes to in this way with the earlier ones."""
        near = nearness_of(part)
        for value in self._values(way):
            if judged.value is None:
                if value is None or (value == 0 and part.zero_is_none):
                    return True
            elif value is not None and near.near_value(judged.value, value):
                return True
        return False

    def _values(self, way: str) -> Iterator[Value]:
        """Give what comes of a way with the earlier answers, as they were typed first."""
        letters = self._letters(way)
        for chosen in islice(product(*(self._meant(letter) for letter in letters)), MOST):
            known = dict(zip(letters, chosen, strict=True))
            if None in known.values():
                yield None
                continue
            value = exact(self._formula(way), [known.get(part.part) or 0 for part in self.exercise.parts])
            yield None if value is None or value < 0 else value

    def _meant(self, letter: str) -> list[Value]:
        """Return what the learner may have gone on with: the answer as typed, and exactly that of each slip in it."""
        part, judged = self.exercise.part(letter), self.last(letter)
        if judged.verdict == INCORRECT:
            slips = {diagnosis.slip for diagnosis in judged.diagnoses}
            exactly = (exact_value(slip.value) for slip in part.slips if slip.slip in slips and slip.value)
            return list(dict.fromkeys([judged.value, *exactly]))
        if judged.verdict == INVALID and part.follows:
            return list(dict.fromkeys(value for way in part.follows for value in self._values(way)))
        return [None if part.key is None else exact_value(part.key)]

    def _letters(self, way: str) -> list[str]:
        """Return the letters of the parts that stand in an expression."""
        places = {int(value) for kind, value in self._formula(way).program if kind == "symbol"}
        return [part.part for place, part in enumerate(self.exercise.parts) if place in places]

    def _formula(self, way: str) -> Formula:
        return read_formula(way, tuple(part.part for part in self.exercise.parts))
