"""Published mistakes typed in as answers: each row of a table as an exercise of the family that asks for the same.

`python tests/diagnose_answers.py TABLE.tsv`; a table is that of `tests/diagnose_table.py`. A row that no family can
pose is said to be so: no family asks for its quantity, or the row does not say what the family's story needs.
"""

# ruff: noqa: T201  a script prints

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from jinja2 import UndefinedError

from grader.calc.givens import Unusable
from grader.cli.givens import catalog_rows, named_rows
from grader.diagnosing.question import asked, question
from grader.diagnosing.synonyms import spelled
from grader.exercise import Exercise, exact
from grader.families import family, slugs
from grader.family import Ask, Family, Menu
from grader.judging import CORRECT, INVALID, judge
from grader.judging.compound import TOGETHER, explained
from grader.posing import Undrawable
from spec.catalog import GPU, Model
from spec.quantities import quantities
from spec.solving import Exact
from tests.diagnose_table import MalformedTable, arguments, rows, slips

NEAR = Fraction(1, 100)  # how far the key of an exercise may lie from the right value of its row


@dataclass(frozen=True, slots=True)
class Answered:
    """A row as an exercise: its id, the family, the slips that were named, and what became of it."""

    row: Mapping[str, str]
    family: str
    named: tuple[str, ...]
    became: str


def asks(of: Family) -> Iterator[Ask]:
    """Give every question of a family."""
    yield from (*of.parts, *of.inverse)


def known(arguments: list[str]) -> tuple[str, dict[str, Exact]]:
    """Return the quantity that a row asks for, and what it gives for it, catalogue rows included."""
    number, _, goal, *rest = arguments
    options = dict(zip(rest[::2], rest[1::2], strict=False)) if rest[:1] and rest[0].startswith("--") else {}
    options = {name: value for name, value in options.items() if name in {"--model", "--gpu"}}
    values = rest[2 * len(options) :]
    quantity = asked(goal, number, values)
    rows_ = catalog_rows(None)
    model, gpu = (options.get(name) for name in ("--model", "--gpu"))
    its_model, its_gpu = named_rows(rows_, model and spelled(model, rows_.models), gpu and spelled(gpu, rows_.gpus))
    return quantity.name, _of_model(its_model) | _of_gpu(its_gpu) | question(quantity, values).given


def _of_model(model: Model | None) -> dict[str, Exact]:
    return {} if model is None else {n: v for n, v in model.quantities().items() if n in quantities()}  # type: ignore[misc]


def _of_gpu(gpu: GPU | None) -> dict[str, Exact]:
    if gpu is None:
        return {}
    found = {"gpu_memory": gpu.marketed, "bandwidth": gpu.bandwidth, "compute": gpu.compute}
    return {name: amount.base for name, amount in found.items()}


def posed(goal: str, given: Mapping[str, Exact], right: Fraction) -> Exercise | None:
    """Pose the question of a row in the first family that can, if its key is what is right."""
    menu = {
        name: (f"{exact(value)} {quantities()[name].unit.name}",)
        for name, value in given.items()
        if name in quantities() and name != goal
    }
    for slug in slugs():
        of = family(slug)
        if not isinstance(of, Family):
            continue
        for ask in asks(of):
            if ask.quantity.name != goal or ask.at:
                continue
            beside = {q.name: (_printed(of, q.name),) for q in of.also if q.name not in menu}
            try:
                point = replace(
                    of, asks=ask, inverse=(), given=Menu(**menu, **beside), keep=lambda _: True, preset=True
                )
                exercise = point.pose(slug, 0)
            except (Undrawable, LookupError, ValueError, UndefinedError, TypeError):
                continue
            key = exercise.parts[0].key
            factor = ask.quantity.unit.factor / ask.in_unit.factor
            if key is not None and abs(Fraction(key) - right * factor) <= NEAR * right * factor:
                return exercise
    return None


def _printed(of: Family, name: str) -> str:
    """Return what a family prints of a quantity that its question does not turn on."""
    amount = of.given.at(0).amounts[name]
    return f"{exact(amount.number)} {amount.unit.name}"


def answered(row: Mapping[str, str]) -> Answered:
    """Type the number of a row in as an answer."""
    typed = arguments(dict(row))
    try:
        goal, given = known(typed) if typed else ("", {})
    except (Unusable, LookupError) as error:
        return Answered(row, "", (str(error),), "cannot be posed")
    exercise = posed(goal, given, Fraction(row["right_value"])) if typed else None
    if exercise is None or typed is None:
        return Answered(row, "", (), "cannot be posed")
    part = exercise.parts[0]
    judged = explained(exercise, part, judge(part, typed[0]))
    named = tuple(d.slip for d in judged.diagnoses)
    return Answered(row, exercise.family, named, _became(row, judged.verdict, named))


def _became(row: Mapping[str, str], verdict: str, named: tuple[str, ...]) -> str:
    if verdict == INVALID:
        return "not read"
    if row["cause"] == "none":
        return "right" if verdict == CORRECT else "right called wrong"
    if verdict == CORRECT:
        return "within the tolerance"
    if not named:
        return "not named"
    wanted = [slips(part) for part in row["cause"].lower().split("+")]
    told = [set(name.split(TOGETHER)) for name in named]
    return "named" if any(all(some & one for some in wanted) for one in told) else "wrongly named"


def main(paths: list[str]) -> int:
    """Report on one table; 2 if there is none."""
    if len(paths) != 1:
        print("usage: python tests/diagnose_answers.py TABLE.tsv", file=sys.stderr)
        return 2
    try:
        found = [answered(row) for row in rows(Path(paths[0]))]
    except MalformedTable as error:
        print(error, file=sys.stderr)
        return 2
    for one in found:
        row = one.row
        print(f"{row['id']}  {one.became:20}  {one.family:20}  {row['cause']}  ->  {'; '.join(one.named)}")
    for confidence in ("high", "medium", "low"):
        counts = Counter(one.became for one in found if one.row["confidence"] == confidence)
        print(f"{confidence}: " + ", ".join(f"{count} {became}" for became, count in counts.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
