"""The padding of a batch: `padding_waste(lengths)`, which takes a list and so is no law of quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from spec.conformance.answers import Fault, Number, Unsupported
from spec.conformance.candidate import Candidate
from spec.conformance.shrinking import fewer
from spec.invariants.draws import Among, Draw, Grid, sample
from spec.serving.padding import padded_tokens, padding_waste

FUNCTION = "padding_waste"
LAW = "padding-of-lengths"
SAYS = "The share of a padded batch that is padding is 1 - sum / (number x longest)."
LENGTHS = 8
NEAR = Fraction(1, 10**9)

Lengths = Sequence[int]
KNOWN: tuple[tuple[str, Callable[[Lengths], Fraction]], ...] = (
    (
        "padding over the useful tokens; the share is taken of all token slots",
        lambda lengths: Fraction(padded_tokens(lengths) - sum(lengths), sum(lengths)),
    ),
    ("the share that is useful, not the share that is wasted", lambda lengths: Fraction(1) - padding_waste(lengths)),
    ("the number of padded tokens, not their share", lambda lengths: Fraction(padded_tokens(lengths) - sum(lengths))),
    ("percent for a share", lambda lengths: Fraction(100 * padding_waste(lengths))),
)


def applies(candidate: Candidate) -> bool:
    """Say whether a candidate has the function, and it takes a list of lengths."""
    return any(way.accepts({"lengths"}) and not way.anything for way in candidate.takes(FUNCTION))


def check(candidate: Candidate, examples: int) -> tuple[str | Fault, list[str]]:
    """Compare the function with the definition.

    Returns:
        The shrunk counterexample with both values in words, or a fault, or "" where there is neither; and what the
        wrong values look like.
    """
    tolerance = candidate.declared.tolerance(FUNCTION)

    def answer(lengths: Lengths) -> Fraction | Fault | None:
        found = candidate.call(FUNCTION, {"lengths": list(lengths)})
        if isinstance(found, Number):
            return Fraction(found.value)
        return found if isinstance(found, Fault) else None

    def differs(lengths: Lengths) -> bool:
        found, right = answer(lengths), Fraction(padding_waste(lengths))
        return not isinstance(found, Fault) and (found is None or abs(found - right) > max(tolerance * right, NEAR))

    tried = list(_batches(examples))
    if isinstance(candidate.call(FUNCTION, {"lengths": [1]}), Unsupported):
        return "", []
    found = {lengths: answer(lengths) for lengths in tried}
    for fault in found.values():
        if isinstance(fault, Fault):
            return fault, []
    wrong = next((lengths for lengths in tried if differs(lengths)), None)
    if wrong is None:
        return "", []
    small = _shorter(fewer(wrong, lambda some: bool(some) and differs(some)), differs)
    said = answer(small)
    value = "no value" if said is None or isinstance(said, Fault) else _number(said)
    told = f"padding_waste(lengths={small}) is {value}; right is {_number(Fraction(padding_waste(small)))}"
    return told, [
        words for words, of in KNOWN if all(found[lengths] == _close(found[lengths], of(lengths)) for lengths in tried)
    ]


def _close(found: Fraction | Fault | None, known: Fraction) -> Fraction | Fault | None:
    """Return what was found where it is the known value but for rounding, else the known value."""
    near = isinstance(found, Fraction) and abs(found - known) <= NEAR * max(abs(known), Fraction(1))
    return found if near else known


def _batches(count: int) -> Iterator[tuple[int, ...]]:
    draws: dict[str, Draw] = {str(i): Grid(1, 40) for i in range(LENGTHS)}
    draws |= {"count": Grid(1, LENGTHS), "times": Among((1, 1, 128))}
    for values in sample(draws, count, LAW):
        lengths = [int(values[str(i)]) * int(values["times"]) for i in range(int(values["count"]))]
        yield tuple(lengths)


def _shorter(lengths: list[int], fails: Callable[[Lengths], bool]) -> list[int]:
    for i in range(len(lengths)):
        for smaller in range(1, min(lengths[i], 41)):
            tried = [*lengths[:i], smaller, *lengths[i + 1 :]]
            if fails(tried):
                lengths = tried
                break
    return lengths


def _number(value: Fraction) -> str:
    return str(value) if value.denominator < 10**6 else f"{float(value):.6g}"
