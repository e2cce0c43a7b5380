"""The six learning objectives of the chapter, and which of the finer objectives of families belong to each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Objective:
    """What a learner is to be able to do: a name to type, a few words, and the objectives of families it covers."""

    name: str
    says: str
    covers: frozenset[str]


def _six() -> tuple[Objective, ...]:
    listed = (
        ("attention", "why it grows with the square of the length", "attention-scores"),
        ("kv-cache", "the memory that a context takes", "kv-cache-size"),
        ("phases", "prefill and decode, and what limits each", "prefill-decode roofline"),
        ("batching", "between throughput and latency", "latency-target littles-law serving-speed session-policy"),
        (
            "memory",
            "weights, caches and activations on GPUs",
            (
                "admission cache-capacity gpu-choice gpu-count kv-eviction memory-partition model-change "
                "parameter-count serving-capacity session-growth weight-memory"
            ),
        ),
        ("first-token", "the time to it, as the prompt grows", "ttft"),
    )
    return tuple(Objective(name, says, frozenset({name, *covers.split()})) for name, says, covers in listed)


OBJECTIVES = _six()


class UnknownObjective(LookupError):
    """No objective has this name; `known` are those that have families."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(name)
        self.name, self.known = name, tuple(known)

    def __str__(self) -> str:
        return f"No family trains {self.name!r}; the objectives are {', '.join(self.known)}."


def objective(of_a_family: str) -> Objective | None:
    """Return the objective of the chapter to which that of a family belongs."""
    return next((each for each in OBJECTIVES if of_a_family in each.covers), None)


def found(name: str, of_families: Iterable[str]) -> Objective:
    """Return an objective by its name: one of the six, or one that families have as their own.

    Raises:
        UnknownObjective: no family trains it.
    """
    own = set(of_families)
    known = {each.name: each for each in OBJECTIVES if own & each.covers}
    known = {name: Objective(name, "", frozenset({name})) for name in sorted(own)} | known
    if name not in known:
        raise UnknownObjective(name, (*(each.name for each in OBJECTIVES if own & each.covers), *sorted(own)))
    return known[name]
