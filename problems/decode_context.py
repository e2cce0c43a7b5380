"""The longest context at which a batch still decodes at a given pace, by time alone (F16)."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, told_apart
from grader.menu import Draw, Menu, cache_of_a_token, in_tb_per_second, weights_in_gb
from grader.reckoned import Reckoning, Values, gpu_of, model_of, shown
from spec import quantities as q
from spec.laws import Law
from spec.phases import attention_flops_per_pair, flops_per_token
from spec.roofline import decode_bytes_per_sequence, decode_flops_per_sequence, meets_tpot_target
from spec.solving import Infeasible

GIB_TO_GB = Fraction(2**30, 10**9)
SHORTEST, LONGEST = 100, 200_000  # contexts worth asking for
ROOM = Fraction(9, 10)  # of a GPU's memory, for weights
NEAR = 3  # times the target that a step without any context takes at most
EDGE = Fraction(1, 10**9)  # a context so close to a whole one, in relation, floats may round to the wrong side
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
        *("falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
    ),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-4090", "a10", "l4"),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    bandwidth=in_tb_per_second,
    batch=(4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256),
    mfu=("0.3", "0.4", "0.5"),
    mbu=("0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9"),
    tpot_target=("8 ms/token", "15 ms/token", "25 ms/token", "35 ms/token", "50 ms/token", "75 ms/token"),
)
PACE = meets_tpot_target.composed(decode_flops_per_sequence, decode_bytes_per_sequence)
GIVEN = Reckoning(
    (
        *(q.parameters, q.weights, q.layers, q.heads, q.head_dim, q.kv_bytes_per_token, q.batch),
        *(q.compute, q.bandwidth, q.mfu, q.mbu, q.tpot_target),
    ),
    (q.flops_per_token, q.attention_flops_per_pair),
    (flops_per_token, attention_flops_per_pair),
)


def longest(v: Values, law: Law = PACE) -> int | None:
    """Give the longest context that a law allows; None where there is none."""
    return _solved(law, tuple((name, v[name]) for name in law.symbols if name != "context"))


@lru_cache(maxsize=256)
def _solved(law: Law, known: tuple[tuple[str, Fraction], ...]) -> int | None:
    found = law.solve("context", **dict(known))
    return None if isinstance(found, Infeasible) else int(found)


def matrices(v: Values) -> Fraction:
    """Give the seconds that the matrices of a step take."""
    return v["batch"] * v["flops_per_token"] / (v["compute"] * v["mfu"])


def weights(v: Values) -> Fraction:
    """Give the seconds in which the weights are read."""
    return v["weights"] / (v["bandwidth"] * v["mbu"])


def by_reading(v: Values) -> Fraction:
    """Give the tokens that each sequence has time to read beside the weights, parts of one included."""
    left = (v["tpot_target"] - weights(v)) * v["bandwidth"] * v["mbu"]
    return left / (v["batch"] * v["kv_bytes_per_token"])


def by_arithmetic(v: Values) -> Fraction:
    """Give the tokens to which each sequence has time to attend beside the matrices, parts of one included."""
    left = (v["tpot_target"] - matrices(v)) * v["compute"] * v["mfu"]
    return left / (2 * v["batch"] * v["attention_flops_per_pair"])


def with_others(**others: Callable[[Values], Fraction]) -> Callable[[Values], int | None]:
    """Give the longest context with other values in place of the right ones."""
    return lambda v: longest({**v, **{name: of(v) for name, of in others.items()}})


def keep(case: Draw) -> bool:
    """Keep weights that the GPU holds, and contexts worth asking for, within the window, or a target just missed."""
    v = GIVEN.values(case)
    if v["weights"] > ROOM * case.values["gpu_memory"]:
        return False
    found = longest(v)
    if found is None:
        return v["tpot_target"] < max(matrices(v), weights(v)) <= NEAR * v["tpot_target"]
    exactly = min(by_reading(v), by_arithmetic(v))
    if abs(exactly - round(exactly)) <= EDGE * exactly:
        return False
    return SHORTEST <= found <= ((case.model.window if case.model else None) or LONGEST)


def key(case: Draw) -> int | None:
    """Give the longest context."""
    return longest(GIVEN.values(case))


def slip(slug: str, sentence: str, value: Callable[[Values], int | None]) -> CaseSlip[Draw]:
    """Make a misconception, left out where it leads to the right context all the same."""
    return told_apart(slug, sentence, lambda case: value(GIVEN.values(case)), key)


def following(law: Law) -> Callable[[Values], int | None]:
    """Give the longest context by a law."""
    return lambda v: longest(v, law)


def reading(case: Draw) -> str:
    """Write the context that a step has time to read with the numbers of a case."""
    a = case.amounts
    return (
        f"({a['tpot_target']} * {a['bandwidth']} * {a['mbu']} - {a['weights']}) / "
        f"({a['batch']} * {a['kv_bytes_per_token']})"
    )


def arithmetic(case: Draw) -> str:
    """Write the context to which a step has time to attend with the numbers of a case."""
    a = case.amounts
    return (
        f"({a['tpot_target']} * {a['compute']} * {a['mfu']} / {a['batch']} - 2 * {a['parameters']}) / "
        f"(4 * {a['layers']} * {a['heads']} * {a['head_dim']})"
    )


def reason(case: Draw) -> str:
    """Say what misses the target without any context."""
    v = GIVEN.values(case)
    read = weights(v) >= matrices(v)
    what = "Reading the weights alone takes" if read else "The matrices alone take"
    return (
        f"{what} {shown(1000 * max(weights(v), matrices(v)), 'ms')}, and the target is {case.amounts['tpot_target']}."
    )


ask: CaseAsk[Draw] = CaseAsk(
    asks="context",
    question=lambda c: (
        "How many tokens may each sequence have in the cache at most, by time alone, if a step may take "
        f"{shown(1000 * c.values['tpot_target'], 'ms')}, a target of {c.amounts['tpot_target']}?"
    ),
    kind="count",
    unit="token",
    key=key,
    reason=reason,
    capacity=True,
    slips=(
        *(slip(wrong.slug, wrong.sentence, following(PACE.with_slip(wrong))) for wrong in PACE.slips),
        slip(
            "cache-shared",
            "All sequences were given the tokens together; each of them has its own.",
            with_others(kv_bytes_per_token=lambda v: v["kv_bytes_per_token"] / v["batch"]),
        ),
        slip(
            "one-layer-cached",
            "The cache of one layer was read; a token has one in every layer.",
            with_others(kv_bytes_per_token=lambda v: v["kv_bytes_per_token"] / v["layers"]),
        ),
        slip(
            "full-efficiency",
            "The peaks were used as they are; only a share of each is reached.",
            with_others(mfu=lambda _: Fraction(1), mbu=lambda _: Fraction(1)),
        ),
        slip(
            "shares-exchanged",
            "The shares of the two peaks were exchanged.",
            with_others(mfu=lambda v: v["mbu"], mbu=lambda v: v["mfu"]),
        ),
        slip(
            "weights-in-GiB",
            "Weights: read in GiB, given in GB.",
            with_others(weights=lambda v: v["weights"] * GIB_TO_GB),
        ),
        slip(
            "rounded-up",
            "With one token more a step takes too long.",
            lambda v: None if (found := longest(v)) is None else found + 1,
        ),
    ),
    hints=lambda c: (
        *GIVEN.hints(
            c,
            "A step reads the weights once and all caches, and works on the matrices and on attention; both must fit.",
            f"Then {PACE.text()}, the largest whole context.",
        )[:2],
        f"By what is read {reading(c)}, by arithmetic {arithmetic(c)}.",
    ),
    explained=lambda c: GIVEN.lines(c, *lines(c)),
)


def lines(case: Draw) -> tuple[Explained, ...]:
    """Explain what reading and arithmetic leave for the context, and the context."""
    v = GIVEN.values(case)
    if key(case) is None:
        return (
            Explained(
                "meets_tpot_target", "A step takes too long without any context.", f"{reason(case)} context = none"
            ),
        )
    return (
        Explained(
            "decode_bytes_per_sequence",
            "What the time leaves beside the weights is for the caches.",
            f"{reading(case)} = {shown(by_reading(v), 'token', 7)}",
        ),
        Explained(
            "decode_flops_per_sequence",
            "What the time leaves beside the matrices is for attention.",
            f"{arithmetic(case)} = {shown(by_arithmetic(v), 'token', 7)}",
        ),
        Explained(
            "meets_tpot_target",
            "The smaller one binds, and a part of a token does not count.",
            f"context = {shown(key(case), 'token', 12)}",
        ),
    )


family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"{model_of(c)} has {c.amounts['parameters']}, which take {c.amounts['weights']}, and {c.amounts['layers']} "
        f"with {c.amounts['heads']} for queries, each of size {c.amounts['head_dim']}; it caches "
        f"{c.amounts['kv_bytes_per_token']}. An {gpu_of(c)} peaks at {c.amounts['compute']} and "
        f"{c.amounts['bandwidth']}. Arithmetic reaches {c.amounts['mfu']} of its peak, and memory traffic "
        f"{c.amounts['mbu']} of its peak; arithmetic and memory traffic overlap. "
        f"A batch of {c.amounts['batch']} decodes, all with equally long contexts in the cache: count two operations "
        "per parameter and token, and attention to every cached token. A step reads the weights once, and the caches "
        "of all sequences."
    ),
    givens=GIVEN.givens,
    ways=((ask,),),
    keep=keep,
    infeasible=True,
    revision=2,
    objective="roofline",
    section="prefill-decode",
)
