"""Another model on the same GPU, and the padding of a batch."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import BUDGET, HALF, Grid, of

ONE = Fraction(1)
LEFT = Grid(HALF, 30, HALF)

partition_again = Invariant(
    "change-of-weights",
    "The budget after a change is that of a partition with the new weights and the old reserves.",
    {**of(q.weights, q.activations, q.safety_margin, q.new_weights), "left": LEFT},
    ("new_kv_budget", "kv_budget"),
    lambda impl, weights, new_weights, left, **reserves: all(
        impl.new_kv_budget(
            kv_budget=impl.kv_budget(gpu_memory=memory, weights=weights, **reserves),
            weights=weights,
            new_weights=new_weights,
        )
        == impl.kv_budget(gpu_memory=memory, weights=new_weights, **reserves)
        for memory in [weights + new_weights + sum(reserves.values()) + left]
    ),
)
fits_as_before = Invariant(
    "change-fits",
    "After a change caches fit as those of the new model alone would.",
    {**of(q.concurrency, q.context, q.new_kv_bytes_per_token), "new_kv_budget": BUDGET},
    ("fits_new_context", "fits_new_concurrency", "fits"),
    lambda impl, concurrency, context, new_kv_bytes_per_token, new_kv_budget: all(
        impl.fits_new_context(
            concurrency=concurrency, new_context=context, new_kv_bytes_per_token=new_kv_bytes_per_token,
            new_kv_budget=budget,
        )
        == impl.fits_new_concurrency(
            new_concurrency=concurrency, context=context, new_kv_bytes_per_token=new_kv_bytes_per_token,
            new_kv_budget=budget,
        )
        == impl.fits(
            concurrency=concurrency, context=context, kv_bytes_per_token=new_kv_bytes_per_token, kv_budget=budget
        )
        for budget in (new_kv_budget, concurrency * context * new_kv_bytes_per_token)
    ),
)  # fmt: skip
budget_over_token = Invariant(
    "change-in-proportion",
    "A context of a tokens that fill the old budget becomes one of b that fill the new one, where the factor is b / a.",
    {"tokens": Grid(1, 40), "new_tokens": Grid(1, 40), **of(q.kv_bytes_per_token, q.new_kv_bytes_per_token)},
    ("context_change",),
    lambda impl, tokens, new_tokens, kv_bytes_per_token, new_kv_bytes_per_token: (
        tokens
        * impl.context_change(
            kv_budget=tokens * kv_bytes_per_token,
            new_kv_budget=new_tokens * new_kv_bytes_per_token,
            kv_bytes_per_token=kv_bytes_per_token,
            new_kv_bytes_per_token=new_kv_bytes_per_token,
        )
        == new_tokens
    ),
)
contexts_after = Invariant(
    "I86-floors",
    "The longest context after a change is the old one times the factor, up to what is lost to whole tokens.",
    {
        "kv_budget": Grid(1, 2400), "new_kv_budget": Grid(1, 2400), "concurrency": Grid(1, 6),
        "kv_bytes_per_token": Grid(1, 12), "new_kv_bytes_per_token": Grid(1, 12),
    },
    ("context", "new_context", "context_change"),
    lambda impl, kv_budget, new_kv_budget, concurrency, kv_bytes_per_token, new_kv_bytes_per_token: (
        kv_budget < concurrency * kv_bytes_per_token
        or new_kv_budget < concurrency * new_kv_bytes_per_token
        or all(
            -1 < after - before * factor < factor
            for before, after, factor in [
                (
                    impl.context(kv_budget=kv_budget, concurrency=concurrency, kv_bytes_per_token=kv_bytes_per_token),
                    impl.new_context(
                        new_kv_budget=new_kv_budget, concurrency=concurrency,
                        new_kv_bytes_per_token=new_kv_bytes_per_token,
                    ),
                    impl.context_change(
                        kv_budget=kv_budget, new_kv_budget=new_kv_budget, kv_bytes_per_token=kv_bytes_per_token,
                        new_kv_bytes_per_token=new_kv_bytes_per_token,
                    ),
                )
            ]
        )
    ),
)  # fmt: skip
mean_of_a_batch = Invariant(
    "batch-mean",
    "The mean length, once for each sequence, makes the total.",
    of(q.total_length, q.batch),
    ("mean_length",),
    lambda impl, total_length, batch: impl.mean_length(total_length=total_length, batch=batch) * batch == total_length,
)
padding_of_a_batch = Invariant(
    "I41",
    "One sequence longer than all others pads each of these by the difference, equal ones need no padding, "
    "and a scale changes nothing.",
    {"batch": Grid(1, 12), "short": Grid(1, 40), "more": Grid(0, 40), "times": Grid(1, 6)},
    ("padding_waste", "mean_length"),
    lambda impl, batch, short, more, times: all(
        impl.padding_waste(mean_length=mean, longest_length=short + more) * (batch * (short + more))
        == (batch - 1) * more
        and impl.padding_waste(mean_length=short, longest_length=short) == 0
        and impl.padding_waste(mean_length=times * mean, longest_length=times * (short + more))
        == impl.padding_waste(mean_length=mean, longest_length=short + more)
        for mean in [impl.mean_length(total_length=batch * short + more, batch=batch)]
    ),
)
ratio_of_two_forms = Invariant(
    "prefill-cost-of-length",
    "The cost ratio by the length of the prompt is that by its operations.",
    of(q.flops_per_token, q.attention_flops_per_pair, q.prompt),
    ("prefill_cost_ratio",),
    lambda impl, flops_per_token, attention_flops_per_pair, prompt: (
        impl.prefill_cost_ratio(
            flops_per_token=flops_per_token, attention_flops_per_pair=attention_flops_per_pair, prompt=prompt
        )
        == impl.prefill_cost_ratio(
            flops_per_token=flops_per_token,
            prefill_attention_flops=attention_flops_per_pair * prompt**2,
            prompt=prompt,
        )
    ),
)
