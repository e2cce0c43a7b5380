"""Interview question 2: how many sequences fit beside weights that fit, and how much memory is missing for more."""

from fractions import Fraction
from math import ceil
from typing import Any

from grader.case import CaseAsk, CaseFamily, Explained
from grader.family import FINE
from grader.menu import Draw, Menu, cache_of_a_token, weights_in_gb
from grader.reckoned import Reckoning, Values, gpu_of, model_of, shown
from spec import memory
from spec import quantities as q
from spec.stream import Stream

GB, GIB = 10**9, 2**30
MOST = 40  # sequences held: with more, one more or less would hardly be seen in the memory
COMMON: dict[str, Any] = {
    "weights": weights_in_gb,
    "kv_bytes_per_token": cache_of_a_token,
    "context": (1500, 2000, 2048, 3000, 4000, 4096, 6000, 8000, 8192, 12_000, 16_000, 32_768),
    "concurrency": (2, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48),
    "safety_margin": ("0.5 GB", "1 GB", "1.5 GB", "2 GB"),
}
ROOMY = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b", "gpt-j-6b"),
        *("opt-6.7b", "pythia-6.9b", "llama-3-8b"),
    ),
    gpu=("l4", "rtx-4090", "rtx-5090", "v100-32gb"),
    activations=("0.5 GB", "1 GB", "2 GB", "3 GB", "4 GB"),
    **COMMON,
)
TIGHT = (
    Menu(
        model=("llama-2-7b", "mistral-7b-v0.3", "gpt-j-6b", "opt-6.7b", "pythia-6.9b"),
        gpu=("t4",),
        activations=("0.5 GB", "1 GB", "1.5 GB"),
        **COMMON,
    ),
    Menu(
        model=("llama-2-13b",),
        gpu=("rtx-5090", "v100-32gb"),
        activations=("1 GB", "2 GB", "3 GB", "4 GB"),
        **COMMON,
    ),
)
RESERVED = (q.weights, q.activations, q.safety_margin)
LEFT = Reckoning((q.gpu_memory, *RESERVED), (q.kv_budget,), (memory.kv_budget,))
HELD = Reckoning(
    (*LEFT.given, q.kv_bytes_per_token, q.context),
    (q.kv_budget, q.concurrency),
    (memory.kv_budget, memory.fits),
)
NEED = Reckoning(
    (*RESERVED, q.kv_bytes_per_token, q.context, q.concurrency), (q.gpu_memory,), (memory.kv_budget, memory.fits)
)


def size(v: Values) -> Fraction:
    """Give the bytes of cache of one sequence."""
    return Fraction(memory.kv_bytes_per_sequence(context=int(v["context"]), kv_bytes_per_token=v["kv_bytes_per_token"]))


def left(v: Values) -> Fraction:
    """Give the bytes that are left for the cache."""
    return v["gpu_memory"] - sum(v[quantity.name] for quantity in RESERVED)


def held(v: Values) -> int | None:
    """Give how many sequences fit; None for none."""
    return int(v["concurrency"]) or None


def draw(stream: Stream) -> Draw:
    """Draw a GPU that has room, or one on which the weights leave little."""
    menu = stream.choice((ROOMY, ROOMY, *TIGHT))
    return menu.at(stream.below(menu.size))


def keep(case: Draw) -> bool:
    """Keep weights and reserves that fit, a context of the model, and a wish that is not met."""
    v = {name: Fraction(value) for name, value in case.values.items()}
    window = case.model.window if case.model else None
    if left(v) <= 0 or (window is not None and v["context"] > window):
        return False
    fitting = left(v) // size(v)
    return fitting <= MOST and fitting < v["concurrency"] <= 4 * fitting + 48


sequences: CaseAsk[Draw] = CaseAsk(
    asks="concurrency",
    question=lambda c: f"By memory alone, how many sequences of {c.amounts['context']} each does the GPU hold at once?",
    kind="count",
    unit="sequence",
    capacity=True,
    key=lambda c: held(HELD.values(c)),
    reason=lambda c: (
        f"{shown(left(HELD.values(c)) / GB, 'GB')} are left, and the cache of one sequence takes "
        f"{shown(size(HELD.values(c)) / GB, 'GB')}: the model fits, and not one sequence with it."
    ),
    givens=lambda c: HELD.givens(c, q.context),
    slips=(
        HELD.slip(
            "reserves-forgotten",
            "Activations and the safety margin take memory too.",
            lambda v: int((v["gpu_memory"] - v["weights"]) / size(v)) or None,
            held,
        ),
        HELD.slip(
            "margin-forgotten",
            "The safety margin was left out.",
            lambda v: int((left(v) + v["safety_margin"]) / size(v)) or None,
            held,
        ),
        HELD.slip(
            "weights-forgotten",
            "The weights were left out.",
            lambda v: int((left(v) + v["weights"]) / size(v)),
            held,
        ),
        HELD.slip(
            "rounded-up", "Part of a sequence was counted as a whole one.", lambda v: ceil(left(v) / size(v)), held
        ),
        HELD.slip(
            "all-in-GiB",
            "The sizes in GB were read as GiB.",
            lambda v: int(left(v) * GIB / GB / size(v)) or None,
            held,
        ),
        HELD.slip(
            "keys-only",
            "The cache of a token was halved; it holds keys and values already.",
            lambda v: int(2 * left(v) / size(v)) or None,
            held,
        ),
        HELD.slip(
            "one-cache-shared",
            "The tokens that fit were counted; every sequence needs its whole context.",
            lambda v: int(left(v) / v["kv_bytes_per_token"]),
            held,
        ),
    ),
    hints=lambda c: (
        "Find what the weights and the reserves leave, and how often the cache of one sequence goes into that.",
        "N = (M - W - A - S) / (c k), rounded down.",
        (
            f"({c.amounts['gpu_memory']} - {c.amounts['weights']} - {c.amounts['activations']} - "
            f"{c.amounts['safety_margin']}) / ({c.amounts['context']} x {c.amounts['kv_bytes_per_token']})."
        ),
    ),
    explained=lambda c: LEFT.lines(
        c,
        Explained(
            "fits",
            memory.fits.says,
            f"{shown(left(HELD.values(c)) / GB, 'GB')} / {shown(size(HELD.values(c)) / GB, 'GB')}, rounded down: "
            f"sequences = {shown(held(HELD.values(c)), 'sequence')}",
        ),
    ),
)


