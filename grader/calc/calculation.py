"""From what is given to what is asked: the chain over all laws, followed with exact numbers.

A model and a GPU of the catalogue bring their quantities; what is given by hand wins over them. A quantity that has a
usual value takes it only where nothing given leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from grader.calc.coverage import COUNTS, OF_A_GROUP, Trait, covering, idle, structure, traits
from grader.calc.givens import Unusable
from grader.exercise import Step, exact
from spec.catalog import GPU, Model
from spec.chain import Link, NoDerivation, Values, chain, closure
from spec.compiling import Algorithm, compiled, exact_kind
from spec.index import laws
from spec.laws import Law
from spec.quantities import Quantity, quantities
from spec.solving import Exact, Infeasible, NotInvertible, OutsideDomain, check_domains, whole

GIVEN, ASSUMED = "given", "assumed"
MOST_SERVERS = 2000  # an exact recursion over more takes seconds, and its fraction has thousands of digits
MOST_BITS = 13_000  # of a denominator; Python writes out numbers of up to 4,300 digits


class Underived(Unusable):
    """Nothing given leads to the goal.

    Attributes:
        goal: the quantity asked for.
        missing: the fewest quantities that would have to be given too.
        catalogue: `--model`, `--gpu` or both, where naming these would help as well.
        instead: the quantities that would do in place of a model or a GPU.
    """

    def __init__(
        self, goal: str, missing: tuple[str, ...], catalogue: tuple[str, ...], instead: tuple[str, ...] = ()
    ) -> None:
        super().__init__(goal, missing, catalogue, instead)
        self.goal, self.missing, self.catalogue, self.instead = goal, missing, catalogue, instead

    def __str__(self) -> str:
        wanted = [f"{name}=..." for name in self.missing] + [f"{option} NAME" for option in self.catalogue]
        instead = f", or values of {', '.join(self.instead)}" if self.instead else ""
        return f"{self.goal} cannot be found from this{'; add ' if wanted else ''}{' '.join(wanted)}{instead}."


class NotCovered(Unusable):
    """The laws that lead to the goal do not hold for this model; `instead` is what can be asked, or ""."""

    def __init__(self, goal: str, model: str, trait: str, law: str, instead: str = "") -> None:
        super().__init__(goal, model, trait, law, instead)
        self.goal, self.model, self.trait, self.law, self.instead = goal, model, trait, law, instead

    def __str__(self) -> str:
        rest = f"; {self.instead}" if self.instead else f", which {self.law} does not cover"
        return f"{self.goal} is not calculated for {self.model}: it {self.trait}{rest}."


class Unsolved(Unusable):
    """A law on the way is not solved for what is needed of it; `reason` says why."""

    def __init__(self, goal: str, reason: str) -> None:
        super().__init__(goal, reason)
        self.goal, self.reason = goal, reason

    def __str__(self) -> str:
        return f"{self.goal} cannot be calculated: {self.reason}."


@dataclass(frozen=True, slots=True)
class Used:
    """A number that a calculation started from: `origin` is `given`, `assumed`, or the name of a catalogue row."""

    quantity: Quantity
    value: Exact
    origin: str


@dataclass(frozen=True, slots=True)
class Calculation:
    """A quantity with its derivation.

    Attributes:
        quantity: what was asked for.
        result: its value in its unit, or why there is none; where a law does not hold, `why` is its condition, and
            where every value will do it is `unbounded`.
        used: the numbers it follows from.
        steps: the derivation, in the form of an exercise record.
        binding: what limits the result: the side of the bound that it runs into, or the branch of a Max that counts.
        unused: names that were given and do not matter.
        source: the source of the catalogue row, where the result was looked up and not derived.
    """

    quantity: Quantity
    result: Exact | Infeasible
    used: tuple[Used, ...]
    steps: tuple[Step, ...] = ()
    binding: str | None = None
    unused: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Derivation:
    """The steps to a quantity and what they start from.

    Attributes:
        steps: the chain; empty where the value was looked up.
        values: every number that was given, brought by the catalogue or assumed.
        known: the same without what was only assumed.
    """

    steps: tuple[Link, ...]
    values: dict[str, Exact]
    known: dict[str, Exact]


def derived(
    goal: Quantity, given: Mapping[str, Exact], model: Model | None = None, gpu: GPU | None = None
) -> Derivation:
    """Find the steps to a quantity without following them.

    Raises:
        Unusable: it does not follow from what is given, or the laws do not cover this model.
    """
    brought, links = _derived(goal, given, model, gpu)
    known = {name: used.value for name, used in brought.items() if used.origin != ASSUMED}
    return Derivation(links, {name: used.value for name, used in brought.items()}, known)


def _derived(
    goal: Quantity, given: Mapping[str, Exact], model: Model | None, gpu: GPU | None
) -> tuple[dict[str, Used], tuple[Link, ...]]:
    brought = _brought(given, model, gpu)
    known = {name: used.value for name, used in brought.items()}
    found = traits(model, known) if model else []
    for name in (idle(model, known) if model else frozenset()) - {goal.name, *given}:
        del known[name], brought[name]
    every = sorted(laws().values(), key=lambda law: law.is_identity)  # a capacity or a need before an equality
    applicable = covering(every, found, known, goal.name)
    if goal.name in brought and not (goal.name in COUNTS and _follows(goal.name, brought, applicable)):
        return {goal.name: brought[goal.name]}, ()
    brought.pop(goal.name, None)
    brought |= _assumptions(goal.name, brought, applicable)
    links = _links(goal.name, brought, applicable, every, model, found)
    return brought, min([links, *_alternatives(links, brought, applicable)], key=lambda some: len(_unused(given, some)))


def calculate(
    goal: Quantity, given: Mapping[str, Exact], model: Model | None = None, gpu: GPU | None = None
) -> Calculation:
    """Find a quantity from the given values, each in the unit of its quantity and inside its domain.

    Raises:
        Unusable: it does not follow from them, or the laws do not cover this model.
    """
    brought, links = _derived(goal, given, model, gpu)
    if not links:
        row = brought[goal.name]
        source = next((r.source for r in (model, gpu) if r is not None and r.name == row.origin), "")
        return Calculation(goal, row.value, (row,), unused=tuple(given), source=source)
    values, steps, result = _followed(links, {name: used.value for name, used in brought.items()})
    used = tuple(number for name, number in brought.items() if name in _needed(links))
    free = isinstance(result, Infeasible) and result.why == "unbounded"
    return Calculation(goal, result, used, steps, None if free else _binding(links, values), _unused(given, links))


def _brought(given: Mapping[str, Exact], model: Model | None, gpu: GPU | None) -> dict[str, Used]:
    """Return every number with its origin; the count of a model does not outlive a change of its structure."""
    known = quantities()
    brought: dict[str, Used] = {}
    for row in (model, gpu):
        if row is not None:
            numbers: Mapping[str, Any] = row.quantities()
            brought |= {n: Used(known[n], whole(v), row.name) for n, v in numbers.items() if n in known}
    changed = {name for name, value in given.items() if name in brought and brought[name].value != value}
    gone = COUNTS if changed & structure(list(laws().values())) else frozenset()
    brought = {name: used for name, used in brought.items() if name not in gone}
    return brought | {name: Used(known[name], value, GIVEN) for name, value in given.items()}


def _follows(goal: str, brought: Mapping[str, Used], applicable: Sequence[Law]) -> bool:
    """Say whether a quantity follows directly from the others and the usual values."""
    usual = (name for name, quantity in quantities().items() if quantity.assumed is not None)
    return goal in closure({*brought, *usual} - {goal}, applicable, goal=goal)


def _assumptions(goal: str, brought: Mapping[str, Used], applicable: Sequence[Law]) -> dict[str, Used]:
    """Return the usual values of quantities that nothing given leads to."""
    usual = {n: q for n, q in quantities().items() if q.assumed is not None and n not in brought and n != goal}
    pool = {*brought, *usual}
    return {
        name: Used(quantity, quantity.assumed, ASSUMED)
        for name, quantity in usual.items()
        if quantity.assumed is not None and name not in closure(pool - {name}, applicable, goal=goal)
    }


def _links(
    goal: str,
    brought: Mapping[str, Used],
    applicable: Sequence[Law],
    every: Sequence[Law],
    model: Model | None,
    found: Sequence[Trait],
) -> tuple[Link, ...]:
    try:
        return chain(goal, brought, applicable, superseded=True)
    except NoDerivation as nothing:
        if goal in OF_A_GROUP and "tensor_parallel" in {goal, *brought}:
            raise Unsolved(goal, OF_A_GROUP[goal]) from None
        if model is not None:
            _name_the_gap(goal, brought, every, model, found)
        _name_the_obstacle(goal, brought, applicable)
        raise _underived(nothing, brought, applicable, model) from None


def _alternatives(
    links: Sequence[Link], brought: Mapping[str, Used], applicable: Sequence[Law]
) -> Iterator[tuple[Link, ...]]:
    """Give the chains that end in another law of the same kind: with a page size, whole pages count."""
    goal, last = links[-1].gives, links[-1]
    rivals = [
        law
        for law in applicable
        if goal in law.symbols and (law.is_identity, Link(law, goal).direct) == (last.law.is_identity, last.direct)
    ]
    for rival in rivals if last.direct or not last.law.is_identity else ():
        others = [law for law in applicable if law is rival or law not in rivals]
        try:
            found = chain(goal, brought, others, superseded=True)
        except NoDerivation:
            continue
        if _solved(found) <= _solved(links):  # a law solved backwards is no other way to count
            yield found


def _solved(links: Sequence[Link]) -> int:
    return sum(not link.direct for link in links)


def _needed(links: Sequence[Link]) -> set[str]:
    return {name for link in links for name in link.needs}


def _unused(given: Mapping[str, Exact], links: Sequence[Link]) -> tuple[str, ...]:
    return tuple(name for name in given if name not in _needed(links))


def _name_the_gap(
    goal: str, brought: Mapping[str, Used], every: Sequence[Law], model: Model, found: Sequence[Trait]
) -> None:
    """Raise NotCovered if a law that this model breaks would have led to the goal."""
    try:
        links = chain(goal, brought, every, superseded=True)
    except NoDerivation:
        return
    for link in links:
        for trait in found:
            if link.law.name in trait.breaks:
                raise NotCovered(goal, model.name, trait.says, link.law.name, trait.instead.get(goal, "")) from None


def _name_the_obstacle(goal: str, brought: Mapping[str, Used], applicable: Sequence[Law]) -> None:
    """Raise Unsolved if a law has everything it needs but is not solved for the goal."""
    reached = closure(brought, applicable, goal=goal)
    for law in applicable:
        if goal in law.symbols and law.symbols.keys() - {goal} <= reached.keys():
            raise Unsolved(goal, law.not_invertible[law.symbols[goal]]) from None


def _underived(
    nothing: NoDerivation, brought: Mapping[str, Used], applicable: Sequence[Law], model: Model | None
) -> Underived:
    """Look for the shortest help: a few more quantities, or rows of the catalogue and fewer quantities."""
    goal = nothing.goal
    rows: dict[str, set[str]] = {"--gpu": {"gpu_memory", "bandwidth", "compute"}}
    if model is None:
        dense = ("parameters", "attention_parameters", "feed_forward_parameters")
        rows["--model"] = set(structure([laws()[name] for name in dense])) | {"parameters"}
    best = Underived(goal, nothing.missing, ())
    for options in (("--model",), ("--gpu",), ("--model", "--gpu")):
        if not set(options) <= rows.keys() or any(rows[option] <= brought.keys() for option in options):
            continue
        more = {*brought, *(name for option in options for name in rows[option] if name != goal)}
        missing: tuple[str, ...] = ()
        sizes: set[str] = set()
        try:
            sizes = _needed(chain(goal, more, applicable, superseded=True)) & more - brought.keys()
        except NoDerivation as still:
            missing = still.missing
        other_way = len(missing) == len(best.missing) and not best.catalogue and missing != best.missing
        if len(missing) < len(best.missing) or other_way:
            instead = [name for name in quantities() if name in sizes] if len(options) == 1 else []
            best = Underived(goal, missing, options, tuple(instead))
    return best


def _followed(
    links: Sequence[Link], values: Values
) -> tuple[Mapping[str, Exact], tuple[Step, ...], Exact | Infeasible]:
    """Follow the chain; stop where a step has no value."""
    steps: list[Step] = []
    result: Exact | Infeasible = 0
    for link in links:
        unit = link.law.symbols[link.gives].unit.name
        if _recursive(link.law) and any(values[name] > MOST_SERVERS for name in link.needs):
            raise Unsolved(
                links[-1].gives, f"{link.law.name} is followed server by server, up to {MOST_SERVERS:,} of them"
            )
        try:
            check_domains(link.law, {name: values[name] for name in link.needs})
            result = link.follow(values)
        except OutsideDomain as error:
            result = Infeasible(link.law.name, link.gives, error.wanted.removeprefix("such that "))
        except (NotInvertible, ZeroDivisionError) as error:
            raise Unsolved(links[-1].gives, str(error)) from None
        if isinstance(result, Infeasible) and result.why == "unbounded":
            break
        if isinstance(result, Infeasible):
            short = result.deficit if result.why in {"below", "broken"} else None
            deficit = None if short is None else exact(short)
            steps.append(Step(result.law, link.gives, None, result.unit, deficit))
            break
        if Fraction(result).denominator.bit_length() > MOST_BITS:
            raise Unsolved(links[-1].gives, f"{link.gives} is a fraction of thousands of digits here")
        values = values | {link.gives: result}
        steps.append(Step(link.law.name, link.gives, exact(result), unit))
    return values, tuple(steps), result


def _recursive(law: Law) -> bool:
    return bool(law.left.atoms(Algorithm) | law.right.atoms(Algorithm))


def _binding(links: Sequence[Link], values: Mapping[str, Exact]) -> str | None:
    """Name what the result runs into at the last bound or Max of the chain."""
    for link in reversed(links):
        law = link.law
        if not law.is_identity:
            side = law.right if link.gives in {s.name for s in law.left.free_symbols} else law.left
            return _text(side)
        if longest := next(iter(law.right.atoms(sympy.Max)), None):
            if not {symbol.name for symbol in longest.free_symbols} <= values.keys():
                return None
            sizes = {_text(branch): compiled(branch, exact_kind())(**values) for branch in longest.args}
            return " and ".join(name for name, size in sizes.items() if size == max(sizes.values()))
    return None


def _text(node: Any) -> str:
    from spec.printing import text

    return text(node)
