"""Exercise 1 of the chapter: the longest context of 20 sequences on one GPU, against the window of the model."""

from fractions import Fraction

from grader.case import CaseAsk, Explained, Given, told_apart
from grader.family import Ask, Menu, OwnSlip
from grader.menu import Draw
from grader.preset import Preset
from grader.reckoned import Reckoning, Values, Wrong, shown
from spec import quantities as q
from spec.memory import fits, kv_budget, kv_bytes_per_token

MARGIN = 4 * 10**9  # bytes that the chapter keeps free elsewhere
CACHE_OF_A_7B = 2**19  # bytes per token, multi-head attention
SMALLER_MODEL = "512 KiB per token were used, which is the cache of a 7B with multi-head attention."
WINDOW = 4096  # tokens, of a 13B of this shape
LABELS = ("yes", "no")
BY = (kv_budget, kv_bytes_per_token, fits)
LONGEST = Reckoning(
    (
        *(q.gpu_memory, q.weights, q.activations, q.safety_margin, q.concurrency),
        *(q.layers, q.kv_heads, q.head_dim, q.kv_width),
    ),
    (q.context,),
    BY,
)


def of_a_7b(v: Values) -> Fraction:
    """Take the cache of a 7B."""
    return Fraction(v["kv_budget"] // (v["concurrency"] * CACHE_OF_A_7B))


def reaches(context: Wrong) -> Wrong:
    """Say whether a context is as long as the window."""
    return lambda v: LABELS[Fraction(context(v) or 0) < WINDOW]


def right(v: Values) -> str | int | Fraction | None:
    """Say whether the right context is."""
    return reaches(lambda v: v["context"])(v)


window: CaseAsk[Draw] = CaseAsk(
    asks="reaches_window",
    question=lambda _: f"The model was trained for contexts of up to {WINDOW:,} tokens; can all sequences reach that?",
    kind="choice",
    options=lambda _: LABELS,
    key=lambda c: str(right(LONGEST.values(c))),
    givens=lambda _: (Given("window", "w", str(WINDOW), "token", "longest context that the model was trained for"),),
    slips=(
        LONGEST.slip("cache-of-a-7b", SMALLER_MODEL, reaches(of_a_7b), right),
        LONGEST.slip(
            "values-forgotten",
            "Keys alone were counted; values are cached too.",
            reaches(lambda v: 2 * v["context"]),
            right,
        ),
        LONGEST.slip(
            "all-sequences-as-one",
            "That is so for a single sequence; all of them share the cache.",
            reaches(lambda v: v["concurrency"] * v["context"]),
            right,
        ),
        told_apart(
            "window-believed",
            "What a model was trained for says nothing of the memory that is left.",
            lambda _: LABELS[0],
            lambda c: str(right(LONGEST.values(c))),
        ),
    ),
    hints=lambda _: (
        "How far the sequences get is the smaller of two lengths: what the memory holds, and what the model can use.",
        "If the memory holds a context as long as the window for each, yes; if a shorter one, no.",
        f"Compare your answer to part a with {WINDOW:,} tokens.",
    ),
    explained=lambda c: (
        Explained(
            "fits",
            "What fits falls short of what the model was trained for, so memory ends a conversation first.",
            f"{shown(LONGEST.values(c)['context'], 'token')} against {WINDOW:,} tokens: {right(LONGEST.values(c))}",
        ),
    ),
)

family = Preset(
    asks=Ask(q.context, "What is the longest context, in tokens, that all {{ concurrency }} can reach?"),
    by=BY,
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
            SMALLER_MODEL,
            of_a_7b,
        ),
    ),
    objective="memory-partition",
    section="exercises",
    revision=2,
    more=(window,),
)
