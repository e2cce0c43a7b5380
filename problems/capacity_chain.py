"""From the memory of one GPU to the GPUs of a load: budget, tokens, sequences, GPUs (F04, F05 and F22 in one story)."""

from grader.family import FINE, ONE_GPU, SHAPE, Ask, Draw, Family, Menu, weights_in_gb
from spec import quantities as q
from spec.memory import holds_tokens, kv_budget, kv_bytes_per_token
from spec.phases import service_time
from spec.queueing import mean_concurrency
from spec.scaling import carries, gpu_holds

DOZEN = 12


def worth_asking(draw: Draw) -> bool:
    """Keep GPUs that are too small, and those that hold a dozen sequences or more of which a load needs many.

    Then a wrong budget changes how many sequences a GPU holds, and one sequence more or less the number of GPUs.
    """
    v = draw.values
    budget = v["gpu_memory"] - v["weights"] - v["activations"] - v["safety_margin"]
    if budget <= 0:
        return -v["gpu_memory"] <= budget
    token = 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"]
    sequence = (v["prompt"] + v["output"]) * token
    held = budget // sequence
    load = v["arrival_rate"] * (v["ttft"] * v["decode_rate"] + v["output"]) // v["decode_rate"]
    return held >= DOZEN and DOZEN * sequence <= v["weights"] and held * held < load < 200 * held


family = Family(
    asks=(
        Ask(q.kv_budget, "How much memory, in GB, does that leave for the KV cache?", "GB", FINE),
        Ask(q.token_capacity, "How many tokens does the cache of one GPU hold?"),
        Ask(
            q.sequences_per_gpu,
            "How many sequences does one GPU hold, each with prompt and output in full?",
            "sequence",
        ),
        Ask(q.gpus, "By memory alone, what is the smallest number of such GPUs with which the queue stays stable?"),
    ),
    by=(kv_budget, kv_bytes_per_token, holds_tokens, gpu_holds, service_time, mean_concurrency, carries),
    given=Menu(
        model=(
            *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen3-8b", "gemma-7b", "gpt-j-6b"),
            "gpt-neox-20b",
        ),
        gpu=("a100-80gb", "a100-40gb", "l40s", "v100-32gb", "rtx-5090"),
        weights=weights_in_gb,
        activations=("3 GB", "4 GB", "5 GB", "6 GB", "8 GB"),
        safety_margin=("2 GB", "3 GB", "4 GB", "5 GB"),
        arrival_rate=tuple(f"{n} request/min" for n in (900, 1200, 1500, 1800, 2400, 3000, 3600, 4500, 6000)),
        prompt=(500, 800, 1000, 1200, 1500, 2000, 2500, 3000, 4000),
        output=(400, 500, 600, 750, 800, 1000, 1200, 1500, 2000),
        ttft=("800 ms", "1000 ms", "1500 ms", "2000 ms", "2500 ms", "3000 ms", "4000 ms"),
        decode_rate=(16, 20, 25, 30, 40),
        kv_width=("2 B",),
    ),
    wording=f"""{SHAPE} {ONE_GPU} The model runs as one copy on each GPU.
        Requests arrive at {{{{ arrival_rate }}}}, each with a prompt of {{{{ prompt }}}} and an output of
        {{{{ output }}}}; the first token takes {{{{ ttft }}}} on average, and then each sequence decodes its
        whole output at {{{{ decode_rate }}}}.""",
    also=(q.hidden, q.heads),
    objective="gpu-count",
    section="sizing",
    revision=2,
    infeasible=True,
    keep=worth_asking,
)
