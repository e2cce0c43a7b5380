"""What GPUs that share a model tell each other in a decode step, and what sharing it saves them (F32)."""

from fractions import Fraction

from grader.amounts import spoken
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from grader.family import FINE
from grader.menu import Draw, Menu, cache_of_a_token, weights_in_gb
from grader.reckoned import Reckoning, Values, gpu_of, model_of, shown
from spec import quantities as q
from spec.memory import holds_tokens, kv_budget
from spec.scaling import (
    all_reduce_bytes,
    all_reduce_payload,
    communication_time,
    kv_bytes_per_token_per_gpu,
    weights_per_gpu,
)
from spec.sharding import holds_tokens_sharded, kv_budget_sharded

MEGA, BITS, MILLISECONDS = 10**6, 8, 1000
ROOM = Fraction(19, 20)  # of a GPU's memory, for weights and reserves
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-72b"),
        *("qwen3-8b", "gemma-7b", "opt-6.7b", "gpt-neox-20b"),
    ),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "b200-sxm", "mi300x"),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    kv_width=("2 B",),
    activation_width=("2 B",),
    tensor_parallel=(2, 4, 8),
    batch=(4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256),
    link_bandwidth=("25 GB/s", "32 GB/s", "50 GB/s", "64 GB/s", "100 GB/s", "150 GB/s", "300 GB/s", "450 GB/s"),
    link_latency=("5 us", "8 us", "10 us", "12 us", "15 us", "20 us", "25 us", "30 us", "40 us"),
    communication_time=(
        "0.25 ms",
        "0.4 ms",
        "0.5 ms",
        "0.8 ms",
        "1 ms",
        "1.5 ms",
        "2 ms",
        "3 ms",
        "4 ms",
        "5 ms",
        "6 ms",
    ),
    activations=("2 GB", "3 GB", "4 GB", "6 GB", "8 GB"),
    safety_margin=("1 GB", "2 GB", "3 GB", "4 GB"),
)
SHAPE = (q.layers, q.hidden, q.activation_width)
LINK = (q.link_bandwidth, q.link_latency)
TRAFFIC = Reckoning(
    (*SHAPE, q.weights, q.batch, q.tensor_parallel), (q.all_reduce_bytes,), (all_reduce_payload, all_reduce_bytes)
)
STEP = Reckoning(
    (*SHAPE, *LINK, q.batch, q.tensor_parallel), (q.communication_time,), (*TRAFFIC.by, communication_time)
)
WITHIN = Reckoning(
    (*SHAPE, *LINK, q.tensor_parallel, q.communication_time),
    (q.all_reduce_bytes, q.all_reduce_payload),
    (communication_time, all_reduce_bytes),
)
OF_GPU = (q.gpu_memory, q.weights, q.activations, q.safety_margin)
CACHE = (q.layers, q.kv_heads, q.head_dim, q.kv_width)
GROUP = Reckoning(
    (*OF_GPU, *CACHE, q.tensor_parallel),
    (q.token_capacity,),
    (weights_per_gpu, kv_budget_sharded, kv_bytes_per_token_per_gpu, holds_tokens_sharded),
)
COPIES = Reckoning((*OF_GPU, q.kv_bytes_per_token), (q.token_capacity,), (kv_budget, holds_tokens))


def keep(case: Draw) -> bool:
    """Keep copies that one GPU holds, and links on which neither latency nor transfer is all that counts."""
    v = case.values
    if v["weights"] + v["activations"] + v["safety_margin"] > ROOM * v["gpu_memory"]:
        return False
    sent = STEP.values(case)["all_reduce_bytes"]
    latency, target = v["link_latency"] * v["link_bandwidth"], v["communication_time"] * v["link_bandwidth"]
    return latency <= 12 * sent <= 144 * latency and target <= 20 * v["layers"] * latency <= 40 * target


ONE = ("one-all-reduce", "One all-reduce per layer was counted; attention and the feed-forward network each take one.")
RING = ("ring-factor-forgotten", "The payload was counted once; a ring sends 2 (t - 1) / t of it.")
EACH = ("whole-payload-per-gpu", "The payload was counted once for every GPU.")
PARTS = (
    "ring-divisor-forgotten",
    "The payload was counted 2 t times; a ring cuts it into t parts, and each GPU sends 2 (t - 1) of them.",
)
LATE = ("latency-forgotten", "The latency of each all-reduce was left out.")
ONCE = ("latency-once", "The latency was counted once for the step; every all-reduce has its own.")


def per_step(v: Values) -> Fraction:
    """Give the bytes that each GPU sends in a decode step."""
    return 2 * v["layers"] * v["all_reduce_bytes"]


def in_mb(v: Values) -> Fraction:
    """Give the same in MB."""
    return per_step(v) / MEGA


