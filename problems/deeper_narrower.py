"""The cache of a deeper and narrower model with as many parameters, and what bounds its depth and its width (F31)."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from grader.family import FINE
from grader.reckoned import shown
from spec import catalog
from spec.memory import kv_bytes_per_token, kv_bytes_per_token_approx
from spec.stream import Stream

MULTI_HEAD = (
    *("gpt2", "gpt2-xl", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b", "llama-2-7b", "llama-2-13b"),
    "phi-2",
)
LAYERS = (16, 18, 20, 24, 28, 30, 32, 36, 40, 44, 48, 50, 56, 60, 64, 70, 72, 80, 88, 90, 96, 100, 112, 120, 128, 144)
PLACES = 10**9  # of a root


@dataclass(frozen=True, slots=True)
class Shapes:
    """A model of `layers` and `hidden`, one of `deeper` layers, and how many times as large the cache may be.

    In the grouped case both have `kv_heads` of size `head_dim` for keys and values.
    """

    model: str
    layers: int
    hidden: int
    deeper: int
    times: Fraction
    kv_heads: int
    head_dim: int

    @property
    def depth(self) -> Fraction:
        """The factor of the layers."""
        return Fraction(self.deeper, self.layers)

    @property
    def of_layers(self) -> Fraction:
        """The factor of the cache where the width of the keys stays."""
        first, second = (
            kv_bytes_per_token(layers=layers, kv_heads=self.kv_heads, head_dim=self.head_dim, kv_width=2)
            for layers in (self.layers, self.deeper)
        )
        return Fraction(second, first)


def root(number: Fraction) -> Fraction:
    """Return the square root of a number to nine decimals."""
    return Fraction(isqrt(number.numerator * PLACES**2 // number.denominator), PLACES)


def draw(stream: Stream) -> Shapes:
    """Draw a model with keys and values for every head, and a deeper one."""
    model = catalog.model(stream.choice(MULTI_HEAD))
    shape = model.quantities()
    return Shapes(
        model=model.name,
        layers=int(shape["layers"]),
        hidden=int(shape["hidden"]),
        deeper=stream.choice(LAYERS),
        times=Fraction(stream.choice((105, 110, 115, 120, 125, 130, 135, 140, 150, 160, 175, 180, 200, 225, 250)), 100),
        kv_heads=stream.choice((1, 2, 4, 8, 16)),
        head_dim=stream.choice((64, 80, 96, 128, 256)),
    )


def worth_asking(case: Shapes) -> bool:
    """Keep models that are a quarter to six times as deep again, and wider than their keys where these are shared."""
    narrow = case.hidden * root(1 / case.depth)
    return 5 * case.layers <= 4 * case.deeper <= 28 * case.layers and case.kv_heads * case.head_dim < narrow


def statement(case: Shapes) -> str:
    """Say what both models have."""
    return (
        f"A model has {case.layers} layers and a hidden size of {case.hidden:,}, as {case.model} does. Another one has "
        "more layers, and is narrower by so much that it has as many parameters, counted as 12 L H^2 for L layers and "
        "a hidden size of H. Elements of the cache are equally wide. A hidden size need not be whole here."
    )


def givens(case: Shapes) -> tuple[Given, ...]:
    """List the shape."""
    return (
        Given("layers", "L", str(case.layers), "layer", "layers"),
        Given("hidden", "H", str(case.hidden), "element", "hidden size"),
    )


def depth(case: Shapes) -> tuple[Given, ...]:
    """Give the layers of the other one."""
    return (Given("new_layers", "L'", str(case.deeper), "layer", "layers of the other model"),)


def near(number: Fraction) -> str:
    """Print the root of a number to six figures."""
    return shown(root(number), "1", 6)


def whole(power: int) -> Callable[[Shapes], int]:
    """Return the function that multiplies the layers by a power of the factor, rounded down."""
    return lambda case: floor(case.layers * case.times**power)


def wrong_ratio(*other: CaseSlip[Shapes]) -> tuple[CaseSlip[Shapes], ...]:
    """Make the misconceptions about the factor of a cache."""
    return (
        *other,
        CaseSlip("unchanged", "As many parameters were taken to mean as large a cache; they do not.", lambda _: 1),
        CaseSlip(
            "inverse-root",
            "That is the factor of the hidden size; the layers grow too.",
            lambda c: root(1 / c.depth),
        ),
        CaseSlip("inverse", "The factor of the layers was inverted.", lambda c: 1 / c.depth),
        CaseSlip("squared", "The factor of the layers was squared.", lambda c: c.depth**2),
    )


MULTI = "Every head has keys and values of its own, and the heads together span the hidden size."
NARROWER = "12 L H^2 stays, so that H goes with the inverse root of L."
CACHE = f"With heads that span the hidden size: {kv_bytes_per_token_approx.says}"

ratio: CaseAsk[Shapes] = CaseAsk(
    asks="kv_ratio",
    question=lambda c: (
        f"{MULTI} How many times as much does a token of the other model, with {c.deeper} layers, cache?"
    ),
    kind="number",
    tolerance=FINE,
    key=lambda c: root(c.depth),
    givens=depth,
    slips=wrong_ratio(
        CaseSlip(
            "linear",
            "The cache was taken to grow as the layers do; each of them is narrower.",
            lambda c: c.depth,
        )
    ),
    hints=lambda _: (
        "The cache of a token grows with the layers and with the hidden size; see what the parameters leave of that.",
        "k goes as L H, and H as 1 / sqrt(L): the ratio is sqrt(L' / L).",
        "Take the root of the one number of layers over the other.",
    ),
    explained=lambda c: (
        Explained("parameters_approx", NARROWER, f"H' / H = sqrt({c.layers} / {c.deeper}) = {near(1 / c.depth)}"),
        Explained(
            "kv_bytes_per_token_approx",
            CACHE,
            f"L' H' / (L H) = sqrt({c.deeper} / {c.layers}) = {near(c.depth)}",
        ),
    ),
)
grouped: CaseAsk[Shapes] = CaseAsk(
    asks="grouped_kv_ratio",
    question=lambda c: (
        f"Let both models share keys and values among their heads: each has {c.kv_heads} key-value "
        f"head{'' if c.kv_heads == 1 else 's'} of size {c.head_dim} in every layer. How many times as much does a "
        f"token of the other model, with {c.deeper} layers, cache?"
    ),
    kind="number",
    tolerance=FINE,
    key=lambda c: c.of_layers,
    givens=depth,
    slips=wrong_ratio(
        CaseSlip(
            "root",
            "The keys were taken to narrow with the hidden size; here they stay as they are.",
            lambda c: root(c.depth),
        )
    ),
    hints=lambda _: (
        "See which of the sizes that make up the cache of a token differ between the two.",
        "k = 2 L n_kv d b: the width stays, and the ratio is L' / L.",
        "Divide the one number of layers by the other.",
    ),
    explained=lambda c: (
        Explained(
            "kv_bytes_per_token",
            kv_bytes_per_token.says,
            f"L' n_kv d / (L n_kv d) = {c.deeper} / {c.layers} = {rounded(c.of_layers, 6)}",
        ),
    ),
)
width: CaseAsk[Shapes] = CaseAsk(
    asks="new_hidden",
    question=lambda c: f"What is the hidden size of the other model, with {c.deeper} layers?",
    kind="number",
    tolerance=FINE,
    key=lambda c: c.hidden * root(1 / c.depth),
    givens=depth,
    slips=(
        CaseSlip("linear", "L H was kept; the parameters go with L H^2.", lambda c: c.hidden / c.depth),
        CaseSlip("unchanged", "The hidden size was kept; then there would be more parameters.", lambda c: c.hidden),
        CaseSlip(
            "wider",
            "It was made wider; more layers leave fewer parameters to each.",
            lambda c: c.hidden * root(c.depth),
        ),
        CaseSlip(
            "squared", "The factor of the layers was squared; its root is needed.", lambda c: c.hidden / c.depth**2
        ),
        CaseSlip(
            "fourth-root",
            "The root was taken twice.",
            lambda c: c.hidden * root(root(1 / c.depth)),
        ),
    ),
    hints=lambda c: (
        "The parameters stay the same.",
        "L' H'^2 = L H^2.",
        f"{c.deeper} H'^2 = {c.layers} x {c.hidden:,}^2.",
    ),
    explained=lambda c: (
        Explained(
            "parameters_approx",
            NARROWER,
            f"H' = {c.hidden:,} x sqrt({c.layers} / {c.deeper}) = {shown(c.hidden * root(1 / c.depth), '1', 6)}",
        ),
    ),
)
layers: CaseAsk[Shapes] = CaseAsk(
    asks="new_layers",
    question=lambda c: (
        f"{MULTI} How many layers may the other model have at most if a token is to cache at most "
        f"{rounded(c.times)} times as much?"
    ),
    kind="count",
    unit="layer",
    key=whole(2),
    givens=lambda c: (Given("kv_ratio", "g", rounded(c.times), "1", "largest factor of the cache of a token"),),
    slips=(
        CaseSlip("linear", "The cache was taken to grow as the layers do; each of them is narrower.", whole(1)),
        CaseSlip(
            "root", "The root of the factor was taken; its square is needed.", lambda c: floor(c.layers * root(c.times))
        ),
        CaseSlip("cubed", "The third power was taken; the square is needed.", whole(3)),
        CaseSlip("fewer-layers", "The layers were divided; deeper models cache more.", whole(-2)),
        CaseSlip(
            "rounded-up",
            "The number was rounded up; then the cache is a little too large.",
            lambda c: floor(c.layers * c.times**2) + 1,
            lambda c: (c.layers * c.times**2).denominator != 1,
        ),
    ),
    hints=lambda c: (
        "The cache of a token grows with the root of the number of layers.",
        "sqrt(L' / L) is at most g, so that L' is at most L g^2.",
        f"L' is at most {c.layers} x {rounded(c.times)}^2.",
    ),
    explained=lambda c: (
        Explained("parameters_approx", NARROWER, "L' H' / (L H) = sqrt(L' / L)"),
        Explained(
            "kv_bytes_per_token_approx",
            CACHE,
            f"layers = {c.layers} x {rounded(c.times)}^2, rounded down = {floor(c.layers * c.times**2)}",
        ),
    ),
)
family: CaseFamily[Shapes] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((ratio,), (grouped,), (width,), (layers,)),
    givens=givens,
    keep=worth_asking,
    objective="model-change",
    section="kv-cache",
)
