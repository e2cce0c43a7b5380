"""How long prefill takes by the roofline, and what a time leaves for the prompt, the efficiency or the GPU (F12)."""

from collections.abc import Mapping
from fractions import Fraction

from grader.family import FINE, Ask, Draw, Family, Menu, OwnSlip, weights_in_gb
from grader.menu import cache_of_a_token, in_tb_per_second
from spec import quantities as q
from spec.phases import (
    attention_flops_per_pair,
    flops_per_token,
    meets_ttft_target,
    prefill_attention_flops,
    prefill_bytes,
    prefill_flops,
    prefill_time,
)
from spec.solving import Exact, Infeasible

ONE = "A multiply and its add were counted as one operation, in the matrices and in attention; they are two."


def worth_asking(draw: Draw) -> bool:
    """Keep times within a factor of what prefill takes, or of what reading the weights takes and under it."""
    v = draw.values
    read = v["weights"] / (v["bandwidth"] * v["mbu"])
    taken = max(read, 2 * v["parameters"] * v["prompt"] / (v["compute"] * v["mfu"]))
    wanted = v["prefill_time"]
    if v["weights"] + v["prompt"] * v["kv_bytes_per_token"] > v["gpu_memory"]:
        return False
    return wanted < read < 3 * wanted or read < wanted <= 3 * taken <= 12 * wanted


def target(draw: Draw) -> str:
    """Give a target that leaves for the prefill what the wait does not take."""
    return f"{1000 * (draw.values['wait'] + draw.values['prefill_time'])} ms"


def longest(v: Mapping[str, Fraction], **instead: Exact) -> Exact | None:
    """Give the longest prompt of a target when some of the numbers are taken otherwise."""
    known: dict[str, Exact] = {name: v[name] for name in meets_ttft_target.symbols if name != "prompt"}
    found = meets_ttft_target.solve("prompt", **{**known, **instead})
    return None if isinstance(found, Infeasible) else found


family = Family(
    asks=Ask(q.prefill_time, "How long, in ms, does the prefill take?", "ms", FINE),
    inverse=(
        Ask(
            q.prompt,
            "How long may the prompt be at most, in tokens, if the first token must come {{ ttft_target }} after "
            "arrival at the latest?",
        ),
        Ask(
            q.mfu,
            "What share of the peak, as a number from 0 to 1, does the arithmetic reach if the prefill takes "
            "{{ prefill_time }}?",
            "",
            FINE,
        ),
        Ask(
            q.compute,
            "What peak, in TFLOP/s, must the GPU have if the prefill takes {{ prefill_time }}?",
            "TFLOP/s",
            FINE,
        ),
    ),
    by=(
        flops_per_token,
        attention_flops_per_pair,
        prefill_attention_flops,
        prefill_flops,
        prefill_bytes,
        prefill_time,
        meets_ttft_target,
    ),
    given=Menu(
        model=(
            *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
            *("falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
        ),
        gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-4090", "a10", "l4"),
        weights=weights_in_gb,
        kv_bytes_per_token=cache_of_a_token,
        bandwidth=in_tb_per_second,
        prompt=(24, 32, 40, 800, 1200, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000),
        mfu=("0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5", "0.55", "0.6"),
        mbu=("0.6", "0.7", "0.8", "0.9"),
        wait=("20 ms", "50 ms", "150 ms", "250 ms"),
        prefill_time=(
            "5 ms",
            "8 ms",
            "12 ms",
            "20 ms",
            "80 ms",
            "150 ms",
            "250 ms",
            "400 ms",
            "650 ms",
            "1000 ms",
            "1600 ms",
            "2500 ms",
        ),
        ttft_target=target,
    ),
    wording="""{{ model }} has {{ parameters }}, which take {{ weights }}, and {{ layers }} with {{ heads }}
        for queries, each of size {{ head_dim }}; it caches {{ kv_bytes_per_token }}.
        {% if compute is defined %}An {{ gpu }} peaks at {{ compute }} and {{ bandwidth }}
        {%- else %}A GPU reads {{ bandwidth }} at its peak{% endif %}.
        {% if mfu is defined %}Arithmetic reaches {{ mfu }} of its peak, and memory{% else %}Memory{% endif %} traffic
        reaches {{ mbu }} of its peak; arithmetic and memory traffic overlap.
        {% if prompt is defined %}A prompt of {{ prompt }}{% else %}A request waits {{ wait }}; then its
        prompt{% endif %} is prefilled at once. Count two operations per parameter and token, and causal attention: for
        n tokens, exactly half of each n-by-n matrix counts. Let the weights be read once and the cache be written
        once.""",
    slips=(
        OwnSlip(
            "sparse-peak",
            "The peak for sparse matrices was used, twice as high; these are dense.",
            lambda v: v["prefill_flops"] / (2 * v["compute"] * v["mfu"]),
            q.prefill_time,
        ),
        OwnSlip(
            "multiply-add-as-one",
            ONE,
            lambda v: v["prefill_flops"] / (2 * v["compute"] * v["mfu"]),
            q.prefill_time,
        ),
        OwnSlip(
            "full-efficiency",
            "The peak was used as it is; only a share of it is reached.",
            lambda v: v["prefill_flops"] / v["compute"],
            q.prefill_time,
        ),
        OwnSlip(
            "sparse-peak",
            "The peak for sparse matrices was used, twice as high; these are dense.",
            lambda v: v["mfu"] / 2,
            q.mfu,
        ),
        OwnSlip("multiply-add-as-one", ONE, lambda v: v["mfu"] / 2, q.mfu),
        OwnSlip("multiply-add-as-one", ONE, lambda v: v["compute"] / 2, q.compute),
        OwnSlip(
            "full-efficiency",
            "The peak was taken to be reached in full; only a share of it is.",
            lambda v: v["prefill_flops"] / v["prefill_time"],
            q.compute,
        ),
        OwnSlip(
            "wait-forgotten",
            "The wait before prefill was left out.",
            lambda v: longest(v, wait=0),
            q.prompt,
        ),
        OwnSlip(
            "full-efficiency",
            "The peaks were used as they are; only a share of each is reached.",
            lambda v: longest(v, mfu=1, mbu=1),
            q.prompt,
        ),
        OwnSlip(
            "sparse-peak",
            "The peak for sparse matrices was used, twice as high; these are dense.",
            lambda v: longest(v, compute=2 * v["compute"]),
            q.prompt,
        ),
        OwnSlip("multiply-add-as-one", ONE, lambda v: longest(v, compute=2 * v["compute"]), q.prompt),
    ),
    masked=frozenset(
        {"one-operation", "training", "full-matrix", "attention-forgotten", "compute-only"}
        | {"memory-floor-only", "weights-in-GiB", "bandwidth-in-min", "compute-in-min"}
    ),
    objective="prefill-decode",
    section="prefill-decode",
    infeasible=True,
    keep=worth_asking,
    revision=3,
)
