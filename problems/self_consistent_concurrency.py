"""How many sequences are in service where each of them slows the others, and what keeps them few enough (F23)."""

from fractions import Fraction
from functools import lru_cache

from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained
from grader.family import FINE
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
from spec.solving import Infeasible, last

MINUTE = 60
USED = Fraction(9, 10)  # of a GPU's memory, by weights and cache together
LEAST_LOAD, FEWEST = Fraction(1, 20), 8


def in_the_cache(draw: Draw) -> int:
    """Give the contexts that fit beside the weights; one where there is no room, which no story keeps."""
    v = draw.values
    found = fits.solve(
        "concurrency",
        context=v["context"],
        kv_bytes_per_token=v["kv_bytes_per_token"],
        kv_budget=max(0, USED * v["gpu_memory"] - v["weights"]),
    )
    return 1 if isinstance(found, Infeasible) else max(1, int(found))


def on_its_own(draw: Draw) -> int:
    """Give the tokens that one sequence gets in a second with the GPU to itself."""
    v = draw.values
    return round(v["mbu"] * v["bandwidth"] / (v["weights"] + v["context"] * v["kv_bytes_per_token"]))


MENU = Menu(
    model=("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen3-8b", "gemma-7b", "opt-6.7b"),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-5090"),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    bandwidth=in_tb_per_second,
    mbu=("0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9"),
    arrival_rate=tuple(f"{n} request/min" for n in (20, 30, 40, 50, 60, 75, 90, 100, 120, 150, 180, 240, 300)),
    prefill_time=("80 ms", "100 ms", "120 ms", "150 ms", "200 ms", "250 ms", "300 ms", "400 ms", "500 ms"),
    output=(150, 200, 250, 300, 400, 500, 600),
    context=(800, 1000, 1250, 1500, 1750, 2000),
    slots=in_the_cache,
    decode_rate=on_its_own,
)
OF_MODEL = (q.weights, q.kv_bytes_per_token, q.bandwidth, q.prefill_time, q.output, q.context, q.slots)
BY = (
    *(prefill_load, weights_step_time, cache_step_time, decode_time_alone, load_slope),
    self_consistent_concurrency,
)
MEAN = Reckoning((*OF_MODEL, q.arrival_rate, q.mbu, q.decode_rate), (q.self_consistent_concurrency,), BY)
STEPS = Reckoning(MEAN.given, (q.weights_step_time, q.cache_step_time), BY[:3])
RATE = Reckoning((*OF_MODEL, q.mbu, q.decode_rate), (), ())
SHARE = Reckoning((*OF_MODEL, q.arrival_rate), (q.prefill_load,), BY[:1])


def reached(v: Values, **instead: Fraction) -> dict[str, Fraction]:
    """Follow the laws with some values put instead; what has no value is left out."""
    known = {quantity.name: v[quantity.name] for quantity in MEAN.given if quantity.name in v} | instead
    found = follow([link for link in MEAN.links if link.gives not in instead], {**known})
    return {name: Fraction(value) for name, value in found.items() if not isinstance(value, Infeasible)}


def agreed(v: Values, **instead: Fraction) -> Fraction | None:
    """Give the concurrency at which number and speed agree; None where the number grows without end."""
    return reached(v, **instead).get("self_consistent_concurrency")


def as_for(v: Values, sequences: int, **instead: Fraction) -> Fraction | None:
    """Give the concurrency if steps read the caches of this many sequences, whatever the number in service."""
    found = reached(v, **instead)
    if "cache_step_time" not in found:
        return None
    step = found["weights_step_time"] + sequences * found["cache_step_time"]
    stay = found["prefill_time"] + found["output"] * step
    return Fraction(mean_concurrency(arrival_rate=found["arrival_rate"], service_time=stay))


def at_the_printed_rate(v: Values, rate: Fraction) -> Fraction:
    """Give the concurrency if every sequence decoded as fast as one on its own."""
    stay = v["prefill_time"] + v["output"] / v["decode_rate"]
    return Fraction(mean_concurrency(arrival_rate=rate, service_time=stay))


def right_mean(v: Values) -> Fraction | None:
    """Give the concurrency, unless the cache holds fewer."""
    found = agreed(v)
    return found if found is not None and found <= v["slots"] else None


def busy_beyond(load: Fraction) -> str:
    """Say that prefills leave no time for decode."""
    share = "all the time" if load == 1 else f"{shown(load, '1')} times the time"
    return f"Prefills alone would take {share} there is."


