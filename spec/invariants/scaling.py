"""How many sequences one GPU carries, and how many GPUs a load needs."""

from __future__ import annotations

import math
from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Grid, of
from spec.solving import Infeasible

HOLDS = ("sequences_per_gpu",)
GPUS = ("gpus",)
LOAD = {**of(q.mean_concurrency), "sequences_per_gpu": Grid(1, 12)}

prompt_and_output = Invariant(
    "gpu-holds-whole-requests",
    "A GPU holds as many requests as sequences whose context is the prompt and the output.",
    of(q.kv_budget, q.prompt, q.output, q.kv_bytes_per_token),
    (*HOLDS, "concurrency"),
    lambda impl, kv_budget, prompt, output, kv_bytes_per_token: (
        impl.sequences_per_gpu(kv_budget=kv_budget, prompt=prompt, output=output, kv_bytes_per_token=kv_bytes_per_token)
        == impl.concurrency(kv_budget=kv_budget, context=prompt + output, kv_bytes_per_token=kv_bytes_per_token)
    ),
)
gpu_fills = Invariant(
    "gpu-fills",
    "The requests a GPU holds take, with prompt and output, no more than its budget, and one more would.",
    of(q.kv_budget, q.prompt, q.output, q.kv_bytes_per_token),
    HOLDS,
    lambda impl, kv_budget, prompt, output, kv_bytes_per_token: all(
        held * (prompt + output) * kv_bytes_per_token <= kv_budget < (held + 1) * (prompt + output) * kv_bytes_per_token
        for held in [
            impl.sequences_per_gpu(
                kv_budget=kv_budget, prompt=prompt, output=output, kv_bytes_per_token=kv_bytes_per_token
            )
        ]
    ),
)
longest_prompt = Invariant(
    "longest-prompt",
    "Prompt and output share the context: what the longest prompt gives up, the longest output gains.",
    {
        **of(q.kv_budget, q.kv_bytes_per_token),
        "prompt": Grid(1, 12),
        "output": Grid(1, 12),
        "sequences_per_gpu": Grid(1, 12),
    },
    ("prompt", "output"),
    lambda impl, prompt, output, **rest: all(
        isinstance(longest, Infeasible) or isinstance(most, Infeasible) or longest + output == most + prompt
        for longest, most in [(impl.prompt(output=output, **rest), impl.output(prompt=prompt, **rest))]
    ),
)
prompt_fills = Invariant(
    "prompt-fills",
    "The longest prompt, with the output of every sequence, takes no more than the budget, and a token more would.",
    {**of(q.kv_budget, q.kv_bytes_per_token), "output": Grid(1, 12), "sequences_per_gpu": Grid(1, 12)},
    ("prompt",),
    lambda impl, kv_budget, kv_bytes_per_token, output, sequences_per_gpu: all(
        isinstance(longest, Infeasible)
        if kv_budget < sequences_per_gpu * (1 + output) * kv_bytes_per_token
        else longest % 1 == 0
        and sequences_per_gpu * (longest + output) * kv_bytes_per_token
        <= kv_budget
        < sequences_per_gpu * (longest + 1 + output) * kv_bytes_per_token
        for longest in [
            impl.prompt(
                kv_budget=kv_budget,
                kv_bytes_per_token=kv_bytes_per_token,
                output=output,
                sequences_per_gpu=sequences_per_gpu,
            )
        ]
    ),
)
fewest_gpus = Invariant(
    "gpus-fewest",
    "The fewest GPUs hold more sequences than are in service on average; one GPU less does not.",
    LOAD,
    GPUS,
    lambda impl, mean_concurrency, sequences_per_gpu: all(
        (gpus - 1) * sequences_per_gpu <= mean_concurrency < gpus * sequences_per_gpu
        for gpus in [impl.gpus(mean_concurrency=mean_concurrency, sequences_per_gpu=sequences_per_gpu)]
    ),
)
one_more_at_equality = Invariant(
    "gpus-at-equality",
    "GPUs that hold exactly the mean are not enough: the queue would grow without end, so one more is needed.",
    {"gpus": Grid(1, 40), "sequences_per_gpu": Grid(1, 12)},
    GPUS,
    lambda impl, gpus, sequences_per_gpu: (
        impl.gpus(mean_concurrency=gpus * sequences_per_gpu, sequences_per_gpu=sequences_per_gpu) == gpus + 1
    ),
)
least_held = Invariant(
    "gpus-least-held",
    "The fewest sequences that each GPU must hold carry the load, and one less on each does not.",
    of(q.mean_concurrency, q.gpus),
    HOLDS,
    lambda impl, mean_concurrency, gpus: all(
        gpus * (least - 1) <= mean_concurrency < gpus * least
        for least in [impl.sequences_per_gpu(mean_concurrency=mean_concurrency, gpus=gpus)]
    ),
)
nothing_held = Invariant(
    "gpus-none",
    "When a GPU holds no sequence, no number of GPUs carries a load.",
    of(q.mean_concurrency),
    GPUS,
    lambda impl, mean_concurrency: isinstance(
        impl.gpus(mean_concurrency=mean_concurrency, sequences_per_gpu=0), Infeasible
    ),
)
loads_share = Invariant(
    "gpus-share",
    "Two loads together need no more GPUs than each on its own.",
    {**LOAD, "other": Grid(Fraction(1, 2), 30, Fraction(1, 2))},
    GPUS,
    lambda impl, mean_concurrency, other, sequences_per_gpu: (
        impl.gpus(mean_concurrency=mean_concurrency + other, sequences_per_gpu=sequences_per_gpu)
        <= impl.gpus(mean_concurrency=mean_concurrency, sequences_per_gpu=sequences_per_gpu)
        + impl.gpus(mean_concurrency=other, sequences_per_gpu=sequences_per_gpu)
    ),
)
ceiling_is_enough = Invariant(
    "gpus-ceiling",
    "Dividing the mean by what a GPU holds and rounding up gives the GPUs.",
    {"mean_concurrency": Grid(1, 30), "sequences_per_gpu": Grid(1, 12)},
    GPUS,
    lambda impl, mean_concurrency, sequences_per_gpu: (
        impl.gpus(mean_concurrency=mean_concurrency, sequences_per_gpu=sequences_per_gpu)
        == math.ceil(Fraction(mean_concurrency, sequences_per_gpu))
    ),
    refuted={"mean_concurrency": 1, "sequences_per_gpu": 1},
    why="Where it divides evenly the GPUs would be full on average, and the queue would never end.",
)
