"""Simulated learners: what the grader makes of answers whose mistake is known, and of answers that have none.

`python tests/diagnose_learners.py [SEEDS]` prints a table over all families. Each learner makes one slip, or two at
once, or reckons badly, or answers at random; or is right, and writes it in another unit or notation.
"""

# ruff: noqa: T201  a script prints

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from grader.amounts import digits, significant
from grader.diagnosing.fault import Fault
from grader.exercise import NUMERIC, Exercise, Part, exact
from grader.families import family, slugs
from grader.feedback import may_be_chance
from grader.judging import CORRECT, Judgement, judge
from grader.judging.compound import TOGETHER, _search, explained
from grader.posing import reach
from spec.stream import Stream
from spec.units import TABLE, unit

FIGURES = 4  # that a learner gives where the answer need not be exact
ENOUGH = 3  # figures of a count by which two slips can be told from chance
PAIRS = 4  # of slips for each question
RANDOM = 6  # numbers for each question
PREFIXES = ("ms", "us", "min", "MB", "KiB", "MiB", "GiB", "kB", "ktoken", "Mtoken")


@dataclass(frozen=True, slots=True)
class Typed:
    """What a learner types, and the slips behind it: none where the answer is right, reckoned badly or random."""

    kind: str
    text: str
    slips: frozenset[str] = frozenset()


def written(part: Part, value: Fraction) -> str:
    """Write a value as a learner does: a count whole, an exact number in full, another to four figures."""
    if part.kind == "count" and value.denominator != 1:
        return str(round(value))
    return exact(value if part.kind == "count" or part.tolerance.kind == "exact" else significant(value, FIGURES))


def single(part: Part) -> Iterator[Typed]:
    """Give the answer that each slip of the record leads to."""
    for slip in part.slips:
        if slip.value is None:
            yield Typed("one slip", "none", frozenset({slip.slip}))
        elif part.kind not in NUMERIC:
            yield Typed("one slip, no number", slip.value, frozenset({slip.slip}))
        elif Fraction(slip.value) > 0 or part.key is not None:
            unrounded = part.kind == "count" and Fraction(slip.value).denominator != 1
            text = f"{float(Fraction(slip.value)):.2f}" if unrounded else written(part, Fraction(slip.value))
            yield Typed("not rounded" if unrounded else "one slip", text, frozenset({slip.slip}))


def pairs(exercise: Exercise, part: Part, stream: Stream) -> Iterator[Typed]:
    """Give what two slips of laws, units or rounding lead to together, unless one of them leads there too."""
    if part.key is None or not part.steps or part.kind not in NUMERIC:
        return
    search, factor = _search(exercise, part)
    alone = {search.value([fault]) for fault in search.single} | {search.value(())}
    able = [pair for pair in combinations(search.single, 2) if not pair[0].touches & pair[1].touches]
    for _ in range(min(PAIRS, len(able))):
        pair: tuple[Fault, Fault] = stream.choice(able)
        value = search.value(pair)
        if value is None or value <= 0 or value in alone:
            continue
        key = Fraction(part.key)
        if abs(Fraction(value) / factor - key) <= reach(key, part.tolerance):
            continue  # they undo each other, and the answer is right
        text = written(part, Fraction(value) / factor)
        short = part.kind == "count" and len(text) < ENOUGH
        yield Typed("two slips, small count" if short else "two slips", text, frozenset(fault.slug for fault in pair))


def chance(part: Part, stream: Stream) -> Iterator[Typed]:
    """Give numbers within a factor of ten of the key, and the key reckoned badly: digits swapped, a carry lost."""
    key = Fraction(part.key or 0)
    for _ in range(RANDOM):
        typed = written(part, key * _factor(stream))  # rounding can bring it near enough to be right
        if Fraction(typed) and abs(Fraction(typed) - key) > reach(key, part.tolerance, 1):
            yield Typed("random, said to be chance" if may_be_chance(part) else "random", typed)
    text = written(part, key)
    for i in range(len(text) - 1):
        swapped = text[:i] + text[i + 1] + text[i] + text[i + 2 :]
        if text[i : i + 2].isdigit() and abs(Fraction(swapped) - key) > reach(key, part.tolerance, 1):
            yield Typed("reckoned badly", swapped)
            return


