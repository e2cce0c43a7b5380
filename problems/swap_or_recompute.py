"""The cache of a session that had to make room (F42): brought back from the host, or worked out again by the GPU."""

from collections.abc import Callable
from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, Explained, Given
from grader.exercise import exact
from grader.family import FINE
from grader.menu import Draw, Menu
from grader.reckoned import Reckoning, Values, Wrong, gpu_of, model_of, shown
from spec import quantities as q
from spec.memory import kv_bytes_per_sequence, kv_bytes_per_token
from spec.phases import flops_per_token, prefill_attention_flops, prefill_flops
from spec.roofline import achieved_mfu
from spec.stream import Stream

Time = Callable[[Values], Fraction]
SWAP, RECOMPUTE = "swap", "recompute"
MILLISECONDS, BITS, GIB_TO_GB = 1000, 8, Fraction(2**30, 10**9)
ALIKE = Fraction(4, 5)  # two times nearer than this are not told apart
ROOM = Fraction(9, 10)  # of a GPU's memory, for weights
TRIES = 40
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
        *("falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
    ),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-4090"),
    kv_width=("2 B",),
    context=(1200, 1500, 1800, 2000, 2500, 3000, 3600, 4000, 4096, 5000, 6000, 8000, 10_000, 12_000, 16_000, 24_000),
    prompt=lambda draw: int(draw.values["context"]),
    link_bandwidth=(
        *("1 GB/s", "2 GB/s", "3 GB/s", "4 GB/s", "6 GB/s", "8 GB/s", "10 GB/s", "12 GB/s", "16 GB/s", "20 GB/s"),
        *("25 GB/s", "32 GB/s"),
    ),
    achieved_mfu=("0.3", "0.35", "0.4", "0.45", "0.5", "0.55", "0.6"),
)
CACHE = (q.layers, q.kv_heads, q.head_dim, q.kv_width)
WORK = (q.parameters, q.heads, q.compute, q.achieved_mfu)
MOVED = Reckoning(
    (*CACHE, q.heads, q.context, q.link_bandwidth),
    (q.kv_bytes_per_sequence,),
    (kv_bytes_per_token, kv_bytes_per_sequence),
)
DONE = Reckoning(
    (q.parameters, q.layers, q.heads, q.head_dim, q.prompt),
    (q.prefill_flops,),
    (flops_per_token, prefill_attention_flops, prefill_flops),
)
AGAIN = Reckoning((*WORK, q.layers, q.head_dim, q.prompt), (q.prefill_time,), (*DONE.by, achieved_mfu))
BOTH = Reckoning((*MOVED.given, *WORK, q.prompt), (*MOVED.finds, *AGAIN.finds), (*MOVED.by, *AGAIN.by))


def fetched(v: Values) -> Fraction:
    """Give the milliseconds in which the cache comes back over the link."""
    return MILLISECONDS * v["kv_bytes_per_sequence"] / v["link_bandwidth"]


def prefilled(v: Values) -> Fraction:
    """Give the milliseconds of a prefill of the whole session."""
    return MILLISECONDS * v["prefill_time"]


def faster(fetch: Fraction, prefill: Fraction) -> str:
    """Name what takes less time."""
    return SWAP if fetch < prefill else RECOMPUTE


def right(v: Values) -> str:
    """Name what is faster."""
    return faster(fetched(v), prefilled(v))


def worked(v: Values, flops: Fraction) -> Fraction:
    """Give the milliseconds that so many operations take."""
    return MILLISECONDS * flops / (v["compute"] * v["achieved_mfu"])


def draw(stream: Stream) -> Draw:
    """Draw a session for which swapping or prefilling is faster, each as often as the other where that can be."""
    wanted, found = stream.choice((SWAP, RECOMPUTE)), MENU.at(stream.below(MENU.size))
    for _ in range(TRIES):
        if keep(found) and right(BOTH.values(found)) == wanted:
            break
        found = MENU.at(stream.below(MENU.size))
    return found


