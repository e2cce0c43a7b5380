"""The single ways in which a derivation goes wrong: a law misused, a given misread, a result misprinted.

Each fault has a plausibility of one in so many. They come from published mistakes: a few slips explain most wrong
numbers, and a dimension taken from another model can explain almost any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy

from grader.amounts import significant
from grader.diagnosing.derivation import vocabulary
from grader.diagnosing.fault import Fault, in_place, number, slug_of, words
from grader.diagnosing.given_faults import of_givens
from grader.diagnosing.print_faults import of_print
from grader.diagnosing.rounding import WrongSide, unrounded
from spec.chain import Link
from spec.laws import Slip
from spec.quantities import Quantity
from spec.solving import Exact
from spec.units import BASES

Values = Mapping[str, Exact]

USUAL = 10  # a slip of a law that has no number of its own here
LAW_SLIPS = {
    "hidden-for-kv-width": 3,
    "query-heads-for-kv-heads": 3,
    "values-forgotten": 4,
    "window-ignored": 3,
    "one-head": 12,
    "layers-forgotten": 20,
    "queries-cached": 20,
    "projections-cached": 20,
    "latent-as-heads": 4,
    "hidden-for-latent": 4,
    "latent-as-one-head": 6,
    "layers-only": 5,
    "active-for-total": 4,
    "tied-counted-twice": 4,
    "embeddings-forgotten": 5,
    "norms-forgotten": 4,
    "window-on-all-layers": 6,
    "bits-as-bytes": 6,
    "wait-forgotten": 4,
    "ttft-forgotten": 5,
    "weights-forgotten": 6,
    "margin-forgotten": 6,
    "activations-forgotten": 6,
    "reserves-forgotten": 6,
    "training": 6,
    "one-operation": 6,
    "cache-unread": 5,
    "attention-forgotten": 5,
}
ROUNDED = {1: 10, 2: 8, 3: 12}  # figures that a number was rounded to on the way, and how rare that is
TYPED_FIGURES = range(3, 10)
MEASURED = tuple(BASES.index(base) for base in ("B", "s"))


def faults(
    goal: Quantity,
    steps: Sequence[Link],
    values: Values,
    units: Mapping[str, str],
    printed: str,
    others: Values | None = None,
    bits: Exact | None = None,
) -> list[Fault]:
    """List every single fault of a derivation; without steps, of a value that was looked up.

    `values` are the right numbers, givens and steps; `units` the units that givens were typed in; `printed` the unit
    of the published number; `others` the lengths typed with a K, read with the other K; `bits` the width of the number
    format that was named.
    """
    needed = {name for step in steps for name in step.needs} - {step.gives for step in steps} or {goal.name}
    in_laws = list(of_laws(steps, values))
    of_given = of_givens(needed, values, units, others or {}, bits, short=len(steps) < 2)  # noqa: PLR2004
    named = {fault.slug for fault in in_laws}
    return [
        *in_laws,
        *_of_rounding(steps, needed, values),
        *of_wrong_side(steps, values),
        *(fault for fault in of_given if fault.slug not in named),
        *of_print(goal, printed, values),
        *([] if steps else _of_typing(goal, values[goal.name])),
    ]


def of_laws(steps: Sequence[Link], values: Values) -> Iterator[Fault]:
    """Give the slips of the laws of a derivation, wherever they are slips with these values."""
    for i, step in enumerate(steps):
        for slip in step.law.slips:
            wrong = Link(step.law.with_slip(slip), step.gives)
            names = wrong.needs | (set() if slip.unless is None else {s.name for s in slip.unless.free_symbols})
            if step.gives in wrong.law.symbols and names <= values.keys() and slip.applies(values):
                one_in = LAW_SLIPS.get(slip.slug, USUAL)
                yield Fault(slip.slug, slip.sentence, one_in, _touched(step, slip), link=(i, wrong))


def _touched(step: Link, slip: Slip) -> frozenset[str]:
    """Say what a slip takes out of its law; slips that take out other factors or terms can occur together."""
    law = step.law
    if step.direct and law.right.is_Add and slip.instead.is_Add and set(slip.instead.args) < set(law.right.args):
        return frozenset(f"{term} in {law.name}" for term in set(law.right.args) - set(slip.instead.args))
    if not step.direct or not (_is_product(law.right) and _is_product(slip.instead)):
        return frozenset({f"law {law.name}"})
    ratio = sympy.Mul(slip.instead.doit(), sympy.Pow(law.right.doit(), -1)).doit()
    gone = {symbol.name for symbol in sympy.denom(ratio).free_symbols}
    return frozenset(gone) or frozenset({f"constant of {law.name}"})


def _is_product(side: Any) -> bool:
    return all(
        node.is_Symbol or node.is_Number or node.is_Mul or node.is_Pow for node in sympy.preorder_traversal(side)
    )


def _of_rounding(steps: Sequence[Link], needed: set[str], values: Values) -> Iterator[Fault]:
    """A size, a time or a result on the way that was rounded before it was used."""
    if not steps:
        return
    measured = {n for n in needed if any(vocabulary()[n].unit.dimension[i] for i in MEASURED)}
    for name in [*sorted(measured), *(step.gives for step in steps[:-1])]:
        for figures, one_in in ROUNDED.items():
            if significant(values[name], figures) != values[name]:
                said = f"{words(name)}: rounded to {figures} figure{'s' * (figures > 1)} before use."
                touched = frozenset({f"figures of {name}"})
                yield Fault(f"rounded-{slug_of(name)}", said, one_in, touched, rounds=(name, figures))
    if steps[-1].gives == "parameters":
        said, touched = "The name of the model was taken for its size.", frozenset({"figures of parameters"})
        for figures in (1, 2):
            yield Fault("size-from-the-name", said, 8, touched, rounds=("parameters", figures))


def of_wrong_side(steps: Sequence[Link], values: Values) -> Iterator[Fault]:
    """A capacity that was rounded up, or a need that was rounded down."""
    edge = unrounded(steps[-1], dict(values)) if steps else None
    if edge is not None:
        last = steps[-1]
        up = values[last.gives] < edge
        said = f"A {'capacity was rounded up' if up else 'need was rounded down'}."
        wrong = WrongSide(last.law, last.gives)
        touched = frozenset({f"law {last.law.name}"})
        yield Fault("rounded-to-the-wrong-side", said, 4, touched, link=(len(steps) - 1, wrong))


def _of_typing(goal: Quantity, right: Exact) -> Iterator[Fault]:
    """One digit of a whole number mistyped, or two neighbours swapped."""
    digits = str(right)
    if not digits.isdigit() or len(digits) not in TYPED_FIGURES:
        return
    mistyped = {digits[:i] + d + digits[i + 1 :] for i in range(len(digits)) for d in "0123456789"}
    mistyped |= {digits[:i] + digits[i + 1] + digits[i] + digits[i + 2 :] for i in range(len(digits) - 1)}
    for other in sorted(mistyped - {digits}):
        if not other.startswith("0"):
            said = f"A digit is mistyped: {number(int(other))} instead of {number(right)}."
            yield in_place("mistyped-digit", said, 4 * len(mistyped), goal.name, int(other))
