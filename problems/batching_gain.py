"""What a batch gains and costs when decode waits for memory, and what a wanted gain asks for (F19)."""

from fractions import Fraction
from itertools import pairwise
from math import ceil, isqrt

from grader.case import CaseAsk, CaseFamily, Explained
from grader.family import FINE
from grader.menu import Draw, Menu, cache_of_a_token, weights_in_gb
from grader.reckoned import Reckoning, Values, model_of, shown
from spec import batching
from spec import quantities as q
from spec.domains import COUNT
from spec.solving import Infeasible, last

GB, SHARED = 10**9, 4  # heads that share a key-value head by mistake
LEAST_RATIO, APART = Fraction(1, 50), Fraction(102, 100)  # of the cache to the weights; of one answer to another
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
        *("qwen3-8b", "gemma-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
    ),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    batch=(2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64),
    context=(500, 800, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000, 10_000, 16_000),
    batching_gain=("1.5", "2", "2.5", "3", "3.5", "4", "4.5", "5", "6", "7", "8", "9", "10", "12", "15", "20"),
)
FOUND = (q.cache_to_weights,)
RATIO = (batching.cache_to_weights,)
GIVEN = Reckoning(
    (q.weights, q.kv_bytes_per_token, q.batch, q.context),
    (q.cache_to_weights, q.batching_gain, q.latency_factor, q.batching_limit),
    (*RATIO, batching.batching_gain, batching.latency_factor, batching.batching_limit),
)
CONTEXT = Reckoning((q.weights, q.kv_bytes_per_token, q.batch, q.batching_gain), (), ())
BATCH = Reckoning((q.weights, q.kv_bytes_per_token, q.context, q.batching_gain), FOUND, RATIO)
WEIGHTS = Reckoning((q.kv_bytes_per_token, q.batch, q.context, q.batching_gain), (), ())


def part(of: q.Quantity) -> Reckoning:
    """Give the steps that lead to one of the three."""
    return Reckoning(GIVEN.given, (of,), GIVEN.by)


GAIN, FACTOR, LIMIT = part(q.batching_gain), part(q.latency_factor), part(q.batching_limit)


def ratio(v: Values) -> Fraction:
    """Give what a context adds to a step, against the weights."""
    return Fraction(
        batching.cache_to_weights(
            context=int(v["context"]), kv_bytes_per_token=v["kv_bytes_per_token"], weights=v["weights"]
        )
    )


def gain(v: Values, **instead: Fraction | int) -> Fraction:
    """Give the gain of a batch when some of the numbers are taken otherwise."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    return Fraction(batching.batching_gain(batch=int(v["batch"]), cache_to_weights=ratio(v)))


def factor(v: Values, **instead: Fraction | int) -> Fraction:
    """Give the factor by which a step of the batch slows down."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    return Fraction(batching.latency_factor(batch=int(v["batch"]), cache_to_weights=ratio(v)))


def longest(v: Values, **instead: Fraction | int) -> int | None:
    """Give the longest context with which the batch still gains what is wanted."""
    if v["batching_gain"] >= v["batch"]:
        return None
    return last(COUNT, lambda context: gain(v, context=context, **instead) >= v["batching_gain"])


def smallest(v: Values, **instead: Fraction | int) -> int | None:
    """Give the smallest batch that gains what is wanted."""
    changed = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    if v["batching_gain"] >= batching.batching_limit(cache_to_weights=ratio(changed)):
        return None
    return (last(COUNT, lambda batch: gain(changed, batch=batch) < v["batching_gain"]) or 0) + 1


def lightest(v: Values, **instead: Fraction | int) -> Fraction | None:
    """Give the least weights, in GB, with which the batch gains what is wanted."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    found = batching.batching_gain.solve("cache_to_weights", batch=int(v["batch"]), batching_gain=v["batching_gain"])
    if isinstance(found, Infeasible):
        return None
    weights = batching.cache_to_weights.solve(
        "weights", context=int(v["context"]), kv_bytes_per_token=v["kv_bytes_per_token"], cache_to_weights=found
    )
    return None if isinstance(weights, Infeasible) else Fraction(weights) / GB


def keep(case: Draw) -> bool:
    """Keep ratios that matter, answers that differ, and wanted gains within a factor of two of the batch's."""
    v = {name: Fraction(value) for name, value in case.values.items()}
    wanted, own = v["batching_gain"], gain(v)
    answers = sorted((own, factor(v), Fraction(batching.batching_limit(cache_to_weights=ratio(v)))))
    apart = all(APART * low < high for low, high in pairwise(answers))
    return apart and LEAST_RATIO <= ratio(v) <= 1 and own <= 2 * wanted <= 4 * own and wanted != own


