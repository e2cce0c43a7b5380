"""The memory of a model's weights at a bit width, and the parameters or the width behind it (F02)."""

from collections.abc import Mapping
from fractions import Fraction

from grader.family import FINE, Ask, Family, Menu, OwnSlip
from spec import quantities as q
from spec.memory import weights

BINARY_BILLION = Fraction(2**30, 10**9)
SIZES = (*range(10, 100, 2), *range(100, 705, 5))  # in hundreds of millions


def _at_two_bytes(v: Mapping[str, Fraction]) -> Fraction | None:
    return None if v["weight_bits"] == 16 else 2 * v["parameters"]  # noqa: PLR2004  the width of fp16


def _of_two_bytes(v: Mapping[str, Fraction]) -> Fraction | None:
    return None if v["weight_bits"] == 16 else v["weights"] / 2  # noqa: PLR2004  the width of fp16


family = Family(
    asks=Ask(q.weights, "How much memory do the weights take, in GB?", "GB", FINE),
    inverse=(
        Ask(q.weights, "How much memory do the weights take, in GiB?", "GiB", FINE),
        Ask(q.parameters, "How many parameters does the model have if its weights take {{ weights }}?"),
        Ask(q.weight_bits, "In how many bits is each parameter stored if the weights take {{ weights }}?"),
    ),
    by=(weights,),
    given=Menu(parameters=tuple(size * 10**8 for size in SIZES), weight_bits=(32, 16, 8, 4)),
    wording="""A model {% if parameters is defined %}with {{ parameters }} {% endif %}stores each of its parameters in
        {% if weight_bits is defined %}{{ weight_bits }}{% else %}the same number of bits{% endif %}, and nothing
        beside.""",
    slips=(
        OwnSlip(
            "fp16-assumed",
            "Two bytes per parameter were assumed.",
            _at_two_bytes,
            q.weights,
        ),
        OwnSlip(
            "billion-as-2-30",
            "A billion parameters were counted as 2^30; a billion is 10^9.",
            lambda v: v["parameters"] * BINARY_BILLION * v["weight_bits"] / 8,
            q.weights,
        ),
        OwnSlip("fp16-assumed", "Two bytes per parameter were assumed.", _of_two_bytes, q.parameters),
        OwnSlip(
            "eight-divides",
            "The bytes were divided by eight; a byte has eight bits.",
            lambda v: v["weights"] / (8 * v["parameters"]),
            q.weight_bits,
        ),
        OwnSlip(
            "inverted",
            "The parameters were divided by the bytes; bytes per parameter are the other way round.",
            lambda v: v["parameters"] / v["weights"],
            q.weight_bits,
        ),
        OwnSlip(
            "billion-as-2-30",
            "A billion parameters were counted as 2^30; a billion is 10^9.",
            lambda v: 8 * v["weights"] / (v["parameters"] * BINARY_BILLION),
            q.weight_bits,
        ),
    ),
    objective="weight-memory",
    section="model-weights",
)