def fate(v: Values) -> str:
    """Say what becomes of a load that is too high."""
    load, found = v["arrival_rate"] * v["prefill_time"], agreed(v)
    if load >= 1:
        return busy_beyond(load)
    if found is None:
        return f"Each sequence in service would cause {shown(runaway(v), '1')} further ones: the number has no end."
    return f"They agree at {shown(found, 'sequence')} only, and the cache holds {v['slots']}."


def runaway(v: Values) -> Fraction:
    """Give how many further sequences one in service causes, one or more of them too."""
    times = reached(v)
    return v["arrival_rate"] * v["output"] * times["cache_step_time"]


def keep(case: Draw) -> bool:
    """Keep loads that a GPU nearly carries or misses by no more than a factor of two, and prefills that are felt."""
    v = MEAN.values(case)
    load = v["arrival_rate"] * v["prefill_time"]
    if v["slots"] < FEWEST or not LEAST_LOAD <= load < 2:  # noqa: PLR2004  twice what there is
        return False
    found = v.get("self_consistent_concurrency")
    if found is None:
        return load >= 1 or runaway(v) <= 2  # noqa: PLR2004  as above
    return v["slots"] <= 8 * found <= 16 * v["slots"]


FIXED = ("fixed-rate", "Every sequence was given the speed of one on its own; each one in service slows the others.")
STOLEN = ("prefill-ignored", "Decode was given all the time; prefills take their share of it.")
SHARED = ("cache-shared", "The cache of one sequence was read in every step; a step reads those of all in service.")
BARE = ("weights-only", "Only the weights were read in every step; the caches of all in service are read too.")
WHOLE = ("full-bandwidth", "The whole bandwidth was used; memory traffic reaches only a share of it.")
NOTHING = Fraction(0)
EQUATION = "N = lambda (T_p + m (W + N c k) / (BW MBU (1 - lambda T_p)))"


def numbers(case: Draw, own: str) -> str:
    """Put in the numbers of a case; `own` says what the question gives beside what is always given."""
    given = f"{own}, T_p = prefill_time, m = output, W = weights, c = context, k = kv_bytes_per_token, BW = bandwidth"
    pairs = [pair.split(" = ") for pair in given.split(", ")]
    return f"{', '.join(f'{symbol} = {case.amounts[name]}' for symbol, name in pairs)}."


def explained(case: Draw) -> tuple[Explained, ...]:
    """Explain the mean as far as there are steps to it."""
    v = MEAN.values(case)
    if v["arrival_rate"] * v["prefill_time"] >= 1:
        return (Explained("prefill_load", "The share of the time that prefills take.", f"{fate(v)} answer = none"),)
    if "self_consistent_concurrency" not in v:
        return STEPS.lines(case, Explained("load_slope", "At 1 the load runs away.", f"{fate(v)} answer = none"))
    if right_mean(v) is None:
        return MEAN.lines(case, Explained("fits", "The cache must hold all of them.", f"{fate(v)} answer = none"))
    return MEAN.lines(case)


mean: CaseAsk[Draw] = CaseAsk(
    asks="self_consistent_concurrency",
    question=lambda c: (
        f"Requests arrive at {c.amounts['arrival_rate']}. Memory traffic reaches {c.amounts['mbu']} of its peak; so a "
        f"sequence that has the GPU to itself decodes at {c.amounts['decode_rate']}. At how many sequences in service "
        "on average do their number and their speed agree, if at any that the cache holds?"
    ),
    kind="quantity",
    unit="sequence",
    key=lambda c: right_mean(MEAN.values(c)),
    tolerance=FINE,
    reason=lambda c: fate(MEAN.values(c)),
    givens=lambda c: MEAN.givens(c, q.arrival_rate, q.mbu, q.decode_rate),
    slips=(
        MEAN.slip(*FIXED, lambda v: at_the_printed_rate(v, v["arrival_rate"])),
        MEAN.slip(*STOLEN, lambda v: agreed(v, prefill_load=NOTHING)),
        MEAN.slip(*SHARED, lambda v: as_for(v, 1)),
        MEAN.slip(*BARE, lambda v: as_for(v, 0)),
        MEAN.slip(*WHOLE, lambda v: agreed(v, mbu=Fraction(1))),
        MEAN.slip(
            "as-many-as-fit",
            "That is how many the cache holds; fewer or more may be in service.",
            lambda v: v["slots"],
        ),
        MEAN.slip(
            "cache-not-asked",
            "Number and speed would agree there, but the cache does not hold so many.",
            agreed,
            right_mean,
        ),
        CaseSlip(
            "minute-as-second",
            "There is an answer. Arrivals per minute taken as per second would overrun every GPU.",
            lambda _: None,
            lambda c: agreed(MEAN.values(c), arrival_rate=MINUTE * MEAN.values(c)["arrival_rate"]) is None,
        ),
    ),
    hints=lambda c: (
        "Little's law gives the number from the time that each stays, and the number sets how long a step lasts.",
        f"{EQUATION} is linear in N; the factor of N must be under 1, and lambda T_p too. Compare N with the cache.",
        numbers(c, "lambda = arrival_rate, MBU = mbu"),
    ),
    explained=explained,
)


