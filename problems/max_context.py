"""The longest context that a number of sequences can have (F06)."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from grader.family import ONE_GPU, SHAPE, Ask, Draw, Family, Menu, OwnSlip, weights_in_gb
from spec import quantities as q
from spec.memory import fits, kv_budget, kv_bytes_per_token

SHAPE_OF_A_TOKEN = (q.layers, q.kv_heads, q.head_dim, q.kv_width, q.hidden, q.heads)
CACHE_OF_A_7B = 2**19  # bytes per token, multi-head attention
USUAL_MARGIN = 4 * 10**9  # bytes


def worth_asking(draw: Draw) -> bool:
    """Keep contexts that the model was published for, and a budget that is missed or met by no more than a factor."""
    v = draw.values
    window = draw.model.window if draw.model else None
    if window is not None and v["context"] > window:
        return False
    budget = v["gpu_memory"] - v["weights"] - v["activations"] - v["safety_margin"]
    wanted = v["concurrency"] * v["context"] * 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"]
    return budget <= 8 * wanted <= 64 * budget or -v["gpu_memory"] <= budget <= 0


def with_the_cache_of_a_7b(other: str, v: Mapping[str, Fraction]) -> int | None:
    """Divide the budget by 512 KiB a token, which is right for a 7B with multi-head attention only."""
    return None if v["kv_bytes_per_token"] == CACHE_OF_A_7B else int(v["kv_budget"] // (v[other] * CACHE_OF_A_7B))


def with_the_usual_margin(others: tuple[str, str], v: Mapping[str, Fraction]) -> int | None:
    """Keep 4 GB free without being told to."""
    budget = v["kv_budget"] + v["safety_margin"] - USUAL_MARGIN
    return None if v["safety_margin"] == USUAL_MARGIN else int(budget // (v[others[0]] * v[others[1]]))


family = Family(
    asks=Ask(
        q.context, "By memory alone, what is the longest context, in tokens, that all {{ concurrency }} can reach?"
    ),
    inverse=(
        Ask(q.concurrency, "By memory alone, how many sequences can all reach a context of {{ context }}?"),
        Ask(
            q.kv_bytes_per_token,
            "How many bytes of KV cache may a token take at most if {{ concurrency }} are all to reach {{ context }}?",
            hides=SHAPE_OF_A_TOKEN,
        ),
    ),
    by=(kv_budget, kv_bytes_per_token, fits),
    given=Menu(
        model=(
            *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3"),
            *("qwen2.5-7b", "qwen2.5-72b", "qwen3-8b", "gemma-7b", "falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b"),
            *("opt-6.7b", "pythia-6.9b"),
        ),
        gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "v100-32gb", "rtx-5090", "a10", "l4", "rtx-4090"),
        weights=weights_in_gb,
        activations=("1 GB", "2 GB", "3 GB", "4 GB", "6 GB", "8 GB"),
        safety_margin=("0 GB", "1 GB", "2 GB", "3 GB", "4 GB"),
        concurrency=(2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192, 256),
        context=(1000, 2000, 3000, 4000, 6000, 8000, 10_000, 16_000, 20_000, 32_000),
        kv_width=("2 B",),
    ),
    wording=f"{SHAPE} {ONE_GPU}",
    also=(q.hidden, q.heads),
    slips=(
        *(
            OwnSlip(
                "cache-of-a-7b",
                "512 KiB per token were used, which is the cache of a 7B with multi-head attention.",
                partial(with_the_cache_of_a_7b, other),
                asks,
            )
            for asks, other in ((q.context, "concurrency"), (q.concurrency, "context"))
        ),
        *(
            OwnSlip(
                "usual-margin",
                "A safety margin of 4 GB was kept free; the one that is said is another.",
                partial(with_the_usual_margin, others),
                asks,
            )
            for asks, others in (
                (q.context, ("concurrency", "kv_bytes_per_token")),
                (q.concurrency, ("context", "kv_bytes_per_token")),
                (q.kv_bytes_per_token, ("concurrency", "context")),
            )
        ),
    ),
    objective="memory-partition",
    section="exercises",
    infeasible=True,
    keep=worth_asking,
    revision=2,
)
