"""The tokens behind a figure of memory in use, and the figure or the weights behind so many tokens (F39)."""

from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, Explained
from grader.family import FINE
from grader.menu import Draw, Menu, cache_of_a_token, weights_in_gb
from grader.reckoned import Reckoning, Values, gpu_of, model_of, shown
from spec import quantities as q
from spec.memory import holds_tokens, kv_bytes_total
from spec.partition import kv_budget_by_utilization
from spec.solving import Exact, Infeasible
from spec.units import unit

GB, GIB = 10**9, int(unit("GiB").factor)
NARROW, WIDE = Fraction(7, 10), Fraction(13, 10)  # how far the weights asked for may lie from those of the model
A100_40GB, A100_80GB = 40 * GB, 80 * GB
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
        *("qwen2.5-72b", "qwen3-8b", "gemma-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
    ),
    gpu=(
        *("t4", "l4", "a10", "rtx-4090", "rtx-5090", "v100-32gb", "a100-40gb", "l40s", "a100-80gb", "h100-80gb"),
        *("h200", "b200-sxm", "mi300x"),
    ),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    memory_utilization=tuple(f"{share} %" for share in (25, 30, 35, 40, 45, 50, 55, 60, 64, 70, 75, 80, 85, 90, 95)),
    token_capacity=(2000, 4000, 6000, 8000, 12_000, 16_000, 20_000, 30_000, 40_000, 60_000, 80_000, 120_000, 200_000),
)
COMMON = (q.kv_bytes_per_token, q.gpu_memory)
TOKENS = Reckoning((*COMMON, q.weights, q.memory_utilization), (), ())
SHARE = Reckoning((*COMMON, q.weights, q.token_capacity), (), ())
WEIGHTS = Reckoning((*COMMON, q.memory_utilization, q.token_capacity), (), ())


def found(value: Exact | Infeasible) -> Fraction | None:
    """Give a value of a law, or None where there is none."""
    return None if isinstance(value, Infeasible) else Fraction(value)


def cache_bytes(v: Values, **instead: Fraction | int) -> Fraction | None:
    """Give what the figure leaves for the caches; None where it does not even cover the weights."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    used = kv_budget_by_utilization(
        memory_utilization=v["memory_utilization"],
        gpu_memory_reported=v["gpu_memory"],
        weights=v["weights"],
        activations=0,
        runtime_memory=0,
    )
    return found(used)


def held(size: Fraction | None, v: Values) -> int | None:
    """Give the tokens whose cache takes so many bytes."""
    if size is None or size < 0:
        return None
    tokens = holds_tokens.solve("token_capacity", kv_budget=size, kv_bytes_per_token=v["kv_bytes_per_token"])
    return None if isinstance(tokens, Infeasible) else int(tokens)


def tokens_of(v: Values, **instead: Fraction | int) -> int | None:
    """Give the tokens behind the figure."""
    return held(cache_bytes(v, **instead), v) or None


def caches(v: Values) -> Fraction:
    """Give what the tokens take."""
    return Fraction(kv_bytes_total(cached_tokens=int(v["token_capacity"]), kv_bytes_per_token=v["kv_bytes_per_token"]))


def share_of(v: Values, **instead: Fraction | int) -> Fraction | None:
    """Give the figure in per cent; None where all of it does not fit."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    share = found(
        kv_budget_by_utilization.solve(
            "memory_utilization",
            kv_budget=caches(v),
            gpu_memory_reported=v["gpu_memory"],
            weights=v["weights"],
            activations=0,
            runtime_memory=0,
        )
    )
    return None if share is None else 100 * share


