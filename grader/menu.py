"""Menus: the numbers worth printing in an exercise, as a finite grid.

A menu is not a domain. A domain says which values are valid; a menu lists the few from which an exercise is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any

from grader.amounts import Amount, amount
from grader.exercise import exact
from spec import catalog
from spec.catalog import GPU, Model
from spec.quantities import quantities
from spec.solving import Exact

Choice = int | str
Derived = Callable[["Draw"], Choice]


@dataclass(frozen=True, slots=True)
class Draw:
    """One point of a menu.

    Attributes:
        model, gpu: the rows of the catalogue, if any.
        amounts: every amount, as printed, by the name of its quantity.
        values: the same in the unit of the quantity, as laws take them; some are integers, so divide with care.
    """

    model: Model | None
    gpu: GPU | None
    amounts: dict[str, Amount]
    values: dict[str, Exact]


class Menu:
    """The grid from which a family draws.

    `model` and `gpu` are names of the catalogue; they bring all their quantities. Every other keyword is a quantity
    with its choices (plain numbers in the quantity's unit, or typed amounts such as `8 GB`), or a function of the
    draw so far that gives one choice.
    """

    def __init__(
        self, *, model: tuple[str, ...] = (), gpu: tuple[str, ...] = (), **choices: tuple[Choice, ...] | Derived
    ) -> None:
        known = quantities()
        for name in choices:
            if name not in known:
                raise ValueError(f"a menu has no quantity {name!r}")
        self.models, self.gpus = model, gpu
        self.choices = {n: c for n, c in choices.items() if not callable(c)}
        self.derived = {n: c for n, c in choices.items() if callable(c)}

    @cached_property
    def size(self) -> int:
        """The number of points of the grid."""
        total = max(1, len(self.models)) * max(1, len(self.gpus))
        for options in self.choices.values():
            total *= len(options)
        return total

    @cached_property
    def names(self) -> frozenset[str]:
        """Every quantity that a point of this menu has a value for."""
        return frozenset(self.at(0).amounts)

    @cached_property
    def names_in_order(self) -> tuple[str, ...]:
        """The same names: the choices as the family wrote them, then what model and GPU bring."""
        written = [*self.choices, *self.derived]
        return (*(n for n in self.at(0).amounts if n not in written), *written)

    @cached_property
    def _entries(self) -> dict[str, tuple[tuple[Amount, Exact], ...]]:
        entries = {name: tuple(entry(name, option) for option in options) for name, options in self.choices.items()}
        for name, options in entries.items():
            if len({written.unit for written, _ in options}) > 1:
                raise ValueError(f"a menu prints {name!r} in one unit only: its slips are derived from that unit")
        return entries

    @cached_property
    def _models(self) -> list[tuple[Model, _Row]]:
        return [(found, _of_model(found)) for found in map(catalog.model, self.models)]

    @cached_property
    def _gpus(self) -> list[tuple[GPU, _Row]]:
        return [(found, _of_gpu(found)) for found in map(catalog.gpu, self.gpus)]

    def at(self, index: int) -> Draw:
        """Return one point of the grid, counted in mixed radix."""
        amounts: dict[str, Amount] = {}
        values: dict[str, Exact] = {}
        model = gpu = None
        if self.models:
            index, i = divmod(index, len(self.models))
            model, row = self._models[i]
            amounts, values = amounts | row.amounts, values | row.values
        if self.gpus:
            index, i = divmod(index, len(self.gpus))
            gpu, row = self._gpus[i]
            amounts, values = amounts | row.amounts, values | row.values
        for name, options in self._entries.items():
            index, i = divmod(index, len(options))
            amounts[name], values[name] = options[i]
        draw = Draw(model, gpu, amounts, values)
        for name, function in self.derived.items():
            amounts[name], values[name] = entry(name, function(draw))
        return draw


@dataclass(frozen=True, slots=True)
class _Row:
    """What a row of the catalogue brings to a draw."""

    amounts: dict[str, Amount]
    values: dict[str, Exact]


@lru_cache(maxsize=4096)
def entry(name: str, written: Choice) -> tuple[Amount, Exact]:
    """Read a choice of a quantity: as it is printed, and in the unit of the quantity."""
    quantity = quantities_by_name()[name]
    found = amount(written, quantity)
    return found, found.in_unit_of(quantity)


@cache
def quantities_by_name() -> dict[str, Any]:
    """Return the vocabulary, found once."""
    return quantities()


def _of_model(model: Model) -> _Row:
    return _row({name: value for name, value in model.quantities().items() if name in quantities_by_name()})


def _of_gpu(gpu: GPU) -> _Row:
    return _row({"gpu_memory": str(gpu.marketed), "bandwidth": str(gpu.bandwidth), "compute": str(gpu.compute)})


def _row(written: Mapping[str, Choice]) -> _Row:
    entries = {name: entry(name, text) for name, text in written.items()}
    return _Row(
        {name: shown for name, (shown, _) in entries.items()}, {name: value for name, (_, value) in entries.items()}
    )


def weights_in_gb(draw: Draw) -> str:
    """Give the weights of the drawn model at 16 bits each, rounded to a tenth of a GB."""
    if draw.model is None or draw.model.parameters is None:
        raise ValueError("the menu draws no model with a known number of parameters")
    tenths = (2 * draw.model.parameters + 5 * 10**7) // 10**8
    return f"{tenths // 10}.{tenths % 10} GB"


def cache_of_a_token(draw: Draw) -> int:
    """Give the KV cache of a token of the drawn model, two bytes an element."""
    from spec.memory import kv_bytes_per_token

    v = draw.values
    return int(kv_bytes_per_token(layers=v["layers"], kv_heads=v["kv_heads"], head_dim=v["head_dim"], kv_width=2))


def in_tb_per_second(draw: Draw) -> str:
    """Print the bandwidth in a unit of its own: one misread unit for it and for the weights would cancel."""
    return f"{exact(Fraction(draw.values['bandwidth']) / 10**12)} TB/s"
