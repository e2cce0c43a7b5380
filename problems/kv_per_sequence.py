"""The KV cache of one sequence, from the shape of its model (F03, F04)."""

from grader.family import FINE, Ask, Draw, Family, Menu, OwnSlip
from spec import quantities as q
from spec.memory import kv_bytes_per_sequence, kv_bytes_per_token


def within_reach(draw: Draw) -> bool:
    """Keep the context that fills a size between a few tokens and what a model is made for."""
    v = draw.values
    each = 2 * v["layers"] * v["kv_heads"] * v["head_dim"] * v["kv_width"]
    return 10**8 <= each * v["context"] <= 10**12


family = Family(
    asks=Ask(
        q.kv_bytes_per_sequence,
        "How much memory does the KV cache of one sequence of {{ context }} take, in GB?",
        "GB",
        tolerance=FINE,
    ),
    inverse=(
        Ask(
            q.context,
            "How many tokens long is a sequence whose KV cache takes {{ kv_bytes_per_sequence }}?",
        ),
        Ask(
            q.kv_heads,
            "How many key-value heads does the model have if the KV cache of one sequence of {{ context }} takes "
            "{{ kv_bytes_per_sequence }}?",
        ),
        Ask(
            q.kv_width,
            "How many bytes does one cached element take if the KV cache of one sequence of {{ context }} takes "
            "{{ kv_bytes_per_sequence }}?",
        ),
    ),
    by=(kv_bytes_per_token, kv_bytes_per_sequence),
    given=Menu(
        model=(
            *("gpt2-xl", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b", "llama-2-7b", "llama-2-13b"),
            *("llama-2-70b", "llama-3-8b", "llama-3-70b", "llama-3.2-1b", "mistral-7b-v0.3", "qwen2.5-7b"),
            *("qwen2.5-72b", "qwen3-0.6b", "qwen3-8b", "gemma-7b", "phi-2"),
        ),
        kv_width=("2 B", "1 B"),
        context=(1024, 2048, 3072, 4096, 6000, 8000, 8192, 10_000, 16_384, 20_000, 32_768, 50_000, 65_536, 131_072),
    ),
    wording="""{% if kv_heads is defined %}{{ model }}{% else %}A decoder{% endif %} has {{ layers }}, a hidden size of
        {{ hidden }} and {{ heads }} for queries
        {%- if kv_heads is defined %}, with {{ kv_heads }} for keys and values{% endif %}, each of size {{ head_dim }}.
        {%- if kv_width is defined %} An element of its cache takes {{ kv_width }}.{% endif %}""",
    also=(q.hidden, q.heads),
    slips=(
        OwnSlip(
            "one-byte-elements",
            "An element was taken as one byte.",
            lambda v: None if v["kv_width"] == 1 else v["kv_bytes_per_sequence"] / v["kv_width"],
            q.kv_bytes_per_sequence,
        ),
        OwnSlip(
            "every-query-head",
            "Every query head was given keys and values of its own; here fewer of them are kept.",
            lambda v: None if v["heads"] == v["kv_heads"] else v["heads"],
            q.kv_heads,
        ),
    ),
    objective="kv-cache-size",
    section="kv-cache",
    keep=within_reach,
)
