"""Statements of the scaling section: what breaks first, and replicas against tensor parallelism."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.settings import (
    CHAPTER_ACTIVATIONS,
    CHAPTER_MARGIN,
    CHAPTER_WEIGHTS,
    GB,
    Serving,
    kv_budget,
    percent,
    text,
)
from spec.claims.under_load import mostly_decode

SECTION = "scaling"
MEMORY = 80 * GB
SLOTS = 256
NODE = 8  # GPUs that NVLink connects
# Seconds before a ring all-reduce moves anything and bytes per second it moves, in a node and across nodes: assumed.
LINKS = {True: (Fraction(8, 10**6), 300 * GB), False: (Fraction(30, 10**6), 25 * GB)}
PRINTED_UTILISATION = Fraction(80, 100)
MODELS = "llama-2-7b", "llama-2-13b", "llama-2-70b"


def _binds(impl: Any, slots: int, context: int) -> str:
    """Say what a growing load meets first: the batch slots or the end of the KV budget."""
    serving, budget = Serving(impl), kv_budget(impl)
    held = serving.concurrency(budget, context)
    return "slots" if impl.within_slots(batch=slots, slots=max(1, int(held))) else "KV"


def _order(impl: Any) -> Outcome:
    capacity = Serving(impl).token_capacity(kv_budget(impl))
    found = {(slots, context): _binds(impl, slots, context) for slots, context in ((SLOTS, 4096), (64, 400))}
    crossing = [capacity // slots for slots in (SLOTS, 64)]
    return Outcome(
        set(found.values()) == {"KV"},
        f"256 slots of 4,096 tokens: {found[SLOTS, 4096]} first; 64 slots of 400: {found[64, 400]} first; the order "
        f"turns at {text(crossing[0])} and {text(crossing[1])} tokens",
    )


def _wait(impl: Any, servers: int, busy: Fraction) -> Fraction:
    """Mean wait in service times, for random arrivals and random services."""
    load = servers * busy
    return Fraction(impl.waiting(servers=servers, offered_load=load)) / (servers - load)


def _degrades(impl: Any) -> Outcome:
    shares = Fraction(60, 100), Fraction(70, 100)
    one, many = ([_wait(impl, servers, share) for share in shares] for servers in (1, 25))
    return Outcome(
        min(many) >= 1,
        f"at 60 and 70 % of what a server carries the mean wait is {text(one[0])} and {text(one[1])} service times "
        f"with one slot, {text(many[0], 2)} and {text(many[1], 2)} with 25",
        min(one) >= 1,
    )


def _runs_out(impl: Any) -> Outcome:
    budget = kv_budget(impl)
    full = Fraction(CHAPTER_WEIGHTS + budget, MEMORY)
    with_activations = Fraction(CHAPTER_WEIGHTS + budget + CHAPTER_ACTIVATIONS, MEMORY)
    kv = (PRINTED_UTILISATION * MEMORY - CHAPTER_WEIGHTS) / budget
    return Outcome(
        abs(full - PRINTED_UTILISATION) <= Fraction(5, 100),
        f"weights and a full KV budget are {percent(full)} of the GPU ({percent(with_activations)} with activations); "
        f"at 80 % the budget is {percent(kv)} full",
    )


def _slots(impl: Any) -> Outcome:
    capacity = Serving(impl).token_capacity(kv_budget(impl))
    long, short = _binds(impl, SLOTS, 4096), _binds(impl, SLOTS, 400)
    return Outcome(
        long == "slots",
        f"256 slots: {long} first at 4,096 tokens, {short} first at 400; they meet at {text(capacity // SLOTS)}",
        short == "slots",
    )


def _scale_out(impl: Any) -> Outcome:
    each = Serving(impl).concurrency(kv_budget(impl), 4096)
    needed = 50
    gpus = impl.gpus(mean_concurrency=needed, sequences_per_gpu=each)
    return Outcome(
        gpus > 1 and Fraction(needed, gpus) < each < gpus * each,
        f"{needed} sequences of 4,096 need {text(gpus)} GPUs: {text(Fraction(needed, gpus))} on each, which could hold "
        f"{text(each)}, and {text(gpus * each)} in all",
    )


def communication_share(impl: Any, name: str, gpus: int) -> Fraction:
    """Return the share of a decode step at batch 1 and peak, weights only, that two all-reduces a layer take."""
    serving = Serving(impl, name)
    latency, link = LINKS[gpus <= NODE]
    vector = 2 * serving.sizes["hidden"]
    one = latency + Fraction(2 * (gpus - 1), gpus) * vector / link
    moved = 2 * serving.sizes["layers"] * one
    reading = serving.decode_step_time(1, 1) / gpus
    return moved / (moved + Fraction(reading))


def _communication(impl: Any) -> Outcome:
    counts = 4, 8, 16
    shares = {(name, t): communication_share(impl, name, t) for name in MODELS for t in counts}
    rows = "; ".join(
        f"{name.rpartition('-')[2]} {', '.join(percent(shares[name, t], 2) for t in counts)}" for name in MODELS
    )
    half = Fraction(1, 2)
    return Outcome(
        all(shares[name, t] > half for name in MODELS for t in (8, 16)),
        f"share of a decode step of one sequence at peak bandwidth, assuming 8 us and 300 GB/s an all-reduce in a node "
        f"of 8 and 30 us and 25 GB/s beyond, on 4, 8 and 16 GPUs: {rows}; whatever else a step reads lowers it",
        all(shares[name, 16] > half for name in MODELS),
    )


def _weights_break(impl: Any) -> Outcome:
    serving = Serving(impl)

    def left(gpus: int) -> Any:
        return impl.kv_budget(
            gpu_memory=MEMORY,
            weights=Fraction(CHAPTER_WEIGHTS, gpus),
            activations=CHAPTER_ACTIVATIONS,
            safety_margin=CHAPTER_MARGIN,
        )

    split, copied = serving.token_capacity(NODE * left(NODE)), NODE * serving.token_capacity(left(1))
    return Outcome(
        bool(split < copied),
        f"8 GPUs that split 14 GB of weights hold {text(Fraction(CHAPTER_WEIGHTS, NODE) / GB)} GB each and cache "
        f"{text(split)} tokens; 8 replicas cache {text(copied)}",
    )


def _replicas(impl: Any) -> Outcome:
    room = MEMORY - CHAPTER_ACTIVATIONS - CHAPTER_MARGIN
    small, large = (Serving(impl, name).weights for name in (MODELS[0], MODELS[2]))
    cost = communication_share(impl, MODELS[0], NODE)
    return Outcome(
        large < room,
        f"{text(Fraction(large) / GB)} GB of a 70B do not fit one GPU; a 7B with {text(Fraction(small) / GB)} GB fits, "
        f"and its replicas do without the {percent(cost)} of a step that 8 GPUs would spend on communication",
        small < room and cost > 0,
    )


CLAIMS = (
    Claim(
        "C104",
        SECTION,
        "Under load things break in one order: time to first token, KV cache, slots, tensor parallelism.",
        _order,
    ),
    Claim(
        "C105",
        SECTION,
        "The time to first token degrades around 60-70 % utilisation of the GPU.",
        _degrades,
        "utilisation is the load over what the server carries, and slots are few",
        ("C150", "C22"),
    ),
    Claim(
        "C106",
        SECTION,
        "Decode then takes most of the time of the GPU.",
        mostly_decode,
        "outputs are not many times shorter than prompts",
    ),
    Claim("C107", SECTION, "The KV cache runs out at about 80 % of the GPU's memory.", _runs_out),
    Claim(
        "C108",
        SECTION,
        "Slots run out even with memory to spare.",
        _slots,
        "contexts are shorter than the token capacity over the slots",
    ),
    Claim("C109", SECTION, "Scaled out, each GPU serves fewer sequences and all of them more.", _scale_out),
    Claim(
        "C110",
        SECTION,
        "Beyond 4 to 8 GPUs tensor parallelism spends most of a step on communication.",
        _communication,
        "the GPUs are in more than one node",
    ),
    Claim("C111", SECTION, "The memory of the weights is what breaks when GPUs are added.", _weights_break),
    Claim(
        "C112",
        SECTION,
        "Replicas are the remedy, and not more tensor parallelism.",
        _replicas,
        "the model fits one GPU",
        ("C119",),
    ),
)
