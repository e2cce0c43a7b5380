"""The largest batch under a target for a whole request, which limit binds, and what another batch needs (F17)."""

from collections.abc import Callable
from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, Explained
from grader.family import FINE
from grader.menu import Draw, Menu, cache_of_a_token, in_tb_per_second, weights_in_gb
from grader.reckoned import Reckoning, Values, gpu_of, model_of, shown
from spec import quantities as q
from spec.domains import COUNT
from spec.memory import fits
from spec.phases import cached_tokens_of_batch, decode_bytes, total_time
from spec.solving import Infeasible, last

LABELS = ("time", "memory")
TERA = 10**12
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
        *("phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
    ),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-4090", "l4", "mi300x"),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    bandwidth=in_tb_per_second,
    kv_budget=("5 GB", "8 GB", "12 GB", "20 GB", "30 GB", "45 GB", "60 GB"),
    ttft=("100 ms", "150 ms", "250 ms", "400 ms", "600 ms", "900 ms"),
    output=(10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 700, 1000),
    latency_target=tuple(
        f"{ms} ms" for ms in (500, 600, 800, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12000, 20000, 30000)
    ),
    context=(500, 800, 1000, 1500, 2000, 2500, 3000, 4000, 6000, 8000),
    batch=(4, 6, 8, 12, 16, 24, 32, 40, 48, 64),
)
COMMON = (q.weights, q.kv_bytes_per_token, q.ttft)
BATCH = Reckoning((*COMMON, q.bandwidth, q.context, q.output, q.latency_target, q.kv_budget), (), ())
STEP = (cached_tokens_of_batch, decode_bytes)
TARGET = Reckoning((*COMMON, q.bandwidth, q.context, q.output, q.batch), (q.decode_bytes,), STEP)
OUTPUT = Reckoning((*COMMON, q.bandwidth, q.context, q.latency_target, q.batch), (q.decode_bytes,), STEP)
BANDWIDTH = Reckoning((*COMMON, q.context, q.output, q.latency_target, q.batch), (q.decode_bytes,), STEP)
CONTEXT = Reckoning((*COMMON, q.bandwidth, q.output, q.latency_target, q.batch), (), ())


def step(v: Values, **instead: Fraction | int) -> Fraction:
    """Give the time of a step that waits for memory."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    cached = v["batch"] * v["context"]
    read = decode_bytes(weights=v["weights"], cached_tokens=int(cached), kv_bytes_per_token=v["kv_bytes_per_token"])
    return Fraction(read) / v["bandwidth"]


def total(v: Values, **instead: Fraction | int) -> Fraction:
    """Give the time of a whole request."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    return Fraction(total_time(ttft=v["ttft"], output=int(v["output"]), tpot=step(v)))


def most(met: Callable[[int], bool]) -> int:
    """Find the last whole number from 1 on that meets a target, 0 where none does."""
    return last(COUNT, met) or 0


def by_time(v: Values, **instead: Fraction | int) -> int:
    """Give the largest batch whose requests meet their target."""
    target = Fraction(instead.pop("latency_target", v["latency_target"]))
    return most(lambda batch: total(v, batch=batch, **instead) <= target)


def by_memory(v: Values) -> int:
    """Give the largest batch whose caches fit."""
    held = fits.solve(
        "concurrency",
        context=int(v["context"]),
        kv_bytes_per_token=v["kv_bytes_per_token"],
        kv_budget=v["kv_budget"],
    )
    return 0 if isinstance(held, Infeasible) else int(held)


def ttft_per_token(v: Values) -> int:
    """Give the batch by time if every token took a time to first token too."""
    return by_time(v, ttft=0, latency_target=v["latency_target"] - v["output"] * v["ttft"])


def largest(v: Values) -> int | None:
    """Give the largest batch that both limits allow."""
    return min(by_time(v), by_memory(v)) or None


def within(v: Values, batch: int) -> int:
    """Cap a batch that was found by time at what the memory holds."""
    return min(batch, by_memory(v))