def weights_of(v: Values, **instead: Fraction | int) -> Fraction | None:
    """Give the weights, in GB, that the figure leaves beside the tokens."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    weights = found(
        kv_budget_by_utilization.solve(
            "weights",
            kv_budget=caches(v),
            memory_utilization=v["memory_utilization"],
            gpu_memory_reported=v["gpu_memory"],
            activations=0,
            runtime_memory=0,
        )
    )
    return None if weights is None else weights / GB


def keep(case: Draw) -> bool:
    """Keep figures that are missed or explained by the weights within a factor, and tokens likewise."""
    v = {name: Fraction(value) for name, value in case.values.items()}
    used, memory, cached = v["memory_utilization"] * v["gpu_memory"], v["gpu_memory"], caches(v)
    beside = used - cached
    near = NARROW * v["weights"] <= beside <= WIDE * v["weights"] or -memory / 4 <= beside <= 0
    return v["weights"] <= memory and 10 * v["weights"] >= memory and memory <= 20 * cached <= 20 * memory and near


def reason_of_tokens(case: Draw) -> str:
    """Say by how much the weights exceed the figure."""
    v = TOKENS.values(case)
    short = v["weights"] - v["memory_utilization"] * v["gpu_memory"]
    if short < 0:
        return "What is in use beside the weights is less than one token takes."
    return f"The weights alone take {shown(short / GB, 'GB')} more than the figure says is in use."


def reason_of_share(case: Draw) -> str:
    """Say by how much weights and caches exceed the memory."""
    v = SHARE.values(case)
    return f"Weights and caches take {shown((v['weights'] + caches(v) - v['gpu_memory']) / GB, 'GB')} more than it has."


def reason_of_weights(case: Draw) -> str:
    """Say by how much the caches exceed the figure."""
    v = WEIGHTS.values(case)
    over = caches(v) - v["memory_utilization"] * v["gpu_memory"]
    return f"The caches alone take {shown(over / GB, 'GB')} more than the figure says is in use."


def formula_of_tokens(case: Draw) -> str:
    """Write the tokens with the numbers."""
    a = case.amounts
    return f"T = ({a['memory_utilization']} x {a['gpu_memory']} - {a['weights']}) / {a['kv_bytes_per_token']}"


def formula_of_share(case: Draw) -> str:
    """Write the figure with the numbers."""
    a = case.amounts
    return f"u = ({a['weights']} + {a['token_capacity']} x {a['kv_bytes_per_token']}) / {a['gpu_memory']}."


def formula_of_weights(case: Draw) -> str:
    """Write the weights with the numbers."""
    a = case.amounts
    return f"W = {a['memory_utilization']} x {a['gpu_memory']} - {a['token_capacity']} x {a['kv_bytes_per_token']}."


UNWEIGHED = "The weights were forgotten; the figure counts them too."
OF_THE_REST = "The figure was taken as a share of what the weights leave; it is one of the whole memory."
FREE = "That is the part which is not in use."
IN_GIB = "All sizes: read in GiB, given in GB."
TWICE = "The factor 2 for keys and values was applied again; the cache per token has it."

tokens: CaseAsk[Draw] = CaseAsk(
    asks="token_capacity",
    question=lambda c: (
        f"The weights of {model_of(c)} take {c.amounts['weights']}, and the figure is "
        f"{c.amounts['memory_utilization']}. How many tokens, at most, are in the cache?"
    ),
    kind="count",
    unit="token",
    capacity=True,
    key=lambda c: tokens_of(TOKENS.values(c)),
    reason=reason_of_tokens,
    givens=lambda c: TOKENS.givens(c, q.weights, q.memory_utilization),
    slips=(
        TOKENS.slip(
            "weights-forgotten",
            UNWEIGHED,
            lambda v: held(v["memory_utilization"] * v["gpu_memory"], v),
        ),
        TOKENS.slip(
            "share-of-the-rest",
            OF_THE_REST,
            lambda v: held(v["memory_utilization"] * (v["gpu_memory"] - v["weights"]), v),
        ),
        TOKENS.slip("free-part", FREE, lambda v: held((1 - v["memory_utilization"]) * v["gpu_memory"], v)),
        TOKENS.slip(
            "larger-part-of-the-gpu",
            "The A100 with 80 GB was taken; this one has 40 GB.",
            lambda v: tokens_of(v, gpu_memory=A100_80GB) if v["gpu_memory"] == A100_40GB else None,
        ),
        TOKENS.slip(
            "whole-memory",
            "All of the memory was counted; only the share of the figure is in use.",
            lambda v: tokens_of(v, memory_utilization=1),
        ),
        TOKENS.slip(
            "all-in-GiB",
            IN_GIB,
            lambda v: None if cache_bytes(v) is None else held((cache_bytes(v) or 0) * Fraction(GIB, GB), v),
        ),
        TOKENS.slip("doubled-again", TWICE, lambda v: None if cache_bytes(v) is None else (tokens_of(v) or 0) // 2),
        TOKENS.slip(
            "rounded-up",
            "The number was rounded up; the cache of a part of a token is none.",
            lambda v: None if cache_bytes(v) is None else (tokens_of(v) or 0) + 1,
        ),
    ),
    hints=lambda c: (
        "The figure is a share of the whole memory, and counts the weights and the cache.",
        "T = (u M - W) / k, rounded down.",
        formula_of_tokens(c) + ", rounded down.",
    ),
    explained=lambda c: (
        Explained(
            "kv_budget_by_utilization",
            "What is in use and no weight is cache.",
            f"{c.amounts['memory_utilization']} x {c.amounts['gpu_memory']} - {c.amounts['weights']} = "
            f"{shown(in_use_beside(TOKENS.values(c)), 'GB')}",
        ),
        Explained(
            "holds_tokens",
            holds_tokens.says,
            f"tokens = that / {c.amounts['kv_bytes_per_token']}, rounded down = "
            f"{shown(tokens_of(TOKENS.values(c)), 'token')}",
        ),
    ),
)


def in_use_beside(v: Values) -> Fraction:
    """Give what is in use beside the weights, in GB, under zero where there is too little."""
    return (v["memory_utilization"] * v["gpu_memory"] - v["weights"]) / GB


share: CaseAsk[Draw] = CaseAsk(
    asks="memory_utilization",
    question=lambda c: (
        f"The weights of {model_of(c)} take {c.amounts['weights']}, and {c.amounts['token_capacity']} are in the "
        "cache. "
        "What is the figure, in %?"
    ),
    kind="quantity",
    unit="%",
    tolerance=FINE,
    key=lambda c: share_of(SHARE.values(c)),
    reason=reason_of_share,
    givens=lambda c: SHARE.givens(c, q.weights, q.token_capacity),
    slips=(
        SHARE.slip("weights-forgotten", UNWEIGHED, lambda v: 100 * caches(v) / v["gpu_memory"]),
        SHARE.slip("cache-forgotten", "The cache was forgotten.", lambda v: 100 * v["weights"] / v["gpu_memory"]),
        SHARE.slip(
            "share-of-the-rest",
            "That is the share of the caches in what the weights leave; the figure is of the whole memory.",
            lambda v: 100 * caches(v) / (v["gpu_memory"] - v["weights"]) if v["gpu_memory"] > v["weights"] else None,
        ),
        SHARE.slip(
            "free-part",
            FREE,
            lambda v: None if share_of(v) is None else 100 - (share_of(v) or 0),
        ),
        SHARE.slip(
            "larger-part-of-the-gpu",
            "The A100 with 80 GB was taken; this one has 40 GB.",
            lambda v: share_of(v, gpu_memory=A100_80GB) if v["gpu_memory"] == A100_40GB else None,
        ),
        SHARE.slip(
            "doubled-again",
            TWICE,
            lambda v: 100 * (v["weights"] + 2 * caches(v)) / v["gpu_memory"],
        ),
        SHARE.slip(
            "share-as-a-number",
            "The share was given as a plain number; it is asked in per cent.",
            lambda v: None if share_of(v) is None else Fraction(share_of(v) or 0) / 100,
        ),
    ),
    hints=lambda c: (
        "Weights and cache are in use; the figure is their share of the whole memory.",
        "u = (W + T k) / M.",
        formula_of_share(c),
    ),
    explained=lambda c: (
        Explained(
            "kv_bytes_total",
            kv_bytes_total.says,
            f"{c.amounts['token_capacity']} x {c.amounts['kv_bytes_per_token']} = "
            f"{shown(caches(SHARE.values(c)) / GB, 'GB')}",
        ),
        Explained(
            "kv_budget_by_utilization",
            "The figure is the share of weights and caches in the memory.",
            f"({c.amounts['weights']} + that) / {c.amounts['gpu_memory']} = {shown(share_of(SHARE.values(c)), '%')}",
        ),
    ),
)
weights: CaseAsk[Draw] = CaseAsk(
    asks="weights",
    question=lambda c: (
        f"The figure is {c.amounts['memory_utilization']}, with {c.amounts['token_capacity']} in the cache. "
        "How much memory do the weights take, in GB?"
    ),
    kind="quantity",
    unit="GB",
    tolerance=FINE,
    key=lambda c: weights_of(WEIGHTS.values(c)),
    reason=reason_of_weights,
    givens=lambda c: WEIGHTS.givens(c, q.memory_utilization, q.token_capacity),
    slips=(
        WEIGHTS.slip(
            "cache-forgotten", "The cache was forgotten.", lambda v: v["memory_utilization"] * v["gpu_memory"] / GB
        ),
        WEIGHTS.slip(
            "whole-memory",
            "All of the memory was counted; only the share of the figure is in use.",
            lambda v: weights_of(v, memory_utilization=1),
        ),
        WEIGHTS.slip("free-part", FREE, lambda v: (1 - v["memory_utilization"]) * v["gpu_memory"] / GB),
        WEIGHTS.slip(
            "larger-part-of-the-gpu",
            "The A100 with 80 GB was taken; this one has 40 GB.",
            lambda v: weights_of(v, gpu_memory=A100_80GB) if v["gpu_memory"] == A100_40GB else None,
        ),
        WEIGHTS.slip(
            "share-of-the-rest",
            "The caches were taken off first, and the figure applied to the rest.",
            lambda v: v["memory_utilization"] * (v["gpu_memory"] - caches(v)) / GB,
        ),
        WEIGHTS.slip(
            "doubled-again",
            TWICE,
            lambda v: (v["memory_utilization"] * v["gpu_memory"] - 2 * caches(v)) / GB,
        ),
        WEIGHTS.slip("caches-instead", "That is what the caches take.", lambda v: caches(v) / GB),
    ),
    hints=lambda c: (
        "What is in use and no cache is weights.",
        "W = u M - T k.",
        formula_of_weights(c),
    ),
    explained=lambda c: (
        Explained(
            "kv_bytes_total",
            kv_bytes_total.says,
            f"{c.amounts['token_capacity']} x {c.amounts['kv_bytes_per_token']} = "
            f"{shown(caches(WEIGHTS.values(c)) / GB, 'GB')}",
        ),
        Explained(
            "kv_budget_by_utilization",
            "What is in use and no cache is weights.",
            f"weights = {c.amounts['memory_utilization']} x {c.amounts['gpu_memory']} - that = "
            f"{shown(weights_of(WEIGHTS.values(c)), 'GB')}",
        ),
    ),
)
family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"A dashboard shows which share of the {c.amounts['gpu_memory']} of one {gpu_of(c)} is in use. It counts the "
        f"weights of the model and the cache of the tokens that are kept, and nothing else. The model caches "
        f"{c.amounts['kv_bytes_per_token']}."
    ),
    givens=lambda c: TOKENS.givens(c, *COMMON),
    ways=((tokens,), (share,), (weights,)),
    keep=keep,
    infeasible=True,
    objective="cache-capacity",
    section="memory-budgeting",
)