def keep(case: Draw) -> bool:
    """Keep sessions within the window of a model that the GPU holds, and times that differ clearly."""
    v = BOTH.values(case)
    window = case.model.window if case.model else None
    fits = 2 * v["parameters"] <= ROOM * case.values["gpu_memory"] and (window is None or v["context"] <= window)
    return fits and not ALIKE < fetched(v) / prefilled(v) < 1 / ALIKE


def link(case: Draw) -> tuple[Given, ...]:
    """Give the link."""
    written = case.amounts["link_bandwidth"]
    return (
        Given("host_bandwidth", "BW_h", exact(written.number), written.unit.name, "bandwidth of the link to the host"),
    )


WRONG_FETCHES: tuple[tuple[str, str, Time], ...] = (
    ("link-in-bits", "The link was taken in gigabits per second; a byte has eight bits.", lambda v: BITS * fetched(v)),
    ("link-in-GiB", "The GB/s of the link were read as GiB/s.", lambda v: fetched(v) / GIB_TO_GB),
    ("one-layer", "The cache of one layer was moved; every layer has one.", lambda v: fetched(v) / v["layers"]),
    ("values-forgotten", "The factor 2 is missing: a key and a value are kept.", lambda v: fetched(v) / 2),
    (
        "queries-cached",
        "The query heads were counted; only the key-value heads are cached.",
        lambda v: fetched(v) * v["heads"] / v["kv_heads"],
    ),
)
WRONG_PREFILLS: tuple[tuple[str, str, Time], ...] = (
    (
        "full-efficiency",
        "The peak was used as it is; only a share of it is reached.",
        lambda v: prefilled(v) * v["achieved_mfu"],
    ),
    (
        "one-operation",
        "One operation per parameter was counted; a multiply and an add make two.",
        lambda v: worked(v, v["prefill_flops"] - v["parameters"] * v["prompt"]),
    ),
    (
        "training",
        "Six operations per parameter are for training; a forward pass takes two.",
        lambda v: worked(v, v["prefill_flops"] + 4 * v["parameters"] * v["prompt"]),
    ),
    (
        "sparse-peak",
        "The peak for sparse matrices was used, twice as high; these are dense.",
        lambda v: prefilled(v) / 2,
    ),
)


def of_fetch(wrong: Time) -> Wrong:
    """Name what would be faster if the cache came back in a wrong time."""
    return lambda v: faster(wrong(v), prefilled(v))


def of_prefill(wrong: Time) -> Wrong:
    """Name what would be faster if a prefill took a wrong time."""
    return lambda v: faster(fetched(v), wrong(v))