def binding(v: Values) -> str:
    """Name the limit that binds: time too where it allows no batch at all."""
    return LABELS[by_memory(v) < by_time(v)]


def left(v: Values) -> Fraction:
    """Give the time that is left for each step."""
    return (v["latency_target"] - v["ttft"]) / (v["output"] - 1)


def keep(case: Draw) -> bool:
    """Keep targets that leave time after the first token, limits apart from each other, and batches of a size.

    The GPU holds the batch, and the context, which counts the output too, is no shorter than that.
    """
    v = {name: Fraction(value) for name, value in case.values.items()}
    caches = max(v["kv_budget"], v["batch"] * v["context"] * v["kv_bytes_per_token"])
    placed = v["weights"] + caches <= v["gpu_memory"] and v["latency_target"] > v["ttft"]
    if not placed or not 1 <= 4 * total(v) / v["latency_target"] <= 16:  # noqa: PLR2004  a range
        return False
    if v["context"] < v["output"] or v["context"] < (longest_output(v) or 0):
        return False
    time, memory = by_time(v), by_memory(v)
    return memory > 1 and time != memory and time < 4 * memory + 4


def reason(case: Draw) -> str:
    """Say by how much a single sequence misses the target."""
    v = BATCH.values(case)
    missed = 1000 * (total(v, batch=1) - v["latency_target"])
    return f"Even one sequence alone misses the target by {shown(missed, 'ms', 4)}."


SLOWER = ("first-token-decoded", "The first token comes from prefill: one step less.")
NO_TTFT = ("ttft-forgotten", "The time to first token was left out.")
UNREAD = ("cache-unread", "Only the weights were read; the cache must be read too.")
PER_SEQUENCE = ("weights-per-sequence", "The weights were read once for every sequence; a step reads them once.")
PER_TOKEN = ("ttft-per-token", "The time to first token was added for every token.")
IN_SECONDS = ("answer-in-ms", "The number is the answer in ms; it is asked in s.")

TELL = (
    "Time: TTFT + (m - 1) x (W + B c k) / BW <= T. Memory: B c k <= B_kv.",
    "First the first token comes, then m - 1 steps read the weights once and every cache.",
)


def steps_of(case: Draw) -> str:
    """Write what a request takes with a batch of B."""
    a = case.amounts
    return (
        f"{a['ttft']} + ({a['output']} - 1) * ({a['weights']} + B * {a['context']} * {a['kv_bytes_per_token']}) / "
        f"{a['bandwidth']} <= {a['latency_target']}"
    )


def caches_of(case: Draw) -> str:
    """Write what the caches of a batch of B take."""
    a = case.amounts
    return f"B * {a['context']} * {a['kv_bytes_per_token']} <= {a['kv_budget']}"


def steps_with(case: Draw) -> str:
    """Write what a request takes with a context of c."""
    a = case.amounts
    return (
        f"{a['ttft']} + ({a['output']} - 1) * ({a['weights']} + {a['batch']} * c * {a['kv_bytes_per_token']}) / "
        f"{a['bandwidth']} <= {a['latency_target']}"
    )


