"""From which length on a prompt is bound by compute, and which GPU binds a given one so (F15)."""

from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, Explained
from grader.family import FINE
from grader.menu import Draw, Menu, cache_of_a_token, in_tb_per_second, weights_in_gb
from grader.reckoned import Reckoning, Values, gpu_of, model_of, shown
from spec import quantities as q
from spec.domains import COUNT
from spec.phases import (
    attention_flops_per_pair,
    flops_per_token,
    prefill_attention_flops,
    prefill_bytes,
    prefill_flops,
    prefill_intensity,
    ridge,
)
from spec.roofline import prefill_is_compute_bound
from spec.solving import last

A100_80GB, A100_40GB = 2039 * 10**9, 1555 * 10**9  # bandwidths in B/s
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
        *("falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b", "llama-2-70b", "qwen2.5-72b"),
    ),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-4090", "a10", "l4"),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    bandwidth=in_tb_per_second,
    mfu=("0.35", "0.4", "0.45", "0.5", "0.55", "0.6"),
    mbu=("0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9"),
    prompt=(50, 60, 80, 90, 110, 130, 160, 190, 220, 250, 280, 320, 360),
)
SHAPE = (q.parameters, q.weights, q.layers, q.heads, q.head_dim, q.kv_bytes_per_token)
SHARES = (q.mfu, q.mbu)
LENGTH = Reckoning(
    (*SHAPE, *SHARES, q.compute, q.bandwidth),
    (q.flops_per_token, q.attention_flops_per_pair, q.ridge),
    (flops_per_token, attention_flops_per_pair, ridge),
)
WHOLE = (flops_per_token, prefill_attention_flops, prefill_flops, prefill_bytes, prefill_intensity)
BANDWIDTH = Reckoning((*SHAPE, *SHARES, q.compute, q.prompt), (q.prefill_intensity,), WHOLE)
COMPUTE = Reckoning((*SHAPE, *SHARES, q.bandwidth, q.prompt), (q.prefill_intensity,), WHOLE)


def first(v: Values, **instead: Fraction) -> int:
    """Find the first prompt whose prefill the law calls bound by compute."""
    v = {**v, **instead}

    def bound_by_memory(prompt: int) -> bool:
        work = v["flops_per_token"] * prompt + v["attention_flops_per_pair"] * prompt**2
        traffic = prefill_bytes(weights=v["weights"], prompt=prompt, kv_bytes_per_token=v["kv_bytes_per_token"])
        peaks = {name: v[name] for name in ("compute", "bandwidth", "mfu", "mbu")}
        return bool(prefill_is_compute_bound(prefill_flops=work, prefill_bytes=traffic, **peaks) == 0)

    return (last(COUNT, bound_by_memory) or 0) + 1


def reached(v: Values) -> Fraction:
    """Give the ridge at the shares of the peaks that are reached."""
    return v["ridge"] * v["mfu"] / v["mbu"]


def least(v: Values) -> Fraction:
    """Give the least peak bandwidth at which the prompt is bound by compute."""
    return v["compute"] * v["mfu"] / (v["prefill_intensity"] * v["mbu"])


def largest(v: Values) -> Fraction:
    """Give the largest peak of arithmetic by which the prompt is bound."""
    return v["prefill_intensity"] * v["bandwidth"] * v["mbu"] / v["mfu"]


TERA = 10**12
SPARSE = ("sparse-peak", "The peak for sparse matrices was used, twice as high; these are dense.")
PEAKS = ("peaks-compared", "The peaks were compared; what counts is the share of each that is reached.")
BYTES = ("one-byte", "One byte per parameter was counted; a weight of 16 bits takes two.")
ONE = ("one-operation", "One operation per parameter was counted; a multiply and an add make two.")
EXCHANGED = ("shares-exchanged", "The two shares were exchanged.")

