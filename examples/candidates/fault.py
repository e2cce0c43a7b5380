"""What a fault of a package is, and why the right value is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HEADS = "head_dim of config.json is the size of a head where it is given"
LATENT = "DeepSeek-V2 report: a latent and a rotary key per layer, no factor 2"
SHARDS = "tensor parallelism of public engines: what cannot be split by heads is held by every rank"
COUNT = "the exact count of the published checkpoint, which the structural count equals"
STEP = "a decode step reads the cache once and appends one token in place, as serving engines do"


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        package: its name in the registry.
        law: the law that is broken.
        says: what goes wrong, in one sentence.
        case: the input, in words.
        got: what the package says.
        right: what is right.
        unit: of both.
        source: why that is right.
        where: the file and function of the package.
    """

    package: str
    law: str
    says: str
    case: str
    got: Callable[[], Any]
    right: Callable[[], Any]
    unit: str
    source: str
    where: str


def constant(value: Any) -> Callable[[], Any]:
    """Return a right value that needs no computing."""
    return lambda: value
