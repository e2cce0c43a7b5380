"""What a wrong answer looks like: a known slip, a unit misread, a constant factor, a quantity left out, a wrong side.

An explanation counts where it gives the candidate's value at every point that was tried, and differs from the right
one at some.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

from spec.chain import Link, follow
from spec.conformance.answers import Nothing
from spec.conformance.asking import Asked, NoPoint, Right, Values
from spec.conformance.declared import Declared, known
from spec.conformance.judging import Reply
from spec.invariants.reference import Solver
from spec.mutants import Misread, mutants
from spec.solving import Exact, Infeasible, OutsideDomain, whole

FEWEST = 2  # points at which the candidate must be wrong as the explanation says
NEAR = Fraction(1, 10**8)
NOBODY_ASKS = "nobody asks whether a value exists"
MOST = 3  # explanations that are worth reading

# Factors with a name, on the candidate's value.
FACTORS: dict[Fraction, str] = {
    Fraction(1, 2): "exactly half of the right value",
    Fraction(2): "exactly twice the right value",
    Fraction(1, 8): "an eighth of the right value: bits taken for bytes, or bytes given where bits are asked",
    Fraction(8): "eight times the right value: bits given where bytes are asked",
    Fraction(60): "sixty times the right value: minutes and seconds exchanged",
    Fraction(1, 60): "a sixtieth of the right value: minutes and seconds exchanged",
    Fraction(100): "a hundred times the right value: percent given for a share",
    Fraction(1, 100): "a hundredth of the right value: a share given for percent",
}
PREFIXES = ("k", "M", "G", "T")


@dataclass(frozen=True, slots=True)
class Likeness:
    """One explanation.

    Attributes:
        slug: its stable name; that of the slip, where it is one.
        sentence: what seems to have gone wrong.
        laws: the laws in which it went wrong, where that is known.
    """

    slug: str
    sentence: str
    laws: tuple[str, ...] = ()


def looks_like(replies: Sequence[Reply], declared: Declared) -> list[Likeness]:
    """Explain the wrong answers to one question, given all answers to it, the right ones included."""
    numbers = [r for r in replies if not isinstance(r.got, Nothing) and r.asked.steps]
    wrong = [r for r in numbers if r.wrong]
    if not wrong:
        return [*_of_none([r for r in replies if r.wrong]), *_of_bound(replies)][:MOST]
    law = (wrong[0].asked.law.name,)
    negative = [r for r in wrong if isinstance(r.right, Infeasible) and r.got < 0]  # type: ignore[operator]  # a number
    unasked = [Likeness("negative", f"{NOBODY_ASKS}: a negative number is given where there is none", law)]
    if len(negative) == len(wrong):
        return unasked
    near = max(NEAR, declared.tolerance(wrong[0].asked.name))
    found = [*_of_factor(wrong, numbers, near), *_first(_of_slips(wrong[0].asked), numbers, near, MOST)]
    if not found:
        kinds = [_of_two_slips, _of_givens, _of_rounding, _of_mutants]
        found = next((f for kind in kinds if (f := _first(kind(wrong[0].asked), numbers, near, 1))), [])
    return [*found[:MOST], *(unasked if negative else [])]


Explanation = tuple[Likeness, Callable[[Values], Right]]


def _first(explanations: Iterator[Explanation], replies: Sequence[Reply], near: Fraction, most: int) -> list[Likeness]:
    """Return the first explanations of those that miss the fewest answers."""
    found = [(likeness, _misses(predicts, replies, near)) for likeness, predicts in explanations]
    fewest = min((misses for _, misses in found if misses is not None), default=None)
    return [likeness for likeness, misses in found if misses is not None and misses == fewest][:most]


def _misses(predicts: Callable[[Values], Right], replies: Sequence[Reply], near: Fraction) -> int | None:
    """Return how many answers an explanation misses, or None where it explains too few."""
    # A quotient that is whole but for the rounding of floats may be floored to either side.
    differing, missed, spare = 0, 0, len(replies) // 20 if replies[0].asked.counts else 0
    for reply in replies:
        if isinstance(reply.right, Infeasible):
            continue  # where there is no value, what stands for it says nothing
        try:
            there = predicts(reply.values)
        except (NoPoint, OutsideDomain, ZeroDivisionError, TypeError, ValueError):
            return None
        if isinstance(there, Infeasible):
            return None
        if _close(reply.got, there, near):  # type: ignore[arg-type]  # Nothing is left out above
            differing += bool(reply.wrong)
        elif missed < spare:
            missed += 1
        else:
            return None
    return missed if differing >= FEWEST else None


def _close(one: Exact, other: Exact, near: Fraction) -> bool:
    return abs(Fraction(one) - other) <= near * abs(Fraction(other))


def _of_none(wrong: Sequence[Reply]) -> list[Likeness]:
    if wrong and all(isinstance(r.got, Nothing) for r in wrong):
        said = wrong[0].got.words  # type: ignore[union-attr]  # Nothing, as just seen
        return [
            Likeness("none", f"it says that there is no value ({said}), where there is one", (wrong[0].asked.law.name,))
        ]
    return []


def _of_bound(replies: Sequence[Reply]) -> list[Likeness]:
    """Explain a wrong judgement of a bound by a slip of it."""
    asked = replies[0].asked
    if asked.steps:
        return []
    found = []
    for slip in asked.law.slips:
        law = asked.law.with_slip(slip)
        if law.symbols.keys() <= asked.law.symbols.keys() and all(
            bool(law(**{n: r.values[n] for n in law.symbols})) == r.got for r in replies
        ):
            found.append(Likeness(slip.slug, slip.sentence, (asked.law.name,)))
    if not found and all(r.got for r in replies if r.wrong) == any(r.got for r in replies if r.wrong):
        edge = [r for r in replies if r.wrong and asked.law.room(**{n: r.values[n] for n in asked.law.symbols}) == 0]
        if len(edge) == sum(bool(r.wrong) for r in replies):
            words = (
                "what is just enough is taken for too little" if asked.law.relation == "<=" else "equality is allowed"
            )
            found.append(Likeness("edge", words, (asked.law.name,)))
    return found


def _of_slips(asked: Asked) -> Iterator[Explanation]:
    for i, step in enumerate(asked.steps):
        for slip in step.law.slips:
            wrong = Link(step.law.with_slip(slip), step.gives)
            if step.gives in wrong.law.symbols:
                steps = (*asked.steps[:i], wrong, *asked.steps[i + 1 :])
                yield Likeness(slip.slug, slip.sentence, (step.law.name,)), _follows(asked, steps)


def _of_two_slips(asked: Asked) -> Iterator[Explanation]:
    """Give the answers for two slips in different steps of a chain."""
    wrongs = [
        (i, slip, Link(step.law.with_slip(slip), step.gives))
        for i, step in enumerate(asked.steps)
        for slip in step.law.slips
    ]
    usable = [(i, slip, wrong) for i, slip, wrong in wrongs if wrong.gives in wrong.law.symbols]
    for (i, slip, wrong), (j, other, also) in combinations(usable, 2):
        if i != j:
            steps = list(asked.steps)
            steps[i], steps[j] = wrong, also
            laws = (asked.steps[i].law.name, asked.steps[j].law.name)
            both = Likeness(f"{slip.slug} and {other.slug}", f"{slip.sentence} {other.sentence}", laws)
            yield both, _follows(asked, tuple(steps))


def _follows(asked: Asked, steps: tuple[Link, ...]) -> Callable[[Values], Right]:
    def predicted(values: Values) -> Right:
        missing = {n for step in steps for n in step.needs} - {step.gives for step in steps} - values.keys()
        if missing:
            raise NoPoint(", ".join(missing))
        return asked.followed(steps, values, raw=True)

    return predicted


def _of_factor(wrong: Sequence[Reply], numbers: Sequence[Reply], near: Fraction) -> list[Likeness]:
    """Find one factor between the candidate's values and the right ones."""
    pairs = [(r.got, r.right) for r in numbers if not isinstance(r.right, Infeasible)]
    ratios = [Fraction(got) / right for got, right in pairs if right]  # type: ignore[arg-type]  # numbers, as above
    floored = wrong[0].asked.counts and not wrong[0].asked.law.is_identity
    if floored or len(ratios) < FEWEST or any(got and not right for got, right in pairs):
        return []
    ratio = ratios[0]
    if _close(ratio, 1, near) or any(abs(other - ratio) > near * abs(ratio) for other in ratios):
        return []
    words = next((text for factor, text in (FACTORS | _prefixes()).items() if _close(ratio, factor, near)), "")
    if not words:
        simple = ratio.limit_denominator(1000)
        if not _close(ratio, simple, near):
            return []
        words = f"{simple} times the right value at every point"
    return [Likeness("factor", words, (wrong[0].asked.law.name,))]


