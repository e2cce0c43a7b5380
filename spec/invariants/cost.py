"""What tokens cost, and what a longer prompt costs."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import Grid, of
from spec.invariants.work import HEADS

HALF = Fraction(1, 2)
TWICE, SQUARED = 2, 2**2
PAID = of(q.gpus, q.gpu_price, q.throughput)

an_hour = Invariant(
    "cost-of-an-hour",
    "The tokens of an hour cost what all GPUs cost for that hour.",
    PAID,
    ("cost_per_token",),
    lambda impl, gpus, gpu_price, throughput: (
        impl.cost_per_token(gpus=gpus, gpu_price=gpu_price, throughput=throughput) * (throughput * 60 * 60)
        == gpus * gpu_price
    ),
)
replicas_cost_the_same = Invariant(
    "cost-of-replicas",
    "More GPUs that make as many times the tokens leave the cost of a token as it was.",
    PAID,
    ("cost_per_token",),
    lambda impl, gpus, gpu_price, throughput: (
        impl.cost_per_token(gpus=gpus, gpu_price=gpu_price, throughput=gpus * throughput)
        == impl.cost_per_token(gpus=1, gpu_price=gpu_price, throughput=throughput)
    ),
)
twice_the_prompt = Invariant(
    "prefill-cost-twice",
    "The cost ratio is that of the operations of two prefills, one of twice the prompt of the other.",
    {**HEADS, **of(q.flops_per_token, q.prompt)},
    ("prefill_cost_ratio", "prefill_attention_flops", "prefill_flops"),
    lambda impl, flops_per_token, prompt, **heads: all(
        impl.prefill_cost_ratio(prompt=prompt, prefill_attention_flops=one, flops_per_token=flops_per_token)
        * impl.prefill_flops(prompt=prompt, prefill_attention_flops=one, flops_per_token=flops_per_token)
        == impl.prefill_flops(prompt=2 * prompt, prefill_attention_flops=two, flops_per_token=flops_per_token)
        for one, two in [tuple(impl.prefill_attention_flops(prompt=n * prompt, **heads) for n in (1, 2))]
    ),
)
between_two_and_four = Invariant(
    "prefill-cost-range",
    "Twice the prompt costs more than twice and less than four times the operations.",
    of(q.flops_per_token, q.prompt, q.prefill_attention_flops),
    ("prefill_cost_ratio",),
    lambda impl, **given: TWICE < impl.prefill_cost_ratio(**given) < SQUARED,
)
quadruples = Invariant(
    "prefill-cost-quadruples",
    "Twice the prompt costs four times the operations.",
    {"flops_per_token": Grid(HALF, 4, HALF), "prompt": Grid(1, 8), "prefill_attention_flops": Grid(HALF, 4, HALF)},
    ("prefill_cost_ratio",),
    lambda impl, **given: impl.prefill_cost_ratio(**given) == SQUARED,
    refuted={"flops_per_token": HALF, "prompt": 1, "prefill_attention_flops": HALF},
    why="Only attention grows with the square; the matrices grow with the prompt.",
)
