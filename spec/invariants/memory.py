"""Weights, and the partition of a GPU's memory by amounts and by shares."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Grid, of
from spec.solving import Infeasible

WEIGHTS = ("weights",)
RESERVES = Grid(0, 30, HALF)
PARTS = Grid(2, 12)
SHARES = of(q.activation_share_of_remaining)["activation_share_of_remaining"]
ONE = Fraction(1)
GIB, GB = 2**30, 10**9

weights_add = Invariant(
    "weights-add",
    "Two sets of parameters weigh together what each of them weighs.",
    {**of(q.weight_bits), "one": Grid(1, 40), "other": Grid(1, 40)},
    WEIGHTS,
    lambda impl, weight_bits, one, other: (
        impl.weights(parameters=one + other, weight_bits=weight_bits)
        == impl.weights(parameters=one, weight_bits=weight_bits)
        + impl.weights(parameters=other, weight_bits=weight_bits)
    ),
)
twice_the_bits = Invariant(
    "I07",
    "Twice the bits per weight are twice the bytes.",
    of(q.parameters, q.weight_bits),
    WEIGHTS,
    lambda impl, parameters, weight_bits: (
        impl.weights(parameters=parameters, weight_bits=2 * weight_bits)
        == 2 * impl.weights(parameters=parameters, weight_bits=weight_bits)
    ),
)
eight_bits = Invariant(
    "I07-byte",
    "Eight bits are one byte: a model of eight-bit weights takes as many bytes as it has parameters.",
    of(q.parameters),
    WEIGHTS,
    lambda impl, parameters: impl.weights(parameters=parameters, weight_bits=8) == parameters,
)
two_units = Invariant(
    "I08",
    "Weights are fewer GiB than GB, and either count gives back the same bytes.",
    of(q.parameters, q.weight_bits),
    WEIGHTS,
    lambda impl, **model: all(
        size / GIB < size / GB and size / GIB * GIB == size == size / GB * GB for size in [ONE * impl.weights(**model)]
    ),
)
partition = Invariant(
    "I26",
    "Weights, activations, safety margin and KV cache together are exactly the memory of the GPU.",
    {**of(q.weights, q.activations, q.safety_margin), "left": RESERVES},
    ("kv_budget",),
    lambda impl, weights, activations, safety_margin, left: (
        impl.kv_budget(
            gpu_memory=weights + activations + safety_margin + left,
            weights=weights, activations=activations, safety_margin=safety_margin,
        )
        == left
    ),
)  # fmt: skip
no_room = Invariant(
    "I26-none",
    "No KV cache exists exactly when weights, activations and safety margin exceed the memory; an empty one does.",
    of(q.gpu_memory, q.weights, q.activations, q.safety_margin),
    ("kv_budget",),
    lambda impl, gpu_memory, **taken: (
        isinstance(impl.kv_budget(gpu_memory=gpu_memory, **taken), Infeasible) == (sum(taken.values()) > gpu_memory)
    ),
)
share_of_total_whole = Invariant(
    "activations-parts-of-total",
    "So many equal shares of the memory as activations make up the whole memory.",
    {**of(q.gpu_memory), "parts": PARTS},
    ("activations",),
    lambda impl, gpu_memory, parts: (
        parts * impl.activations(gpu_memory=gpu_memory, activation_share_of_total=ONE / parts) == gpu_memory
    ),
)
share_of_rest_whole = Invariant(
    "activations-parts-of-remaining",
    "So many equal shares of what the weights leave, taken as activations, make up what the weights leave.",
    {**of(q.weights), "left": RESERVES, "parts": PARTS},
    ("activations",),
    lambda impl, weights, left, parts: (
        parts * impl.activations(gpu_memory=weights + left, weights=weights, activation_share_of_remaining=ONE / parts)
        == left
    ),
)
margin_of_total_whole = Invariant(
    "margin-parts-of-total",
    "So many equal shares of the memory as a safety margin make up the whole memory.",
    {**of(q.gpu_memory), "parts": PARTS},
    ("safety_margin",),
    lambda impl, gpu_memory, parts: (
        parts * impl.safety_margin(gpu_memory=gpu_memory, safety_share_of_total=ONE / parts) == gpu_memory
    ),
)
margin_of_rest_whole = Invariant(
    "margin-parts-of-remaining",
    "So many equal shares of what the weights leave, taken as a margin, make up what the weights leave.",
    {**of(q.weights), "left": RESERVES, "parts": PARTS},
    ("safety_margin",),
    lambda impl, weights, left, parts: (
        parts * impl.safety_margin(gpu_memory=weights + left, weights=weights, safety_share_of_remaining=ONE / parts)
        == left
    ),
)
shares_add = Invariant(
    "activations-shares-add",
    "Reserving two shares one beside the other reserves their sum, whichever the base.",
    {
        **of(q.weights),
        "left": RESERVES,
        "one": Grid(0, Fraction(5, 12), Fraction(1, 12)),
        "other": Grid(0, HALF, HALF / 6),
    },
    ("activations",),
    lambda impl, weights, left, one, other: (
        impl.activations(gpu_memory=weights + left, activation_share_of_total=one + other)
        == impl.activations(gpu_memory=weights + left, activation_share_of_total=one)
        + impl.activations(gpu_memory=weights + left, activation_share_of_total=other)
        and impl.activations(gpu_memory=weights + left, weights=weights, activation_share_of_remaining=one + other)
        == impl.activations(gpu_memory=weights + left, weights=weights, activation_share_of_remaining=one)
        + impl.activations(gpu_memory=weights + left, weights=weights, activation_share_of_remaining=other)
    ),
)
bases = Invariant(
    "I27",
    "A share of what the weights leave is less than the same share of the whole by that share of the weights.",
    {**of(q.weights), "left": RESERVES, "share": SHARES},
    ("activations",),
    lambda impl, weights, left, share: (
        impl.activations(gpu_memory=weights + left, activation_share_of_total=share)
        - impl.activations(gpu_memory=weights + left, weights=weights, activation_share_of_remaining=share)
        == share * weights
    ),
)
same_rule_for_margin = Invariant(
    "reserves-alike",
    "The safety margin is taken by the same rules as the activations, of either base.",
    {**of(q.weights), "left": RESERVES, "share": SHARES},
    ("activations", "safety_margin"),
    lambda impl, weights, left, share: (
        impl.safety_margin(gpu_memory=weights + left, safety_share_of_total=share)
        == impl.activations(gpu_memory=weights + left, activation_share_of_total=share)
        and impl.safety_margin(gpu_memory=weights + left, weights=weights, safety_share_of_remaining=share)
        == impl.activations(gpu_memory=weights + left, weights=weights, activation_share_of_remaining=share)
    ),
)
bases_agree = Invariant(
    "bases-agree",
    "A share of activations is the same memory whether it is taken of the whole or of what the weights leave.",
    {"weights": Grid(1, 20), "left": Grid(0, 20)},
    ("activations",),
    lambda impl, weights, left: (
        impl.activations(gpu_memory=weights + left, activation_share_of_total=HALF)
        == impl.activations(gpu_memory=weights + left, weights=weights, activation_share_of_remaining=HALF)
    ),
    refuted={"weights": 1, "left": 0},
    why="They differ by that share of the weights, so the base must be said.",
)
shares_in_steps = Invariant(
    "partition-by-shares",
    "The partition in one line is the partition with its reserves worked out first.",
    {**of(q.weights), "left": RESERVES, "activation": SHARES, "margin": SHARES},
    ("kv_budget", "activations", "safety_margin"),
    lambda impl, weights, left, activation, margin: (
        margin * (1 - activation) * (weights + left) > (1 - activation) * left  # then nothing is left
        or impl.kv_budget(
            gpu_memory=weights + left, weights=weights,
            activation_share_of_remaining=activation, safety_share_of_total=margin * (1 - activation),
        )
        == impl.kv_budget(
            gpu_memory=weights + left, weights=weights,
            activations=impl.activations(
                gpu_memory=weights + left, weights=weights, activation_share_of_remaining=activation
            ),
            safety_margin=impl.safety_margin(
                gpu_memory=weights + left, safety_share_of_total=margin * (1 - activation)
            ),
        )
    ),
)  # fmt: skip
shares_feasible = Invariant(
    "I28",
    "Shares a of what the weights W leave and s of the memory M leave a cache exactly when M (1 - a - s) >= W (1 - a).",
    {**of(q.weights), "left": RESERVES, "activation": SHARES, "margin": SHARES},
    ("kv_budget",),
    lambda impl, weights, left, activation, margin: (
        isinstance(
            impl.kv_budget(
                gpu_memory=weights + left, weights=weights,
                activation_share_of_remaining=activation, safety_share_of_total=margin * (1 - activation),
            ),
            Infeasible,
        )
        == ((weights + left) * (1 - activation - margin * (1 - activation)) < weights * (1 - activation))
    ),
)  # fmt: skip
double_memory_by_shares = Invariant(
    "I20",
    "With reserves as shares, too, twice the memory leaves at least twice the cache.",
    {**of(q.weights), "left": RESERVES, "activation": SHARES},
    ("kv_budget",),
    lambda impl, weights, left, activation: (
        impl.kv_budget(
            gpu_memory=2 * (weights + left), weights=weights, activation_share_of_remaining=activation,
            safety_share_of_total=0,
        )
        >= 2
        * impl.kv_budget(
            gpu_memory=weights + left, weights=weights, activation_share_of_remaining=activation,
            safety_share_of_total=0,
        )
    ),
)  # fmt: skip
share_of_cache = Invariant(
    "kv-share-parts",
    "So many equal shares of the memory as are left for the KV cache make up the whole memory.",
    {"left": Grid(1, 30), "parts": PARTS},
    ("kv_share",),
    lambda impl, left, parts: parts * impl.kv_share(kv_budget=left, gpu_memory=parts * left) == 1,
)
