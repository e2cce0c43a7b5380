"""Results that were misprinted, or given for more or fewer machines and sequences than was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from grader.diagnosing.fault import Fault, number, scaled, slug_of
from grader.diagnosing.given_faults import SIZES
from spec.quantities import Quantity
from spec.solving import Exact
from spec.units import TABLE

SHARES = {
    "tensor_parallel": ("GPUs of the group", 8),
    "gpus": ("GPUs", 8),
    "concurrency": ("sequences", 8),
    "batch": ("sequences", 8),
    "heads": ("heads", 12),
    "layers": ("layers", 12),
}
SHAPES = ("heads", "layers")  # dimensions that a count of scores leaves out or puts in twice, and other sums seldom
SCORES = ("attention_scores", "score_bytes")
GROUPS = {2: 8, 4: 24, 8: 32}
GROUPED = {  # what a group of GPUs or chips has more of
    "decode_rate", "throughput", "tpot", "prefill_rate", "token_capacity", "concurrency", "context", "kv_budget",
    "gpu_memory", "bandwidth", "compute",
}  # fmt: skip
COUNTS = {"layer", "element", "head", "sequence", "GPU", "1"}


def of_print(quantity: Quantity, printed: str, values: Mapping[str, Exact]) -> Iterator[Fault]:
    """List the faults of a result; `printed` is the unit of the published number."""
    yield from _of_prefixes(printed.split("/"))
    if quantity.unit.name not in COUNTS:
        for factor in (Fraction(1000), Fraction(1, 1000)):
            yield scaled("prefix-off-by-1000", "A unit prefix is off by a thousand.", 24, ("print",), factor)
    if quantity.name == "weights":
        said = "An overhead of 20 % was added to the weights."
        yield scaled("a-fifth-added", said, 6, ("overhead",), Fraction(6, 5))
    if quantity.name in {"kv_bytes_per_token", "kv_bytes_per_block", "kv_bytes_per_layer"}:
        touched = ("constant of kv_bytes_per_token",)
        yield scaled("both-counted-twice", "Keys and values were counted twice.", 12, touched, 2)
    yield from _of_shares(quantity, values)


def _of_prefixes(parts: Sequence[str]) -> Iterator[Fault]:
    pairs = [(typed, other, one_in) for d, b in SIZES for typed, other, one_in in ((d, b, 2), (b, d, 6))]
    for small, large in pairwise(SIZES):
        pairs += [(large[0], small[1], 20), (small[0], large[1], 20)]
    for typed, counted, one_in in pairs:
        if typed in parts:
            said = f"The number counts {counted} but is printed as {typed}."
            factor = TABLE[typed].factor / TABLE[counted].factor
            yield scaled(f"{counted}-printed-as-{typed}", said, one_in, ("print",), factor)
    if any(TABLE[part].dimension == TABLE["B"].dimension for part in parts if part in TABLE):
        yield scaled("bits-printed-as-bytes", "The number counts bits.", 10, ("print",), 8)
        said = "The number was divided by 8, as if it counted bits."
        yield scaled("bytes-taken-for-bits", said, 20, ("print",), Fraction(1, 8))


def _of_shares(quantity: Quantity, values: Mapping[str, Exact]) -> Iterator[Fault]:
    for name, (words, usual) in SHARES.items():
        count = values.get(name)
        one_in = usual if name not in SHAPES or quantity.name.startswith(SCORES) else 8 * usual
        if count and count > 1 and name != quantity.name:
            times = f"The number was multiplied by the {number(count)} {words}."
            yield scaled(f"times-{slug_of(name)}", times, one_in, ("share",), count)
            per = f"The number was divided by the {number(count)} {words}."
            yield scaled(f"per-{slug_of(name)}", per, one_in, ("share",), 1 / Fraction(count))
    if quantity.name not in GROUPED:
        return
    for count, usual in GROUPS.items():
        one_in = 4 * usual if quantity.name == "compute" else usual  # twice a peak is the one with sparsity
        yield scaled("times-a-group", f"{count} GPUs were taken as one.", one_in, ("share",), count)
        yield scaled(
            "one-of-a-group", f"One GPU or chip was taken for {count}.", one_in, ("share",), Fraction(1, count)
        )
