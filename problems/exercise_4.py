"""Exercise 4 of the chapter: the concurrency of a load, the GPUs it needs by memory and by time, and what binds."""

from dataclasses import replace
from fractions import Fraction

from grader.case import Explained, Given
from grader.family import FINE, ONE_GPU, Ask, Menu, OwnSlip
from grader.menu import Draw
from grader.preset import Preset
from grader.reckoned import Values, shown
from problems.binding_limit import (
    EQUATION,
    LOAD,
    N_OF_STEPS,
    SHARED,
    by_memory,
    by_time,
    limit,
    numbers,
    time,
    unless,
)
from problems.self_consistent_concurrency import FIXED
from spec import quantities as q
from spec.chain import follow
from spec.memory import kv_budget
from spec.phases import service_time
from spec.queueing import keeps_up, mean_concurrency
from spec.scaling import carries, gpu_holds
from spec.solving import Infeasible

UNBOUND = Fraction(10**9)  # slots, more than any load takes


def held(draw: Draw) -> int:
    """Give the sequences that one GPU holds, which are the slots of its batch."""
    budget = kv_budget(**{name: draw.values[name] for name in kv_budget.symbols if name != "kv_budget"})
    each = {name: draw.values[name] for name in ("prompt", "output", "kv_bytes_per_token")}
    found = gpu_holds.solve("sequences_per_gpu", kv_budget=budget, **each)
    if isinstance(found, Infeasible):
        raise TypeError(found)
    return int(found)


def of_steps(case: Draw) -> tuple[Given, ...]:
    """Give what a decode step takes, beside what the story says."""
    return LOAD.givens(case, q.prefill_time, q.context, q.mbu, q.bandwidth)


def tried(v: Values, gpus: int) -> str:
    """Say how many sequences so many GPUs would each have in service."""
    rate = v["arrival_rate"] / gpus
    found = follow(SHARED.links, {**v, "arrival_rate": rate})
    taken, reading, agreed = (
        found.get(name) for name in ("prefill_load", "cache_step_time", "self_consistent_concurrency")
    )
    if isinstance(taken, Infeasible) or isinstance(reading, Infeasible) or taken is None or reading is None:
        raise TypeError(taken, reading)
    each = f"Each of {shown(gpus, 'GPU')}: prefills take {shown(taken, '1', 3)} of the time"
    if agreed is None or isinstance(agreed, Infeasible):
        others = shown(rate * v["output"] * reading, "1", 3)
        return f"{each}, and each sequence in service causes {others} others: their number has no end"
    return f"{each}, and {shown(agreed, 'sequence', 4)} are in service, of {v['slots']} that it holds"


def explained(case: Draw) -> tuple[Explained, ...]:
    """Show what is in service on each of one GPU, and of more up to as many as it takes."""
    v = LOAD.values(case)
    counts = range(1, by_time(v) + 1)
    lines = [tried(v, gpus) for gpus in counts]
    lines[-1] += f": gpus_by_time = {shown(counts[-1], 'GPU')}"
    return (
        Explained(
            "self_consistent_concurrency", "The arrivals at one GPU set how many are in service on it.", EQUATION
        ),
        *(Explained("fits", "It must hold more than that.", line) for line in lines),
    )


in_fact = replace(
    time,
    question=lambda c: (
        f"In fact {c.amounts['decode_rate']} is the rate of a sequence that has its GPU to itself. A decode step "
        "reads the weights once and the caches of all sequences in service on the GPU, with "
        f"{c.amounts['context']} each on average, at {c.amounts['mbu']} of the {c.amounts['bandwidth']} that the GPU "
        "reads at its peak; reading is all that takes time in a step. The first token takes a prefill of "
        f"{c.amounts['prefill_time']}, during which the GPU decodes nothing, so that decode steps share the time that "
        "prefills leave. By time, with how many such GPUs at least, each with an equal part of the requests, are fewer "
        "sequences in service on each, on average, than it holds?"
    ),
    givens=of_steps,
    slips=(
        LOAD.slip(*FIXED, unless(by_time, by_memory)),
        *time.slips[1:],
        LOAD.slip(
            "memory-not-asked",
            "So many GPUs would keep up, if each held more sequences than it does.",
            unless(by_time, lambda v: by_time({**v, "slots": UNBOUND})),
        ),
    ),
    least=2,
    hints=lambda c: (
        "On each GPU number and speed must agree, and the GPU must hold more than the number.",
        f"{EQUATION} with the arrivals at one GPU; try numbers of GPUs until N is less than your answer to part c.",
        numbers(c, {"lambda": "arrival_rate", "T_p": "prefill_time", **N_OF_STEPS}),
    ),
    explained=explained,
)
binds = replace(
    limit,
    question=lambda _: (
        "Which limit binds: time, if the GPUs of part e are more than those of part d, or memory, if they are not?"
    ),
    hints=lambda c: (*limit.hints(c)[:2], "Compare your answers to parts d and e."),
)

family = Preset(
    asks=(
        Ask(q.mean_concurrency, "How many sequences are in service on average?", tolerance=FINE),
        Ask(q.slots, "With how many batch slots at least, on all GPUs together, does the queue stay stable?"),
        Ask(
            q.sequences_per_gpu,
            "How many sequences does one GPU hold, each with prompt and output in full?",
            "sequence",
        ),
        Ask(q.gpus, "By memory alone, what is the smallest number of such GPUs with which the queue stays stable?"),
    ),
    more=(in_fact, binds),
    by=(kv_budget, gpu_holds, service_time, mean_concurrency, keeps_up, carries),
    given=Menu(
        gpu=("a100-80gb",),
        weights=("14 GB",),
        activations=("8 GB",),
        safety_margin=("4 GB",),
        kv_bytes_per_token=(524_288,),
        arrival_rate=("100 request/min",),
        prompt=(2000,),
        output=(500,),
        ttft=("200 ms",),
        decode_rate=(50,),
        prefill_time=("200 ms",),  # all of the time to first token: nobody waits
        context=(2250,),  # the prompt and half of the output
        mbu=("0.37",),  # at which one sequence alone decodes at the printed rate
        slots=held,
    ),
    wording=f"""{ONE_GPU} The model, a 7B, caches {{{{ kv_bytes_per_token }}}} and
        runs as one copy on each GPU.
        Requests arrive at {{{{ arrival_rate }}}}, each with a prompt of {{{{ prompt }}}} and an output of
        {{{{ output }}}}; the first token takes {{{{ ttft }}}} on average, and then each sequence decodes its
        whole output at {{{{ decode_rate }}}}.""",
    slips=(
        OwnSlip(
            "as-many-as-the-mean",
            "So many are in service on average; with no slot more the queue grows without end.",
            lambda v: v["mean_concurrency"],
            q.slots,
        ),
    ),
    objective="gpu-count",
    section="exercises",
    revision=3,
)
