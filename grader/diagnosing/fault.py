"""A single way in which a number goes wrong, and the words for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from grader.diagnosing.derivation import vocabulary
from spec.chain import Link
from spec.solving import Exact, whole


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """One fault.

    Attributes:
        slug: its stable name.
        sentence: what went wrong.
        one_in: how rare it is: one in so many wrong numbers.
        touches: what it changes; two faults of one derivation never touch the same.
        link: a step followed by a wrong law, with its place in the chain. Several of one step multiply what they
            change of its result.
        givens: givens with other values.
        rounds: a given or a result on the way, and the significant figures it was rounded to before it was used.
        factor: what the result is multiplied by.
    """

    slug: str
    sentence: str
    one_in: int
    touches: frozenset[str]
    link: tuple[int, Link] | None = None
    givens: tuple[tuple[str, Exact], ...] = ()
    rounds: tuple[str, int] | None = None
    factor: Fraction = Fraction(1)


def in_place(slug: str, sentence: str, one_in: int, name: str, value: Exact) -> Fault:
    """Return the fault of a given that has another value."""
    return all_in_place(slug, sentence, one_in, {name: value})


def all_in_place(slug: str, sentence: str, one_in: int, values: Mapping[str, Exact]) -> Fault:
    """Return the fault of several givens that have other values."""
    return Fault(
        slug, sentence, one_in, frozenset(values), givens=tuple((name, whole(value)) for name, value in values.items())
    )


def scaled(slug: str, sentence: str, one_in: int, touches: Iterable[str], factor: Exact) -> Fault:
    """Return the fault of a result that was multiplied by something."""
    return Fault(slug, sentence, one_in, frozenset(touches), factor=Fraction(factor))


def number(value: Exact) -> str:
    """Print a number of a sentence: whole numbers with separators, others short."""
    return f"{int(value):,}" if Fraction(value).denominator == 1 else f"{float(value):.4g}"


def words(name: str) -> str:
    """Return the meaning of a quantity as the beginning of a sentence."""
    says = vocabulary()[name].says
    return says[0].upper() + says[1:]


def slug_of(name: str) -> str:
    """Return a name as a part of a slug."""
    return name.replace("_", "-")
