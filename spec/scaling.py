"""How many sequences one GPU carries and how many GPUs a load needs."""

from __future__ import annotations

from spec import quantities as q
from spec.laws import Bound, Slip, author_order

with author_order():
    gpu_holds = Bound(
        "gpu_holds",
        q.sequences_per_gpu * (q.prompt + q.output) * q.kv_bytes_per_token <= q.kv_budget,
        constant="GPU/sequence",
        says="One GPU holds the full prompt and output of each of its sequences.",
        section="sizing",
        slips=[
            Slip(
                "output-forgotten",
                "Only the prompt was counted; the output tokens are cached too.",
                q.sequences_per_gpu * q.prompt * q.kv_bytes_per_token <= q.kv_budget,
            ),
            Slip(
                "prompt-forgotten",
                "Only the output was counted; the prompt is cached too.",
                q.sequences_per_gpu * q.output * q.kv_bytes_per_token <= q.kv_budget,
            ),
        ],
    )
    carries = Bound(
        "carries",
        q.mean_concurrency < q.gpus * q.sequences_per_gpu,
        says="The GPUs hold more sequences than are in service on average: at equality the queue grows without end.",
        section="scaling",
        not_invertible={q.mean_concurrency: "the bound is strict, so there is no largest value"},
        slips=[Slip("one-gpu-per-sequence", "One GPU was counted for each sequence.", q.mean_concurrency <= q.gpus)],
    )
