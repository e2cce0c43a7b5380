"""Givens that were misread, taken from another model or GPU, or derived wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache

from grader.diagnosing.derivation import vocabulary
from grader.diagnosing.fault import Fault, in_place, number, slug_of, words
from spec import catalog
from spec.quantities import quantities
from spec.solving import Exact
from spec.units import TABLE, unit

Values = Mapping[str, Exact]

SIZES = (("kB", "KiB"), ("MB", "MiB"), ("GB", "GiB"), ("TB", "TiB"))  # the decimal unit and the binary one beside it
TIMES = ("ms", "min", "h")
WIDTHS: tuple[Exact, ...] = (Fraction(1, 2), 1, 2, 4)
BITS = (2, 4, 8, 16, 32)
NOMINAL = (2, 3, 4, 5, 6, 8)  # bits that a mixed or scaled format is named after
LENGTHS = ("context", "prompt", "output", "sliding_window")
EFFICIENCIES = ("mfu", "mbu", "memory_utilization")
SHAPES = {"layers": 1, "kv_heads": 1, "hidden": 1, "heads": 2, "head_dim": 2, "intermediate": 2, "vocab": 2}
OTHER_MODEL = 15  # times the number of values that models have
BESIDES = {"layers": (26, 30, 64, 88, 94, 126), "hidden": (5376, 6144, 12288, 16384)}  # of models that are no rows
LOOKED_UP = 8  # the rarity of a row of another GPU where a number was copied from a table
LARGE = 20 * 10**9  # parameters of models whose names cut the fraction off: 70B of 70.6 billion
MULTIPLES = (64, 128, 256)  # to which vocabularies are padded


def of_givens(
    needed: set[str], values: Values, units: Mapping[str, str], others: Values, bits: Exact | None, *, short: bool
) -> Iterator[Fault]:
    """List the faults of what a derivation starts from.

    `others` are lengths typed with a K, read with the other K; `bits` is the width of the number format that was named;
    `short` says that the derivation is one step at most, so that a number is as good as copied from a table.
    """
    yield from _of_units({n: u for n, u in units.items() if n in needed}, values)
    yield from _of_times({n: u for n, u in units.items() if n in needed}, values)
    yield from _of_lengths(needed, values, others)
    yield from _of_cached_width(needed, values)
    yield from _of_weight_bits(needed, values)
    yield from _of_size(needed, values)
    yield from _of_shapes(needed, values)
    yield from _of_other_models(needed, values)
    yield from _of_machines(needed, values, bits, short=short)
    for name in EFFICIENCIES:
        if name in needed and values[name] != 1:
            yield in_place(f"{slug_of(name)}-forgotten", f"{words(name)} was taken as all of it.", 5, name, 1)


def _of_units(units: Mapping[str, str], values: Values) -> Iterator[Fault]:
    for name, of in units.items():
        for decimal, binary in SIZES:
            for typed, other in ((decimal, binary), (binary, decimal)):
                if typed in of.split("/"):
                    factor = TABLE[other].factor / TABLE[typed].factor
                    sentence = f"{words(name)} was read in {of.replace(typed, other)}; it is given in {of}."
                    yield in_place(f"{slug_of(name)}-in-{other}", sentence, 5, name, values[name] * factor)


def _of_times(units: Mapping[str, str], values: Values) -> Iterator[Fault]:
    """A time or a rate that was taken as it stands, for one in seconds."""
    for name, of in units.items():
        above, *below = of.split("/")
        own = vocabulary()[name].unit.name.split("/")
        for typed in TIMES:
            if typed in {above, *below} and typed not in own:
                seconds = TABLE[typed].factor / TABLE["s"].factor
                wrong = values[name] / seconds if typed == above else values[name] * seconds
                said = f"{words(name)} is given in {of}, and was used as if {typed} were s."
                yield in_place(f"{slug_of(name)}-in-seconds", said, 5, name, wrong)


def _of_lengths(needed: set[str], values: Values, others: Values) -> Iterator[Fault]:
    for name in LENGTHS:
        if name not in needed:
            continue
        value = Fraction(values[name])
        other: Exact | None = others.get(name)
        if other is None:
            thousands = value / 1024 * 1000 if value % 1024 == 0 else value / 1000 * 1024
            other = thousands if value % 1024 == 0 or value % 1000 == 0 else None
        if other is not None and Fraction(other).denominator == 1:
            sentence = f"{words(name)} was taken as {number(other)} tokens instead of {number(value)}: a K misread."
            yield in_place(f"{slug_of(name)}-with-the-other-K", sentence, 10, name, other)


def _of_cached_width(needed: set[str], values: Values) -> Iterator[Fault]:
    if "kv_width" not in needed:
        return
    right = values["kv_width"]
    for width in WIDTHS:
        if width != right:
            sentence = f"A cached element was taken as {number(width)} B instead of {number(right)} B."
            yield in_place(f"element-of-{float(width):g}-bytes", sentence, 6, "kv_width", width)
    for bits in (8, 16):
        if bits != right:
            sentence = f"The {bits} bits of a cached element were used as {bits} bytes."
            yield in_place("bits-as-bytes", sentence, 10, "kv_width", bits)
    if right.denominator != 1 and right > 1:
        sentence = (
            f"The scales of the quantised cache were left out: {number(int(right))} B instead of {number(right)} B."
        )
        yield in_place("scales-forgotten", sentence, 4, "kv_width", int(right))


def _of_weight_bits(needed: set[str], values: Values) -> Iterator[Fault]:
    if "weight_bits" not in needed:
        return
    right = Fraction(values["weight_bits"])
    for bits in BITS:
        if bits != right:
            sentence = f"Weights were taken as {bits} bits instead of {number(right)}."
            near = 6 if right in {2 * bits, Fraction(bits, 2)} else 12
            yield in_place(f"weights-of-{bits}-bits", sentence, near, "weight_bits", bits)
    nominal = max((bits for bits in NOMINAL if bits <= right), default=0)
    if right not in {*NOMINAL, *BITS} and nominal:
        sentence = (
            f"The nominal {nominal} bits were used; with its scales and larger tensors "
            f"the format takes {number(right)} bits per weight."
        )
        yield in_place("nominal-bits", sentence, 3, "weight_bits", nominal)


def _of_size(needed: set[str], values: Values) -> Iterator[Fault]:
    """The number of parameters: from the name of the model, or of one part of it."""
    if "parameters" in needed:
        right = values["parameters"]
        billions = {round(Fraction(right, 10**9)), *([int(right // 10**9)] if right >= LARGE else [])}
        for size in sorted(billions - {0, Fraction(right, 10**9)}):
            sentence = f"The name of the model was taken for its size: {size} billion parameters."
            yield in_place("size-from-the-name", sentence, 8, "parameters", size * 10**9)
        active = values.get("active_parameters", right)
        if active != right:
            sentence = (
                f"The {number(active)} parameters that one token meets were counted; all {number(right)} are stored."
            )
            yield in_place("active-for-total", sentence, 3, "parameters", active)
        if {"vocab", "hidden"} <= values.keys():
            matrix = values["vocab"] * values["hidden"]
            tied = values.get("tied", 0)
            outside = matrix * (2 - tied)
            if outside < right:
                sentence = "The embedding and output matrices were left out of the parameters."
                yield in_place("embeddings-forgotten", sentence, 8, "parameters", right - outside)
                if not tied:
                    sentence = "One V-by-H matrix was counted; the embedding and the output head make two."
                    yield in_place("one-embedding", sentence, 8, "parameters", right - matrix)
            if tied:
                sentence = "The shared embedding matrix was counted twice."
                yield in_place("tied-counted-twice", sentence, 8, "parameters", right + matrix)
    if (
        "active_parameters" in needed
        and values.get("parameters", 0) != values["active_parameters"]
        and "parameters" in values
    ):
        sentence = "All parameters were counted; a token meets only some of the experts."
        yield in_place("total-for-active", sentence, 3, "active_parameters", values["parameters"])


def _of_shapes(needed: set[str], values: Values) -> Iterator[Fault]:
    """A dimension derived wrongly, or taken from another kind of layer."""
    known = values.keys()
    if "head_dim" in needed and {"hidden", "heads"} <= known:
        derived = Fraction(values["hidden"]) / values["heads"]
        if derived != values["head_dim"] and derived.denominator == 1:
            sentence = f"The head size was taken as hidden / heads = {derived}; it is {values['head_dim']}."
            yield in_place("head-dim-from-hidden", sentence, 3, "head_dim", derived)
    if "kv_heads" in needed and values.get("heads", values["kv_heads"]) != values["kv_heads"]:
        sentence = "The query heads were counted; only the key-value heads are cached."
        yield in_place("query-heads-for-kv-heads", sentence, 3, "kv_heads", values["heads"])
    yield from _of_latent(needed, values)
    for name in ("kv_heads", "head_dim"):
        other = values.get(f"sliding_{name}")
        if name in needed and other is not None and other != values[name]:
            sentence = (
                f"{words(name)} of the sliding layers was used in the full ones: {other} instead of {values[name]}."
            )
            yield in_place(f"sliding-{slug_of(name)}", sentence, 3, name, other)
        if f"sliding_{name}" in needed and other != values[name]:
            sentence = (
                f"{words(name)} of the full layers was used in the sliding ones: {values[name]} instead of {other}."
            )
            yield in_place(f"full-{slug_of(name)}", sentence, 3, f"sliding_{name}", values[name])


def _of_latent(needed: set[str], values: Values) -> Iterator[Fault]:
    known = values.keys()
    if {"kv_lora_rank", "qk_rope_dim"} <= needed and {"hidden", "heads"} <= known:
        head = Fraction(values["hidden"]) / values["heads"]
        rank = 2 * head - values["qk_rope_dim"]
        if rank > 0 and rank.denominator == 1 and rank != values["kv_lora_rank"]:
            sentence = (
                f"One key and one value of hidden / heads = {head} were counted; the cache keeps a compressed vector."
            )
            yield in_place("latent-as-one-head", sentence, 5, "kv_lora_rank", rank)


def _of_other_models(needed: set[str], values: Values) -> Iterator[Fault]:
    """A dimension taken from another model, or padded."""
    known = values.keys()
    if "vocab" in needed:
        for multiple in MULTIPLES:
            padded = -(-int(values["vocab"]) // multiple) * multiple
            if padded != values["vocab"]:
                sentence = f"The vocabulary was padded to {padded:,}, a multiple of {multiple}."
                yield in_place("padded-vocabulary", sentence, 20, "vocab", padded)
    used = needed | ({"hidden"} & known)
    for name in sorted(used & SHAPES.keys()):
        others = _of_models(name)
        rarity = OTHER_MODEL * SHAPES[name] * len(others)
        for other in others:
            if other != values[name]:
                near = 10 if other in {2 * values[name], Fraction(values[name], 2)} and name == "kv_heads" else 1
                sentence = f"{words(name)} of another model: {other:,} instead of {number(values[name])}."
                yield in_place(f"other-{slug_of(name)}", sentence, rarity // near, name, other)


def _of_machines(needed: set[str], values: Values, bits: Exact | None, *, short: bool) -> Iterator[Fault]:
    if "compute" in needed:
        right = values["compute"]
        said = "The peak with sparsity was used; dense work reaches half of it at most."
        yield in_place("sparse-peak", said, 3, "compute", right * 2)
        said = "The peak of a wider number format was used."
        wider = values.get("compute_16bit", right)
        wider = Fraction(right) / 2 if wider == right else wider
        yield in_place("peak-of-wider-format", said, 4, "compute", wider)
        said = "The sparse peak of a narrower number format was used."
        yield in_place("sparse-peak-of-fewer-bits", said, 10, "compute", right * 4)
    if "bandwidth" in needed:
        said = "The bandwidth of one chip was used for a card of two."
        yield in_place("one-chip-of-two", said, 4, "bandwidth", Fraction(values["bandwidth"]) / 2)
    for name in sorted(needed & {"compute", "bandwidth", "gpu_memory"}):
        others = _of_gpus(name, 8 if bits == 8 else 16)  # noqa: PLR2004
        for other, gpu in others.items():
            if other != values[name]:
                sentence = f"{words(name)} of another GPU was used: that of {gpu}."
                one_in = LOOKED_UP if short else 4 * len(others)
                yield in_place(f"{slug_of(name)}-of-another-gpu", sentence, one_in, name, other)


@cache
def _of_models(name: str) -> tuple[int, ...]:
    found = {getattr(model, name) for model in catalog.models().values()} | set(BESIDES.get(name, ()))
    return tuple(sorted(found))


@cache
def _of_gpus(name: str, bits: int) -> dict[Exact, str]:
    known = unit(quantities()[name].unit.name).factor
    found: dict[Exact, str] = {}
    for gpu in catalog.gpus().values():
        rate = gpu.compute_at(bits) if name == "compute" else None
        base = gpu.quantities()[name] if name != "compute" else rate.base if rate else None
        if base is not None:
            found.setdefault(Fraction(base) / known, gpu.name)
    return found
