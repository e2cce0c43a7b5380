"""How many sequences fit one GPU at once (F05), and what must change for a number of them to fit."""

from grader.family import FINE, ONE_GPU, SHAPE, Ask, Draw, Family, Menu, weights_in_gb
from spec import quantities as q
from spec.memory import fits, kv_budget, kv_bytes_per_token

SHAPE_OF_A_TOKEN = (q.layers, q.kv_heads, q.head_dim, q.kv_width, q.hidden, q.heads)


def worth_asking(draw: Draw) -> bool:
    """Keep contexts that the model was published for, and a budget that is missed or met by no more than a factor.

    Activations get a fifth of the memory at most, and the margin a tenth.
    """
    v = draw.values
    if max(5 * v["activations"], 10 * v["safety_margin"]) > v["gpu_memory"]:
        return False
    budget = v["gpu_memory"] - v["weights"] - v["activations"] - v["safety_margin"]
    wanted = v["concurrency"] * v["context"] * 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"]
    window = draw.model.window if draw.model else None
    if window is not None and v["context"] > window:
        return False
    return budget <= 8 * wanted <= 64 * budget or -v["gpu_memory"] <= budget <= 0


family = Family(
    asks=Ask(q.concurrency, "By memory alone, how many sequences of {{ context }} each fit at once?"),
    inverse=(
        Ask(q.context, "By memory alone, what is the longest context, in tokens, that {{ concurrency }} can all have?"),
        Ask(
            q.gpu_memory,
            "How much memory, in GB, does a GPU need so that {{ concurrency }} of {{ context }} each fit?",
            "GB",
            FINE,
        ),
        Ask(
            q.activations,
            "How much memory, in GB, can activations be given at most if {{ concurrency }} of {{ context }} each fit?",
            "GB",
            FINE,
        ),
        Ask(
            q.kv_bytes_per_token,
            "How many bytes of KV cache may a token take at most so that {{ concurrency }} of {{ context }} each fit?",
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
        gpu=(
            *("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "v100-32gb", "rtx-5090", "a10", "l4", "rtx-4090"),
            "t4",
        ),
        weights=weights_in_gb,
        activations=("0 GB", "1 GB", "2 GB", "3 GB", "4 GB", "6 GB", "8 GB", "12 GB", "16 GB", "28 GB"),
        safety_margin=("0 GB", "1 GB", "2 GB", "3 GB", "4 GB", "6 GB", "8 GB", "14 GB"),
        concurrency=(4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128),
        context=(512, 768, 1024, 1500, 2048, 3000, 4096, 6000, 8192, 12_000, 16_384, 32_768, 65_536, 131_072),
        kv_width=("2 B",),
    ),
    wording=f"{SHAPE} {ONE_GPU}",
    also=(q.hidden, q.heads),
    objective="memory-partition",
    section="memory-budgeting",
    infeasible=True,
    keep=worth_asking,
    revision=2,
)