traffic: CaseAsk[Draw] = CaseAsk(
    asks="step_traffic",
    question=lambda c: (
        f"The model, whose weights take {c.amounts['weights']}, is shared by {c.amounts['tensor_parallel']}, which do "
        f"decode steps of {c.amounts['batch']}. How many MB does each GPU send in such a step?"
    ),
    kind="quantity",
    unit="MB",
    key=lambda c: in_mb(TRAFFIC.values(c)),
    tolerance=FINE,
    givens=lambda c: TRAFFIC.givens(c, q.tensor_parallel, q.batch, q.weights),
    slips=(
        TRAFFIC.slip(*ONE, lambda v: in_mb(v) / 2),
        TRAFFIC.slip(*RING, lambda v: 2 * v["layers"] * v["all_reduce_payload"] / MEGA, in_mb),
        TRAFFIC.slip(*EACH, lambda v: 2 * v["layers"] * v["tensor_parallel"] * v["all_reduce_payload"] / MEGA),
        TRAFFIC.slip(*PARTS, lambda v: 4 * v["layers"] * v["tensor_parallel"] * v["all_reduce_payload"] / MEGA),
        TRAFFIC.slip(
            "weights-sent",
            "The weights were sent round; they stay where they are, and hidden vectors are summed.",
            lambda v: v["weights"] * (v["tensor_parallel"] - 1) / v["tensor_parallel"] / MEGA,
        ),
        TRAFFIC.slip("bits", "That is the number of megabits; a byte has eight bits.", lambda v: BITS * in_mb(v)),
        TRAFFIC.slip("all-gpus", "That is what all GPUs send together.", lambda v: v["tensor_parallel"] * in_mb(v)),
        TRAFFIC.slip("one-layer", "That is what one layer sends; every layer does.", lambda v: in_mb(v) / v["layers"]),
    ),
    hints=lambda c: TRAFFIC.hints(c, "Every layer takes two of them.", "Then X = 2 L v."),
    explained=lambda c: TRAFFIC.lines(
        c,
        Explained(
            "communication_time",
            "Two all-reduces per layer.",
            f"step_traffic = 2 * layers * all_reduce_bytes = {shown(in_mb(TRAFFIC.values(c)), 'MB')}",
        ),
    ),
)


def taken(v: Values, reduces: int = 2, sent: Fraction | None = None, late: Fraction | None = None) -> Fraction:
    """Give the milliseconds of a step; other numbers of all-reduces, other bytes or another latency may be put in."""
    transfer = (v["all_reduce_bytes"] if sent is None else sent) / v["link_bandwidth"]
    return MILLISECONDS * reduces * v["layers"] * (transfer + (v["link_latency"] if late is None else late))


def in_ms(v: Values) -> Fraction:
    """Give the milliseconds that the law says."""
    return MILLISECONDS * v["communication_time"]


NONE = Fraction(0)
time: CaseAsk[Draw] = CaseAsk(
    asks="communication_time",
    question=lambda _: "How long, in ms, do the all-reduces of the step take?",
    kind="quantity",
    unit="ms",
    key=lambda c: in_ms(STEP.values(c)),
    tolerance=FINE,
    givens=lambda c: STEP.givens(c, q.tensor_parallel, q.batch),
    slips=(
        STEP.slip(*ONE, lambda v: taken(v, reduces=1)),
        STEP.slip(*RING, lambda v: taken(v, sent=v["all_reduce_payload"]), in_ms),
        STEP.slip(*EACH, lambda v: taken(v, sent=v["tensor_parallel"] * v["all_reduce_payload"])),
        STEP.slip(*PARTS, lambda v: taken(v, sent=2 * v["tensor_parallel"] * v["all_reduce_payload"])),
        STEP.slip(*LATE, lambda v: taken(v, late=NONE)),
        STEP.slip(*ONCE, lambda v: taken(v, late=NONE) + MILLISECONDS * v["link_latency"]),
        STEP.slip("latency-alone", "What is sent takes time too.", lambda v: taken(v, sent=NONE)),
        STEP.slip(
            "bits", "The link was read in bits per second.", lambda v: taken(v, sent=BITS * v["all_reduce_bytes"])
        ),
    ),
    hints=lambda c: STEP.hints(c, ""),
    explained=STEP.lines,
)


def together(case: Draw) -> int:
    """Give the bytes that all GPUs of the group send in a step."""
    v = TRAFFIC.values(case)
    return int(v["tensor_parallel"] * per_step(v))


def payload(case: Draw) -> str:
    """Write what one all-reduce sums, with the numbers of a case."""
    return " x ".join(str(case.amounts[name]) for name in ("batch", "hidden", "activation_width"))


def neighbours(v: Values) -> Fraction:
    """Give the GPUs beside one's own."""
    return v["tensor_parallel"] - 1


