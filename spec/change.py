"""What another model on the same GPU does to contexts and sequences."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Bound, Identity, Slip, author_order

with author_order():
    new_kv_budget = Identity(
        q.new_kv_budget,
        q.kv_budget + q.weights - q.new_weights,
        says="On the same GPU with the same reserves, the weights that change are what the budget gains or loses.",
        section="scaling",
        slips=[
            Slip(
                "budget-kept",
                "The budget was taken as before; other weights leave another one.",
                q.kv_budget,
                unless=sympy.Eq(q.weights, q.new_weights),
            )
        ],
    )
    fits_new_context = Bound(
        "fits_new_context",
        q.concurrency * q.new_context * q.new_kv_bytes_per_token <= q.new_kv_budget,
        constant="1/sequence",
        says="After the change as many sequences have the contexts that the new budget holds.",
        section="scaling",
        slips=[
            Slip(
                "cache-per-token-kept",
                "The cache of a token was taken as before; the new model has its own.",
                q.concurrency * q.new_context * q.kv_bytes_per_token <= q.new_kv_budget,
                unless=sympy.Eq(q.kv_bytes_per_token, q.new_kv_bytes_per_token),
            )
        ],
    )
    fits_new_concurrency = Bound(
        "fits_new_concurrency",
        q.new_concurrency * q.context * q.new_kv_bytes_per_token <= q.new_kv_budget,
        constant="1/sequence",
        says="After the change contexts of the same length fit as often as the new budget holds them.",
        section="scaling",
        slips=[
            Slip(
                "cache-per-token-kept",
                "The cache of a token was taken as before; the new model has its own.",
                q.new_concurrency * q.context * q.kv_bytes_per_token <= q.new_kv_budget,
                unless=sympy.Eq(q.kv_bytes_per_token, q.new_kv_bytes_per_token),
            )
        ],
    )
    context_change = Identity(
        q.context_change,
        (q.new_kv_budget / q.kv_budget) * (q.kv_bytes_per_token / q.new_kv_bytes_per_token),
        where=[q.kv_budget > 0],
        says="Contexts change as the budget does, and inversely as the cache of a token does.",
        section="scaling",
        slips=[
            Slip(
                "cache-not-inverted",
                "A larger cache of a token was taken to lengthen contexts.",
                (q.new_kv_budget / q.kv_budget) * (q.new_kv_bytes_per_token / q.kv_bytes_per_token),
            ),
            Slip(
                "budget-kept",
                "The budget was taken as before; other weights leave another one.",
                q.kv_bytes_per_token / q.new_kv_bytes_per_token,
                unless=sympy.Eq(q.new_kv_budget, q.kv_budget),
            ),
        ],
    )
