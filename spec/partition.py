"""Memory as servers partition it, and the buffers that activations take."""

from __future__ import annotations

from spec import quantities as q
from spec.laws import Identity, Slip, author_order

with author_order():
    kv_budget_by_utilization = Identity(
        q.kv_budget,
        q.memory_utilization * q.gpu_memory_reported - q.weights - q.activations - q.runtime_memory,
        name="kv_budget_by_utilization",
        says="A server takes a share of the memory that the driver reports; the rest of its needs come off that.",
        section="memory-budgeting",
        superseded_by=(q.tensor_parallel,),
        source="memory profiling of public serving engines",
        slips=[
            Slip(
                "utilization-ignored",
                "The whole memory was used; the server takes only its share.",
                q.gpu_memory_reported - q.weights - q.activations - q.runtime_memory,
            ),
            Slip(
                "utilization-of-free",
                "The share was taken of what the weights leave; it is a share of the whole memory.",
                q.memory_utilization * (q.gpu_memory_reported - q.weights) - q.activations - q.runtime_memory,
            ),
            Slip(
                "marketed-memory",
                "The size on the label was used instead of the size that the driver reports.",
                q.memory_utilization * q.gpu_memory - q.weights - q.activations - q.runtime_memory,
            ),
        ],
    )
    hidden_activations = Identity(
        q.hidden_activations,
        q.batch * q.prompt * q.hidden * q.activation_width,
        constant="1/token/sequence",
        says="One hidden vector for every token in flight.",
        section="activation-memory",
    )
    feed_forward_activations = Identity(
        q.feed_forward_activations,
        q.batch * q.prompt * q.intermediate * q.activation_width,
        constant="1/token/sequence",
        says="One inner vector of the feed-forward network for every token in flight.",
        section="activation-memory",
    )
    logit_bytes = Identity(
        q.logit_bytes,
        q.batch * q.prompt * q.vocab * q.logit_width,
        constant="1/token/sequence",
        says="One score per vocabulary entry for every position that is kept.",
        section="activation-memory",
    )
    score_bytes = Identity(
        q.score_bytes,
        q.batch * q.heads * q.prompt**2 * q.activation_width,
        constant="1/token^2/sequence",
        says="One n-by-n matrix per head, if scores are written to memory at all; fused kernels do not.",
        section="activation-memory",
    )
