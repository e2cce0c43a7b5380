"""One thing that a family lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Lack:
    """A code and what its sentence needs."""

    code: str
    about: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, code: str, **about: object) -> Lack:
        """Make one from whatever its fields are."""
        return cls(code, {name: str(value) for name, value in about.items()})