size: CaseAsk[Draw] = CaseAsk(
    asks="batch",
    question=lambda c: (
        f"An {gpu_of(c)} reads {c.amounts['bandwidth']} and has {c.amounts['kv_budget']} for caches; each request asks "
        f"for {c.amounts['output']} of output and must end within {c.amounts['latency_target']} after arrival. "
        f"How many sequences, each with a context of {c.amounts['context']}, may the batch hold at most?"
    ),
    kind="count",
    unit="sequence",
    capacity=True,
    key=lambda c: largest(BATCH.values(c)),
    reason=reason,
    givens=lambda c: BATCH.givens(c, q.bandwidth, q.kv_budget, q.output, q.latency_target, q.context),
    slips=(
        BATCH.slip(*NO_TTFT, lambda v: within(v, by_time(v, ttft=0)), largest),
        BATCH.slip(*SLOWER, lambda v: within(v, by_time(v, output=int(v["output"]) + 1)), largest),
        BATCH.slip(*PER_TOKEN, lambda v: within(v, ttft_per_token(v)), largest),
        BATCH.slip(*PER_SEQUENCE, lambda v: within(v, int(left(v) // step(v, batch=1)))),
        BATCH.slip(
            "values-twice",
            "The cache of a token holds its key and its value already.",
            lambda v: min(by_time(v), by_memory(v) // 2),
            largest,
        ),
        BATCH.slip(
            "tokens-in-time",
            "That is how many times faster than the target a sequence alone is; a batch does not divide that time.",
            lambda v: int(v["latency_target"] / v["output"] // step(v, batch=1)),
        ),
        BATCH.slip(
            "memory-alone",
            "That is what the memory holds; the target allows less.",
            lambda v: None if by_memory(v) <= by_time(v) else by_memory(v),
        ),
        BATCH.slip(
            "time-alone",
            "That is what the target allows; the memory holds less.",
            lambda v: None if by_time(v) <= by_memory(v) else by_time(v),
        ),
        BATCH.slip(
            "rounded-up",
            "The number was rounded up; a part of a sequence does not count.",
            lambda v: (largest(v) or 0) + 1,
        ),
    ),
    hints=lambda c: (
        "A batch has two limits: the time of a whole request, and the memory for caches. " + TELL[1],
        TELL[0] + " The smaller of the two batches is the largest that both allow.",
        f"{steps_of(c)}, and {caches_of(c)}.",
    ),
    explained=lambda c: (
        Explained("total_time", TELL[1], f"{steps_of(c)} allows B = {by_time(BATCH.values(c)):,}"),
        Explained(
            "fits",
            "All caches together fit the budget.",
            f"{caches_of(c)} allows B = {by_memory(BATCH.values(c)):,}",
        ),
        Explained("both", "The smaller limit binds.", f"batch = {shown(largest(BATCH.values(c)), 'sequence')}"),
    ),
)
limit: CaseAsk[Draw] = CaseAsk(
    asks="limit",
    question=lambda _: "Which of the two limits binds there, time or memory?",
    kind="choice",
    options=lambda _: LABELS,
    key=lambda c: binding(BATCH.values(c)),
    slips=(
        BATCH.slip(
            "limits-exchanged",
            "The larger limit was taken to bind; the smaller one does.",
            lambda v: LABELS[binding(v) == LABELS[0]],
        ),
    ),
    hints=lambda _: (
        "Compare what the target allows with what the memory holds.",
        "The smaller of the two batches binds.",
        "Compare the two batches that lead to your answer to part a.",
    ),
    explained=lambda c: (
        Explained(
            "both",
            "The smaller limit binds.",
            f"time allows {by_time(BATCH.values(c)):,}, memory {by_memory(BATCH.values(c)):,}: "
            f"{binding(BATCH.values(c))}",
        ),
    ),
)
target: CaseAsk[Draw] = CaseAsk(
    asks="latency_target",
    question=lambda c: (
        f"An {gpu_of(c)} reads {c.amounts['bandwidth']} and runs a batch of {c.amounts['batch']}, each with a context "
        f"of {c.amounts['context']}; each request asks for {c.amounts['output']} of output. How long after arrival, in "
        "s, does a request end?"
    ),
    kind="quantity",
    unit="s",
    tolerance=FINE,
    key=lambda c: total(TARGET.values(c)),
    givens=lambda c: TARGET.givens(c, q.bandwidth, q.batch, q.context, q.output),
    slips=(
        TARGET.slip(*NO_TTFT, lambda v: total(v, ttft=0)),
        TARGET.slip(*SLOWER, lambda v: total(v) + step(v)),
        TARGET.slip(*UNREAD, lambda v: total(v, context=0)),
        TARGET.slip(*PER_SEQUENCE, lambda v: v["ttft"] + (v["output"] - 1) * v["batch"] * step(v, batch=1)),
        TARGET.slip(*PER_TOKEN, lambda v: v["output"] * (v["ttft"] + step(v))),
        TARGET.slip(*IN_SECONDS, lambda v: 1000 * total(v)),
    ),
    hints=lambda c: TARGET.hints(c, TELL[1], "A step takes decode_bytes / BW, and a request TTFT + (m - 1) steps."),
    explained=lambda c: TARGET.lines(
        c,
        Explained(
            "total_time",
            TELL[1],
            f"{c.amounts['ttft']} + ({c.amounts['output']} - 1) * decode_bytes / {c.amounts['bandwidth']} = "
            f"{shown(total(TARGET.values(c)), 's')}",
        ),
    ),
)


def longest_output(v: Values, **instead: Fraction | int) -> int | None:
    """Give the longest output whose request meets its target."""
    room = v["latency_target"] - Fraction(instead.pop("ttft", v["ttft"]))
    return 1 + int(room // step(v, **instead)) if room >= 0 else None


length: CaseAsk[Draw] = CaseAsk(
    asks="output",
    question=lambda c: (
        f"An {gpu_of(c)} reads {c.amounts['bandwidth']} and runs a batch of {c.amounts['batch']}, each with a context "
        f"of {c.amounts['context']}; each request must end within {c.amounts['latency_target']} after arrival. How "
        "many output tokens may a request ask for at most?"
    ),
    kind="count",
    unit="token",
    capacity=True,
    key=lambda c: longest_output(OUTPUT.values(c)),
    givens=lambda c: OUTPUT.givens(c, q.bandwidth, q.batch, q.context, q.latency_target),
    slips=(
        OUTPUT.slip(*NO_TTFT, lambda v: longest_output(v, ttft=0)),
        OUTPUT.slip(*SLOWER, lambda v: (longest_output(v) or 0) - 1),
        OUTPUT.slip(*UNREAD, lambda v: longest_output(v, context=0)),
        OUTPUT.slip(
            *PER_SEQUENCE, lambda v: 1 + int((v["latency_target"] - v["ttft"]) // (v["batch"] * step(v, batch=1)))
        ),
        OUTPUT.slip(*PER_TOKEN, lambda v: int(v["latency_target"] // (v["ttft"] + step(v)))),
    ),
    hints=lambda c: OUTPUT.hints(c, TELL[1], "m = 1 + (T - TTFT) / (decode_bytes / BW), rounded down."),
    explained=lambda c: OUTPUT.lines(
        c,
        Explained(
            "total_time",
            TELL[1],
            f"output = 1 + ({c.amounts['latency_target']} - {c.amounts['ttft']}) / (decode_bytes / "
            f"{c.amounts['bandwidth']}), rounded down = {shown(longest_output(OUTPUT.values(c)), 'token')}",
        ),
    ),
)


def least_bandwidth(v: Values, **instead: Fraction | int) -> Fraction:
    """Give the bandwidth, in TB/s, with which a request ends just in time."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    return v["decode_bytes"] / left(v) / TERA


speed: CaseAsk[Draw] = CaseAsk(
    asks="bandwidth",
    question=lambda c: (
        f"A GPU runs a batch of {c.amounts['batch']}, each with a context of {c.amounts['context']}; each request asks "
        f"for {c.amounts['output']} of output and must end within {c.amounts['latency_target']} after arrival. What "
        "bandwidth, in TB/s, does that need at least?"
    ),
    kind="quantity",
    unit="TB/s",
    tolerance=FINE,
    key=lambda c: least_bandwidth(BANDWIDTH.values(c)),
    givens=lambda c: BANDWIDTH.givens(c, q.batch, q.context, q.output, q.latency_target),
    slips=(
        BANDWIDTH.slip(*NO_TTFT, lambda v: least_bandwidth(v, ttft=0)),
        BANDWIDTH.slip(*SLOWER, lambda v: least_bandwidth(v, output=v["output"] + 1)),
        BANDWIDTH.slip(*UNREAD, lambda v: least_bandwidth(v, decode_bytes=v["weights"])),
        BANDWIDTH.slip(
            *PER_SEQUENCE,
            lambda v: least_bandwidth(v, decode_bytes=v["decode_bytes"] + (v["batch"] - 1) * v["weights"]),
        ),
        BANDWIDTH.slip(
            "cache-shared",
            "The cache was read once for the whole batch; every sequence has its own.",
            lambda v: least_bandwidth(v, decode_bytes=v["weights"] + v["context"] * v["kv_bytes_per_token"]),
        ),
    ),
    hints=lambda c: BANDWIDTH.hints(c, TELL[1], "BW = decode_bytes x (m - 1) / (T - TTFT)."),
    explained=lambda c: BANDWIDTH.lines(
        c,
        Explained(
            "total_time",
            TELL[1],
            f"bandwidth = decode_bytes * ({c.amounts['output']} - 1) / ({c.amounts['latency_target']} - "
            f"{c.amounts['ttft']}) = {shown(least_bandwidth(BANDWIDTH.values(c)), 'TB/s')}",
        ),
    ),
)


def longest_context(v: Values, **instead: Fraction | int) -> int | None:
    """Give the longest context with which every request of the batch meets its target."""
    return most(lambda context: total(v, context=context, **instead) <= v["latency_target"]) or None


reach: CaseAsk[Draw] = CaseAsk(
    asks="context",
    question=lambda c: (
        f"An {gpu_of(c)} reads {c.amounts['bandwidth']} and runs a batch of {c.amounts['batch']}; each request asks "
        f"for {c.amounts['output']} of output and must end within {c.amounts['latency_target']} after arrival. By time "
        "alone, how long a context, in tokens, may every sequence have at most?"
    ),
    kind="count",
    unit="token",
    capacity=True,
    key=lambda c: longest_context(CONTEXT.values(c)),
    reason=lambda c: (
        "Reading the weights alone misses the target by "
        f"{shown(1000 * (total(CONTEXT.values(c), context=0) - CONTEXT.values(c)['latency_target']), 'ms', 4)}."
        if total(CONTEXT.values(c), context=0) > CONTEXT.values(c)["latency_target"]
        else "Not even a single token of context leaves the steps enough time."
    ),
    givens=lambda c: CONTEXT.givens(c, q.bandwidth, q.batch, q.output, q.latency_target),
    slips=(
        CONTEXT.slip(*NO_TTFT, lambda v: longest_context(v, ttft=0)),
        CONTEXT.slip(*SLOWER, lambda v: longest_context(v, output=int(v["output"]) + 1)),
        CONTEXT.slip(
            "all-sequences-as-one",
            "These are the tokens of all sequences together; each has its share.",
            lambda v: longest_context(v, batch=1),
        ),
        CONTEXT.slip(
            "weights-unread",
            "Only the caches were read; each step reads the weights too.",
            lambda v: int(left(v) * v["bandwidth"] // (v["batch"] * v["kv_bytes_per_token"])),
        ),
    ),
    hints=lambda c: (
        TELL[1],
        TELL[0].partition(". ")[0] + ", solved for c and rounded down.",
        f"{steps_with(c)}.",
    ),
    explained=lambda c: (
        Explained(
            "total_time",
            TELL[1],
            f"{steps_with(c)}: context = {shown(longest_context(CONTEXT.values(c)), 'token')}",
        ),
    ),
)
family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"The weights of {model_of(c)} take {c.amounts['weights']}, and it caches {c.amounts['kv_bytes_per_token']}. "
        f"A request gets its first token {c.amounts['ttft']} after arrival, and every further one from a decode step "
        "of its own. A step takes as long as reading the weights once and the caches of all sequences of the batch, at "
        "the full bandwidth."
    ),
    givens=lambda c: BATCH.givens(c, *COMMON),
    ways=((size, limit), (target,), (length,), (speed,), (reach,)),
    keep=keep,
    infeasible=True,
    revision=2,
    objective="latency-target",
    section="batching",
)
