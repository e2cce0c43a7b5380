"""Exercise 1 of the chapter: the longest context of 20 sequences on one GPU."""

from grader.family import Ask, Family, Menu, OwnSlip
from spec import quantities as q
from spec.memory import fits, kv_budget, kv_bytes_per_token

MARGIN = 4 * 10**9  # bytes that the chapter keeps free elsewhere
CACHE_OF_A_7B = 2**19  # bytes per token, multi-head attention

family = Family(
    asks=Ask(q.context, "What is the longest context, in tokens, that all {{ concurrency }} can reach?"),
    by=(kv_budget, kv_bytes_per_token, fits),
    given=Menu(
        gpu=("a100-80gb",),
        weights=("26 GB",),
        activations=("8 GB",),
        safety_margin=("0 GB",),
        concurrency=(20,),
        layers=(40,),
        hidden=(5120,),
        heads=(40,),
        kv_heads=(40,),
        head_dim=(128,),
        kv_width=("2 B",),
    ),
    wording="""A model of 13 billion parameters has {{ layers }} and a hidden size of {{ hidden }}; all of its
        {{ heads }}, of size {{ head_dim }}, have keys and values, and a cached element takes {{ kv_width }}.
        On one A100 with {{ gpu_memory }} of memory, the weights take {{ weights }} and activations are given
        {{ activations }}; no safety margin is kept.""",
    also=(q.hidden, q.heads),
    slips=(
        OwnSlip(
            "margin-added",
            "A safety margin of 4 GB was taken off; none is kept here.",
            lambda v: (v["kv_budget"] - MARGIN) // (v["concurrency"] * v["kv_bytes_per_token"]),
        ),
        OwnSlip(
            "cache-of-a-7b",
            "512 KiB per token were used, which is the cache of a 7B with multi-head attention.",
            lambda v: v["kv_budget"] // (v["concurrency"] * CACHE_OF_A_7B),
        ),
    ),
    objective="memory-partition",
    section="exercises",
    preset=True,
)
