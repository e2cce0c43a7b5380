"""The KV cache of one token under multi-head, grouped and multi-query attention (F03).

Latent attention (MLA) is not asked: it caches one compressed vector per layer, no pair of a key and a value.
"""

from grader.family import EXACT, Ask, Family, Menu, OwnSlip
from spec import quantities as q
from spec.memory import kv_bytes_per_token

family = Family(
    asks=Ask(q.kv_bytes_per_token, "How many bytes of KV cache does one token take?", tolerance=EXACT),
    inverse=(
        Ask(q.kv_bytes_per_token, "How large is the KV cache of one token, in KiB?", "KiB/token"),
        Ask(q.layers, "How many layers does the model have if its KV cache takes {{ kv_bytes_per_token }}?"),
        Ask(q.kv_heads, "How many key-value heads does the model have if its KV cache takes {{ kv_bytes_per_token }}?"),
        Ask(q.kv_width, "How many bytes does one cached element take if its KV cache takes {{ kv_bytes_per_token }}?"),
    ),
    by=(kv_bytes_per_token,),
    given=Menu(
        model=(
            *("gpt2", "gpt2-xl", "gpt-j-6b", "gpt-neox-20b", "opt-125m", "opt-6.7b", "pythia-410m", "pythia-6.9b"),
            *("falcon-7b", "llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "llama-3.2-1b"),
            *("mistral-7b-v0.3", "qwen2.5-0.5b", "qwen2.5-7b", "qwen2.5-72b", "qwen3-0.6b", "qwen3-8b"),
            *("gemma-2b", "gemma-7b", "phi-2"),
        ),
        weight_bits=(32, 16, 8, 4, 3),
        kv_width=("4 B", "2 B", "1 B", "0.5 B"),
    ),
    wording="""{% if layers is defined and kv_heads is defined %}{{ model }}{% else %}A decoder{% endif %} has
        {% if layers is defined %}{{ layers }}, {% endif %}hidden size {{ hidden }}
        {%- if kv_heads is defined %},{% else %} and{% endif %} {{ heads }} for queries
        {%- if kv_heads is defined %} and {{ kv_heads }} for keys and values{% endif %}, each of size {{ head_dim }}.
        Its weights are stored in {{ weight_bits }} each
        {%- if kv_width is defined %} and the elements of its cache in {{ kv_width }} each{% endif %}.""",
    also=(q.hidden, q.heads, q.weight_bits),
    slips=(
        OwnSlip(
            "every-query-head",
            "Every query head was given keys and values of its own; here fewer of them are kept.",
            lambda v: None if v["heads"] == v["kv_heads"] else v["heads"],
            q.kv_heads,
        ),
    ),
    objective="kv-cache-size",
    section="kv-cache",
)