fetch: CaseAsk[Draw] = CaseAsk(
    asks="fetch_time",
    question=lambda c: (
        "Its cache was moved to the memory of the host. How long, in ms, does it take to bring all of it back over a "
        f"link of {c.amounts['link_bandwidth']}?"
    ),
    kind="quantity",
    unit="ms",
    key=lambda c: fetched(MOVED.values(c)),
    tolerance=FINE,
    givens=link,
    slips=(
        *(MOVED.slip(*row, fetched) for row in WRONG_FETCHES),
        MOVED.slip(
            "one-token", "That is one token; all of the session comes back.", lambda v: fetched(v) / v["context"]
        ),
        MOVED.slip("both-ways", "The way out was counted as well.", lambda v: 2 * fetched(v)),
        MOVED.slip("answer-in-s", "That is in seconds; it is asked in ms.", lambda v: fetched(v) / MILLISECONDS),
    ),
    hints=lambda c: (
        *MOVED.hints(c, "All of them pass the link.", "Then time = bytes / BW_h.")[:2],
        f"{MOVED.hints(c, '')[2]} Divide that by {c.amounts['link_bandwidth']}.",
    ),
    explained=lambda c: MOVED.lines(
        c,
        Explained(
            "fetch",
            "The bytes of the cache over the bandwidth of the link.",
            f"fetch_time = kv_bytes_per_sequence / {c.amounts['link_bandwidth']} = "
            f"{shown(fetched(MOVED.values(c)), 'ms')}",
        ),
    ),
)
again: CaseAsk[Draw] = CaseAsk(
    asks="recompute_time",
    question=lambda c: (
        f"Its cache was dropped instead. How long, in ms, does a prefill of all {c.amounts['prompt']} take?"
    ),
    kind="quantity",
    unit="ms",
    key=lambda c: prefilled(AGAIN.values(c)),
    tolerance=FINE,
    givens=lambda c: AGAIN.givens(c, q.prompt),
    slips=(
        *(AGAIN.slip(*row) for row in WRONG_PREFILLS),
        AGAIN.slip(
            "attention-forgotten",
            "The attention term, quadratic in the prompt, was left out.",
            lambda v: worked(v, v["flops_per_token"] * v["prompt"]),
        ),
        AGAIN.slip(
            "full-matrix",
            "The full matrix was counted; later tokens are masked.",
            lambda v: worked(v, v["prefill_flops"] + v["prefill_attention_flops"]),
        ),
        AGAIN.slip("answer-in-s", "That is in seconds; it is asked in ms.", lambda v: prefilled(v) / MILLISECONDS),
    ),
    hints=lambda c: (
        *DONE.hints(
            c,
            "The GPU does all of them at the share of its peak that it reaches.",
            "Then time = operations / (F x MFU_a).",
        )[:2],
        f"{DONE.hints(c, '')[2]} Divide that by {c.amounts['compute']} * {c.amounts['achieved_mfu']}.",
    ),
    explained=lambda c: DONE.lines(
        c,
        Explained(
            "achieved_mfu",
            "The operations over those that the GPU does in a second.",
            f"recompute_time = prefill_flops / ({c.amounts['compute']} * {c.amounts['achieved_mfu']}) = "
            f"{shown(prefilled(AGAIN.values(c)), 'ms')}",
        ),
    ),
)
choice: CaseAsk[Draw] = CaseAsk(
    asks="verdict",
    question=lambda _: (
        "Which of the two takes less time: swap, to bring the cache back from the host, or recompute, to prefill the "
        "session again?"
    ),
    kind="choice",
    options=lambda _: (SWAP, RECOMPUTE),
    key=lambda c: right(BOTH.values(c)),
    slips=(
        BOTH.slip(
            "longer-taken",
            "That takes longer.",
            lambda v: faster(prefilled(v), fetched(v)),
        ),
        *(BOTH.slip(slug, sentence, of_fetch(of), right) for slug, sentence, of in WRONG_FETCHES),
        *(BOTH.slip(slug, sentence, of_prefill(of), right) for slug, sentence, of in WRONG_PREFILLS),
    ),
    hints=lambda _: (
        "Compare the times of parts a and b.",
        "Swap where bytes / BW_h is less than operations / (F x MFU_a), else recompute.",
        "Put your answers to parts a and b side by side, in the same unit.",
    ),
    explained=lambda c: (
        Explained(
            "fetch",
            "The shorter time is better.",
            f"{shown(fetched(BOTH.values(c)), 'ms')} over the link, {shown(prefilled(BOTH.values(c)), 'ms')} on the "
            f"GPU: {right(BOTH.values(c))}",
        ),
    ),
)

family = CaseFamily(
    draw=draw,
    statement=lambda c: (
        f"{model_of(c)} has {c.amounts['parameters']} and {c.amounts['layers']} with {c.amounts['heads']} for queries "
        f"and {c.amounts['kv_heads']} for keys and values, each of size {c.amounts['head_dim']}; an element of the "
        f"cache takes {c.amounts['kv_width']}. It runs on one {gpu_of(c)}, which peaks at {c.amounts['compute']} for "
        f"dense matrices; a prefill reaches {c.amounts['achieved_mfu']} of that. Count two operations per parameter "
        "and token, and causal attention. "
        f"A chat session with a history of {c.amounts['context']} waits for its user, and others need its place on "
        "the GPU."
    ),
    givens=lambda c: (*MOVED.givens(c, *CACHE, q.context), *AGAIN.givens(c, *WORK)),
    ways=((fetch, again, choice),),
    keep=keep,
    objective="session-growth",
    section="exercises",
)
