"""Reading and judging an answer, in process, beside Math-Verify and Pint on the same seeded answers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bench.timing import microseconds, quantile, table
from grader.exercise import Part, SlipValue, Tolerance
from grader.judging import judge
from spec.stream import Stream

COUNT = 300
WRITTEN = {"GB": (("GB", 1), ("MB", 1000), ("TB", Fraction(1, 1000))), "s": (("s", 1), ("ms", 1000), ("us", 10**6))}


@dataclass(frozen=True)
class Case:
    """One answer: the key in the unit asked for, what was typed, and whether it is right."""

    kind: str
    key: str
    unit: str
    typed: str
    right: bool

    @property
    def part(self) -> Part:
        """The part as the ledger would hold it, with the slips of a real exercise."""
        slips = tuple(SlipValue(f"slip-{n}", "What went wrong.", str(Fraction(self.key) * n / 7)) for n in range(8, 26))
        kind = "quantity" if self.unit else "number"
        return Part("a", "x", "", kind, self.key, self.unit, Tolerance(), slips=slips)


def cases() -> list[Case]:
    """Draw the answers: numbers, quantities and fractions, half of them wrong by a factor that a learner might make."""
    stream = Stream("bench", "answers")
    found = []
    for i in range(COUNT):
        kind, right = ("number", "quantity", "fraction")[i % 3], i % 2 == 0
        wrong = 1 if right else stream.choice((2, Fraction(1, 2), 8, Fraction(15, 7), 1000, Fraction(13, 10)))
        if kind == "fraction":
            over, under = 1 + stream.below(99), 2 + stream.below(98)
            key = Fraction(over, under)
            typed = key * wrong
            found.append(Case(kind, str(key), "", f"{typed.numerator}/{typed.denominator}", right))
            continue
        key = Fraction(1 + stream.below(10**6), stream.choice((1, 10, 100, 1000)))
        typed = key * wrong
        if kind == "number":
            form = stream.choice(("{:f}", "{:,.6f}", "{:e}"))
            found.append(Case(kind, str(key), "", form.format(float(typed)), right))
            continue
        unit = stream.choice(("GB", "s"))
        name, factor = stream.choice(WRITTEN[unit])
        found.append(Case(kind, str(key), unit, f"{float(typed * factor):.10g} {name}", right))
    return found


Judge = Callable[[], bool]


def ours(case: Case) -> Judge:
    """Judge by the entry point of the command, the key prepared."""
    part = case.part
    return lambda: judge(part, case.typed).verdict == "correct"


def math_verify(case: Case) -> Judge:
    """Judge by Math-Verify, the key prepared; it has no units, so it sees the typed number with its unit as text."""
    from math_verify import parse, verify

    logging.disable(logging.CRITICAL)
    gold = parse(f"${float(Fraction(case.key)):.12g}$" if case.kind != "fraction" else f"${case.key}$")
    return lambda: bool(verify(gold, parse(case.typed)))


def pint(case: Case) -> Judge:
    """Judge by Pint within the same tolerance, the registry and the key prepared."""
    import pint as library

    registry: Any = _registry(library)
    key = registry.Quantity(float(Fraction(case.key)), case.unit)

    def judged() -> bool:
        try:
            answer = registry.Quantity(case.typed.replace(",", ""))
            return bool(abs(answer.to(key.units) - key) <= 0.01 * abs(key))
        except Exception:  # noqa: BLE001  any failure of a peer is one answer it did not take
            return False

    return judged


_made: list[Any] = []


def _registry(library: Any) -> Any:
    if not _made:
        _made.append(library.UnitRegistry())
    return _made[0]


def run() -> str:
    """Measure every judge on every answer, right and wrong ones apart."""
    rows = []
    for name, make in (("servespec", ours), ("Math-Verify", math_verify), ("Pint", pint)):
        for right in (True, False):
            chosen = [case for case in cases() if case.right == right]
            times, agreed = [], 0
            for case in chosen:
                judged = make(case)
                agreed += judged() == case.right
                times.append(microseconds(judged))
            rows.append(
                (
                    name,
                    "right" if right else "wrong",
                    f"{quantile(times, 0.5):.1f}",
                    f"{quantile(times, 0.99):.1f}",
                    f"{agreed}/{len(chosen)}",
                )
            )
    return table(
        "One answer, read and judged (goal: 15 us right, 50 us wrong)",
        ("judge", "answers", "median us", "p99 us", "right verdicts"),
        rows,
    )
