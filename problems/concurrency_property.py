"""What every right number of sequences that fit has in common: they fit, and one more does not."""

from grader.property import Clause, Named, PropertyFamily, Setting
from spec import quantities as q
from spec.memory import cached_tokens, fits, kv_bytes_total

family = PropertyFamily(
    settings=(
        Setting(
            "Sequences of one length are served together while their caches fit the memory left for them.",
            (
                Named(
                    "most",
                    "the largest number of sequences that fit",
                    fits,
                    q.concurrency,
                    (q.context, q.kv_budget, q.kv_bytes_per_token),
                    ("floor(floor(B_kv / k) / c)",),
                ),
                Named(
                    "used",
                    "the bytes that sequences cache",
                    kv_bytes_total.composed(cached_tokens),
                    q.kv_bytes_total,
                    (q.concurrency, q.context, q.kv_bytes_per_token),
                    ("c * (N * k)",),
                ),
            ),
            "most(2*c) <= most(c)",
            (
                Clause("used(most(c)) <= B_kv", "The sequences that fit take no more than there is."),
                Clause("used(most(c) + 1) > B_kv", "One more sequence does not fit."),
                Clause("most(c) == floor(most(c))", "A part of a sequence is none."),
            ),
        ),
    ),
    objective="memory-partition",
    section="memory-budgeting",
)
