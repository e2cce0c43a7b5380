"""The catalogue: real models and real GPUs, each with its source.

`model("llama-2-7b")` and `gpu("a100-80gb")` find a row by its name or an alias. `load(path)` adds the rows of a
file of one's own, written as the two files here are. Nothing is read before the first look-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from spec.catalog.amounts import Amount, UnreadableAmount, amount
from spec.catalog.entries import GPU, HUGGING_FACE_NAMES, Model, Report
from spec.catalog.names import Table, UnknownName
from spec.catalog.reading import InvalidEntry, UnreadableFile, read

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "GPU",
    "HUGGING_FACE_NAMES",
    "Amount",
    "Catalog",
    "InvalidEntry",
    "Model",
    "Report",
    "UnknownName",
    "UnreadableAmount",
    "UnreadableFile",
    "amount",
    "gpu",
    "gpus",
    "load",
    "model",
    "models",
]


@dataclass(frozen=True, slots=True)
class Catalog:
    """Models and GPUs by name; see `Table.find` for look-ups that take aliases."""

    models: Table[Model]
    gpus: Table[GPU]

    def model(self, name: str) -> Model:
        """Return the model that has this name, alias or Hub id; case, `_` and spaces do not matter.

        Raises:
            UnknownName: there is none.
        """
        return self.models.find(name)

    def gpu(self, name: str) -> GPU:
        """Return the GPU that has this name or alias; case, `_` and spaces do not matter.

        Raises:
            UnknownName: there is none.
        """
        return self.gpus.find(name)


@cache
def _shipped() -> Catalog:
    folder = Path(__file__).parent
    return Catalog(read(folder / "models.toml")[0], read(folder / "gpus.toml")[1])


def load(path: str | Path) -> Catalog:
    """Return the catalogue with the rows of a file added.

    Raises:
        UnreadableFile: the file is missing or not TOML.
        InvalidEntry: a row is wrong, or one of its names is taken.
    """
    shipped = _shipped()
    return Catalog(*read(Path(path), shipped.models.values(), shipped.gpus.values()))


def models() -> Mapping[str, Model]:
    """Return the models that come with the specification, by their own name."""
    return _shipped().models


def gpus() -> Mapping[str, GPU]:
    """Return the GPUs that come with the specification, by their own name."""
    return _shipped().gpus


def model(name: str) -> Model:
    """Return a model that comes with the specification; see `Catalog.model`."""
    return _shipped().model(name)


def gpu(name: str) -> GPU:
    """Return a GPU that comes with the specification; see `Catalog.gpu`."""
    return _shipped().gpu(name)
