"""Models as exercises about serving them print them: weights to a tenth of a GB, and the cache of a token."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from spec import catalog
from spec.memory import kv_bytes_per_token

GB = 10**9


@dataclass(frozen=True, slots=True)
class Model:
    """A model: its name, tenths of a GB of weights, bytes of cache per token, and its window, 0 where none is known."""

    name: str
    tenths: int
    each: int
    window: int = 0

    @property
    def size(self) -> int:
        """The bytes of the weights."""
        return self.tenths * GB // 10

    @property
    def weights(self) -> str:
        """The GB of the weights as printed."""
        return rounded(Fraction(self.tenths, 10))


def served(name: str) -> Model:
    """Take a model of the catalogue with weights of 16 bits, and two bytes an element of cache."""
    row = catalog.model(name)
    shape = row.quantities()
    each = kv_bytes_per_token(kv_width=2, **{n: shape[n] for n in ("layers", "kv_heads", "head_dim")})
    return Model(row.name, (2 * int(shape["parameters"]) + 5 * 10**7) // 10**8, int(each), row.window or 0)
