"""What bounds a prefill or a decode step, compute or memory, and by which numbers one sees it (F14)."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, Explained
from grader.family import FINE
from grader.menu import Draw, Menu, cache_of_a_token, in_tb_per_second, weights_in_gb
from grader.reckoned import Reckoning, Values, Wrong, gpu_of, model_of, shown
from spec import quantities as q
from spec.phases import (
    cached_tokens_of_batch,
    decode_attention_flops,
    decode_bytes,
    decode_flops,
    decode_intensity,
    decode_matrix_flops,
    flops_per_token,
    prefill_attention_flops,
    prefill_bytes,
    prefill_flops,
    prefill_intensity,
    ridge,
)
from spec.roofline import decode_is_compute_bound, prefill_is_compute_bound

LABELS = ("memory", "compute")
ONE = "One operation per parameter was counted; a multiply and an add make two."
HALF, MARGIN = Fraction(1, 2), Fraction(1, 20)
A100_80GB, A100_40GB = 2039 * 10**9, 1555 * 10**9  # bandwidths in B/s
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
        *("falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
    ),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-4090", "a10", "l4"),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    bandwidth=in_tb_per_second,
    mfu=(1,),
    mbu=(1,),
    prompt=(40, 60, 80, 100, 120, 150, 180, 220, 260, 300, 350, 400, 500, 600, 800),
    batch=(2, 8, 32, 64, 128, 256, 384, 512, 640, 768, 1024),
    context=(50, 100, 150, 200, 300, 500, 1000, 2000, 4000),
)
SHAPE = (q.parameters, q.weights, q.layers, q.heads, q.head_dim, q.kv_bytes_per_token)
PEAKS = (q.compute, q.bandwidth)
OF_PREFILL = Reckoning(
    (*SHAPE, q.prompt),
    (q.prefill_intensity,),
    (flops_per_token, prefill_attention_flops, prefill_flops, prefill_bytes, prefill_intensity),
)
PREFILL = Reckoning(
    (*OF_PREFILL.given, *PEAKS, q.mfu, q.mbu),
    (q.prefill_intensity, q.ridge, q.prefill_is_compute_bound),
    (*OF_PREFILL.by, ridge, prefill_is_compute_bound),
)
WORK = Reckoning((*SHAPE, q.prompt), (q.prefill_flops,), (flops_per_token, prefill_attention_flops, prefill_flops))
TRAFFIC = Reckoning((q.weights, q.kv_bytes_per_token, q.prompt), (q.prefill_bytes,), (prefill_bytes,))
OPERATIONS = (flops_per_token, cached_tokens_of_batch, decode_attention_flops, decode_matrix_flops, decode_flops)
OF_DECODE = Reckoning(
    (*SHAPE, q.batch, q.context), (q.decode_intensity,), (*OPERATIONS, decode_bytes, decode_intensity)
)
WORK_OF_DECODE = Reckoning((*SHAPE, q.batch, q.context), (q.decode_flops,), OPERATIONS)
TRAFFIC_OF_DECODE = Reckoning(
    (q.weights, q.kv_bytes_per_token, q.batch, q.context),
    (q.decode_bytes,),
    (cached_tokens_of_batch, decode_bytes),
)
DECODE = Reckoning(
    (*OF_DECODE.given, *PEAKS, q.mfu, q.mbu),
    (q.decode_intensity, q.ridge, q.decode_is_compute_bound),
    (*OF_DECODE.by, ridge, decode_is_compute_bound),
)
OF_GPU = Reckoning(PEAKS, (q.ridge,), (ridge,))


def keep(case: Draw) -> bool:
    """Keep phases that are clear of the ridge, where both labels would do."""
    prefill, decode = PREFILL.values(case), DECODE.values(case)
    return max(prefill["prefill_bytes"], decode["decode_bytes"]) <= case.values["gpu_memory"] and all(
        abs(intensity - prefill["ridge"]) > MARGIN * prefill["ridge"]
        for intensity in (prefill["prefill_intensity"], decode["decode_intensity"])
    )


def label(v: Values) -> str:
    """Say what decides."""
    return LABELS[int(v.get("prefill_is_compute_bound", v.get("decode_is_compute_bound", Fraction(0))))]


def intensity(v: Values) -> Fraction:
    """Give the intensity of the phase."""
    return v["prefill_intensity"] if "prefill_intensity" in v else v["decode_intensity"]


def other(v: Values) -> str:
    """Give the label of the shorter time."""
    return LABELS[label(v) == LABELS[0]]


def by_half(v: Values) -> str:
    """Call bound by compute what would use over half of it."""
    return LABELS[intensity(v) > HALF * v["ridge"]]


def phase(case: Draw, of: Reckoning) -> str:
    """Name the phase with its numbers."""
    if of is DECODE:
        return f"a decode step of {case.amounts['batch']} with {case.amounts['context']} each in the cache"
    return f"a prefill of {case.amounts['prompt']}"


def varying(of: Reckoning) -> tuple[q.Quantity, ...]:
    """Name what belongs to the phase."""
    return (q.batch, q.context) if of is DECODE else (q.prompt,)


def labels(of: Reckoning, always: str, sentence: str) -> CaseAsk[Draw]:
    """Ask for the label of a phase; `always` is the label that it is thought to have whatever its size."""
    told = replace(of, finds=of.finds[:-1])  # the intensity against the ridge says what the law says by 0 and 1
    return CaseAsk(
        asks="bound",
        question=lambda c: f"What bounds {phase(c, of)} on this GPU, compute or memory?",
        kind="choice",
        options=lambda _: LABELS,
        key=lambda c: label(of.values(c)),
        givens=lambda c: of.givens(c, *varying(of)),
        slips=(
            of.slip("sides-exchanged", "The shorter of the two times was taken to decide.", other, label),
            of.slip(
                "over-half",
                "Over half of the peak was taken for bound by compute; the longer of the two times decides.",
                by_half,
                label,
            ),
            of.slip("phase-alone", sentence, lambda _: always, label),
        ),
        hints=lambda c: told.hints(c, "The longer of the two times decides.", "Over the ridge compute decides."),
        explained=lambda c: told.lines(
            c,
            Explained(
                "bound",
                "Over the ridge the arithmetic takes longer, under it the traffic.",
                f"{shown(intensity(of.values(c)), 'FLOP/B')} against {shown(of.values(c)['ridge'], 'FLOP/B')}: "
                f"{label(of.values(c))}",
            ),
        ),
    )


def intensities(of: Reckoning, by: Reckoning, *more: tuple[str, str, Wrong]) -> CaseAsk[Draw]:
    """Ask for the intensity of a phase, which `by` finds without a GPU."""
    return CaseAsk(
        asks="intensity",
        question=lambda c: f"How many operations per byte, in FLOP/B, does {phase(c, of)} do?",
        kind="quantity",
        unit="FLOP/B",
        tolerance=FINE,
        key=lambda c: intensity(of.values(c)),
        givens=lambda c: of.givens(c, *varying(of)),
        slips=(
            of.slip("ratio-inverted", "The traffic was divided by the work.", lambda v: 1 / intensity(v)),
            of.slip(
                "operations-per-element",
                "The work was divided by the elements that are moved; each takes two bytes.",
                lambda v: 2 * intensity(v),
            ),
            of.slip(
                "share-of-the-ridge",
                "That is the intensity over that of the ridge.",
                lambda v: intensity(v) / v["ridge"],
            ),
            of.slip(
                "ridge-inverted",
                "That is bandwidth over compute, whatever runs on the GPU; its inverse would be the ridge.",
                lambda v: 1 / v["ridge"],
            ),
            of.slip("ridge-itself", "That is the ridge of the GPU, whatever runs on it.", lambda v: v["ridge"]),
            of.slip("one-operation", ONE, lambda v: intensity(v) / 2),
            *(of.slip(*row) for row in more),
        ),
        hints=lambda c: by.hints(c, "", ""),
        explained=by.lines,
    )


def both(v: Values) -> tuple[Fraction, Fraction]:
    """Give the times of arithmetic and of memory traffic, in ms."""
    phase = "prefill" if "prefill_flops" in v else "decode"
    return 1000 * v[f"{phase}_flops"] / v["compute"], 1000 * v[f"{phase}_bytes"] / v["bandwidth"]


def times(of: Reckoning, by: Reckoning, side: int, *more: tuple[str, str, Wrong]) -> CaseAsk[Draw]:
    """Ask how long one side of a phase takes, the first or the second of both; `by` finds what there is to do."""
    what, asks = (("arithmetic", "arithmetic_time"), ("memory traffic", "traffic_time"))[side]
    done, peak = by.finds[-1].name, PEAKS[side].name

    def key(c: Draw) -> Fraction:
        return both(of.values(c))[side]

    return CaseAsk(
        asks=asks,
        question=lambda c: f"How long, in ms, would {phase(c, of)} take by {what} alone?",
        kind="quantity",
        unit="ms",
        tolerance=FINE,
        key=key,
        givens=lambda c: of.givens(c, *varying(of)),
        slips=(
            of.slip("other-side", "That is the other one of the two times.", lambda v: both(v)[1 - side]),
            of.slip("answer-in-s", "The number is the answer in s; it is asked in ms.", lambda v: both(v)[side] / 1000),
            *(of.slip(*row) for row in more),
        ),
        hints=lambda c: by.hints(c, f"Then divide by the peak of {what}.", "The time is that over the peak."),
        explained=lambda c: by.lines(
            c,
            Explained(
                "roofline",
                f"The time is what there is to do over the peak of {what}.",
                f"{done} / {c.amounts[peak]} = {shown(key(c), 'ms')}",
            ),
        ),
    )


ONE_OPERATION: tuple[str, str, Wrong] = ("one-operation", ONE, lambda v: both(v)[0] / 2)
TRAINING: tuple[str, str, Wrong] = (
    "training",
    "Six operations per parameter are for training; a forward pass takes two.",
    lambda v: 3 * both(v)[0],
)
ONE_BYTE: tuple[str, str, Wrong] = (
    "one-byte",
    "One byte per parameter was counted; a weight of 16 bits takes two.",
    lambda v: both(v)[1] / 2,
)


def over_bandwidth(slug: str, sentence: str, moved: Callable[[Values], Fraction]) -> tuple[str, str, Wrong]:
    """Give the slip of moving other bytes."""
    return slug, sentence, lambda v: 1000 * moved(v) / v["bandwidth"]


of_prefill = labels(PREFILL, LABELS[1], "Prefill was taken to be bound by compute however short the prompt.")
of_decode = labels(DECODE, LABELS[0], "Decode was taken to be bound by memory however large the batch.")
prefill_times = (
    times(
        PREFILL,
        WORK,
        0,
        ONE_OPERATION,
        TRAINING,
        (
            "one-token",
            "That is the work on one token; the prompt has many.",
            lambda v: 1000 * v["flops_per_token"] / v["compute"],
        ),
    ),
    times(
        PREFILL,
        TRAFFIC,
        1,
        ONE_BYTE,
        over_bandwidth(
            "weights-per-token",
            "The weights were read once for every token; prefill reads them once.",
            lambda v: v["prompt"] * v["weights"],
        ),
        over_bandwidth(
            "cache-only",
            "Only the cache was counted; the weights are read too.",
            lambda v: v["prompt"] * v["kv_bytes_per_token"],
        ),
    ),
)
decode_times = (
    times(
        DECODE,
        WORK_OF_DECODE,
        0,
        ONE_OPERATION,
        TRAINING,
        (
            "one-sequence",
            "That is the work of one sequence; the step does that of the whole batch.",
            lambda v: both(v)[0] / v["batch"],
        ),
    ),
    times(
        DECODE,
        TRAFFIC_OF_DECODE,
        1,
        ONE_BYTE,
        over_bandwidth(
            "weights-per-sequence",
            "The weights were read once for every sequence; a step reads them once.",
            lambda v: v["decode_bytes"] + (v["batch"] - 1) * v["weights"],
        ),
        over_bandwidth(
            "cache-only",
            "Only the caches were counted; the weights are read too.",
            lambda v: v["decode_bytes"] - v["weights"],
        ),
    ),
)
ridges: CaseAsk[Draw] = CaseAsk(
    asks="ridge",
    question=lambda _: (
        "At how many operations per byte, in FLOP/B, do arithmetic and memory traffic take equally long?"
    ),
    kind="quantity",
    unit="FLOP/B",
    tolerance=FINE,
    key=lambda c: OF_GPU.values(c)["ridge"],
    slips=(
        OF_GPU.slip("ratio-inverted", "Bandwidth was divided by compute.", lambda v: 1 / v["ridge"]),
        OF_GPU.slip(
            "sparse-peak",
            "The peak for sparse matrices was used, twice as high; these are dense.",
            lambda v: 2 * v["ridge"],
        ),
        OF_GPU.slip(
            "tera-dropped", "TFLOP/s were divided by GB/s; both must be counted alike.", lambda v: v["ridge"] / 1000
        ),
        OF_GPU.slip(
            "operations-per-token",
            "That is the length of a prompt at the ridge by two operations and one byte; the ridge counts per byte.",
            lambda v: v["ridge"] / 2,
        ),
        OF_GPU.slip(
            "smaller-part-of-the-gpu",
            "The bandwidth of the A100 with 40 GB was used; this one is faster.",
            lambda v: v["compute"] / A100_40GB if v["bandwidth"] == A100_80GB else None,
        ),
    ),
    hints=lambda c: OF_GPU.hints(c, "", ""),
    explained=OF_GPU.lines,
)
family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"{model_of(c)} has {c.amounts['parameters']}, which take {c.amounts['weights']}, and {c.amounts['layers']} "
        f"with {c.amounts['heads']} for queries, each of size {c.amounts['head_dim']}; it caches "
        f"{c.amounts['kv_bytes_per_token']}. An {gpu_of(c)} peaks at {c.amounts['compute']} and "
        f"{c.amounts['bandwidth']}. Count two operations per parameter and token, and attention: causal in prefill, to "
        "every cached token in decode. Both phases read the weights once; prefill writes the cache of its prompt, and "
        "decode reads all caches. Take both peaks as reached."
    ),
    givens=lambda c: PREFILL.givens(c, *SHAPE, *PEAKS),
    ways=(
        (
            of_prefill,
            intensities(
                PREFILL,
                OF_PREFILL,
                (
                    "two-per-token",
                    "That is twice the prompt; each parameter takes two bytes.",
                    lambda v: 2 * v["prompt"],
                ),
                (
                    "intensity-of-decode",
                    "That is about the intensity of decode; a prompt has many tokens.",
                    lambda _: 1,
                ),
            ),
        ),
        (*prefill_times, of_prefill),
        (*decode_times, of_decode),
        (
            of_decode,
            intensities(
                DECODE,
                OF_DECODE,
                (
                    "cache-unread",
                    "Only the weights were read; the cache must be read too.",
                    lambda v: v["decode_flops"] / v["weights"],
                ),
            ),
        ),
        (ridges,),
    ),
    keep=keep,
    revision=3,
    objective="roofline",
    section="prefill-decode",
)
