"""Interview question 6: what twice the context does to the number of sequences, and when it is exactly half."""

from fractions import Fraction
from math import ceil

from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained
from grader.family import FINE
from grader.menu import Draw, Menu, cache_of_a_token, weights_in_gb
from grader.reckoned import Reckoning, Values, gpu_of, model_of, shown
from spec import memory
from spec import quantities as q
from spec.solving import Infeasible

GB, GIB = 10**9, 2**30
FEWEST, MOST = 5, 200  # sequences of the shorter context
EXACTLY, LESS, MORE = "exactly-half", "less-than-half", "more-than-half"
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
        *("falcon-7b", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b", "phi-2"),
    ),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "l40s", "v100-32gb", "rtx-5090", "h200"),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    activations=("2 GB", "3 GB", "4 GB", "6 GB", "8 GB"),
    safety_margin=("1 GB", "2 GB", "3 GB", "4 GB"),
    context=(512, 1000, 1024, 1500, 2000, 2048, 3000, 4000, 4096, 6000, 8000, 8192, 12_000, 16_000),
)
LEFT = Reckoning(
    (q.gpu_memory, q.weights, q.activations, q.safety_margin),
    (q.kv_budget,),
    (memory.kv_budget,),
)
HELD = Reckoning(
    (*LEFT.given, q.kv_bytes_per_token, q.context),
    (q.kv_budget, q.concurrency),
    (memory.kv_budget, memory.fits),
)


def left(v: Values) -> Fraction:
    """Give the bytes that are left for the cache."""
    return v["gpu_memory"] - v["weights"] - v["activations"] - v["safety_margin"]


def held(v: Values, times: int = 1) -> int:
    """Give how many sequences of so many times the context fit."""
    found = memory.fits.solve(
        "concurrency",
        context=times * int(v["context"]),
        kv_bytes_per_token=v["kv_bytes_per_token"],
        kv_budget=left(v),
    )
    return 0 if isinstance(found, Infeasible) else int(found)


def instead(v: Values, budget: Fraction, times: int) -> int:
    """Give how many fit another budget."""
    return int(budget / (times * v["context"] * v["kv_bytes_per_token"]))


def keep(case: Draw) -> bool:
    """Keep contexts that the model can double, and numbers of which half is worth asking."""
    v = {name: Fraction(value) for name, value in case.values.items()}
    window = case.model.window if case.model else None
    if left(v) <= 0 or (window is not None and 2 * v["context"] > window):
        return False
    return FEWEST <= held(v) <= MOST


