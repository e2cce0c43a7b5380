"""The kill table: which faults of which laws the invariants notice by themselves.

A fault is noticed where a sentence fails on a fixed sample of points. What no sentence notices is tried against the
worked numbers, and what these miss too must be the same law in disguise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from spec.index import laws
from spec.invariants import Invariant, true
from spec.invariants.draws import Draw, Values, draw_of, sample
from spec.invariants.reference import Reference, Solver, Unanswered, questions
from spec.invariants.worked import WORKED
from spec.laws import Law
from spec.mutants import Mutant, faulty, mutants
from spec.quantities import quantities
from spec.solving import Exact, Infeasible, NotInvertible, OutsideDomain

POINTS = 24  # of every invariant
LINE = 100  # longer formulas are left out of a description
DENSE = 200  # points at which a fault that cannot be told from its law is compared with it


@dataclass(frozen=True, slots=True)
class Fault:
    """A mutant or a slip, ready to stand in for its law.

    Attributes:
        law: the name of the law.
        says: what is wrong with it.
        solver: the faulty law.
        same: why it cannot be told from the law, or "".
    """

    law: str
    says: str
    solver: Solver
    same: str = ""


@dataclass(slots=True)
class Row:
    """What became of the faults of one law; each fault stands in exactly one column."""

    law: str
    by_invariant: list[tuple[Fault, str]] = field(default_factory=list)
    by_number: list[tuple[Fault, str]] = field(default_factory=list)
    same: list[Fault] = field(default_factory=list)
    alive: list[Fault] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many faults there are."""
        return len(self.by_invariant) + len(self.by_number) + len(self.same) + len(self.alive)


@cache
def points(invariant: Invariant) -> tuple[Values, ...]:
    """Return the fixed sample of an invariant."""
    return tuple(sample(invariant.draws, POINTS, invariant.id))


@cache
def watching() -> dict[str, tuple[Invariant, ...]]:
    """Return the invariants that ask each law, found by running them; those that look at it alone come first."""
    asked: dict[str, list[tuple[int, Invariant]]] = {name: [] for name in laws()}
    for invariant in true():
        impl = Reference()
        for values in points(invariant)[:4]:
            invariant.holds(impl, values)
        names = {questions()[question].name for question in impl.asked}
        for name in names:
            asked[name].append((len(names) + (":" in invariant.id), invariant))
    return {name: tuple(i for _, i in sorted(found, key=lambda entry: entry[0])) for name, found in asked.items()}


@dataclass(slots=True)
class Trial:
    """A faulty law under trial, which remembers whether it found no value."""

    solver: Solver
    none: bool = False

    @property
    def symbols(self) -> Mapping[str, Any]:
        """The quantities of the law."""
        return self.solver.symbols

    def __call__(self, **known: Any) -> Any:
        """Say what the law says."""
        return self.solver(**known)

    def solve(self, name: str, /, **known: Any) -> Exact | Infeasible:
        """Solve the law."""
        answer = self.solver.solve(name, **known)
        self.none = self.none or isinstance(answer, Infeasible)
        return answer


def noticed(invariant: Invariant, fault: Fault, values: Iterable[Values]) -> bool:
    """Say whether an invariant fails for an implementation with this fault.

    It fails where the check does, where the fault divides by zero, and where the sentence calculates with a value that
    the fault does not find or that no other law takes. A question that the fault cannot answer at all is not held
    against it: the sentence is then not tried.
    """
    strangers = {n: draw_of(quantities()[n]) for n in sorted(fault.solver.symbols.keys() - laws()[fault.law].symbols)}
    for point, further in zip(values, _ambient(strangers, fault.says), strict=False):
        trial = Trial(fault.solver)
        try:
            if not invariant.holds(Reference({fault.law: trial}, further), point):
                return True
        except Unanswered:
            continue
        except (ZeroDivisionError, OutsideDomain):
            return True
        except TypeError:
            if not trial.none:
                raise
            return True
    return False


def _ambient(draws: dict[str, Draw], salt: str) -> list[Values]:
    """Give values of the quantities that only a slip uses; the plainest ones could make it come out right."""
    return list(sample(draws, POINTS + 1, salt))[1:]


def judged(fault: Fault, row: Row) -> None:
    """Put a fault into its column."""
    if fault.same:
        row.same.append(fault)
        return
    for invariant in watching()[fault.law]:
        if noticed(invariant, fault, points(invariant)):
            row.by_invariant.append((fault, invariant.id))
            return
    for worked in WORKED:
        try:
            right = worked.holds(Reference({fault.law: fault.solver}))
        except Unanswered:
            continue
        if not right:
            row.by_number.append((fault, f"{worked.gives}: {worked.source}"))
            return
    row.alive.append(fault)


def differs(fault: Fault) -> bool:
    """Say whether a fault gives another answer than its law at any of many points.

    Of a changed formula the value is compared, or whether the bound holds, since all other answers follow from it;
    of a fault in how answers are made, every answer.
    """
    law = laws()[fault.law]
    formula = isinstance(fault.solver, Law)
    for (name, given), answering in questions().items():
        if answering is law and (not formula or name in {law.left.name if law.is_identity else "", law.name}):
            draws = {n: draw_of(law.symbols[n]) for n in sorted(given)}
            for values in sample(draws, DENSE, f"{fault.law}/{name}"):
                if _answer(law, name, values) != _answer(fault.solver, name, values):
                    return True
    return False


def _answer(solver: Solver, name: str, values: Values) -> object:
    try:
        known = {n: v for n, v in values.items() if n in solver.symbols}
        answer = solver.solve(name, **known) if name in quantities() else solver(**known)
    except (NotInvertible, ZeroDivisionError, OutsideDomain, TypeError) as error:
        return type(error)
    return Infeasible if isinstance(answer, Infeasible) else answer


def mutants_of(law: Law) -> list[Fault]:
    """Return the generated mutants of a law."""
    return [Fault(law.name, _described(m), m.faulty, m.same) for m in mutants(law)]


def _described(mutant: Mutant) -> str:
    return f"{mutant.change}: {mutant.formula}" if len(mutant.formula) <= LINE else mutant.change


def slips_of(law: Law) -> list[Fault]:
    """Return the slips declared with a law."""
    slipped = [(slip.slug, law.with_slip(slip)) for slip in law.slips]
    return [Fault(law.name, slug, faulty(law, wrong.left, wrong.right, wrong.relation)) for slug, wrong in slipped]


def table(faults: dict[str, Sequence[Fault]]) -> list[Row]:
    """Judge the faults of each law."""
    rows = []
    for name, of_law in faults.items():
        row = Row(name)
        for fault in of_law:
            judged(fault, row)
        rows.append(row)
    return rows


def mutant_table() -> list[Row]:
    """Judge every mutant of every law."""
    return table({name: mutants_of(law) for name, law in laws().items()})


def slip_table() -> list[Row]:
    """Judge every slip of every law that declares some."""
    return table({name: slips_of(law) for name, law in laws().items() if law.slips})
