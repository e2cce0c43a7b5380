"""The single ways in which a derivation goes wrong: a law misused, a given misread, a result misprinted.

Each fault has a plausibility of one in so many. They come from published mistakes: a few slips explain most wrong
numbers, and a dimension taken from another model can explain almost any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from grader.amounts import significant
from spec import catalog
from spec.chain import Link
from spec.quantities import quantities
from spec.solving import Exact
from spec.units import BASES, TABLE

Values = Mapping[str, Exact]

USUAL = 10  # a slip of a law that has no number of its own here
LAW_SLIPS = {
    "hidden-for-kv-width": 3,
    "query-heads-for-kv-heads": 3,
    "values-forgotten": 5,
    "window-ignored": 3,
    "one-head": 12,
    "layers-forgotten": 20,
    "queries-cached": 20,
    "projections-cached": 20,
    "latent-as-heads": 4,
    "hidden-for-latent": 4,
    "layers-only": 5,
    "active-for-total": 4,
    "tied-counted-twice": 4,
    "embeddings-forgotten": 5,
    "norms-forgotten": 4,
}
MEASURED = tuple(BASES.index(base) for base in ("B", "s"))
WIDTHS = (Fraction(1, 2), 1, 2, 4)
BITS = (4, 8, 16, 32)
OTHER_MODEL = 60  # times the number of values that models have
SIZES = (("kB", "KiB"), ("MB", "MiB"), ("GB", "GiB"), ("TB", "TiB"))  # the decimal unit and the binary one beside it


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        slug: its stable name.
        sentence: what went wrong.
        one_in: how rare it is: one in so many wrong numbers.
        touches: what it changes; two faults of one derivation never touch the same.
        link: a step followed by a wrong law, with its place in the chain.
        given: a given with another value.
        rounds: a given or a result on the way, and the significant figures it was rounded to before it was used.
        factor: what the result is multiplied by.
    """

    slug: str
    sentence: str
    one_in: int
    touches: str
    link: tuple[int, Link] | None = None
    given: tuple[str, Exact] | None = None
    rounds: tuple[str, int] | None = None
    factor: Fraction = Fraction(1)


def faults(steps: Sequence[Link], values: Values, units: Mapping[str, str], printed: str) -> list[Fault]:
    """List every single fault of a derivation.

    `values` are the right numbers, givens and steps; `units` the units that givens were typed in; `printed` the unit
    of the published number.
    """
    needed = {name for step in steps for name in step.needs} - {step.gives for step in steps}
    return [
        *_of_laws(steps, values),
        *_of_rounding(steps, needed, values),
        *_of_readings({n: u for n, u in units.items() if n in needed}, values),
        *_of_widths(needed, values),
        *_of_shapes(needed, values),
        *_of_machines(needed, values),
        *_of_print(printed, values),
    ]


def _of_laws(steps: Sequence[Link], values: Values) -> Iterator[Fault]:
    for i, step in enumerate(steps):
        for slip in step.law.slips:
            wrong = Link(step.law.with_slip(slip), step.gives)
            names = wrong.needs | (set() if slip.unless is None else {s.name for s in slip.unless.free_symbols})
            if step.gives in wrong.law.symbols and names <= values.keys() and slip.applies(values):
                yield Fault(slip.slug, slip.sentence, LAW_SLIPS.get(slip.slug, USUAL), step.law.name, link=(i, wrong))


def _of_rounding(steps: Sequence[Link], needed: set[str], values: Values) -> Iterator[Fault]:
    """A size, a time or a result on the way that was rounded before it was used."""
    measured = {n for n in needed if any(quantities()[n].unit.dimension[i] for i in MEASURED)}
    for name in [*sorted(measured), *(step.gives for step in steps[:-1])]:
        for figures in (1, 2, 3):
            if significant(values[name], figures) != values[name]:
                words = f"{_words(name)} was rounded to {figures} figure{'s' * (figures > 1)} before it was used."
                yield Fault(f"rounded-{_slug(name)}", words, 8, f"figures of {name}", rounds=(name, figures))
    if steps and steps[-1].gives == "parameters":
        words = "The name of the model was taken for its size."
        yield Fault("size-from-the-name", words, 8, "figures of parameters", rounds=("parameters", 1))


def _of_readings(units: Mapping[str, str], values: Values) -> Iterator[Fault]:
    for name, unit in units.items():
        for decimal, binary in SIZES:
            for typed, other in ((decimal, binary), (binary, decimal)):
                if typed in unit.split("/"):
                    factor = TABLE[other].factor / TABLE[typed].factor
                    sentence = f"{_words(name)} was read in {unit.replace(typed, other)}; it is given in {unit}."
                    yield Fault(f"{_slug(name)}-in-{other}", sentence, 5, name, given=(name, values[name] * factor))


