"""How long a decode step takes and what it yields, and what a pace leaves for the batch and the memory (F16)."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from grader.family import FINE, Ask, Draw, Family, Menu, OwnSlip, weights_in_gb
from grader.menu import cache_of_a_token, in_tb_per_second
from spec import quantities as q
from spec.batching import decode_rate, throughput
from spec.memory import fits
from spec.phases import (
    attention_flops_per_pair,
    cached_tokens_of_batch,
    decode_attention_flops,
    decode_bytes,
    decode_flops,
    decode_matrix_flops,
    decode_step_time,
    flops_per_token,
)
from spec.roofline import decode_bytes_per_sequence, decode_flops_per_sequence, meets_tpot_target

A100_80GB, A100_40GB = 2039 * 10**9, 1555 * 10**9  # bandwidths in B/s
UNFIT = "The caches of this batch do not fit, so it does not run; it is not slow."


def worth_asking(draw: Draw) -> bool:
    """Keep targets within a factor of three of the step, and budgets that the caches miss or fill well."""
    v = draw.values
    cached = v["batch"] * v["context"] * v["kv_bytes_per_token"]
    step = max(
        (v["weights"] + cached) / (v["bandwidth"] * v["mbu"]),
        2 * v["batch"] * v["parameters"] / (v["compute"] * v["mfu"]),
    )
    filled = v["kv_budget"] <= 12 * cached <= 36 * v["kv_budget"]
    return v["weights"] < v["gpu_memory"] and filled and step <= 3 * v["tpot_target"] <= 9 * step


def what_is_left(draw: Draw) -> str:
    """Give nine tenths of the memory beside the weights to the caches, in whole GB."""
    left = draw.values["gpu_memory"] - draw.values["weights"]
    return f"{max(1, int(9 * left // 10**10))} GB"


Wrong = Callable[[Mapping[str, Fraction]], Fraction | None]


def of_step(slug: str, sentence: str, time: Wrong) -> tuple[OwnSlip, ...]:
    """Make a wrong time of a step a slip of everything that is found from that time."""

    def rate(v: Mapping[str, Fraction]) -> Fraction | None:
        found = time(v)
        return None if found is None else 1 / found

    def all_rates(v: Mapping[str, Fraction]) -> Fraction | None:
        found = time(v)
        return None if found is None else v["batch"] / found

    return (
        OwnSlip(slug, sentence, time, q.decode_step_time),
        OwnSlip(slug, sentence, rate, q.decode_rate),
        OwnSlip(slug, sentence, all_rates, q.throughput),
    )


def with_the_smaller_part(v: Mapping[str, Fraction]) -> Fraction | None:
    """Read with the bandwidth of the A100 with 40 GB, which is the wrong one for that with 80 GB."""
    return v["decode_bytes"] / (A100_40GB * v["mbu"]) if v["bandwidth"] == A100_80GB else None


def reads(v: Mapping[str, Fraction]) -> Fraction:
    """Give what a step reads."""
    return v["weights"] + v["batch"] * v["context"] * v["kv_bytes_per_token"]


def step(v: Mapping[str, Fraction]) -> Fraction:
    """Give how long a step of the batch would take."""
    return max(v["decode_flops"] / (v["compute"] * v["mfu"]), reads(v) / (v["bandwidth"] * v["mbu"]))


def unfit(of: Wrong) -> Wrong:
    """Keep an answer for batches whose caches do not fit."""

    def value(v: Mapping[str, Fraction]) -> Fraction | None:
        fits = v["batch"] * v["context"] * v["kv_bytes_per_token"] <= v["kv_budget"]
        return None if fits else of(v)

    return value


family = Family(
    asks=(
        Ask(q.decode_step_time, "How long, in ms, does one decode step take?", "ms", FINE),
        Ask(q.decode_rate, "At what rate, in tokens/s, does each sequence decode?", "", FINE),
        Ask(q.throughput, "How many tokens/s do all sequences of the batch decode together?", "", FINE),
    ),
    inverse=(
        Ask(
            q.batch,
            "How many sequences may the batch hold at most, by time alone, if a step may take {{ tpot_target }}?",
            hides=(q.concurrency, q.kv_budget),
        ),
        Ask(
            q.bandwidth,
            "What peak bandwidth, in TB/s, must the GPU have at least if a step may take {{ tpot_target }}?",
            "TB/s",
            FINE,
        ),
        Ask(
            q.mbu,
            "What share of the peak bandwidth, as a number from 0 to 1, must memory traffic reach at least if a step "
            "may take {{ tpot_target }}?",
            "",
            FINE,
        ),
    ),
    by=(
        flops_per_token,
        cached_tokens_of_batch,
        decode_attention_flops,
        decode_matrix_flops,
        decode_flops,
        decode_bytes,
        decode_step_time,
        decode_rate,
        throughput,
        attention_flops_per_pair,
        decode_flops_per_sequence,
        decode_bytes_per_sequence,
        meets_tpot_target,
    ),
    requires=(fits,),
    given=Menu(
        model=(
            *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
            *("falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
        ),
        gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-4090", "a10", "l4"),
        weights=weights_in_gb,
        kv_bytes_per_token=cache_of_a_token,
        bandwidth=in_tb_per_second,
        batch=(4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 256, 384, 512),
        context=(150, 500, 800, 1000, 1500, 2000, 2500, 3000, 4000, 6000, 8000),
        concurrency=lambda draw: str(draw.amounts["batch"]).removesuffix("s"),
        mfu=("0.3", "0.4", "0.5"),
        mbu=("0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9"),
        kv_budget=what_is_left,
        tpot_target=("8 ms/token", "15 ms/token", "25 ms/token", "35 ms/token", "50 ms/token", "75 ms/token"),
    ),
    wording="""{{ model }} has {{ parameters }}, which take {{ weights }}, and {{ layers }} with {{ heads }}
        for queries, each of size {{ head_dim }}; it caches {{ kv_bytes_per_token }}.
        {% if bandwidth is defined %}An {{ gpu }} peaks at {{ compute }} and {{ bandwidth }}
        {%- else %}A GPU peaks at {{ compute }}{% endif %}. Arithmetic reaches {{ mfu }} of its peak
        {%- if mbu is defined %}, and memory traffic {{ mbu }} of its peak{% endif %}; arithmetic and memory traffic
        overlap.
        A batch {% if batch is defined %}of {{ batch }} {% endif %}decodes, each sequence with a context of
        {{ context }} in the cache: count two operations per parameter and token, and attention to every cached token.
        A step reads the weights once, and the caches of all sequences.
        {%- if kv_budget is defined %} The caches may take {{ kv_budget }}; a batch that does not fit does not run.
        {%- endif %}""",
    slips=(
        *of_step(
            "weights-per-sequence",
            "The weights were read once for every sequence and no cache; a step reads them once, and every cache.",
            lambda v: v["batch"] * v["weights"] / (v["bandwidth"] * v["mbu"]),
        ),
        *of_step(
            "one-layer-cached",
            "The cache of one layer was read; a token has one in every layer.",
            lambda v: (
                (v["weights"] + v["cached_tokens"] * v["kv_bytes_per_token"] / v["layers"])
                / (v["bandwidth"] * v["mbu"])
            ),
        ),
        *of_step(
            "smaller-part-of-the-gpu",
            "The bandwidth of the A100 with 40 GB was used; this one is faster.",
            with_the_smaller_part,
        ),
        *of_step(
            "full-efficiency",
            "The peak bandwidth was used as it is; only a share of it is reached.",
            lambda v: v["decode_bytes"] / v["bandwidth"],
        ),
        *of_step(
            "operations-of-the-matrices",
            "Only the matrices were timed, at the whole peak; attention, the share reached and what is read count too.",
            lambda v: v["decode_matrix_flops"] / v["compute"],
        ),
        *of_step("budget-ignored", UNFIT, unfit(step)),
        OwnSlip("budget-ignored", UNFIT, unfit(lambda v: reads(v) / (v["tpot_target"] * v["mbu"])), q.bandwidth),
        OwnSlip("budget-ignored", UNFIT, unfit(lambda v: reads(v) / (v["tpot_target"] * v["bandwidth"])), q.mbu),
        OwnSlip(
            "full-efficiency",
            "The peak bandwidth was taken to be reached in full; only a share of it is.",
            lambda v: v["bandwidth"] * v["mbu"],
            q.bandwidth,
        ),
    ),
    masked=frozenset(
        {
            "full-matrix",
            "one-operation",
            "training",
            "attention-forgotten",
            "compute-only",
            "cache-unread",
            "cache-shared",
        }
        | {"weights-in-GiB", "bandwidth-in-min", "compute-in-min", "all-in-GiB", "weights-per-sequence"}
        | {"one-layer-cached", "weights-unread", "one-token-read"}
    ),
    objective="prefill-decode",
    section="prefill-decode",
    revision=2,
    infeasible=True,
    keep=worth_asking,
)
