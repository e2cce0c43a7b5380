"""What a token meets of a model with experts, against a dense model of just that size."""

from __future__ import annotations

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import draw_of, of

SIZE = {"size": draw_of(q.parameters)}
OUTSIDE = of(q.layers, q.hidden, q.vocab, q.tied, q.lm_head_bias, q.norm_vectors, q.norms_per_layer)
MIXTURE = {
    **OUTSIDE,
    **of(q.position_embeddings, q.attention_parameters, q.shared_experts, q.expert_parameters, q.router_parameters),
}

dense_is_met = Invariant(
    "active-of-dense",
    "A token meets a dense model in full.",
    of(q.parameters),
    ("active_parameters",),
    lambda impl, parameters: impl.active_parameters(parameters=parameters) == parameters,
)
works_as_dense = Invariant(
    "active-work",
    "A token works on, weighs and reads what it meets as on a dense model of that size.",
    {**SIZE, **of(q.weight_bits, q.cached_tokens, q.kv_bytes_per_token)},
    ("flops_per_token", "active_weights", "weights", "decode_bytes"),
    lambda impl, size, weight_bits, **cache: (
        impl.flops_per_token(active_parameters=size) == impl.flops_per_token(parameters=size)
        and impl.active_weights(active_parameters=size, weight_bits=weight_bits)
        == impl.weights(parameters=size, weight_bits=weight_bits)
        and impl.decode_bytes(active_weights=size, **cache) == impl.decode_bytes(weights=size, **cache)
    ),
)
met_by_a_group = Invariant(
    "active-of-a-group",
    "A group shares what a token meets as it shares the weights of a dense model of that size.",
    {**SIZE, **of(q.tensor_parallel, q.cached_tokens, q.kv_bytes_per_token_per_gpu)},
    ("active_weights_per_gpu", "weights_per_gpu", "decode_bytes_per_gpu"),
    lambda impl, size, tensor_parallel, **cache: (
        impl.active_weights_per_gpu(active_weights=size, tensor_parallel=tensor_parallel)
        == impl.weights_per_gpu(weights=size, tensor_parallel=tensor_parallel)
        and impl.decode_bytes_per_gpu(active_weights_per_gpu=size, **cache)
        == impl.decode_bytes_per_gpu(weights_per_gpu=size, **cache)
    ),
)
no_dense_layer = Invariant(
    "experts-in-every-layer",
    "With experts in every layer a model stores, and a token meets, what one does with no dense layer among them.",
    {**MIXTURE, **of(q.experts, q.experts_per_token, q.feed_forward_parameters)},
    ("parameters", "active_parameters"),
    lambda impl, experts, experts_per_token, feed_forward_parameters, **shape: all(
        impl.parameters(experts=experts, **shape) == impl.parameters(experts=experts, **none, **shape)
        and impl.active_parameters(experts_per_token=experts_per_token, **shape)
        == impl.active_parameters(experts_per_token=experts_per_token, **none, **shape)
        for none in [{"dense_layers": 0, "feed_forward_parameters": feed_forward_parameters}]
    ),
)
