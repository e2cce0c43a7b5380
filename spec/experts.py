"""Parameters of decoders that are not plain: latent attention, and experts with their router."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Identity, Slip, author_order
from spec.parameters import embeddings, last, norms, positions

DEEPSEEK = "DeepSeek-V2 technical report, multi-head latent attention"

DENSE = "a dense network may be larger or smaller than the experts it stands for"

with author_order():
    query_key = q.heads * (q.qk_nope_dim + q.qk_rope_dim)
    compressed_queries = q.hidden * q.q_lora_rank + q.q_lora_rank + q.q_lora_rank * query_key
    compressed_keys = q.hidden * (q.kv_lora_rank + q.qk_rope_dim) + q.kv_lora_rank
    expanded = q.kv_lora_rank * q.heads * (q.qk_nope_dim + q.v_head_dim)
    output_projection = q.heads * q.v_head_dim * q.hidden
    attention_parameters_latent = Identity(
        q.attention_parameters,
        compressed_queries + compressed_keys + expanded + output_projection,
        name="attention_parameters_latent",
        says="Latent attention: queries and keys go through compressed vectors, each with a norm of its own.",
        section="model-weights",
        source=DEEPSEEK,
    )
    attention_parameters_latent_keys = Identity(
        q.attention_parameters,
        q.hidden * query_key + compressed_keys + expanded + output_projection,
        name="attention_parameters_latent_keys",
        says="Latent attention whose queries are not compressed.",
        superseded_by=(q.q_lora_rank,),
        section="model-weights",
        source=DEEPSEEK,
    )

    expert_parameters = Identity(
        q.expert_parameters,
        (2 + q.gated) * q.hidden * q.moe_intermediate + q.mlp_bias * ((1 + q.gated) * q.moe_intermediate + q.hidden),
        says="An expert is a feed-forward network of its own inner size.",
        section="model-weights",
    )
    router_parameters = Identity(
        q.router_parameters,
        q.hidden * q.experts + q.router_bias * q.experts,
        says="The router scores every routed expert.",
        section="model-weights",
    )
    outside = embeddings + positions + q.layers * (q.attention_parameters + norms) + last
    dense = q.dense_layers * q.feed_forward_parameters
    routed = (q.layers - q.dense_layers) * ((q.experts + q.shared_experts) * q.expert_parameters + q.router_parameters)
    met = (q.layers - q.dense_layers) * (
        (q.experts_per_token + q.shared_experts) * q.expert_parameters + q.router_parameters
    )
    parameters_with_experts = Identity(
        q.parameters,
        outside + dense + routed,
        name="parameters_with_experts",
        where=[q.dense_layers <= q.layers],
        both_ways={q.dense_layers: DENSE},
        says="Every expert counts, whether a token is sent to it or not.",
        section="model-weights",
        slips=[
            Slip(
                "active-for-total",
                "Only the experts that one token meets were counted; all of them are stored.",
                outside + dense + met,
            ),
            Slip(
                "one-expert",
                "One feed-forward network per layer was counted; every expert is one.",
                outside + q.layers * q.feed_forward_parameters,
            ),
        ],
    )
    active_parameters = Identity(
        q.active_parameters,
        outside + dense + met,
        where=[q.dense_layers <= q.layers],
        both_ways={q.dense_layers: DENSE},
        says="One token meets the shared experts and those that the router picks.",
        section="model-weights",
        slips=[
            Slip(
                "total-for-active",
                "All experts were counted; a token meets only some of them.",
                outside + dense + routed,
            )
        ],
    )
    routed_everywhere = q.layers * ((q.experts + q.shared_experts) * q.expert_parameters + q.router_parameters)
    met_everywhere = q.layers * ((q.experts_per_token + q.shared_experts) * q.expert_parameters + q.router_parameters)
    parameters_of_experts = Identity(
        q.parameters,
        outside + routed_everywhere,
        name="parameters_of_experts",
        says="Where every layer has experts there is no dense network to count.",
        section="model-weights",
        superseded_by=(q.dense_layers,),
        slips=[
            Slip(
                "active-for-total",
                "Only the experts that one token meets were counted; all of them are stored.",
                outside + met_everywhere,
                unless=sympy.Eq(q.experts, q.experts_per_token),
            )
        ],
    )
    active_parameters_of_experts = Identity(
        q.active_parameters,
        outside + met_everywhere,
        name="active_parameters_of_experts",
        says="Where every layer has experts, one token meets the shared ones and those that each router picks.",
        section="model-weights",
        superseded_by=(q.dense_layers,),
        slips=[
            Slip(
                "total-for-active",
                "All experts were counted; a token meets only some of them.",
                outside + routed_everywhere,
                unless=sympy.Eq(q.experts, q.experts_per_token),
            )
        ],
    )
