"""The memory that a GPU needs for a number of sequences when the reserves are shares of it (F07)."""

from collections.abc import Mapping
from fractions import Fraction

from grader.family import FINE, SHAPE, Ask, Draw, Family, Menu, OwnSlip, weights_in_gb
from spec import quantities as q
from spec.memory import fits, kv_budget_by_shares, kv_bytes_per_token

USUAL = Fraction(2, 5)  # of a GPU: no plan reserves more


def worth_asking(draw: Draw) -> bool:
    """Keep contexts that the model was published for, and reserves that are usual or leave nothing at all.

    A GPU that is to hold the caches has room for them within a factor of six, or for none.
    """
    v = draw.values
    a, s = Fraction(v["activation_share_of_remaining"]), Fraction(v["safety_share_of_total"])
    wanted = v["concurrency"] * v["context"] * 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"]
    window = draw.model.window if draw.model else None
    if (window is not None and v["context"] > window) or USUAL < a + s < 1:
        return False
    budget = (1 - a) * (v["gpu_memory"] - v["weights"]) - s * v["gpu_memory"]
    return 6 * wanted >= v["weights"] and -v["gpu_memory"] <= budget <= 6 * wanted <= 36 * abs(budget)


def _cached(v: Mapping[str, Fraction]) -> Fraction:
    return v["concurrency"] * v["context"] * v["kv_bytes_per_token"]


def _shares(v: Mapping[str, Fraction]) -> Fraction:
    return v["activation_share_of_remaining"] + v["safety_share_of_total"]


def _as_a_number(share: str, v: Mapping[str, Fraction]) -> Fraction:
    return v[share] / 100


family = Family(
    asks=Ask(
        q.gpu_memory,
        "How much memory must a GPU have at least, in GB, to hold {{ concurrency }} of {{ context }} each?",
        "GB",
        FINE,
    ),
    inverse=(
        Ask(q.concurrency, "By memory alone, how many sequences of {{ context }} each fit at once?"),
        Ask(
            q.activation_share_of_remaining,
            "At most what share of the memory that the weights leave, in %, can activations be given "
            "if {{ concurrency }} of {{ context }} each are to fit?",
            "%",
        ),
        Ask(
            q.safety_share_of_total,
            "At most what share of the whole memory, in %, can be kept free as a safety margin "
            "if {{ concurrency }} of {{ context }} each are to fit?",
            "%",
        ),
    ),
    by=(kv_bytes_per_token, kv_budget_by_shares, fits),
    given=Menu(
        model=(
            *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3"),
            *("qwen2.5-7b", "qwen2.5-72b", "qwen3-8b", "gemma-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b"),
            *("opt-6.7b", "pythia-6.9b"),
        ),
        gpu=("a100-80gb", "a100-40gb", "h200", "l40s", "v100-32gb", "rtx-5090", "l4", "b200-sxm", "mi300x"),
        weights=weights_in_gb,
        activation_share_of_remaining=("5 %", "8 %", "10 %", "12 %", "15 %", "18 %", "20 %", "25 %", "60 %", "75 %"),
        safety_share_of_total=("3 %", "4 %", "5 %", "6 %", "8 %", "10 %", "30 %", "40 %"),
        concurrency=(4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128),
        context=(1024, 1500, 2048, 3000, 4096, 6000, 8192, 12_000, 16_384, 32_768),
        kv_width=("2 B",),
    ),
    wording=f"""{SHAPE} The weights take {{{{ weights }}}}
        {{%- if gpu_memory is defined %}} of the {{{{ gpu_memory }}}} of one {{{{ gpu }}}}{{% else %}} of a GPU's
        memory{{% endif %}}.
        {{% if activation_share_of_remaining is defined %}}Of the memory that they leave,
        {{{{ activation_share_of_remaining }}}} is given to activations.{{% endif %}}
        {{% if safety_share_of_total is defined %}}Of the GPU's whole memory, {{{{ safety_share_of_total }}}} is kept
        free as a safety margin.{{% endif %}} The KV cache gets the rest.""",
    also=(q.hidden, q.heads),
    slips=(
        OwnSlip(
            "shares-added",
            "The shares were added on top of weights and cache; they are shares of the memory that is asked for.",
            lambda v: (v["weights"] + _cached(v)) * (1 + _shares(v)),
            q.gpu_memory,
        ),
        OwnSlip(
            "weights-forgotten",
            "Only the cache was counted; the weights take memory too.",
            lambda v: _cached(v) / (1 - _shares(v)),
            q.gpu_memory,
        ),
        OwnSlip(
            "reserves-forgotten",
            "Weights and cache alone were added; the reserves take memory too.",
            lambda v: v["weights"] + _cached(v),
            q.gpu_memory,
        ),
        OwnSlip(
            "one-after-the-other",
            "The margin was taken of what activations leave; it is a share of the GPU's whole memory.",
            lambda v: (
                v["weights"] + _cached(v) / (1 - v["activation_share_of_remaining"]) / (1 - v["safety_share_of_total"])
            ),
            q.gpu_memory,
        ),
        OwnSlip(
            "share-as-a-number",
            "The share was given as a plain number; it is asked in per cent.",
            lambda v: _as_a_number("activation_share_of_remaining", v),
            q.activation_share_of_remaining,
        ),
        OwnSlip(
            "share-of-total",
            "The share was taken of the GPU's whole memory; it is asked of what the weights leave.",
            lambda v: v["activation_share_of_remaining"] * (v["gpu_memory"] - v["weights"]) / v["gpu_memory"],
            q.activation_share_of_remaining,
        ),
        OwnSlip(
            "share-as-a-number",
            "The share was given as a plain number; it is asked in per cent.",
            lambda v: _as_a_number("safety_share_of_total", v),
            q.safety_share_of_total,
        ),
        OwnSlip(
            "share-of-remaining",
            "The share was taken of what the weights leave; it is asked of the GPU's whole memory.",
            lambda v: v["safety_share_of_total"] * v["gpu_memory"] / (v["gpu_memory"] - v["weights"]),
            q.safety_share_of_total,
        ),
    ),
    objective="gpu-choice",
    section="memory-budgeting",
    infeasible=True,
    keep=worth_asking,
)
