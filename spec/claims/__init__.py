"""The chapter's statements as data: each with a check that is run, and the verdict that running it gives.

A verdict is never written down. It follows from the check: what is true in general holds; what is true only under a
named assumption assumes it; what is neither is false. Change a law, and verdicts change. Where a wrong law leaves a
check without a number that it needs, nothing is shown to be true: the statement is false, and its computed line says
what could not be computed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from spec.claims.definite import Definite, NoValueError, in_words

HOLDS, ASSUMES, FALSE, NOT_CHECKABLE, PENDING = "holds", "assumes", "false", "not-checkable", "pending"
VERDICTS = (HOLDS, ASSUMES, FALSE, NOT_CHECKABLE, PENDING)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check found.

    Attributes:
        general: the statement is true as it stands.
        assuming: it is true under the assumption of its claim; None where it has none.
        computed: the numbers, in words.
    """

    general: bool
    computed: str
    assuming: bool | None = None


Check = Callable[[Any], Outcome]


@dataclass(frozen=True, eq=False)
class Claim:
    """One statement of the chapter.

    Attributes:
        id: `C1` to `C170` in the order of the text, and from `C171` on what it says in passing.
        section: the chapter section.
        says: the statement in our own words.
        check: runs on an implementation (`spec.invariants.reference.Reference`) whose answers are values
            (`spec.claims.definite.Definite`); None where nothing can be run.
        assumption: what it takes for the statement to be true, where it is not true as it stands.
        contradicts: ids of statements that cannot be true together with it; made symmetric when loaded.
        pending: the check needs the serving simulator.
        unchecked: why nothing is run.
    """

    id: str
    section: str
    says: str
    check: Check | None = None
    assumption: str = ""
    contradicts: tuple[str, ...] = ()
    pending: bool = False
    unchecked: str = ""

    def outcome(self, impl: Any) -> Outcome | None:
        """Run the check; None where there is none to run."""
        if self.check is None or self.pending:
            return None
        try:
            return self.check(Definite(impl))
        except (NoValueError, ArithmeticError) as error:
            return Outcome(general=False, assuming=False if self.assumption else None, computed=_impossible(error))

    def verdict(self, impl: Any) -> str:
        """Return what running the check says of the statement."""
        return self.verdict_of(self.outcome(impl))

    def verdict_of(self, found: Outcome | None) -> str:
        """Return what an outcome of the check says of the statement."""
        if self.pending:
            return PENDING
        if found is None:
            return NOT_CHECKABLE
        return HOLDS if found.general else ASSUMES if found.assuming else FALSE


@dataclass(frozen=True, eq=False)
class Conflict:
    """Statements of the chapter that cannot all be true.

    Attributes:
        id: `K1` to `K22`.
        says: the conflict in our own words.
        claims: the statements that meet in it.
        numbers: computes both sides.
        resolution: how this specification decides it.
    """

    id: str
    says: str
    claims: tuple[str, ...]
    numbers: Callable[[Any], str]
    resolution: str

    def computed(self, impl: Any) -> str:
        """Return the numbers of both sides, in words."""
        try:
            return self.numbers(Definite(impl))
        except (NoValueError, ArithmeticError) as error:
            return _impossible(error)


def _impossible(error: NoValueError | ArithmeticError) -> str:
    return f"cannot be computed: {error if isinstance(error, NoValueError) else in_words(error)}"


@cache
def claims() -> dict[str, Claim]:
    """Return every claim by id, in order.

    Raises:
        ValueError: two claims have the same id.
    """
    return _found(Claim)


@cache
def conflicts() -> dict[str, Conflict]:
    """Return every conflict by id, in order."""
    return _found(Conflict)


def conflicts_of(claim: Claim) -> tuple[str, ...]:
    """Return the ids of the conflicts in which a claim meets others."""
    return tuple(conflict.id for conflict in conflicts().values() if claim.id in conflict.claims)


def contradictions(claim: Claim) -> tuple[str, ...]:
    """Return the ids that contradict a claim, whichever of the two names the other."""
    named = {*claim.contradicts, *(other.id for other in claims().values() if claim.id in other.contradicts)}
    return tuple(sorted(named, key=_number))


def _found(kind: type[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in _items():
        if isinstance(item, kind) and found.setdefault(item.id, item) is not item:
            raise ValueError(f"two claims are named {item.id}")
    return dict(sorted(found.items(), key=lambda pair: _number(pair[0])))


def _items() -> Iterator[Any]:
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        yield from getattr(module, "CLAIMS", ())
        yield from getattr(module, "CONFLICTS", ())


def _number(name: str) -> int:
    return int(name[1:])
