"""How many GPUs a load needs by memory alone (F22)."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import ceil

from grader.family import ONE_GPU, Ask, Draw, Family, Menu, OwnSlip, weights_in_gb
from spec import quantities as q
from spec.memory import kv_budget, kv_bytes_per_token
from spec.phases import service_time
from spec.queueing import mean_concurrency
from spec.scaling import carries, gpu_holds
from spec.solving import Exact

DOZEN = 12


def cache_of_a_token(draw: Draw) -> int:
    """Give the KV cache per token of the drawn model, two bytes an element."""
    v = draw.values
    return _cache(v["layers"], v["kv_heads"], v["head_dim"])


@cache
def _cache(layers: Exact, kv_heads: Exact, head_dim: Exact) -> int:
    return int(kv_bytes_per_token(layers=layers, kv_heads=kv_heads, head_dim=head_dim, kv_width=2))


def worth_asking(draw: Draw) -> bool:
    """Keep GPUs that are too small, and those that hold a dozen sequences or more of which a load needs many.

    Then a wrong budget changes how many sequences a GPU holds, and one sequence more or less the number of GPUs.
    """
    v = draw.values
    budget = v["gpu_memory"] - v["weights"] - v["activations"] - v["safety_margin"]
    if budget <= 0:
        return -v["gpu_memory"] <= budget
    sequence = (v["prompt"] + v["output"]) * v["kv_bytes_per_token"]
    held = budget // sequence
    load = v["arrival_rate"] * (v["ttft"] * v["decode_rate"] + v["output"]) // v["decode_rate"]
    return held >= DOZEN and 12 * sequence <= v["weights"] and held * held < load < 200 * held


def as_one_big_memory(v: Mapping[str, Fraction]) -> int:
    """Pool the memory of all GPUs, with one copy of the weights."""
    cached = v["mean_concurrency"] * (v["prompt"] + v["output"]) * v["kv_bytes_per_token"]
    return ceil((v["weights"] + cached) / v["gpu_memory"])


family = Family(
    asks=Ask(q.gpus, "By memory alone, what is the smallest number of such GPUs with which the queue stays stable?"),
    by=(kv_budget, gpu_holds, service_time, mean_concurrency, carries),
    given=Menu(
        model=(
            *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen3-8b", "gemma-7b", "gpt-j-6b"),
            "gpt-neox-20b",
        ),
        gpu=("a100-80gb", "a100-40gb", "l40s", "v100-32gb", "rtx-5090"),
        weights=weights_in_gb,
        activations=("3 GB", "4 GB", "5 GB", "6 GB", "8 GB"),
        safety_margin=("2 GB", "3 GB", "4 GB", "5 GB"),
        kv_bytes_per_token=cache_of_a_token,
        arrival_rate=tuple(f"{n} request/min" for n in (900, 1200, 1500, 1800, 2400, 3000, 3600, 4500, 6000)),
        prompt=(500, 800, 1000, 1200, 1500, 2000, 2500, 3000, 4000),
        output=(400, 500, 600, 750, 800, 1000, 1200, 1500, 2000),
        ttft=("800 ms", "1000 ms", "1500 ms", "2000 ms", "2500 ms", "3000 ms", "4000 ms"),
        decode_rate=(16, 20, 25, 30, 40),
    ),
    wording=f"""{ONE_GPU} {{{{ model }}}} caches {{{{ kv_bytes_per_token }}}} and runs
        as one copy on each GPU.
        Requests arrive at {{{{ arrival_rate }}}}, each with a prompt of {{{{ prompt }}}} and an output of
        {{{{ output }}}}; the first token takes {{{{ ttft }}}} on average, and then each sequence decodes its
        whole output at {{{{ decode_rate }}}}.""",
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
    revision=3,
)
