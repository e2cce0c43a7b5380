"""What tokens cost, and how that moves with the prompt."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Identity, Slip, author_order

with author_order():
    cost_per_token = Identity(
        q.cost_per_token,
        q.gpus * q.gpu_price / (3600 * q.throughput),
        constant="h/s",
        says="The price of the GPUs over the tokens they make.",
        section="scaling",
        slips=[
            Slip(
                "hour-as-second",
                "The hourly price was used as a price per second.",
                q.gpus * q.gpu_price / q.throughput,
            ),
            Slip("one-gpu", "One GPU was paid for; all of them are.", q.gpu_price / (3600 * q.throughput)),
        ],
    )
    prefill_cost_ratio = Identity(
        q.prefill_cost_ratio,
        (2 * q.flops_per_token * q.prompt + 4 * q.prefill_attention_flops)
        / (q.flops_per_token * q.prompt + q.prefill_attention_flops),
        says="Twice the prompt costs twice the matrix work and four times the attention.",
        section="ttft",
    )
    prefill_cost_ratio_of_length = Identity(
        q.prefill_cost_ratio,
        (2 * q.flops_per_token + 4 * q.attention_flops_per_pair * q.prompt)
        / (q.flops_per_token + q.attention_flops_per_pair * q.prompt),
        name="prefill_cost_ratio_of_length",
        says="The ratio grows with the prompt from two towards four.",
        section="ttft",
        slips=[
            Slip(
                "linear-cost",
                "The cost was taken to double with the prompt; attention grows with its square.",
                sympy.Integer(2),
            ),
        ],
    )
