"""Invariants: sentences about serving that must hold for every right implementation, and tempting ones that do not.

Each has a domain to draw from and an exact check. An implementation is any object with functions named as the
quantity they give, which take quantities by name: `impl.kv_bytes_per_token(layers=32, kv_heads=8, ...)`.
Where a valid value does not exist it answers with `Infeasible`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from spec.invariants.draws import Draws
from spec.solving import Exact

Check = Callable[..., bool]


@dataclass(frozen=True, eq=False)
class Invariant:
    """One sentence about an implementation.

    Attributes:
        id: a stable name; `I..` numbers follow the catalogue of invariants, other names say what they are about.
        says: the sentence.
        draws: what it is tried on, by the name of the argument.
        about: the functions of the implementation that it exercises.
        check: says whether it holds for one implementation and one set of values, exactly.
        refuted: for a tempting sentence that is false, its smallest counterexample.
        why: for such a sentence, what is right instead.
        also: numbers of the catalogue that this sentence is too, where its name says what it is about.
    """

    id: str
    says: str
    draws: Draws
    about: tuple[str, ...]
    check: Check
    refuted: Mapping[str, Exact] | None = None
    why: str = ""
    also: tuple[str, ...] = ()

    def holds(self, impl: Any, values: Mapping[str, Exact]) -> bool:
        """Check it for an implementation at one set of values."""
        return bool(self.check(impl, **values))


@cache
def invariants() -> tuple[Invariant, ...]:
    """Return every invariant: those written in the modules of this folder, then those derived from the laws.

    Raises:
        ValueError: two of them have the same id.
    """
    from spec.invariants.derived import derived

    found: dict[str, Invariant] = {}
    for invariant in [*written(), *derived()]:
        if found.setdefault(invariant.id, invariant) is not invariant:
            raise ValueError(f"two invariants are named {invariant.id}")
    return tuple(found.values())


@cache
def written() -> tuple[Invariant, ...]:
    """Return those that are written in the modules of this folder."""
    return tuple(_written())


def _written() -> Iterator[Invariant]:
    for info in pkgutil.iter_modules(__path__):
        if info.name != "__main__":
            module = importlib.import_module(f"{__name__}.{info.name}")
            yield from (value for value in vars(module).values() if isinstance(value, Invariant))


def true() -> list[Invariant]:
    """Return the sentences that hold."""
    return [invariant for invariant in invariants() if invariant.refuted is None]


def refuted() -> list[Invariant]:
    """Return the tempting sentences that do not."""
    return [invariant for invariant in invariants() if invariant.refuted is not None]
