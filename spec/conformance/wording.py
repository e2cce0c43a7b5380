"""The words for what was found: numbers with units, a counterexample, both values, what it looks like."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from spec.conformance.answers import Nothing
from spec.conformance.asking import Right, Values
from spec.conformance.declared import Declared, known
from spec.conformance.judging import ANOTHER, Reply
from spec.conformance.looks_like import Likeness
from spec.conformance.suite import Failure, Useless
from spec.index import laws
from spec.solving import Exact, Infeasible
from spec.units import unit

DIGITS = 12
TINY = Fraction(1, 10**4)
COUNTED = frozenset({"token", "sequence", "request"})
LONGEST = 120  # characters of a formula that is printed with its law


def number(value: Exact) -> str:
    """Print a number: whole or decimal where that is exact, else as a quotient, else rounded."""
    exact = Fraction(value)
    if exact.denominator == 1:
        return f"{exact.numerator:,}"
    decimal = f"{float(exact):.{DIGITS}g}"
    if "e" not in decimal and Fraction(decimal) == exact:
        return decimal
    return f"{float(exact):.{DIGITS // 2}g}" if exact.denominator > 10**4 else str(exact)


def amount(name: str, value: Exact, declared: Declared) -> str:
    """Print a value of a quantity in the unit in which the candidate states it, or in its own where that is tiny."""
    stated = declared.stated(name, value)
    if 0 < abs(Fraction(stated)) < TINY:
        return f"{number(value)} {known()[name].unit.name}"
    name_of_unit, shown = declared.unit_name(name), number(stated)
    if name_of_unit in COUNTED and stated != 1:
        name_of_unit += "s"
    measured = any(unit(declared.unit_name(name)).dimension) or name in declared.units
    return f"{shown} {name_of_unit}" if measured else shown


def call(reply: Reply, declared: Declared) -> str:
    """Print a call with its values; what the candidate assumes stands after it."""
    passed = [f"{n}={amount(n, reply.values[n], declared)}" for n in reply.asked.given if n in reply.asked.passed]
    fixed = [f"{n}={amount(n, reply.values[n], declared)}" for n in reply.asked.given if n not in reply.asked.passed]
    return f"{reply.asked.name}({', '.join(passed)})" + (f" with {', '.join(fixed)}" if fixed else "")


def point(values: Values, declared: Declared) -> str:
    """Print a counterexample."""
    return ", ".join(f"{n} = {amount(n, v, declared) if n in known() else number(v)}" for n, v in values.items())


def answer(got: Right | Nothing, reply: Reply, declared: Declared) -> str:
    """Print an answer, the candidate's or the right one."""
    if isinstance(got, bool):
        return "True" if got else "False"
    if isinstance(got, Nothing):
        return f"no value ({got.words})" if got.words != "None" else "None"
    if isinstance(got, Infeasible):
        return _none(got, reply.asked.name, declared)
    return amount(reply.asked.name, got, declared)


def _none(right: Infeasible, name: str, declared: Declared) -> str:
    if right.why == "unbounded":
        return "that there is no limit"
    if right.why == "above":
        return f"that none exists: it would be more than {known()[name].domain.high}"
    if right.deficit is None or right.why not in {"below", "broken"} or right.deficit <= 0:
        return "that none exists"
    same = right.unit == known()[name].unit.name
    lacking = amount(name, right.deficit, declared) if same else f"{number(right.deficit)} {right.unit}"
    return f"that none exists: {lacking} too little"


def law_in_words(name: str) -> str:
    """Return what a law says, with its formula where that is short."""
    if name not in laws():
        return ""
    law = laws()[name]
    formula = law.text()
    return f"{law.says} {formula}" if len(formula) <= LONGEST else law.says


def likely(found: Sequence[Likeness]) -> str:
    """Print what a fault looks like."""
    words = [like.sentence.rstrip(".") + (f" ({like.slug})" if like.sentence.endswith(".") else "") for like in found]
    return "; ".join(words)


def told(failure: Failure, declared: Declared) -> list[str]:
    """Return the sentences that tell a failure: the counterexample with both values, and what it looks like."""
    lines = []
    if failure.told:
        lines.append(f"{failure.told}.")
    if failure.reply is not None:
        reply = failure.reply
        if failure.check != reply.asked.call:
            lines.append(f"Counterexample: {point(failure.point, declared)}.")
        got, right = (answer(value, reply, declared) for value in (reply.got, reply.right))
        lines.append(f"{call(reply, declared)} is {got}; right is {right}.")
        if reply.wrong != ANOTHER:
            lines.append(f"It {reply.wrong}.")
    elif failure.point:
        lines.append(f"Counterexample: {point(failure.point, declared)}.")
    if failure.likely:
        lines.append(f"It looks like: {likely(failure.likely)}.")
    return lines


def sentence(found: Useless, declared: Declared) -> str:
    """Return the one sentence that tells what a function of no use did."""
    if found.point is None:
        return f"{found.function} {found.fault.words}."
    values = {name: value for name, value in found.point.items() if name not in declared.assumes}
    return f"{found.function} {found.fault.words}, for {point(values, declared)}."
