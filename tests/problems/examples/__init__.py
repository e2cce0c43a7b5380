"""Worked examples of families, each with its known misconceptions and where they lead; worked out by hand.

Each module here has `EXAMPLES`: rows of family, unknown, givens, key, and for each slip its value, as a fraction or as
a decimal that was rounded to as many places.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

Example = tuple[str, str, dict[str, Any], str | None, dict[str, str]]


def examples() -> list[Example]:
    """Return the rows of all modules."""
    modules = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [row for name in modules for row in import_module(f"{__name__}.{name}").EXAMPLES]
