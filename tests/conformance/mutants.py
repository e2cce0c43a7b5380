"""Faulty candidates: the laws with one of them replaced by a mutant or a slip, held against the suite.

`python tests/conformance/mutants.py [LAW...]` prints a table: of each law how many faults there are, how many a
comparison with the law catches, how many a sentence catches with all comparisons left out, how many are caught where
the candidate answers with floats, and how many slips are told by their name.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from spec.conformance.candidate import Python
from spec.conformance.suite import Check, Failure, Suite, Useless, check
from spec.index import laws
from spec.invariants.draws import draw_of, sample
from spec.invariants.kills import Fault, mutants_of, slips_of
from spec.invariants.reference import Reference, answerable
from spec.laws import Law
from spec.quantities import quantities
from spec.solving import Infeasible

EXAMPLES = 24  # points of every check


class Faulty:
    """A candidate made of the laws, in which one can be replaced while it is under test.

    Attributes:
        EXACT: it calculates with Fractions; otherwise it takes floats, and answers with floats.
        inner: the laws as they are now.
    """

    def __init__(self, *, exact: bool) -> None:
        self.EXACT, self.inner = exact, Reference()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the function of that name."""
        if name not in answerable():
            raise AttributeError(name)

        def function(**known: Any) -> Any:
            if self.EXACT:
                return getattr(self.inner, name)(**known)
            return rounded(getattr(self.inner, name)(**{n: Fraction(value) for n, value in known.items()}))

        return function


def rounded(answer: Any) -> Any:
    """Return a number as the nearest float, and None where there is none."""
    if isinstance(answer, Infeasible):
        return None
    return answer if isinstance(answer, bool) else float(answer)


class Trials:
    """Every fault of one law, put to the checks of that law one after the other."""

    def __init__(self, law: Law, *, exact: bool = True, examples: int = EXAMPLES) -> None:
        self.law, self.thing = law, Faulty(exact=exact)
        self.suite = Suite(Python(self.thing), examples, [law.name], explains=False)
        checks = list(self.suite.checks())
        own = law.left.name if law.is_identity else law.name
        self.direct = sorted((c for c in checks if c.direct), key=lambda c: c.id.partition("(")[0] != own)
        self.sentences = [c for c in checks if not c.direct]

    def caught(self, fault: Fault, checks: Sequence[Check]) -> str:
        """Return the id of the first of some checks that fails for a fault, or nothing."""
        self.thing.inner = Reference({fault.law: fault.solver}, ambient(fault))
        self.suite.judge.faults.clear()
        self.suite.adapted.wrong.clear()
        return next((one.id for one in checks if isinstance(one.run(), Failure | Useless)), "")


def strangers(fault: Fault) -> list[str]:
    """Return the quantities that a fault needs and its law does not have."""
    return sorted(fault.solver.symbols.keys() - laws()[fault.law].symbols)


def ambient(fault: Fault) -> dict[str, Any]:
    """Return one value of each stranger, not the plainest, with which a fault could come out right."""
    draws = {name: draw_of(quantities()[name]) for name in strangers(fault)}
    return dict(list(sample(draws, 2, fault.says))[1])


