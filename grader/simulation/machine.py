"""The card that a simulated server runs on: how fast it is and how many tokens it keeps, by the laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from grader.calc import ASSUMED, Unusable, Used, calculate, named
from spec.catalog import GPU, Model
from spec.quantities import quantities
from spec.serving.incident import Card
from spec.serving.timing import roofline
from spec.solving import Exact, Infeasible

GB = 10**9
# What the chapter takes from a card before any cache, and what its servers reach of the peak rates.
USUAL: dict[str, Exact] = {
    "activations": 8 * GB,
    "safety_margin": 4 * GB,
    "mfu": Fraction(1, 2),
    "mbu": Fraction(4, 5),
}
GROUPS = ("tensor_parallel", "gpus")
CALCULATED = ("weights", "kv_bytes_per_token", "flops_per_token", "attention_flops_per_pair")


class NoRoom(Unusable):
    """The weights and what is reserved leave no room for a cache."""

    def __str__(self) -> str:
        return "There is no room for any cache: weights, activations and margin take all of the memory."


class NotSimulated(Unusable):
    """A group of GPUs is given, whose times nothing here says; `name` is the quantity."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"{self.name} is not simulated: a server here is one GPU."


@dataclass(frozen=True, slots=True)
class Machine:
    """A card.

    Attributes:
        card: how fast it is and how many tokens it keeps.
        assumed: the numbers it follows from that nobody gave.
        unused: names that were given and do not matter.
    """

    card: Card
    assumed: tuple[Used, ...]
    unused: tuple[str, ...]


def machine(
    name: str, given: Mapping[str, Exact], model: Model | None, gpu: GPU | None, overhead: Exact = 0
) -> Machine:
    """Work out a card from a model, a GPU and numbers given by hand, which win over both.

    Args:
        name: what it is called.
        given: values by quantity, in the unit of each.
        model: of the catalogue.
        gpu: of the catalogue.
        overhead: seconds that every iteration takes besides.

    Raises:
        Unusable: something is missing, the laws do not cover the model, or there is no room.
    """
    _one_gpu(given)
    brought = gpu.quantities() if gpu else {}
    known = {**USUAL, **given}
    assumed = {quantity: value for quantity, value in USUAL.items() if quantity not in given}
    used: dict[str, Used] = {}
    matters: set[str] = set()

    def find(quantity: str) -> Exact:
        matters.add(quantity)
        if quantity in given:
            return given[quantity]
        found = calculate(named(quantity), known, model, gpu)
        if isinstance(found.result, Infeasible):
            raise NoRoom
        for each in found.used:
            matters.add(each.quantity.name)
            if each.origin == ASSUMED or each.quantity.name in assumed:
                used[each.quantity.name] = Used(each.quantity, each.value, ASSUMED)
        return found.result

    tokens = find("token_capacity")
    rates = {rate: given.get(rate, brought.get(rate)) for rate in ("compute", "bandwidth")}
    needed = {quantity: find(quantity) for quantity in CALCULATED}
    needed |= {rate: find(rate) if value is None else value for rate, value in rates.items()}
    shares = {share: known[share] for share in ("mfu", "mbu")}
    for share, value in shares.items():
        if share in assumed:
            used[share] = Used(quantities()[share], value, ASSUMED)
    unused = tuple(quantity for quantity in given if quantity not in matters | rates.keys() | shares.keys())
    if tokens < 1:
        raise NoRoom
    card = Card(name, roofline(**needed, **shares, overhead=overhead), int(tokens))
    return Machine(card, tuple(used.values()), unused)


def _one_gpu(given: Mapping[str, Exact]) -> None:
    for quantity in GROUPS:
        if given.get(quantity, 1) != 1:
            raise NotSimulated(quantity)
