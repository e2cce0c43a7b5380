"""Menus: the numbers worth printing in an exercise, as a finite grid.

A menu is not a domain. A domain says which values are valid; a menu lists the few from which an exercise is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from grader.amounts import Amount, amount
from spec import catalog
from spec.catalog import GPU, Model
from spec.quantities import quantities

Choice = int | str
Derived = Callable[["Draw"], Choice]


@dataclass(frozen=True, slots=True)
class Draw:
    """One point of a menu: the model and GPU, if any, and every amount by the name of its quantity."""

    model: Model | None
    gpu: GPU | None
    amounts: dict[str, Amount]


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

    def at(self, index: int) -> Draw:
        """Return one point of the grid, counted in mixed radix."""
        amounts: dict[str, Amount] = {}
        model = gpu = None
        if self.models:
            index, i = divmod(index, len(self.models))
            model = catalog.model(self.models[i])
            amounts |= _of_model(model)
        if self.gpus:
            index, i = divmod(index, len(self.gpus))
            gpu = catalog.gpu(self.gpus[i])
            amounts |= _of_gpu(gpu)
        for name, options in self.choices.items():
            index, i = divmod(index, len(options))
            amounts[name] = amount(options[i], quantities_by_name()[name])
        draw = Draw(model, gpu, amounts)
        for name, function in self.derived.items():
            amounts[name] = amount(function(draw), quantities_by_name()[name])
        return draw


@cache
def quantities_by_name() -> dict[str, Any]:
    """Return the vocabulary, found once."""
    return quantities()


@cache
def _of_model(model: Model) -> dict[str, Amount]:
    known = quantities_by_name()
    return {name: Amount(value, known[name].unit) for name, value in model.quantities().items() if name in known}


@cache
def _of_gpu(gpu: GPU) -> dict[str, Amount]:
    marked = {"gpu_memory": gpu.marketed, "bandwidth": gpu.bandwidth, "compute": gpu.compute}
    return {name: amount(str(value), quantities_by_name()[name]) for name, value in marked.items()}


def weights_in_gb(draw: Draw, bits: int = 16) -> str:
    """Give the weights of the drawn model at a bit width, rounded to a tenth of a GB."""
    if draw.model is None or draw.model.parameters is None:
        raise ValueError("the menu draws no model with a known number of parameters")
    tenths = (draw.model.parameters * bits // 8 + 5 * 10**7) // 10**8
    return f"{tenths // 10}.{tenths % 10} GB"
