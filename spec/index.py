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
    for module_laws in by_module().values():
        for law in module_laws:
            if found.setdefault(law.name, law) is not law:
                raise ValueError(f"two laws are named {law.name}")
    return found


@cache
def by_module() -> dict[str, list[Law]]:
    """Return the laws of each module that has some, by the name of the module."""
    found: dict[str, list[Law]] = {}
    for info in pkgutil.iter_modules(spec.__path__):
        if not info.ispkg:
            values = vars(importlib.import_module(f"spec.{info.name}")).values()
            if own := [value for value in values if isinstance(value, Law)]:
                found[info.name] = own
    return found


def giving(name: str) -> list[Law]:
    """Return the laws that contain a quantity, those that give it first."""
    containing = [law for law in laws().values() if name in law.symbols]
    return sorted(containing, key=lambda law: not (law.is_identity and law.left.name == name))
