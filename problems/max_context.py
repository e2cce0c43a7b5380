"""The longest context that a number of sequences can have (F06, exercise 1)."""

from grader.family import Ask, Family, Menu, weights_in_gb
from spec import quantities as q
from spec.memory import fits, kv_budget, kv_bytes_per_token

family = Family(
    asks=Ask(q.context, "What is the longest context, in tokens, that all {{ concurrency }} can have at once?"),
    by=(kv_budget, kv_bytes_per_token, fits),
    given=Menu(
        model=("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "gemma-7b", "phi-2"),
        gpu=("a100-80gb", "a100-40gb", "h100-80gb", "l40s", "l4", "h200"),
        weights=weights_in_gb,
        activations=("2 GB", "4 GB", "6 GB", "8 GB"),
        safety_margin=("1 GB", "2 GB", "4 GB"),
        concurrency=(8, 12, 16, 20, 24, 32, 48, 64),
        kv_width=("2 B",),
    ),
    wording="{{ gpu }} serves {{ model }}. Every one of {{ concurrency }} may grow to the full context.",
    also=(q.hidden, q.heads),
    objective="memory-partition",
    section="exercises",
    infeasible=True,
)
