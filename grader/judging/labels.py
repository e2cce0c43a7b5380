"""Judging labels: one, a set of them, or a sequence."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from grader.exercise import Part
from grader.judging.judgement import (
    CORRECT,
    FULL,
    INCORRECT,
    PARTIAL,
    ZERO,
    Diagnosis,
    Finding,
    Judgement,
    value_given,
    without_value,
)
from grader.reading.absence import says_no_value
from grader.reading.choice import labels_of, read_labels
from grader.reading.text import Unreadable

LONGEST = 200
NONE = "none"


def _labels(part: Part, typed: str) -> tuple[str, ...] | None:
    """The labels that were typed, None for words that no such value exists."""
    if len(typed) > LONGEST:
        raise Unreadable("too-long", about={"limit": str(LONGEST)})
    if not typed:
        raise Unreadable("blank")
    try:
        return read_labels(typed, part.options or labels_of(part.key))
    except Unreadable:
        # Where a label says no itself, which of the two a word such as "cannot" means is not guessed.
        if says_no_value(typed) and (typed.casefold() == NONE or not any(map(_says_no, part.options))):
            return None
        raise


def _says_no(label: str) -> bool:
    return label == "no" or says_no_value(label)


def judge_choice(part: Part, typed: str) -> Judgement:
    """Judge one label.

    Raises:
        Unreadable: it is none, or there are several.
    """
    try:
        labels = _labels(part, typed)
    except Unreadable as complaint:
        if part.options or complaint.why != "unknown-label" or not typed[:1].isalnum():
            raise
        return Judgement(INCORRECT, ZERO, typed, typed=typed)
    if labels is None:
        return without_value(part, typed)
    if len(labels) > 1:
        raise Unreadable("one-label", about={"labels": ", ".join(labels)})
    if part.key is None:
        return value_given(part, labels[0], typed, diagnoses=_slips_of(part, labels))
    if labels == labels_of(part.key) or labels[0] == part.key:
        return Judgement(CORRECT, FULL, labels[0], typed=typed)
    return Judgement(INCORRECT, ZERO, labels[0], _slips_of(part, labels), typed=typed)


def judge_choices(part: Part, typed: str) -> Judgement:
    """Judge a set of labels; a part of the right ones earns a part of the score, a wrong one takes as much away.

    Raises:
        Unreadable: a word is no label.
    """
    labels = _labels(part, typed)
    if labels is None:
        return without_value(part, typed)
    chosen = tuple(dict.fromkeys(labels))
    reading = ", ".join(chosen)
    if part.key is None:
        return value_given(part, reading, typed, diagnoses=_slips_of(part, chosen))
    key = set(labels_of(part.key))
    hits, extra = len(key & set(chosen)), len(set(chosen) - key)
    score = max(ZERO, Fraction(hits - extra, len(key)))
    if hits == len(key) and not extra:
        return Judgement(CORRECT, FULL, reading, typed=typed)
    about = {"right": str(hits), "of": str(len(key)), "extra": str(extra)}
    verdict = PARTIAL if score else INCORRECT
    return Judgement(verdict, score, reading, _slips_of(part, chosen), (Finding("labels", about),), typed)


def judge_sequence(part: Part, typed: str) -> Judgement:
    """Judge labels in order.

    Raises:
        Unreadable: a word is no label.
    """
    labels = _labels(part, typed)
    if labels is None:
        return without_value(part, typed)
    reading = ", ".join(labels)
    reading = reading if len(reading) <= LONGEST else typed
    if part.key is None:
        return value_given(part, reading, typed, diagnoses=_slips_of(part, labels))
    key = labels_of(part.key)
    if labels == key:
        return Judgement(CORRECT, FULL, reading, typed=typed)
    wrong = next((i for i, (a, b) in enumerate(zip(labels, key, strict=False)) if a != b), min(len(labels), len(key)))
    about = {"place": str(wrong + 1), "given": str(len(labels)), "wanted": str(len(key))}
    return Judgement(INCORRECT, ZERO, reading, _slips_of(part, labels), (Finding("order", about),), typed)


def _slips_of(part: Part, labels: tuple[str, ...]) -> tuple[Diagnosis, ...]:
    """The slips that give these labels, in this order in a sequence and in any order elsewhere."""
    arrange: Callable[[tuple[str, ...]], object] = tuple if part.kind == "sequence" else frozenset
    return tuple(
        Diagnosis(s.slip, s.sentence) for s in part.slips if s.value and arrange(labels_of(s.value)) == arrange(labels)
    )
