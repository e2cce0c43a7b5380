"""How many GPUs a load needs at a fixed speed and at the speed that it leaves, and which of them binds (F22, F23)."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil

from grader.case import CaseAsk, CaseFamily, Explained, told_apart
from grader.menu import Draw, Menu, cache_of_a_token, in_tb_per_second, weights_in_gb
from grader.reckoned import Reckoning, Values, gpu_of, model_of, shown
from spec import quantities as q
from spec.chain import follow
from spec.domains import COUNT
from spec.memory import fits
from spec.queueing import (
    cache_step_time,
    decode_time_alone,
    load_slope,
    mean_concurrency,
    prefill_load,
    self_consistent_concurrency,
    weights_step_time,
)
from spec.scaling import carries
from spec.solving import Infeasible, last

LABELS = ("memory", "time")
MINUTE, FEWEST_HELD, FEWEST, MOST = 60, 8, 3, 90
USED = Fraction(9, 10)  # of a GPU's memory, by weights and cache together


def in_the_cache(draw: Draw) -> int:
    """Give the contexts that fit beside the weights; one where there is no room, which no story keeps."""
    v = draw.values
    room = max(0, USED * v["gpu_memory"] - v["weights"])
    found = fits.solve("concurrency", context=v["context"], kv_bytes_per_token=v["kv_bytes_per_token"], kv_budget=room)
    return 1 if isinstance(found, Infeasible) else max(1, int(found))


MENU = Menu(
    model=("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen3-8b", "gemma-7b", "opt-6.7b"),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-5090"),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    bandwidth=in_tb_per_second,
    mbu=("0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9"),
    arrival_rate=tuple(f"{n} request/min" for n in (600, 900, 1200, 1500, 1800, 2400, 3000, 3600, 4500, 6000)),
    prefill_time=("20 ms", "30 ms", "40 ms", "50 ms", "60 ms", "80 ms", "100 ms", "120 ms", "150 ms"),
    output=(150, 200, 250, 300, 400, 500, 600),
    context=(800, 1000, 1250, 1500, 1750, 2000),
    slots=in_the_cache,
    decode_rate=(15, 20, 25, 30, 40, 50),
)
GIVEN = (q.weights, q.kv_bytes_per_token, q.bandwidth, q.mbu, q.arrival_rate, q.prefill_time, q.output, q.context)
BY = (prefill_load, weights_step_time, cache_step_time, decode_time_alone, load_slope, self_consistent_concurrency)
SHARED = Reckoning((*GIVEN, q.slots, q.decode_rate), (q.self_consistent_concurrency,), BY)
LOAD = Reckoning(SHARED.given, (), ())


def in_all(v: Values, rate: Fraction) -> Fraction:
    """Give how many are in service on all GPUs if each decodes at the printed speed."""
    stay = v["prefill_time"] + v["output"] / v["decode_rate"]
    return Fraction(mean_concurrency(arrival_rate=rate, service_time=stay))


def for_so_many(v: Values, sequences: Fraction) -> int:
    """Give the fewest GPUs that hold more sequences than so many."""
    found = carries.solve("gpus", mean_concurrency=sequences, sequences_per_gpu=v["slots"])
    if isinstance(found, Infeasible):
        raise TypeError(found)
    return int(found)


def by_memory(v: Values) -> int:
    """Give the fewest GPUs at the printed speed."""
    return for_so_many(v, in_all(v, v["arrival_rate"]))


def by_time(v: Values, sequences: int | None = None, **instead: Fraction) -> int:
    """Give the fewest GPUs where number and speed agree; steps may read the caches of another number of sequences."""
    return _by_time(tuple(v.items()), sequences, tuple(instead.items()))


@lru_cache(maxsize=64)  # a question asks for it a dozen times
def _by_time(
    values: tuple[tuple[str, Fraction], ...], sequences: int | None, put: tuple[tuple[str, Fraction], ...]
) -> int:
    v, instead = dict(values), dict(put)
    links = [link for link in SHARED.links if link.gives not in instead]

    def too_few(gpus: int) -> bool:
        rate = v["arrival_rate"] / gpus
        found = follow(links, {**v, **instead, "arrival_rate": rate})
        if sequences is None:
            agreed = found.get("self_consistent_concurrency")
            return agreed is None or isinstance(agreed, Infeasible) or agreed > v["slots"]
        base, each = found.get("weights_step_time"), found.get("cache_step_time")
        if base is None or each is None or isinstance(base, Infeasible) or isinstance(each, Infeasible):
            return True
        stay = v["prefill_time"] + v["output"] * (base + sequences * each)
        return bool(mean_concurrency(arrival_rate=rate, service_time=stay) > v["slots"])

    return (last(COUNT, too_few) or 0) + 1


def keep(case: Draw) -> bool:
    """Keep loads that take several GPUs, which hold several sequences each."""
    v = LOAD.values(case)
    if v["slots"] < FEWEST_HELD or not FEWEST * v["slots"] <= in_all(v, v["arrival_rate"]) <= MOST * v["slots"]:
        return False
    return by_time(v) <= MOST


def unless(key: Callable[..., int], value: Callable[[Values], int]) -> Callable[[Values], int | None]:
    """Leave a wrong number out where it is right, or no number of GPUs."""
    return lambda v: None if value(v) in {0, key(v)} else value(v)


EQUATION = "N = lambda (T_p + m (W + N c k) / (BW MBU (1 - lambda T_p)))"
N_OF_PLAN = {"lambda": "arrival_rate", "T_p": "prefill_time", "m": "output", "r": "decode_rate", "n": "slots"}
N_OF_STEPS = {"W": "weights", "c": "context", "k": "kv_bytes_per_token", "BW": "bandwidth", "MBU": "mbu", "m": "output"}


def numbers(case: Draw, symbols: Mapping[str, str]) -> str:
    """Put in the numbers of a case."""
    return f"{', '.join(f'{symbol} = {case.amounts[name]}' for symbol, name in symbols.items())}."


memory: CaseAsk[Draw] = CaseAsk(
    asks="gpus_by_memory",
    question=lambda c: (
        f"A plan assumes that every sequence decodes at {c.amounts['decode_rate']}. How many such GPUs does it need at "
        "least, to hold more sequences than are in service on average?"
    ),
    kind="count",
    unit="GPU",
    key=lambda c: by_memory(LOAD.values(c)),
    slips=(
        LOAD.slip(
            "minute-as-second",
            "The arrivals per minute were taken as per second.",
            lambda v: for_so_many(v, in_all(v, MINUTE * v["arrival_rate"])),
        ),
        LOAD.slip(
            "one-gpu-per-sequence",
            "One GPU was counted for each sequence; it holds many.",
            unless(by_memory, lambda v: ceil(in_all(v, v["arrival_rate"]))),
        ),
        LOAD.slip(
            "rounded-down",
            "With one fewer GPU the queue grows without end.",
            unless(by_memory, lambda v: by_memory(v) - 1),
        ),
        LOAD.slip(
            "decode-forgotten",
            "Only the prefills were counted; each sequence is in service until its last token.",
            unless(by_memory, lambda v: for_so_many(v, v["arrival_rate"] * v["prefill_time"])),
        ),
        LOAD.slip(
            "prefill-forgotten",
            "The prefills were left out of the time in service.",
            unless(by_memory, lambda v: for_so_many(v, v["arrival_rate"] * v["output"] / v["decode_rate"])),
        ),
    ),
    hints=lambda c: (
        "Little's law gives how many are in service in all.",
        "N = lambda (T_p + m / r) are in service, and a GPU holds n of them: the GPUs must hold more than N.",
        numbers(c, N_OF_PLAN),
    ),
    explained=lambda c: (
        Explained(
            "mean_concurrency",
            "Little's law at the speed of the plan.",
            f"{c.amounts['arrival_rate']} * ({c.amounts['prefill_time']} + {c.amounts['output']} / "
            f"{c.amounts['decode_rate']}) = "
            f"{shown(in_all(LOAD.values(c), LOAD.values(c)['arrival_rate']), 'sequence')}",
        ),
        Explained(
            "carries",
            "The GPUs hold more than that.",
            f"gpus_by_memory = {shown(by_memory(LOAD.values(c)), 'GPU')} of {c.amounts['slots']} each",
        ),
    ),
)


def end(case: Draw) -> str:
    """Show what is in service on each GPU with as many as it takes, and with one fewer."""
    v = LOAD.values(case)
    found = by_time(v)
    numbers = [on_each(v, gpus) for gpus in (found - 1, found) if gpus]
    said = [f"no number at which they agree with {found - 1}" if n is None else shown(n, "sequence") for n in numbers]
    return f"On each of {found - 1} GPUs {said[0]}, on each of {found} {said[-1]}: gpus_by_time = {shown(found, 'GPU')}"


def on_each(v: Values, gpus: int) -> Fraction | None:
    """Give how many are in service on each GPU; None where their number grows without end."""
    found = follow(SHARED.links, {**v, "arrival_rate": v["arrival_rate"] / gpus}).get("self_consistent_concurrency")
    return None if found is None or isinstance(found, Infeasible) else Fraction(found)


time: CaseAsk[Draw] = CaseAsk(
    asks="gpus_by_time",
    question=lambda _: (
        "In fact every sequence in service slows the others. With how many such GPUs at least, each with an equal part "
        "of the arrivals, are on average no more in service on each than its cache holds?"
    ),
    kind="count",
    unit="GPU",
    key=lambda c: by_time(LOAD.values(c)),
    slips=(
        LOAD.slip(
            "fixed-rate", "The speed of the plan was used; it is not that of a full GPU.", unless(by_time, by_memory)
        ),
        LOAD.slip("rounded-down", "With so many the cache is too small.", unless(by_time, lambda v: by_time(v) - 1)),
        LOAD.slip(
            "prefill-ignored",
            "Decode was given all the time; prefills take their share of it.",
            unless(by_time, lambda v: by_time(v, prefill_load=Fraction(0))),
        ),
        LOAD.slip(
            "cache-shared",
            "The cache of one sequence was read in every step; a step reads those of all in service.",
            unless(by_time, lambda v: by_time(v, sequences=1)),
        ),
        LOAD.slip(
            "weights-only",
            "Only the weights were read in every step; the caches of all in service are read too.",
            unless(by_time, lambda v: by_time(v, sequences=0)),
        ),
        LOAD.slip(
            "full-bandwidth",
            "The whole bandwidth was used; memory traffic reaches only a share of it.",
            unless(by_time, lambda v: by_time(v, mbu=Fraction(1))),
        ),
        LOAD.slip(
            "prefill-alone",
            "So many GPUs keep up with the prefills alone; decode takes time as well.",
            unless(by_time, lambda v: ceil(v["arrival_rate"] * v["prefill_time"])),
        ),
    ),
    hints=lambda c: (
        "On each GPU number and speed must agree, and the cache must hold the number.",
        f"{EQUATION} with the arrivals at one GPU; try numbers of GPUs until N is {c.amounts['slots']} or fewer.",
        numbers(c, N_OF_STEPS),
    ),
    explained=lambda c: (
        Explained("self_consistent_concurrency", "The fewest GPUs on each of which the cache holds them.", end(c)),
    ),
)


def label(case: Draw) -> str:
    """Say which limit binds."""
    v = LOAD.values(case)
    return LABELS[by_time(v) > by_memory(v)]


limit: CaseAsk[Draw] = CaseAsk(
    asks="limit",
    question=lambda _: (
        "Which limit binds: time, if the GPUs of part b are more than those of part a, or memory, if they are not?"
    ),
    kind="choice",
    options=lambda _: LABELS,
    key=label,
    slips=(
        told_apart(
            "other-limit", "The larger number of GPUs is needed.", lambda c: LABELS[label(c) == LABELS[0]], label
        ),
    ),
    hints=lambda _: (
        "Compare the two numbers of GPUs.",
        "The load needs the larger of them.",
        "Compare your answers to parts a and b.",
    ),
    explained=lambda c: (
        Explained(
            "limit",
            "The load needs the larger number.",
            f"{by_memory(LOAD.values(c))} by memory and {by_time(LOAD.values(c))} by time: {label(c)}",
        ),
    ),
)

family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"Requests arrive at {c.amounts['arrival_rate']} at some {gpu_of(c)}, each of which reads "
        f"{c.amounts['bandwidth']} at its peak, of which memory traffic reaches {c.amounts['mbu']}. Each runs a copy "
        f"of {model_of(c)}, whose weights take {c.amounts['weights']} and which caches "
        f"{c.amounts['kv_bytes_per_token']}. Every request takes a prefill of {c.amounts['prefill_time']}, during "
        f"which its GPU decodes nothing, and then {c.amounts['output']} of output, one decode step for each. A step "
        "reads the weights once and the caches of all sequences in service on the GPU, with "
        f"{c.amounts['context']} each on average; decode steps share the time that prefills leave. Reading is all "
        f"that takes time in a step. Beside the weights the cache of one GPU holds {c.amounts['slots']}."
    ),
    givens=SHARED.givens,
    ways=((memory, time, limit),),
    keep=keep,
    objective="gpu-count",
    section="sizing",
    revision=2,
)