group: CaseAsk[Draw] = CaseAsk(
    asks="tensor_parallel",
    question=lambda c: (
        f"In one decode step of {c.amounts['batch']}, all GPUs that share the model send {spoken(together(c), 'B')} in "
        "all. How many GPUs share it?"
    ),
    kind="count",
    unit="GPU",
    key=lambda c: c.values["tensor_parallel"],
    givens=lambda c: (
        *TRAFFIC.givens(c, q.batch),
        Given("group_traffic", "X_g", str(together(c)), "B", "bytes that all GPUs of a group send in one step"),
    ),
    slips=(
        TRAFFIC.slip(*ONE, lambda v: 1 + 2 * neighbours(v)),
        TRAFFIC.slip(*EACH, lambda v: 2 * neighbours(v), lambda v: v["tensor_parallel"]),
        TRAFFIC.slip("own-forgotten", "These are the others; a GPU sums its own part too.", neighbours),
        TRAFFIC.slip(
            "batch-forgotten",
            "One hidden vector was summed; every sequence has its own.",
            lambda v: 1 + v["batch"] * neighbours(v),
        ),
        TRAFFIC.slip(
            "one-layer", "One layer was counted; every layer has two.", lambda v: 1 + v["layers"] * neighbours(v)
        ),
    ),
    hints=lambda c: (
        "Each of t GPUs sends the same, so the group sends t times that.",
        "A ring sends 2 (t - 1) / t of the payload from each GPU, so all together send 2 (t - 1) of it, 2 L times.",
        f"A payload is {payload(c)}; L = {c.amounts['layers']}.",
    ),
    explained=lambda c: (
        Explained(
            "all_reduce_bytes",
            "All GPUs together send 2 (t - 1) payloads in each of the 2 L all-reduces.",
            f"tensor_parallel = 1 + {spoken(together(c), 'B')} / (4 * {c.amounts['layers']} * {c.amounts['batch']} * "
            f"{c.amounts['hidden']} * {c.amounts['activation_width']}) = {c.amounts['tensor_parallel']}",
        ),
    ),
)


def holds(v: Values, payload: Fraction) -> int | None:
    """Give the sequences whose vectors are such a payload; None where there is not one."""
    return int(payload / (v["hidden"] * v["activation_width"])) or None if payload > 0 else None


def right_batch(v: Values) -> int | None:
    """Give the largest batch; None where the latencies alone take longer."""
    return holds(v, v["all_reduce_payload"]) if "all_reduce_payload" in v else None


def sendable(v: Values, reduces: int = 2, late: int = 1) -> Fraction:
    """Give the bytes that each all-reduce has time to send."""
    each = v["communication_time"] / (reduces * v["layers"]) - late * v["link_latency"]
    return each * v["link_bandwidth"]


def of_ring(v: Values, sent: Fraction) -> Fraction:
    """Give the payload of which a ring sends so many bytes."""
    return sent * v["tensor_parallel"] / (2 * (v["tensor_parallel"] - 1))


def latencies(case: Draw) -> str:
    """Give the time that the latencies of a step take."""
    return shown(taken(WITHIN.values(case), sent=NONE), "ms")


def within(case: Draw) -> str:
    """Put in the numbers of a case."""
    symbols = {"T": "communication_time", "L": "layers", "tau": "link_latency", "t": "tensor_parallel", "H": "hidden"}
    return f"{', '.join(f'{symbol} = {case.amounts[name]}' for symbol, name in symbols.items())}."


def batch_explained(case: Draw) -> tuple[Explained, ...]:
    """Explain the batch, or why there is none."""
    v = WITHIN.values(case)
    found = right_batch(v)
    if "all_reduce_payload" not in v:
        return (
            Explained(
                "communication_time",
                "Every all-reduce has its latency.",
                f"2 * {case.amounts['layers']} * {case.amounts['link_latency']} = {latencies(case)}, over "
                f"{case.amounts['communication_time']}: batch = none",
            ),
        )
    return WITHIN.lines(
        case,
        Explained(
            "all_reduce_payload",
            "Every sequence sums one hidden vector, and only whole sequences count.",
            f"all_reduce_payload / (hidden * activation_width), rounded down: batch = {shown(found, 'sequence')}",
        ),
    )