def fastest(v: Values, number: str = "", **instead: Fraction) -> int | None:
    """Find the last whole rate per minute at which the cache still holds what is in service."""
    return _fastest(tuple(v.items()), number, tuple(instead.items()))


def one_more(v: Values) -> int:
    """Give the first rate that is too high."""
    return (fastest(v) or 0) + 1


@lru_cache(maxsize=64)  # a question asks for it a dozen times
def _fastest(
    values: tuple[tuple[str, Fraction], ...], number: str, put: tuple[tuple[str, Fraction], ...]
) -> int | None:
    v, instead = dict(values), dict(put)

    def held(rate: int) -> bool:
        arrivals = Fraction(rate, MINUTE)
        if number == "printed":
            found: Fraction | None = at_the_printed_rate(v, arrivals)
        elif number:
            found = as_for(v, int(number), arrival_rate=arrivals, **instead)
        else:
            found = agreed(v, arrival_rate=arrivals, **instead)
        return found is not None and found <= v["slots"]

    return last(COUNT, held)


rate: CaseAsk[Draw] = CaseAsk(
    asks="arrival_rate",
    question=lambda c: (
        f"Memory traffic reaches {c.amounts['mbu']} of its peak; so a sequence that has the GPU to itself decodes at "
        f"{c.amounts['decode_rate']}. At how many requests/min, as a whole number, can they arrive at most so that on "
        "average no more are in service than the cache holds?"
    ),
    kind="count",
    unit="request/min",
    key=lambda c: fastest(RATE.values(c)),
    reason=lambda _: "Even one request a minute would be too many.",
    givens=lambda c: RATE.givens(c, q.mbu, q.decode_rate),
    slips=(
        RATE.slip(*FIXED, lambda v: fastest(v, "printed")),
        RATE.slip(*STOLEN, lambda v: fastest(v, prefill_load=NOTHING)),
        RATE.slip(*SHARED, lambda v: fastest(v, "1")),
        RATE.slip(*BARE, lambda v: fastest(v, "0")),
        RATE.slip(*WHOLE, lambda v: fastest(v, mbu=Fraction(1))),
        RATE.slip("rounded-up", "At this rate more are in service on average than the cache holds.", one_more),
        RATE.slip("in-seconds", "That is the rate per second.", lambda v: Fraction(fastest(v) or 0, MINUTE)),
        RATE.slip(
            "prefill-alone",
            "At that rate prefills alone would take all the time; decode needs most of it.",
            lambda v: MINUTE / v["prefill_time"],
        ),
    ),
    hints=lambda c: (
        "At the highest rate the cache is as full as it may be, and steps are as slow as so many sequences make them.",
        f"In {EQUATION} the rate grows with N; search the last whole one per minute at which the cache holds N.",
        numbers(c, "N = slots, MBU = mbu"),
    ),
    explained=lambda c: (
        Explained(
            "self_consistent_concurrency",
            "More arrivals keep more in service; the last rate at which the cache holds them is the answer.",
            f"At {one_more(RATE.values(c))} requests/min "
            f"{too_many(RATE.values(c))}, at one fewer "
            f"{shown(agreed(RATE.values(c), arrival_rate=Fraction(fastest(RATE.values(c)) or 0, MINUTE)), 'sequence')} "
            f"are in service: arrival_rate = {shown(fastest(RATE.values(c)), 'request/min')}",
        ),
    ),
)


def too_many(v: Values) -> str:
    """Say how many would be in service at the first rate that is too high."""
    found = agreed(v, arrival_rate=Fraction(one_more(v), MINUTE))
    return "their number would have no end" if found is None else f"{shown(found, 'sequence')} would be in service"


PERCENT = 100


