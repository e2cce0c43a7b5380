"""How many GPUs a load needs by memory alone (F22)."""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil

from grader.family import ONE_GPU, Ask, Draw, Family, Menu, OwnSlip, weights_in_gb
from spec import quantities as q
from spec.memory import kv_budget, kv_bytes_per_token
from spec.phases import service_time
from spec.queueing import mean_concurrency
from spec.scaling import carries, gpu_holds

SEQUENCES = (2, 24)  # that one GPU holds: few, so that a wrong term changes their whole number
GPUS = (20, 200)  # many, so that a wrong load changes theirs


def cache_of_a_token(draw: Draw) -> int:
    """Give the KV cache per token of the drawn model, two bytes an element."""
    needed = {name: draw.values[name] for name in ("layers", "kv_heads", "head_dim")}
    return int(kv_bytes_per_token(**needed, kv_width=2))


def worth_asking(draw: Draw) -> bool:
    """Keep loads of several GPUs that hold several sequences each, so that every term counts; and GPUs too small."""
    v = draw.exact
    budget = v["gpu_memory"] - v["weights"] - v["activations"] - v["safety_margin"]
    sequences = budget / ((v["prompt"] + v["output"]) * v["kv_bytes_per_token"])
    load = v["arrival_rate"] * (v["ttft"] + v["output"] / v["decode_rate"])
    if budget <= 0:
        return -v["gpu_memory"] <= budget
    return SEQUENCES[0] <= sequences <= SEQUENCES[1] and GPUS[0] * sequences <= load <= GPUS[1] * sequences


def as_one_big_memory(v: Mapping[str, Fraction]) -> int:
    """Pool the memory of all GPUs, with one copy of the weights."""
    cached = v["mean_concurrency"] * (v["prompt"] + v["output"]) * v["kv_bytes_per_token"]
    return ceil((v["weights"] + cached) / v["gpu_memory"])


family = Family(
    asks=Ask(q.gpus, "By memory alone, what is the smallest number of such GPUs with which the queue stays stable?"),
    by=(kv_budget, gpu_holds, service_time, mean_concurrency, carries),
    given=Menu(
        model=(
            *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen3-8b"),
            *("gemma-7b", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
        ),
        gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "v100-32gb", "rtx-5090", "a10"),
        weights=weights_in_gb,
        activations=("3 GB", "4 GB", "5 GB", "6 GB", "8 GB"),
        safety_margin=("2 GB", "3 GB", "4 GB", "5 GB"),
        kv_bytes_per_token=cache_of_a_token,
        arrival_rate=tuple(f"{n} request/min" for n in (240, 300, 360, 480, 600, 720, 900, 1200, 1500, 1800, 2400)),
        prompt=(1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000),
        output=(500, 600, 750, 800, 1000, 1200, 1500, 2000),
        ttft=("800 ms", "1000 ms", "1500 ms", "2000 ms", "2500 ms", "3000 ms", "4000 ms"),
        decode_rate=(20, 25, 30, 40, 50, 60),
    ),
    wording=f"""{ONE_GPU} {{{{ model }}}} caches {{{{ kv_bytes_per_token }}}} and runs
        as one copy on each GPU.
        Requests arrive at {{{{ arrival_rate }}}}, each with a prompt of {{{{ prompt }}}} and an output of
        {{{{ output }}}}; the first token takes {{{{ ttft }}}} on average, and then each sequence decodes at
        {{{{ decode_rate }}}}.""",
    slips=(
        OwnSlip(
            "one-big-memory",
            "The GPUs were taken as one memory with one copy of the weights; each holds its own copy and reserves.",
            as_one_big_memory,
        ),
    ),
    objective="gpu-count",
    section="sizing",
    infeasible=True,
    keep=worth_asking,
)