batch: CaseAsk[Draw] = CaseAsk(
    asks="batch",
    question=lambda c: (
        f"The model is shared by {c.amounts['tensor_parallel']}. How many sequences may a decode step have at most so "
        f"that its all-reduces take no longer than {c.amounts['communication_time']}?"
    ),
    kind="count",
    unit="sequence",
    key=lambda c: right_batch(WITHIN.values(c)),
    reason=lambda c: f"The latencies alone take {latencies(c)}, and a sequence has something to send too.",
    givens=lambda c: WITHIN.givens(c, q.tensor_parallel, q.communication_time),
    slips=(
        WITHIN.slip(*ONE, lambda v: holds(v, of_ring(v, sendable(v, reduces=1)))),
        WITHIN.slip(*LATE, lambda v: holds(v, of_ring(v, sendable(v, late=0)))),
        WITHIN.slip(*RING, lambda v: holds(v, sendable(v)), right_batch),
        WITHIN.slip(*EACH, lambda v: holds(v, sendable(v) / v["tensor_parallel"])),
        WITHIN.slip(
            "one-more", "With so many it takes longer.", lambda v: (right_batch(v) or 0) + 1 if right_batch(v) else None
        ),
    ),
    hints=lambda c: (
        "What the latencies leave of the time is for sending; a ring sends 2 (t - 1) / t of what it sums.",
        "T / (2 L) - tau is left for each all-reduce; times the bandwidth it is v, and B = v t / (2 (t - 1) H b).",
        within(c),
    ),
    explained=batch_explained,
)


def more(case: Draw) -> int:
    """Give how many tokens more the group holds than as many GPUs with a copy each."""
    return of_group(case) - of_copies(case)


def of_group(case: Draw) -> int:
    """Give the tokens that the group holds."""
    return int(GROUP.values(case)["token_capacity"])


def of_copies(case: Draw) -> int:
    """Give the tokens that as many GPUs with a copy each hold together."""
    return int(case.values["tensor_parallel"]) * int(COPIES.values(case)["token_capacity"])


def copies(case: Draw, saved: int) -> Fraction:
    """Give the tokens for which so many copies of the weights make room."""
    return Fraction(saved * case.values["weights"]) / case.values["kv_bytes_per_token"]


tokens: CaseAsk[Draw] = CaseAsk(
    asks="more_tokens",
    question=lambda c: (
        f"On each {gpu_of(c)} of {c.amounts['gpu_memory']}, {c.amounts['activations']} are reserved for activations "
        f"and {c.amounts['safety_margin']} are kept free; the weights take {c.amounts['weights']}. A layer caches keys "
        f"and values of {c.amounts['kv_heads']}, each of size {c.amounts['head_dim']} in elements of "
        f"{c.amounts['kv_width']}. How many more tokens fit in the caches of {c.amounts['tensor_parallel']} that share "
        f"the model than in those of {c.amounts['tensor_parallel']} with a copy of it each, taken together?"
    ),
    kind="quantity",
    unit="token",
    key=more,
    tolerance=FINE,
    givens=lambda c: GROUP.givens(c, *OF_GPU, *CACHE[1:], q.tensor_parallel),
    slips=(
        CaseSlip("group-in-all", "That is what the group caches in all.", of_group),
        CaseSlip("copies-in-all", "That is what the GPUs with a copy each cache in all.", of_copies),
        CaseSlip(
            "one-copy-saved",
            "Room for one copy was counted; all copies but one are saved.",
            lambda c: copies(c, 1),
            lambda c: c.values["tensor_parallel"] > 2,  # noqa: PLR2004  where it is not right
        ),
        CaseSlip(
            "every-copy-saved",
            "Room for every copy was counted; the group keeps one.",
            lambda c: copies(c, int(c.values["tensor_parallel"])),
        ),
        CaseSlip("nothing-saved", "Sharing saves all copies of the weights but one.", lambda _: 0),
        CaseSlip(
            "per-gpu",
            "That is how many more each GPU has room for; it is asked for all of them together.",
            lambda c: Fraction(more(c)) / c.values["tensor_parallel"],
        ),
    ),
    hints=lambda c: GROUP.hints(
        c,
        "Then do the same for a GPU with its own copy.",
        "With a copy each, a GPU has M - W - A - S for its own tokens; compare the sums.",
    ),
    explained=lambda c: GROUP.lines(
        c,
        *COPIES.lines(c),
        Explained(
            "token_capacity",
            "The group against as many GPUs of their own.",
            f"more_tokens = {of_group(c):,} - {of_copies(c):,} = {shown(more(c), 'token', 12)}",
        ),
    ),
)

family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"Several GPUs share one copy of {model_of(c)}, which has {c.amounts['layers']} and hidden size "
        f"{c.amounts['hidden']}, by tensor parallelism. In each layer attention and the feed-forward network both end "
        "in an all-reduce, a ring, that sums one hidden vector for each sequence of the step, in elements of "
        f"{c.amounts['activation_width']}. Each GPU sends at {c.amounts['link_bandwidth']}, and every all-reduce takes "
        f"a further {c.amounts['link_latency']} of latency."
    ),
    givens=lambda c: STEP.givens(c, *SHAPE, *LINK),
    ways=((traffic, time), (group,), (batch,), (batch,), (tokens,)),
    keep=keep,
    infeasible=True,
    revision=2,
    objective="prefill-decode",
    section="scaling",
)