def lacking(case: Draw) -> Fraction:
    """Give the GB that the GPU lacks for the wish."""
    return (NEED.values(case)["gpu_memory"] - case.values["gpu_memory"]) / GB


BOTH = Reckoning((*HELD.given, q.concurrency), (), ())


def lack(v: Values) -> Fraction:
    """Give the missing GB from the givens."""
    return (v["concurrency"] * size(v) - left(v)) / GB


deficit: CaseAsk[Draw] = CaseAsk(
    asks="missing_memory",
    question=lambda c: (
        f"How much more memory, in GB, would the GPU need at least to hold {c.amounts['concurrency']} of "
        f"{c.amounts['context']} each?"
    ),
    kind="quantity",
    unit="GB",
    tolerance=FINE,
    key=lacking,
    givens=lambda c: BOTH.givens(c, q.concurrency),
    slips=(
        BOTH.slip(
            "rest-unused",
            "The sequences that do not fit were paid for in full; what the others leave is used too.",
            lambda v: (v["concurrency"] - left(v) // size(v)) * size(v) / GB,
        ),
        BOTH.slip(
            "caches-in-full",
            "That is what all caches take; a part of that is there already.",
            lambda v: v["concurrency"] * size(v) / GB,
        ),
        BOTH.slip(
            "reserves-forgotten",
            "Activations and the safety margin take memory too.",
            lambda v: lack(v) - (v["activations"] + v["safety_margin"]) / GB,
        ),
        BOTH.slip("margin-forgotten", "The safety margin was left out.", lambda v: lack(v) - v["safety_margin"] / GB),
        BOTH.slip(
            "whole-need",
            "That is the memory of the GPU it takes; asked is how much more than this one has.",
            lambda v: lack(v) + v["gpu_memory"] / GB,
        ),
        BOTH.slip("answer-in-GiB", "The number is the answer in GiB; it is asked in GB.", lambda v: lack(v) * GB / GIB),
        BOTH.slip(
            "keys-only",
            "The cache of a token was halved; it holds keys and values already.",
            lambda v: lack(v) - v["concurrency"] * size(v) / 2 / GB,
        ),
    ),
    hints=lambda c: (
        "Add up weights, reserves and all caches, and take off what the GPU has.",
        "missing = W + A + S + N c k - M.",
        (
            f"missing = {c.amounts['weights']} + {c.amounts['activations']} + {c.amounts['safety_margin']} + "
            f"{c.amounts['concurrency']} x {c.amounts['context']} x {c.amounts['kv_bytes_per_token']} - "
            f"{c.amounts['gpu_memory']}."
        ),
    ),
    explained=lambda c: NEED.lines(
        c,
        Explained(
            "missing_memory",
            "What is needed beyond what the GPU has is missing.",
            f"{shown(NEED.values(c)['gpu_memory'] / GB, 'GB', 8)} - {c.amounts['gpu_memory']}: "
            f"missing = {shown(lacking(c), 'GB')}",
        ),
    ),
)
family: CaseFamily[Draw] = CaseFamily(
    draw=draw,
    statement=lambda c: (
        f"The weights of {model_of(c)} take {c.amounts['weights']} and fit on one {gpu_of(c)} with "
        f"{c.amounts['gpu_memory']} of memory. {c.amounts['activations']} are reserved for activations and "
        f"{c.amounts['safety_margin']} as a safety margin. The KV cache takes {c.amounts['kv_bytes_per_token']}, and "
        "every sequence gets room for its whole context."
    ),
    givens=lambda c: HELD.givens(c, *LEFT.given, q.kv_bytes_per_token),
    ways=((sequences, deficit),),
    keep=keep,
    rubric=(
        "Did you say that weights which fit leave no promise for the cache?",
        "Did you give the budget line by line: memory, weights, activations, margin, cache?",
        "Did you name the unit, GB or GiB, before counting sequences?",
        "Did you name two ways out, such as fewer bits for weights or cache, and what each of them changes in the sum?",
    ),
    objective="serving-capacity",
    section="memory-budgeting",
    infeasible=True,
    revision=3,
)