class Slipped(Faulty):
    """A candidate of one law with a slip; its functions take what the slip needs beside what the law needs.

    Unless it `takes_more`, what the slip needs is the same everywhere.
    """

    def __init__(self, fault: Fault, *, takes_more: bool) -> None:
        super().__init__(exact=True)
        self.fault, self.law, self.more = fault, laws()[fault.law], strangers(fault) if takes_more else []
        self.inner = Reference({fault.law: fault.solver}, ambient(fault))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the function of that name, where the slipped law gives it."""
        if name.startswith("_") or name not in {self.law.name, *self.fault.solver.symbols.keys() & self.law.symbols}:
            raise AttributeError(name)
        if not self.more or name == self.law.name != self.law.left:
            return super().__getattr__(name)

        def function(**known: Any) -> Any:
            return self.fault.solver.solve(name, **{n: v for n, v in known.items() if n in self.fault.solver.symbols})

        taken = [*(self.law.symbols.keys() - {name}), *self.more]
        function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # as inspect reads it
            [inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY) for one in sorted(taken)]
        )
        return function


@dataclass(slots=True)
class Row:
    """What became of the faults of one law.

    Attributes:
        law: its name.
        mutants: how many there are.
        same: those that no answer tells from the law.
        by_comparison: those that a function compared with its law shows.
        by_sentence: those that a sentence shows, with all comparisons left out.
        in_floats: those that are caught where the candidate answers with floats.
        alive: those that nothing catches, or nothing in floats, in words.
        slips: how many slips there are.
        slips_caught: those that are caught.
        named: those that are told by their name, alone or with others that give the same values.
        unnamed: the others, in words.
    """

    law: str
    mutants: int = 0
    same: int = 0
    by_comparison: int = 0
    by_sentence: int = 0
    in_floats: int = 0
    alive: list[str] = field(default_factory=list)
    slips: int = 0
    slips_caught: int = 0
    named: int = 0
    unnamed: list[str] = field(default_factory=list)

    @property
    def counts(self) -> list[int]:
        """The columns of the table."""
        return [
            self.mutants, self.same, self.by_comparison, self.by_sentence, self.in_floats,
            self.slips, self.slips_caught, self.named,
        ]  # fmt: skip


def mutants_judged(law: Law, faults: Sequence[Fault], examples: int = EXAMPLES) -> Row:
    """Put mutants of a law to the suite."""
    row = Row(law.name, len(faults))
    exact, floats = Trials(law, examples=examples), Trials(law, exact=False, examples=examples)
    for fault in faults:
        if fault.same:
            row.same += 1
            continue
        by_comparison = exact.caught(fault, exact.direct)
        by_sentence = exact.caught(fault, exact.sentences)
        in_floats = floats.caught(fault, floats.direct) or floats.caught(fault, floats.sentences)
        row.by_comparison += bool(by_comparison)
        row.by_sentence += bool(by_sentence)
        row.in_floats += bool(in_floats)
        if not in_floats or not (by_comparison or by_sentence):
            row.alive.append(fault.says)
    return row


def slips_judged(row: Row, slips: Sequence[Fault]) -> Row:
    """Put slips of a law to the suite, and see whether they are told by their names."""
    row.slips = len(slips)
    for slip in slips:
        ways = [check(Slipped(slip, takes_more=more), laws=[slip.law], examples=EXAMPLES) for more in (True, False)]
        found = next((report for report in ways if report.broken), ways[-1])
        told = slip.says in {like.slug for failure in found.failures for like in failure.likely}
        row.slips_caught += bool(found.broken)
        row.named += told
        if not told:
            row.unnamed.append(slip.says)
    return row


def table(names: Sequence[str]) -> Iterator[Row]:
    """Judge every mutant and every slip of some laws."""
    for name in names:
        law = laws()[name]
        yield slips_judged(mutants_judged(law, mutants_of(law)), slips_of(law))


HEADINGS = ("mutants", "same", "by comparison", "by sentence", "in floats", "slips", "caught", "named")


def main(names: Sequence[str]) -> int:
    """Print the table as it grows; 1 where a fault is alive."""
    width, rows = max(map(len, laws())), []
    sys.stdout.write(f"{'law':<{width}}  {'  '.join(HEADINGS)}\n")
    for row in table(names or list(laws())):
        rows.append(row)
        _line(row.law, row.counts, width)
        sys.stdout.writelines(f"    ALIVE: {words}\n" for words in row.alive)
        sys.stdout.writelines(f"    not told by its name: {words}\n" for words in row.unnamed)
        sys.stdout.flush()
    _line("total", [sum(column) for column in zip(*(row.counts for row in rows), strict=True)], width)
    return int(any(row.alive or row.slips != row.slips_caught for row in rows))


def _line(name: str, counts: Sequence[int], width: int) -> None:
    columns = "  ".join(f"{count:>{len(head)}}" for head, count in zip(HEADINGS, counts, strict=True))
    sys.stdout.write(f"{name:<{width}}  {columns}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