@cache
def _prefixes() -> dict[Fraction, str]:
    """Name the factors between units of data."""
    found = {}
    for power, prefix in enumerate(PREFIXES, 1):
        decimal, binary = ("kB", "KiB") if prefix == "k" else (f"{prefix}B", f"{prefix}iB")
        for over, under, words in (
            (1024**power, 1000**power, f"2^{10 * power} is used for 10^{3 * power}, {binary} for {decimal}"),
            (1000**power, 1024**power, f"10^{3 * power} is used for 2^{10 * power}, {decimal} for {binary}"),
            (1000**power, 1, f"a unit prefix is off by 10^{3 * power}"),
            (1, 1000**power, f"a unit prefix is off by 10^{3 * power}"),
            (1024**power, 1, f"a unit prefix is off by 2^{10 * power}"),
            (1, 1024**power, f"a unit prefix is off by 2^{10 * power}"),
        ):
            found[Fraction(over, under)] = words
    return found


def _of_givens(asked: Asked) -> Iterator[Explanation]:
    """Give the answers for one given that was left out or read in another unit."""
    for name in asked.given:
        quantity = known()[name]
        for fixed in (0, 1):
            words = f"{name} seems not to be used: the values are those for {name} = {fixed}"
            yield Likeness(f"{name.replace('_', '-')}-unused", words), _with(asked, name, Fraction(0), fixed)
        for factor, words in _readings(quantity.unit.dimension):
            yield (
                Likeness(f"{name.replace('_', '-')}-unit", f"{name} seems to be read in another unit: {words}"),
                _with(asked, name, factor, 0),
            )


