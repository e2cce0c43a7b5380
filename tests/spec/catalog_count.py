"""The parameters of a model, tensor by tensor: an oracle that shares nothing with the laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spec.catalog import Model

NORM_TENSORS = {"none": 0, "rmsnorm": 1, "layernorm": 2}


def parameter_count(model: Model, *, active: bool = False) -> int:
    """Count the parameters of a model, or those that one token meets."""
    return sum(tensors(model, active=active))


def tensors(model: Model, *, active: bool = False) -> Iterator[int]:
    """Give the size of every tensor of the model in order."""
    yield model.vocab * model.hidden
    yield model.position_embeddings * model.hidden
    for layer in range(model.layers):
        for _ in range(model.norms_per_layer):
            yield from norm(model)
        yield from latent_attention(model) if model.kv_lora_rank else attention(model)
        if model.experts and layer >= model.dense_layers:
            yield from experts(model, active=active)
        else:
            yield from feed_forward(model, model.intermediate)
    yield from norm(model)
    if not model.tied:
        yield model.vocab * model.hidden
    if model.lm_head_bias:
        yield model.vocab


def norm(model: Model) -> Iterator[int]:
    """Scale, and shift where there is one."""
    for _ in range(NORM_TENSORS[model.norm]):
        yield model.hidden


def linear(rows: int, columns: int, *, bias: bool = False) -> Iterator[int]:
    """Weight of a projection from `rows` to `columns`, and its bias."""
    yield rows * columns
    if bias:
        yield columns


def attention(model: Model) -> Iterator[int]:
    """Projections of queries, keys, values and output, with the traits of the heads."""
    yield from linear(model.hidden, model.heads * model.head_dim, bias=model.qkv_bias)
    yield from linear(model.hidden, model.kv_heads * model.head_dim, bias=model.qkv_bias)
    yield from linear(model.hidden, model.kv_heads * model.head_dim, bias=model.qkv_bias)
    yield from linear(model.heads * model.head_dim, model.hidden, bias=model.o_bias)
    if model.qk_norm:
        yield model.head_dim
        yield model.head_dim
    if model.attention_sinks:
        yield model.heads


def latent_attention(model: Model) -> Iterator[int]:
    """Low-rank projections with a norm over each compressed vector."""
    assert model.kv_lora_rank is not None
    assert model.qk_rope_dim is not None
    assert model.qk_nope_dim is not None
    assert model.v_head_dim is not None
    queries = model.heads * (model.qk_nope_dim + model.qk_rope_dim)
    if model.q_lora_rank is None:
        yield from linear(model.hidden, queries)
    else:
        yield from linear(model.hidden, model.q_lora_rank)
        yield model.q_lora_rank
        yield from linear(model.q_lora_rank, queries)
    yield from linear(model.hidden, model.kv_lora_rank + model.qk_rope_dim)
    yield model.kv_lora_rank
    yield from linear(model.kv_lora_rank, model.heads * (model.qk_nope_dim + model.v_head_dim))
    yield from linear(model.heads * model.v_head_dim, model.hidden)


def feed_forward(model: Model, inner: int) -> Iterator[int]:
    """Up and down projection, and the gate where there is one."""
    if model.gated:
        yield from linear(model.hidden, inner, bias=model.mlp_bias)
    yield from linear(model.hidden, inner, bias=model.mlp_bias)
    yield from linear(inner, model.hidden, bias=model.mlp_bias)


def experts(model: Model, *, active: bool) -> Iterator[int]:
    """Router and experts of one layer: all routed ones, or those that one token is sent to."""
    assert model.experts is not None
    assert model.experts_per_token is not None
    assert model.moe_intermediate is not None
    yield from linear(model.hidden, model.experts, bias=model.router_bias)
    for _ in range((model.experts_per_token if active else model.experts) + model.shared_experts):
        yield from feed_forward(model, model.moe_intermediate)