def asked(times: int, question: str) -> CaseAsk[Draw]:
    """Ask how many sequences of once or twice the context fit."""

    def key(v: Values) -> int:
        return held(v, times)

    def line(c: Draw) -> str:
        return f"{2 * int(c.values['context']):,} tokens" if times > 1 else str(c.amounts["context"])

    extra = (
        (
            HELD.slip("doubled", "Twice the context was taken to double the sequences.", lambda v: 2 * held(v), key),
            HELD.slip("quarter", "A quarter was taken; the cache grows with the length.", lambda v: held(v) // 4, key),
            HELD.slip("unchanged", "That is the number at the shorter context.", held, key),
            HELD.slip("half-rounded-up", "Half a sequence was counted whole.", lambda v: (held(v) + 1) // 2, key),
        )
        if times > 1
        else (HELD.slip("rounded-up", "Part of a sequence was counted as a whole one.", lambda v: held(v) + 1, key),)
    )
    return CaseAsk(
        asks="new_concurrency" if times > 1 else "concurrency",
        question=lambda c: question.format(line(c)),
        kind="count",
        unit="sequence",
        capacity=True,
        key=lambda c: key(HELD.values(c)),
        givens=lambda c: HELD.givens(c, q.context) if times == 1 else (),
        slips=(
            *extra,
            HELD.slip(
                "all-in-GiB",
                "The sizes in GB were read as GiB.",
                lambda v: instead(v, left(v) * GIB / GB, times),
                key,
            ),
            HELD.slip(
                "reserves-forgotten",
                "Activations and the safety margin take memory too.",
                lambda v: instead(v, v["gpu_memory"] - v["weights"], times),
                key,
            ),
            HELD.slip(
                "weights-forgotten",
                "The weights were left out.",
                lambda v: instead(v, left(v) + v["weights"], times),
                key,
            ),
            HELD.slip(
                "keys-only",
                "The cache of a token was halved; it holds keys and values already.",
                lambda v: instead(v, 2 * left(v), times),
                key,
            ),
        ),
        hints=lambda c: (
            "Find what the weights and the reserves leave, and how often the cache of one sequence goes into that.",
            "N = (M - W - A - S) / (c k), rounded down.",
            (
                f"({c.amounts['gpu_memory']} - {c.amounts['weights']} - {c.amounts['activations']} - "
                f"{c.amounts['safety_margin']}) / ({line(c)} x {c.amounts['kv_bytes_per_token']}), rounded down."
            ),
        ),
        explained=lambda c: LEFT.lines(
            c,
            Explained(
                "fits",
                memory.fits.says,
                f"{shown(left(HELD.values(c)) / GB, 'GB')} / ({line(c)} x {c.amounts['kv_bytes_per_token']}), rounded "
                f"down: sequences = {shown(key(HELD.values(c)), 'sequence')}",
            ),
        ),
    )


def label(case: Draw) -> str:
    """Say how the two numbers compare: the second is half of the first rounded down."""
    v = HELD.values(case)
    return EXACTLY if 2 * held(v, 2) == held(v) else LESS


def next_one(v: Values) -> Fraction:
    """Give the GB that are missing for one more sequence of twice the context."""
    return ((held(v, 2) + 1) * 2 * v["context"] * v["kv_bytes_per_token"] - left(v)) / GB


parity: CaseAsk[Draw] = CaseAsk(
    asks="parity",
    question=lambda _: "Is the second number exactly half of the first, less than half of it, or more than half of it?",
    kind="choice",
    options=lambda _: (EXACTLY, LESS, MORE),
    key=label,
    slips=(
        CaseSlip(
            "always-exactly",
            "Half of an odd number is no whole number of sequences: what does not fit whole is lost.",
            lambda _: EXACTLY,
            lambda c: label(c) != EXACTLY,
        ),
        CaseSlip(
            "always-less",
            "The first number is even here: two sequences always make room for one of twice the length.",
            lambda _: LESS,
            lambda c: label(c) != LESS,
        ),
        CaseSlip(
            "more-than-half",
            "Two sequences make room for one of twice the length, and one alone does not: it is never more than half.",
            lambda _: MORE,
        ),
    ),
    hints=lambda _: (
        "Compare the two numbers. Rounding happens after the division, not before.",
        "Two sequences of c tokens take the room of one of 2 c: what matters is whether one is left over.",
        "Look at whether the first number is even or odd.",
    ),
    explained=lambda c: (
        Explained(
            "fits",
            "Half of the number, rounded down: for an odd number one sequence has no partner.",
            f"{held(HELD.values(c)):,} and {held(HELD.values(c), 2):,}: {label(c)}",
        ),
    ),
)
one_more: CaseAsk[Draw] = CaseAsk(
    asks="missing_memory",
    question=lambda c: (
        "How much more memory, in GB, would the GPU need at least to hold one sequence of "
        f"{2 * int(c.values['context']):,} tokens more than it does?"
    ),
    kind="quantity",
    unit="GB",
    tolerance=FINE,
    key=lambda c: next_one(HELD.values(c)),
    slips=(
        HELD.slip(
            "rest-unused",
            "That is one sequence in full; what the others leave is used too.",
            lambda v: 2 * v["context"] * v["kv_bytes_per_token"] / GB,
        ),
        HELD.slip(
            "shorter-context",
            "That is for one more of the shorter sequences.",
            lambda v: ((held(v) + 1) * v["context"] * v["kv_bytes_per_token"] - left(v)) / GB,
            next_one,
        ),
        HELD.slip(
            "what-is-left-over",
            "That is what the sequences leave unused, and not what is missing.",
            lambda v: (left(v) - held(v, 2) * 2 * v["context"] * v["kv_bytes_per_token"]) / GB,
        ),
        HELD.slip(
            "keys-only",
            "The cache of a token was doubled; it holds keys and values already.",
            lambda v: next_one(v) + 2 * v["context"] * v["kv_bytes_per_token"] / GB,
        ),
        HELD.slip(
            "answer-in-GiB",
            "The number is the answer in GiB; it is asked in GB.",
            lambda v: next_one(v) * GB / GIB,
        ),
        HELD.slip("whole-GB", "The answer was rounded up to whole GB.", lambda v: ceil(next_one(v)), next_one),
    ),
    hints=lambda _: (
        "The caches of one sequence more must fit; part of the room for it is there already.",
        "missing = (N + 1) 2 c k - (M - W - A - S), with N the answer to the second question.",
        "Take the caches of one sequence more than fit, and take off the whole budget.",
    ),
    explained=lambda c: LEFT.lines(
        c,
        Explained(
            "missing_memory",
            "What one more needs beyond the budget is missing.",
            f"{held(HELD.values(c), 2) + 1:,} x {2 * int(c.values['context']):,} tokens x "
            f"{c.amounts['kv_bytes_per_token']} - {shown(left(HELD.values(c)) / GB, 'GB', 8)}: "
            f"missing = {shown(next_one(HELD.values(c)), 'GB')}",
        ),
    ),
)
family: CaseFamily[Draw] = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"On one {gpu_of(c)} with {c.amounts['gpu_memory']} of memory the weights of {model_of(c)} take "
        f"{c.amounts['weights']}, activations are given {c.amounts['activations']} and a safety margin of "
        f"{c.amounts['safety_margin']} is kept free. The KV cache takes {c.amounts['kv_bytes_per_token']}, and every "
        "sequence gets room for its whole context."
    ),
    givens=lambda c: HELD.givens(c, *LEFT.given, q.kv_bytes_per_token),
    ways=(
        (
            asked(1, "By memory alone, how many sequences of {} each fit at once?"),
            asked(2, "By memory alone, how many sequences of {} each fit at once?"),
            parity,
            one_more,
        ),
    ),
    keep=keep,
    rubric=(
        "Did you say which resource halves, and that prefill and its time do not simply double with the context?",
        "Did you say why the number may be less than half, and never more?",
        "Did you say what happens to short requests when long ones share their GPUs?",
        "Did you name a remedy, such as a pool of its own for long contexts, and what it costs?",
    ),
    objective="serving-capacity",
    section="memory-budgeting",
    revision=2,
)
