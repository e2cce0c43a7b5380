"""Diagnosing a published number: is it right, and if not, which step went wrong?

A number is right if it agrees with what follows from the rest, within its printed rounding, under one of the readings
that people use; the reading is said. Else up to three faults are looked for that give it together. How an explanation
is told from the kind of hit that chance gives stands in `grader.diagnosing.search`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.diagnosing.derivation import SMALL, Derived, derivations
from grader.diagnosing.faults import faults
from grader.diagnosing.published import Published, read_published
from grader.diagnosing.question import Question
from grader.diagnosing.rounding import unrounded
from grader.diagnosing.search import Explanation, Search
from spec.catalog import GPU, Model
from spec.chain import follow
from spec.quantities import Quantity
from spec.solving import Exact, Infeasible
from spec.units import TABLE

__all__ = ["Diagnosis", "Explanation", "Published", "diagnose", "read_published"]

HALF = Fraction(1, 2)  # how far a count without decimals is open
GIB = TABLE["GiB"].factor / TABLE["GB"].factor


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a published number is.

    Attributes:
        quantity: what it measures.
        right: the right value, or why there is none.
        is_right: the number agrees with it, within its own rounding and that of what it was made from.
        published: the reading of the number that the verdict is about.
        explanations: the sets of faults that give it, the shortest first; empty if none is known.
        convention: what has to be understood for a right number to be right, or for the right value to follow.
    """

    quantity: Quantity
    right: Exact | Infeasible
    is_right: bool
    published: Published
    explanations: tuple[Explanation, ...] = ()
    convention: str = ""


def diagnose(
    readings: Sequence[Published], question: Question, model: Model | None = None, gpu: GPU | None = None
) -> Diagnosis:
    """Judge a published number and explain a wrong one.

    `readings` are the ways to read the number, of which one that is right is enough.

    Raises:
        Unusable: the quantity does not follow from what is given.
    """
    quantity = question.quantity
    ways = derivations(quantity, question.given, model, gpu, question.stated)
    main = ways[0]
    if isinstance(main.right, Infeasible):
        return Diagnosis(quantity, main.right, is_right=False, published=readings[0])
    halves = {**_rounded_rates(gpu, question.given), **question.halves}
    agreeing = _agreeing(readings, quantity, ways, halves, question.others)
    if agreeing is not None:
        return agreeing
    found: tuple[Explanation, ...] = ()
    for way, _ in [(main, ""), *_close(ways)]:
        found = found or _explanations(readings, question, way, gpu, halves)
    return Diagnosis(
        quantity, main.right, is_right=False, published=readings[0], explanations=found, convention=main.convention
    )


def _explanations(
    readings: Sequence[Published], question: Question, way: Derived, gpu: GPU | None, halves: Mapping[str, Fraction]
) -> tuple[Explanation, ...]:
    """Search for what gives the number, if the right value follows in this way."""
    name = question.quantity.name
    units = {**({"gpu_memory": "GB", "bandwidth": "GB/s"} if gpu else {}), **question.units}
    every = {**question.given, **way.every}
    if gpu is not None:
        every["compute_16bit"] = gpu.compute.base
    single = faults(question.quantity, way.steps, every, units, readings[0].unit, question.others, question.bits)
    search = Search(name, way.steps, {**every, **way.values}, single)
    return search.explain(readings, _slack(way, name, halves))


def _rounded_rates(gpu: GPU | None, given: Mapping[str, Exact]) -> dict[str, Fraction]:
    """Return how far the printed rates of a GPU leave them open."""
    rates = {} if gpu is None else {"compute": gpu.compute, "bandwidth": gpu.bandwidth}
    return {
        name: min(rate.unit.factor / 2 / 10 ** len(rate.text.partition(" ")[0].partition(".")[2]), rate.base / 400)
        for name, rate in rates.items()
        if name not in given
    }


def _agreeing(
    readings: Sequence[Published],
    quantity: Quantity,
    ways: Sequence[Derived],
    halves: Mapping[str, Fraction],
    others: Mapping[str, Exact],
) -> Diagnosis | None:
    """Return the verdict `right` if a reading of the number agrees with a way to the right value."""
    for way, words in _ways(ways, quantity, others):
        if isinstance(way.right, Infeasible):
            continue
        moves = _slack(way, quantity.name, halves)
        edge = unrounded(way.steps[-1], {**way.values, **way.every}) if way.steps else None
        for reading in readings:
            if edge is not None and reading.half < HALF and abs(reading.value - edge) <= reading.half + moves:
                said = "; ".join(filter(None, (reading.convention, words, "not rounded to a whole number")))
                return Diagnosis(quantity, edge, is_right=True, published=reading, convention=said)
            for right, part in _parts(way, way.right, reading):
                if abs(reading.value - right) <= max(reading.half, reading.loose) + moves:
                    said = "; ".join(filter(None, (reading.convention, words, part)))
                    return Diagnosis(quantity, right, is_right=True, published=reading, convention=said)
    return None


def _ways(ways: Sequence[Derived], quantity: Quantity, others: Mapping[str, Exact]) -> list[tuple[Derived, str]]:
    """Give the ways to the right value that may be meant: all that agree nearly, and a K of 1,000 for one of 1,024."""
    main = ways[0]
    found = [(main, main.convention), *_close(ways)]
    if others and main.steps:
        values = {**main.values, **{name: value for name, value in others.items() if name in main.values}}
        right = follow(main.steps, values)[quantity.name]
        words = "; ".join(filter(None, (main.convention, "K counts 1,000")))
        found.append((Derived(main.steps, values, main.known, right, words, main.every), words))
    numbers = {**main.every, **main.values}
    if quantity.name == "active_parameters" and isinstance(main.right, int) and not numbers.get("tied", 1):
        read = main.right - int(numbers["vocab"] * numbers["hidden"])
        words = "the embedding table is not counted"
        values = {**main.values, quantity.name: read}
        found.append((Derived((), values, main.known, read, words, main.every), words))
    return found


def _close(ways: Sequence[Derived]) -> list[tuple[Derived, str]]:
    """Give the simpler ways whose value is near that of the full one, but another."""
    main = ways[0]
    found: list[tuple[Derived, str]] = []
    for way in ways[1:]:
        if not isinstance(way.right, Infeasible) and not isinstance(main.right, Infeasible):
            low, high = sorted((Fraction(way.right), Fraction(main.right)))
            if low < high and low * SMALL[1] >= high * SMALL[0]:
                found.append((way, way.convention))
    return found


def _parts(way: Derived, right: Exact, reading: Published) -> Sequence[tuple[Exact, str]]:
    """Give the right value, or for a line of a server's log the half of the cache that one GPU holds."""
    if not reading.part:
        return [(right, "")]
    half = Fraction(right) / 2
    kept = "keys" if reading.part == "K" else "values"
    group = way.every.get("tensor_parallel", way.every.get("gpus", 1))
    found = [(half, f"only {kept} are counted"), (half / group, f"only {kept} are counted, on one GPU of {group}")]
    return found + [(value / GIB, f"{words}, and GB counts 2^30 bytes") for value, words in found]


def _slack(way: Derived, name: str, halves: Mapping[str, Fraction]) -> Fraction:
    """Add up how far the result moves when each rounded given moves by half its last digit."""
    total = Fraction(0)
    for given, half in halves.items():
        if half and given in way.values and not isinstance(way.right, Infeasible):
            values = {**way.values, given: way.values[given] + half}
            moved = follow(way.steps, values)[name] if way.steps else values[name]
            total += 0 if isinstance(moved, Infeasible) else abs(Fraction(moved) - way.right)
    return total
