"""A cache manager against the model of one: the same operations on both, and what they must agree on.

The operations and their answers are those of `spec.serving.cache.CacheManager`: `reserve(request, tokens)`,
`grow(request, tokens)`, `touch(request)`, `pin(request)`, `unpin(request)`, `free(request)`, and the attributes `used`,
`peak`, `hits` and `misses`. Prompts that share their beginning are not tried: no common form of naming them exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from spec.conformance.answers import attribute, shortened
from spec.conformance.candidate import stopped
from spec.conformance.limits import TIME_LIMIT, Interrupted, limited
from spec.conformance.shrinking import fewer
from spec.invariants.draws import Among, Grid, sample
from spec.serving.cache import CacheManager

SENTENCES = {
    "cache-capacity": "The blocks that are taken never exceed the capacity.",
    "cache-usage": "The blocks that are taken are those of the requests that are resident, whole blocks each.",
    "cache-refusal": "A reservation is refused only where evicting every idle request would not make enough room.",
    "cache-atomic": "A refused reservation changes nothing that is taken, and evicts nobody.",
    "cache-free": "Freeing a request gives back exactly its blocks.",
    "cache-double-free": "What is not resident cannot be freed, grown, pinned or unpinned.",
    "cache-pinned": "A pinned request is never evicted and cannot be freed.",
    "cache-lru": "Idle requests are evicted in the order of their last use, and no more of them than it takes.",
    "cache-peak": "The peak is the most blocks that were ever taken.",
    "cache-hits": "Looking a request up counts as a hit exactly where it is resident.",
}
LENGTH = 24  # operations of a run
NAMES = ("a", "b", "c", "d")
COUNTERS = {"peak": "cache-peak", "hits": "cache-hits", "misses": "cache-hits"}
OPERATIONS = ("reserve", "grow", "touch", "pin", "unpin", "free")
NEEDS = {"cache-double-free": ("free",), "cache-free": ("free",), "cache-pinned": ("pin",), "cache-hits": ("touch",)}
RAISED = "raised"


@dataclass(frozen=True)
class Step:
    """One operation on both."""

    operation: str
    request: str
    tokens: int = 0

    def on(self, manager: Any, seconds: float) -> Any:
        """Do it within so many seconds; an exception is an answer too."""
        arguments = (self.request, self.tokens) if self.operation in {"reserve", "grow"} else (self.request,)
        return _called(lambda: getattr(manager, self.operation)(*arguments), str(self), seconds)

    def __str__(self) -> str:
        return f"{self.operation}({self.request!r}{f', {self.tokens}' if self.tokens else ''})"


@dataclass(frozen=True)
class _Raised:
    name: str

    def __str__(self) -> str:
        return f"raises {self.name}"


class _Stopped(Exception):
    """A call took too much, or ended the program; it is not tried again."""


def _called(call: Callable[[], Any], words: str, seconds: float) -> Any:
    """Make a call; an exception is an answer too.

    Raises:
        _Stopped: it took too much, or ended the program.
    """
    try:
        return limited(call, seconds)
    except Interrupted:
        raise KeyboardInterrupt from None
    except BaseException as error:  # noqa: BLE001  the code of others
        fault = stopped(error, seconds)
        if fault is not None:
            raise _Stopped(f"{words} {fault.words}") from None
        return _Raised(type(error).__name__)


@dataclass(frozen=True)
class Run:
    """A cache of some size and what is done with it."""

    capacity: int
    block_size: int
    steps: tuple[Step, ...]


@dataclass
class Trial:
    """One cache manager, tried on drawn runs.

    Attributes:
        make: its class, called with `capacity` and `block_size`.
        examples: how many runs.
        time_limit: the seconds of a call.
    """

    make: Any
    examples: int
    time_limit: float = TIME_LIMIT
    _told: dict[str, str] | None = field(default=None)
    _stopped: bool = False

    @cached_property
    def operations(self) -> tuple[str, ...]:
        """The operations that it has."""
        return tuple(name for name in OPERATIONS if callable(getattr(self.make, name, None)))

    def left_out(self) -> set[str]:
        """Return the sentences that cannot be tried, since an operation is missing or was stopped."""
        left = {name for name, needs in NEEDS.items() if not set(needs) <= set(self.operations)}
        return set(SENTENCES) if self._stopped or "reserve" not in self.operations else left

    def found(self) -> dict[str, str]:
        """Return each broken sentence with its shortest counterexample in words."""
        if self._told is None:
            self._told = {}
            try:
                for run in _runs(self.examples, self.operations):
                    broken = self._broken(run)
                    if broken is not None and broken[0] not in self._told:
                        self._told[broken[0]] = self._small(run, broken[0])
            except _Stopped as error:
                self._told["cache-usage"], self._stopped = str(error), True
        return self._told

    def _small(self, run: Run, name: str) -> str:
        """Tell a run in its shortest form, on the smallest cache."""

        def fails(tried: Run) -> bool:
            broken = self._broken(tried)
            return broken is not None and broken[0] == name

        for capacity, block_size in product(range(1, run.capacity + 1), (1, run.block_size)):
            tried = Run(capacity, block_size, run.steps)
            if fails(tried):
                run = tried
                break
        steps = fewer(run.steps, lambda some: fails(Run(run.capacity, run.block_size, tuple(some))))
        last = self._broken(Run(run.capacity, run.block_size, tuple(steps))) or ("", "")
        did = f", after {', '.join(map(str, steps))}" if steps else ""
        return f"With capacity={run.capacity} and block_size={run.block_size}{did}: {last[1]}"

    def _broken(self, run: Run) -> tuple[str, str] | None:
        """Return the first sentence that a run breaks, and how."""
        model = CacheManager(run.capacity, run.block_size)
        limit = self.time_limit
        theirs = _called(
            lambda: self.make(capacity=run.capacity, block_size=run.block_size), "CacheManager(...)", limit
        )
        if isinstance(theirs, _Raised):
            return "cache-usage", f"CacheManager(capacity=..., block_size=...) {theirs}"
        for step in run.steps:
            used = model.used
            right, got = step.on(model, limit), step.on(theirs, limit)
            answer = _answer(step, right, got, model)
            if answer is not None:
                return answer, f"{step} {_shown(got)}; right is that it {_shown(right)}"
            state = _state(step, right, theirs, model, used)
            if state is not None:
                return state
        return None


def _answer(step: Step, right: Any, got: Any, model: CacheManager) -> str | None:
    """Return the sentence that an answer breaks."""
    if isinstance(right, _Raised) or isinstance(got, _Raised):
        if isinstance(right, _Raised) and isinstance(got, _Raised):
            return None
        pinned = step.request in model and step.operation == "free"
        return "cache-pinned" if pinned else "cache-double-free"
    if step.operation == "touch":
        return None if bool(got) == right else "cache-hits"
    if step.operation not in {"reserve", "grow"}:
        return None
    refused = got is None or got is False
    if (right is None) != refused:
        return "cache-refusal"
    evicted = tuple(got) if isinstance(got, list | tuple) else None
    return "cache-lru" if right is not None and evicted is not None and evicted != right else None


def _state(step: Step, right: Any, theirs: Any, model: CacheManager, before: int) -> tuple[str, str] | None:
    """Return the sentence that what the manager now says of itself breaks, and how."""
    used = attribute(theirs, "used")
    if used is not None and used != model.used:
        said = f"used is {shortened(repr(used))}; right is {model.used}"
        if isinstance(used, int) and used > model.capacity:
            return "cache-capacity", f"{said}, and no more than {model.capacity} can be"
        if right is None and step.operation in {"reserve", "grow"}:
            return "cache-atomic", f"{said}, as before the refusal" if model.used == before else said
        return "cache-free" if step.operation == "free" else "cache-usage", said
    for name, sentence in COUNTERS.items():
        said_count, count = attribute(theirs, name), getattr(model, name)
        if said_count is not None and said_count != count:
            return sentence, f"{name} is {shortened(repr(said_count))}; right is {count}"
    return None


def _shown(answer: Any) -> str:
    return str(answer) if isinstance(answer, _Raised) else f"answers {shortened(repr(answer))}"


def _runs(count: int, operations: Sequence[str]) -> Iterator[Run]:
    """Give runs that soon fill the cache; the same for ever."""
    some = Grid(0, 10 * len(OPERATIONS) - 1)
    draws = {
        f"{part}{i}": draw
        for i in range(LENGTH)
        for part, draw in (("do", some), ("who", Grid(0, 3)), ("n", Grid(1, 9)))
    }
    for values in sample(draws | {"capacity": Grid(2, 8), "block": Among((1, 2, 4))}, count + 1, "cache"):
        steps = []
        for i in range(LENGTH):
            kind = OPERATIONS[min(int(values[f"do{i}"]) // 8, len(OPERATIONS) - 1)]
            if kind in operations:
                tokens = int(values[f"n{i}"]) if kind in {"reserve", "grow"} else 0
                steps.append(Step(kind, NAMES[int(values[f"who{i}"])], tokens))
        yield Run(int(values["capacity"]), int(values["block"]), tuple(steps))