def needed(v: Values, sequences: Fraction, taken: Fraction) -> Fraction | None:
    """Give the share of the bandwidth, in %, at which steps that read so many caches keep the cache just full."""
    decoding = v["slots"] / v["arrival_rate"] - v["prefill_time"]  # what Little's law leaves each for its decode
    read = v["output"] * (v["weights"] + sequences * v["context"] * v["kv_bytes_per_token"])
    if decoding <= 0 or taken >= 1:
        return None
    return PERCENT * read / (v["bandwidth"] * (1 - taken) * decoding)


def right_share(v: Values) -> Fraction | None:
    """Give the share that is needed; None where the whole bandwidth is too little."""
    found = needed(v, v["slots"], v["arrival_rate"] * v["prefill_time"])
    return found if found is not None and found <= PERCENT else None


def busy(v: Values) -> Fraction:
    """Give the share of the time that prefills take."""
    return v["arrival_rate"] * v["prefill_time"]


def in_a_number(v: Values) -> Fraction | None:
    """Give the share as a number, where there is one."""
    found = right_share(v)
    return None if found is None else found / PERCENT


def why_no_share(v: Values) -> str:
    """Say why no share of the bandwidth is enough."""
    if busy(v) >= 1:
        return busy_beyond(busy(v))
    found = needed(v, v["slots"], busy(v))
    if found is None:
        return "Prefills alone would fill the cache."
    return f"It would take {shown(found, '%')} of the bandwidth."


def share_explained(case: Draw) -> tuple[Explained, ...]:
    """Explain the share, or why there is none."""
    v = SHARE.values(case)
    found = right_share(v)
    end = f"{why_no_share(v)} answer = none" if found is None else f"mbu = {shown(found, '%')}"
    line = Explained(
        "self_consistent_concurrency",
        "m (W + N c k) / (BW (1 - lambda T_p) (N / lambda - T_p)), with the cache just full.",
        f"N = {case.amounts['slots']} at {case.amounts['arrival_rate']}: {end}",
    )
    return (line,) if busy(v) >= 1 else SHARE.lines(case, line)


share: CaseAsk[Draw] = CaseAsk(
    asks="mbu",
    question=lambda c: (
        f"Requests arrive at {c.amounts['arrival_rate']}. What share of its peak, in %, must memory traffic reach at "
        "least so that on average no more are in service than the cache holds?"
    ),
    kind="quantity",
    unit="%",
    key=lambda c: right_share(SHARE.values(c)),
    tolerance=FINE,
    reason=lambda c: why_no_share(SHARE.values(c)),
    givens=lambda c: SHARE.givens(c, q.arrival_rate),
    slips=(
        SHARE.slip(*STOLEN, lambda v: needed(v, v["slots"], NOTHING)),
        SHARE.slip(*SHARED, lambda v: needed(v, Fraction(1), busy(v))),
        SHARE.slip(*BARE, lambda v: needed(v, NOTHING, busy(v))),
        SHARE.slip(
            "ratio-inverted",
            "The bandwidth was divided by what is needed of it.",
            lambda v: PERCENT**2 / (needed(v, v["slots"], busy(v)) or NOTHING),
        ),
        SHARE.slip(
            "number-for-percent",
            "That is the share as a number; it is asked for in %.",
            in_a_number,
        ),
        SHARE.slip(
            "more-than-all",
            "No GPU reaches more than its whole bandwidth.",
            lambda v: needed(v, v["slots"], busy(v)),
            right_share,
        ),
    ),
    hints=lambda c: (
        "With the cache just full, Little's law says how long each may stay, and so how long a step may last.",
        f"{EQUATION}, with N as the cache holds, is solved for MBU; over 1 there is none.",
        numbers(c, "N = slots, lambda = arrival_rate"),
    ),
    explained=share_explained,
)


family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"One {gpu_of(c)}, which reads {c.amounts['bandwidth']} at its peak, serves {model_of(c)}, whose weights take "
        f"{c.amounts['weights']} and which caches {c.amounts['kv_bytes_per_token']}. Every request takes a "
        f"prefill of {c.amounts['prefill_time']}, during which nothing is decoded, and then {c.amounts['output']} of "
        f"output, one decode step for each. A step reads the weights once and the caches of all sequences in service, "
        f"with {c.amounts['context']} each on average; decode steps share the time that prefills leave. Reading is all "
        f"that takes time in a step. Beside the weights the cache holds {c.amounts['slots']}."
    ),
    givens=lambda c: MEAN.givens(c, *OF_MODEL),
    ways=((mean,), (rate,), (share,)),
    keep=keep,
    infeasible=True,
    objective="littles-law",
    section="sizing",
    revision=4,
)