def _readings(dimension: tuple[int, ...]) -> Iterator[tuple[Fraction, str]]:
    if dimension[0] == 1:
        yield Fraction(8), "bytes are read as bits"
        yield Fraction(1, 8), "bits are read as bytes"
        yield from _prefixes().items()
    elif dimension[1]:
        for times in (60, 1000, 3600):
            yield Fraction(times), f"it is taken {times} times as large"
            yield Fraction(1, times), f"it is taken {times} times as small"
    elif not any(dimension):
        yield Fraction(1, 100), "a share is divided by 100, as if it were percent"
        yield Fraction(100), "percent are used as a share"


def _with(asked: Asked, name: str, factor: Fraction, more: int) -> Callable[[Values], Right]:
    return lambda values: asked.followed(asked.steps, {**values, name: whole(values[name] * factor + more)}, raw=True)


def _of_rounding(asked: Asked) -> Iterator[Explanation]:
    """Give the extreme value of a bound rounded otherwise, or not at all."""
    last = asked.steps[-1]
    if not asked.counts or last.law.is_identity:
        return
    maximum = (last.law.senses[asked.name] or 0) < 0
    should = "it should be rounded down" if maximum else "it should be rounded up"
    unrounded = _solved(asked, Misread(last.law, last.gives, "unrounded"))
    ways: list[tuple[str, Callable[[Fraction], Exact]]] = [
        ("rounded to the nearest whole number", round),
        ("rounded up", math.ceil),
        ("rounded down", math.floor),
        ("not rounded", whole),
    ]
    for words, way in ways:
        yield Likeness("rounding", f"{words}; {should}", (last.law.name,)), _rounded(unrounded, way)


def _rounded(unrounded: Callable[[Values], Right], way: Callable[[Fraction], Exact]) -> Callable[[Values], Right]:
    def predicted(values: Values) -> Right:
        found = unrounded(values)
        return found if isinstance(found, Infeasible) else way(Fraction(found))

    return predicted


def _of_mutants(asked: Asked) -> Iterator[Explanation]:
    """Give what the last law says with one small fault, rounding to the wrong side and not rounding among them."""
    last = asked.steps[-1]
    for mutant in mutants(last.law):
        if last.gives in mutant.faulty.symbols and not mutant.same:
            words = f"as if the law were changed by one thing: {mutant.change}"
            yield Likeness("mutant", words, (last.law.name,)), _solved(asked, mutant.faulty)


def _solved(asked: Asked, law: Solver) -> Callable[[Values], Right]:
    name = asked.steps[-1].gives

    def predicted(values: Values) -> Right:
        numbers = follow(asked.steps[:-1], dict(values)) if len(asked.steps) > 1 else values
        if any(isinstance(number, Infeasible) for number in numbers.values()):
            raise NoPoint(name)
        return law.solve(name, **{n: numbers[n] for n in law.symbols if n != name})

    return predicted