def _factor(stream: Stream) -> Fraction:
    """Return a factor from 1/10 to 10, as likely in one half of the scale as in the other."""
    return Fraction(str(round(10 ** ((stream.below(20_001) - 10_000) / 10_000), 6)))


def right(part: Part) -> Iterator[Typed]:
    """Give the key in other notations and other units of its dimension."""
    if part.key is None:
        yield from (Typed("right", text) for text in ("none", "None.", "impossible", "no such value"))
        return
    key = Fraction(part.key)
    texts = [exact(key), f"{exact(key)} {part.unit}".strip(), f" {digits(key)} "]
    if key.denominator == 1:
        texts += [f"{key.numerator}.0", f"{key.numerator}e0", f"+{key.numerator}", f"{2 * key.numerator}/2"]
    elif "/" not in exact(key):
        texts += [f"{exact(key)}0", f"{exact(key * 1000)}e-3", f"{exact(key * 10)}/10"]
    for name in PREFIXES if part.unit else ():
        if unit(name).same_dimension(unit(part.unit)):
            value = key * unit(part.unit).factor / TABLE[name].factor
            texts.append(f"{exact(value)} {name}" if "/" not in exact(value) else f"{value} {name}")
    yield from (Typed("right", text) for text in texts)


def outcome(typed: Typed, judged: Judgement) -> str:
    """Say what became of an answer."""
    if typed.kind == "right":
        return "named" if judged.verdict == CORRECT else "WRONG VERDICT"
    if judged.verdict == CORRECT:
        return "WRONG VERDICT"
    told = [frozenset(d.slip.split(TOGETHER)) for d in judged.diagnoses]
    if not told:
        return "not named"
    if not typed.slips:
        return "named though there is none"
    if typed.slips not in told:
        return "named otherwise"
    return "named" if len(told) == 1 else "named among several"


def learners(exercise: Exercise, part: Part) -> Iterator[Typed]:
    """Give all learners of a part."""
    stream = Stream("learners", exercise.id, part.part)
    yield from single(part)
    if part.kind in NUMERIC:
        yield from right(part)
        yield from pairs(exercise, part, stream)
        if part.key is not None:
            yield from chance(part, stream)


def table(seeds: int) -> dict[str, Counter[str]]:
    """Judge the answers of all learners to the first seeds of every family."""
    found: dict[str, Counter[str]] = {}
    for slug in slugs():
        for seed in range(1 if family(slug).preset else seeds):
            exercise = family(slug).pose(slug, seed)
            for part in exercise.parts:
                for typed in learners(exercise, part):
                    judged = explained(exercise, part, judge(part, typed.text))
                    became = outcome(typed, judged)
                    if became == "WRONG VERDICT":
                        print(f"{exercise.id} {part.part}: {typed}: {judged.verdict}", file=sys.stderr)
                    found.setdefault(typed.kind, Counter())[became] += 1
    return found


OUTCOMES = (
    *("named", "named among several", "named otherwise", "named though there is none", "not named"),
    "WRONG VERDICT",
)


def main(arguments: list[str]) -> int:
    """Print the table; 1 if a verdict was wrong."""
    found = table(int(arguments[0]) if arguments else 20)
    print(f"{'learner':26}{'answers':>8}  " + "  ".join(OUTCOMES))
    for kind, counts in sorted(found.items()):
        shares = "  ".join(f"{100 * counts[o] / counts.total():.1f} %".rjust(len(o)) for o in OUTCOMES)
        print(f"{kind:26}{counts.total():>8}  {shares}")
    return int(any(counts["WRONG VERDICT"] for counts in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
