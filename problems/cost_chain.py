"""From a decode step to the price of its tokens: step time, throughput, cost of a million tokens."""

from grader.family import FINE, Ask, Draw, Family, Menu, OwnSlip, weights_in_gb
from spec import quantities as q
from spec.batching import throughput
from spec.cost import cost_per_token
from spec.phases import cached_tokens_of_batch
from spec.roofline import achieved_mbu_of_group
from spec.scaling import kv_bytes_per_token_per_gpu, weights_per_gpu
from spec.sharding import decode_bytes_per_gpu


def size_of_the_group(draw: Draw) -> int:
    """Give the number of GPUs that are paid for: those of one group."""
    return int(draw.values["tensor_parallel"])


def both_read(draw: Draw) -> bool:
    """Keep groups that hold weights and cache, neither of which is lost beside the other."""
    v = draw.values
    cache = 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"] * v["batch"] * v["context"]
    fits = v["weights"] + cache <= v["gpu_memory"] * v["tensor_parallel"] * 9 // 10
    return fits and v["weights"] <= 8 * cache <= 40 * v["weights"]


family = Family(
    asks=(
        Ask(q.decode_step_time, "How long, in ms, does one decode step take?", "ms", FINE),
        Ask(q.throughput, "How many tokens per second does the whole batch get?", tolerance=FINE),
        Ask(q.cost_per_token, "What do a million tokens cost, in dollars?", "$/Mtoken", FINE),
    ),
    by=(
        *(weights_per_gpu, kv_bytes_per_token_per_gpu, cached_tokens_of_batch, decode_bytes_per_gpu),
        *(achieved_mbu_of_group, throughput, cost_per_token),
    ),
    given=Menu(
        model=("llama-2-70b", "llama-3-70b", "qwen2.5-72b", "gpt-neox-20b", "llama-2-13b"),
        gpu=("a100-80gb", "h100-80gb", "h200", "l40s"),
        weights=weights_in_gb,
        kv_width=("2 B",),
        tensor_parallel=(2, 4, 8),
        gpus=size_of_the_group,
        batch=(16, 24, 32, 48, 64, 96),
        context=(2000, 3000, 4000, 6000, 8000, 12_000),
        achieved_mbu=("55 %", "60 %", "65 %", "70 %", "75 %"),
        gpu_price=tuple(f"{cents // 100}.{cents % 100:02} $/h/GPU" for cents in (120, 160, 210, 250, 320, 450)),
    ),
    wording="""{{ model }} has {{ layers }} with {{ kv_heads }} for keys and values, each of size {{ head_dim }}; the
        weights take {{ weights }} and a cached element {{ kv_width }}. It runs on a group of {{ gpus }}, each a
        {{ gpu }} with {{ bandwidth }}: every layer is shared evenly by the {{ tensor_parallel }}. The group decodes a
        batch of {{ batch }}, each with a context of {{ context }}, and reads at {{ achieved_mbu }} of its bandwidth;
        neglect arithmetic and communication. The price is {{ gpu_price }}.""",
    slips=(
        OwnSlip(
            "one-bandwidth",
            "The whole model was read at the bandwidth of a single GPU; each of them reads its part.",
            lambda v: v["decode_step_time"] * v["tensor_parallel"],
            q.decode_step_time,
        ),
        OwnSlip(
            "steps-per-second",
            "Those are steps per second; every step gives a token to each sequence of the batch.",
            lambda v: 1 / v["decode_step_time"],
            q.throughput,
        ),
    ),
    objective="gpu-count",
    section="scaling",
    keep=both_read,
)