def _of_widths(needed: set[str], values: Values) -> Iterator[Fault]:
    if "kv_width" in needed:
        for width in WIDTHS:
            if width != values["kv_width"]:
                words = f"A cached element was taken as {_number(width)} B instead of {_number(values['kv_width'])} B."
                yield Fault(f"element-of-{_number(width)}-bytes", words, 6, "kv_width", given=("kv_width", width))
        for width in (8, 16):
            if width != values["kv_width"]:
                words = f"The {width} bits of a cached element were used as {width} bytes."
                yield Fault("bits-as-bytes", words, 6, "kv_width", given=("kv_width", width))
    if "weight_bits" in needed:
        for width in BITS:
            if width != values["weight_bits"]:
                words = f"Weights were taken as {width} bits instead of {_number(values['weight_bits'])}."
                yield Fault(f"weights-of-{width}-bits", words, 8, "weight_bits", given=("weight_bits", width))


def _of_shapes(needed: set[str], values: Values) -> Iterator[Fault]:
    """A dimension derived wrongly, or taken from another model."""
    if {"head_dim"} <= needed and {"hidden", "heads"} <= values.keys():
        derived = Fraction(values["hidden"]) / values["heads"]
        if derived != values["head_dim"] and derived.denominator == 1:
            words = f"The head size was taken as hidden / heads = {derived}; it is {values['head_dim']}."
            yield Fault("head-dim-from-hidden", words, 4, "head_dim", given=("head_dim", int(derived)))
    if "parameters" in needed:
        billions = round(Fraction(values["parameters"], 10**9)) * 10**9
        if billions and billions != values["parameters"]:
            words = f"The name of the model was taken for its size: {billions // 10**9} billion parameters."
            yield Fault("size-from-the-name", words, 8, "parameters", given=("parameters", billions))
    for name in sorted(needed & {"layers", "kv_heads", "hidden"}):
        others = _of_models(name)
        for other in others:
            if other != values[name]:
                words = f"{_words(name)} of another model: {other} instead of {values[name]}."
                yield Fault(f"other-{_slug(name)}", words, OTHER_MODEL * len(others) // 4, name, given=(name, other))


def _of_machines(needed: set[str], values: Values) -> Iterator[Fault]:
    if "compute" in needed:
        words = "The peak with sparsity was used; dense work reaches half of it at most."
        yield Fault("sparse-peak", words, 3, "compute", given=("compute", values["compute"] * 2))
    for name in sorted(needed & {"compute", "bandwidth"}):
        others = _of_gpus(name)
        for other, gpu in others.items():
            if other != values[name]:
                words = f"{_words(name)} of another GPU was used: that of {gpu}."
                yield Fault(f"{name}-of-another-gpu", words, 4 * len(others), name, given=(name, other))


def _of_print(printed: str, values: Values) -> Iterator[Fault]:
    parts = printed.split("/")
    for decimal, binary in SIZES:
        for typed, other, one_in in ((decimal, binary, 2), (binary, decimal, 6)):
            if typed in parts:
                factor = TABLE[typed].factor / TABLE[other].factor
                words = f"The number counts {other} but is printed as {typed}."
                yield Fault(f"{other}-printed-as-{typed}", words, one_in, "print", factor=factor)
    if any(TABLE[p].dimension == TABLE["B"].dimension for p in parts if p in TABLE):
        yield Fault("bits-printed-as-bytes", "The number counts bits.", 10, "print", factor=Fraction(8))
    for factor in (Fraction(1000), Fraction(1, 1000)):
        yield Fault("prefix-off-by-1000", "A unit prefix is off by a thousand.", 30, "print", factor=factor)
    for name, words in (
        ("tensor_parallel", "GPUs of the group"),
        ("gpus", "GPUs"),
        ("concurrency", "sequences"),
        ("batch", "sequences"),
    ):
        count = values.get(name)
        if count and count > 1:
            yield Fault(
                f"times-{_slug(name)}",
                f"The number was multiplied by the {count} {words}.",
                8,
                "share",
                factor=Fraction(count),
            )
            yield Fault(
                f"per-{_slug(name)}",
                f"The number was divided by the {count} {words}.",
                8,
                "share",
                factor=1 / Fraction(count),
            )
    for count in (2, 4, 8):
        yield Fault("times-a-group", f"{count} GPUs were taken as one.", 8 * count, "share", factor=Fraction(count))
        yield Fault("one-of-a-group", f"One GPU was taken for {count}.", 8 * count, "share", factor=Fraction(1, count))


@cache
def _of_models(name: str) -> tuple[int, ...]:
    return tuple(sorted({getattr(model, name) for model in catalog.models().values()}))


@cache
def _of_gpus(name: str) -> dict[Exact, str]:
    known = quantities()[name].unit.factor
    return {Fraction(getattr(gpu, name).base) / known: gpu.name for gpu in catalog.gpus().values()}


def _number(value: Exact) -> str:
    return str(value) if Fraction(value).denominator == 1 else f"{float(value):g}"


def _words(name: str) -> str:
    says = quantities()[name].says
    return says[0].upper() + says[1:]


def _slug(name: str) -> str:
    return name.replace("_", "-")