SHARED_CACHE = ("cache-shared", "The cache was read once for the whole batch; every sequence has its own.")
GROUPED = ("quarter-of-the-cache", "The cache was taken for a quarter of its size, as if four heads shared one.")
OF_LATENCY = ("latency-for-gain", "The factor by which a step slows down was taken for the gain.")
ROOT = ("root-of-the-batch", "The gain was taken as the root of the batch; it follows from what a step reads.")
REACHES = "Then the gain is B (1 + r) / (1 + B r)."


def root(batch: Fraction) -> Fraction:
    """Give the root of a batch to three decimals."""
    return Fraction(isqrt(int(batch) * 10**6), 1000)


def reached(case: Draw) -> str:
    """Write that a batch gains what is wanted."""
    batch = int(case.values["batch"])
    return f"{batch} x (1 + r) / (1 + {batch} x r) >= {case.amounts['batching_gain']}"


gains: CaseAsk[Draw] = CaseAsk(
    asks="batching_gain",
    question=lambda c: (
        f"With weights of {c.amounts['weights']}, how many times the throughput of one sequence does a batch of "
        f"{c.amounts['batch']}, each with a context of {c.amounts['context']}, have?"
    ),
    kind="number",
    tolerance=FINE,
    key=lambda c: GIVEN.values(c)["batching_gain"],
    givens=lambda c: GIVEN.givens(c, q.weights, q.batch, q.context),
    slips=(
        GIVEN.slip(*SHARED_CACHE, lambda v: v["batch"]),
        GIVEN.slip("latency-for-gain", "That is the factor by which a step slows down.", lambda v: v["latency_factor"]),
        GIVEN.slip(*ROOT, lambda v: root(v["batch"])),
        GIVEN.slip(*GROUPED, lambda v: gain(v, kv_bytes_per_token=v["kv_bytes_per_token"] / SHARED)),
        GIVEN.slip(
            "weights-per-sequence",
            "The weights were read once for every sequence; a step reads them once.",
            lambda _: 1,
        ),
    ),
    hints=lambda c: GAIN.hints(c, ""),
    explained=GAIN.lines,
)
factors: CaseAsk[Draw] = CaseAsk(
    asks="latency_factor",
    question=lambda _: "How many times as long as a step of one sequence does a step of that batch take?",
    kind="number",
    tolerance=FINE,
    key=lambda c: GIVEN.values(c)["latency_factor"],
    givens=lambda c: GIVEN.givens(c, q.weights, q.batch, q.context),
    slips=(
        GIVEN.slip(
            "linear-latency",
            "The step was taken to slow down with the batch; the weights are read once.",
            lambda v: v["batch"],
        ),
        GIVEN.slip("weights-alone", "Only the weights were read; the caches slow a step down.", lambda _: 1),
        GIVEN.slip(
            "against-the-weights",
            "A step of the batch was compared with reading the weights alone; one sequence has a cache too.",
            lambda v: 1 + v["batch"] * v["cache_to_weights"],
        ),
        GIVEN.slip("inverted", "The two steps were compared the other way round.", lambda v: 1 / v["latency_factor"]),
        GIVEN.slip("gain-for-latency", "That is how much the throughput gains.", lambda v: v["batching_gain"]),
    ),
    hints=lambda c: FACTOR.hints(c, ""),
    explained=FACTOR.lines,
)
limits: CaseAsk[Draw] = CaseAsk(
    asks="batching_limit",
    question=lambda _: "Which gain in throughput does no batch of such contexts exceed, however large it is?",
    kind="number",
    tolerance=FINE,
    key=lambda c: GIVEN.values(c)["batching_limit"],
    givens=lambda c: GIVEN.givens(c, q.weights, q.context),
    slips=(
        GIVEN.slip("one-forgotten", "The sequence itself counts too: 1 + 1/r.", lambda v: 1 / v["cache_to_weights"]),
        GIVEN.slip("ratio-itself", "That is r, and the limit is 1 + 1/r.", lambda v: v["cache_to_weights"]),
        GIVEN.slip(
            "ratio-not-inverted", "That is 1 + r, and the limit is 1 + 1/r.", lambda v: 1 + v["cache_to_weights"]
        ),
        GIVEN.slip("batch-itself", "That is the size of the batch.", lambda v: v["batch"]),
        GIVEN.slip(*GROUPED, lambda v: 1 + SHARED / v["cache_to_weights"]),
    ),
    hints=lambda c: LIMIT.hints(c, ""),
    explained=LIMIT.lines,
)
contexts: CaseAsk[Draw] = CaseAsk(
    asks="context",
    question=lambda c: (
        f"With weights of {c.amounts['weights']}, how long a context, in tokens, may each of {c.amounts['batch']} have "
        f"at most so that their batch has at least {c.amounts['batching_gain']} times the throughput of one of them?"
    ),
    kind="count",
    unit="token",
    capacity=True,
    key=lambda c: longest(CONTEXT.values(c)),
    reason=lambda c: (
        f"Even without a cache a batch of {c.amounts['batch']} has {int(c.values['batch'])} times the throughput of "
        "one, and with any cache less."
    ),
    givens=lambda c: CONTEXT.givens(c, q.weights, q.batch, q.batching_gain),
    slips=(
        CONTEXT.slip(*GROUPED, lambda v: longest(v, kv_bytes_per_token=v["kv_bytes_per_token"] / SHARED)),
        CONTEXT.slip(
            "limit-for-gain",
            "That is the context at which the limit is what is wanted; only an endless batch gets there.",
            lambda v: int(v["weights"] / (v["kv_bytes_per_token"] * (v["batching_gain"] - 1))),
        ),
        CONTEXT.slip(
            "all-sequences-as-one",
            "These are the tokens of all sequences together; each has its share.",
            lambda v: None if longest(v) is None else (longest(v) or 0) * int(v["batch"]),
        ),
        CONTEXT.slip(
            "one-forgotten",
            "A step of one sequence reads its cache too.",
            lambda v: (
                int(
                    (v["batch"] - v["batching_gain"])
                    * v["weights"]
                    / (v["batch"] * v["batching_gain"] * v["kv_bytes_per_token"])
                )
                if v["batch"] > v["batching_gain"]
                else None
            ),
        ),
        CONTEXT.slip(
            "rounded-up",
            "The number was rounded up; with one token more the gain is smaller.",
            lambda v: (longest(v) or -1) + 1 or None,
        ),
    ),
    hints=lambda c: (
        "A step reads the weights once and every cache; with r = c k / W that decides the gain.",
        "B (1 + r) / (1 + B r) >= g, solved for r, and then c = r W / k, rounded down.",
        f"{reached(c)}, and c = r x {c.amounts['weights']} / {c.amounts['kv_bytes_per_token']}.",
    ),
    explained=lambda c: (
        Explained(
            "batching_gain",
            "A batch reads the weights once for all, but every cache for itself.",
            f"{reached(c)} with r = c * {c.amounts['kv_bytes_per_token']} / {c.amounts['weights']}: "
            f"context = {shown(longest(CONTEXT.values(c)), 'token')}",
        ),
    ),
)
batches: CaseAsk[Draw] = CaseAsk(
    asks="batch",
    question=lambda c: (
        f"With weights of {c.amounts['weights']}, how many sequences, each with a context of {c.amounts['context']}, "
        f"must a batch hold at least to have {c.amounts['batching_gain']} times the throughput of one of them?"
    ),
    kind="count",
    unit="sequence",
    key=lambda c: smallest(BATCH.values(c)),
    reason=lambda c: (
        "No batch gains more than 1 + 1/r, which is "
        f"{shown(batching.batching_limit(cache_to_weights=ratio(BATCH.values(c))), '1', 4)} here."
    ),
    givens=lambda c: BATCH.givens(c, q.weights, q.context, q.batching_gain),
    slips=(
        BATCH.slip(
            "linear-gain",
            "The gain was taken as the batch size; every sequence adds its own cache to read.",
            lambda v: ceil(v["batching_gain"]),
        ),
        BATCH.slip(*GROUPED, lambda v: smallest(v, kv_bytes_per_token=v["kv_bytes_per_token"] / SHARED)),
        BATCH.slip(
            *OF_LATENCY,
            lambda v: ceil((v["batching_gain"] * (1 + v["cache_to_weights"]) - 1) / v["cache_to_weights"]),
        ),
        BATCH.slip(
            "rounded-down",
            "The number was rounded down; that batch gains a little less.",
            lambda v: None if smallest(v) is None else (smallest(v) or 0) - 1,
        ),
        BATCH.slip(*ROOT, lambda v: ceil(v["batching_gain"] ** 2)),
    ),
    hints=lambda c: BATCH.hints(c, REACHES, "B (1 + r) / (1 + B r) >= g, solved for B and rounded up."),
    explained=lambda c: BATCH.lines(
        c,
        Explained(
            "batching_gain",
            "A batch reads the weights once for all, but every cache for itself.",
            f"B (1 + r) / (1 + B r) >= {c.amounts['batching_gain']}: batch "
            f"= {shown(smallest(BATCH.values(c)), 'sequence')}",
        ),
    ),
)
weights: CaseAsk[Draw] = CaseAsk(
    asks="weights",
    question=lambda c: (
        f"How many GB must the weights of a model with such a cache take at least so that a batch of "
        f"{c.amounts['batch']}, each with a context of {c.amounts['context']}, has {c.amounts['batching_gain']} times "
        "the throughput of one sequence?"
    ),
    kind="quantity",
    unit="GB",
    tolerance=FINE,
    key=lambda c: lightest(WEIGHTS.values(c)),
    reason=lambda c: (
        f"However heavy the weights are, a batch of {c.amounts['batch']} has less than {int(c.values['batch'])} times "
        "the throughput of one."
    ),
    givens=lambda c: WEIGHTS.givens(c, q.batch, q.context, q.batching_gain),
    slips=(
        WEIGHTS.slip(*GROUPED, lambda v: lightest(v, kv_bytes_per_token=v["kv_bytes_per_token"] / SHARED)),
        WEIGHTS.slip(
            "limit-for-gain",
            "That is where the limit is what is wanted; only an endless batch gets there.",
            lambda v: v["context"] * v["kv_bytes_per_token"] * (v["batching_gain"] - 1) / GB,
        ),
        WEIGHTS.slip(
            "one-forgotten",
            "A step of one sequence reads its cache too.",
            lambda v: (
                v["context"]
                * v["kv_bytes_per_token"]
                * v["batch"]
                * v["batching_gain"]
                / ((v["batch"] - v["batching_gain"]) * GB)
                if v["batch"] > v["batching_gain"]
                else None
            ),
        ),
        WEIGHTS.slip(
            "caches-alone",
            "That is what the caches of the batch take.",
            lambda v: v["batch"] * v["context"] * v["kv_bytes_per_token"] / GB,
        ),
    ),
    hints=lambda c: (
        "A step reads the weights once and every cache; with r = c k / W that decides the gain.",
        "B (1 + r) / (1 + B r) >= g, solved for r, and then W = c k / r.",
        f"{reached(c)}, and W = {c.amounts['context']} x {c.amounts['kv_bytes_per_token']} / r.",
    ),
    explained=lambda c: (
        Explained(
            "batching_gain",
            "A batch reads the weights once for all, but every cache for itself.",
            f"{reached(c)} with r = {c.amounts['context']} * {c.amounts['kv_bytes_per_token']} / W: "
            f"weights = {shown(lightest(WEIGHTS.values(c)), 'GB')}",
        ),
    ),
)
family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"{model_of(c)} caches {c.amounts['kv_bytes_per_token']}. A decode step takes as long as reading the weights "
        "once and the caches of all sequences of the batch; arithmetic does not count."
    ),
    givens=lambda c: GIVEN.givens(c, q.kv_bytes_per_token),
    ways=((gains, factors, limits), (contexts,), (batches,), (weights,)),
    keep=keep,
    infeasible=True,
    revision=2,
    objective="batching",
    section="batching",
)
