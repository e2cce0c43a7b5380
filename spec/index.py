"""Finding laws: every law of the specification by its name, discovered from the modules of this folder."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import spec
from spec.laws import Law


@cache
def laws() -> dict[str, Law]:
    """Return every law by name, in the order of the modules and of their lines.

    Raises:
        ValueError: two laws have the same name.
    """
    found: dict[str, Law] = {}
    for info in pkgutil.iter_modules(spec.__path__):
        if info.ispkg:
            continue
        for value in vars(importlib.import_module(f"spec.{info.name}")).values():
            if isinstance(value, Law) and found.setdefault(value.name, value) is not value:
                raise ValueError(f"two laws are named {value.name}")
    return found


def giving(name: str) -> list[Law]:
    """Return the laws that contain a quantity, those that give it first."""
    containing = [law for law in laws().values() if name in law.symbols]
    return sorted(containing, key=lambda law: not (law.is_identity and law.left.name == name))