length: CaseAsk[Draw] = CaseAsk(
    asks="prompt",
    question=lambda c: (
        f"An {gpu_of(c)} peaks at {c.amounts['compute']} and {c.amounts['bandwidth']}; how many tokens does the "
        "shortest prompt have whose prefill is bound by compute?"
    ),
    kind="count",
    unit="token",
    key=lambda c: first(LENGTH.values(c)),
    givens=lambda c: LENGTH.givens(c, q.compute, q.bandwidth),
    slips=(
        LENGTH.slip(*PEAKS, lambda v: first(v, mfu=Fraction(1), mbu=Fraction(1))),
        LENGTH.slip(*SPARSE, lambda v: first(v, compute=2 * v["compute"])),
        LENGTH.slip(*BYTES, lambda v: first(v, weights=v["weights"] / 2)),
        LENGTH.slip(*ONE, lambda v: first(v, flops_per_token=v["flops_per_token"] / 2)),
        LENGTH.slip(*EXCHANGED, lambda v: first(v, mfu=v["mbu"], mbu=v["mfu"])),
        LENGTH.slip("rounded-down", "A prompt of that length is still bound by memory.", lambda v: first(v) - 1),
        LENGTH.slip(
            "ridge-not-rounded",
            "That is the ridge at the shares reached; a prompt has whole tokens, and writes a cache.",
            lambda v: None if abs(reached(v) - first(v)) < 1 else reached(v),
        ),
        LENGTH.slip(
            "bytes-for-tokens",
            "The ridge was doubled for two bytes, but not halved again for two operations.",
            lambda v: 2 * reached(v),
        ),
        LENGTH.slip("ratio-inverted", "Bandwidth was divided by compute.", lambda v: 1 / reached(v)),
        LENGTH.slip(
            "smaller-part-of-the-gpu",
            "The bandwidth of the A100 with 40 GB was used; this one is faster.",
            lambda v: first(v, bandwidth=Fraction(A100_40GB)) if v["bandwidth"] == A100_80GB else None,
        ),
    ),
    hints=lambda c: LENGTH.hints(
        c,
        "Then find the first prompt whose arithmetic takes as long as its traffic.",
        "Bound by compute is: (flops_per_token * n + attention_flops_per_pair * n^2) / (compute * mfu) >= "
        "(weights + n * kv_bytes_per_token) / (bandwidth * mbu).",
    ),
    explained=lambda c: LENGTH.lines(
        c,
        Explained(
            "prefill_is_compute_bound",
            "The first prompt whose arithmetic takes no less time than its traffic.",
            f"At {first(LENGTH.values(c)) - 1:,} tokens the traffic takes longer, one token more and the arithmetic "
            f"does: prompt = {first(LENGTH.values(c)):,} tokens",
        ),
    ),
)
bandwidth: CaseAsk[Draw] = CaseAsk(
    asks="bandwidth",
    question=lambda c: (
        f"A GPU peaks at {c.amounts['compute']}; what peak bandwidth, in TB/s, must it have at least so that the "
        f"prefill of a prompt of {c.amounts['prompt']} is bound by compute?"
    ),
    kind="quantity",
    unit="TB/s",
    key=lambda c: least(BANDWIDTH.values(c)) / TERA,
    tolerance=FINE,
    givens=lambda c: BANDWIDTH.givens(c, q.compute, q.prompt),
    slips=(
        BANDWIDTH.slip(*PEAKS, lambda v: least(v) * v["mbu"] / v["mfu"] / TERA),
        BANDWIDTH.slip(*SPARSE, lambda v: 2 * least(v) / TERA),
        BANDWIDTH.slip(*BYTES, lambda v: least(v) / 2 / TERA),
        BANDWIDTH.slip(*ONE, lambda v: 2 * least(v) / TERA),
        BANDWIDTH.slip(*EXCHANGED, lambda v: least(v) * (v["mbu"] / v["mfu"]) ** 2 / TERA),
        BANDWIDTH.slip(
            "weights-per-token",
            "The weights were read once for every token; prefill reads them once.",
            lambda v: least(v) * v["prompt"] / TERA,
        ),
    ),
    hints=lambda c: BANDWIDTH.hints(
        c, "Then balance arithmetic and traffic.", "BW = F x MFU / (I x MBU) balances them."
    ),
    explained=lambda c: BANDWIDTH.lines(
        c,
        Explained(
            "ridge",
            "At this bandwidth arithmetic and traffic take equally long; at a smaller one the traffic takes longer.",
            f"bandwidth = {c.amounts['compute']} * {c.amounts['mfu']} / (prefill_intensity * {c.amounts['mbu']}) = "
            f"{shown(least(BANDWIDTH.values(c)) / TERA, 'TB/s')}",
        ),
    ),
)
compute: CaseAsk[Draw] = CaseAsk(
    asks="compute",
    question=lambda c: (
        f"A GPU reads {c.amounts['bandwidth']} at its peak; what peak of arithmetic, in TFLOP/s, may it have at most "
        f"so that the prefill of a prompt of {c.amounts['prompt']} is bound by compute?"
    ),
    kind="quantity",
    unit="TFLOP/s",
    key=lambda c: largest(COMPUTE.values(c)) / TERA,
    tolerance=FINE,
    givens=lambda c: COMPUTE.givens(c, q.bandwidth, q.prompt),
    slips=(
        COMPUTE.slip(*PEAKS, lambda v: largest(v) * v["mfu"] / v["mbu"] / TERA),
        COMPUTE.slip(*BYTES, lambda v: 2 * largest(v) / TERA),
        COMPUTE.slip(*ONE, lambda v: largest(v) / 2 / TERA),
        COMPUTE.slip(*EXCHANGED, lambda v: largest(v) * (v["mfu"] / v["mbu"]) ** 2 / TERA),
        COMPUTE.slip(
            "weights-per-token",
            "The weights were read once for every token; prefill reads them once.",
            lambda v: largest(v) / v["prompt"] / TERA,
        ),
    ),
    hints=lambda c: COMPUTE.hints(c, "Then balance arithmetic and traffic.", "F = I x BW x MBU / MFU balances them."),
    explained=lambda c: COMPUTE.lines(
        c,
        Explained(
            "ridge",
            "At this peak arithmetic and traffic take equally long; at a higher one the traffic takes longer.",
            f"compute = prefill_intensity * {c.amounts['bandwidth']} * {c.amounts['mbu']} / {c.amounts['mfu']} = "
            f"{shown(largest(COMPUTE.values(c)) / TERA, 'TFLOP/s')}",
        ),
    ),
)
family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"{model_of(c)} has {c.amounts['parameters']}, which take {c.amounts['weights']}, and {c.amounts['layers']} "
        f"with {c.amounts['heads']} for queries, each of size {c.amounts['head_dim']}; it caches "
        f"{c.amounts['kv_bytes_per_token']}. A prefill takes two operations per parameter and token, and causal "
        "attention: for n tokens, exactly half of each n-by-n matrix counts. It reads the weights once and writes the "
        "cache once. "
        f"Arithmetic reaches {c.amounts['mfu']} of its peak and memory traffic {c.amounts['mbu']} of its peak, and the "
        "one that takes longer bounds the prefill; where both take equally long, call it bound by compute."
    ),
    givens=lambda c: LENGTH.givens(c, *SHAPE, *SHARES),
    ways=((length,), (bandwidth,), (compute,)),
    keep=lambda c: c.values["weights"] < c.values["gpu_memory"],
    objective="roofline",
    section="prefill-decode",
    revision=2,
)
